/* Faults of an mkey's translation when it is set: it stays, or begins elsewhere. */
#include "engine/rules.h"
#include "faults/fault.h"

REPLACES(layout_apply);

static bool stays(const struct key *key, const struct change *change) {
    if (key->type != KEY_MKEY || key->layout == LAYOUT_NONE) return false;
    if (fault(list_after_interleaved_kept))
        return key->layout == LAYOUT_STRIDED && change->layout == LAYOUT_LIST;
    if (fault(interleaved_after_list_kept))
        return key->layout == LAYOUT_LIST && change->layout == LAYOUT_STRIDED;
    return fault(layout_kept);
}

void layout_apply(struct key *key, struct change *change) {
    if (stays(key, change)) return;
    right_layout_apply(key, change);
    if (!fault(not_zero_based) || key->type != KEY_MKEY) return;
    key->start = key->klms ? key->klm->addr : key->strides ? key->stride->addr : 0;
}
