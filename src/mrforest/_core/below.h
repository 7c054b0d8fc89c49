/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MRFOREST_BELOW_H
#define MRFOREST_BELOW_H
#include <stddef.h>
#include <stdint.h>

#define MRFOREST_MOST_BELOW 16 /* rows */

/* How many of ascending values lie below x, for some rows: all take the same steps, and none waits for another.
 * None lies below NaN. */
static inline void mrforest_count_below_of(const double *values, int32_t n_values, const double *x, ptrdiff_t stride,
                                           const int lanes, int32_t *below) {
    double at[MRFOREST_MOST_BELOW];
    int32_t found[MRFOREST_MOST_BELOW];
    for (int lane = 0; lane < lanes; lane++) at[lane] = x[lane * stride], found[lane] = 0;
    /* Invariant: the answer lies in [found, found + length]. */
    for (int32_t length = n_values; length > 0;) {
        int32_t half = (length + 1) >> 1;
        for (int lane = 0; lane < lanes; lane++) {
            int32_t is_above = values[found[lane] + half - 1] < at[lane];
            found[lane] += half & -is_above;
        }
        length -= half;
    }
    for (int lane = 0; lane < lanes; lane++) below[lane] = found[lane];
}

/* The same with a number of rows that the compiler knows, where that is a usual one: the rows stay in registers. */
static inline void mrforest_count_below(const double *values, int32_t n_values, const double *x, ptrdiff_t stride,
                                        int lanes, int32_t *below) {
    if (lanes == 8)
        mrforest_count_below_of(values, n_values, x, stride, 8, below);
    else if (lanes == 16)
        mrforest_count_below_of(values, n_values, x, stride, 16, below);
    else
        mrforest_count_below_of(values, n_values, x, stride, lanes, below);
}

#endif
