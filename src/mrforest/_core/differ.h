/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Features that tell the points of a node apart, from the rows of their codes: all features at once.
 *
 *     rows       3 0 7 1          a byte is not 0 where some row differs from the first
 *                3 2 7 1
 *     differ     0 . 0 0 */
#ifndef MRFOREST_DIFFER_H
#define MRFOREST_DIFFER_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "wide.h"

enum { MRFOREST_SHORT_PART = 8, MRFOREST_LONG_PART = 32 };

static MRFOREST_INLINE void mrforest_differences_of_part(const uint8_t *codes, const int32_t *rows, ptrdiff_t n,
                                                         ptrdiff_t row_bytes, int size, uint8_t *differ) {
    uint64_t first[4], here[4], sum[4] = {0};
    memcpy(first, codes + rows[0] * row_bytes, size);
    for (ptrdiff_t i = 1; i < n; i++) {
        memcpy(here, codes + rows[i] * row_bytes, size);
        for (int w = 0; w < size / 8; w++) sum[w] |= here[w] ^ first[w];
    }
    memcpy(differ, sum, size);
}

static MRFOREST_INLINE void mrforest_find_differences_by(const uint8_t *codes, const int32_t *rows, ptrdiff_t n,
                                                         ptrdiff_t row_bytes, int size, uint8_t *differ) {
    ptrdiff_t last = row_bytes - size; /* the last part may overlap the one before it */
    for (ptrdiff_t at = 0; at < last; at += size)
        mrforest_differences_of_part(codes + at, rows, n, row_bytes, size, differ + at);
    mrforest_differences_of_part(codes + last, rows, n, row_bytes, size, differ + last);
}

/* Rows have row_bytes bytes each, at least MRFOREST_SHORT_PART. */
MRFOREST_WIDE static void mrforest_find_differences(const uint8_t *codes, const int32_t *rows, ptrdiff_t n,
                                                    ptrdiff_t row_bytes, uint8_t *differ) {
    if (row_bytes < MRFOREST_LONG_PART)
        mrforest_find_differences_by(codes, rows, n, row_bytes, MRFOREST_SHORT_PART, differ);
    else
        mrforest_find_differences_by(codes, rows, n, row_bytes, MRFOREST_LONG_PART, differ);
}

#endif
