/* SPDX-License-Identifier: BSD-3-Clause
 *
 * partition.pyx for registers of 512 bits: 16 rows at a time. */
#ifndef MRFOREST_PARTITION_512_H
#define MRFOREST_PARTITION_512_H
#include <stddef.h>
#include <stdint.h>
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
    return 0;
}

#endif
