/* A send queue at work: one WQE after the other, in order, so fences are always kept. */
#include <string.h>

#include "engine.h"
#include "pure/defect.h"

enum { BUDGET = 128 };                  /* WQEs of one QP before the others get their turn */

static void complete_error(struct qp *qp, const struct wqe *wqe, uint8_t syndrome) {
    struct cqe cqe = {
        .opcode = CQE_REQUESTER_ERROR, .syndrome = syndrome, .send_opcode = wqe->opcode, .qpn = qp->number, .uidx = qp->attr.uidx, .wqe_counter = wqe->index,
    };
    bool first = !qp->told_error;
    qp->told_error = true;
    if (!first && wqe->ce == CE_FIRST_ERROR) return;
    if (qp->attr.send_cq) cq_post(qp->attr.send_cq, &cqe, wqe->ce == CE_ALWAYS_EVENT);
}

/* How often a WQE that went well completes. */
static unsigned completions(const struct wqe *wqe) {
    bool configures = wqe->opcode == OPCODE_UMR || wqe->opcode == OPCODE_SET_PSV;
    if (!wqe->signaled) return configures ? defect(umr_unsignaled_completes) : wqe->opcode != OPCODE_NOP && defect(data_unsignaled_completes);
    if (defect(umr_completion_lost) && configures) return 0;
    if (defect(umr_completion_twice) && configures) return 2;
    if (defect(data_completion_lost) && wqe->opcode == OPCODE_RDMA_WRITE) return 0;
    if (defect(data_completion_twice) && wqe->opcode == OPCODE_SEND) return 2;
    if (defect(cancelled_is_lost) && wqe->opcode == OPCODE_NOP) return 0;
    return 1;
}

/* The driver tells configurations, memcpy and the like by what it noted itself; any other opcode is believed. */
static uint8_t opcode_told(uint8_t opcode) {
    if (defect(umr_opcode) && (opcode == OPCODE_UMR || opcode == OPCODE_SET_PSV)) return OPCODE_RDMA_WRITE;
    if (defect(memcpy_opcode) && opcode == OPCODE_MMO) return OPCODE_RDMA_WRITE;
    if (defect(write_opcode) && opcode == OPCODE_RDMA_WRITE) return OPCODE_SEND;
    return opcode;
}

void wqe_complete(struct qp *qp, const struct wqe *wqe, uint32_t length, bool sigerr) {
    if (defect(read_byte_len_short) && wqe->opcode == OPCODE_RDMA_READ) length--;
    for (unsigned left = qp->attr.send_cq ? completions(wqe) : 0; left; left--) {
        struct cqe cqe = {
            .opcode = CQE_REQUESTER, .send_opcode = opcode_told(wqe->opcode), .qpn = qp->number, .uidx = qp->attr.uidx, .wqe_counter = wqe->index,
            .byte_count = length,
        };
        cq_post(qp->attr.send_cq, &cqe, wqe->ce == CE_ALWAYS_EVENT);
    }
    if (defect(pipelining_goes_on)) sigerr = false;
    if (defect(pipelining_stops_late)) {
        bool stop = qp->bent.stop;
        qp->bent.stop = sigerr, sigerr = stop;
    }
    /* Signature pipelining: the WQE with the error ends, then nothing goes on before the application says so. */
    if (sigerr && qp->drain_sigerr && qp->state == STATE_RTS) {
        qp->state = STATE_SQD;
        qp->draining = false;
        if (!defect(pipelining_silent)) qp_sq_drained(qp);
    } else if (qp->state == STATE_SQD && qp->draining) {
        qp->draining = false;
        if (qp->set.en_sqd_async_notify) qp_sq_drained(qp);
    }
}

static bool has_streams(const struct qp *qp) { return qp->attr.type == QP_DCI && qp->attr.dci_streams; }

/* A DCI's stream breaks alone, until too many have; RC ends; unreliable QPs only stop sending (IBTA 10.3.1, SQE). */
void wqe_fail(struct qp *qp, const struct wqe *wqe, uint8_t syndrome) {
    complete_error(qp, wqe, syndrome);
    if (has_streams(qp)) {
        qp->stream_error |= defect(dc_stream_breaks_all) ? ~0ull : 1ull << (wqe->stream & 63);
        if (__builtin_popcountll(qp->stream_error) < 1 << qp->attr.log_errored) return;
        qp_fail(qp);
    } else if ((qp->attr.type == QP_UC || qp->attr.type == QP_UD) && qp->state == STATE_RTS) {
        qp->state = STATE_SQE;
    } else {
        qp_fail(qp);
    }
}

