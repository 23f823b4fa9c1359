#include "pure/crc.h"

#include <string.h>

#include "pure/bits.h"
#include "pure/crc_fold.h"
#include "pure/rule.h"

/* Slicing by eight: table k gives what a byte leaves in the register once k more bytes of zeros
 * have passed. The register is linear, so an entry is the sum of what the byte's eight bits leave;
 * and what bit i leaves is the single bit at the register's end, shifted out and shifted on. The
 * compiler works these chains out (as enumerators: C has no other named constants of 64 bits), so
 * the tables are constants without an initialisation that threads could race for. */
#define FORWARD(polynomial, v) (((v) << 1 ^ ((v) >> 31 & 1 ? (polynomial) : 0)) & 0xffffffffull)
#define REFLECTED(polynomial, v) ((v) >> 1 ^ ((v) & 1 ? (polynomial) : 0))

#define T10_STEP(v) FORWARD(0x8bb70000ull, v) /* 16 bits, in the upper half of 32 */
#define FC_PH_STEP(v) FORWARD(0x04c11db7ull, v)
#define CASTAGNOLI_STEP(v) REFLECTED(0x82f63b78ull, v)   /* 0x1edc6f41, bits reversed */
#define XP10_STEP(v) REFLECTED(0x9a6c9329ac4bc9b5ull, v) /* 0xad93d23594c93659, bits reversed */

/* The bit nearest to the register's end comes out first: bit 0 of a byte when registers shift left,
 * bit 7 when they shift right. */
#define RISING(STEP, N, k, before) \
    N##k##0 = STEP(before), N##k##1 = STEP(N##k##0), N##k##2 = STEP(N##k##1), \
    N##k##3 = STEP(N##k##2), N##k##4 = STEP(N##k##3), N##k##5 = STEP(N##k##4), \
    N##k##6 = STEP(N##k##5), N##k##7 = STEP(N##k##6)
#define FALLING(STEP, N, k, before) \
    N##k##7 = STEP(before), N##k##6 = STEP(N##k##7), N##k##5 = STEP(N##k##6), \
    N##k##4 = STEP(N##k##5), N##k##3 = STEP(N##k##4), N##k##2 = STEP(N##k##3), \
    N##k##1 = STEP(N##k##2), N##k##0 = STEP(N##k##1)
