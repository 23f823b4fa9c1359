#include "pure/xts.h"

#include "pure/bits.h"
#include "pure/rule.h"

bool RULE(xts_init)(struct xts *xts, const uint8_t *key, size_t key_len) {
    return aes_init(&xts->data, key, key_len / 2) &&
           aes_init(&xts->tweak, key + key_len / 2, key_len - key_len / 2);
}

/* 5.3.2 and 5.4.2 of the standard. With a rest of r bytes the last whole block is worked on last
 * when encrypting; when decrypting the two last tweaks change places. Works in place: the stolen
 * bytes are kept aside. */
static bool unit_done(const struct xts *xts, bool decrypt, const uint8_t number[16],
                      const uint8_t *in, uint8_t *out, size_t length) {
    if (length < 16) return false;
    uint8_t tweak[16], last_tweak[16], whole[16], partial[16];
    size_t rest = length % 16, blocks = length / 16 - (rest != 0);
    aes_encrypt(&xts->tweak, number, tweak);
    aes_xts_blocks(&xts->data, decrypt, tweak, in, out, blocks);
    if (!rest) return true;
    in += 16 * blocks;
    out += 16 * blocks;
    if (decrypt) {
        memcpy(last_tweak, tweak, 16);
        aes_xts_double(tweak);
        aes_xts_blocks(&xts->data, true, tweak, in, whole, 1);
        memcpy(tweak, last_tweak, 16);
    } else {
        aes_xts_blocks(&xts->data, false, tweak, in, whole, 1);
    }
    memcpy(partial, in + 16, rest);
    memcpy(partial + rest, whole + rest, 16 - rest);
    memcpy(out + 16, whole, rest);
    aes_xts_blocks(&xts->data, decrypt, tweak, partial, out, 1);
    return true;
}

bool xts_encrypt(const struct xts *xts, const uint8_t number[16], const uint8_t *in, uint8_t *out,
                 size_t length) {
    return unit_done(xts, false, number, in, out, length);
}

bool xts_decrypt(const struct xts *xts, const uint8_t number[16], const uint8_t *in, uint8_t *out,
                 size_t length) {
    return unit_done(xts, true, number, in, out, length);
}

bool xts_units(const struct xts *xts, bool decrypt, uint8_t number[16], size_t unit,
               const uint8_t *in, uint8_t *out, size_t length) {
    size_t rest = unit ? length % unit : 0;
    if (unit < 16 || (rest && rest < 16)) return false;
    for (size_t at = 0; at < length; at += unit) {
        unit_done(xts, decrypt, number, in + at, out + at, length - at < unit ? length - at : unit);
        xts_number_next(number);
    }
    return true;
}

/* The number of the unit after this one. */
void RULE(xts_number_next)(uint8_t number[16]) { xts_number_add(number, 1); }

void RULE(xts_number_add)(uint8_t number[16], uint64_t add) {
    uint64_t low = load_le64(number), sum = low + add;
    store_le64(number, sum);
    store_le64(number + 8, load_le64(number + 8) + (sum < low));
}

void xts_number_reverse(const uint8_t from[16], uint8_t to[16]) {
    uint8_t copy[16];
    memcpy(copy, from, 16);
    for (unsigned i = 0; i < 16; i++) to[i] = copy[15 - i];
}
