/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows of codes: all features of a node counted, and rows copied together. A node's rows lie scattered over the
 * table, so those that come next are prefetched. */
#include "checked.h"
#include "kernels.h"
#include "lanes.h"
#include "ways.h"

#include <string.h>

#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)0)
#endif

enum { ROWS_AHEAD = 16 };

static void count_rows(const mrforest_counted *node, const int32_t *start, ptrdiff_t size, int32_t *counts) {
    const ptrdiff_t F = node->n_features;
    for (ptrdiff_t i = 0; i < node->n; i++) {
        if (i + ROWS_AHEAD < node->n) {
            const ptrdiff_t ahead = node->rows[i + ROWS_AHEAD];
            PREFETCH(node->codes + ahead * F);
            PREFETCH(node->codes + ahead * F + F - 1);
            PREFETCH(node->y + ahead);
        }
        const ptrdiff_t row = mrforest_at(node->rows[i], node->n_rows);
        const uint8_t *code = node->codes + row * F;
        const int32_t *first = start + node->y[row] * F;
        const int32_t count = node->copies == NULL ? 1 : node->copies[row];
        ptrdiff_t f = 0;
#if LANES
        for (; f + LANES <= F && !mrforest_is_off[MRFOREST_CELLS_BY_LANES]; f += LANES) {
            uint32_t cells[LANES];
            store(cells, lanes_of_bytes(code + f) + load(first + f));
            for (int j = 0; j < LANES; j++) counts[mrforest_at(cells[j], size)] += count;
        }
#endif
        for (; f < F; f++) counts[mrforest_at((uint32_t)first[f] + code[f], size)] += count;
    }
}

/* ---- copies --------------------------------------------------------------------------------- */

/* Rows are copied eight bytes at a time, the last eight of which may have been copied in part. */

INLINE void copy_row(uint8_t *to, const uint8_t *from, ptrdiff_t n_bytes) {
    if (n_bytes < 8) {
        for (ptrdiff_t b = 0; b < n_bytes; b++) to[b] = from[b];
        return;
    }
    for (ptrdiff_t b = 0; b + 8 <= n_bytes; b += 8) memcpy(to + b, from + b, 8);
    memcpy(to + n_bytes - 8, from + n_bytes - 8, 8);
}

static void copy_rows_of_table(const uint8_t *from, ptrdiff_t n_bytes, ptrdiff_t n_rows, const int32_t *rows,
                               ptrdiff_t n, uint8_t *to) {
    for (ptrdiff_t i = 0; i < n; i++) {
        if (i + ROWS_AHEAD < n) PREFETCH(from + rows[i + ROWS_AHEAD] * n_bytes);
        copy_row(to + i * n_bytes, from + mrforest_at(rows[i], n_rows) * n_bytes, n_bytes);
    }
}

/* Also where they differ; few rows, which lie in the cache: eight bytes of all of them after the other. */
static void copy_and_compare_rows(const uint8_t *from, ptrdiff_t n_bytes, ptrdiff_t n_rows, const int32_t *rows,
                                  ptrdiff_t n, uint8_t *to, uint8_t *differ) {
    const uint8_t *first = from + mrforest_at(rows[0], n_rows) * n_bytes;
    ptrdiff_t b = 0;
    if (n_bytes < 8) {
        memset(differ, 0, (size_t)n_bytes);
        for (ptrdiff_t i = 0; i < n; i++)
            for (b = 0; b < n_bytes; b++) {
                uint8_t here = from[mrforest_at(rows[i], n_rows) * n_bytes + b];
                to[i * n_bytes + b] = here;
                differ[b] |= here ^ first[b];
            }
        return;
    }
    for (;;) {
        uint64_t same, bits = 0;
        memcpy(&same, first + b, sizeof same);
        for (ptrdiff_t i = 0; i < n; i++) {
            uint64_t here;
            memcpy(&here, from + mrforest_at(rows[i], n_rows) * n_bytes + b, sizeof here);
            memcpy(to + i * n_bytes + b, &here, sizeof here);
            bits |= here ^ same;
        }
        memcpy(differ + b, &bits, sizeof bits);
        if (b + 8 == n_bytes) return;
        b = b + 16 <= n_bytes ? b + 8 : n_bytes - 8;
    }
}

static void copy_rows(const void *codes, ptrdiff_t n_bytes, ptrdiff_t n_rows, const int32_t *rows, ptrdiff_t n,
                      void *copy, uint8_t *differ) {
    if (differ == NULL) copy_rows_of_table(codes, n_bytes, n_rows, rows, n, copy);
    else copy_and_compare_rows(codes, n_bytes, n_rows, rows, n, copy, differ);
}
