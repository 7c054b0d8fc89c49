/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Vectors of LANES numbers of 32 bits, which kernels are written with:
 *
 *     AVX2          8 lanes    HAS_LOOKUP
 *     NEON          4 lanes    HAS_LOOKUP
 *     SSE2          4 lanes
 *     any other     no lanes: LANES is 0, and kernels take one number after the other
 *
 * Arithmetic, comparisons and fixed shuffles are those of GNU C, which all of these have. This
 * file adds what GNU C does not have, and is the only one with instructions of a processor.
 * A comparison gives -1 in lanes where it is true, and 0 in others: a mask. */
#ifndef MRFOREST_LANES_H
#define MRFOREST_LANES_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define UNROLL _Pragma("GCC unroll 8")
#else
#define UNROLL
#endif

/* For a function in which GCC would move single numbers in and out of vectors: 1.3 times the time of predictions. */
#if defined(__GNUC__) && !defined(__clang__)
#define SCALAR __attribute__((optimize("no-tree-vectorize")))
#else
#define SCALAR
#endif

enum { ROWS_TOGETHER = 8 }; /* that are coded, or walk down a tree, side by side */

/* GCC has it from version 12 on, clang always. */
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define HAS_SHUFFLES 1
#endif
#endif

#if defined(HAS_SHUFFLES) && defined(__AVX2__)
#include <immintrin.h>
#define LANES 8
#define HAS_LOOKUP 1
#elif defined(HAS_SHUFFLES) && defined(__aarch64__)
#include <arm_neon.h>
#define LANES 4
#define HAS_LOOKUP 1
#elif defined(HAS_SHUFFLES) && defined(__SSE2__)
#include <emmintrin.h>
#define LANES 4
#define HAS_LOOKUP 0
#else
#define LANES 0
#define HAS_LOOKUP 0
#endif

#if LANES

typedef int32_t ints __attribute__((vector_size(4 * LANES)));
typedef uint32_t uints __attribute__((vector_size(4 * LANES)));
typedef float floats __attribute__((vector_size(4 * LANES)));
typedef uint32_t four_uints __attribute__((vector_size(16)));

/* ---- memory --------------------------------------------------------------------------------- */

INLINE ints load(const void *from) {
    ints v;
    memcpy(&v, from, sizeof v);
    return v;
}

INLINE floats load_floats(const float *from) {
    floats v;
    memcpy(&v, from, sizeof v);
    return v;
}

INLINE void store(void *to, ints v) { memcpy(to, &v, sizeof v); }

typedef uint8_t lane_bytes __attribute__((vector_size(LANES)));
typedef uint16_t lane_shorts __attribute__((vector_size(2 * LANES)));

INLINE ints lanes_of_bytes(const uint8_t *from) {
    lane_bytes v;
    memcpy(&v, from, sizeof v);
    return __builtin_convertvector(v, ints);
}

INLINE ints lanes_of_shorts(const uint16_t *from) {
    lane_shorts v;
    memcpy(&v, from, sizeof v);
    return __builtin_convertvector(v, ints);
}

INLINE ints all_lanes(int32_t x) { return (ints){0} + x; }

INLINE floats all_floats(float x) { return (floats){0} + x; }

/* The first n numbers, 0 in further lanes; nothing behind them is read. */
INLINE ints load_first(const int32_t *from, ptrdiff_t n) {
    int32_t numbers[LANES] = {0};
    if (n >= LANES) return load(from);
    for (ptrdiff_t i = 0; i < n; i++) numbers[i] = from[i];
    return load(numbers);
}

/* Four numbers from each of LANES places on: lane j of out[i] has number i from place j.
 *
 *     from[0]   a0 a1 a2 a3            out[0]   a0 b0 c0 ...
 *     from[1]   b0 b1 b2 b3     ->     out[1]   a1 b1 c1 ...
 *     from[2]   c0 c1 c2 c3            ...                    */
