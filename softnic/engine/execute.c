/* A send queue at work: one WQE after the other, in order, so fences are always kept. */
#include <string.h>

#include "pure/rule.h"
#include "rules.h"

enum { BUDGET = 128 }; /* WQEs of one QP before the others get their turn */

static void complete_error(struct qp *qp, const struct wqe *wqe, uint8_t syndrome) {
    struct cqe cqe = {
        .opcode = CQE_REQUESTER_ERROR,
        .syndrome = syndrome,
        .send_opcode = wqe->opcode,
        .qpn = qp->number,
        .uidx = qp->attr.uidx,
        .wqe_counter = wqe->index,
    };
    bool first = !qp->told_error;
    qp->told_error = true;
    if (!first && wqe->ce == CE_FIRST_ERROR) return;
    if (qp->attr.send_cq) cq_post(qp->attr.send_cq, &cqe, wqe->ce == CE_ALWAYS_EVENT);
}

void RULE(complete_success)(struct qp *qp, const struct wqe *wqe, uint32_t length) {
    struct cqe cqe = {
        .opcode = CQE_REQUESTER,
        .send_opcode = wqe->opcode,
        .qpn = qp->number,
        .uidx = qp->attr.uidx,
        .wqe_counter = wqe->index,
        .byte_count = length,
    };
    if (wqe->signaled && qp->attr.send_cq)
        cq_post(qp->attr.send_cq, &cqe, wqe->ce == CE_ALWAYS_EVENT);
}

/* Signature pipelining (mlx5dv_create_qp): the WQE with the error ends, then nothing goes on before
 * the application says so. */
bool RULE(sq_stops)(const struct qp *qp, bool sigerr) {
    return sigerr && qp->drain_sigerr && qp->state == STATE_RTS;
}

void RULE(wqe_complete)(struct qp *qp, const struct wqe *wqe, uint32_t length, bool sigerr) {
    complete_success(qp, wqe, length);
    if (sq_stops(qp, sigerr)) {
        qp->state = STATE_SQD;
        qp_sq_drained(qp);
    } else if (qp->state == STATE_SQD && qp->draining && !qp->call) {
        qp->draining = false;
        if (qp->set.en_sqd_async_notify) qp_sq_drained(qp);
    }
}

static bool has_streams(const struct qp *qp) {
    return qp->attr.type == QP_DCI && qp->attr.dci_streams;
}

/* A DCI's stream breaks alone, until too many have; RC ends; unreliable QPs only stop sending
 * (IBTA 10.3.1, SQE). */
void RULE(wqe_fail)(struct qp *qp, const struct wqe *wqe, uint8_t syndrome) {
    complete_error(qp, wqe, syndrome);
    if (has_streams(qp)) {
        qp->stream_error |= 1ull << (wqe->stream & 63);
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
        enum fetch fetch = sq_fetch(qp, qp->sq_head, producer, bytes, &len, &blocks);
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
    case OPCODE_NOP:
    case OPCODE_SEND:
    case OPCODE_SEND_IMM: return true;
    case OPCODE_RDMA_WRITE:
    case OPCODE_RDMA_WRITE_IMM:
    case OPCODE_SEND_INVAL:
    case OPCODE_UMR:
    case OPCODE_SET_PSV: return connected || qp->attr.type == QP_UC;
    case OPCODE_RDMA_READ: return connected;
    case OPCODE_ATOMIC_CS:
    case OPCODE_ATOMIC_FA: return connected && personality()->atomics;
    case OPCODE_MMO: return qp->mmo;
    case OPCODE_WAIT: return personality()->wait_on_data;
    case OPCODE_LOCAL_MMO: return connected && personality()->transpose;
    default: return false;
    }
}

static bool is_local(uint8_t opcode) {
    switch (opcode) {
    case OPCODE_NOP:
    case OPCODE_UMR:
    case OPCODE_SET_PSV:
    case OPCODE_MMO:
    case OPCODE_LOCAL_MMO:
    case OPCODE_WAIT: return true;
    default: return false;
    }
}

