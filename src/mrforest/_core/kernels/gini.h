/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gini scores from sums of squares. These are whole numbers below 2^53, so scores are the same to the bit however the
 * sums were found. */
#ifndef MRFOREST_GINI_H
#define MRFOREST_GINI_H
#include "kernels.h"
#include "lanes.h"

#include <math.h>

INLINE double score_of_sums(int64_t of_left, int64_t left, int64_t of_right, int64_t right) {
    return (double)of_left / (double)left + (double)of_right / (double)right;
}

/* Of two classes: `ones` of n points are of one, x of the `left` points on the left. */
INLINE double gini_of_two(int64_t n, int64_t ones, int64_t left, int64_t x) {
    int64_t right = n - left, y = ones - x;
    return score_of_sums(x * x + (left - x) * (left - x), left, y * y + (right - y) * (right - y), right);
}

#if LANES

/* Features that are left over are looked at one by one if they are at most so many. */
enum { FEW_FEATURES = 2 };

/* The largest number so far of each lane, none of which is negative, and the next one. */
typedef struct {
    floats most, next;
} top_two;

/* Lanes in which a number is the largest so far. */
INLINE ints raise_top(top_two *top, floats number) {
    ints is_new = number > top->most;
    top->next = larger(top->next, smaller(top->most, number));
    top->most = larger(top->most, number);
    return is_new;
}

/* Lanes whose next number is less than the largest by at most a share of it and an amount; and those that have none.
 */
INLINE unsigned unsure_lanes(top_two top, float share, float amount) {
    return bits_of_mask(top.next >= top.most - top.most * share - amount);
}

INLINE void write_scores(ints of_left, ints left, ints of_right, ints right, double *best) {
    int32_t a[LANES], b[LANES], c[LANES], d[LANES];
    store(a, of_left);
    store(b, left);
    store(c, of_right);
    store(d, right);
    for (int j = 0; j < LANES; j++) best[j] = score_of_sums(a[j], b[j], c[j], d[j]);
}

#endif

/* Cuts whose sums of squares are written: score them. */
INLINE void score_all_cuts(ptrdiff_t n_cuts, int32_t n, mrforest_cuts cuts) {
    for (ptrdiff_t i = 0; i < n_cuts; i++)
        cuts.of_left[i] = cuts.of_left[i] / (double)cuts.n_left[i] + cuts.of_right[i] / (double)(n - cuts.n_left[i]);
}

#endif