#define CHAIN_RISING(STEP, N) \
    RISING(STEP, N, 0, 0x80000000ull), RISING(STEP, N, 1, N##07), RISING(STEP, N, 2, N##17), \
        RISING(STEP, N, 3, N##27), RISING(STEP, N, 4, N##37), RISING(STEP, N, 5, N##47), \
        RISING(STEP, N, 6, N##57), RISING(STEP, N, 7, N##67)
#define CHAIN_FALLING(STEP, N) \
    FALLING(STEP, N, 0, 1ull), FALLING(STEP, N, 1, N##00), FALLING(STEP, N, 2, N##10), \
        FALLING(STEP, N, 3, N##20), FALLING(STEP, N, 4, N##30), FALLING(STEP, N, 5, N##40), \
        FALLING(STEP, N, 6, N##50), FALLING(STEP, N, 7, N##60)

enum { CHAIN_RISING(T10_STEP, T) };
enum { CHAIN_RISING(FC_PH_STEP, F) };
enum { CHAIN_FALLING(CASTAGNOLI_STEP, C) };
enum { CHAIN_FALLING(XP10_STEP, X) };

#define BIT(n, b, i) ((b) >> (i) & 1 ? (n) : 0)
#define ENTRY(N, k, b) \
    (BIT(N##k##0, b, 0) ^ BIT(N##k##1, b, 1) ^ BIT(N##k##2, b, 2) ^ BIT(N##k##3, b, 3) ^ \
     BIT(N##k##4, b, 4) ^ BIT(N##k##5, b, 5) ^ BIT(N##k##6, b, 6) ^ BIT(N##k##7, b, 7))
#define FOUR(N, k, b) \
    ENTRY(N, k, b), ENTRY(N, k, (b) + 1), ENTRY(N, k, (b) + 2), ENTRY(N, k, (b) + 3)
#define SIXTEEN(N, k, b) \
    FOUR(N, k, b), FOUR(N, k, (b) + 4), FOUR(N, k, (b) + 8), FOUR(N, k, (b) + 12)
#define ROW(N, k) \
    {SIXTEEN(N, k, 0),   SIXTEEN(N, k, 16),  SIXTEEN(N, k, 32),  SIXTEEN(N, k, 48), \
     SIXTEEN(N, k, 64),  SIXTEEN(N, k, 80),  SIXTEEN(N, k, 96),  SIXTEEN(N, k, 112), \
     SIXTEEN(N, k, 128), SIXTEEN(N, k, 144), SIXTEEN(N, k, 160), SIXTEEN(N, k, 176), \
     SIXTEEN(N, k, 192), SIXTEEN(N, k, 208), SIXTEEN(N, k, 224), SIXTEEN(N, k, 240)}
#define TABLE(N) \
    {ROW(N, 0), ROW(N, 1), ROW(N, 2), ROW(N, 3), ROW(N, 4), ROW(N, 5), ROW(N, 6), ROW(N, 7)}

static const uint32_t t10_table[8][256] = TABLE(T);
static const uint32_t fc_ph_table[8][256] = TABLE(F);
static const uint32_t castagnoli_table[8][256] = TABLE(C);
static const uint64_t xp10_table[8][256] = TABLE(X);

/* Eight bytes, the first in the topmost (forward) or the lowest (reflected) byte of `x`, which has
 * the register added in. */
#define EIGHT(t, x, first) \
    ((t)[7][(x) >> (first) & 255] ^ (t)[6][(x) >> ((first) ^ 8) & 255] ^ \
     (t)[5][(x) >> ((first) ^ 16) & 255] ^ (t)[4][(x) >> ((first) ^ 24) & 255] ^ \
     (t)[3][(x) >> ((first) ^ 32) & 255] ^ (t)[2][(x) >> ((first) ^ 40) & 255] ^ \
     (t)[1][(x) >> ((first) ^ 48) & 255] ^ (t)[0][(x) >> ((first) ^ 56) & 255])

static uint32_t forward(const uint32_t table[8][256], uint32_t state, const uint8_t *p,
                        size_t length) {
    for (; length >= 8; p += 8, length -= 8) {
        uint64_t x = load_be64(p) ^ (uint64_t)state << 32;
        state = EIGHT(table, x, 56);
    }
    while (length--) state = state << 8 ^ table[0][state >> 24 ^ *p++];
    return state;
}

static uint32_t reflected32(const uint32_t table[8][256], uint32_t state, const uint8_t *p,
                            size_t length) {
    for (; length >= 8; p += 8, length -= 8) {
        uint64_t x = load_le64(p) ^ state;
        state = EIGHT(table, x, 0);
    }
    while (length--) state = state >> 8 ^ table[0][(state ^ *p++) & 255];
    return state;
}

static uint64_t reflected64(const uint64_t table[8][256], uint64_t state, const uint8_t *p,
                            size_t length) {
    for (; length >= 8; p += 8, length -= 8) {
        uint64_t x = load_le64(p) ^ state;
        state = EIGHT(table, x, 0);
    }
    while (length--) state = state >> 8 ^ table[0][(state ^ *p++) & 255];
    return state;
}

uint64_t RULE(crc_start)(enum crc_kind kind, bool ones) {
    if (!ones) return 0;
    switch (kind) {
    case CRC_T10: return 0xffff0000;
    case CRC_FC_PH:
    case CRC_CASTAGNOLI: return 0xffffffff;
    case CRC_XP10: return ~0ull;
    }
    return 0;
}

uint64_t crc_update_portable(enum crc_kind kind, uint64_t state, const void *data, size_t length) {
    switch (kind) {
    case CRC_T10: return forward(t10_table, (uint32_t)state, data, length);
    case CRC_FC_PH: return forward(fc_ph_table, (uint32_t)state, data, length);
    case CRC_CASTAGNOLI: return reflected32(castagnoli_table, (uint32_t)state, data, length);
    case CRC_XP10: return reflected64(xp10_table, state, data, length);
    }
    return state;
}

uint64_t RULE(crc_update)(enum crc_kind kind, uint64_t state, const void *data, size_t length) {
    uint8_t folded[16];
    if (length < CRC_FOLD_LEAST || !crc_folds())
        return crc_update_portable(kind, state, data, length);
    size_t done = crc_fold(kind, state, data, NULL, length, false, folded);
    state = crc_update_portable(kind, 0, folded, sizeof folded);
    return crc_update_portable(kind, state, (const uint8_t *)data + done, length - done);
}

uint64_t crc_copy(enum crc_kind kind, uint64_t state, void *to, const void *data, size_t length) {
    enum { PIECE = 64 };
    uint8_t folded[16], piece[PIECE];
    size_t done = 0;
    if (length >= CRC_FOLD_LEAST && crc_folds()) {
        done = crc_fold(kind, state, data, to, length, false, folded);
        state = crc_update_portable(kind, 0, folded, sizeof folded);
    }
    while (done < length) {
        size_t n = length - done < PIECE ? length - done : PIECE;
        memcpy(piece, (const uint8_t *)data + done, n);
        memcpy((uint8_t *)to + done, piece, n);
        state = crc_update_portable(kind, state, piece, n);
        done += n;
    }
    return state;
}

uint64_t RULE(crc_value)(enum crc_kind kind, uint64_t state) {
    switch (kind) {
    case CRC_T10: return state >> 16;
    case CRC_FC_PH:
    case CRC_CASTAGNOLI: return state ^ 0xffffffff;
    case CRC_XP10: return ~state;
    }
    return 0;
}

unsigned crc_size(enum crc_kind kind) {
    switch (kind) {
    case CRC_T10: return 2;
    case CRC_FC_PH:
    case CRC_CASTAGNOLI: return 4;
    case CRC_XP10: return 8;
    }
    return 0;
}

void RULE(crc_store)(enum crc_kind kind, uint64_t state, uint8_t *field) {
    uint64_t value = crc_value(kind, state);
    switch (kind) {
    case CRC_T10: store_be16(field, (uint16_t)value); break;
    case CRC_FC_PH: store_be32(field, (uint32_t)value); break;
    case CRC_CASTAGNOLI: store_le32(field, (uint32_t)value); break;
    case CRC_XP10: store_le64(field, value); break;
    }
}
