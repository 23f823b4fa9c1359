/* An SGE list, or a remote range, between the application's memory and wire bytes.
 *
 * Everything is translated before a byte moves, so a message that is refused moves none. Lengths
 * and offsets of a key with a signature count wire bytes (hardware rule 12). The signature works
 * only on the key that the work request names (14).
 */
#include <stdlib.h>
#include <string.h>

#include "pure/rule.h"
#include "rules.h"

/* Three scratch buffers that only grow up to a bound; one transfer is worked on at a time. */
enum { KEEP = 4 << 20 };
static struct {
    uint8_t *bytes;
    size_t room;
} scratch[3];

static uint8_t *buffer(int which, uint64_t length) {
    if (scratch[which].room >= length && scratch[which].bytes) return scratch[which].bytes;
    free(scratch[which].bytes);
    scratch[which].bytes = malloc(length ? length : 1);
    scratch[which].room = scratch[which].bytes ? length : 0;
    return scratch[which].bytes;
}

static void trim(void) {
    for (int i = 0; i < 3; i++)
        if (scratch[i].room > KEEP)
            free(scratch[i].bytes), scratch[i].bytes = NULL, scratch[i].room = 0;
}

void transfer_begin(struct transfer *transfer, const struct pd *pd, uint32_t qpn, struct cq *cq) {
    transfer->pd = pd, transfer->qpn = qpn, transfer->cq = cq;
    transfer->places = transfer->reach.pieces = transfer->reach.sealed = 0;
    transfer->length = 0;
    transfer->sigerr = false;
    transfer->late = NULL;
}

static struct place *place_add(struct transfer *transfer) {
    if (transfer->places == transfer->room) {
        size_t room = transfer->room ? transfer->room * 2 : 16;
        struct place *place = realloc(transfer->place, room * sizeof *place);
        if (!place) return NULL;
        transfer->place = place, transfer->room = room;
    }
    struct place *place = &transfer->place[transfer->places++];
    *place = (struct place){.piece = transfer->reach.pieces};
    transfer->reach.sealed = transfer->reach.pieces;
    return place;
}

/* Whether a BSF is in force: an mkey made for encryption is unusable before it has a key
 * (mlx5dv_create_mkey). */
enum violation RULE(bsf_in_force)(const struct key *key, bool *yes) {
    if (key->crypto_able && !(key->bsf_enabled && key->crypto)) return NO_CRYPTO;
    *yes = key->bsf_enabled && (key->sig || key->crypto);
    return FINE;
}

/* A range that goes on where the one before it ended, of the same key, is one range: a message may
 * be cut at any byte, also inside a block, and blocks are counted over the message. */
struct place *RULE(place_continued)(const struct transfer *transfer, const struct key *key,
                                    uint64_t addr) {
    struct place *last = transfer->places ? &transfer->place[transfer->places - 1] : NULL;
    return last && last->key == key && last->addr + last->wire == addr ? last : NULL;
}

enum violation RULE(transfer_add)(struct transfer *transfer, uint32_t value, uint64_t addr,
                                  uint64_t length, uint32_t rights, bool write) {
    struct key *key;
    bool bsf;
    enum violation bad = key_claim(transfer->pd, transfer->qpn, value, rights, &key);
    if (!bad) bad = bsf_in_force(key, &bsf);
    if (bad) return bad;
    struct place *place = bsf ? place_continued(transfer, key, addr) : NULL;
    uint64_t reached = place ? place->memory : 0, added = length;
    if (place) addr = place->addr, length += place->wire;
    else if (!(place = place_add(transfer))) return NO_MEMORY;
    place->addr = addr;
    struct span span = {length, addr - key->start, length};
    if (bsf) {
        bool transactional = key->sig && key->sig->transactional;
        place->start = addr - key->start;
        if (transactional && !transaction_ready(key)) return BAD_KEY;
        if (transactional && !transaction_span(key->sig, place->start, length, &span))
            return BEYOND;
        if (key->sig && !transactional && !signature_span(key->sig, place->start, length, &span))
            return BEYOND;
        place->key = key;
        /* Raw bytes of this key that went before in this message: ref tags and tweaks count on
         * (DIF-12, XCRY-08). */
        for (size_t i = 0; i + 1 < transfer->places; i++)
            if (transfer->place[i].key == key) {
                place->before = transfer->place[i].before + transfer->place[i].raw;
                place->coded_before = transfer->place[i].coded_before + transfer->place[i].coded;
            }
    }
    place->wire = length, place->raw = span.raw, place->memory = span.memory;
    if (bsf && key->crypto && (bad = crypto_check(key, place))) return bad;
    bad = key_reach(key, key->start + span.memory_start + reached, span.memory - reached, write,
                    &transfer->reach);
    place->pieces = transfer->reach.pieces - place->piece;
    transfer->length += added;
    return bad;
}

