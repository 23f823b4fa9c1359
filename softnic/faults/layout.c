/* Faults of an mkey's translation: entries that are not what they were given as. */
#include "engine/rules.h"
#include "faults/fault.h"

REPLACES(layout_decode);
REPLACES(layout_apply);

static void swap(struct klm *one, struct klm *other) {
    struct klm kept = *one;
    *one = *other;
    *other = kept;
}

static void list(struct change *change) {
    struct klm *klm = change->klm;
    uint32_t n = change->klms;
    if (n < 2) return;
    if (fault(list_last_entry_dropped)) klm[n - 2].length += klm[n - 1].length, change->klms--;
    if (fault(list_first_entries_swapped)) swap(&klm[0], &klm[1]);
    for (uint32_t i = 0; fault(list_reversed) && i < n / 2; i++) swap(&klm[i], &klm[n - 1 - i]);
    for (uint32_t i = 1; i < n; i++) {
        if (fault(list_first_entry_only)) klm[0].length += klm[i].length, change->klms = 1;
        if (fault(list_entry_byte_late)) klm[i].addr++;
        if (fault(list_four_entries) && i > 3) klm[i].addr = klm[3].addr, klm[i].key = klm[3].key;
        if (fault(list_lkey_of_first)) klm[i].key = klm[0].key;
    }
}

static void strided(struct change *change) {
    struct stride *all = change->stride, first = *all, *last = all + change->strides - 1;
    for (struct stride *it = all; it <= last; it++) {
        uint16_t skip = it->stride - it->length;
        if (fault(interleaved_skip_first)) it->addr += skip;
        if (fault(interleaved_skip_ignored)) it->stride = it->length;
        if (fault(interleaved_skip_is_stride)) it->stride = skip;
        if (fault(interleaved_stride_long)) it->stride++;
        if (fault(interleaved_stride_shared)) it->stride = all->stride;
        if (fault(interleaved_count_shared)) it->length = all->length;
        if (fault(interleaved_lkey_of_first)) it->key = all->key;
    }
    if (last == all) return;
    if (fault(interleaved_swapped)) all[0] = all[1], all[1] = first;
    if (fault(interleaved_last_dropped))
        last->addr = first.addr, last->key = first.key, last->stride = first.stride;
}

bool layout_decode(const struct key *key, const uint8_t *bytes, size_t len, struct change *change) {
    if (!right_layout_decode(key, bytes, len, change)) return false;
    if (change->layout == LAYOUT_LIST && key->type == KEY_MKEY) list(change);
    if (change->layout == LAYOUT_STRIDED && change->strides) {
        strided(change);
        change->bytes_per_repeat = 0;
        for (uint32_t i = 0; i < change->strides; i++)
            change->bytes_per_repeat += change->stride[i].length;
    }
    return true;
}

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
