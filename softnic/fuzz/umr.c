/* Any bytes as a UMR WQE: its translation walked to the end, its BSF decoded. */
#include "fuzz/fuzz.h"
#include "pure/bsf.h"
#include "pure/umr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct umr umr;
    if (!umr_decode(data, size, &umr)) {
        MUST(!umr.translation && !umr.bsf && !umr.has_pointer);
        return 0;
    }
    MUST(!umr.has_pointer || !(umr.translation || umr.bsf));
    if (umr.translation) {
        size_t length = (size_t)umr.klm_octowords * WQE_UNIT;
        struct translation translation;
        must_be_inside(umr.translation, length, data, size);
        if (translation_decode(umr.translation, length, &translation)) {
            MUST(translation.entries <= umr.klm_octowords);
            uint64_t sum = 0;
            for (unsigned i = 0; i < translation.entries; i++)
                sum += translation_at(&translation, i).length;
            MUST(sum <= translation.entries * 0xffffffffull);
        }
    }
    if (umr.bsf) {
        size_t length = (size_t)umr.bsf_octowords * WQE_UNIT;
        struct bsf signature;
        struct crypto_bsf crypto;
        must_be_inside(umr.bsf, length, data, size);
        bool fine = bsf_decode(umr.bsf, length, &signature, &crypto);
        MUST(fine || (!signature.present && !crypto.present));
    }
    return 0;
}
