#include "pure/crc_fold.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <stdlib.h>

/* 16 bytes are a polynomial of 128 coefficients. To move it D bits ahead, its two halves are multiplied with x^(64 + D) and
 * x^D modulo the generator, and the products, of at most 128 coefficients, are added to the 16 bytes that stand there.
 * D is 512 while four such lanes run side by side, and 128 when they are brought together; where a register holds four of
 * them, four registers run side by side, 2,048 bits ahead.
 *
 * A register that shifts left has its highest coefficient in the top bit: bytes are reversed when they are loaded. One that
 * shifts right has it in bit 0 of the first byte; a product of two such halves comes out multiplied with x once more, so its
 * constants are those of one bit less. T10 stands in the upper half of 32 bits: its generator is x^16 times the 16-bit one.
 * tests/softnic/test_pure.py works the constants out anew. */
struct folding { bool reflected; uint64_t wide[2], far[2], near[2]; };   /* for the half of high powers, for the other */
static const struct folding foldings[] = {
    [CRC_T10] = {false, {0xc9eb0000, 0xefe20000}, {0x371d0000, 0x87e70000},
      {0x4c1a0000, 0xfb0b0000}},
    [CRC_FC_PH] = {false, {0xcbcf3bcb, 0x88fe2237}, {0x8833794c, 0xe6228b11},
      {0xc5b9cd4c, 0xe8a45605}},
    [CRC_CASTAGNOLI] = {true, {0xe9a5d8be00000000, 0x1426a81500000000}, {0x1c19243b00000000, 0x75bba45b00000000},
      {0x3743f7bd00000000, 0x3171d43000000000}},
    [CRC_XP10] = {true, {0x37ccd3e14069cabc, 0xa043808c0f782663}, {0x0c32cdb31e18a84a, 0x62242240ace5045a},
      {0xeadc41fd2ba3d420, 0x21e9761e252621ac}},
};

bool crc_folds(void) { return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("ssse3"); }

#define WITH_PCLMUL __attribute__((target("pclmul,ssse3"), always_inline)) static inline

WITH_PCLMUL __m128i load(const uint8_t *p, bool reflected) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)p);
    const __m128i back = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return reflected ? bytes : _mm_shuffle_epi8(bytes, back);
}

/* The half of high powers is the low one of a reflected register: `by` holds its constant there. */
WITH_PCLMUL __m128i ahead(__m128i lane, __m128i by, __m128i onto) {
    return _mm_xor_si128(onto, _mm_xor_si128(_mm_clmulepi64_si128(lane, by, 0x00), _mm_clmulepi64_si128(lane, by, 0x11)));
}

WITH_PCLMUL __m128i constants(const uint64_t by[2], bool reflected) {
    return reflected ? _mm_set_epi64x((long long)by[1], (long long)by[0]) : _mm_set_epi64x((long long)by[0], (long long)by[1]);
}

/* What is left of a lane and the data behind it, by 16 bytes. */
WITH_PCLMUL void rest(__m128i a, __m128i near, bool reflected, const uint8_t *p, const uint8_t *end, uint8_t out[16]) {
    for (; end - p >= 16; p += 16) a = ahead(a, near, load(p, reflected));
    _mm_storeu_si128((__m128i *)out, reflected ? a : load((const uint8_t *)&a, false));
}

WITH_PCLMUL void narrow(const struct folding *folding, bool reflected, __m128i first, const uint8_t *p, const uint8_t *end, uint8_t out[16]) {
    const __m128i far = constants(folding->far, reflected), near = constants(folding->near, reflected);
    __m128i a = _mm_xor_si128(load(p, reflected), first), b = load(p + 16, reflected), c = load(p + 32, reflected), d = load(p + 48, reflected);
    for (p += 64; end - p >= 64; p += 64) {
        a = ahead(a, far, load(p, reflected));
        b = ahead(b, far, load(p + 16, reflected));
        c = ahead(c, far, load(p + 32, reflected));
        d = ahead(d, far, load(p + 48, reflected));
    }
    rest(ahead(ahead(ahead(a, near, b), near, c), near, d), near, reflected, p, end, out);
}

