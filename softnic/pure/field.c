#include "pure/field.h"

#include "pure/bits.h"
#include "pure/crc.h"
#include "pure/rule.h"

enum crc_kind RULE(field_crc)(enum signature_kind kind) {
    switch (kind) {
    case SIGNATURE_CRC32: return CRC_FC_PH;
    case SIGNATURE_CRC32C: return CRC_CASTAGNOLI;
    case SIGNATURE_CRC64_XP10: return CRC_XP10;
    default: return CRC_T10;
    }
}

void field_start(struct field_sum *sum, const struct signature_domain *domain) {
    sum->kind = domain->kind;
    sum->crc = crc_start(field_crc(domain->kind), domain->ones);
    sum->checksum = checksum_start(domain->ones);
}

void field_update(struct field_sum *sum, const void *data, size_t length) {
    if (sum->kind == SIGNATURE_DIF_CSUM) checksum_update(&sum->checksum, data, length);
    else if (sum->kind != SIGNATURE_NONE)
        sum->crc = crc_update(field_crc(sum->kind), sum->crc, data, length);
}

void field_copy_on(struct field_sum *sum, void *to, const void *data, size_t length) {
    sum->crc = crc_copy(field_crc(sum->kind), sum->crc, to, data, length);
}

uint32_t RULE(field_ref_tag)(const struct signature_domain *domain, uint32_t index) {
    return domain->ref_tag + (domain->dif_flags & DIF_INC_REF ? index : 0);
}

struct dif_tuple RULE(field_tuple)(const struct field_sum *sum,
                                   const struct signature_domain *domain, uint32_t index) {
    return (struct dif_tuple){
        .guard = domain->kind == SIGNATURE_DIF_CRC ? (uint16_t)crc_value(CRC_T10, sum->crc)
                                                   : checksum_value(&sum->checksum),
        .app = domain->app_tag,
        .ref = field_ref_tag(domain, index),
    };
}

void field_generate(const struct field_sum *sum, const struct signature_domain *domain,
                    uint32_t index, uint8_t *field) {
    switch (domain->kind) {
    case SIGNATURE_NONE: return;
    case SIGNATURE_DIF_CRC:
    case SIGNATURE_DIF_CSUM: {
        struct dif_tuple tuple = field_tuple(sum, domain, index);
        dif_encode(&tuple, field);
        return;
    }
    case SIGNATURE_CRC32:
    case SIGNATURE_CRC32C:
    case SIGNATURE_CRC64_XP10: crc_store(field_crc(domain->kind), sum->crc, field); return;
    }
}

/* A field as the CQE's number: four bytes are in the upper half (the transient signature). */
static uint64_t number(const uint8_t *field, unsigned size) {
    return size == 8 ? load_be64(field) : (uint64_t)load_be32(field) << 32;
}

bool signature_is_dif(enum signature_kind kind) {
    return kind == SIGNATURE_DIF_CRC || kind == SIGNATURE_DIF_CSUM;
}

/* An escape skips guard, app tag and ref tag (seen on hardware; the man page says the guard). */
uint8_t RULE(field_check_mask)(const struct signature_domain *domain, const uint8_t *received,
                               uint8_t check_mask) {
    if (!signature_is_dif(domain->kind)) return check_mask;
    struct dif_tuple tuple = dif_decode(received);
    return dif_escaped(&tuple, domain->dif_flags) ? 0 : check_mask;
}

uint8_t RULE(field_difference)(const uint8_t *computed, const uint8_t *received, unsigned size) {
    uint8_t wrong = 0;
    for (unsigned i = 0; i < size; i++)
        if (computed[i] != received[i]) wrong |= 0x80 >> i;
    return wrong;
}

uint16_t RULE(field_syndrome)(const struct signature_domain *domain, uint8_t wrong) {
    if (!signature_is_dif(domain->kind) || wrong & 0xc0) return SYNDROME_GUARD;
    return wrong & 0x30 ? SYNDROME_APP : SYNDROME_REF;
}

uint16_t RULE(field_check)(const struct field_sum *sum, const struct signature_domain *domain,
                           uint32_t index, uint8_t check_mask, const uint8_t *received,
                           uint64_t *expected, uint64_t *actual) {
    uint8_t computed[8] = {0}, wrong;
    *expected = *actual = 0;
    if (domain->kind == SIGNATURE_NONE) return 0;
    check_mask = field_check_mask(domain, received, check_mask);
    if (!check_mask) return 0;
    field_generate(sum, domain, index, computed);
    wrong = field_difference(computed, received, domain->field) & check_mask;
    if (!wrong) return 0;
    *expected = number(computed, domain->field);
    *actual = number(received, domain->field);
    return field_syndrome(domain, wrong);
}

void RULE(field_copy)(uint8_t copy_mask, unsigned size, const uint8_t *from, uint8_t *to) {
    for (unsigned i = 0; i < size && i < 8; i++)
        if (copy_mask & 0x80 >> i) to[i] = from[i];
}
