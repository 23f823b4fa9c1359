/* Queue pairs: their states and what each change of state does. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "pure/defect.h"

enum {                                  /* enum ib_qp_attr_mask */
    ATTR_STATE = 1, ATTR_CUR_STATE = 2, ATTR_SQD_NOTIFY = 4, ATTR_ACCESS = 8, ATTR_PKEY = 0x10, ATTR_PORT = 0x20, ATTR_QKEY = 0x40, ATTR_AV = 0x80,
    ATTR_MTU = 0x100, ATTR_TIMEOUT = 0x200, ATTR_RETRY = 0x400, ATTR_RNR_RETRY = 0x800, ATTR_RQ_PSN = 0x1000, ATTR_RD_ATOMIC = 0x2000,
    ATTR_ALT_PATH = 0x4000, ATTR_RNR_TIMER = 0x8000, ATTR_SQ_PSN = 0x10000, ATTR_DEST_RD_ATOMIC = 0x20000, ATTR_MIG = 0x40000, ATTR_CAP = 0x80000,
    ATTR_DEST_QPN = 0x100000,
};

int qp_create(struct context *context, const struct qp_attr *attr, struct qp **out) {
    struct qp *qp = calloc(1, sizeof *qp);
    if (!qp) return ENOMEM;
    int error = table_add(&nic.qps, qp, &qp->number);
    if (error) {
        free(qp);
        return error;
    }
    qp->attr = *attr;
    if (!qp->attr.sq_buf) qp->attr.sq_buf = attr->buf + ((uint64_t)attr->rq_entries << attr->rq_shift);
    if (attr->pd) attr->pd->object.users++;
    if (attr->send_cq) attr->send_cq->object.users++;
    if (attr->recv_cq) attr->recv_cq->object.users++;
    if (attr->srq) attr->srq->object.users++;
    object_link(&qp->object, KIND_QP, context);
    *out = qp;
    return 0;
}

int qp_destroy(struct qp *qp, uint32_t *async_events) {
    request_drop(qp);
    *async_events = qp->async_events - event_retract(qp->attr.async ? qp->attr.async : qp->object.context->async, qp->attr.user_handle);
    if (qp->attr.pd) qp->attr.pd->object.users--;
    if (qp->attr.send_cq) qp->attr.send_cq->object.users--;
    if (qp->attr.recv_cq) qp->attr.recv_cq->object.users--;
    if (qp->attr.srq) qp->attr.srq->object.users--;
    table_remove(&nic.qps, qp->number);
    object_unlink(&qp->object);
    free(qp);
    return 0;
}

struct qp *qp_find(uint32_t number) { return table_get(&nic.qps, number); }

/* IBTA 10.3.1: the transitions there are, and what each must bring along. DC QPs bring less; what is optional is not looked at. */
static bool legal(enum qp_state from, enum qp_state to) {
    static const uint8_t next[] = {
        [STATE_RESET] = 1 << STATE_INIT,
        [STATE_INIT] = 1 << STATE_INIT | 1 << STATE_RTR,
        [STATE_RTR] = 1 << STATE_RTS,
        [STATE_RTS] = 1 << STATE_RTS | 1 << STATE_SQD,
        [STATE_SQD] = 1 << STATE_SQD | 1 << STATE_RTS,
        [STATE_SQE] = 1 << STATE_RTS,
    };
    return to == STATE_RESET || to == STATE_ERR || (next[from] >> to & 1);
}

static uint32_t required(enum qp_type type, enum qp_state from, enum qp_state to) {
    if (from == STATE_RESET && to == STATE_INIT)
        return type == QP_UD ? ATTR_PKEY | ATTR_PORT | ATTR_QKEY : type == QP_DCI ? ATTR_PKEY | ATTR_PORT : ATTR_PKEY | ATTR_PORT | ATTR_ACCESS;
    if (from == STATE_INIT && to == STATE_RTR) {
        if (type == QP_RC) return ATTR_AV | ATTR_MTU | ATTR_DEST_QPN | ATTR_RQ_PSN | ATTR_DEST_RD_ATOMIC | ATTR_RNR_TIMER;
        if (type == QP_UC) return ATTR_AV | ATTR_MTU | ATTR_DEST_QPN | ATTR_RQ_PSN;
        return type == QP_DCT ? ATTR_AV | ATTR_MTU | ATTR_RNR_TIMER : 0;
    }
    if (from == STATE_RTR && to == STATE_RTS) {
        if (type == QP_RC) return ATTR_TIMEOUT | ATTR_RETRY | ATTR_RNR_RETRY | ATTR_SQ_PSN | ATTR_RD_ATOMIC;
        if (type == QP_UC || type == QP_UD) return ATTR_SQ_PSN;
    }
    return 0;
}

static void keep(struct qp *qp, const struct qp_change *c) {
    struct qp_change *set = &qp->set;
    uint32_t mask = c->mask;
    set->mask |= mask;
    if (mask & ATTR_SQD_NOTIFY) set->en_sqd_async_notify = c->en_sqd_async_notify;
    if (mask & ATTR_ACCESS) set->access = c->access;
    if (mask & ATTR_PKEY) set->pkey_index = c->pkey_index;
    if (mask & ATTR_PORT) set->port = c->port;
    if (mask & ATTR_QKEY) set->qkey = c->qkey;
    if (mask & ATTR_AV) set->path = c->path;
    if (mask & ATTR_MTU) set->path_mtu = c->path_mtu;
    if (mask & ATTR_TIMEOUT) set->timeout = c->timeout;
    if (mask & ATTR_RETRY) set->retry_count = c->retry_count;
    if (mask & ATTR_RNR_RETRY) set->rnr_retry = c->rnr_retry;
    if (mask & ATTR_RQ_PSN) set->rq_psn = c->rq_psn;
    if (mask & ATTR_RD_ATOMIC) set->max_rd_atomic = c->max_rd_atomic;
    if (mask & ATTR_ALT_PATH) set->alt_path = c->alt_path, set->alt_port = c->alt_port, set->alt_timeout = c->alt_timeout, set->alt_pkey_index = c->alt_pkey_index;
    if (mask & ATTR_RNR_TIMER) set->min_rnr_timer = c->min_rnr_timer;
    if (mask & ATTR_SQ_PSN) set->sq_psn = c->sq_psn;
    if (mask & ATTR_DEST_RD_ATOMIC) set->max_dest_rd_atomic = c->max_dest_rd_atomic;
    if (mask & ATTR_MIG) set->path_mig_state = c->path_mig_state;
    if (mask & ATTR_DEST_QPN) set->dest_qpn = c->dest_qpn;
}