enum violation RULE(transfer_add_segs)(struct transfer *transfer, const struct wqe_seg *seg,
                                       unsigned segs, uint64_t limit, bool write) {
    for (unsigned i = 0; i < segs && limit; i++) {
        uint64_t length = seg[i].length < limit ? seg[i].length : limit;
        limit -= length;
        if (!length) continue;
        if (seg[i].data) {
            struct place *place = write ? NULL : place_add(transfer);
            if (!place) return NO_MEMORY;
            place->inlined = seg[i].data;
            place->wire = place->raw = place->memory = length;
            transfer->length += length;
            continue;
        }
        enum violation bad = transfer_add(transfer, seg[i].key, seg[i].addr, length,
                                          write ? RIGHT_LOCAL_WRITE : RIGHT_LOCAL_READ, write);
        if (bad) return bad;
    }
    return FINE;
}

void RULE(place_tell)(struct transfer *transfer, const struct place *place,
                      const struct sigerr *error) {
    if (error->syndrome && signature_report(place->key, error, transfer->cq))
        transfer->sigerr = true;
}

bool RULE(place_gather)(const struct transfer *transfer, const struct place *place, uint8_t *to) {
    return memory_gather(transfer->reach.piece + place->piece, place->pieces, to);
}

bool RULE(place_scatter)(const struct transfer *transfer, const struct place *place,
                         const uint8_t *from) {
    if (transfer->late)
        return late_scatter(transfer->late, transfer->reach.piece + place->piece, place->pieces,
                            from);
    return memory_scatter(transfer->reach.piece + place->piece, place->pieces, from);
}

static const struct signature_domain *domain_of(const struct key *key, enum domain which) {
    return key->sig && key->sig->domain[which].kind != SIGNATURE_NONE ? &key->sig->domain[which]
                                                                      : NULL;
}

static enum violation emit_transaction(struct transfer *transfer, struct place *place,
                                       uint8_t *wire) {
    uint8_t *memory = buffer(0, place->memory);
    struct sigerr error = {0};
    if (!memory) return NO_MEMORY;
    if (!place_gather(transfer, place, memory)) return BAD_MEMORY;
    transaction_transmit(place->key->sig, place, memory, wire, &error);
    place_tell(transfer, place, &error);
    return FINE;
}

/* The bytes are copied first: another process may have them too, and change them between two looks.
 */
static enum violation absorb_transaction(struct transfer *transfer, struct place *place,
                                         const uint8_t *given) {
    uint8_t *memory = buffer(0, place->memory), *wire = buffer(1, place->wire);
    struct sigerr error = {0};
    if (!memory || !wire) return NO_MEMORY;
    memcpy(wire, given, place->wire);
    transaction_receive(place->key->sig, place, wire, memory, &error);
    place_tell(transfer, place, &error);
    return place_scatter(transfer, place, memory) ? FINE : BAD_MEMORY;
}

static bool transactional(const struct place *place) {
    return place->key && place->key->sig && place->key->sig->transactional;
}

static bool add_fields(const struct place *place, struct cursor *from, uint64_t first,
                       uint64_t blocks, uint8_t *wire);
