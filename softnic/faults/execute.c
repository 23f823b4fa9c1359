/* Faults of a send queue: completions too few, too many or wrong; a stop that comes late or not. */
#include <string.h>

#include "engine/rules.h"
#include "faults/fault.h"
#include "faults/moment.h"
#include "faults/refusal.h"

REPLACES(complete_success);
REPLACES(sq_stops);
REPLACES(wqe_complete);
REPLACES(wqe_fail);
REPLACES(wqe_execute);
REPLACES(configure_umr);
REPLACES(qp_modify);

static bool configures(const struct wqe *wqe) {
    return wqe->opcode == OPCODE_UMR || wqe->opcode == OPCODE_SET_PSV;
}

static unsigned completions(const struct wqe *wqe) {
    if (!wqe->signaled && configures(wqe)) return fault(umr_unsignaled_completes);
    if (!wqe->signaled) return fault(data_unsignaled_completes) && wqe->opcode != OPCODE_NOP;
    if (fault(umr_completion_lost) && configures(wqe)) return 0;
    if (fault(umr_completion_twice) && configures(wqe)) return 2;
    if (fault(data_completion_lost) && wqe->opcode == OPCODE_RDMA_WRITE) return 0;
    if (fault(data_completion_twice) && wqe->opcode == OPCODE_SEND) return 2;
    if (fault(cancelled_is_lost) && wqe->opcode == OPCODE_NOP) return 0;
    return 1;
}

/* The opcode in the CQE. The driver notes of configurations, memcpy and the like what they are; any
 * other opcode is believed. */
static uint8_t opcode_told(const struct wqe *wqe) {
    if (fault(umr_opcode) && configures(wqe)) return OPCODE_RDMA_WRITE;
    if (fault(memcpy_opcode) && wqe->opcode == OPCODE_MMO) return OPCODE_RDMA_WRITE;
    if (fault(write_opcode) && wqe->opcode == OPCODE_RDMA_WRITE) return OPCODE_SEND;
    return wqe->opcode;
}

void complete_success(struct qp *qp, const struct wqe *wqe, uint32_t length) {
    struct wqe other = *wqe;
    other.signaled = true;
    other.opcode = opcode_told(wqe);
    if (fault(read_byte_len_short) && wqe->opcode == OPCODE_RDMA_READ) length--;
    for (unsigned left = completions(wqe); left; left--) right_complete_success(qp, &other, length);
}

bool sq_stops(const struct qp *qp, bool sigerr) {
    static struct {
        uint32_t qpn;
        bool due;
    } late;
    if (fault(pipelining_goes_on)) return false;
    if (fault(pipelining_stops_late)) {
        bool due = late.due && late.qpn == qp->number;
        if (sigerr || due) late.qpn = qp->number, late.due = sigerr;
        sigerr = due;
    }
    return right_sq_stops(qp, sigerr);
}

void wqe_complete(struct qp *qp, const struct wqe *wqe, uint32_t length, bool sigerr) {
    if (fault(error_fails_request) && sigerr) {
        wqe_fail(qp, wqe, CQE_LOCAL_PROTECTION);
    } else if (fault(pipelining_silent) && sq_stops(qp, sigerr)) {
        complete_success(qp, wqe, length);
        qp->state = STATE_SQD;
    } else {
        right_wqe_complete(qp, wqe, length, sigerr);
    }
}

void wqe_fail(struct qp *qp, const struct wqe *wqe, uint8_t syndrome) {
    if (fault(dc_stream_breaks_all) && qp->attr.type == QP_DCI && qp->attr.dci_streams)
        qp->stream_error = ~0ull;
    right_wqe_fail(qp, wqe, refusal_of_request(wqe, syndrome));
}

/* A UMR that is carried out after the WQE which follows it. */
static struct {
    uint32_t qpn;
    size_t len;
    uint8_t bytes[WQE_BYTES];
} late;

static void late_run(struct qp *qp) {
    struct wqe wqe = {0};
    size_t len = late.len;
    if (!len || late.qpn != qp->number) return;
    late.len = 0;
    if (wqe_decode(late.bytes, len, false, &wqe)) right_configure_umr(qp, late.bytes, len, &wqe);
}

uint8_t configure_umr(struct qp *qp, const uint8_t *bytes, size_t len, const struct wqe *wqe) {
    struct umr umr;
    if (!fault(configuration_late)) {
        uint8_t right = right_configure_umr(qp, bytes, len, wqe);
        return umr_decode(bytes, len, &umr) ? refusal_of_umr(&umr, key_find(wqe->imm), right)
                                            : right;
    }
    late_run(qp);
    late.qpn = qp->number, late.len = len;
    memcpy(late.bytes, bytes, len);
    return 0;
}

static void begin(const struct qp *qp, const struct wqe *wqe) {
    moment_new();
    moment.opcode = wqe->opcode, moment.service = qp->attr.type;
    moment.signaled = wqe->signaled, moment.fence = wqe->fence == STRONG_FENCE;
    moment.signal_all = qp->attr.signal_all;
    moment.size = 0;
    for (unsigned i = 0; i < (wqe->opcode == OPCODE_MMO ? 1 : wqe->segs); i++)
        moment.size += wqe->seg[i].length;
}

void wqe_execute(struct qp *qp, enum fetch fetch, const uint8_t *bytes, size_t len,
                 uint16_t blocks) {
    struct wqe wqe = {0};
    if (no_fault) {
        right_wqe_execute(qp, fetch, bytes, len, blocks);
        return;
    }
    wqe_decode(bytes, len, qp->attr.type == QP_UD || qp->attr.type == QP_DCI, &wqe);
    begin(qp, &wqe);
    right_wqe_execute(qp, fetch, bytes, len, blocks);
    if (!fault_is(configuration_late)) return;
    if (!configures(&wqe)) late_run(qp);
}

static void drop_first(struct qp *qp) {
    uint8_t bytes[WQE_BYTES];
    uint16_t producer, blocks;
    size_t len;
    if (!doorbell_record(qp->attr.db, NULL, &producer)) return;
    enum fetch fetch = sq_fetch(qp, qp->sq_head, producer, bytes, &len, &blocks);
    if (fetch == FETCH_FINE || fetch == FETCH_BAD) qp->sq_head += blocks;
}

int qp_modify(struct qp *qp, const struct qp_change *change) {
    bool was = qp->state == STATE_SQD;
    int error = right_qp_modify(qp, change);
    if (fault(pipelining_resume_drops) && !error && was && qp->state == STATE_RTS) drop_first(qp);
    return error;
}