INLINE void load_four_each(const uint32_t *const *from, ptrdiff_t first, ints *out) {
    four_uints row[LANES];
    for (int j = 0; j < LANES; j++) memcpy(row + j, from[j] + first, sizeof *row);
#if LANES == 8
    uints pair[4];
    for (int j = 0; j < 4; j++) pair[j] = __builtin_shufflevector(row[j], row[j + 4], 0, 1, 2, 3, 4, 5, 6, 7);
    uints a = __builtin_shufflevector(pair[0], pair[1], 0, 8, 1, 9, 4, 12, 5, 13);
    uints b = __builtin_shufflevector(pair[2], pair[3], 0, 8, 1, 9, 4, 12, 5, 13);
    uints c = __builtin_shufflevector(pair[0], pair[1], 2, 10, 3, 11, 6, 14, 7, 15);
    uints d = __builtin_shufflevector(pair[2], pair[3], 2, 10, 3, 11, 6, 14, 7, 15);
    out[0] = (ints)__builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
    out[1] = (ints)__builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
    out[2] = (ints)__builtin_shufflevector(c, d, 0, 1, 8, 9, 4, 5, 12, 13);
    out[3] = (ints)__builtin_shufflevector(c, d, 2, 3, 10, 11, 6, 7, 14, 15);
#else
    uints a = __builtin_shufflevector(row[0], row[1], 0, 4, 1, 5);
    uints b = __builtin_shufflevector(row[2], row[3], 0, 4, 1, 5);
    uints c = __builtin_shufflevector(row[0], row[1], 2, 6, 3, 7);
    uints d = __builtin_shufflevector(row[2], row[3], 2, 6, 3, 7);
    out[0] = (ints)__builtin_shufflevector(a, b, 0, 1, 4, 5);
    out[1] = (ints)__builtin_shufflevector(a, b, 2, 3, 6, 7);
    out[2] = (ints)__builtin_shufflevector(c, d, 0, 1, 4, 5);
    out[3] = (ints)__builtin_shufflevector(c, d, 2, 3, 6, 7);
#endif
}

/* ---- numbers -------------------------------------------------------------------------------- */

INLINE floats to_floats(ints v) { return __builtin_convertvector(v, floats); }

/* Of whole numbers. */
INLINE ints to_ints(floats v) { return __builtin_convertvector(v, ints); }

INLINE ints code_of(ints items) { return (ints)((uints)items >> 16); }

/* v where the mask is set, else 0. */
INLINE floats where(ints mask, floats v) { return (floats)((ints)v & mask); }

/* a where the mask is set, else b. */
INLINE ints either(ints mask, ints a, ints b) {
#if defined(__AVX2__)
    return (ints)_mm256_blendv_epi8((__m256i)b, (__m256i)a, (__m256i)mask);
#elif defined(__aarch64__)
    return (ints)vbslq_u32((uint32x4_t)mask, (uint32x4_t)a, (uint32x4_t)b);
#else
    return (a & mask) | (b & ~mask);
#endif
}

/* Of numbers, none of which is NaN. */
INLINE floats larger(floats a, floats b) {
#if defined(__AVX2__)
    return (floats)_mm256_max_ps((__m256)a, (__m256)b);
#elif defined(__aarch64__)
    return (floats)vmaxq_f32((float32x4_t)a, (float32x4_t)b);
#else
    return (floats)_mm_max_ps((__m128)a, (__m128)b);
#endif
}

INLINE floats smaller(floats a, floats b) {
#if defined(__AVX2__)
    return (floats)_mm256_min_ps((__m256)a, (__m256)b);
#elif defined(__aarch64__)
    return (floats)vminq_f32((float32x4_t)a, (float32x4_t)b);
#else
    return (floats)_mm_min_ps((__m128)a, (__m128)b);
#endif
}

/* The sums of the lanes up to each lane. */
INLINE ints running_sums(ints v) {
    const ints zero = {0};
#if LANES == 8
    v += __builtin_shufflevector(zero, v, 0, 8, 9, 10, 0, 12, 13, 14);
    v += __builtin_shufflevector(zero, v, 0, 1, 8, 9, 4, 5, 12, 13);
    v += __builtin_shufflevector(zero, v, 0, 1, 2, 3, 11, 11, 11, 11);
#else
    v += __builtin_shufflevector(zero, v, 0, 4, 5, 6);
    v += __builtin_shufflevector(zero, v, 0, 1, 4, 5);
#endif
    return v;
}

/* ---- masks ---------------------------------------------------------------------------------- */

/* Bit j of the result is set where lane j of a mask is. */
INLINE unsigned bits_of_mask(ints mask) {
#if defined(__AVX2__)
    return (unsigned)_mm256_movemask_ps((__m256)mask);
#elif defined(__aarch64__)
    const uint32x4_t bits = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32((uint32x4_t)mask, bits));
#else
    return (unsigned)_mm_movemask_ps((__m128)mask);
#endif
}

#endif

/* ---- tables of bytes ------------------------------------------------------------------------ */

#if HAS_LOOKUP

#define PERMUTATIONS (1 << LANES)

/* For each mask of lanes, as bits: the lanes that are set, then the others, each in their order. Filled as the
 * library is loaded. */
