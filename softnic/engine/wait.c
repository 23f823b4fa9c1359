/* WAIT on data: a send queue stops until 8 bytes of memory are as the WQE says. Nothing tells of a
 * store to memory: they are looked at again, first soon and then ever more rarely, and whenever the
 * device has work anyway. Nobody else is held up by it.
 *
 * The layout is that of public programs: DPDK's mlx5_prm.h (mlx5_wqe_wseg) and UCC's tl_mlx5_wqe.c.
 * The WQE's value is on the left of a comparison, both under the mask; "cyclic" is signed. */
#include "engine.h"
#include "pure/bits.h"

static const uint64_t SHORTEST = 20000, LONGEST = 1000000; /* ns between two looks */
static struct transfer place;

/* The word at the WAIT's address; its syndrome if it can't be read. A key with a signature or
 * encryption gives no plain memory. `whole`: two looks saw the same, so that no half of a store was
 * seen. */
static uint8_t word_at(struct qp *qp, const struct wqe *wqe, uint64_t *word, bool *whole) {
    uint8_t first[8], second[8];
    transfer_begin(&place, qp->attr.pd, qp->number, qp->attr.send_cq);
    if (transfer_add(&place, wqe->wait_key, wqe->wait_addr, sizeof first, RIGHT_LOCAL_READ, false))
        return CQE_LOCAL_PROTECTION;
    if (place.place[0].key || transfer_emit(&place, first) || transfer_emit(&place, second))
        return CQE_LOCAL_PROTECTION;
    *word = load_be64(first);
    *whole = load_be64(second) == *word;
    return 0;
}

static bool holds(uint8_t operation, uint64_t value, uint64_t word) {
    switch (operation) {
    case WAIT_EQUAL: return value == word;
    case WAIT_BIGGER: return value > word;
    case WAIT_SMALLER: return value < word;
    case WAIT_CYCLIC_BIGGER: return (int64_t)value > (int64_t)word;
    case WAIT_CYCLIC_SMALLER: return (int64_t)value < (int64_t)word;
    default: return true;
    }
}

bool wait_holds(struct qp *qp, const struct wqe *wqe) {
    uint64_t word;
    bool whole;
    if (wqe->wait_operation > WAIT_CYCLIC_SMALLER || wqe->wait_else ||
        word_at(qp, wqe, &word, &whole))
        return false;
    if (whole && holds(wqe->wait_operation, wqe->wait_value & wqe->wait_mask,
                       word & wqe->wait_mask) != wqe->wait_inverted)
        return false;
    if (!qp->wait_due) qp->wait_interval = SHORTEST;
    else if (now() >= qp->wait_due && qp->wait_interval < LONGEST) qp->wait_interval *= 2;
    qp->wait_due = now() + qp->wait_interval;
    return true;
}

uint8_t wait_check(struct qp *qp, const struct wqe *wqe) {
    uint64_t word;
    bool whole;
    if (wqe->wait_operation > WAIT_CYCLIC_SMALLER || wqe->wait_else) return CQE_LOCAL_QP_OP;
    return word_at(qp, wqe, &word, &whole);
}
