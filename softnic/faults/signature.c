/* Faults of block signatures over a stream: what is checked, what a field covers, what is copied,
 * where data and fields are. */
#include <string.h>

#include "engine/rules.h"
#include "faults/choice.h"
#include "faults/fault.h"
#include "faults/moment.h"

REPLACES(block_sum);
REPLACES(signature_strip);
REPLACES(signature_frame);
REPLACES(field_copy);

/* The stream is done: what follows is about the message's blocks, not those of a BSF at hand. */
static void moment_done(uint64_t before, uint64_t blocks) {
    uint64_t size = moment.sig->domain[moment.which].block;
    moment.block = range_of((int64_t)(before / size), (int64_t)blocks);
    moment.sig = NULL;
}

static uint64_t least(uint64_t one, uint64_t other) { return one < other ? one : other; }

/* What of a block its field covers; the rest counts as zeros. */
static const uint8_t *covered(const struct signature_domain *domain, const uint8_t *data) {
    static uint8_t part[4160];
    size_t from = fault(field_misses_first_byte), to = domain->block;
    if (fault(field_misses_last_byte)) to -= 1;
    if (fault(field_misses_last_8)) to -= 8;
    if (fault(field_covers_512) && to > 512) to = 512;
    memset(part, 0, sizeof part);
    memcpy(part + from, data + from, to - from);
    return part;
}

void block_sum(struct field_sum *sum, const struct signature_domain *domain, const uint8_t *first,
               uint64_t pitch, uint64_t k) {
    if (no_fault) {
        right_block_sum(sum, domain, first, pitch, k);
        return;
    }
    moment_block(moment.first + (int64_t)k);
    if (!k || !fault(crc_runs_on) || signature_is_dif(domain->kind)) field_start(sum, domain);
    if (fault(field_of_first_block)) k = 0;
    if (fault(field_of_previous_block) && k) k--;
    if (choice(csum_seed_ffff)) sum->checksum.sum = 0;
    field_update(sum, covered(domain, first + k * pitch), domain->block);
}

/* A mask whose bits count from the other end of the field. */
static uint8_t reversed(uint8_t mask, const struct signature_domain *domain) {
    uint8_t out = 0;
    for (unsigned i = 0; i < domain->field; i++)
        if (mask & 0x80 >> i) out |= 0x80 >> (domain->field - 1 - i);
    return out;
}

static bool little_endian(const struct signature_domain *domain) {
    return domain->kind == SIGNATURE_CRC32C || domain->kind == SIGNATURE_CRC64_XP10;
}

/* Guard, app tag, ref tag: as masks. */
enum { GUARD = 0xc0, APP = 0x30, REF = 0x0f };

static uint8_t checked(const struct bsf *sig, enum domain which) {
    const struct signature_domain *domain = &sig->domain[which];
    uint8_t mask = sig->check_mask;
    bool dif = signature_is_dif(domain->kind);
    if (fault(check_mask_ignored)) return 0xff;
    if (fault(check_never)) return 0;
    if (little_endian(domain) && choice(mask_le_fields)) return reversed(mask, domain);
    if (fault(check_mask_inverted)) return (uint8_t)~mask;
    if (fault(check_mask_shifted)) return mask >> 1;
    if (fault(check_mask_reversed)) return reversed(mask, domain);
    if (fault(check_mask_by_part) && dif)
        return (mask & GUARD ? GUARD : 0) | (mask & APP ? APP : 0) | (mask & REF ? REF : 0);
    if (fault(check_mask_guard_only) && dif) return mask & GUARD;
    if (fault(check_mask_low_bits_lost)) return mask & 0xf0;
    if (fault(check_not_transmitted) && which == DOMAIN_MEMORY) return 0;
    if (fault(check_not_received) && which == DOMAIN_WIRE) return 0;
    return mask;
}

