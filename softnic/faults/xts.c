/* Faults of AES-XTS: its keys and the numbers of its units. */
#include "pure/xts.h"

#include "faults/fault.h"
#include "pure/bits.h"

REPLACES(xts_init);
REPLACES(xts_number_next);
REPLACES(xts_number_add);

bool xts_init(struct xts *xts, const uint8_t *key, size_t key_len) {
    bool right = right_xts_init(xts, key, key_len);
    struct aes data = xts->data;
    if (right && fault(xts_keys_swapped)) {
        xts->data = xts->tweak;
        xts->tweak = data;
    }
    return right;
}

void xts_number_next(uint8_t number[16]) {
    if (!fault(xts_tweak_constant)) right_xts_number_next(number);
}

void xts_number_add(uint8_t number[16], uint64_t add) {
    uint64_t high = load_le64(number + 8);
    right_xts_number_add(number, add);
    if (fault(xts_tweak_64_bits)) store_le64(number + 8, high);
}
