#include "pure/crc_fold.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <stdlib.h>

/* 16 bytes are a polynomial of 128 coefficients. To move it D bits ahead, its two halves are
 * multiplied with x^(64 + D) and x^D modulo the generator, and the products, of at most 128
 * coefficients, are added to the 16 bytes that are there. D is 512 while four such lanes run side
 * by side, and 128 when they are brought together; where a register holds four of them, four
 * registers run side by side, 2,048 bits ahead.
 *
 * A register that shifts left has its highest coefficient in the top bit: bytes are reversed when
 * they are loaded. One that shifts right has it in bit 0 of the first byte; a product of two such
 * halves comes out multiplied with x once more, so its constants are those of one bit less. T10
 * is in the upper half of 32 bits: its generator is x^16 times the 16-bit one.
 * tests/softnic/test_pure.py works the constants out again. */
/* for the half of high powers, for the other */
struct folding {
    bool reflected;
    uint64_t wide[2], far[2], near[2];
};
static const struct folding foldings[] = {
    [CRC_T10] = {false,
                 {0xc9eb0000, 0xefe20000},
                 {0x371d0000, 0x87e70000},
                 {0x4c1a0000, 0xfb0b0000}},
    [CRC_FC_PH] = {false,
                   {0xcbcf3bcb, 0x88fe2237},
                   {0x8833794c, 0xe6228b11},
                   {0xc5b9cd4c, 0xe8a45605}},
    [CRC_CASTAGNOLI] = {true,
                        {0xe9a5d8be00000000, 0x1426a81500000000},
                        {0x1c19243b00000000, 0x75bba45b00000000},
                        {0x3743f7bd00000000, 0x3171d43000000000}},
    [CRC_XP10] = {true,
                  {0x37ccd3e14069cabc, 0xa043808c0f782663},
                  {0x0c32cdb31e18a84a, 0x62242240ace5045a},
                  {0xeadc41fd2ba3d420, 0x21e9761e252621ac}},
};

bool crc_folds(void) { return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("ssse3"); }

#define WITH_PCLMUL __attribute__((target("pclmul,ssse3"), always_inline)) static inline

/* Bytes on their way: where they are read, and where they are also written (NULL: nowhere). */
struct way {
    const uint8_t *p;
    uint8_t *to;
};

WITH_PCLMUL __m128i reversed(__m128i bytes, bool reflected) {
    const __m128i back = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return reflected ? bytes : _mm_shuffle_epi8(bytes, back);
}

WITH_PCLMUL __m128i load(const struct way *way, size_t at, bool reflected) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(way->p + at));
    if (way->to) _mm_storeu_si128((__m128i *)(way->to + at), bytes);
    return reversed(bytes, reflected);
}

/* The half of high powers is the low one of a reflected register: `by` holds its constant there. */
WITH_PCLMUL __m128i ahead(__m128i lane, __m128i by, __m128i onto) {
    return _mm_xor_si128(onto, _mm_xor_si128(_mm_clmulepi64_si128(lane, by, 0x00),
                                             _mm_clmulepi64_si128(lane, by, 0x11)));
}

WITH_PCLMUL __m128i constants(const uint64_t by[2], bool reflected) {
    return reflected ? _mm_set_epi64x((long long)by[1], (long long)by[0])
                     : _mm_set_epi64x((long long)by[0], (long long)by[1]);
}

/* What is left of a lane and the data after it, by 16 bytes. */
WITH_PCLMUL void rest(__m128i a, __m128i near, bool reflected, const struct way *way, size_t at,
                      size_t length, uint8_t out[16]) {
    for (; length - at >= 16; at += 16) a = ahead(a, near, load(way, at, reflected));
    _mm_storeu_si128((__m128i *)out, reversed(a, reflected));
}

WITH_PCLMUL void narrow(const struct folding *folding, bool reflected, __m128i first,
                        const struct way *way, size_t length, uint8_t out[16]) {
    const __m128i far = constants(folding->far, reflected),
                  near = constants(folding->near, reflected);
    __m128i a = _mm_xor_si128(load(way, 0, reflected), first), b = load(way, 16, reflected),
            c = load(way, 32, reflected), d = load(way, 48, reflected);
    size_t at = 64;
    for (; length - at >= 64; at += 64) {
        a = ahead(a, far, load(way, at, reflected));
        b = ahead(b, far, load(way, at + 16, reflected));
        c = ahead(c, far, load(way, at + 32, reflected));
        d = ahead(d, far, load(way, at + 48, reflected));
    }
    rest(ahead(ahead(ahead(a, near, b), near, c), near, d), near, reflected, way, at, length, out);
}