#if LANES == 8
static uint64_t ones_first_order[PERMUTATIONS]; /* the number of a lane in each byte */
#else
static uint8_t ones_first_order[PERMUTATIONS][16]; /* the numbers of its bytes */
#endif

__attribute__((constructor)) static void fill_ones_first_order(void) {
    for (unsigned mask = 0; mask < PERMUTATIONS; mask++) {
        int n_ones = 0, n_all = __builtin_popcount(mask);
        for (int lane = 0; lane < LANES; lane++) {
            int is_one = mask >> lane & 1, to = is_one ? n_ones : n_all + lane - n_ones;
            n_ones += is_one;
#if LANES == 8
            ones_first_order[mask] |= (uint64_t)lane << (8 * to);
#else
            for (int byte = 0; byte < 4; byte++) ones_first_order[mask][4 * to + byte] = (uint8_t)(4 * lane + byte);
#endif
        }
    }
}

/* The lanes whose bit is set, then the others. */
INLINE ints ones_first(ints v, unsigned bits) {
#if LANES == 8
    __m256i order = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(ones_first_order + bits)));
    return (ints)_mm256_permutevar8x32_epi32((__m256i)v, order);
#else
    return (ints)vqtbl1q_u8((uint8x16_t)v, vld1q_u8(ones_first_order[bits]));
#endif
}

/* 256 bits, and the lanes of v whose lowest byte has its bit set among them. */
typedef struct {
#if LANES == 8
    __m256i words;
#else
    uint8x16x2_t bytes;
#endif
} bit_set;

/* From 256 bytes, each 0 or 1. */
INLINE bit_set load_bit_set(const uint8_t *bytes) {
    uint32_t words[8] = {0};
    bit_set set;
#if LANES == 8
    for (ptrdiff_t w = 0; w < 8; w++) {
        __m256i here = _mm256_loadu_si256((const __m256i *)(bytes + 32 * w));
        words[w] = (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(here, 7));
    }
    memcpy(&set.words, words, sizeof words);
#else
    for (int i = 0; i < 256; i++) words[i >> 5] |= (uint32_t)bytes[i] << (i & 31);
    set.bytes.val[0] = vld1q_u8((const uint8_t *)words);
    set.bytes.val[1] = vld1q_u8((const uint8_t *)words + 16);
#endif
    return set;
}

INLINE unsigned bits_in_set(bit_set set, ints v) {
#if LANES == 8
    __m256i word =
        _mm256_permutevar8x32_epi32(set.words, _mm256_srli_epi32((__m256i)v, 5)); /* its low 3 bits count */
    __m256i shift = _mm256_andnot_si256((__m256i)v, _mm256_set1_epi32(31));
    return bits_of_mask((ints)_mm256_sllv_epi32(word, shift)); /* which reads the highest bit */
#else
    uint32x4_t at = vandq_u32((uint32x4_t)v, vdupq_n_u32(255));
    uint8x16_t place = (uint8x16_t)vorrq_u32(vshrq_n_u32(at, 3), vdupq_n_u32(0xFFFFFF00));
    uint32x4_t byte = (uint32x4_t)vqtbl2q_u8(set.bytes, place);
    int32x4_t shift = vnegq_s32((int32x4_t)vandq_u32(at, vdupq_n_u32(7)));
    return bits_of_mask((ints)vtstq_u32(vshlq_u32(byte, shift), vdupq_n_u32(1)));
#endif
}

/* 32 bytes, and the ones of them that the lowest bytes of lanes ask for. */
typedef struct {
#if LANES == 8
    __m256i low, high;
#else
    uint8x16x2_t bytes;
#endif
} byte_table;

INLINE byte_table load_byte_table(const uint8_t *bytes) {
    byte_table table;
#if LANES == 8
    table.low = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)bytes));
    table.high = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(bytes + 16)));
#else
    table.bytes.val[0] = vld1q_u8(bytes);
    table.bytes.val[1] = vld1q_u8(bytes + 16);
#endif
    return table;
}

/* Lanes are below 16, or, if has_high, below 32. */
INLINE ints look_up(byte_table table, ints v, int has_high) {
#if LANES == 8
    /* A byte of an index whose highest bit is set picks 0: so do all but the lowest one, and an index of the other
     * half. */
    __m256i low =
        _mm256_shuffle_epi8(table.low, _mm256_add_epi32((__m256i)v, _mm256_set1_epi32((int32_t)0x80808070)));
    if (!has_high) return (ints)low;
    __m256i high = _mm256_add_epi32((__m256i)v, _mm256_set1_epi32((int32_t)0x808080F0));
    return (ints)_mm256_or_si256(low, _mm256_shuffle_epi8(table.high, high));
#else
    (void)has_high;
    return (ints)vqtbl2q_u8(table.bytes, (uint8x16_t)vorrq_u32((uint32x4_t)v, vdupq_n_u32(0xFFFFFF00)));
#endif
}