static void to_reset(struct qp *qp) {
    request_drop(qp);
    qp->state = STATE_RESET;
    qp->sq_head = qp->rq_head = 0;
    qp->draining = false;
    qp->stream_error = 0;
    memset(&qp->set, 0, sizeof qp->set);
}

void qp_fail(struct qp *qp) {
    if (qp->state == STATE_ERR || qp->state == STATE_RESET) return;
    /* A DCT has no connection that could be broken. */
    if (qp->attr.type == QP_DCT) return;
    qp->state = STATE_ERR;
    qp->draining = false;
    request_flush(qp);
    rq_flush(qp);
    if (qp->attr.srq) event_qp(qp, EVENT_LAST_WQE);
}

/* What was posted before the change still runs (hardware.md, what real programs need). */
static void run_posted(struct qp *qp) {
    uint16_t producer;
    if (qp->state == STATE_RTS && qp->attr.sq_blocks && doorbell_record(qp->attr.db, NULL, &producer))
        while (qp_run(qp, producer)) {}
}

void qp_sq_drained(struct qp *qp) {
    qp->draining = false;
    event_qp(qp, EVENT_SQ_DRAINED);
}

static void drop_first(struct qp *qp) {
    uint8_t bytes[WQE_BYTES];
    uint16_t producer, blocks;
    size_t len;
    if (!doorbell_record(qp->attr.db, NULL, &producer)) return;
    enum fetch fetch = sq_fetch(qp, producer, bytes, &len, &blocks);
    if (fetch == FETCH_FINE || fetch == FETCH_BAD) qp->sq_head += blocks;
}

static void to_state(struct qp *qp, enum qp_state to) {
    switch (to) {
    case STATE_RESET:
        to_reset(qp);
        return;
    case STATE_ERR:
        if (qp->attr.type == QP_DCT) qp->state = STATE_ERR;
        run_posted(qp);
        qp_fail(qp);
        return;
    case STATE_SQD:
        if (qp->state == STATE_SQD) return;
        run_posted(qp);
        if (qp->state != STATE_RTS) return;     /* what ran ended in an error */
        qp->state = STATE_SQD;
        qp->draining = qp->call != NULL;
        if (!qp->draining && qp->set.en_sqd_async_notify) qp_sq_drained(qp);
        return;
    default:
        if (defect(pipelining_resume_drops) && qp->state == STATE_SQD && to == STATE_RTS) drop_first(qp);
        qp->state = to;
    }
}

int qp_modify(struct qp *qp, const struct qp_change *change) {
    enum qp_state from = qp->state, to = change->mask & ATTR_STATE ? (enum qp_state)change->state : from;
    if (to > STATE_ERR || to == STATE_SQE) return EINVAL;
    /* cur_state may only say what a racing completion has changed: RTS for SQE and the like. */
    if ((change->mask & ATTR_CUR_STATE) && change->current_state != from) return EINVAL;
    if (change->mask & ATTR_STATE) {
        if (!legal(from, to)) return EINVAL;
    } else if (from == STATE_RESET || from == STATE_ERR) {
        return change->mask ? EINVAL : 0;
    }
    uint32_t needed = from == to ? 0 : required(qp->attr.type, from, to);
    if (needed & ~change->mask) return EINVAL;
    if ((change->mask & ATTR_PORT) && change->port != 1) return EINVAL;
    keep(qp, change);
    if (change->mask & ATTR_STATE) to_state(qp, to);
    nic_kick();
    return 0;
}

int qp_set_drain_sigerr(struct qp *qp, bool on) {
    if (!personality()->signature_pipelining) return EINVAL;
    qp->drain_sigerr = on;
    return 0;
}

int qp_set_mmo(struct qp *qp, bool on) {
    if (!personality()->memcpy_max) return EINVAL;
    qp->mmo = on;
    return 0;
}

int qp_reset_stream(struct qp *qp, uint16_t stream) {
    if (qp->attr.type != QP_DCI || stream >= 64 || !(qp->stream_error >> stream & 1)) return EINVAL;
    qp->stream_error &= ~(1ull << stream);
    nic_kick();
    return 0;
}

uint8_t qp_devx_state(const struct qp *qp) {
    enum { QPC_SQER = 4, QPC_SQ_DRAINED = 5, QPC_ERR = 6, QPC_SQ_DRAINING = 7 };
    switch (qp->state) {
    case STATE_SQD: return qp->draining ? QPC_SQ_DRAINING : QPC_SQ_DRAINED;
    case STATE_SQE: return QPC_SQER;
    case STATE_ERR: return QPC_ERR;
    default: return (uint8_t)qp->state;
    }
}

uint16_t qp_sq_counter(const struct qp *qp) { return qp->sq_head; }
enum qp_state qp_uverbs_state(const struct qp *qp) { return qp->state; }
