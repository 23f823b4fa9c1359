/* The AES block cipher (FIPS 197). Uses the processor's instructions where it has them. */
#ifndef SOFTNIC_PURE_AES_H
#define SOFTNIC_PURE_AES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct aes {
    uint8_t encrypt[15][16], decrypt[15][16];   /* round keys; decrypt: of the equivalent inverse cipher, in the order of use */
    unsigned rounds;                            /* 10 or 14 */
};

bool aes_init(struct aes *aes, const uint8_t *key, size_t key_len);     /* 16 or 32 bytes, else false */
void aes_encrypt(const struct aes *aes, const uint8_t in[16], uint8_t out[16]);
void aes_decrypt(const struct aes *aes, const uint8_t in[16], uint8_t out[16]);

/* XTS' inner loop: every block is whitened with its tweak before and after; the tweak is doubled from block to block and left behind. */
void aes_xts_blocks(const struct aes *aes, bool decrypt, uint8_t tweak[16], const uint8_t *in, uint8_t *out, size_t blocks);

/* Which code runs: the instructions or the portable one. `aes_force_portable` is for tests and not for use beside other threads. */
bool aes_accelerated(void);
void aes_force_portable(bool portable);

#endif
