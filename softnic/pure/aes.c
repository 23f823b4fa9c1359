#include "pure/aes.h"

#include "pure/bits.h"

/* FIPS 197, 5.1.1: the inverse in GF(2^8) and an affine map. As lists, so that the round tables
 * below follow from them. */
#define SBOX(F) \
    F(0x63), F(0x7c), F(0x77), F(0x7b), F(0xf2), F(0x6b), F(0x6f), F(0xc5), F(0x30), F(0x01), \
        F(0x67), F(0x2b), F(0xfe), F(0xd7), F(0xab), F(0x76), F(0xca), F(0x82), F(0xc9), F(0x7d), \
        F(0xfa), F(0x59), F(0x47), F(0xf0), F(0xad), F(0xd4), F(0xa2), F(0xaf), F(0x9c), F(0xa4), \
        F(0x72), F(0xc0), F(0xb7), F(0xfd), F(0x93), F(0x26), F(0x36), F(0x3f), F(0xf7), F(0xcc), \
        F(0x34), F(0xa5), F(0xe5), F(0xf1), F(0x71), F(0xd8), F(0x31), F(0x15), F(0x04), F(0xc7), \
        F(0x23), F(0xc3), F(0x18), F(0x96), F(0x05), F(0x9a), F(0x07), F(0x12), F(0x80), F(0xe2), \
        F(0xeb), F(0x27), F(0xb2), F(0x75), F(0x09), F(0x83), F(0x2c), F(0x1a), F(0x1b), F(0x6e), \
        F(0x5a), F(0xa0), F(0x52), F(0x3b), F(0xd6), F(0xb3), F(0x29), F(0xe3), F(0x2f), F(0x84), \
        F(0x53), F(0xd1), F(0x00), F(0xed), F(0x20), F(0xfc), F(0xb1), F(0x5b), F(0x6a), F(0xcb), \
        F(0xbe), F(0x39), F(0x4a), F(0x4c), F(0x58), F(0xcf), F(0xd0), F(0xef), F(0xaa), F(0xfb), \
        F(0x43), F(0x4d), F(0x33), F(0x85), F(0x45), F(0xf9), F(0x02), F(0x7f), F(0x50), F(0x3c), \
        F(0x9f), F(0xa8), F(0x51), F(0xa3), F(0x40), F(0x8f), F(0x92), F(0x9d), F(0x38), F(0xf5), \
        F(0xbc), F(0xb6), F(0xda), F(0x21), F(0x10), F(0xff), F(0xf3), F(0xd2), F(0xcd), F(0x0c), \
        F(0x13), F(0xec), F(0x5f), F(0x97), F(0x44), F(0x17), F(0xc4), F(0xa7), F(0x7e), F(0x3d), \
        F(0x64), F(0x5d), F(0x19), F(0x73), F(0x60), F(0x81), F(0x4f), F(0xdc), F(0x22), F(0x2a), \
        F(0x90), F(0x88), F(0x46), F(0xee), F(0xb8), F(0x14), F(0xde), F(0x5e), F(0x0b), F(0xdb), \
        F(0xe0), F(0x32), F(0x3a), F(0x0a), F(0x49), F(0x06), F(0x24), F(0x5c), F(0xc2), F(0xd3), \
        F(0xac), F(0x62), F(0x91), F(0x95), F(0xe4), F(0x79), F(0xe7), F(0xc8), F(0x37), F(0x6d), \
        F(0x8d), F(0xd5), F(0x4e), F(0xa9), F(0x6c), F(0x56), F(0xf4), F(0xea), F(0x65), F(0x7a), \
        F(0xae), F(0x08), F(0xba), F(0x78), F(0x25), F(0x2e), F(0x1c), F(0xa6), F(0xb4), F(0xc6), \
        F(0xe8), F(0xdd), F(0x74), F(0x1f), F(0x4b), F(0xbd), F(0x8b), F(0x8a), F(0x70), F(0x3e), \
        F(0xb5), F(0x66), F(0x48), F(0x03), F(0xf6), F(0x0e), F(0x61), F(0x35), F(0x57), F(0xb9), \
        F(0x86), F(0xc1), F(0x1d), F(0x9e), F(0xe1), F(0xf8), F(0x98), F(0x11), F(0x69), F(0xd9), \
        F(0x8e), F(0x94), F(0x9b), F(0x1e), F(0x87), F(0xe9), F(0xce), F(0x55), F(0x28), F(0xdf), \
        F(0x8c), F(0xa1), F(0x89), F(0x0d), F(0xbf), F(0xe6), F(0x42), F(0x68), F(0x41), F(0x99), \
        F(0x2d), F(0x0f), F(0xb0), F(0x54), F(0xbb), F(0x16)

