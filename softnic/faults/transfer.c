/* Faults of a transfer: where in a key it begins, what it reads and writes, how it tells errors. */
#include <stdlib.h>
#include <string.h>

#include "engine/rules.h"
#include "faults/choice.h"
#include "faults/fault.h"
#include "faults/moment.h"
#include "faults/notes.h"
#include "faults/refusal.h"

REPLACES(bsf_in_force);
REPLACES(place_continued);
REPLACES(place_tell);
REPLACES(place_gather);
REPLACES(place_scatter);
REPLACES(place_adds_fields);
REPLACES(transfer_add);
REPLACES(transfer_emit);
REPLACES(transfer_absorb);
REPLACES(transfer_is_plain);
REPLACES(transfer_is_quiet);
REPLACES(transfer_joins);

/* The short ways take no part in most of what is done below: a NIC with a fault has none. */
bool place_adds_fields(const struct place *place) {
    return no_fault && right_place_adds_fields(place);
}

bool transfer_is_plain(const struct transfer *transfer) {
    return no_fault && right_transfer_is_plain(transfer);
}

bool transfer_is_quiet(const struct transfer *transfer) {
    return no_fault && right_transfer_is_quiet(transfer);
}

bool transfer_joins(const struct transfer *from, const struct transfer *to) {
    return no_fault && right_transfer_joins(from, to);
}

enum violation bsf_in_force(const struct key *key, bool *yes) {
    if (!fault(crypto_missing_plain)) return right_bsf_in_force(key, yes);
    *yes = key->bsf_enabled && (key->sig || key->crypto);
    return FINE;
}

struct place *place_continued(const struct transfer *transfer, const struct key *key,
                              uint64_t addr) {
    bool restarts = fault(xts_tweak_restarts_with_sge);
    return restarts ? NULL : right_place_continued(transfer, key, addr);
}

/* The mkey that a place is of, and the address that was asked for after it; NULL: memory alone. */
static struct named {
    const struct transfer *transfer;
    size_t place;
    const struct key *mkey;
    uint64_t end;
    struct moment as; /* the members that are about a place */
} *names;
static size_t named;

static struct named *name_of(const struct transfer *transfer, size_t place) {
    for (size_t i = 0; i < named; i++)
        if (names[i].transfer == transfer && names[i].place == place) return &names[i];
    names = realloc(names, (named + 1) * sizeof *names);
    if (!names) abort();
    names[named] = (struct named){.transfer = transfer, .place = place};
    return &names[named++];
}

static const struct key *mkey_of(const struct transfer *transfer, const struct place *place) {
    return name_of(transfer, (size_t)(place - transfer->place))->mkey;
}

/* Where a range of an mkey begins. One that goes on from the range before it goes on from there. */
static uint64_t begins(const struct transfer *transfer, const struct key *mkey, uint64_t addr) {
    if (transfer->places) {
        const struct place *last = &transfer->place[transfer->places - 1];
        const struct named *name = name_of(transfer, transfer->places - 1);
        if (name->mkey == mkey && name->end == addr) return last->addr + last->wire;
    }
    if (fault(offset_ignored)) return mkey->start;
    if (fault(offset_block_down)) return addr - (addr - mkey->start) % 64;
    return addr;
}

/* Whether a place before is of this mkey: its message is counted. */
static bool counted(const struct transfer *transfer, const struct key *mkey) {
    for (size_t i = 0; i < transfer->places; i++)
        if (!transfer->place[i].inlined && name_of(transfer, i)->mkey == mkey) return true;
    return false;
}

