/* Any bytes as a BSF, and whatever signature it asks for worked on a block: a generated field must
 * pass its own check. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "pure/bsf.h"
#include "pure/field.h"

static void work(const struct signature_domain *domain, uint8_t check_mask) {
    static const uint8_t block[4160] = {1, 2, 3};
    uint8_t field[8] = {0};
    uint64_t expected, actual;
    struct field_sum sum;
    MUST((domain->kind == SIGNATURE_NONE) == (domain->field == 0));
    MUST(domain->field == 0 || domain->field == 4 || domain->field == 8);
    MUST(domain->block <= sizeof block);
    field_start(&sum, domain);
    field_update(&sum, block, domain->block);
    field_generate(&sum, domain, 7, field);
    MUST(field_check(&sum, domain, 7, check_mask, field, &expected, &actual) == 0);
    if (!domain->field) return;
    field[0] ^= 1;
    uint16_t syndrome = field_check(&sum, domain, 7, check_mask, field, &expected, &actual);
    MUST(syndrome == 0 ||
         (syndrome == SYNDROME_GUARD && (check_mask & 0x80) && expected != actual));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bsf signature;
    struct crypto_bsf crypto;
    if (!bsf_decode(data, size, &signature, &crypto)) {
        MUST(!signature.present && !crypto.present);
        return 0;
    }
    MUST(size == 64 || size == 128);
    MUST(signature.present || crypto.present);
    for (unsigned i = 0; i < 2; i++) work(&signature.domain[i], signature.check_mask);
    MUST(signature.sbs || !signature.copy_mask);
    MUST(!crypto.present || crypto.order <= CRYPTO_MEMORY_RAW);
    return 0;
}