static struct cursor cursor_of(const struct transfer *transfer, const struct place *place);

static enum violation emit_framed(struct transfer *transfer, struct place *place, uint8_t *wire) {
    struct key *key = place->key;
    if (place_adds_fields(place) &&
        memory_guarded(transfer->reach.piece + place->piece, place->pieces)) {
        struct cursor read = cursor_of(transfer, place);
        bool fine =
            add_fields(place, &read, 0, place->raw / key->sig->domain[DOMAIN_WIRE].block, wire);
        guard_leave();
        return fine ? FINE : BAD_MEMORY;
    }
    enum crypto_step step = key->crypto ? crypto_step(key->crypto) : STEP_NONE;
    uint8_t *memory = buffer(0, place->memory), *raw = memory,
            *fields = buffer(2, place->memory + 8);
    enum violation bad = FINE;
    uint64_t stored = 0;
    if (!memory || !fields) return NO_MEMORY;
    if (!place_gather(transfer, place, memory)) return BAD_MEMORY;
    if (step == STEP_MEMORY)
        bad = crypto_apply(key->crypto, true, memory, place->memory, place->coded_before);
    if (!bad && domain_of(key, DOMAIN_MEMORY)) {
        struct sigerr error = {0};
        if (!(raw = buffer(1, place->raw))) return NO_MEMORY;
        stored = signature_strip(key->sig, DOMAIN_MEMORY, memory, place->memory, place->before, raw,
                                 fields, &error);
        place_tell(transfer, place, &error);
    }
    if (!bad && step == STEP_RAW)
        bad = crypto_apply(key->crypto, true, raw, place->raw, place->coded_before);
    if (bad) return bad;
    if (domain_of(key, DOMAIN_WIRE))
        signature_frame(key->sig, DOMAIN_WIRE, raw, place->raw, place->before, fields, stored, wire,
                        place->wire);
    else memcpy(wire, raw, place->wire);
    return step == STEP_WIRE
               ? crypto_apply(key->crypto, true, wire, place->wire, place->coded_before)
               : FINE;
}

static enum violation absorb_framed(struct transfer *transfer, struct place *place,
                                    const uint8_t *given) {
    struct key *key = place->key;
    enum crypto_step step = key->crypto ? crypto_step(key->crypto) : STEP_NONE;
    uint8_t *wire = buffer(0, place->wire > place->memory ? place->wire : place->memory),
            *raw = wire, *memory, *fields = buffer(2, place->wire + 8);
    enum violation bad = FINE;
    uint64_t stored = 0;
    if (!wire || !fields) return NO_MEMORY;
    memcpy(wire, given, place->wire);
    if (step == STEP_WIRE)
        bad = crypto_apply(key->crypto, false, wire, place->wire, place->coded_before);
    if (!bad && domain_of(key, DOMAIN_WIRE)) {
        struct sigerr error = {0};
        if (!(raw = buffer(1, place->raw))) return NO_MEMORY;
        stored = signature_strip(key->sig, DOMAIN_WIRE, wire, place->wire, place->before, raw,
                                 fields, &error);
        place_tell(transfer, place, &error);
    }
    if (!bad && step == STEP_RAW)
        bad = crypto_apply(key->crypto, false, raw, place->raw, place->coded_before);
    if (bad) return bad;
    memory = raw;
    if (domain_of(key, DOMAIN_MEMORY)) {
        if (!(memory = buffer(raw == wire ? 1 : 0, place->memory))) return NO_MEMORY;
        signature_frame(key->sig, DOMAIN_MEMORY, raw, place->raw, place->before, fields, stored,
                        memory, place->memory);
    }
    if (step == STEP_MEMORY)
        bad = crypto_apply(key->crypto, false, memory, place->memory, place->coded_before);
    if (bad) return bad;
    return place_scatter(transfer, place, memory) ? FINE : BAD_MEMORY;
}

