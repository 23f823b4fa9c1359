/* Translation: from a key and an address to pieces of this process' memory. Every rule that may
 * refuse a key is here. */
#include <stdlib.h>

#include "pure/rule.h"
#include "rules.h"

enum { DEPTH = 8 }; /* mkeys of mkeys of … end here, so a ring of them is refused, not followed */
enum { MOST_PIECES = 1 << 22 };

/* The key of no memory, which every PD has: not for others. */
static enum violation claim_null(uint32_t rights, struct key **out) {
    static struct key null = {.type = KEY_MR,
                              .layout = LAYOUT_NULL,
                              .length = UINT64_MAX,
                              .qpn = ANY_QPN,
                              .rights = RIGHT_LOCAL_READ | RIGHT_LOCAL_WRITE};
    *out = &null;
    return rights & ~null.rights ? NO_RIGHT : FINE;
}

enum violation RULE(key_claim)(const struct pd *pd, uint32_t qpn, uint32_t value, uint32_t rights,
                               struct key **out) {
    if (value == NULL_KEY) return claim_null(rights, out);
    struct key *key = key_find(value);
    if (!key || key->tag != (value & 0xff)) return BAD_KEY;
    if (key->free) return KEY_FREE;
    if (key->pd != pd) return FOREIGN_PD;
    if (key->qpn != ANY_QPN && key->qpn != qpn) return FOREIGN_QP;
    if (rights & ~key->rights) return NO_RIGHT;
    *out = key;
    return FINE;
}

bool RULE(key_covers)(const struct key *key, uint64_t addr, uint64_t length) {
    return addr >= key->start && addr - key->start <= key->length &&
           length <= key->length - (addr - key->start);
}

static enum violation append(struct reach *reach, uint64_t addr, uint64_t length) {
    if (!length) return FINE;
    if (reach->pieces > reach->sealed) {
        struct piece *last = &reach->piece[reach->pieces - 1];
        if (last->addr + last->length == addr) {
            last->length += length;
            return FINE;
        }
    }
    if (reach->pieces == reach->room) {
        size_t room = reach->room ? reach->room * 2 : 64;
        struct piece *piece =
            room <= MOST_PIECES ? realloc(reach->piece, room * sizeof *piece) : NULL;
        if (!piece) return NO_MEMORY;
        reach->piece = piece, reach->room = room;
    }
    reach->piece[reach->pieces++] = (struct piece){addr, length};
    return FINE;
}

/* Zeros to read, and a place for what is written. */
static enum violation nowhere(struct reach *reach, uint64_t length, bool write) {
    static const uint8_t zeros[1 << 16];
    static uint8_t sink[1 << 16];
    enum violation bad = FINE;
    for (uint64_t at = 0; at < length && !bad; at += sizeof sink)
        bad = append(reach, (uintptr_t)(write ? sink : zeros),
                     length - at < sizeof sink ? length - at : sizeof sink);
    return bad;
}

/* After an mkey only the local right counts, and a signature or crypto mkey as an entry is raw
 * (hardware rule 14). */
enum violation RULE(entry_claim)(const struct key *outer, uint32_t value, bool write,
                                 struct key **inner) {
    return key_claim(outer->pd, ANY_QPN, value, write ? RIGHT_LOCAL_WRITE : RIGHT_LOCAL_READ,
                     inner);
}

static enum violation entry(const struct key *outer, uint32_t value, uint64_t addr, uint64_t length,
                            bool write, struct reach *reach, int depth) {
    struct key *inner;
    enum violation bad = entry_claim(outer, value, write, &inner);
    return bad ? bad : key_descend(inner, addr, length, write, reach, depth + 1);
}

static uint64_t klm_length(const struct key *key, const struct klm *klm) {
    return key->log_entity_size ? 1ull << key->log_entity_size : klm->length;
}

static enum violation descend_list(const struct key *key, uint64_t offset, uint64_t length,
                                   bool write, struct reach *reach, int depth) {
    for (uint32_t i = 0; i < key->klms && length; i++) {
        const struct klm *klm = &key->klm[i];
        uint64_t held = klm_length(key, klm);
        if (offset >= held) {
            offset -= held;
            continue;
        }
        uint64_t take = held - offset < length ? held - offset : length;
        enum violation bad = entry(key, klm->key, klm->addr + offset, take, write, reach, depth);
        if (bad) return bad;
        length -= take;
        offset = 0;
    }
    return length ? BEYOND : FINE;
}

static enum violation descend_strided(const struct key *key, uint64_t offset, uint64_t length,
                                      bool write, struct reach *reach, int depth) {
    if (!key->bytes_per_repeat) return BEYOND;
    uint64_t turn = offset / key->bytes_per_repeat;
    offset %= key->bytes_per_repeat;
    for (; length && turn < key->repeat; turn++) {
        for (uint32_t i = 0; i < key->strides && length; i++) {
            const struct stride *stride = &key->stride[i];
            if (offset >= stride->length) {
                offset -= stride->length;
                continue;
            }
            uint64_t take = stride->length - offset < length ? stride->length - offset : length;
            enum violation bad =
                entry(key, stride->key, stride->addr + turn * stride->stride + offset, take, write,
                      reach, depth);
            if (bad) return bad;
            length -= take;
            offset = 0;
        }
    }
    return length ? BEYOND : FINE;
}

enum violation RULE(key_descend)(const struct key *key, uint64_t addr, uint64_t length, bool write,
                                 struct reach *reach, int depth) {
    if (depth >= DEPTH) return TOO_DEEP;
    if (!key_covers(key, addr, length)) return BEYOND;
    uint64_t offset = addr - key->start;
    if (key->layout == LAYOUT_NULL) return nowhere(reach, length, write);
    if (key->type == KEY_MR || key->layout == LAYOUT_MEMORY)
        return append(reach, key->base + offset, length);
    switch (key->layout) {
    case LAYOUT_LIST: return descend_list(key, offset, length, write, reach, depth);
    case LAYOUT_STRIDED: return descend_strided(key, offset, length, write, reach, depth);
    default: return NO_LAYOUT;
    }
}

enum violation key_reach(const struct key *key, uint64_t addr, uint64_t length, bool write,
                         struct reach *reach) {
    return key_descend(key, addr, length, write, reach, 0);
}
