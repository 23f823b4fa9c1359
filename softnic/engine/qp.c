/* Queue pairs: their states and what each change of state does. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "pure/rule.h"

int qp_create(struct context *context, const struct qp_attr *attr, struct qp **out) {
    struct qp *qp = calloc(1, sizeof *qp);
    if (!qp) return ENOMEM;
    int error = table_add(&nic.qps, qp, &qp->number);
    if (error) {
        free(qp);
        return error;
    }
    qp->attr = *attr;
    if (!qp->attr.sq_buf)
        qp->attr.sq_buf = attr->buf + ((uint64_t)attr->rq_entries << attr->rq_shift);
    if (attr->pd) attr->pd->object.users++;
    if (attr->send_cq) attr->send_cq->object.users++;
    if (attr->recv_cq) attr->recv_cq->object.users++;
    if (attr->srq) attr->srq->object.users++;
    object_link(&qp->object, KIND_QP, context);
    *out = qp;
    return 0;
}

struct qp *qp_find(uint32_t number) { return table_get(&nic.qps, number); }

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
    /* As wide as their fields in the QP context are (PRM, qpc): what is above is cut off. */
    if (mask & ATTR_TIMEOUT) set->timeout = c->timeout & 31;
    if (mask & ATTR_RETRY) set->retry_count = c->retry_count & 7;
    if (mask & ATTR_RNR_RETRY) set->rnr_retry = c->rnr_retry & 7;
    if (mask & ATTR_RQ_PSN) set->rq_psn = c->rq_psn & 0xffffff;
    if (mask & ATTR_RD_ATOMIC) set->max_rd_atomic = c->max_rd_atomic;
    if (mask & ATTR_ALT_PATH)
        set->alt_path = c->alt_path, set->alt_port = c->alt_port, set->alt_timeout = c->alt_timeout,
        set->alt_pkey_index = c->alt_pkey_index;
    if (mask & ATTR_RNR_TIMER) set->min_rnr_timer = c->min_rnr_timer & 31;
    if (mask & ATTR_SQ_PSN) set->sq_psn = c->sq_psn & 0xffffff;
    if (mask & ATTR_DEST_RD_ATOMIC) set->max_dest_rd_atomic = c->max_dest_rd_atomic;
    if (mask & ATTR_MIG) set->path_mig_state = c->path_mig_state;
    if (mask & ATTR_DEST_QPN) set->dest_qpn = c->dest_qpn & 0xffffff;
}

/* What was rung before goes out, but nobody waits for answers: the rule for a QP that is destroyed
 * or reset. Bounded, because what is on its way holds a copy of its data. */
static void part(struct qp *qp) {
    enum { MOST = 64 << 20 };
    uint16_t producer = qp->last;
    uint64_t bytes = 0;
    if (qp->state == STATE_RTS && qp->attr.sq_blocks &&
        (qp->ending || doorbell_record(qp->attr.db, NULL, &producer)))
        while (bytes < MOST && (qp->call ? request_leave(qp, &bytes) : qp_run(qp, producer))) {}
    request_drop(qp);
}

int qp_destroy(struct qp *qp, uint32_t *async_events) {
    part(qp);
    late_settle_qp(qp);
    *async_events = qp->async_events -
                    event_retract(qp->attr.async ? qp->attr.async : qp->object.context->async,
                                  qp->attr.user_handle);
    if (qp->attr.pd) qp->attr.pd->object.users--;
    if (qp->attr.send_cq) qp->attr.send_cq->object.users--;
    if (qp->attr.recv_cq) qp->attr.recv_cq->object.users--;
    if (qp->attr.srq) qp->attr.srq->object.users--;
    table_remove(&nic.qps, qp->number);
    object_unlink(&qp->object);
    free(qp);
    return 0;
}

static void to_reset(struct qp *qp) {
    part(qp);
    late_settle_qp(qp);
    qp->state = STATE_RESET;
    qp->sq_head = qp->rq_head = 0;
    qp->draining = qp->ending = qp->told_error = false;
    qp->wait_due = 0;
    qp->stream_error = 0;
    memset(&qp->set, 0, sizeof qp->set);
}

void qp_fail(struct qp *qp) {
    if (qp->state == STATE_ERR || qp->state == STATE_RESET) return;
    /* A DCT has no connection that could be broken. */
    if (qp->attr.type == QP_DCT) return;
    qp->state = STATE_ERR;
    qp->draining = qp->ending = false;
    qp->wait_due = 0;
    request_flush(qp);
    rq_flush(qp);
    if (qp->attr.srq) event_qp(qp, EVENT_LAST_WQE);
}

