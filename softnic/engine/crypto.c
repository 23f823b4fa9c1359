/* AES-XTS of an mkey's stream. Which form is encrypted is the BSF's order; the direction follows
 * from the same (mlx5dv_wr_set_mkey_crypto, the table of signature_crypto_order):
 *
 *   wire outside     encrypt on TX   the wire stream, its fields included        rows A C D E
 *   wire raw         encrypt on TX   the data, below the wire's fields           rows A B
 *   memory outside   decrypt on TX   the memory stream, its fields included      rows F G H I
 *   memory raw       decrypt on TX   the data, below the memory's fields         rows F J
 */
#include <string.h>

#include "pure/rule.h"
#include "pure/xts.h"
#include "rules.h"

enum crypto_step crypto_step(const struct crypto_bsf *crypto) {
    switch (crypto->order) {
    case CRYPTO_WIRE_OUTSIDE: return STEP_WIRE;
    case CRYPTO_MEMORY_OUTSIDE: return STEP_MEMORY;
    default: return STEP_RAW;
    }
}

static bool encrypts_on_transmit(const struct crypto_bsf *crypto) {
    return crypto->order == CRYPTO_WIRE_OUTSIDE || crypto->order == CRYPTO_WIRE_RAW;
}

bool RULE(keytag_fits)(const struct dek *dek, const struct crypto_bsf *crypto) {
    return !dek->attr.has_keytag || !memcmp(dek->keytag, crypto->keytag, sizeof dek->keytag);
}

/* The length rule of XTS (the page's NOTES): whole data units, or a rest of whole AES blocks that
 * isn't too long. */
bool RULE(job_fits)(uint64_t length, uint64_t unit) {
    return length % unit == 0 || (length % 16 == 0 && length % unit <= unit - 16);
}

static uint64_t stream_length(const struct crypto_bsf *crypto, const struct place *place) {
    switch (crypto_step(crypto)) {
    case STEP_WIRE: return place->wire;
    case STEP_MEMORY: return place->memory;
    default: return place->raw;
    }
}

enum violation crypto_check(const struct key *key, struct place *place) {
    const struct crypto_bsf *crypto = key->crypto;
    const struct dek *dek = dek_find(crypto->dek);
    if (!dek || dek->pd != key->pd || dek->state) return BAD_DEK;
    if (!keytag_fits(dek, crypto)) return BAD_KEYTAG;
    if (!crypto->block) return BAD_JOB;
    uint64_t length = place->coded = stream_length(crypto, place);
    if (!job_fits(length, crypto->block)) return BAD_JOB;
    if (!personality()->crypto_multi_block && length > crypto->block) return BAD_JOB;
    return FINE;
}

enum violation RULE(crypto_apply)(const struct crypto_bsf *crypto, bool transmit, uint8_t *bytes,
                                  uint64_t length, uint64_t before) {
    const struct dek *dek = dek_find(crypto->dek);
    struct xts xts;
    uint8_t number[16];
    if (!dek || !xts_init(&xts, dek->key, dek->attr.size256 ? 64 : 32)) return BAD_DEK;
    /* Multi-block engines take the tweak big endian, single-block ones little endian (the
     * capability's name). */
    if (personality()->crypto_multi_block) xts_number_reverse(crypto->tweak, number);
    else memcpy(number, crypto->tweak, sizeof number);
    xts_number_add(number, before / crypto->block);
    bool decrypt = encrypts_on_transmit(crypto) != transmit;
    return xts_units(&xts, decrypt, number, crypto->block, bytes, bytes, length) ? FINE : BAD_JOB;
}
