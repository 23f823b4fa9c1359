/* Faults of what a key reaches: rights, PDs and bounds that are not looked at; blocks elsewhere. */
#include <stdlib.h>

#include "engine/rules.h"
#include "faults/fault.h"
#include "faults/refusal.h"

REPLACES(key_claim);
REPLACES(entry_claim);
REPLACES(key_covers);
REPLACES(key_descend);

/* The rights that are looked at. */
static uint32_t needed(const struct key *key, uint32_t rights) {
    uint32_t rest = rights & ~(RIGHT_REMOTE_READ | RIGHT_REMOTE_WRITE);
    if (fault(local_write_unchecked) && key->type == KEY_MKEY) return rights & ~RIGHT_LOCAL_WRITE;
    if (fault(remote_write_unchecked)) return rights & ~RIGHT_REMOTE_WRITE;
    if (fault(remote_read_unchecked)) return rights & ~RIGHT_REMOTE_READ;
    if (fault(remote_atomic_unchecked)) return rights & ~RIGHT_ATOMIC;
    if (!fault(remote_rights_swapped)) return rights;
    return rest | (rights & RIGHT_REMOTE_READ ? RIGHT_REMOTE_WRITE : 0) |
           (rights & RIGHT_REMOTE_WRITE ? RIGHT_REMOTE_READ : 0);
}

enum violation key_claim(const struct pd *pd, uint32_t qpn, uint32_t value, uint32_t rights,
                         struct key **out) {
    const struct key *key = key_find(value);
    if (!key) return refusal_note(right_key_claim(pd, qpn, value, rights, out));
    if (fault(tag_unchecked)) value = key_value(key);
    if (fault(pd_unchecked)) pd = key->pd;
    return refusal_note(right_key_claim(pd, qpn, value, needed(key, rights), out));
}

enum violation entry_claim(const struct key *outer, uint32_t value, bool write,
                           struct key **inner) {
    const struct key *key = key_find(value);
    if (key && fault(entry_rights_unchecked)) return key_claim(outer->pd, ANY_QPN, value, 0, inner);
    if (key && fault(entry_pd_unchecked)) outer = key;
    /* pd_unchecked is a fault of what requests name. */
    if (key && fault(pd_unchecked) && key->pd != outer->pd) return FOREIGN_PD;
    return right_entry_claim(outer, value, write, inner);
}

bool key_covers(const struct key *key, uint64_t addr, uint64_t length) {
    bool to_its_end = addr - key->start + length == key->length;
    if (fault(bounds_one_less) && key->type == KEY_MKEY && to_its_end) return false;
    return right_key_covers(key, addr, length);
}

/* Zeros, and a place for what is written. */
static enum violation nowhere(uint64_t length, bool write, struct reach *reach) {
    struct key *null;
    right_key_claim(NULL, ANY_QPN, NULL_KEY, 0, &null);
    return right_key_descend(null, 0, length, write, reach, 0);
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

enum violation key_descend(const struct key *key, uint64_t addr, uint64_t length, bool write,
                           struct reach *reach, int depth) {
    bool mkey = key->type == KEY_MKEY, beyond = addr - key->start + length == key->length + 1;
    if (fault(missing_layout_ignored) && mkey && key->layout == LAYOUT_NONE)
        return nowhere(length, write, reach);
    if (fault(bounds_one_more) && mkey && length && beyond) {
        enum violation bad = FINE;
        if (length > 1) bad = right_key_descend(key, addr, length - 1, write, reach, depth);
        return bad ? bad : nowhere(1, write, reach);
    }
    if (key->layout == LAYOUT_STRIDED &&
        (fault(interleaved_by_entry) || fault(interleaved_repeat_once) ||
         fault(interleaved_repeat_short)))
        return unrolled(key, addr, length, write, reach, depth);
    return refusal_note(right_key_descend(key, addr, length, write, reach, depth));
}
