/* Work queues in the application's memory: what was posted, one WQE at a time.
 *
 * Doorbell record of a QP: two big-endian words, how far the RQ (in WQEs) and the SQ (in blocks of
 * 64 bytes) are filled. An SRQ's WQEs are a linked list; the application links what was consumed
 * again, we follow. */
#include <string.h>

#include "engine.h"
#include "pure/bits.h"

bool doorbell_record(uint64_t db, uint16_t *rq, uint16_t *sq) {
    uint8_t words[8];
    if (!memory_read(db, words, sizeof words)) return false;
    if (rq) *rq = (uint16_t)load_be32(words);
    if (sq) *sq = (uint16_t)load_be32(words + 4);
    return true;
}

/* `count` blocks from this one on, across the ring's end. */
static bool blocks_read(const struct qp *qp, uint16_t from, uint16_t count, uint8_t *out) {
    uint32_t at = from & (qp->attr.sq_blocks - 1), straight = qp->attr.sq_blocks - at;
    if (straight > count) straight = count;
    struct piece piece[2] = {{qp->attr.sq_buf + (uint64_t)at * WQE_BLOCK, straight * WQE_BLOCK},
                             {qp->attr.sq_buf, (count - straight) * WQE_BLOCK}};
    return memory_gather(piece, straight == count ? 1 : 2, out);
}

enum fetch sq_fetch(const struct qp *qp, uint16_t at, uint16_t producer, uint8_t wqe[WQE_BYTES],
                    size_t *len, uint16_t *blocks) {
    enum { AHEAD = 4 }; /* most WQEs are not longer */
    uint16_t posted = (uint16_t)(producer - at);
    if (!posted || !qp->attr.sq_blocks) return FETCH_NONE;
    if (posted > qp->attr.sq_blocks) posted = (uint16_t)qp->attr.sq_blocks;
    uint16_t have = posted < AHEAD ? posted : AHEAD;
    if (!blocks_read(qp, at, have, wqe)) return FETCH_FAULT;
    unsigned ds = load_be32(wqe + 4) & 0x3f;
    *len = ds * WQE_UNIT;
    *blocks = ds ? (uint16_t)((ds + 3) / 4) : 1;
    if (*blocks > posted) { /* cut off by the producer index */
        *blocks = posted;
        *len = (size_t)posted * WQE_BLOCK;
        return FETCH_BAD;
    }
    if (!ds) return FETCH_BAD;
    if (*blocks > have && !blocks_read(qp, at, *blocks, wqe)) return FETCH_FAULT;
    return FETCH_FINE;
}

static uint64_t capacity(const struct receive *receive) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < receive->segs; i++) sum += receive->seg[i].length;
    return sum;
}

static enum fetch srq_peek(struct srq *srq, struct receive *out) {
    uint16_t posted;
    if (srq->error) return FETCH_NONE;
    if (!doorbell_record(srq->attr.db, &posted, NULL)) return FETCH_FAULT;
    if (posted == srq->consumed) return FETCH_NONE;
    if (srq->head >= srq->attr.entries || srq->attr.stride > sizeof out->bytes ||
        srq->attr.stride < 32)
        return FETCH_BAD;
    if (!memory_read(srq->attr.buf + (uint64_t)srq->head * srq->attr.stride, out->bytes,
                     srq->attr.stride))
        return FETCH_FAULT;
    out->index = srq->head;
    out->segs = segs_decode(out->bytes + 16, srq->attr.stride - 16, out->seg, WQE_MAX_SEGS);
    out->length = capacity(out);
    return FETCH_FINE;
}

enum fetch receive_peek(struct qp *qp, struct receive *out) {
    uint16_t posted;
    if (qp->attr.srq) return srq_peek(qp->attr.srq, out);
    size_t stride = (size_t)1 << qp->attr.rq_shift;
    if (!qp->attr.rq_entries || stride > sizeof out->bytes) return FETCH_NONE;
    if (!doorbell_record(qp->attr.db, &posted, NULL)) return FETCH_FAULT;
    if (posted == qp->rq_head) return FETCH_NONE;
    out->index = qp->rq_head;
    uint64_t slot = qp->rq_head & (qp->attr.rq_entries - 1);
    if (!memory_read(qp->attr.buf + (slot << qp->attr.rq_shift), out->bytes, stride))
        return FETCH_FAULT;
    out->segs = segs_decode(out->bytes, stride, out->seg, WQE_MAX_SEGS);
    out->length = capacity(out);
    return FETCH_FINE;
}

static void srq_take(struct srq *srq, const struct receive *receive) {
    uint16_t posted;
    srq->head = load_be16(receive->bytes + 2);
    srq->consumed++;
    if (!srq->attr.limit || !doorbell_record(srq->attr.db, &posted, NULL) ||
        (uint16_t)(posted - srq->consumed) >= srq->attr.limit)
        return;
    srq->attr.limit = 0;
    if (event_async(srq->object.context, srq->attr.async, srq->attr.user_handle, EVENT_SRQ_LIMIT))
        srq->async_events++;
}

void receive_take(struct qp *qp, const struct receive *receive) {
    trace_receive(qp, receive);
    if (qp->attr.srq) srq_take(qp->attr.srq, receive);
    else qp->rq_head++;
}

bool rq_flush(struct qp *qp) {
    uint16_t posted;
    bool any = false;
    if (qp->attr.srq || !qp->attr.rq_entries || !qp->attr.recv_cq ||
        !doorbell_record(qp->attr.db, &posted, NULL))
        return false;
    for (; qp->rq_head != posted; any = true) {
        struct cqe cqe = {.opcode = CQE_RESPONDER_ERROR,
                          .syndrome = CQE_FLUSHED,
                          .qpn = qp->number,
                          .uidx = qp->attr.uidx,
                          .wqe_counter = qp->rq_head};
        cq_post(qp->attr.recv_cq, &cqe, false);
        qp->rq_head++;
    }
    return any;
}