/* What was posted before the change still runs (hardware rule 21). */
static void run_posted(struct qp *qp) {
    uint16_t producer;
    if (qp->state == STATE_RTS && qp->attr.sq_blocks &&
        doorbell_record(qp->attr.db, NULL, &producer))
        while (qp_run(qp, producer)) {}
}

/* To error. An answer that another process still owes is waited for: until then the QP goes on with
 * what was rung before, though it is in error for everybody who asks. What waits for its peer to
 * become ready is flushed. */
static void to_error(struct qp *qp) {
    if (qp->ending) return;
    run_posted(qp);
    if (qp->state != STATE_RTS || !qp->call || !qp->call->sent) {
        qp_fail(qp);
        return;
    }
    qp->ending = doorbell_record(qp->attr.db, NULL, &qp->last);
    if (!qp->ending) qp_fail(qp);
    qp->progress = now();
}

bool qp_end_round(struct qp *qp, uint64_t *next) {
    static const uint64_t MOST = 1000000000; /* ns without an answer */
    while (qp->ending && qp_run(qp, qp->last)) {}
    if (!qp->ending) return true;
    if (!qp->call || !qp->call->sent || now() - qp->progress >= MOST) {
        qp_fail(qp);
        return true;
    }
    *next = qp->progress + MOST;
    return false;
}

void qp_sq_drained(struct qp *qp) {
    qp->draining = false;
    late_unload(NULL); /* of what went out before nothing is under way, and no message can follow */
    event_qp(qp, EVENT_SQ_DRAINED);
}

static void to_state(struct qp *qp, enum qp_state to) {
    switch (to) {
    case STATE_RESET: to_reset(qp); return;
    case STATE_ERR: to_error(qp); return;
    case STATE_SQD:
        if (qp->state == STATE_SQD) return;
        run_posted(qp);
        if (qp->state != STATE_RTS) return; /* what ran ended in an error */
        qp->state = STATE_SQD;
        qp->draining = qp->call != NULL;
        if (!qp->draining && qp->set.en_sqd_async_notify) qp_sq_drained(qp);
        return;
    default:
        if (qp->state == STATE_SQE) qp->told_error = false;
        qp->state = to;
    }
}

/* What the device can do (ibv_query_device), and what its fields can hold. */
static bool in_range(const struct qp_change *change) {
    enum { MTU_256 = 1, MOST_RD_ATOMIC = 16, ACCESS_ATOMIC = 8 };
    uint32_t mask = change->mask;
    if (mask & ATTR_PORT && !personality_port(change->port)) return false;
    if (mask & ATTR_PKEY && change->pkey_index) return false; /* the table has one entry */
    if (mask & ATTR_MTU && (change->path_mtu < MTU_256 || change->path_mtu > personality()->mtu))
        return false;
    if (mask & ATTR_ACCESS && change->access & ACCESS_ATOMIC && !personality()->atomics)
        return false;
    if (mask & ATTR_RD_ATOMIC && change->max_rd_atomic > MOST_RD_ATOMIC) return false;
    return !(mask & ATTR_DEST_RD_ATOMIC) || change->max_dest_rd_atomic <= MOST_RD_ATOMIC;
}

int RULE(qp_modify)(struct qp *qp, const struct qp_change *change) {
    enum qp_state from = qp_uverbs_state(qp),
                  to = change->mask & ATTR_STATE ? (enum qp_state)change->state : from;
    if (to > STATE_ERR) return EINVAL;
    /* cur_state may only say what a racing completion has changed: RTS for SQE and the like. */
    if ((change->mask & ATTR_CUR_STATE) && change->current_state != from) return EINVAL;
    if (!transition_allowed(qp->attr.type, from, to, change->mask) || !in_range(change))
        return EINVAL;
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
    switch (qp_uverbs_state(qp)) {
    case STATE_SQD: return qp->draining ? QPC_SQ_DRAINING : QPC_SQ_DRAINED;
    case STATE_SQE: return QPC_SQER;
    case STATE_ERR: return QPC_ERR;
    default: return (uint8_t)qp->state;
    }
}

uint16_t qp_sq_counter(const struct qp *qp) { return qp->sq_head; }
enum qp_state qp_uverbs_state(const struct qp *qp) { return qp->ending ? STATE_ERR : qp->state; }
