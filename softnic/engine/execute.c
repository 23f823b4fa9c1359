/* A send queue at work: one WQE after the other, in order, so fences are always kept. */
#include <string.h>

#include "engine.h"

enum { BUDGET = 128 };                  /* WQEs of one QP before the others get their turn */

static void complete_error(struct qp *qp, const struct wqe *wqe, uint8_t syndrome) {
    struct cqe cqe = {
        .opcode = CQE_REQUESTER_ERROR, .syndrome = syndrome, .send_opcode = wqe->opcode, .qpn = qp->number, .uidx = qp->attr.uidx, .wqe_counter = wqe->index,
    };
    if (qp->attr.send_cq) cq_post(qp->attr.send_cq, &cqe, false);
}

void wqe_complete(struct qp *qp, const struct wqe *wqe, uint32_t length, bool sigerr) {
    if (wqe->signaled && qp->attr.send_cq) {
        struct cqe cqe = {
            .opcode = CQE_REQUESTER, .send_opcode = wqe->opcode, .qpn = qp->number, .uidx = qp->attr.uidx, .wqe_counter = wqe->index, .byte_count = length,
        };
        cq_post(qp->attr.send_cq, &cqe, false);
    }
    /* Signature pipelining: the WQE with the error ends, then nothing goes on before the application says so. */
    if (sigerr && qp->drain_sigerr && qp->state == STATE_RTS) {
        qp->state = STATE_SQD;
        qp_sq_drained(qp);
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

static void local(struct qp *qp, const uint8_t *bytes, size_t len, const struct wqe *wqe) {
    uint8_t syndrome = 0;
    bool sigerr = false;
    switch (wqe->opcode) {
    case OPCODE_UMR: syndrome = configure_umr(qp, bytes, len, wqe); break;
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
}

bool qp_run(struct qp *qp, uint16_t producer) {
    uint8_t bytes[WQE_BYTES];
    size_t len;
    uint16_t blocks;
    bool any = false;
    if (qp->state == STATE_ERR || qp->state == STATE_SQE) return sq_flush(qp, producer);
    for (int i = 0; i < BUDGET && qp->state == STATE_RTS && !qp->call; i++, any = true) {
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