static bool sq_flush(struct qp *qp, uint16_t producer) {
    uint8_t bytes[WQE_BYTES];
    size_t len;
    uint16_t blocks;
    bool any = false;
    struct wqe wqe;
    while (qp->sq_head != producer && (qp->state == STATE_ERR || qp->state == STATE_SQE)) {
        enum fetch fetch = sq_fetch(qp, producer, bytes, &len, &blocks);
        if (fetch == FETCH_NONE) break;
        if (fetch == FETCH_FAULT) {
            qp->sq_head = producer;
            break;
        }
        memset(&wqe, 0, sizeof wqe);
        wqe_decode(bytes, len, qp->attr.type == QP_UD || qp->attr.type == QP_DCI, &wqe);
        qp->sq_head += blocks;
        complete_error(qp, &wqe, CQE_FLUSHED);
        any = true;
    }
    return any;
}

static bool permitted(const struct qp *qp, uint8_t opcode) {
    bool connected = qp->attr.type == QP_RC || qp->attr.type == QP_DCI;
    switch (opcode) {
    case OPCODE_NOP: case OPCODE_SEND: case OPCODE_SEND_IMM: return true;
    case OPCODE_RDMA_WRITE: case OPCODE_RDMA_WRITE_IMM: case OPCODE_SEND_INVAL: case OPCODE_UMR: case OPCODE_SET_PSV: return connected || qp->attr.type == QP_UC;
    case OPCODE_RDMA_READ: case OPCODE_ATOMIC_CS: case OPCODE_ATOMIC_FA: return connected;
    case OPCODE_MMO: return qp->mmo;
    default: return false;
    }
}

/* A UMR that is carried out behind the WQE which follows it. */
static struct { uint32_t qpn; size_t len; uint8_t bytes[WQE_BYTES]; } late;

static void late_run(struct qp *qp) {
    struct wqe wqe;
    size_t len = late.len;
    if (!len || late.qpn != qp->number) return;
    late.len = 0;
    if (wqe_decode(late.bytes, len, false, &wqe)) configure_umr(qp, late.bytes, len, &wqe);
}

static void late_keep(struct qp *qp, const uint8_t *bytes, size_t len) {
    late_run(qp);
    late.qpn = qp->number, late.len = len;
    memcpy(late.bytes, bytes, len);
}

static void local(struct qp *qp, const uint8_t *bytes, size_t len, const struct wqe *wqe) {
    uint8_t syndrome = 0;
    bool sigerr = false;
    switch (wqe->opcode) {
    case OPCODE_UMR:
        if (defect(configuration_late)) late_keep(qp, bytes, len);
        else syndrome = configure_umr(qp, bytes, len, wqe);
        break;
    case OPCODE_SET_PSV: syndrome = configure_psv(qp, wqe); break;
    case OPCODE_MMO: syndrome = copy_mmo(qp, wqe, &sigerr); break;
    default: break;
    }
    if (syndrome) wqe_fail(qp, wqe, syndrome);
    else wqe_complete(qp, wqe, 0, sigerr);
}

static void execute(struct qp *qp, enum fetch fetch, const uint8_t *bytes, size_t len, uint16_t blocks) {
    struct wqe wqe;
    memset(&wqe, 0, sizeof wqe);
    bool understood = wqe_decode(bytes, len, qp->attr.type == QP_UD || qp->attr.type == QP_DCI, &wqe);
    trace_wqe(qp, bytes, len);
    if (has_streams(qp) && (qp->stream_error >> (wqe.stream & 63) & 1)) {
        qp->sq_head += blocks;
        complete_error(qp, &wqe, CQE_FLUSHED);
    } else if (fetch == FETCH_BAD || !understood || wqe.qpn != qp->number || !permitted(qp, wqe.opcode)) {
        qp->sq_head += blocks;
        wqe_fail(qp, &wqe, CQE_LOCAL_QP_OP);
    } else if (wqe.opcode == OPCODE_NOP || wqe.opcode == OPCODE_UMR || wqe.opcode == OPCODE_SET_PSV || wqe.opcode == OPCODE_MMO) {
        qp->sq_head += blocks;
        local(qp, bytes, len, &wqe);
    } else {
        request_start(qp, bytes, len, blocks);
    }
    if (defect(configuration_late) && wqe.opcode != OPCODE_UMR && wqe.opcode != OPCODE_SET_PSV) late_run(qp);
}

bool qp_run(struct qp *qp, uint16_t producer) {
    uint8_t bytes[WQE_BYTES];
    size_t len;
    uint16_t blocks;
    bool any = false;
    if (qp->state == STATE_ERR || qp->state == STATE_SQE) return sq_flush(qp, producer);
    for (int i = 0; i < BUDGET && qp->state == STATE_RTS && !qp->call; i++, any = true) {
        if (i && round_is_over()) break;
        enum fetch fetch = sq_fetch(qp, producer, bytes, &len, &blocks);
        if (fetch == FETCH_NONE) break;
        if (fetch == FETCH_FAULT) {     /* the application freed its queue: nothing can be told but that */
            qp->sq_head = producer;
            event_qp(qp, EVENT_QP_FATAL);
            qp_fail(qp);
            break;
        }
        execute(qp, fetch, bytes, len, blocks);
    }
    return any;
}
