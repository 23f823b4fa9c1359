/* One input, as libFuzzer hands it over: a heap buffer of exactly `size` bytes, so that
 * AddressSanitizer sees a byte too far. */
#ifndef SOFTNIC_FUZZ_H
#define SOFTNIC_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold for every input, in every build. */
#define MUST(condition) \
    do { \
        if (!(condition)) abort(); \
    } while (0)

static inline void must_be_inside(const uint8_t *p, size_t length, const uint8_t *data,
                                  size_t size) {
    MUST(p >= data && p <= data + size && length <= (size_t)(data + size - p));
}

#endif
