/* Block signatures over a stream: geometry, taking apart, putting together, and the report of an error.
 *
 * A domain's stream is data in blocks, each followed by its field. Blocks are counted from the start of the message (hardware.md 8, 11);
 * a partial last block passes without a field and unchecked (13).
 */
#include <string.h>

#include "engine.h"
#include "pure/bits.h"
#include "pure/defect.h"
#include "pure/field.h"
#include "pure/rule.h"

static const struct signature_domain *used(const struct bsf *sig, enum domain which) {
    const struct signature_domain *domain = &sig->domain[which];
    return domain->kind == SIGNATURE_NONE ? NULL : domain;
}

static uint64_t frame_of(const struct signature_domain *domain) { return (uint64_t)domain->block + domain->field; }

/* How many of `length` bytes of a domain's stream are data; a field that is cut off is none. */
static uint64_t data_of(const struct signature_domain *domain, uint64_t length) {
    if (!domain) return length;
    uint64_t whole = length / frame_of(domain), tail = length % frame_of(domain);
    return whole * domain->block + (tail < domain->block ? tail : domain->block);
}

bool signature_span(const struct bsf *sig, uint64_t start, uint64_t length, struct span *out) {
    const struct signature_domain *wire = used(sig, DOMAIN_WIRE), *memory = used(sig, DOMAIN_MEMORY);
    uint64_t skipped = data_of(wire, start);
    if (wire && start % frame_of(wire)) return false;
    if (memory && skipped % memory->block) return false;
    out->raw = data_of(wire, length);
    out->memory_start = skipped;
    out->memory = out->raw;
    if (memory) {
        out->memory_start += skipped / memory->block * memory->field;
        out->memory += out->raw / memory->block * memory->field;
    }
    return true;
}

/* Position of an error: the last byte of the failing block, its field included (hardware.md 1). */
static uint64_t error_offset(const struct signature_domain *domain, uint64_t block) {
    if (defect(error_next_block)) block++;
    if (defect(error_first_offset)) block = 0;
    if (defect(error_offset_of_data)) return (block + 1) * domain->block - 1;
    return (block + 1) * frame_of(domain) - (defect(error_offset_one_more) ? 0 : 1);
}

static bool is_dif(const struct signature_domain *domain) { return domain->kind == SIGNATURE_DIF_CRC || domain->kind == SIGNATURE_DIF_CSUM; }

static uint8_t reversed(uint8_t mask, const struct signature_domain *domain) {
    uint8_t out = 0;
    for (unsigned i = 0; i < domain->field; i++)
        if (mask & 0x80 >> i) out |= 0x80 >> (domain->field - 1 - i);
    return out;
}

/* Which bytes of a field are compared. */
static uint8_t checked(const struct bsf *sig, const struct signature_domain *domain, enum domain which) {
    uint8_t mask = sig->check_mask;
    if (defect(check_mask_ignored)) return 0xff;
    if (defect(check_never)) return 0;
    if (defect(check_mask_inverted)) return (uint8_t)~mask;
    if (defect(check_mask_shifted)) return mask >> 1;
    if (defect(check_mask_reversed)) return reversed(mask, domain);
    if (defect(check_mask_by_part) && is_dif(domain)) return (mask & 0xc0 ? 0xc0 : 0) | (mask & 0x30 ? 0x30 : 0) | (mask & 0x0f ? 0x0f : 0);
    if (defect(check_mask_guard_only) && is_dif(domain)) return mask & 0xc0;
    if (defect(check_mask_low_bits_lost)) return mask & 0xf0;
    if (defect(check_not_transmitted) && which == DOMAIN_MEMORY) return 0;
    if (defect(check_not_received) && which == DOMAIN_WIRE) return 0;
    return mask;
}

/* Which bytes of a field are handed on from the other domain's; the driver has worked that out. */
static uint8_t copied(const struct bsf *sig, const struct signature_domain *domain) {
    uint8_t mask = sig->copy_mask, whole = domain->field == 4 ? 0xf0 : 0xff;
    const struct signature_domain *a = &sig->domain[DOMAIN_WIRE], *b = &sig->domain[DOMAIN_MEMORY];
    if (defect(copy_never)) return 0;
    if (defect(copy_always)) return whole;
    if (defect(copy_flag_ignored) && !is_dif(domain)) return whole;
    if (defect(copy_flag_ignored))
        return (a->kind == b->kind && a->ones == b->ones ? 0xc0 : 0) | (a->app_tag == b->app_tag ? 0x30 : 0) | (a->ref_tag == b->ref_tag ? 0x0f : 0);
    if (defect(copy_mask_inverted)) return ~mask & whole;
    if (defect(copy_mask_reversed)) return reversed(mask, domain);
    if (defect(copy_mask_shifted)) return mask >> 1 & whole;
    if (defect(copy_parts_swapped) && is_dif(domain)) return (mask & 0xc0) | (mask & 0x30 ? 0x0f : 0) | (mask & 0x0f ? 0x30 : 0);
    if (defect(copy_guard_always) && is_dif(domain)) return mask | 0xc0;
    if (defect(copy_app_always) && is_dif(domain)) return mask | 0x30;
    if (defect(copy_ref_always) && is_dif(domain)) return mask | 0x0f;
    if (defect(copy_all_or_nothing)) return mask == whole ? mask : 0;
    return mask;
}

