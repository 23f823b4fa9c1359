/* Faults of MMO: bytes too few or too many, the other direction, a right that is not looked at. */
#include <stdlib.h>

#include "engine/engine.h"
#include "faults/fault.h"
#include "faults/moment.h"

REPLACES(copy_mmo);

/* Where the last byte of a segment lies in memory. */
static bool last_byte(const struct qp *qp, const struct wqe_seg *seg, uint64_t *addr) {
    struct reach reach = {0};
    struct key *key;
    bool there = seg->length && !key_claim(qp->attr.pd, qp->number, seg->key, 0, &key) &&
                 !key_reach(key, seg->addr + seg->length - 1, 1, false, &reach);
    if (there) *addr = reach.piece->addr;
    free(reach.piece);
    return there;
}

/* The mkey of both ends, the source's before the target's. */
static uint32_t mkey_of(const struct wqe *wqe) {
    for (int i = 0; i < 2; i++) {
        const struct key *key = key_find(wqe->seg[i].key);
        if (key && key->type == KEY_MKEY) return key_value(key);
    }
    return 0;
}

static void swap(struct wqe_seg *one, struct wqe_seg *other) {
    struct wqe_seg kept = *one;
    *one = *other;
    *other = kept;
}

uint8_t copy_mmo(struct qp *qp, const struct wqe *wqe, bool *sigerr) {
    struct wqe other = *wqe;
    struct key *target = wqe->segs == 2 ? key_find(wqe->seg[1].key) : NULL;
    uint32_t rights = target ? target->rights : 0;
    if (!no_fault && wqe->segs == 2) moment.key = mkey_of(wqe);
    uint64_t from, to;
    uint8_t kept, byte;
    bool ends = wqe->segs == 2 && last_byte(qp, &wqe->seg[0], &from) &&
                last_byte(qp, &wqe->seg[1], &to) && memory_read(to, &kept, 1);
    if (fault(memcpy_backwards) && wqe->segs == 2) swap(&other.seg[0], &other.seg[1]);
    if (fault(memcpy_rights_unchecked) && target) target->rights |= RIGHT_LOCAL_WRITE;
    uint8_t syndrome = right_copy_mmo(qp, &other, sigerr);
    if (target) target->rights = rights;
    if (syndrome || !ends) return syndrome;
    if (fault(memcpy_short)) memory_write(to, &kept, 1);
    if (fault(memcpy_long) && memory_read(from + 1, &byte, 1)) memory_write(to + 1, &byte, 1);
    return 0;
}
