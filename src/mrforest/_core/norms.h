/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Norms of class counts, many at once: the largest whole numbers below the roots of sums of powers.
 * Written in C because of MRFOREST_WIDE. */
#ifndef MRFOREST_NORMS_H
#define MRFOREST_NORMS_H
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "wide.h"

#define MRFOREST_NORMS 128 /* at most: LANES of weight.pxd */

/* The largest whole number below 0 <= x < 2^51, or the next one if x is not far from that. Seldom
 * wrong, so that what asks for it is foreseen; and right for whole numbers. */
static inline double mrforest_about_floor(double x) {
    const double shift = (double)(3LL << 51); /* numbers of this size have no digits behind the point */
    return (x - 0.499 + shift) - shift;
}

/* Cube roots, right to a share of 7 10^-15; of 0, some number below 1. */
static MRFOREST_INLINE void mrforest_guess_cube_roots(const double *x, ptrdiff_t n, double *out) {
    uint64_t bits[MRFOREST_NORMS];
    for (ptrdiff_t i = 0; i < n; i++) out[i] = x[i] > 1 ? x[i] : 1.0;
    memcpy(bits, out, n * sizeof(double));
    /* A third of the exponent: right to 3.3 %. Halley's step triples the digits. */
    for (ptrdiff_t i = 0; i < n; i++)
        bits[i] = (((bits[i] >> 32) * (uint64_t)0x55555556 >> 32) + (uint64_t)0x2A9F7893) << 32;
    memcpy(out, bits, n * sizeof(double));
    for (ptrdiff_t i = 0; i < n; i++) {
        double root = out[i], cube = root * root * root;
        root *= (cube + 2 * x[i]) / (2 * cube + x[i]);
        cube = root * root * root;
        out[i] = root * ((cube + 2 * x[i]) / (2 * cube + x[i]));
    }
}

/* Below 2^26 points a root is below 2^42, and the guess, right to 1 in 2^46, is off by less than 1. */
static MRFOREST_INLINE void mrforest_square_roots(const double *x, ptrdiff_t n, double *out) {
    for (ptrdiff_t i = 0; i < n; i++) {
        double found = mrforest_about_floor(sqrt(x[i]));
        out[i] = found - (found * found > x[i] ? 1.0 : 0.0);
    }
}

static MRFOREST_INLINE void mrforest_cube_roots(const double *x, ptrdiff_t n, double *out) {
    mrforest_guess_cube_roots(x, n, out);
    for (ptrdiff_t i = 0; i < n; i++) {
        double found = mrforest_about_floor(out[i]);
        found -= found * found * found > x[i] ? 1.0 : 0.0;
        double more = found + 1;
        out[i] = found + (more * more * more <= x[i] ? 1.0 : 0.0);
    }
}

static MRFOREST_INLINE void mrforest_roots_of_root_cubes(const double *x, ptrdiff_t n, double *out) {
    mrforest_guess_cube_roots(x, n, out);
    for (ptrdiff_t i = 0; i < n; i++) {
        double found = mrforest_about_floor(out[i] * out[i]);
        found -= found * sqrt(found) > x[i] ? 1.0 : 0.0;
        double more = found + 1;
        out[i] = found + (more * sqrt(more) <= x[i] ? 1.0 : 0.0);
    }
}

static MRFOREST_INLINE double mrforest_raised(double x, double norm) {
    return norm == 3 ? x * x * x : norm == 2 ? x * x : x * sqrt(x);
}

/* Whole numbers below 2^51 as such, several at once: that many are added to 2^52, whose last bit is
 * worth 1. */
static MRFOREST_INLINE void mrforest_to_whole(const double *x, ptrdiff_t n, int64_t *out) {
    const double shift = (double)(1LL << 52);
    double shifted[MRFOREST_NORMS];
    int64_t zero;
    memcpy(&zero, &shift, sizeof zero);
    for (ptrdiff_t i = 0; i < n; i++) shifted[i] = x[i] + shift;
    memcpy(out, shifted, n * sizeof(double));
    for (ptrdiff_t i = 0; i < n; i++) out[i] -= zero;
}

