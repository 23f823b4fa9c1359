/* Faults of a signature error: its type, its values, its offset, and whether it is reported. */
#include "engine/rules.h"
#include "faults/choice.h"
#include "faults/fault.h"
#include "faults/moment.h"
#include "faults/notes.h"

REPLACES(field_check);
REPLACES(error_offset);
REPLACES(signature_report);

/* The bytes of a CQE's value, those of each part of the field in the other order. */
static uint64_t turned(const struct signature_domain *domain, uint64_t value) {
    uint64_t guard = value >> 48, app = value >> 32 & 0xffff;
    uint32_t low = (uint32_t)value, high = (uint32_t)(value >> 32);
    if (signature_is_dif(domain->kind)) {
        guard = __builtin_bswap16((uint16_t)guard), app = __builtin_bswap16((uint16_t)app);
        return guard << 48 | app << 32 | __builtin_bswap32(low);
    }
    if (domain->field == 8) return __builtin_bswap64(value);
    return (uint64_t)__builtin_bswap32(high) << 32 | low;
}

uint16_t field_check(const struct field_sum *sum, const struct signature_domain *domain,
                     uint32_t index, uint8_t check_mask, const uint8_t *received,
                     uint64_t *expected, uint64_t *actual) {
    if (!no_fault) moment_block(index), check_mask = signature_checked(check_mask);
    uint16_t right = right_field_check(sum, domain, index, check_mask, received, expected, actual);
    uint64_t computed = *expected, was = *actual, ref_tag = 0xffffffff;
    bool dif = signature_is_dif(domain->kind);
    if (!right) return 0;
    moment.syndrome = right;
    if (fault(error_values_swapped) || choice(err_actual)) *expected = was, *actual = computed;
    if (fault(error_actual_is_expected)) *expected = was;
    bool by_value = (choice(err_value_order_crc32c) && domain->kind == SIGNATURE_CRC32C) ||
                    (choice(err_value_order_crc64) && domain->kind == SIGNATURE_CRC64_XP10);
    if (fault(error_values_little_endian) || by_value)
        *expected = turned(domain, *expected), *actual = turned(domain, *actual);
    if (fault(error_ref_tag_of_first) && dif) *expected = (computed & ~ref_tag) | domain->ref_tag;
    if (fault(error_ref_tag_16_bits) && dif) *expected &= ~0xffff0000ull, *actual &= ~0xffff0000ull;
    if (fault(error_type_guard)) return SYNDROME_GUARD;
    if (fault(error_type_tags_swapped) && right != SYNDROME_GUARD)
        return right ^ (SYNDROME_APP | SYNDROME_REF);
    return right;
}

uint64_t error_offset(const struct signature_domain *domain, uint64_t block) {
    if (!no_fault) moment_block((int64_t)block);
    if (fault(error_next_block)) block++;
    if (fault(error_first_offset)) block = 0;
    if (choice(err_offset))
        return block * (domain->block + (choice(err_offset) == 1 ? domain->field : 0u));
    if (fault(error_offset_of_data)) return (block + 1) * domain->block - 1;
    return right_error_offset(domain, block) + fault(error_offset_one_more);
}

bool signature_report(struct key *key, const struct sigerr *error, struct cq *cq) {
    bool armed = key->armed, told = !fault(error_lost) && right_signature_report(key, error, cq);
    if (no_fault) return told;
    notes_of(key)->reported |= armed;
    key->armed = fault(error_of_every_message) && armed;
    return told;
}
