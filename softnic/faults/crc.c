/* Faults of the CRCs: other generators, seeds, inversions and byte orders. */
#include "pure/crc.h"

#include "faults/fault.h"
#include "pure/bits.h"

REPLACES(crc_start);
REPLACES(crc_update);
REPLACES(crc_value);
REPLACES(crc_store);

/* Another generator, or the same one from its other end, in the place of the right register. */
struct generator {
    uint64_t polynomial; /* 0: the right one */
    bool reflected;
};

static struct generator generator_of(enum crc_kind kind) {
    if (kind == CRC_T10 && fault(t10_polynomial)) return (struct generator){0x10210000, false};
    if (kind == CRC_T10 && fault(t10_reflected)) return (struct generator){0xedd1, true};
    if (kind == CRC_FC_PH && fault(crc32_polynomial)) return (struct generator){0x1edc6f41, false};
    if (kind == CRC_FC_PH && fault(crc32_reflected)) return (struct generator){0xedb88320, true};
    if (kind == CRC_CASTAGNOLI && fault(crc32c_polynomial))
        return (struct generator){0xedb88320, true};
    if (kind == CRC_CASTAGNOLI && fault(crc32c_not_reflected))
        return (struct generator){0x1edc6f41, false};
    if (kind == CRC_XP10 && fault(crc64_polynomial))
        return (struct generator){0xc96c5795d7870f42, true};
    if (kind == CRC_XP10 && fault(crc64_not_reflected))
        return (struct generator){0xad93d23594c93659, false};
    return (struct generator){0, false};
}

/* Bit by bit. The register of T10-DIF is the upper half of 32 bits. */
static uint64_t bitwise(enum crc_kind kind, struct generator by, uint64_t state, const uint8_t *p,
                        size_t length) {
    unsigned top = kind == CRC_XP10 ? 63 : 31, low = kind == CRC_T10 && by.reflected ? 16 : 0;
    for (state >>= low; length; p++, length--) {
        state ^= by.reflected ? *p : (uint64_t)*p << (top - 7);
        for (int bit = 0; bit < 8; bit++) {
            bool out = by.reflected ? state & 1 : state >> top & 1;
            state = (by.reflected ? state >> 1 : state << 1) ^ (out ? by.polynomial : 0);
        }
    }
    return state << low & (top == 63 ? ~0ull : 0xffffffff);
}

uint64_t crc_start(enum crc_kind kind, bool ones) {
    if (kind == CRC_FC_PH && fault(crc32_seed_zeros)) ones = false;
    if (kind == CRC_CASTAGNOLI && fault(crc32c_seed_ones)) ones = true;
    if (kind == CRC_XP10 && fault(crc64_seed_zeros)) ones = false;
    if (kind == CRC_T10 && fault(t10_seed_ignored)) ones = false;
    if (kind != CRC_T10 && fault(crc_seed_inverted)) ones = !ones;
    return right_crc_start(kind, ones);
}

uint64_t crc_update(enum crc_kind kind, uint64_t state, const void *data, size_t length) {
    struct generator other = generator_of(kind);
    if (other.polynomial) return bitwise(kind, other, state, data, length);
    return right_crc_update(kind, state, data, length);
}

uint64_t crc_value(enum crc_kind kind, uint64_t state) {
    if (kind == CRC_T10 && fault(t10_inverted)) return state >> 16 ^ 0xffff;
    if (kind == CRC_FC_PH && fault(crc32_not_inverted)) return state;
    if (kind == CRC_CASTAGNOLI && fault(crc32c_not_inverted)) return state;
    if (kind == CRC_XP10 && fault(crc64_not_inverted)) return state;
    return right_crc_value(kind, state);
}

void crc_store(enum crc_kind kind, uint64_t state, uint8_t *field) {
    right_crc_store(kind, state, field);
    if (kind == CRC_FC_PH && fault(crc32_little_endian)) store_le32(field, load_be32(field));
    if (kind == CRC_CASTAGNOLI && fault(crc32c_big_endian)) store_be32(field, load_le32(field));
    if (kind == CRC_XP10 && fault(crc64_big_endian)) store_be64(field, load_le64(field));
    if (kind == CRC_XP10 && fault(crc64_half)) store_le32(field + 4, 0);
}