#define INVERSE_SBOX(F) \
    F(0x52), F(0x09), F(0x6a), F(0xd5), F(0x30), F(0x36), F(0xa5), F(0x38), F(0xbf), F(0x40), \
        F(0xa3), F(0x9e), F(0x81), F(0xf3), F(0xd7), F(0xfb), F(0x7c), F(0xe3), F(0x39), F(0x82), \
        F(0x9b), F(0x2f), F(0xff), F(0x87), F(0x34), F(0x8e), F(0x43), F(0x44), F(0xc4), F(0xde), \
        F(0xe9), F(0xcb), F(0x54), F(0x7b), F(0x94), F(0x32), F(0xa6), F(0xc2), F(0x23), F(0x3d), \
        F(0xee), F(0x4c), F(0x95), F(0x0b), F(0x42), F(0xfa), F(0xc3), F(0x4e), F(0x08), F(0x2e), \
        F(0xa1), F(0x66), F(0x28), F(0xd9), F(0x24), F(0xb2), F(0x76), F(0x5b), F(0xa2), F(0x49), \
        F(0x6d), F(0x8b), F(0xd1), F(0x25), F(0x72), F(0xf8), F(0xf6), F(0x64), F(0x86), F(0x68), \
        F(0x98), F(0x16), F(0xd4), F(0xa4), F(0x5c), F(0xcc), F(0x5d), F(0x65), F(0xb6), F(0x92), \
        F(0x6c), F(0x70), F(0x48), F(0x50), F(0xfd), F(0xed), F(0xb9), F(0xda), F(0x5e), F(0x15), \
        F(0x46), F(0x57), F(0xa7), F(0x8d), F(0x9d), F(0x84), F(0x90), F(0xd8), F(0xab), F(0x00), \
        F(0x8c), F(0xbc), F(0xd3), F(0x0a), F(0xf7), F(0xe4), F(0x58), F(0x05), F(0xb8), F(0xb3), \
        F(0x45), F(0x06), F(0xd0), F(0x2c), F(0x1e), F(0x8f), F(0xca), F(0x3f), F(0x0f), F(0x02), \
        F(0xc1), F(0xaf), F(0xbd), F(0x03), F(0x01), F(0x13), F(0x8a), F(0x6b), F(0x3a), F(0x91), \
        F(0x11), F(0x41), F(0x4f), F(0x67), F(0xdc), F(0xea), F(0x97), F(0xf2), F(0xcf), F(0xce), \
        F(0xf0), F(0xb4), F(0xe6), F(0x73), F(0x96), F(0xac), F(0x74), F(0x22), F(0xe7), F(0xad), \
        F(0x35), F(0x85), F(0xe2), F(0xf9), F(0x37), F(0xe8), F(0x1c), F(0x75), F(0xdf), F(0x6e), \
        F(0x47), F(0xf1), F(0x1a), F(0x71), F(0x1d), F(0x29), F(0xc5), F(0x89), F(0x6f), F(0xb7), \
        F(0x62), F(0x0e), F(0xaa), F(0x18), F(0xbe), F(0x1b), F(0xfc), F(0x56), F(0x3e), F(0x4b), \
        F(0xc6), F(0xd2), F(0x79), F(0x20), F(0x9a), F(0xdb), F(0xc0), F(0xfe), F(0x78), F(0xcd), \
        F(0x5a), F(0xf4), F(0x1f), F(0xdd), F(0xa8), F(0x33), F(0x88), F(0x07), F(0xc7), F(0x31), \
        F(0xb1), F(0x12), F(0x10), F(0x59), F(0x27), F(0x80), F(0xec), F(0x5f), F(0x60), F(0x51), \
        F(0x7f), F(0xa9), F(0x19), F(0xb5), F(0x4a), F(0x0d), F(0x2d), F(0xe5), F(0x7a), F(0x9f), \
        F(0x93), F(0xc9), F(0x9c), F(0xef), F(0xa0), F(0xe0), F(0x3b), F(0x4d), F(0xae), F(0x2a), \
        F(0xf5), F(0xb0), F(0xc8), F(0xeb), F(0xbb), F(0x3c), F(0x83), F(0x53), F(0x99), F(0x61), \
        F(0x17), F(0x2b), F(0x04), F(0x7e), F(0xba), F(0x77), F(0xd6), F(0x26), F(0xe1), F(0x69), \
        F(0x14), F(0x63), F(0x55), F(0x21), F(0x0c), F(0x7d)

