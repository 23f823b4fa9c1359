/* A device that answers late: CQEs wait for a time of chance before they are written. Those of a CQ
 * stay in order; between CQs no order is promised, and there is none. What a QP has completed is
 * there before an event tells of the QP, since a device writes both in order, and before it is
 * reset or destroyed, since the driver then cleans its CQs of it. */
#include <stdlib.h>

#include "engine.h"

struct held {
    struct cq *cq;
    struct cqe cqe;
    bool solicited;
    uint64_t due;
    struct held *next;
};

/* By the time at which they were held: those of a CQ are due in that order too. */
static struct held *first, **last = &first;

void late_forget(void) { first = NULL, last = &first; }

/* xorshift32 (Marsaglia 2003): the same in each process, so that a failure can be seen again. */
static uint32_t draw(uint32_t below) {
    static uint32_t state = 2463534242u;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state % below;
}

bool late_hold(struct cq *cq, const struct cqe *cqe, bool solicited) {
    uint32_t most = personality()->late_us;
    struct held *held = most ? malloc(sizeof *held) : NULL;
    if (!held) return false;
    uint64_t due = now() + 1000ull * draw(most + 1);
    if (due < cq->late) due = cq->late;
    cq->late = due;
    *held = (struct held){cq, *cqe, solicited, due, NULL};
    *last = held, last = &held->next;
    return true;
}

/* Writes those that `cq` (NULL: any) is due until then; the next one's time, 0: none is held. */
static uint64_t write_until(const struct cq *cq, uint64_t until) {
    uint64_t next = 0;
    struct held **link = &first;
    while (*link) {
        struct held *held = *link;
        if ((cq && held->cq != cq) || held->due > until) {
            if (!next || held->due < next) next = held->due;
            link = &held->next;
            continue;
        }
        *link = held->next;
        if (last == &held->next) last = link;
        cq_write(held->cq, &held->cqe, held->solicited);
        free(held);
    }
    return next;
}

void late_settle(const struct cq *cq) {
    if (cq && first) write_until(cq, UINT64_MAX);
}

void late_settle_qp(const struct qp *qp) {
    late_settle(qp->attr.send_cq);
    late_settle(qp->attr.recv_cq);
}

void late_drop(const struct cq *cq) {
    struct held **link = &first;
    while (*link) {
        struct held *held = *link;
        if (held->cq != cq) {
            link = &held->next;
            continue;
        }
        *link = held->next;
        if (last == &held->next) last = link;
        free(held);
    }
}

uint64_t late_due(void) { return first ? write_until(NULL, now()) : 0; }
