/* Faults of an mkey's encryption: which bytes it takes, in which direction, with which tweak. */
#include <string.h>

#include "engine/rules.h"
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

enum violation crypto_apply(const struct crypto_bsf *crypto, bool transmit, uint8_t *bytes,
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