#define WIDE "pclmul,ssse3,avx512f,avx512bw,avx512vl,vpclmulqdq"
#define WITH_WIDE __attribute__((target(WIDE), always_inline)) static inline
enum { WIDE_LEAST = 512 };

static bool is_wide(void) {
    return __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl");
}

WITH_WIDE __m512i load4(const struct way *way, size_t at, bool reflected) {
    __m512i bytes = _mm512_loadu_si512(way->p + at);
    if (way->to) _mm512_storeu_si512(way->to + at, bytes);
    const __m512i back =
        _mm512_broadcast_i32x4(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    return reflected ? bytes : _mm512_shuffle_epi8(bytes, back);
}

WITH_WIDE __m512i ahead4(__m512i lanes, __m512i by, __m512i onto) {
    return _mm512_ternarylogic_epi64(onto, _mm512_clmulepi64_epi128(lanes, by, 0x00),
                                     _mm512_clmulepi64_epi128(lanes, by, 0x11), 0x96);
}

WITH_WIDE void wide(const struct folding *folding, bool reflected, __m128i first,
                    const struct way *way, size_t length, uint8_t out[16]) {
    const __m512i by = _mm512_broadcast_i32x4(constants(folding->wide, reflected)),
                  far = _mm512_broadcast_i32x4(constants(folding->far, reflected));
    const __m128i near = constants(folding->near, reflected);
    __m512i a = _mm512_xor_si512(load4(way, 0, reflected), _mm512_zextsi128_si512(first)),
            b = load4(way, 64, reflected);
    __m512i c = load4(way, 128, reflected), d = load4(way, 192, reflected);
    size_t at = 256;
    for (; length - at >= 256; at += 256) {
        a = ahead4(a, by, load4(way, at, reflected));
        b = ahead4(b, by, load4(way, at + 64, reflected));
        c = ahead4(c, by, load4(way, at + 128, reflected));
        d = ahead4(d, by, load4(way, at + 192, reflected));
    }
    d = ahead4(ahead4(ahead4(a, far, b), far, c), far, d);
    for (; length - at >= 64; at += 64) d = ahead4(d, far, load4(way, at, reflected));
    __m128i lane = ahead(_mm512_extracti32x4_epi32(d, 0), near, _mm512_extracti32x4_epi32(d, 1));
    lane = ahead(ahead(lane, near, _mm512_extracti32x4_epi32(d, 2)), near,
                 _mm512_extracti32x4_epi32(d, 3));
    rest(lane, near, reflected, way, at, length, out);
}

/* One for each, so that the loops have no choice to make. */
#define FOLD(name, target_, body) \
    __attribute__((target(target_))) static void name( \
        const struct folding *folding, __m128i first, const uint8_t *p, uint8_t *to, \
        size_t length, uint8_t out[16]) { \
        const struct way sums = {p, NULL}, copies = {p, to}; \
        if (folding->reflected && to) body(folding, true, first, &copies, length, out); \
        else if (folding->reflected) body(folding, true, first, &sums, length, out); \
        else if (to) body(folding, false, first, &copies, length, out); \
        else body(folding, false, first, &sums, length, out); \
    }
FOLD(fold_wide, WIDE, wide)
FOLD(fold_narrow, "pclmul,ssse3", narrow)

size_t crc_fold(enum crc_kind kind, uint64_t state, const uint8_t *data, uint8_t *to, size_t length,
                bool slim, uint8_t out[16]) {
    const struct folding *folding = &foldings[kind];
    __m128i first = folding->reflected ? _mm_set_epi64x(0, (long long)state)
                                       : _mm_set_epi64x((long long)(state << 32), 0);
    if (!slim && length >= WIDE_LEAST && is_wide())
        fold_wide(folding, first, data, to, length, out);
    else fold_narrow(folding, first, data, to, length, out);
    return length & ~(size_t)15;
}

#else

#include <stdlib.h>

bool crc_folds(void) { return false; }

size_t crc_fold(enum crc_kind kind, uint64_t state, const uint8_t *data, uint8_t *to, size_t length,
                bool slim, uint8_t out[16]) {
    (void)kind, (void)state, (void)data, (void)to, (void)length, (void)slim, (void)out;
    abort();
}

#endif
