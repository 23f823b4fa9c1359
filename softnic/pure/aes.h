/* The AES block cipher (FIPS 197). */
#ifndef SOFTNIC_PURE_AES_H
#define SOFTNIC_PURE_AES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct aes {
    /* round keys; decrypt: of the equivalent inverse cipher, in the order of use */
    uint8_t encrypt[15][16], decrypt[15][16];
    unsigned rounds; /* 10 or 14 */
};

bool aes_init(struct aes *aes, const uint8_t *key, size_t key_len); /* 16 or 32 bytes, else false */
void aes_encrypt(const struct aes *aes, const uint8_t in[16], uint8_t out[16]);
void aes_decrypt(const struct aes *aes, const uint8_t in[16], uint8_t out[16]);

/* A tweak times the primitive element: doubled as a little-endian number, 0x87 where a bit falls
 * out. */
void aes_xts_double(uint8_t tweak[16]);
/* XTS' inner loop: every block is whitened with its tweak before and after; the tweak is doubled
 * from block to block; the last one is returned in `tweak`. */
void aes_xts_blocks(const struct aes *aes, bool decrypt, uint8_t tweak[16], const uint8_t *in,
                    uint8_t *out, size_t blocks);

#endif