static void local(struct qp *qp, const uint8_t *bytes, size_t len, const struct wqe *wqe) {
    uint8_t syndrome = 0;
    bool sigerr = false;
    switch (wqe->opcode) {
    case OPCODE_UMR: syndrome = configure_umr(qp, bytes, len, wqe); break;
    case OPCODE_SET_PSV: syndrome = configure_psv(qp, wqe); break;
    case OPCODE_MMO: syndrome = copy_mmo(qp, wqe, &sigerr); break;
    case OPCODE_LOCAL_MMO: syndrome = copy_transposed(qp, wqe); break;
    case OPCODE_WAIT: syndrome = wait_check(qp, wqe); break;
    default: break;
    }
    if (syndrome) wqe_fail(qp, wqe, syndrome);
    else wqe_complete(qp, wqe, 0, sigerr);
}

/* The WQE at the head stays there: it is a WAIT that may be, and what it waits for is not there. */
static bool holds(struct qp *qp, enum fetch fetch, const uint8_t *bytes, size_t len) {
    enum { OPCODE_AT = 3 };
    struct wqe wqe;
    if (fetch != FETCH_FINE || bytes[OPCODE_AT] != OPCODE_WAIT || !permitted(qp, OPCODE_WAIT))
        return false;
    if (!wqe_decode(bytes, len, qp->attr.type == QP_UD || qp->attr.type == QP_DCI, &wqe) ||
        wqe.qpn != qp->number)
        return false;
    if (has_streams(qp) && (qp->stream_error >> (wqe.stream & 63) & 1)) return false;
    bool seen = qp->wait_due;
    if (!wait_holds(qp, &wqe)) return false;
    if (!seen) trace_wqe(qp, bytes, len);
    return true;
}

void RULE(wqe_execute)(struct qp *qp, enum fetch fetch, const uint8_t *bytes, size_t len,
                       uint16_t blocks) {
    struct wqe wqe;
    memset(&wqe, 0, sizeof wqe);
    bool understood =
        wqe_decode(bytes, len, qp->attr.type == QP_UD || qp->attr.type == QP_DCI, &wqe);
    if (!qp->wait_due) trace_wqe(qp, bytes, len);
    qp->wait_due = 0;
    if (has_streams(qp) && (qp->stream_error >> (wqe.stream & 63) & 1)) {
        qp->sq_head += blocks;
        complete_error(qp, &wqe, CQE_FLUSHED);
    } else if (fetch == FETCH_BAD || !understood || wqe.qpn != qp->number ||
               !permitted(qp, wqe.opcode)) {
        qp->sq_head += blocks;
        wqe_fail(qp, &wqe, CQE_LOCAL_QP_OP);
    } else if (is_local(wqe.opcode)) {
        qp->sq_head += blocks;
        local(qp, bytes, len, &wqe);
    } else {
        request_start(qp, bytes, len, blocks);
    }
}

/* What may be sent before its predecessors are answered. */
static bool run_after(struct qp *qp, uint16_t producer) {
    uint8_t bytes[WQE_BYTES];
    size_t len;
    uint16_t blocks;
    bool any = false;
    while (qp->state == STATE_RTS && qp->call && qp->call->sent && !round_is_over()) {
        uint16_t at = (uint16_t)(qp->sq_head + request_blocks(qp));
        if (at == producer || sq_fetch(qp, at, producer, bytes, &len, &blocks) != FETCH_FINE) break;
        if (!request_after(qp, bytes, len, blocks)) break;
        any = true;
    }
    return any;
}

bool qp_run(struct qp *qp, uint16_t producer) {
    uint8_t bytes[WQE_BYTES];
    size_t len;
    uint16_t blocks;
    bool any = false;
    if (qp->state == STATE_ERR || qp->state == STATE_SQE) return sq_flush(qp, producer);
    for (int i = 0; i < BUDGET && qp->state == STATE_RTS && !qp->call; i++, any = true) {
        if (i && round_is_over()) break;
        enum fetch fetch = sq_fetch(qp, qp->sq_head, producer, bytes, &len, &blocks);
        if (fetch == FETCH_NONE) break;
        /* the application freed its queue: only that can be reported */
        if (fetch == FETCH_FAULT) {
            qp->sq_head = producer;
            event_qp(qp, EVENT_QP_FATAL);
            qp_fail(qp);
            break;
        }
        if (holds(qp, fetch, bytes, len)) break;
        wqe_execute(qp, fetch, bytes, len, blocks);
    }
    any |= run_after(qp, producer);
    return any;
}