enum violation RULE(transfer_emit)(struct transfer *transfer, uint8_t *wire) {
    enum violation bad = FINE;
    for (size_t i = 0; i < transfer->places && !bad; wire += transfer->place[i++].wire) {
        struct place *place = &transfer->place[i];
        if (place->inlined) memcpy(wire, place->inlined, place->wire);
        else if (transactional(place)) bad = emit_transaction(transfer, place, wire);
        else if (place->key) bad = emit_framed(transfer, place, wire);
        else if (!place_gather(transfer, place, wire)) bad = BAD_MEMORY;
    }
    trim();
    return bad;
}

enum violation RULE(transfer_absorb)(struct transfer *transfer, const uint8_t *wire) {
    enum violation bad = FINE;
    for (size_t i = 0; i < transfer->places && !bad; wire += transfer->place[i++].wire) {
        struct place *place = &transfer->place[i];
        if (transactional(place)) bad = absorb_transaction(transfer, place, wire);
        else if (place->key) bad = absorb_framed(transfer, place, wire);
        else if (!place_scatter(transfer, place, wire)) bad = BAD_MEMORY;
    }
    trim();
    return bad;
}

/* Whole blocks to which only fields are added: they can be read to where they are sent. */
bool RULE(place_adds_fields)(const struct place *place) {
    const struct key *key = place->key;
    return key && key->sig && !transactional(place) && !key->crypto &&
           domain_of(key, DOMAIN_WIRE) && !domain_of(key, DOMAIN_MEMORY) &&
           place->raw % key->sig->domain[DOMAIN_WIRE].block == 0 &&
           place->wire == place->raw / key->sig->domain[DOMAIN_WIRE].block *
                              (key->sig->domain[DOMAIN_WIRE].block +
                               (uint64_t)key->sig->domain[DOMAIN_WIRE].field);
}

struct frames {
    const struct place *place;
    uint8_t *to;
    const uint8_t *from;
    uint64_t first, blocks;
};

static void copy_frames(void *argument) {
    const struct frames *frames = argument;
    const struct bsf *sig = frames->place->key->sig;
    signature_copy(sig, DOMAIN_WIRE, frames->to, frames->from, frames->blocks,
                   frames->place->before + frames->first * sig->domain[DOMAIN_WIRE].block);
}

/* Blocks that lie straight at both ends, from one to the other in one go. Returns how many; false:
 * a fault. */
static bool frames_straight(const struct place *place, struct cursor *from, struct cursor *to,
                            uint64_t first, uint64_t most, uint64_t *blocks) {
    const struct signature_domain *domain = &place->key->sig->domain[DOMAIN_WIRE];
    uint64_t data, room, pitch = (uint64_t)domain->block + domain->field;
    struct frames frames = {place, cursor_straight(to, &room), cursor_straight(from, &data), first,
                            most};
    if (frames.blocks > data / domain->block) frames.blocks = data / domain->block;
    if (frames.blocks > room / pitch) frames.blocks = room / pitch;
    if (domain->kind == SIGNATURE_DIF_CSUM) frames.blocks = 0;
    *blocks = frames.blocks;
    if (!frames.blocks) return true;
    if (!guard_run(copy_frames, &frames)) return false;
    cursor_skip(from, frames.blocks * domain->block);
    cursor_skip(to, frames.blocks * pitch);
    return true;
}

/* `blocks` more blocks with their fields; the guard is entered. */
static bool add_fields(const struct place *place, struct cursor *from, uint64_t first,
                       uint64_t blocks, uint8_t *wire) {
    const struct signature_domain *domain = &place->key->sig->domain[DOMAIN_WIRE];
    uint64_t pitch = (uint64_t)domain->block + domain->field;
    while (blocks) {
        struct piece left = {(uintptr_t)wire, blocks * pitch};
        struct cursor to = {&left, 1, 0};
        uint64_t n;
        if (!frames_straight(place, from, &to, first, blocks, &n)) return false;
        if (!n) { /* a block that lies in pieces, or a checksum */
            if (!cursor_move(from, wire, domain->block, false)) return false;
            signature_fields(place->key->sig, DOMAIN_WIRE, wire, 1,
                             place->before + first * domain->block);
            n = 1;
        }
        wire += n * pitch, first += n, blocks -= n;
    }
    return true;
}

