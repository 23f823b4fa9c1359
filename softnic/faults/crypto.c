/* Faults of an mkey's encryption: which bytes it takes, in which direction, with which tweak. */
#include <stdlib.h>
#include <string.h>

#include "engine/rules.h"
#include "faults/condition.h"
#include "faults/fault.h"
#include "pure/xts.h"

REPLACES(keytag_fits);
REPLACES(job_fits);
REPLACES(crypto_apply);

bool keytag_fits(const struct dek *dek, const struct crypto_bsf *crypto) {
    return fault(keytag_unchecked) || right_keytag_fits(dek, crypto);
}

bool job_fits(uint64_t length, uint64_t unit) {
    return fault(crypto_job_unchecked) || right_job_fits(length, unit);
}

static enum violation applied(const struct crypto_bsf *crypto, bool transmit, uint8_t *bytes,
                              uint64_t length, uint64_t before) {
    struct crypto_bsf other = *crypto;
    if (fault(xts_transmit_plain) && transmit) return FINE;
    if (fault(xts_receive_plain) && !transmit) return FINE;
    if (fault(xts_direction_swapped)) transmit = !transmit;
    if (fault(xts_unit_512)) other.block = 512;
    if (fault(xts_tweak_big_endian)) xts_number_reverse(crypto->tweak, other.tweak);
    if (fault(xts_tweak_ignored)) memset(other.tweak, 0, sizeof other.tweak);
    if (fault(xts_tweak_early)) before += other.block;
    if (fault(xts_tweak_restarts_with_sge)) before = 0;
    if (fault(xts_last_unit_plain) && length) length -= (length - 1) % other.block + 1;
    if (fault(crypto_job_unchecked) && !right_job_fits(length, other.block))
        length -= length % other.block;
    return length ? right_crypto_apply(&other, transmit, bytes, length, before) : FINE;
}

/* Units for which the condition holds are taken from `wrong`. */
static void mix(uint8_t *bytes, const uint8_t *wrong, uint64_t length, uint64_t size,
                uint64_t first) {
    for (uint64_t at = 0; at < length; at += size) {
        uint64_t taken = length - at < size ? length - at : size;
        if (condition_takes_unit((int64_t)(first + at / size)))
            memcpy(bytes + at, wrong + at, taken);
    }
}

enum violation crypto_apply(const struct crypto_bsf *crypto, bool transmit, uint8_t *bytes,
                            uint64_t length, uint64_t before) {
    uint64_t size = crypto->block, first = before / size;
    if (no_fault) return right_crypto_apply(crypto, transmit, bytes, length, before);
    moment_finds_place(NULL, crypto, before);
    moment.crypto = crypto;
    moment.unit = range_of((int64_t)first, (int64_t)((length + size - 1) / size));
    uint8_t *wrong = condition_is_of_units() ? malloc(length + 1) : NULL;
    if (wrong) {
        memcpy(wrong, bytes, length);
        condition_force(HOLDS);
        applied(crypto, transmit, wrong, length, before);
        condition_force(FAILS);
    }
    enum violation bad = applied(crypto, transmit, bytes, length, before);
    condition_force(AS_IT_IS);
    if (wrong) mix(bytes, wrong, length, size, first);
    free(wrong);
    moment.crypto = NULL;
    return bad;
}
