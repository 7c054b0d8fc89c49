/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Norms of class counts, many at once: the largest whole numbers below the roots of sums of powers. */
#include "kernels.h"
#include "lanes.h"

#include <math.h>
#include <string.h>

/* The largest whole number below 0 <= x < 2^51, or the next one if x is not far from that. Seldom
 * wrong, so that what asks for it is foreseen; and right for whole numbers. */
INLINE double about_floor(double x) {
    const double shift = (double)(3LL << 51); /* numbers of this size have no digits behind the point */
    return (x - 0.499 + shift) - shift;
}

/* Cube roots, right to a share of 7 10^-15; of 0, some number below 1. */
INLINE void guess_cube_roots(const double *x, ptrdiff_t n, double *out) {
    uint64_t bits[MRFOREST_LEAVES];
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
INLINE void square_roots(const double *x, ptrdiff_t n, double *out) {
    for (ptrdiff_t i = 0; i < n; i++) {
        double found = about_floor(sqrt(x[i]));
        out[i] = found - (found * found > x[i] ? 1.0 : 0.0);
    }
}

INLINE void cube_roots(const double *x, ptrdiff_t n, double *out) {
    guess_cube_roots(x, n, out);
    for (ptrdiff_t i = 0; i < n; i++) {
        double found = about_floor(out[i]);
        found -= found * found * found > x[i] ? 1.0 : 0.0;
        double more = found + 1;
        out[i] = found + (more * more * more <= x[i] ? 1.0 : 0.0);
    }
}

INLINE void roots_of_root_cubes(const double *x, ptrdiff_t n, double *out) {
    guess_cube_roots(x, n, out);
    for (ptrdiff_t i = 0; i < n; i++) {
        double found = about_floor(out[i] * out[i]);
        found -= found * sqrt(found) > x[i] ? 1.0 : 0.0;
        double more = found + 1;
        out[i] = found + (more * sqrt(more) <= x[i] ? 1.0 : 0.0);
    }
}

INLINE double raised(double x, double norm) { return norm == 3 ? x * x * x : norm == 2 ? x * x : x * sqrt(x); }

/* Whole numbers below 2^51 as such, several at once: that many are added to 2^52, whose last bit is
 * worth 1. */
INLINE void write_whole(const double *x, ptrdiff_t n, int64_t *out) {
    const double shift = (double)(1LL << 52);
    double shifted[MRFOREST_LEAVES];
    int64_t zero;
    memcpy(&zero, &shift, sizeof zero);
    for (ptrdiff_t i = 0; i < n; i++) shifted[i] = x[i] + shift;
    memcpy(out, shifted, n * sizeof(double));
    for (ptrdiff_t i = 0; i < n; i++) out[i] -= zero;
}

/* Norms times 2^scale_bits, an even number of bits, from sums of powers; these are multiplied in
 * place. A factor that is a power of two rounds nothing, so it may come last. */
INLINE void roots(double norm, int scale_bits, double *total, ptrdiff_t n, int64_t *out) {
    double found[MRFOREST_LEAVES], factor = raised((double)(1LL << scale_bits), norm);
    for (ptrdiff_t i = 0; i < n; i++) total[i] *= factor;
    if (norm == 3) cube_roots(total, n, found);
    else if (norm == 2) square_roots(total, n, found);
    else roots_of_root_cubes(total, n, found);
    write_whole(found, n, out);
}

/* A loop for each norm: the compiler drops what it does not need. */
#define BY_NORM(norm, LOOP) \
    if (norm == 3) {        \
        LOOP(3)             \
    } else if (norm == 2) { \
        LOOP(2)             \
    } else {                \
        LOOP(1.5)           \
    }

static void norms(double norm, int scale_bits, ptrdiff_t n_classes, const int32_t *counts, ptrdiff_t stride,
                  ptrdiff_t n, int is_large, int64_t *out) {
    double total[MRFOREST_LEAVES] = {0};
#define ADD(NORM)                                                                           \
    for (ptrdiff_t k = 0; k < n_classes; k++)                                               \
        for (ptrdiff_t i = 0; i < n; i++) total[i] += raised(counts[k * stride + i], NORM); \
    roots(NORM, scale_bits, total, n, out);
    BY_NORM(norm, ADD)
#undef ADD
    /* Of so many points, what was found may be off by more than 1. */
    for (ptrdiff_t i = 0; is_large && i < n; i++) {
        while (raised((double)out[i], norm) > total[i]) out[i]--;
        while (raised((double)(out[i] + 1), norm) <= total[i]) out[i]++;
    }
}

static void norms_of_pairs(double norm, int scale_bits, ptrdiff_t n_classes, const int32_t *near,
                           const int32_t *sides, ptrdiff_t stride, const int32_t *side, const int32_t *whole,
                           ptrdiff_t n, int64_t *nn, int64_t *nf, int64_t *fn, int64_t *ff) {
    double total[4][MRFOREST_LEAVES];
#define ADD(NORM)                                                      \
    for (ptrdiff_t k = 0; k < n_classes; k++) {                        \
        const int32_t *a = near + k * stride, *b = sides + k * stride; \
        int32_t first = side[k], second = whole[k] - side[k];          \
        for (ptrdiff_t i = 0; i < n; i++) {                            \
            total[0][i] += raised(a[i], NORM);                         \
            total[1][i] += raised(first - a[i], NORM);                 \
            total[2][i] += raised(b[i] - a[i], NORM);                  \
            total[3][i] += raised(second - (b[i] - a[i]), NORM);       \
        }                                                              \
    }                                                                  \
    roots(NORM, scale_bits, total[0], n, nn);                          \
    roots(NORM, scale_bits, total[1], n, nf);                          \
    roots(NORM, scale_bits, total[2], n, fn);                          \
    roots(NORM, scale_bits, total[3], n, ff);
    for (int q = 0; q < 4; q++)
        for (ptrdiff_t i = 0; i < n; i++) total[q][i] = 0;
    BY_NORM(norm, ADD)
#undef ADD
}
