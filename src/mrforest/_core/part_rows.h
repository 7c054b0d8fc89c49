/* SPDX-License-Identifier: BSD-3-Clause
 *
 * partition.pyx for wide registers: 16 or 8 rows at a time. */
#ifndef MRFOREST_PART_ROWS_H
#define MRFOREST_PART_ROWS_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "lanes.h"
#include "wide.h"

#ifdef MRFOREST_WITH_512

/* Part rows from the first one on, as long as there are 16 and none is the last of the table, after whose codes
 * nothing may be read; return how many were read. Those that go left are moved to the front, the others are
 * written to `others`. Codes are those of one feature, `stride` bytes from row to row, in the low bits `bits`. */
MRFOREST_512 static ptrdiff_t mrforest_part_rows_512(const void *codes, int32_t stride, int32_t bits, int32_t last_row,
                                                     int32_t *rows, ptrdiff_t n, int32_t bin, int is_equality,
                                                     int32_t missing, int missing_left, int32_t *others,
                                                     ptrdiff_t *n_left) {
    const __m512i strides = _mm512_set1_epi32(stride), low = _mm512_set1_epi32(bits), at = _mm512_set1_epi32(bin);
    ptrdiff_t i = 0, n_right = 0;
    *n_left = 0;
    for (; i + 16 <= n && rows[i + 15] != last_row; i += 16) {
        __m512i here = _mm512_loadu_si512(rows + i);
        __m512i code = _mm512_and_si512(_mm512_i32gather_epi32(_mm512_mullo_epi32(here, strides), codes, 1), low);
        __mmask16 left = is_equality ? _mm512_cmpeq_epi32_mask(code, at) : _mm512_cmple_epi32_mask(code, at);
        __mmask16 unknown = _mm512_cmpeq_epi32_mask(code, _mm512_set1_epi32(missing));
        left = (__mmask16)(missing_left ? left | unknown : left & ~unknown);
        /* No row is written before it has been read: 16 of those from n_left on have been. */
        _mm512_storeu_si512(rows + *n_left, _mm512_maskz_compress_epi32(left, here));
        _mm512_storeu_si512(others + n_right, _mm512_maskz_compress_epi32((__mmask16)~left, here));
        *n_left += __builtin_popcount(left);
        n_right = i + 16 - *n_left;
    }
    return i;
}

#endif

#ifdef MRFOREST_WITH_256

/* The same, 8 at a time, for any stride. Codes have `size` bytes, one or two. */
MRFOREST_256 static ptrdiff_t mrforest_part_rows_256(const uint8_t *codes, ptrdiff_t stride, int size, int32_t *rows,
                                                     ptrdiff_t n, int32_t bin, int is_equality, int32_t missing,
                                                     int missing_left, int32_t *others, ptrdiff_t *n_left) {
    const __m256i at = _mm256_set1_epi32(bin), none = _mm256_set1_epi32(missing);
    ptrdiff_t i = 0, n_right = 0;
    *n_left = 0;
    for (; i + 8 <= n; i += 8) {
        __m256i here = mrforest_load_256(rows + i), code;
        uint16_t shorts[8];
        uint8_t bytes[8];
        if (size == 1) {
            for (int j = 0; j < 8; j++) bytes[j] = codes[rows[i + j] * stride];
            code = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)bytes));
        } else {
            for (int j = 0; j < 8; j++) memcpy(shorts + j, codes + rows[i + j] * stride, 2);
            code = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)shorts));
        }
        __m256i left = is_equality ? _mm256_cmpeq_epi32(code, at)
                                   : _mm256_xor_si256(_mm256_cmpgt_epi32(code, at), _mm256_set1_epi32(-1));
        __m256i unknown = _mm256_cmpeq_epi32(code, none);
        left = missing_left ? _mm256_or_si256(left, unknown) : _mm256_andnot_si256(unknown, left);
        unsigned which = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(left));
        /* No row is written before it has been read: 8 of those from n_left on have been. */
        mrforest_store_256(rows + *n_left, mrforest_ones_first_256(here, which));
        mrforest_store_256(others + n_right, mrforest_ones_first_256(here, which ^ 255u));
        *n_left += __builtin_popcount(which);
        n_right = i + 8 - *n_left;
    }
    return i;
}

#endif

/* The same where this processor can, and an index of a code fits 31 bits; else no row is read. */
static inline ptrdiff_t mrforest_part_rows(const void *codes, ptrdiff_t stride, int32_t bits, ptrdiff_t n_rows,
                                           int32_t *rows, ptrdiff_t n, int32_t bin, int is_equality, int32_t missing,
                                           int missing_left, int32_t *others, ptrdiff_t *n_left) {
    *n_left = 0;
#ifdef MRFOREST_WITH_512
    if (mrforest_has_512 && n_rows * stride <= INT32_MAX)
        return mrforest_part_rows_512(codes, (int32_t)stride, bits, (int32_t)(n_rows - 1), rows, n, bin, is_equality,
                                      missing, missing_left, others, n_left);
#endif
#ifdef MRFOREST_WITH_256
    if (mrforest_has_256)
        return mrforest_part_rows_256(codes, stride, bits == 255 ? 1 : 2, rows, n, bin, is_equality, missing, missing_left,
                                      others, n_left);
#endif
    return 0;
}

/* Short lists are copied without a call. */
static inline void mrforest_copy_short(int32_t *to, const int32_t *from, ptrdiff_t n) {
    if (n >= 8) {
        ptrdiff_t i = 0;
        for (; i + 8 <= n; i += 8) memcpy(to + i, from + i, 32);
        memcpy(to + n - 8, from + n - 8, 32);
        return;
    }
    if (n & 4) memcpy(to, from, 16);
    if (n & 2) memcpy(to + (n & 4), from + (n & 4), 8);
    if (n & 1) to[n - 1] = from[n - 1];
}

#endif