/* ---- shifts --------------------------------------------------------------------------------- */

/* By what each lane says; 0 where that is not from 0 to 31. */
INLINE ints shift_left(ints v, ints by) {
#if LANES == 8
    return (ints)_mm256_sllv_epi32((__m256i)v, (__m256i)by);
#else
    return (ints)vshlq_u32((uint32x4_t)v, (int32x4_t)vminq_u32((uint32x4_t)by, vdupq_n_u32(32)));
#endif
}

INLINE ints shift_right(ints v, ints by) {
#if LANES == 8
    return (ints)_mm256_srlv_epi32((__m256i)v, (__m256i)by);
#else
    int32x4_t back = vnegq_s32((int32x4_t)vminq_u32((uint32x4_t)by, vdupq_n_u32(32)));
    return (ints)vshlq_u32((uint32x4_t)v, back);
#endif
}

#endif

/* ---- bits ----------------------------------------------------------------------------------- */

/* Some words, and as many doubles. Comparisons of these set all bits of a word, or none. */
#if defined(__GNUC__)
typedef uint64_t four_words __attribute__((vector_size(32)));
typedef four_words some_words;
typedef double some_doubles __attribute__((vector_size(32)));
#define WHERE(CONDITION) ((some_words)(CONDITION))
#else
typedef uint64_t some_words;
typedef double some_doubles;
#define WHERE(CONDITION) (-(uint64_t)(CONDITION))
#endif

enum { SOME_WORDS = sizeof(some_words) / sizeof(uint64_t) };

INLINE some_words load_words(const uint64_t *from) {
    some_words v;
    memcpy(&v, from, sizeof v);
    return v;
}

INLINE void store_words(uint64_t *to, some_words v) { memcpy(to, &v, sizeof v); }

INLINE some_doubles load_doubles(const double *from) {
    some_doubles v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* Whether any bit is set. */
INLINE int any_bit(some_words v) {
    uint64_t words[SOME_WORDS], any = 0;
    memcpy(words, &v, sizeof v);
    for (int i = 0; i < SOME_WORDS; i++) any |= words[i];
    return any != 0;
}

/* How many bits are set. */
INLINE int count_ones(uint64_t word) {
#if defined(__GNUC__)
    return __builtin_popcountll(word);
#else
    word -= (word >> 1) & 0x5555555555555555;
    word = (word & 0x3333333333333333) + ((word >> 2) & 0x3333333333333333);
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F;
    return (int)((word * 0x0101010101010101) >> 56);
#endif
}

/* The lowest bit of a word that has one. */
INLINE int lowest_bit(uint64_t word) {
#if defined(__GNUC__)
    return __builtin_ctzll(word);
#else
    return count_ones((word & -word) - 1);
#endif
}

#if LANES

typedef int32_t four_ints __attribute__((vector_size(16)));
typedef int32_t eight_ints __attribute__((vector_size(32)));

/* How many bits are set in each byte. */
INLINE four_words bits_in_bytes(four_words v) {
#if defined(__AVX2__)
    const __m256i half = _mm256_set1_epi8(15);
    const __m256i bits = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1,
                                          2, 2, 3, 2, 3, 3, 4);
    __m256i low = _mm256_shuffle_epi8(bits, _mm256_and_si256((__m256i)v, half));
    __m256i high = _mm256_and_si256(_mm256_srli_epi16((__m256i)v, 4), half);
    return (four_words)_mm256_add_epi8(low, _mm256_shuffle_epi8(bits, high));
#else
    const uint64_t pairs = 0x5555555555555555, fours = 0x3333333333333333, halves = 0x0F0F0F0F0F0F0F0F;
    v -= (v >> 1) & pairs;
    v = (v & fours) + ((v >> 2) & fours);
    return (v + (v >> 4)) & halves;
#endif
}

/* The sum of the bytes of each word, where these are at most 32. */
INLINE four_ints sums_of_bytes(four_words v) {
#if defined(__AVX2__)
    v = (four_words)_mm256_sad_epu8((__m256i)v, _mm256_setzero_si256());
#else
    v = (v & 0x00FF00FF00FF00FF) + ((v >> 8) & 0x00FF00FF00FF00FF);
    v += v >> 16;
    v = (v + (v >> 32)) & 0xFFFF;
#endif
    return __builtin_shufflevector((eight_ints)v, (eight_ints)v, 0, 2, 4, 6);
}

#endif

#endif
