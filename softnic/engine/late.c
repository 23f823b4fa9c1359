/* A device that answers late: CQEs wait for a time of chance before they are written. Those of a CQ
 * stay in order; between CQs no order is promised, and there is none. What a QP has completed is
 * there before an event tells of the QP, since a device writes both in order, and before it is
 * reset or destroyed, since the driver then cleans its CQs of it.
 *
 * What a message brings is late, too: it is in memory before the message's receive is completed,
 * and what an RDMA WRITE brings before a later message of the QP is received, or read (IBTA 9.5,
 * o9-20), or once the requester's queue is drained. Of a QP it stays in order. */
#include <stdlib.h>
#include <string.h>

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

/* What one place of a message brings. */
struct load {
    struct qp *qp;
    uint64_t due;
    struct load *next;
    size_t pieces;
    uint8_t *bytes;
    struct piece piece[];
};
static struct load *loads, **last_load = &loads;

void late_forget(void) { first = NULL, last = &first, loads = NULL, last_load = &loads; }

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

bool late_scatter(struct qp *qp, const struct piece *piece, size_t pieces, const uint8_t *from) {
    uint64_t length = 0;
    for (size_t i = 0; i < pieces; i++) length += piece[i].length;
    if (!memory_readable(piece, pieces)) return false;
    struct load *load = malloc(sizeof *load + pieces * sizeof *piece + length);
    if (!load) return false;
    /* So that a program looks before it is there; less than the time after which nothing is waited
     * for where no later message can be sent (5 ms). */
    enum { TIMES = 4 };
    uint64_t due = now() + 1000ull * TIMES * (1 + draw(personality()->late_us));
    if (due < qp->late) due = qp->late;
    qp->late = due;
    load->qp = qp, load->due = due, load->next = NULL, load->pieces = pieces;
    load->bytes = (uint8_t *)(load->piece + pieces);
    memcpy(load->piece, piece, pieces * sizeof *piece);
    memcpy(load->bytes, from, length);
    *last_load = load, last_load = &load->next;
    return true;
}

/* Puts down what `qp` (NULL: any) brings until then; the time of what is next, or 0. */
static uint64_t unload(const struct qp *qp, uint64_t until) {
    uint64_t next = 0;
    struct load **link = &loads;
    while (*link) {
        struct load *load = *link;
        if ((qp && load->qp != qp) || load->due > until) {
            if (!next || load->due < next) next = load->due;
            link = &load->next;
            continue;
        }
        *link = load->next;
        if (last_load == &load->next) last_load = link;
        memory_scatter(load->piece, load->pieces,
                       load->bytes); /* memory that is gone keeps nothing */
        free(load);
    }
    return next;
}

void late_unload(const struct qp *qp) {
    if (loads) unload(qp, UINT64_MAX);
}

/* The data of a message is there before its receive is completed. */
static void unload_for(const struct cqe *cqe) {
    const struct qp *qp = loads && cqe->opcode != CQE_REQUESTER ? qp_find(cqe->qpn) : NULL;
    if (qp) late_unload(qp);
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
        unload_for(&held->cqe);
        cq_write(held->cq, &held->cqe, held->solicited);
        free(held);
    }
    return next;
}

void late_settle(const struct cq *cq) {
    if (cq && first) write_until(cq, UINT64_MAX);
}

void late_settle_qp(const struct qp *qp) {
    late_unload(qp);
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

uint64_t late_due(void) {
    uint64_t data = loads ? unload(NULL, now()) : 0, cqe = first ? write_until(NULL, now()) : 0;
    return data && (!cqe || data < cqe) ? data : cqe;
}
