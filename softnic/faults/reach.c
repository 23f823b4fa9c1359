/* Faults of what a key reaches: rights, PDs and bounds that are not looked at; blocks elsewhere. */
#include <stdlib.h>

#include "engine/rules.h"
#include "faults/fault.h"
#include "faults/moment.h"
#include "faults/refusal.h"
#include "faults/walk.h"

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
    if (!key || no_fault) return refusal_note(right_key_claim(pd, qpn, value, rights, out));
    if (!moment.walked && key->type == KEY_MKEY) moment.key = value;
    if (fault(tag_unchecked)) value = key_value(key);
    if (fault(pd_unchecked)) pd = key->pd;
    return refusal_note(right_key_claim(pd, qpn, value, needed(key, rights), out));
}

enum violation entry_claim(const struct key *outer, uint32_t value, bool write,
                           struct key **inner) {
    const struct key *key = key_find(value);
    if (!no_fault) moment.entry = entries_of(outer, value);
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

static enum violation descend(const struct key *key, uint64_t addr, uint64_t length, bool write,
                              struct reach *reach, int depth) {
    bool mkey = key->type == KEY_MKEY, beyond = addr - key->start + length == key->length + 1;
    if (fault(missing_layout_ignored) && mkey && key->layout == LAYOUT_NONE)
        return nowhere(length, write, reach);
    if (fault(bounds_one_more) && mkey && length && beyond) {
        enum violation bad = FINE;
        if (length > 1) bad = right_key_descend(key, addr, length - 1, write, reach, depth);
        return bad ? bad : nowhere(1, write, reach);
    }
    if (mkey && (key->layout == LAYOUT_LIST || key->layout == LAYOUT_STRIDED))
        return walked(key, addr, length, write, reach, depth);
    return right_key_descend(key, addr, length, write, reach, depth);
}

enum violation key_descend(const struct key *key, uint64_t addr, uint64_t length, bool write,
                           struct reach *reach, int depth) {
    struct moment before = moment;
    if (no_fault) return right_key_descend(key, addr, length, write, reach, depth);
    if (key->type == KEY_MKEY) moment.walked = key, moment.depth = depth;
    moment.entry = range_of(0, 0);
    enum violation bad = refusal_note(descend(key, addr, length, write, reach, depth));
    moment.walked = before.walked, moment.depth = before.depth, moment.entry = before.entry;
    return bad;
}
