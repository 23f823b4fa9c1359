/* AES-XTS over data units (IEEE Std 1619-2007), with ciphertext stealing. */
#ifndef SOFTNIC_PURE_XTS_H
#define SOFTNIC_PURE_XTS_H

#include "pure/aes.h"

struct xts {
    struct aes data, tweak;
};

/* data key, tweak key: 32 or 64 bytes, else false */
bool xts_init(struct xts *xts, const uint8_t *key, size_t key_len);

/* One data unit of at least 16 bytes; `number` is its sequence number, little endian. in and out
 * may be the same, not overlap else. False if the unit is shorter. */
bool xts_encrypt(const struct xts *xts, const uint8_t number[16], const uint8_t *in, uint8_t *out,
                 size_t length);
bool xts_decrypt(const struct xts *xts, const uint8_t number[16], const uint8_t *in, uint8_t *out,
                 size_t length);

/* Consecutive units of `unit` bytes; `number` is the first one's and is left at the one after the
 * last. A rest shorter than a unit is a unit of its own; false, with nothing done, if it is shorter
 * than 16 bytes. */
bool xts_units(const struct xts *xts, bool decrypt, uint8_t number[16], size_t unit,
               const uint8_t *in, uint8_t *out, size_t length);

void xts_number_next(uint8_t number[16]);              /* of the unit after this one */
void xts_number_add(uint8_t number[16], uint64_t add); /* little endian, modulo 2^128 */
/* a big-endian tweak to a number, and back */
void xts_number_reverse(const uint8_t from[16], uint8_t to[16]);

#endif
