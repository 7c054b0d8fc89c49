/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Eight lanes of 32 bits each, and what a byte as a mask of them means. */
#ifndef MRFOREST_LANES_H
#define MRFOREST_LANES_H
#include <stddef.h>
#include <stdint.h>
#include "wide.h"

#ifdef MRFOREST_WITH_256

/* Byte i: how many of the bits 0 to i are set. */
static uint64_t mrforest_counts_up[256];
/* Lanes whose bit is set come first, then the others, each in their order. */
static uint64_t mrforest_ones_first[256];

__attribute__((constructor)) static void mrforest_fill_tables(void) {
    for (unsigned mask = 0; mask < 256; mask++) {
        uint64_t counts = 0, order = 0;
        int n_ones = 0, n_all = __builtin_popcount(mask);
        for (int lane = 0; lane < 8; lane++) {
            int is_one = mask >> lane & 1, to = is_one ? n_ones : n_all + lane - n_ones;
            n_ones += is_one;
            counts |= (uint64_t)n_ones << (8 * lane);
            order |= (uint64_t)lane << (8 * to);
        }
        mrforest_counts_up[mask] = counts;
        mrforest_ones_first[mask] = order;
    }
}

#define MRFOREST_LANES_256 _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)

/* Eight bytes, as a number each. */
static inline MRFOREST_256 __m256i mrforest_widen_256(const uint64_t *bytes) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)bytes));
}

static inline MRFOREST_256 __m256i mrforest_load_256(const void *from) {
    return _mm256_loadu_si256((const __m256i *)from);
}

static inline MRFOREST_256 void mrforest_store_256(void *to, __m256i v) {
    _mm256_storeu_si256((__m256i *)to, v);
}

/* The first n lanes, all if there are more. */
static inline MRFOREST_256 __m256i mrforest_first_256(ptrdiff_t n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int32_t)n), MRFOREST_LANES_256);
}

/* Lanes whose bit is set first. */
static inline MRFOREST_256 __m256i mrforest_ones_first_256(__m256i v, unsigned which) {
    return _mm256_permutevar8x32_epi32(v, mrforest_widen_256(mrforest_ones_first + which));
}

#endif
#endif