/* A range that is asked for, in its message. */
static void asks(const struct transfer *transfer, const struct key *mkey, uint64_t addr,
                 uint64_t length, uint32_t rights, bool write) {
    bool remote = rights & (RIGHT_REMOTE_READ | RIGHT_REMOTE_WRITE);
    moment.role = remote ? ROLE_REMOTE : moment_responds ? ROLE_RECEIVE : ROLE_LOCAL;
    if (remote) moment.sges = 1, moment.sge = NONE;
    moment.sge = moment.sge == NONE ? 0 : moment.sge + 1;
    moment.direction = write;
    if (moment.size == NONE) moment.size = (int64_t)length;
    moment.key = mkey ? key_value(mkey) : 0;
    if (!mkey) return;
    moment.offset = (int64_t)(addr - mkey->start);
    if (!counted(transfer, mkey)) notes_of(mkey)->messages++;
    moment.message = notes_of(mkey)->messages - 1;
}

static void place_is(const struct named *name) {
    moment.key = name->as.key;
    moment.role = name->as.role, moment.offset = name->as.offset;
    moment.message = name->as.message;
    moment.sge = name->as.sge, moment.sges = name->as.sges;
}

/* The transfer that is under way. */
static const struct transfer *under_way;

void moment_finds_place(const struct bsf *sig, const struct crypto_bsf *crypto, uint64_t before) {
    for (size_t i = 0; under_way && i < under_way->places; i++) {
        const struct place *place = &under_way->place[i];
        if (!place->key || (sig && (place->key->sig != sig || place->before != before))) continue;
        if (crypto && (place->key->crypto != crypto || place->coded_before != before)) continue;
        place_is(name_of(under_way, i));
        return;
    }
}

enum violation transfer_add(struct transfer *transfer, uint32_t value, uint64_t addr,
                            uint64_t length, uint32_t rights, bool write) {
    const struct key *key = key_find(value);
    const struct key *mkey = key && key->type == KEY_MKEY ? key : NULL;
    if (no_fault) return right_transfer_add(transfer, value, addr, length, rights, write);
    asks(transfer, mkey, addr, length, rights, write);
    uint64_t from = mkey ? begins(transfer, mkey, addr) : addr;
    enum violation bad = right_transfer_add(transfer, value, from, length, rights, write);
    if (transfer->places) {
        struct named *name = name_of(transfer, transfer->places - 1);
        name->mkey = mkey, name->end = addr + length, name->as = moment;
    }
    return refusal_note(bad);
}

/* An error that is reported once more when this end has moved data again. */
static struct {
    struct cq *cq;
    uint32_t cqn, qpn, key;
    bool fresh;
    struct sigerr error;
} again;

static void tell_again(const struct transfer *transfer) {
    if (!fault_is(error_twice)) return;
    if (!again.cq || again.cq != transfer->cq || again.qpn != transfer->qpn) return;
    if (again.fresh) {
        again.fresh = false;
        return;
    }
    if (table_get(&nic.cqs, again.cqn) == again.cq && key_find(again.key))
        cq_sigerr(again.cq, again.key, &again.error);
    again.cq = NULL;
}

/* Told at the other end's queue, where no mkey has the number: it counts only in this host. */
static bool tell_stranger(const struct transfer *transfer, struct key *key,
                          const struct sigerr *error) {
    enum { NOBODY = 0xffffff00 };
    const struct qp *end = qp_find(transfer->qpn);
    if (!end || !transfer->cq) return false;
    if (transfer->cq == end->attr.send_cq || transfer->cq == end->attr.recv_cq) return false;
    if (key->armed) cq_sigerr(transfer->cq, NOBODY, error);
    key->armed = false;
    return true;
}

/* What is still written of a place in which an error was found; no place: of the message that it
 * was sent in. */
static struct {
    const struct place *place;
    bool sent;
    uint64_t left;
} stopped;

static void stop(const struct place *place, const struct sigerr *error) {
    const struct signature_domain *in = &place->key->sig->domain[error->domain];
    bool received = error->domain == DOMAIN_WIRE;
    const struct signature_domain *out =
        &place->key->sig->domain[received ? DOMAIN_MEMORY : DOMAIN_WIRE];
    if (error->type != SIGNATURE_OF_BLOCK) return;
    uint64_t frame = in->block + (uint64_t)in->field;
    uint64_t block = (error->offset + 1) / frame - 1 - place->before / in->block;
    uint64_t kept = out->kind == SIGNATURE_NONE ? 0 : out->field;
    stopped.place = received ? place : NULL;
    stopped.sent = !received;
    stopped.left = fault(error_stops_behind_block) ? block * (in->block + kept) : 0;
}

