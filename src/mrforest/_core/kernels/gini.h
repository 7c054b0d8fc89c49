/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gini scores from sums of squares. These are whole numbers below 2^53, so scores are the same to the bit however the
 * sums were found. */
#ifndef MRFOREST_GINI_H
#define MRFOREST_GINI_H
#include <math.h>
#include "kernels.h"
#include "lanes.h"

INLINE double score_of_sums(int64_t of_left, int64_t left, int64_t of_right, int64_t right) {
    return (double)of_left / (double)left + (double)of_right / (double)right;
}

/* Of two classes: `ones` of n points are of one, x of the `left` points on the left. */
INLINE double gini_of_two(int64_t n, int64_t ones, int64_t left, int64_t x) {
    int64_t right = n - left, y = ones - x;
    return score_of_sums(x * x + (left - x) * (left - x), left, y * y + (right - y) * (right - y), right);
}

/* Cuts whose sums of squares are written: score them. */
INLINE void score_all_cuts(ptrdiff_t n_cuts, int32_t n, mrforest_cuts cuts) {
    for (ptrdiff_t i = 0; i < n_cuts; i++)
        cuts.of_left[i] =
            cuts.of_left[i] / (double)cuts.n_left[i] + cuts.of_right[i] / (double)(n - cuts.n_left[i]);
}

#endif
