/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counting all features of rows of one-byte codes. A node's rows lie scattered over the table, so those that come
 * next are asked for early, and eight codes are read at once. */
#ifndef MRFOREST_COUNT_H
#define MRFOREST_COUNT_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "checked.h"

#if defined(__GNUC__)
#define mrforest_prefetch(address) __builtin_prefetch(address)
#else
#define mrforest_prefetch(address) ((void)0)
#endif

enum { MRFOREST_AHEAD = 16 }; /* rows */

/* Add each row's copies to the cells of its class y and its codes. The cells of class k and feature f begin at
 * start[k * n_features + f]; there are `size` cells. copies may be NULL: then every row is one point. */
static void mrforest_count_bytes(const uint8_t *codes, ptrdiff_t n_features, ptrdiff_t n_rows, const int32_t *y,
                                 const int32_t *copies, const int32_t *rows, ptrdiff_t n, const int32_t *start,
                                 ptrdiff_t size, int32_t *counts) {
    for (ptrdiff_t i = 0; i < n; i++) {
        if (i + MRFOREST_AHEAD < n) {
            const uint8_t *next = codes + rows[i + MRFOREST_AHEAD] * n_features;
            mrforest_prefetch(next);
            mrforest_prefetch(next + n_features - 1);
            mrforest_prefetch(y + rows[i + MRFOREST_AHEAD]);
        }
        ptrdiff_t row = mrforest_at(rows[i], n_rows), f = 0;
        const uint8_t *code = codes + row * n_features;
        const int32_t *first = start + y[row] * n_features;
        int32_t count = copies == NULL ? 1 : copies[row];
        for (; f + 8 <= n_features; f += 8) {
            uint8_t eight[8];
            memcpy(eight, code + f, sizeof eight);
            for (int j = 0; j < 8; j++) counts[mrforest_at((uint32_t)first[f + j] + eight[j], size)] += count;
        }
        for (; f < n_features; f++) counts[mrforest_at((uint32_t)first[f] + code[f], size)] += count;
    }
}

#endif
