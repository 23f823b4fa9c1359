/* Faults of the field after a block: which CRC, its tags, their byte orders, how it is checked. */
#include "pure/field.h"

#include "faults/choice.h"
#include "faults/fault.h"
#include "faults/moment.h"

REPLACES(field_crc);
REPLACES(field_ref_tag);
REPLACES(field_tuple);
REPLACES(field_check_mask);
REPLACES(field_difference);
REPLACES(field_syndrome);

enum crc_kind field_crc(enum signature_kind kind) {
    if (fault(crc32_is_crc32c) && kind == SIGNATURE_CRC32) return CRC_CASTAGNOLI;
    if (fault(crc32c_is_crc32) && kind == SIGNATURE_CRC32C) return CRC_FC_PH;
    return right_field_crc(kind);
}

uint32_t field_ref_tag(const struct signature_domain *domain, uint32_t index) {
    uint32_t first = domain->ref_tag;
    if (!no_fault) moment_block(index);
    if (fault(ref_tag_ignored)) return right_field_ref_tag(domain, index) - first;
    if (!(domain->dif_flags & DIF_INC_REF))
        return fault(ref_tag_always_grows) ? first + index : first;
    if (fault(ref_tag_restarts_with_sge)) index -= (uint32_t)moment.first;
    if (fault(ref_tag_constant)) return first;
    if (fault(ref_tag_early)) return first + index + 1;
    if (fault(ref_tag_shrinks)) return first - index;
    if (fault(ref_tag_by_512)) return first + index * (domain->block / 512u);
    if (fault(ref_tag_16_bits)) return (first & 0xffff0000) | ((first + index) & 0xffff);
    if (fault(ref_tag_31_bits)) return (first & 0x80000000) | ((first + index) & 0x7fffffff);
    return right_field_ref_tag(domain, index);
}

static uint16_t swapped(uint16_t value) { return __builtin_bswap16(value); }

struct dif_tuple field_tuple(const struct field_sum *sum, const struct signature_domain *domain,
                             uint32_t index) {
    struct dif_tuple right = right_field_tuple(sum, domain, index), tuple = right;
    enum signature_kind kind = domain->kind;
    if (fault(t10_guard_little_endian) && kind == SIGNATURE_DIF_CRC)
        tuple.guard = swapped(right.guard);
    if (fault(csum_little_endian) && kind == SIGNATURE_DIF_CSUM) tuple.guard = swapped(right.guard);
    if (fault(app_tag_ignored)) tuple.app = 0;
    if (fault(app_tag_high_byte_ignored)) tuple.app &= 0xff;
    if (fault(app_tag_little_endian)) tuple.app = swapped(right.app);
    if (fault(ref_tag_little_endian)) tuple.ref = __builtin_bswap32(right.ref);
    if (fault(ref_tag_app_swapped)) {
        tuple.app = (uint16_t)(right.ref >> 16);
        tuple.ref = right.ref << 16 | right.app;
    }
    return tuple;
}

uint8_t field_check_mask(const struct signature_domain *domain, const uint8_t *received,
                         uint8_t check_mask) {
    uint8_t right = right_field_check_mask(domain, received, check_mask);
    if (choice(escape_scope) && right != check_mask) return check_mask & 0x3f;
    if (fault(escape_tags_only) && right != check_mask) return check_mask & 0xc0;
    return right;
}

uint8_t field_difference(const uint8_t *computed, const uint8_t *received, unsigned size) {
    uint8_t right = right_field_difference(computed, received, size), low = 0;
    for (unsigned i = 0; i < size; i++)
        if ((computed[i] ^ received[i]) == 1) low |= 0x80 >> i;
    return fault(check_low_bit) ? right & (uint8_t)~low : right;
}

uint16_t field_syndrome(const struct signature_domain *domain, uint8_t wrong) {
    uint16_t right = right_field_syndrome(domain, wrong);
    bool dif = domain->kind == SIGNATURE_DIF_CRC || domain->kind == SIGNATURE_DIF_CSUM;
    for (int at = 8; dif && choice(err_priority) && at >= 0; at -= 4) {
        static const uint16_t parts[] = {SYNDROME_GUARD, SYNDROME_APP, SYNDROME_REF};
        static const uint8_t masks[] = {0xc0, 0x30, 0x0f};
        uint32_t part = (choice(err_priority) >> at & 3) - 1;
        if (wrong & masks[part]) return parts[part];
    }
    if (!dif || !fault(error_priority_reversed)) return right;
    return wrong & 0x0f ? SYNDROME_REF : wrong & 0x30 ? SYNDROME_APP : SYNDROME_GUARD;
}