void place_tell(struct transfer *transfer, const struct place *place, const struct sigerr *error) {
    struct key *key = place->key;
    bool before = transfer->sigerr;
    const struct signature_domain *in = &key->sig->domain[error->domain];
    if (no_fault) {
        right_place_tell(transfer, place, error);
        return;
    }
    place_is(name_of(transfer, (size_t)(place - transfer->place)));
    moment.syndrome = error->syndrome;
    if (error->syndrome && error->type == SIGNATURE_OF_BLOCK) {
        moment.sig = key->sig, moment.which = error->domain;
        moment_block((int64_t)((error->offset + 1) / ((uint64_t)in->block + in->field)) - 1);
    }
    if (fault(error_sticky)) {
        struct notes *notes = notes_of(key);
        if (error->syndrome) notes->error = *error;
        if (notes->error.syndrome) error = &notes->error, key->armed = true;
    }
    if (error->syndrome && (fault(error_stops_data) || fault(error_stops_behind_block)))
        stop(place, error);
    if (fault(error_to_initiator) && error->syndrome && tell_stranger(transfer, key, error)) return;
    transfer->sigerr = false;
    right_place_tell(transfer, place, error);
    if (fault(error_twice) && transfer->sigerr && transfer->cq) {
        again.cq = transfer->cq, again.cqn = transfer->cq->number;
        again.qpn = transfer->qpn, again.key = key_value(key);
        again.error = *error, again.fresh = true;
    }
    transfer->sigerr |= before;
    moment.sig = NULL;
}

static const struct piece *pieces_of(const struct transfer *transfer, const struct place *place) {
    return transfer->reach.piece + place->piece;
}

/* The first byte after each 4 KiB boundary inside a piece: as it is in memory, or 0. */
static void pages_lost(const struct transfer *transfer, const struct place *place, uint8_t *bytes,
                       bool stays) {
    const struct piece *piece = pieces_of(transfer, place);
    for (size_t i = 0; i < place->pieces; bytes += piece[i++].length)
        for (uint64_t at = 4096 - piece[i].addr % 4096; at < piece[i].length; at += 4096) {
            bytes[at] = 0;
            if (stays) memory_read(piece[i].addr + at, bytes + at, 1);
        }
}

bool place_gather(const struct transfer *transfer, const struct place *place, uint8_t *to) {
    if (!no_fault) place_is(name_of(transfer, (size_t)(place - transfer->place)));
    if (!right_place_gather(transfer, place, to)) return false;
    if (fault(page_crossing_lost) && mkey_of(transfer, place))
        pages_lost(transfer, place, to, false);
    return true;
}

/* Bytes that no entry names. */
static void stray(const struct transfer *transfer, const struct place *place,
                  const struct key *mkey) {
    static const uint8_t odd = 0xee;
    const struct piece *piece = pieces_of(transfer, place);
    for (size_t i = 0; i < place->pieces; i++) {
        if (fault(write_behind) || (fault(write_gap) && mkey->layout == LAYOUT_STRIDED))
            memory_write(piece[i].addr + piece[i].length, &odd, 1);
        if (fault(write_before)) memory_write(piece[i].addr - 1, &odd, 1);
    }
}

static bool scatter_stopped(const struct transfer *transfer, const struct place *place,
                            const uint8_t *from) {
    const struct piece *piece = pieces_of(transfer, place);
    for (size_t i = 0; i < place->pieces && stopped.left; i++) {
        struct piece part = {piece[i].addr, piece[i].length};
        if (part.length > stopped.left) part.length = stopped.left;
        if (!memory_scatter(&part, 1, from)) return false;
        from += part.length, stopped.left -= part.length;
    }
    return true;
}

