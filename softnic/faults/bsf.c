/* Faults of how a BSF is read: block sizes, and what guards a T10-DIF block. */
#include "pure/bsf.h"

#include "faults/fault.h"

REPLACES(bsf_block_bytes);
REPLACES(bsf_guard_kind);

uint16_t bsf_block_bytes(uint8_t selector) {
    uint16_t right = right_bsf_block_bytes(selector);
    if (right == 520 && fault(block_520_is_512)) return 512;
    if (right == 4096 && fault(block_4096_is_512)) return 512;
    if (right == 4160 && fault(block_4160_is_4096)) return 4096;
    if (right == 4048 && fault(block_4048_is_4096)) return 4096;
    return right;
}

enum signature_kind bsf_guard_kind(uint8_t type) {
    enum signature_kind right = right_bsf_guard_kind(type);
    if (right == SIGNATURE_DIF_CRC && fault(t10_guard_is_csum)) return SIGNATURE_DIF_CSUM;
    if (right == SIGNATURE_DIF_CSUM && fault(csum_is_crc)) return SIGNATURE_DIF_CRC;
    return right;
}