#define TWICE(x) (((x) << 1 ^ ((x) & 0x80 ? 0x11b : 0)) & 0xff)
#define FOUR_TIMES(x) TWICE(TWICE(x))
#define EIGHT_TIMES(x) TWICE(FOUR_TIMES(x))
#define ITSELF(x) (x)
/* A column of MixColumns and of its inverse, the first row lowest. */
#define MIXED(x) \
    ((uint32_t)TWICE(x) | (uint32_t)(x) << 8 | (uint32_t)(x) << 16 | \
     (uint32_t)(TWICE(x) ^ (x)) << 24)
#define UNMIXED(x) \
    ((uint32_t)(EIGHT_TIMES(x) ^ FOUR_TIMES(x) ^ TWICE(x)) | \
     (uint32_t)(EIGHT_TIMES(x) ^ (x)) << 8 | \
     (uint32_t)(EIGHT_TIMES(x) ^ FOUR_TIMES(x) ^ (x)) << 16 | \
     (uint32_t)(EIGHT_TIMES(x) ^ TWICE(x) ^ (x)) << 24)

static const uint8_t sbox[256] = {SBOX(ITSELF)};
static const uint8_t inverse_sbox[256] = {INVERSE_SBOX(ITSELF)};
static const uint32_t round_table[256] = {SBOX(MIXED)};
static const uint32_t inverse_round_table[256] = {INVERSE_SBOX(UNMIXED)};

static uint32_t rotated(uint32_t x, unsigned bits) { return x << bits | x >> (32 - bits); }

static uint32_t substituted(uint32_t x) {
    return sbox[x & 255] | (uint32_t)sbox[x >> 8 & 255] << 8 | (uint32_t)sbox[x >> 16 & 255] << 16 |
           (uint32_t)sbox[x >> 24] << 24;
}

