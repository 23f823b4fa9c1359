/* Translation: from a key and an address to pieces of this process' memory. Every rule that may refuse a key stands here. */
#include <stdlib.h>

#include "engine.h"
#include "pure/defect.h"

enum { DEPTH = 8 };                     /* mkeys of mkeys of … end here, so a ring of them is refused, not followed */
enum { MOST_PIECES = 1 << 22 };

static uint32_t needed(const struct key *key, uint32_t rights) {
    if (defect(local_write_unchecked) && key->type == KEY_MKEY) return rights & ~RIGHT_LOCAL_WRITE;
    if (defect(remote_write_unchecked)) return rights & ~RIGHT_REMOTE_WRITE;
    if (defect(remote_read_unchecked)) return rights & ~RIGHT_REMOTE_READ;
    if (defect(remote_atomic_unchecked)) return rights & ~RIGHT_ATOMIC;
    if (defect(remote_rights_swapped))
        return (rights & ~(RIGHT_REMOTE_READ | RIGHT_REMOTE_WRITE)) | (rights & RIGHT_REMOTE_READ ? RIGHT_REMOTE_WRITE : 0)
               | (rights & RIGHT_REMOTE_WRITE ? RIGHT_REMOTE_READ : 0);
    return rights;
}

/* The key of no memory, which every PD has: not for others. */
static enum violation claim_null(uint32_t rights, struct key **out) {
    static struct key null = {.type = KEY_MR, .layout = LAYOUT_NULL, .length = UINT64_MAX, .qpn = ANY_QPN, .rights = RIGHT_LOCAL_READ | RIGHT_LOCAL_WRITE};
    *out = &null;
    return rights & ~null.rights ? NO_RIGHT : FINE;
}

enum violation key_claim(const struct pd *pd, uint32_t qpn, uint32_t value, uint32_t rights, struct key **out) {
    if (value == NULL_KEY) return claim_null(rights, out);
    struct key *key = key_find(value);
    if (!key || (key->tag != (value & 0xff) && !defect(tag_unchecked))) return BAD_KEY;
    if (key->free) return KEY_FREE;
    if (key->pd != pd && !defect(pd_unchecked)) return FOREIGN_PD;
    if (key->qpn != ANY_QPN && key->qpn != qpn) return FOREIGN_QP;
    if (needed(key, rights) & ~key->rights) return NO_RIGHT;
    *out = key;
    return FINE;
}

static bool outside(const struct key *key, uint64_t addr, uint64_t length) {
    if (defect(bounds_one_less) && key->type == KEY_MKEY && addr - key->start + length == key->length) return true;
    return addr < key->start || addr - key->start > key->length || length > key->length - (addr - key->start);
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
        struct piece *piece = room <= MOST_PIECES ? realloc(reach->piece, room * sizeof *piece) : NULL;
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
        bad = append(reach, (uintptr_t)(write ? sink : zeros), length - at < sizeof sink ? length - at : sizeof sink);
    return bad;
}

static enum violation descend(const struct key *key, uint64_t addr, uint64_t length, bool write, struct reach *reach, int depth);

/* Behind an mkey only the local right counts, and a signature or crypto mkey as an entry is raw (hardware.md 14). */
static enum violation entry(const struct key *outer, uint32_t value, uint64_t addr, uint64_t length, bool write, struct reach *reach, int depth) {
    struct key *inner = key_find(value);
    uint32_t rights = defect(entry_rights_unchecked) ? 0 : write ? RIGHT_LOCAL_WRITE : RIGHT_LOCAL_READ;
    const struct pd *pd = defect(entry_pd_unchecked) && inner ? inner->pd : outer->pd;
    if (defect(pd_unchecked) && inner && inner->pd != pd) return FOREIGN_PD;    /* that defect is of what requests name */
    enum violation bad = key_claim(pd, ANY_QPN, value, rights, &inner);
    return bad ? bad : descend(inner, addr, length, write, reach, depth + 1);
}

static uint64_t klm_length(const struct key *key, const struct klm *klm) { return key->log_entity_size ? 1ull << key->log_entity_size : klm->length; }

static enum violation descend_list(const struct key *key, uint64_t offset, uint64_t length, bool write, struct reach *reach, int depth) {
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

/* All blocks of an entry, then those of the next. */
static enum violation descend_by_entry(const struct key *key, uint64_t offset, uint64_t length, bool write, struct reach *reach, int depth) {
    for (uint64_t n = 0; length && n < (uint64_t)key->repeat * key->strides; n++) {
        const struct stride *stride = &key->stride[n / key->repeat];
        if (offset >= stride->length) {
            offset -= stride->length;
            continue;
        }
        uint64_t take = stride->length - offset < length ? stride->length - offset : length;
        enum violation bad = entry(key, stride->key, stride->addr + n % key->repeat * stride->stride + offset, take, write, reach, depth);
        if (bad) return bad;
        length -= take;
        offset = 0;
    }
    return length ? BEYOND : FINE;
}

/* At which turn's place a turn goes on. */
static uint64_t turn_place(const struct key *key, uint64_t turn) {
    if (defect(interleaved_repeat_once)) return 0;
    if (defect(interleaved_repeat_short) && turn && turn + 1 == key->repeat) return turn - 1;
    return turn;
}

static enum violation descend_strided(const struct key *key, uint64_t offset, uint64_t length, bool write, struct reach *reach, int depth) {
    if (!key->bytes_per_repeat) return BEYOND;
    if (defect(interleaved_by_entry)) return descend_by_entry(key, offset, length, write, reach, depth);
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
            enum violation bad = entry(key, stride->key, stride->addr + turn_place(key, turn) * stride->stride + offset, take, write, reach, depth);
            if (bad) return bad;
            length -= take;
            offset = 0;
        }
    }
    return length ? BEYOND : FINE;
}

static enum violation descend(const struct key *key, uint64_t addr, uint64_t length, bool write, struct reach *reach, int depth) {
    if (depth >= DEPTH) return TOO_DEEP;
    if (defect(missing_layout_ignored) && key->type == KEY_MKEY && key->layout == LAYOUT_NONE) return nowhere(reach, length, write);
    if (defect(bounds_one_more) && key->type == KEY_MKEY && length && addr - key->start + length == key->length + 1) {
        enum violation bad = length > 1 ? descend(key, addr, length - 1, write, reach, depth) : FINE;
        return bad ? bad : nowhere(reach, 1, write);
    }
    if (outside(key, addr, length)) return BEYOND;
    uint64_t offset = addr - key->start;
    if (key->layout == LAYOUT_NULL) return nowhere(reach, length, write);
    if (key->type == KEY_MR || key->layout == LAYOUT_MEMORY) return append(reach, key->base + offset, length);
    switch (key->layout) {
    case LAYOUT_LIST: return descend_list(key, offset, length, write, reach, depth);
    case LAYOUT_STRIDED: return descend_strided(key, offset, length, write, reach, depth);
    default: return NO_LAYOUT;
    }
}

enum violation key_reach(const struct key *key, uint64_t addr, uint64_t length, bool write, struct reach *reach) {
    return descend(key, addr, length, write, reach, 0);
}