/* Ref tags count blocks from the start of the message. */
static uint64_t tag_index(const struct bsf *sig, const struct signature_domain *domain, uint64_t before) {
    if (defect(ref_tag_restarts_with_sge)) return 0;
    if (defect(ref_tag_never_restarts)) before += sig->passed;
    return before / domain->block;
}

/* What of a block its field covers. */
static const uint8_t *covered(const struct signature_domain *domain, const uint8_t *data) {
    if (no_defect) return data;
    static uint8_t part[4160];
    size_t from = defect(field_misses_first_byte) ? 1 : 0, to = domain->block;
    if (defect(field_misses_last_byte)) to -= 1;
    if (defect(field_misses_last_8)) to -= 8;
    if (defect(field_covers_512) && to > 512) to = 512;
    if (!from && to == domain->block) return data;
    memset(part, 0, domain->block);
    memcpy(part + from, data + from, to - from);
    return part;
}

/* The sum of block k of a message; they lie `pitch` bytes apart. */
static void block_sum(struct field_sum *sum, const struct signature_domain *domain, const uint8_t *first, uint64_t pitch, uint64_t k) {
    if (!k || !defect(crc_runs_on) || is_dif(domain)) field_start(sum, domain);
    if (defect(field_of_first_block)) k = 0;
    if (defect(field_of_previous_block) && k) k--;
    field_update(sum, covered(domain, first + k * pitch), domain->block);
}

static uint64_t turned(const struct signature_domain *domain, uint64_t value) {
    uint8_t field[8], out[8];
    store_be64(field, value);
    unsigned end = is_dif(domain) ? 2 : domain->field;
    memcpy(out, field, 8);
    for (unsigned i = 0; i < end; i++) out[i] = field[end - 1 - i];
    if (is_dif(domain)) out[2] = field[3], out[3] = field[2], out[4] = field[7], out[5] = field[6], out[6] = field[5], out[7] = field[4];
    return load_be64(out);
}

/* Data which is more, or less, than the blocks' own. */
static void strip_bend(const struct signature_domain *domain, const uint8_t *stream, uint64_t length, uint8_t *raw, uint64_t room) {
    uint64_t step = domain->block + (defect(strip_leaves_a_byte) ? 1 : -1);
    memset(raw, 0, room);
    for (; length && room; stream += frame_of(domain)) {
        uint64_t here = length < frame_of(domain) ? data_of(domain, length) : step;
        if (here > room) here = room;
        memcpy(raw, stream, here);
        raw += here, room -= here;
        length -= length < frame_of(domain) ? length : frame_of(domain);
    }
}

/* What is told of a bad field. */
static void error_bend(const struct signature_domain *domain, struct sigerr *error) {
    uint64_t expected = error->expected, ref_tags = 0xffffffff;
    if (defect(error_type_guard)) error->syndrome = SYNDROME_GUARD;
    if (defect(error_type_tags_swapped) && error->syndrome != SYNDROME_GUARD) error->syndrome ^= SYNDROME_APP | SYNDROME_REF;
    if (defect(error_values_swapped)) error->expected = error->actual, error->actual = expected;
    if (defect(error_actual_is_expected)) error->expected = error->actual;
    if (defect(error_values_little_endian)) error->expected = turned(domain, expected), error->actual = turned(domain, error->actual);
    if (!is_dif(domain)) return;
    if (defect(error_ref_tag_of_first)) error->expected = (expected & ~ref_tags) | domain->ref_tag;
    if (defect(error_ref_tag_16_bits)) error->expected &= ~0xffff0000ull, error->actual &= ~0xffff0000ull;
}