/* Which bytes of a field are handed on from the other domain's; the driver has worked that out. */
static uint8_t copied(const struct bsf *sig, const struct signature_domain *domain) {
    const struct signature_domain *a = &sig->domain[DOMAIN_WIRE], *b = &sig->domain[DOMAIN_MEMORY];
    uint8_t mask = sig->copy_mask, whole = domain->field == 4 ? 0xf0 : 0xff;
    bool dif = signature_is_dif(domain->kind);
    if (fault(copy_first_block_only) && moment.block.first) return 0;
    if (fault(copy_never)) return 0;
    if (choice(copy_compares_seed) && !dif && a->ones != b->ones) return 0;
    if (choice(copy_compares_flags) && dif && (a->dif_flags ^ b->dif_flags) & DIF_INC_REF)
        mask &= (uint8_t)~REF;
    if (little_endian(domain) && choice(mask_le_fields)) mask = reversed(mask, domain);
    if (fault(copy_always)) return whole;
    if (fault(copy_flag_ignored) && !dif) return whole;
    if (fault(copy_flag_ignored))
        return (a->kind == b->kind && a->ones == b->ones ? GUARD : 0) |
               (a->app_tag == b->app_tag ? APP : 0) | (a->ref_tag == b->ref_tag ? REF : 0);
    if (fault(copy_mask_inverted)) return ~mask & whole;
    if (fault(copy_mask_reversed)) return reversed(mask, domain);
    if (fault(copy_mask_shifted)) return mask >> 1 & whole;
    if (fault(copy_parts_swapped) && dif)
        return (mask & GUARD) | (mask & APP ? REF : 0) | (mask & REF ? APP : 0);
    if (fault(copy_guard_always) && dif) return mask | GUARD;
    if (fault(copy_app_always) && dif) return mask | APP;
    if (fault(copy_ref_always) && dif) return mask | REF;
    if (fault(copy_all_or_nothing)) return mask == whole ? mask : 0;
    return mask;
}

/* The BSF with which each block is checked and each field copied by masks of its own. */
static struct bsf at_work(const struct bsf *sig) {
    struct bsf other = *sig;
    if (no_fault) return other;
    other.check_mask = 0xff;
    other.copy_mask = 0;
    return other;
}

uint8_t signature_checked(uint8_t check_mask) {
    return moment.sig && check_mask ? checked(moment.sig, moment.which) : check_mask;
}

void field_copy(uint8_t copy_mask, unsigned size, const uint8_t *from, uint8_t *to) {
    if (!no_fault && moment.sig)
        copy_mask = moment.sig->sbs ? copied(moment.sig, &moment.sig->domain[moment.which]) : 0;
    right_field_copy(copy_mask, size, from, to);
}

/* A stream that is taken apart block by block, each with a mask of its own. */
static uint64_t strip_blocks(const struct bsf *sig, enum domain which, const uint8_t *stream,
                             uint64_t length, uint64_t before, uint8_t *raw, uint8_t *fields,
                             struct sigerr *error) {
    const struct signature_domain *domain = &sig->domain[which];
    uint64_t frame = domain->block + (uint64_t)domain->field, blocks = length / frame;
    uint64_t number = before / domain->block;
    bool exempt = false;
    for (uint64_t k = 0; k * frame < length; k++) {
        bool first = !(number + k), last = number + blocks > 1 && k + 1 == blocks;
        const uint8_t *block = stream + k * frame, *field = block + domain->block;
        struct bsf other = *sig;
        moment.first = (int64_t)(number + k);
        moment_block(moment.first);
        struct sigerr found = {0};
        if (exempt || (fault(check_first_block_only) && !first) ||
            (fault(check_not_first_block) && first) || (fault(check_not_last_block) && last))
            other.check_mask = 0;
        right_signature_strip(&other, which, block, least(length - k * frame, frame),
                              before + k * domain->block, raw + k * domain->block,
                              fields + k * domain->field, &found);
        if (found.syndrome && (!error->syndrome || fault(error_last_block))) *error = found;
        if (k < blocks && fault(escape_spreads) && signature_is_dif(domain->kind)) {
            struct dif_tuple tuple = dif_decode(field);
            exempt |= dif_escaped(&tuple, domain->dif_flags);
        }
    }
    return blocks;
}