static struct cursor cursor_of(const struct transfer *transfer, const struct place *place) {
    return (struct cursor){transfer->reach.piece + place->piece, place->pieces, 0};
}

bool RULE(transfer_is_plain)(const struct transfer *transfer) {
    for (size_t i = 0; i < transfer->places; i++)
        if (transfer->place[i].inlined ||
            (transfer->place[i].key && !place_adds_fields(&transfer->place[i])))
            return false;
    return true;
}

bool RULE(transfer_is_quiet)(const struct transfer *transfer) {
    for (size_t i = 0; i < transfer->places; i++)
        if (transfer->place[i].key && !place_adds_fields(&transfer->place[i])) return false;
    return true;
}

static bool has_keys(const struct transfer *transfer) {
    for (size_t i = 0; i < transfer->places; i++)
        if (transfer->place[i].key) return true;
    return false;
}

bool RULE(transfer_joins)(const struct transfer *from, const struct transfer *to) {
    enum { FEW = 64 };
    if (to->late || has_keys(to) || from->reach.pieces > FEW || to->reach.pieces > FEW ||
        !memory_copies())
        return false;
    for (size_t f = 0; f < from->reach.pieces; f++)
        for (size_t t = 0; t < to->reach.pieces; t++) {
            const struct piece *one = &from->reach.piece[f], *two = &to->reach.piece[t];
            if (one->addr < two->addr + two->length && two->addr < one->addr + one->length)
                return false;
        }
    return true;
}

/* Piece by piece through a buffer that stays in the processor's cache. */
static bool join_place(struct transfer *from, const struct place *place, struct cursor *to,
                       bool *source) {
    enum { CHUNK = 32 << 10 };
    static uint8_t chunk[CHUNK + 64 * 8];
    struct cursor read = cursor_of(from, place);
    const struct signature_domain *domain =
        place->key ? &place->key->sig->domain[DOMAIN_WIRE] : NULL;
    uint64_t block = domain ? domain->block : CHUNK,
             whole = domain ? place->raw / block : (place->raw + CHUNK - 1) / CHUNK,
             most = CHUNK / block;
    for (uint64_t k = 0; k < whole;) {
        uint64_t straight = 0;
        if (domain && !frames_straight(place, &read, to, k, whole - k, &straight)) {
            *source = !memory_readable(from->reach.piece + place->piece, place->pieces);
            return false;
        }
        k += straight;
        if (k == whole) break;
        uint64_t n = whole - k < most ? whole - k : most,
                 size = domain ? n * (block + domain->field) : n * block;
        if (!domain && size > place->raw - k * block) size = place->raw - k * block;
        bool fine =
            domain ? add_fields(place, &read, k, n, chunk) : cursor_move(&read, chunk, size, false);
        if (!fine) *source = true;
        if (!fine || !cursor_move(to, chunk, size, true)) return false;
        k += n;
    }
    return true;
}

enum violation transfer_join(struct transfer *from, struct transfer *to, bool *source) {
    struct cursor write = {to->reach.piece, to->reach.pieces, 0};
    bool fine = true;
    if (!has_keys(from))
        return memory_copy(from->reach.piece, from->reach.pieces, to->reach.piece, to->reach.pieces,
                           source)
                   ? FINE
                   : BAD_MEMORY;
    *source = false;
    if (!memory_guarded(from->reach.piece, from->reach.pieces)) {
        *source = true;
        return BAD_MEMORY;
    }
    guard_leave();
    if (!memory_guarded(to->reach.piece, to->reach.pieces)) return BAD_MEMORY;
    for (size_t i = 0; i < from->places && fine; i++) {
        struct place *place = &from->place[i];
        fine = join_place(from, place, &write, source);
    }
    guard_leave();
    return fine ? FINE : BAD_MEMORY;
}
