/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bits of four slices at a time, see slices.h: a table of the bits of all halves of a byte is looked up for 32 bytes at
 * once. */
#ifndef MRFOREST_POPCOUNT_256_H
#define MRFOREST_POPCOUNT_256_H
#include <stddef.h>
#include <stdint.h>
#include "lanes.h"
#include "wide.h"

#ifdef MRFOREST_WITH_256

/* Of each byte of four words that is in the mask, how many bits are set. */
static inline MRFOREST_256 __m256i mrforest_bits_in_bytes_256(const uint64_t *words, uint64_t mask) {
    const __m256i bits = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3,
                                          2, 3, 3, 4);
    const __m256i half = _mm256_set1_epi8(15);
    __m256i v = _mm256_and_si256(mrforest_load_256(words), _mm256_set1_epi64x((int64_t)mask));
    __m256i low = _mm256_shuffle_epi8(bits, _mm256_and_si256(v, half));
    return _mm256_add_epi8(low, _mm256_shuffle_epi8(bits, _mm256_and_si256(_mm256_srli_epi16(v, 4), half)));
}

/* mrforest_add_counts for all but the last n % 4 slices; return how many are done. */
MRFOREST_256 static ptrdiff_t mrforest_add_counts_256(const uint64_t *words, ptrdiff_t stride, ptrdiff_t n,
                                                      const uint64_t *mask, ptrdiff_t n_words, int32_t *counts) {
    const __m256i lows = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    const ptrdiff_t n_done = n / 4 * 4;
    for (ptrdiff_t w = 0; w < n_words; w += 4, words += 4 * stride) {
        const ptrdiff_t m = n_words - w < 4 ? n_words - w : 4;
        uint64_t masks[4] = {0}, any = 0;
        for (ptrdiff_t i = 0; i < m; i++) any |= masks[i] = mask[w + i];
        if (any == 0) continue;
        for (ptrdiff_t s = 0; s < n_done; s += 4) {
            __m256i bits = mrforest_bits_in_bytes_256(words + s, masks[0]);
            if (m == 4) {
                bits = _mm256_add_epi8(bits, mrforest_bits_in_bytes_256(words + s + stride, masks[1]));
                bits = _mm256_add_epi8(bits, mrforest_bits_in_bytes_256(words + s + 2 * stride, masks[2]));
                bits = _mm256_add_epi8(bits, mrforest_bits_in_bytes_256(words + s + 3 * stride, masks[3]));
            } else
                for (ptrdiff_t i = 1; i < m; i++)
                    bits = _mm256_add_epi8(bits, mrforest_bits_in_bytes_256(words + s + i * stride, masks[i]));
            bits = _mm256_permutevar8x32_epi32(_mm256_sad_epu8(bits, _mm256_setzero_si256()), lows);
            __m128i *to = (__m128i *)(counts + s);
            _mm_storeu_si128(to, _mm_add_epi32(_mm_loadu_si128(to), _mm256_castsi256_si128(bits)));
        }
    }
    return n_done;
}

#endif
#endif