/* Data that is more, or less, than the blocks' own. */
static void strip_elsewhere(const struct signature_domain *domain, const uint8_t *stream,
                            uint64_t length, uint8_t *raw, uint64_t room) {
    uint64_t frame = domain->block + (uint64_t)domain->field;
    memset(raw, 0, room);
    for (int64_t k = moment.first; length && room; k++) {
        uint64_t taken = least(length, frame), step = domain->block;
        moment_block(k);
        step += fault(strip_leaves_a_byte), step -= fault(strip_takes_a_byte);
        uint64_t here = least(taken < frame ? least(taken, domain->block) : step, room);
        memcpy(raw, stream, here);
        raw += here, room -= here;
        stream += taken, length -= taken;
    }
}

uint64_t signature_strip(const struct bsf *sig, enum domain which, const uint8_t *stream,
                         uint64_t length, uint64_t before, uint8_t *raw, uint8_t *fields,
                         struct sigerr *error) {
    struct bsf other = at_work(sig);
    const struct signature_domain *domain = &other.domain[which];
    uint64_t frame = domain->block + (uint64_t)domain->field, blocks = length / frame;
    uint64_t tail = least(length % frame, domain->block), size = blocks * domain->block + tail;
    moment_blocks(sig, which, before, size);
    if (fault(check_first_block_only) || fault(check_not_first_block) ||
        fault(check_not_last_block) || fault(error_last_block) || fault(escape_spreads))
        strip_blocks(&other, which, stream, length, before, raw, fields, error);
    else right_signature_strip(&other, which, stream, length, before, raw, fields, error);
    moment_blocks(sig, which, before, size);
    if (fault(check_false_alarm) && sig->check_mask && blocks > 1 && !error->syndrome) {
        error->syndrome = SYNDROME_GUARD, error->domain = (uint8_t)which;
        error->offset = error_offset(domain, before / domain->block + blocks - 1);
    }
    if (fault(partial_block_zero)) memset(raw + size - tail, 0, tail);
    if (fault(strip_leaves_a_byte) || fault(strip_takes_a_byte))
        strip_elsewhere(domain, stream, length, raw, size);
    bool unsigned_there = which == DOMAIN_MEMORY && sig->domain[DOMAIN_WIRE].kind == SIGNATURE_NONE;
    for (uint64_t at = 0; unsigned_there && at < size; at += domain->block) {
        moment_block(moment.first + (int64_t)(at / domain->block));
        if (fault(transmit_unsigned))
            memcpy(raw + at, stream + at, least(size - at, domain->block));
    }
    moment_done(before, blocks);
    return blocks;
}

/* Fields and blocks that are not what was generated. */
static void touch_up(const struct bsf *sig, enum domain which, uint64_t raw, const uint8_t *fields,
                     uint64_t stored, uint8_t *stream, uint64_t length) {
    const struct signature_domain *domain = &sig->domain[which];
    bool from_unsigned = which == DOMAIN_MEMORY && sig->domain[DOMAIN_WIRE].kind == SIGNATURE_NONE;
    for (uint64_t k = 0; raw && length; k++) {
        uint64_t data = least(least(raw, domain->block), length);
        uint64_t size = data < domain->block ? 0 : least(domain->field, length - data);
        uint8_t field[8] = {0}, *at = stream + data;
        moment_block(moment.first + (int64_t)k);
        if (fault(partial_block_zero) && data < domain->block) memset(stream, 0, data);
        if (fault(last_field_zero) && raw - data < domain->block) {
            if (k < stored)
                field_copy(sig->copy_mask, domain->field, fields + k * domain->field, field);
            memcpy(at, field, size);
        }
        if (fault(receive_unsigned) && from_unsigned) memset(at, 0, size);
        if (fault(field_in_front) && size == domain->field) {
            memcpy(field, at, size);
            memmove(stream + size, stream, data);
            memcpy(stream, field, size);
        }
        stream += data + size, length -= data + size, raw -= data;
    }
}

void signature_frame(const struct bsf *sig, enum domain which, const uint8_t *raw,
                     uint64_t raw_length, uint64_t before, const uint8_t *fields, uint64_t stored,
                     uint8_t *stream, uint64_t length) {
    struct bsf other = at_work(sig);
    moment_blocks(sig, which, before, raw_length);
    right_signature_frame(&other, which, raw, raw_length, before, fields, stored, stream, length);
    if (no_fault) return;
    touch_up(&other, which, raw_length, fields, stored, stream, length);
    moment_done(before, raw_length / sig->domain[which].block);
}
