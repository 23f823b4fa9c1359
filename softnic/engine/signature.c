/* Block signatures over a stream: geometry, taking apart, putting together, and the report of an
 * error.
 *
 * A domain's stream is data in blocks, each followed by its field. Blocks are counted from the
 * start of the message, and ref tags with them (hardware rules 8, 11); a partial last block passes
 * without a field and unchecked (13).
 */
#include <string.h>

#include "pure/rule.h"
#include "rules.h"

static const struct signature_domain *used(const struct bsf *sig, enum domain which) {
    const struct signature_domain *domain = &sig->domain[which];
    return domain->kind == SIGNATURE_NONE ? NULL : domain;
}

static uint64_t frame_of(const struct signature_domain *domain) {
    return (uint64_t)domain->block + domain->field;
}

/* How many of `length` bytes of a domain's stream are data; a field that is cut off is none. */
static uint64_t data_of(const struct signature_domain *domain, uint64_t length) {
    if (!domain) return length;
    uint64_t whole = length / frame_of(domain), tail = length % frame_of(domain);
    return whole * domain->block + (tail < domain->block ? tail : domain->block);
}

bool signature_span(const struct bsf *sig, uint64_t start, uint64_t length, struct span *out) {
    const struct signature_domain *wire = used(sig, DOMAIN_WIRE),
                                  *memory = used(sig, DOMAIN_MEMORY);
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

/* The last byte of the failing block, its field included (hardware rule 1). */
uint64_t RULE(error_offset)(const struct signature_domain *domain, uint64_t block) {
    return (block + 1) * frame_of(domain) - 1;
}

/* Every block starts again (hardware rule 8). */
void RULE(block_sum)(struct field_sum *sum, const struct signature_domain *domain,
                     const uint8_t *first, uint64_t pitch, uint64_t k) {
    field_start(sum, domain);
    field_update(sum, first + k * pitch, domain->block);
}

uint64_t RULE(signature_strip)(const struct bsf *sig, enum domain which, const uint8_t *stream,
                               uint64_t length, uint64_t before, uint8_t *raw, uint8_t *fields,
                               struct sigerr *error) {
    const struct signature_domain *domain = used(sig, which);
    const uint8_t *first = stream;
    uint64_t number = before / domain->block, stored = 0;
    struct field_sum sum;
    for (; length >= frame_of(domain); stored++) {
        const uint8_t *field = stream + domain->block;
        memcpy(raw, stream, domain->block);
        memcpy(fields + stored * domain->field, field, domain->field);
        if (sig->check_mask && !error->syndrome) {
            block_sum(&sum, domain, first, frame_of(domain), stored);
            error->syndrome = field_check(&sum, domain, (uint32_t)(number + stored),
                                          sig->check_mask, field, &error->expected, &error->actual);
            if (error->syndrome)
                error->domain = (uint8_t)which,
                error->offset = error_offset(domain, number + stored);
        }
        raw += domain->block;
        stream += frame_of(domain), length -= frame_of(domain);
    }
    memcpy(raw, stream, length < domain->block ? length : domain->block);
    return stored;
}

void RULE(signature_frame)(const struct bsf *sig, enum domain which, const uint8_t *raw,
                           uint64_t raw_length, uint64_t before, const uint8_t *fields,
                           uint64_t stored, uint8_t *stream, uint64_t length) {
    const struct signature_domain *domain = used(sig, which);
    const uint8_t *first = raw;
    uint64_t number = before / domain->block;
    uint8_t mask = sig->copy_mask, whole = domain->field == 4 ? 0xf0 : 0xff;
    struct field_sum sum;
    for (uint64_t k = 0; raw_length && length; k++) {
        uint64_t data = raw_length < domain->block ? raw_length : domain->block;
        if (data > length) data = length;
        memcpy(stream, raw, data);
        stream += data, length -= data;
        if (data == domain->block) {
            uint8_t field[8];
            if (k >= stored || mask != whole) {
                block_sum(&sum, domain, first, domain->block, k);
                field_generate(&sum, domain, (uint32_t)(number + k), field);
            }
            /* What both domains have in common is handed on as it came, right or wrong (hardware
             * rule 10). */
            if (k < stored) field_copy(mask, domain->field, fields + k * domain->field, field);
            uint64_t size = domain->field < length ? domain->field : length;
            memcpy(stream, field, size);
            stream += size, length -= size;
        }
        raw += data, raw_length -= data;
    }
}

void signature_fields(const struct bsf *sig, enum domain which, uint8_t *stream, uint64_t blocks,
                      uint64_t before) {
    const struct signature_domain *domain = used(sig, which);
    uint64_t number = before / domain->block;
    struct field_sum sum;
    for (uint64_t k = 0; k < blocks; k++) {
        block_sum(&sum, domain, stream, frame_of(domain), k);
        field_generate(&sum, domain, (uint32_t)(number + k),
                       stream + k * frame_of(domain) + domain->block);
    }
}

void signature_copy(const struct bsf *sig, enum domain which, uint8_t *stream, const uint8_t *raw,
                    uint64_t blocks, uint64_t before) {
    const struct signature_domain *domain = used(sig, which);
    uint64_t number = before / domain->block;
    uint8_t field[8];
    struct field_sum sum;
    for (uint64_t k = 0; k < blocks; k++, stream += frame_of(domain), raw += domain->block) {
        field_start(&sum, domain);
        field_copy_on(&sum, stream, raw, domain->block);
        field_generate(&sum, domain, (uint32_t)(number + k), field);
        memcpy(stream + domain->block, field, domain->field);
    }
}

bool RULE(signature_report)(struct key *key, const struct sigerr *error, struct cq *cq) {
    if (!key->armed) return false;
    key->armed = false;
    if (cq) cq_sigerr(cq, key_value(key), error);
    return true;
}