static bool scatter_without_pages(const struct transfer *transfer, const struct place *place,
                                  const uint8_t *from) {
    uint8_t *copy = malloc(place->memory + 1);
    if (!copy) return false;
    memcpy(copy, from, place->memory);
    pages_lost(transfer, place, copy, true);
    bool fine = right_place_scatter(transfer, place, copy);
    free(copy);
    return fine;
}

bool place_scatter(const struct transfer *transfer, const struct place *place,
                   const uint8_t *from) {
    if (no_fault) return right_place_scatter(transfer, place, from);
    const struct key *mkey = mkey_of(transfer, place);
    place_is(name_of(transfer, (size_t)(place - transfer->place)));
    if (stopped.sent || stopped.place == place) return scatter_stopped(transfer, place, from);
    if (fault(page_crossing_lost) && mkey) return scatter_without_pages(transfer, place, from);
    if (!right_place_scatter(transfer, place, from)) return false;
    if (mkey) stray(transfer, place, mkey);
    return true;
}

/* The key of a place, if it has a signature and no place before is of it. */
static struct key *signed_first(const struct transfer *transfer, size_t place) {
    struct key *key = transfer->place[place].key;
    for (size_t i = 0; i < place; i++)
        if (transfer->place[i].key == key) return NULL;
    return key && key->sig ? key : NULL;
}

static bool tags_go_on(void) { return fault(ref_tag_never_restarts) || choice(ref_tag_restart); }

/* Ref tags that go on from message to message: as if they began later, for as long as it takes. */
static void tags_shift(struct transfer *transfer, bool back) {
    for (size_t i = 0; tags_go_on() && i < transfer->places; i++) {
        struct key *key = signed_first(transfer, i);
        for (int which = 0; key && which < 2; which++) {
            struct signature_domain *domain = &key->sig->domain[which];
            if (domain->kind == SIGNATURE_NONE || !(domain->dif_flags & DIF_INC_REF)) continue;
            uint32_t shift = (uint32_t)(notes_of(key)->passed / domain->block);
            domain->ref_tag += back ? -shift : shift;
        }
    }
}

static void tags_count(const struct transfer *transfer) {
    for (size_t i = 0; tags_go_on() && i < transfer->places; i++) {
        const struct place *place = &transfer->place[i];
        if (place->key) notes_of(place->key)->passed += place->raw;
    }
}

static void begin(const struct transfer *transfer, bool from_wire) {
    under_way = transfer;
    moment.direction = from_wire;
    moment.size = (int64_t)transfer->length;
}

enum violation transfer_emit(struct transfer *transfer, uint8_t *wire) {
    if (no_fault) return right_transfer_emit(transfer, wire);
    stopped.sent = false;
    begin(transfer, false);
    tags_shift(transfer, false);
    enum violation bad = right_transfer_emit(transfer, wire);
    tags_shift(transfer, true);
    tags_count(transfer);
    if (fault(source_written) && transfer->reach.pieces && !bad)
        memory_write(transfer->reach.piece[0].addr, "", 1);
    tell_again(transfer);
    under_way = NULL;
    return refusal_note(bad);
}

uint64_t transfer_memory;

enum violation transfer_absorb(struct transfer *transfer, const uint8_t *wire) {
    if (no_fault) return right_transfer_absorb(transfer, wire);
    stopped.place = NULL;
    begin(transfer, true);
    if (fault(write_last_byte_lost) && transfer->reach.pieces)
        transfer->reach.piece[transfer->reach.pieces - 1].length--;
    tags_shift(transfer, false);
    enum violation bad = right_transfer_absorb(transfer, wire);
    stopped.sent = false;
    tags_shift(transfer, true);
    tags_count(transfer);
    tell_again(transfer);
    under_way = NULL;
    transfer_memory = 0;
    for (size_t i = 0; i < transfer->places; i++) transfer_memory += transfer->place[i].memory;
    return refusal_note(bad);
}
