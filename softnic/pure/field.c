#include "pure/field.h"

#include "pure/bits.h"
#include "pure/crc.h"
#include "pure/defect.h"

static enum crc_kind crc_of(enum signature_kind kind)
{
    if (defect(crc32_is_crc32c) && kind == SIGNATURE_CRC32) return CRC_CASTAGNOLI;
    if (defect(crc32c_is_crc32) && kind == SIGNATURE_CRC32C) return CRC_FC_PH;
    switch (kind) {
    case SIGNATURE_CRC32: return CRC_FC_PH;
    case SIGNATURE_CRC32C: return CRC_CASTAGNOLI;
    case SIGNATURE_CRC64_XP10: return CRC_XP10;
    default: return CRC_T10;
    }
}

void field_start(struct field_sum *sum, const struct signature_domain *domain)
{
    sum->kind = domain->kind;
    sum->crc = crc_start(crc_of(domain->kind), domain->ones);
    sum->checksum = checksum_start(domain->ones);
}

void field_update(struct field_sum *sum, const void *data, size_t length)
{
    if (sum->kind == SIGNATURE_DIF_CSUM)
        checksum_update(&sum->checksum, data, length);
    else if (sum->kind != SIGNATURE_NONE)
        sum->crc = crc_update(crc_of(sum->kind), sum->crc, data, length);
}

static uint32_t ref_tag(const struct signature_domain *domain, uint32_t index)
{
    if (no_defect) return domain->ref_tag + (domain->dif_flags & DIF_INC_REF ? index : 0);
    uint32_t first = defect(ref_tag_ignored) ? 0 : domain->ref_tag;
    if (!(domain->dif_flags & DIF_INC_REF)) return defect(ref_tag_always_grows) ? first + index : first;
    if (defect(ref_tag_constant)) return first;
    if (defect(ref_tag_early)) return first + index + 1;
    if (defect(ref_tag_shrinks)) return first - index;
    if (defect(ref_tag_by_512)) return first + index * (domain->block / 512u);
    if (defect(ref_tag_16_bits)) return (first & 0xffff0000) | ((first + index) & 0xffff);
    if (defect(ref_tag_saturates) && first + index < first) return 0xffffffff;
    return first + index;
}

/* Byte orders and places that are not those of T10. */
static void tuple_bend(struct dif_tuple *tuple, enum signature_kind kind)
{
    if (no_defect) return;
    if (defect(t10_guard_little_endian) && kind == SIGNATURE_DIF_CRC) tuple->guard = __builtin_bswap16(tuple->guard);
    if (defect(csum_little_endian) && kind == SIGNATURE_DIF_CSUM) tuple->guard = __builtin_bswap16(tuple->guard);
    if (defect(app_tag_ignored)) tuple->app = 0;
    if (defect(app_tag_high_byte_ignored)) tuple->app &= 0xff;
    if (defect(app_tag_little_endian)) tuple->app = __builtin_bswap16(tuple->app);
    if (defect(ref_tag_little_endian)) tuple->ref = __builtin_bswap32(tuple->ref);
    if (defect(ref_tag_app_swapped)) *tuple = (struct dif_tuple){ tuple->guard, (uint16_t)(tuple->ref >> 16), tuple->ref << 16 | tuple->app };
}

void field_generate(const struct field_sum *sum, const struct signature_domain *domain, uint32_t index, uint8_t *field)
{
    switch (domain->kind) {
    case SIGNATURE_NONE:
        return;
    case SIGNATURE_DIF_CRC:
    case SIGNATURE_DIF_CSUM: {
        struct dif_tuple tuple = {
            .guard = domain->kind == SIGNATURE_DIF_CRC ? (uint16_t)crc_value(CRC_T10, sum->crc) : checksum_value(&sum->checksum),
            .app = domain->app_tag,
            .ref = ref_tag(domain, index),
        };
        tuple_bend(&tuple, domain->kind);
        dif_encode(&tuple, field);
        return;
    }
    case SIGNATURE_CRC32:
    case SIGNATURE_CRC32C:
    case SIGNATURE_CRC64_XP10:
        crc_store(crc_of(domain->kind), sum->crc, field);
        return;
    }
}

/* A field as the CQE's number: four bytes stand in the upper half (the transient signature). */
static uint64_t number(const uint8_t *field, unsigned size)
{
    return size == 8 ? load_be64(field) : (uint64_t)load_be32(field) << 32;
}

uint16_t field_check(const struct field_sum *sum, const struct signature_domain *domain, uint32_t index, uint8_t check_mask,
                     const uint8_t *received, uint64_t *expected, uint64_t *actual)
{
    bool dif = domain->kind == SIGNATURE_DIF_CRC || domain->kind == SIGNATURE_DIF_CSUM;
    uint8_t computed[8] = { 0 }, wrong = 0;
    *expected = *actual = 0;
    if (domain->kind == SIGNATURE_NONE)
        return 0;
    if (dif) {                          /* an escape skips guard, app tag and ref tag (seen on hardware; the man page says the guard) */
        struct dif_tuple tuple = dif_decode(received);
        if (dif_escaped(&tuple, domain->dif_flags)) {
            if (!defect(escape_guard_only)) return 0;
            check_mask &= 0x3f;
        }
    }
    field_generate(sum, domain, index, computed);
    for (unsigned i = 0; i < domain->field; i++)
        if ((computed[i] ^ received[i]) & (defect(check_low_bit) ? 0xfe : 0xff))
            wrong |= 0x80 >> i;
    wrong &= check_mask;
    if (!wrong)
        return 0;
    *expected = number(computed, domain->field);
    *actual = number(received, domain->field);
    if (dif && defect(error_priority_reversed)) return wrong & 0x0f ? SYNDROME_REF : wrong & 0x30 ? SYNDROME_APP : SYNDROME_GUARD;
    if (!dif || wrong & 0xc0)
        return SYNDROME_GUARD;
    return wrong & 0x30 ? SYNDROME_APP : SYNDROME_REF;
}

void field_copy(uint8_t copy_mask, unsigned size, const uint8_t *from, uint8_t *to)
{
    for (unsigned i = 0; i < size && i < 8; i++)
        if (copy_mask & 0x80 >> i)
            to[i] = from[i];
}
