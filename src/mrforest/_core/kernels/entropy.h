/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Entropy scores of cuts, in whole numbers.
 *
 *     sum f(l_c) - f(L)  +  sum f(r_c) - f(R)         f(x) = x log x, rounded to multiples of 2^-26
 *
 * l_c and r_c points of class c lie on the sides of a cut, L and R of all classes. */
#ifndef MRFOREST_ENTROPY_H
#define MRFOREST_ENTROPY_H
#include "lanes.h"

INLINE double from_fixed(int64_t score) { return (double)score * 0x1p-26; }

/* Of two classes, `ones_left` of the `left` points on the left are of one, of which there are `ones`. */
INLINE double entropy_of_two(const int64_t *f, int64_t n, int64_t ones, int64_t left, int64_t ones_left) {
    int64_t right = n - left, ones_right = ones - ones_left;
    return from_fixed(f[ones_left] + f[left - ones_left] + f[ones_right] + f[right - ones_right] - f[left] -
                      f[right]);
}

#endif
