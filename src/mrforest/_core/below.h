/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MRFOREST_BELOW_H
#define MRFOREST_BELOW_H
#include <stddef.h>
#include <stdint.h>

/* How many of ascending values lie below x, for some rows: all take the same steps, and none waits for another.
 * None lies below NaN. */
static inline void mrforest_count_below(const double *values, int32_t n_values, const double *x, ptrdiff_t stride,
                                        int lanes, int32_t *below) {
    for (int lane = 0; lane < lanes; lane++) below[lane] = 0;
    /* Invariant: the answer lies in [below, below + length]. */
    for (int32_t length = n_values; length > 0;) {
        int32_t half = (length + 1) >> 1;
        for (int lane = 0; lane < lanes; lane++) {
            int32_t is_above = values[below[lane] + half - 1] < x[lane * stride];
            below[lane] += half & -is_above;
        }
        length -= half;
    }
}

#endif
