/* Faults of an mkey's entries: other ones, in another order, at other places. They act when a
 * message goes through them. */
#include "faults/walk.h"

#include <stdlib.h>
#include <string.h>

#include "engine/rules.h"
#include "faults/condition.h"
#include "faults/fault.h"

extern __typeof__(key_descend) right_key_descend;

static void swap(struct klm *one, struct klm *other) {
    struct klm kept = *one;
    *one = *other;
    *other = kept;
}

static void list(struct key *key) {
    struct klm *klm = key->klm;
    uint32_t n = key->klms;
    if (n < 2) return;
    if (fault(list_last_entry_dropped)) klm[n - 2].length += klm[n - 1].length, key->klms--;
    if (fault(list_first_entries_swapped)) swap(&klm[0], &klm[1]);
    for (uint32_t i = 0; fault(list_reversed) && i < n / 2; i++) swap(&klm[i], &klm[n - 1 - i]);
    for (uint32_t i = 1; i < n; i++) {
        if (fault(list_first_entry_only)) klm[0].length += klm[i].length, key->klms = 1;
        if (fault(list_entry_byte_late)) klm[i].addr++;
        if (fault(list_four_entries) && i > 3) klm[i].addr = klm[3].addr, klm[i].key = klm[3].key;
        if (fault(list_lkey_of_first)) klm[i].key = klm[0].key;
    }
}

static void strided(struct key *key) {
    struct stride *all = key->stride, first = *all, *last = all + key->strides - 1;
    for (struct stride *it = all; it <= last; it++) {
        uint16_t skip = it->stride - it->length;
        if (fault(interleaved_skip_first)) it->addr += skip;
        if (fault(interleaved_skip_ignored)) it->stride = it->length;
        if (fault(interleaved_skip_is_stride)) it->stride = skip;
        if (fault(interleaved_stride_long)) it->stride++;
        if (fault(interleaved_stride_shared)) it->stride = all->stride;
        if (fault(interleaved_count_shared)) it->length = all->length;
        if (fault(interleaved_count_even)) it->length += it->length % 2;
        if (fault(interleaved_lkey_of_first)) it->key = all->key;
    }
    if (last == all) return;
    if (fault(interleaved_swapped)) all[0] = all[1], all[1] = first;
    if (fault(interleaved_last_dropped))
        last->addr = first.addr, last->key = first.key, last->stride = first.stride;
}

/* Of entries that are looked at one by one the condition takes some; the others are as they were.
 */
static void mix(struct key *key, const struct key *right) {
    if (!condition_is_of_entries()) return;
    bool strided = right->layout == LAYOUT_STRIDED;
    uint32_t count = strided ? right->strides : right->klms;
    if (!strided && key->klms != right->klms) { /* no entry is one of the others */
        memcpy(key->klm, right->klm, right->klms * sizeof *key->klm);
        key->klms = right->klms;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        moment.entry = range_of(i, 1);
        if (condition_holds()) continue;
        if (strided) key->stride[i] = right->stride[i];
        else key->klm[i] = right->klm[i];
    }
    moment.entry = range_of(0, 0);
}

static void *copy(const void *of, size_t count, size_t size) {
    void *made = malloc(count * size + 1);
    if (!made) abort();
    if (count) memcpy(made, of, count * size);
    return made;
}

/* An interleaved layout as a list of its blocks, in another order or at other places. */
static enum violation unrolled(const struct key *key, uint64_t addr, uint64_t length, bool write,
                               struct reach *reach, int depth) {
    struct key list = *key;
    list.layout = LAYOUT_LIST, list.klms = key->repeat * key->strides;
    list.klm = calloc(list.klms + 1u, sizeof *list.klm);
    if (!list.klm) return NO_MEMORY;
    for (uint32_t n = 0; n < list.klms; n++) {
        uint32_t i = n % key->strides, turn = n / key->strides;
        if (fault(interleaved_by_entry)) i = n / key->repeat, turn = n % key->repeat;
        if (fault(interleaved_repeat_once)) turn = 0;
        if (fault(interleaved_repeat_short) && turn && turn + 1 == key->repeat) turn--;
        const struct stride *stride = &key->stride[i];
        uint64_t at = stride->addr + (uint64_t)turn * stride->stride;
        list.klm[n] = (struct klm){stride->length, stride->key, at};
    }
    enum violation bad = right_key_descend(&list, addr, length, write, reach, depth);
    free(list.klm);
    return bad;
}

enum violation walked(const struct key *key, uint64_t addr, uint64_t length, bool write,
                      struct reach *reach, int depth) {
    struct key other = *key;
    if (key->layout == LAYOUT_STRIDED && key->strides &&
        (fault(interleaved_by_entry) || fault(interleaved_repeat_once) ||
         fault(interleaved_repeat_short)))
        return unrolled(key, addr, length, write, reach, depth);
    other.klm = copy(key->klm, key->layout == LAYOUT_LIST ? key->klms : 0, sizeof *key->klm);
    other.stride =
        copy(key->stride, key->layout == LAYOUT_STRIDED ? key->strides : 0, sizeof *key->stride);
    if (key->layout == LAYOUT_LIST) list(&other);
    else if (key->strides) strided(&other);
    mix(&other, key);
    other.bytes_per_repeat = 0;
    for (uint32_t i = 0; key->layout == LAYOUT_STRIDED && i < key->strides; i++)
        other.bytes_per_repeat += other.stride[i].length;
    enum violation bad = right_key_descend(&other, addr, length, write, reach, depth);
    free(other.klm);
    free(other.stride);
    return bad;
}

struct range entries_of(const struct key *key, uint32_t value) {
    bool strided = key->layout == LAYOUT_STRIDED;
    uint32_t count = strided ? key->strides : key->layout == LAYOUT_LIST ? key->klms : 0;
    struct range found = range_of(0, 0);
    for (uint32_t i = 0; i < count; i++) {
        if ((strided ? key->stride[i].key : key->klm[i].key) != value) continue;
        if (found.last < found.first) found.first = i;
        found.last = i;
    }
    return found;
}