/* Norms times 2^scale_bits, an even number of bits, from sums of powers; these are multiplied in
 * place. A factor that is a power of two rounds nothing, so it may come last. */
static MRFOREST_INLINE void mrforest_roots(double norm, int scale_bits, double *total, ptrdiff_t n,
                                           int64_t *out) {
    double found[MRFOREST_NORMS], factor = mrforest_raised((double)(1LL << scale_bits), norm);
    for (ptrdiff_t i = 0; i < n; i++) total[i] *= factor;
    if (norm == 3)
        mrforest_cube_roots(total, n, found);
    else if (norm == 2)
        mrforest_square_roots(total, n, found);
    else
        mrforest_roots_of_root_cubes(total, n, found);
    mrforest_to_whole(found, n, out);
}

/* A loop for each norm: the compiler drops what it does not need. */
#define MRFOREST_BY_NORM(norm, LOOP) \
    if (norm == 3) {                 \
        LOOP(3)                      \
    } else if (norm == 2) {          \
        LOOP(2)                      \
    } else {                         \
        LOOP(1.5)                    \
    }

/* Norms (1.5, 2 or 3) of n leaves from their counts: those of a class are `stride` apart from those of
 * the next. */
MRFOREST_WIDE static void mrforest_norms(double norm, int scale_bits, ptrdiff_t n_classes,
                                         const int32_t *counts, ptrdiff_t stride, ptrdiff_t n,
                                         double *total, int64_t *out) {
#define MRFOREST_ADD(NORM)                                                                             \
    for (ptrdiff_t k = 0; k < n_classes; k++)                                                          \
        for (ptrdiff_t i = 0; i < n; i++) total[i] += mrforest_raised(counts[k * stride + i], NORM);   \
    mrforest_roots(NORM, scale_bits, total, n, out);
    for (ptrdiff_t i = 0; i < n; i++) total[i] = 0;
    MRFOREST_BY_NORM(norm, MRFOREST_ADD)
#undef MRFOREST_ADD
}

/* Norms of the four leaves of n pairs of ways: `near` has the counts of the first one, `sides` those of
 * the first and the third together, `side` of the first and the second, `whole` of all four. */
MRFOREST_WIDE static void mrforest_norms_of_pairs(double norm, int scale_bits, ptrdiff_t n_classes,
                                                  const int32_t *near, const int32_t *sides,
                                                  ptrdiff_t stride, const int32_t *side,
                                                  const int32_t *whole, ptrdiff_t n, int64_t *nn,
                                                  int64_t *nf, int64_t *fn, int64_t *ff) {
    double total[4][MRFOREST_NORMS];
#define MRFOREST_ADD(NORM)                                                                             \
    for (ptrdiff_t k = 0; k < n_classes; k++) {                                                        \
        const int32_t *a = near + k * stride, *b = sides + k * stride;                                 \
        int32_t first = side[k], second = whole[k] - side[k];                                          \
        for (ptrdiff_t i = 0; i < n; i++) {                                                            \
            total[0][i] += mrforest_raised(a[i], NORM);                                                \
            total[1][i] += mrforest_raised(first - a[i], NORM);                                        \
            total[2][i] += mrforest_raised(b[i] - a[i], NORM);                                         \
            total[3][i] += mrforest_raised(second - (b[i] - a[i]), NORM);                              \
        }                                                                                              \
    }                                                                                                  \
    mrforest_roots(NORM, scale_bits, total[0], n, nn);                                                 \
    mrforest_roots(NORM, scale_bits, total[1], n, nf);                                                 \
    mrforest_roots(NORM, scale_bits, total[2], n, fn);                                                 \
    mrforest_roots(NORM, scale_bits, total[3], n, ff);
    for (int q = 0; q < 4; q++)
        for (ptrdiff_t i = 0; i < n; i++) total[q][i] = 0;
    MRFOREST_BY_NORM(norm, MRFOREST_ADD)
#undef MRFOREST_ADD
}

#endif