#define WIDE "pclmul,ssse3,avx512f,avx512bw,avx512vl,vpclmulqdq"
#define WITH_WIDE __attribute__((target(WIDE), always_inline)) static inline
enum { WIDE_LEAST = 512 };

static bool is_wide(void) {
    return __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}

WITH_WIDE __m512i load4(const uint8_t *p, bool reflected) {
    __m512i bytes = _mm512_loadu_si512(p);
    const __m512i back = _mm512_broadcast_i32x4(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    return reflected ? bytes : _mm512_shuffle_epi8(bytes, back);
}

WITH_WIDE __m512i ahead4(__m512i lanes, __m512i by, __m512i onto) {
    return _mm512_ternarylogic_epi64(onto, _mm512_clmulepi64_epi128(lanes, by, 0x00), _mm512_clmulepi64_epi128(lanes, by, 0x11), 0x96);
}

WITH_WIDE void wide(const struct folding *folding, bool reflected, __m128i first, const uint8_t *p, const uint8_t *end, uint8_t out[16]) {
    const __m512i by = _mm512_broadcast_i32x4(constants(folding->wide, reflected)), far = _mm512_broadcast_i32x4(constants(folding->far, reflected));
    const __m128i near = constants(folding->near, reflected);
    __m512i a = _mm512_xor_si512(load4(p, reflected), _mm512_zextsi128_si512(first)), b = load4(p + 64, reflected);
    __m512i c = load4(p + 128, reflected), d = load4(p + 192, reflected);
    for (p += 256; end - p >= 256; p += 256) {
        a = ahead4(a, by, load4(p, reflected));
        b = ahead4(b, by, load4(p + 64, reflected));
        c = ahead4(c, by, load4(p + 128, reflected));
        d = ahead4(d, by, load4(p + 192, reflected));
    }
    d = ahead4(ahead4(ahead4(a, far, b), far, c), far, d);
    for (; end - p >= 64; p += 64) d = ahead4(d, far, load4(p, reflected));
    __m128i lane = ahead(_mm512_extracti32x4_epi32(d, 0), near, _mm512_extracti32x4_epi32(d, 1));
    lane = ahead(ahead(lane, near, _mm512_extracti32x4_epi32(d, 2)), near, _mm512_extracti32x4_epi32(d, 3));
    rest(lane, near, reflected, p, end, out);
}

__attribute__((target(WIDE)))
static void fold_wide(const struct folding *folding, __m128i first, const uint8_t *p, const uint8_t *end, uint8_t out[16]) {
    if (folding->reflected) wide(folding, true, first, p, end, out);
    else wide(folding, false, first, p, end, out);
}

__attribute__((target("pclmul,ssse3")))
static void fold_narrow(const struct folding *folding, __m128i first, const uint8_t *p, const uint8_t *end, uint8_t out[16]) {
    if (folding->reflected) narrow(folding, true, first, p, end, out);
    else narrow(folding, false, first, p, end, out);
}

size_t crc_fold(enum crc_kind kind, uint64_t state, const uint8_t *data, size_t length, bool slim, uint8_t out[16]) {
    const struct folding *folding = &foldings[kind];
    __m128i first = folding->reflected ? _mm_set_epi64x(0, (long long)state) : _mm_set_epi64x((long long)(state << 32), 0);
    if (!slim && length >= WIDE_LEAST && is_wide()) fold_wide(folding, first, data, data + length, out);
    else fold_narrow(folding, first, data, data + length, out);
    return length & ~(size_t)15;
}

#else

#include <stdlib.h>

bool crc_folds(void) { return false; }

size_t crc_fold(enum crc_kind kind, uint64_t state, const uint8_t *data, size_t length, bool slim, uint8_t out[16]) {
    (void)kind, (void)state, (void)data, (void)length, (void)slim, (void)out;
    abort();
}

#endif
