/* The field after a block: computed piece by piece, compared under a mask, generated, copied. What
 * a device does with a `struct signature_domain` once it knows the block's data. */
#ifndef SOFTNIC_PURE_FIELD_H
#define SOFTNIC_PURE_FIELD_H

#include "pure/bsf.h"
#include "pure/crc.h"
#include "pure/dif.h"

struct field_sum { /* the signature of the block's data so far */
    enum signature_kind kind;
    uint64_t crc;
    struct checksum checksum;
};
void field_start(struct field_sum *sum, const struct signature_domain *domain); /* at each block */
/* A checksum is not made so: for the others, field_update of data that is copied meanwhile. */
void field_copy_on(struct field_sum *sum, void *to, const void *data, size_t length);
void field_update(struct field_sum *sum, const void *data, size_t length);

/* which CRC; CRC_T10 for a kind that is none of the three */
enum crc_kind field_crc(enum signature_kind kind);
uint32_t field_ref_tag(const struct signature_domain *domain, uint32_t index);
struct dif_tuple field_tuple(const struct field_sum *sum, const struct signature_domain *domain,
                             uint32_t index);

bool signature_is_dif(enum signature_kind kind); /* T10-DIF, with either guard */

/* The domain's field for the finished block; `index` counts the blocks of this message from 0 (ref
 * tags with DIF_INC_REF). */
void field_generate(const struct field_sum *sum, const struct signature_domain *domain,
                    uint32_t index, uint8_t *field);

/* as in the signature error CQE */
enum { SYNDROME_REF = 1 << 11, SYNDROME_APP = 1 << 12, SYNDROME_GUARD = 1 << 13 };
/* 0, or the one bit that the CQE tells: guard before app tag before ref tag (mlx5dv_mkey_check).
 * `expected` is what was computed or configured, `actual` what was in the field, both as the
 * CQE's 64-bit numbers; bytes are taken in memory order for every kind. */
uint8_t field_check_mask(const struct signature_domain *domain, const uint8_t *received,
                         uint8_t check_mask);
/* bit 7: the first byte differs */
uint8_t field_difference(const uint8_t *computed, const uint8_t *received, unsigned size);
/* of a difference that is not 0 */
uint16_t field_syndrome(const struct signature_domain *domain, uint8_t wrong);
uint16_t field_check(const struct field_sum *sum, const struct signature_domain *domain,
                     uint32_t index, uint8_t check_mask, const uint8_t *received,
                     uint64_t *expected, uint64_t *actual);
/* Bytes selected by the mask, from the input's field to the output's. */
void field_copy(uint8_t copy_mask, unsigned size, const uint8_t *from, uint8_t *to);

#endif