uint64_t signature_strip(const struct bsf *sig, enum domain which, const uint8_t *stream, uint64_t length, uint64_t before, uint8_t *raw,
                         uint8_t *fields, struct sigerr *error) {
    const struct signature_domain *domain = used(sig, which);
    const uint8_t *first = stream;
    uint8_t *raw_first = raw;
    const uint64_t whole = length;
    uint64_t number = before / domain->block, tags = tag_index(sig, domain, before), stored = 0, blocks = length / frame_of(domain);
    uint8_t mask = checked(sig, domain, which);
    struct field_sum sum;
    while (length >= frame_of(domain)) {
        const uint8_t *field = stream + domain->block;
        memcpy(raw, stream, domain->block);
        memcpy(fields + stored * domain->field, field, domain->field);
        if (defect(check_first_block_only) && number + stored) mask = 0;
        if (defect(check_not_last_block) && number + blocks > 1 && stored + 1 == blocks) mask = 0;
        bool skipped = defect(check_not_first_block) && !(number + stored);
        if (mask && !skipped && (!error->syndrome || defect(error_last_block))) {
            struct sigerr found = {.offset = error_offset(domain, number + stored), .domain = (uint8_t)which};
            block_sum(&sum, domain, first, frame_of(domain), stored);
            found.syndrome = field_check(&sum, domain, (uint32_t)(tags + stored), mask, field, &found.expected, &found.actual);
            if (found.syndrome) {
                error_bend(domain, &found);
                found.block = stored;
                *error = found;
            }
        }
        if (defect(escape_spreads) && is_dif(domain)) {
            struct dif_tuple tuple = dif_decode(field);
            if (dif_escaped(&tuple, domain->dif_flags)) mask = 0;
        }
        stored++;
        raw += domain->block;
        stream += frame_of(domain), length -= frame_of(domain);
    }
    if (defect(check_false_alarm) && mask && stored > 1 && !error->syndrome)
        *error = (struct sigerr){.offset = error_offset(domain, number + stored - 1), .domain = (uint8_t)which, .syndrome = SYNDROME_GUARD};
    if (length) memcpy(raw, stream, length < domain->block ? length : domain->block);
    if (length && defect(partial_block_zero)) memset(raw, 0, length < domain->block ? length : domain->block);
    if (defect(strip_leaves_a_byte) || defect(strip_takes_a_byte)) strip_bend(domain, first, whole, raw_first, data_of(domain, whole));
    return stored;
}

void signature_frame(const struct bsf *sig, enum domain which, const uint8_t *raw, uint64_t raw_length, uint64_t before, const uint8_t *fields,
                     uint64_t stored, uint8_t *stream, uint64_t length) {
    const struct signature_domain *domain = used(sig, which);
    const uint8_t *first = raw;
    uint64_t tags = tag_index(sig, domain, before);
    uint8_t mask = sig->sbs ? copied(sig, domain) : 0;
    struct field_sum sum;
    for (uint64_t k = 0; raw_length && length; k++) {
        uint64_t data = raw_length < domain->block ? raw_length : domain->block;
        if (data > length) data = length;
        memcpy(stream, raw, data);
        if (data < domain->block && defect(partial_block_zero)) memset(stream, 0, data);
        stream += data, length -= data;
        if (data == domain->block) {
            uint8_t field[8];
            if (defect(copy_first_block_only) && before / domain->block + k) mask = 0;
            if (k >= stored || mask != (domain->field == 4 ? 0xf0 : 0xff)) {
                block_sum(&sum, domain, first, domain->block, k);
                field_generate(&sum, domain, (uint32_t)(tags + k), field);
            }
            if (defect(last_field_zero) && raw_length - data < domain->block) memset(field, 0, sizeof field);
            if (defect(receive_unsigned) && which == DOMAIN_MEMORY && !used(sig, DOMAIN_WIRE)) memset(field, 0, sizeof field);
            /* What both domains have in common is handed on as it came, right or wrong (hardware.md 10). */
            if (k < stored) field_copy(mask, domain->field, fields + k * domain->field, field);
            uint64_t size = domain->field < length ? domain->field : length;
            memcpy(stream, field, size);
            if (defect(field_in_front) && size == domain->field) {
                memmove(stream - data + size, stream - data, data);
                memcpy(stream - data, field, size);
            }
            stream += size, length -= size;
        }
        raw += data, raw_length -= data;
    }
}

void signature_fields(const struct bsf *sig, enum domain which, uint8_t *stream, uint64_t blocks, uint64_t before) {
    const struct signature_domain *domain = used(sig, which);
    uint64_t tags = tag_index(sig, domain, before);
    struct field_sum sum;
    for (uint64_t k = 0; k < blocks; k++, stream += frame_of(domain)) {
        field_start(&sum, domain);
        field_update(&sum, stream, domain->block);
        field_generate(&sum, domain, (uint32_t)(tags + k), stream + domain->block);
    }
}

bool RULE(signature_report)(struct key *key, const struct sigerr *error, struct cq *cq) {
    if (!key->armed) return false;
    key->armed = false;
    if (cq) cq_sigerr(cq, key_value(key), error);
    return true;
}