bool aes_init(struct aes *aes, const uint8_t *key, size_t key_len) {
    if (key_len != 16 && key_len != 32) return false;
    unsigned words = (unsigned)key_len / 4, round_constant = 1;
    uint32_t w[60];
    aes->rounds = words + 6;
    for (unsigned i = 0; i < 4 * (aes->rounds + 1); i++) {
        if (i < words) {
            w[i] = load_le32(key + 4 * i);
            continue;
        }
        uint32_t x = w[i - 1];
        if (i % words == 0) {
            x = substituted(rotated(x, 24)) ^ round_constant;
            round_constant = TWICE(round_constant);
        } else if (words == 8 && i % 8 == 4) {
            x = substituted(x);
        }
        w[i] = w[i - words] ^ x;
    }
    for (unsigned round = 0; round <= aes->rounds; round++) {
        for (unsigned column = 0; column < 4; column++) {
            uint32_t x = w[4 * round + column];
            store_le32(aes->encrypt[round] + 4 * column, x);
            /* 5.3.5: InvMixColumns, by the table of InvSubBytes and InvMixColumns */
            if (round > 0 && round < aes->rounds)
                x = inverse_round_table[sbox[x & 255]] ^
                    rotated(inverse_round_table[sbox[x >> 8 & 255]], 8) ^
                    rotated(inverse_round_table[sbox[x >> 16 & 255]], 16) ^
                    rotated(inverse_round_table[sbox[x >> 24]], 24);
            store_le32(aes->decrypt[aes->rounds - round] + 4 * column, x);
        }
    }
    return true;
}

/* One block by tables. `step` is where ShiftRows takes the next row's byte from: the next column,
 * or the one before when inverting. */
static void block_done(const uint8_t keys[15][16], unsigned rounds, const uint32_t table[256],
                       const uint8_t box[256], unsigned step, const uint8_t in[16],
                       uint8_t out[16]) {
    uint32_t s[4], t[4];
    for (unsigned i = 0; i < 4; i++) s[i] = load_le32(in + 4 * i) ^ load_le32(keys[0] + 4 * i);
    for (unsigned round = 1; round < rounds; round++) {
        for (unsigned i = 0; i < 4; i++)
            t[i] = table[s[i] & 255] ^ rotated(table[s[(i + step) & 3] >> 8 & 255], 8) ^
                   rotated(table[s[(i + 2) & 3] >> 16 & 255], 16) ^
                   rotated(table[s[(i + 3 * step) & 3] >> 24], 24) ^ load_le32(keys[round] + 4 * i);
        memcpy(s, t, sizeof s);
    }
    for (unsigned i = 0; i < 4; i++) {
        uint32_t x = box[s[i] & 255] | (uint32_t)box[s[(i + step) & 3] >> 8 & 255] << 8 |
                     (uint32_t)box[s[(i + 2) & 3] >> 16 & 255] << 16 |
                     (uint32_t)box[s[(i + 3 * step) & 3] >> 24] << 24;
        t[i] = x ^ load_le32(keys[rounds] + 4 * i);
    }
    for (unsigned i = 0; i < 4; i++) store_le32(out + 4 * i, t[i]);
}

static void block(const struct aes *aes, bool decrypt, const uint8_t in[16], uint8_t out[16]) {
    if (decrypt)
        block_done(aes->decrypt, aes->rounds, inverse_round_table, inverse_sbox, 3, in, out);
    else block_done(aes->encrypt, aes->rounds, round_table, sbox, 1, in, out);
}

void aes_encrypt(const struct aes *aes, const uint8_t in[16], uint8_t out[16]) {
    block(aes, false, in, out);
}

void aes_decrypt(const struct aes *aes, const uint8_t in[16], uint8_t out[16]) {
    block(aes, true, in, out);
}

void aes_xts_double(uint8_t tweak[16]) {
    uint64_t low = load_le64(tweak), high = load_le64(tweak + 8);
    store_le64(tweak, low << 1 ^ (high >> 63 ? 0x87 : 0));
    store_le64(tweak + 8, high << 1 | low >> 63);
}

void aes_xts_blocks(const struct aes *aes, bool decrypt, uint8_t tweak[16], const uint8_t *in,
                    uint8_t *out, size_t blocks) {
    for (; blocks; blocks--, in += 16, out += 16) {
        uint8_t x[16];
        for (unsigned i = 0; i < 16; i++) x[i] = in[i] ^ tweak[i];
        block(aes, decrypt, x, x);
        for (unsigned i = 0; i < 16; i++) out[i] = x[i] ^ tweak[i];
        aes_xts_double(tweak);
    }
}
