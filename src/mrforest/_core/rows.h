/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Copying rows of codes, eight bytes at a time whatever they are. */
#ifndef MRFOREST_ROWS_H
#define MRFOREST_ROWS_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "checked.h"

/* Copy one row. */
static inline void mrforest_copy_row(void *to, const void *from, ptrdiff_t n_bytes) {
    uint8_t *out = to;
    const uint8_t *in = from;
    if (n_bytes < 8) {
        for (ptrdiff_t b = 0; b < n_bytes; b++) out[b] = in[b];
        return;
    }
    for (ptrdiff_t b = 0; b + 8 <= n_bytes; b += 8) memcpy(out + b, in + b, 8);
    memcpy(out + n_bytes - 8, in + n_bytes - 8, 8);
}

/* Copy rows of n_bytes each, one after the other. differ gets the bits in which some of them differ from the
 * first one, n_bytes of them. */
static void mrforest_copy_rows(const void *codes, ptrdiff_t n_bytes, ptrdiff_t n_rows, const int32_t *rows, ptrdiff_t n,
                               void *copy, uint8_t *differ) {
    const uint8_t *from = codes, *first = from + mrforest_at(rows[0], n_rows) * n_bytes;
    uint8_t *to = copy;
    ptrdiff_t at = 0;
    if (n_bytes < 8) {
        memset(differ, 0, (size_t)n_bytes);
        for (ptrdiff_t i = 0; i < n; i++)
            for (ptrdiff_t b = 0; b < n_bytes; b++) {
                uint8_t here = from[mrforest_at(rows[i], n_rows) * n_bytes + b];
                to[i * n_bytes + b] = here;
                differ[b] |= here ^ first[b];
            }
        return;
    }
    for (;;) {
        uint64_t same, bits = 0;
        memcpy(&same, first + at, sizeof same);
        for (ptrdiff_t i = 0; i < n; i++) {
            uint64_t here;
            memcpy(&here, from + mrforest_at(rows[i], n_rows) * n_bytes + at, sizeof here);
            memcpy(to + i * n_bytes + at, &here, sizeof here);
            bits |= here ^ same;
        }
        memcpy(differ + at, &bits, sizeof bits);
        if (at + 8 == n_bytes) return;
        /* The last eight may have been copied in part. */
        at = at + 16 <= n_bytes ? at + 8 : n_bytes - 8;
    }
}

#endif
