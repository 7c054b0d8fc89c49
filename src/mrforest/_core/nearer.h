/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether a row is at least as near to one row as to another: both squared Euclidean distances in
 * one pass. In a categorical feature the distance is 0 or 1; a feature in which one of the three is
 * missing is left out. */
#ifndef MRFOREST_NEARER_H
#define MRFOREST_NEARER_H
#include <stddef.h>
#include <stdint.h>

/* What a table asks for, from fast to slow. */
enum { MRFOREST_NUMBERS, MRFOREST_CATEGORIES, MRFOREST_GAPS };

/* One feature more. What is left out adds 0, which changes no sum, and needs no branch. */
static inline void mrforest_add_feature(double x, double p, double q, int is_categorical, int kind,
                                        double *to_p, double *to_q) {
    double a = x - p, b = x - q;
    double a2 = a * a, b2 = b * b;
    if (kind != MRFOREST_NUMBERS && is_categorical) {
        a2 = a != 0;
        b2 = b != 0;
    }
    int counts = kind != MRFOREST_GAPS || (a == a && b == b);
    *to_p += counts ? a2 : 0;
    *to_q += counts ? b2 : 0;
}

static inline int mrforest_nearer(const double *x, const double *p, const double *q, ptrdiff_t n,
                                  const uint8_t *is_categorical, int kind) {
    double to_p = 0, to_q = 0;
    for (ptrdiff_t f = 0; f < n; f++)
        mrforest_add_feature(x[f], p[f], q[f], is_categorical[f], kind, &to_p, &to_q);
    return to_p <= to_q;
}

/* Four rows at once: an addition waits for the one before it, but not for those of other rows.
 * Every sum is taken in the order of the features, so it is the same to the bit. */
static inline void mrforest_nearer_of_four(const double *X, const int32_t *rows, const double *p,
                                           const double *q, ptrdiff_t n, const uint8_t *is_categorical,
                                           int kind, uint8_t *left) {
    const double *x[4];
    double to_p[4] = {0}, to_q[4] = {0};
    for (int r = 0; r < 4; r++) x[r] = X + (ptrdiff_t)rows[r] * n;
    for (ptrdiff_t f = 0; f < n; f++)
        for (int r = 0; r < 4; r++)
            mrforest_add_feature(x[r][f], p[f], q[f], is_categorical[f], kind, &to_p[r], &to_q[r]);
    for (int r = 0; r < 4; r++) left[r] = to_p[r] <= to_q[r];
}

/* left[i]: whether row rows[i] of X is at least as near to p as to q. */
static inline void mrforest_compare(const double *X, const int32_t *rows, ptrdiff_t n_rows, const double *p,
                                    const double *q, ptrdiff_t n, const uint8_t *is_categorical, int kind,
                                    uint8_t *left) {
/* One loop for each kind: the compiler drops what a kind does not need. */
#define MRFOREST_LOOP(KIND)                                                                        \
    for (; i + 4 <= n_rows; i += 4)                                                                \
        mrforest_nearer_of_four(X, rows + i, p, q, n, is_categorical, KIND, left + i);             \
    for (; i < n_rows; i++)                                                                        \
        left[i] = (uint8_t)mrforest_nearer(X + (ptrdiff_t)rows[i] * n, p, q, n, is_categorical, KIND);
    ptrdiff_t i = 0;
    if (kind == MRFOREST_NUMBERS) {
        MRFOREST_LOOP(MRFOREST_NUMBERS)
    } else if (kind == MRFOREST_CATEGORIES) {
        MRFOREST_LOOP(MRFOREST_CATEGORIES)
    } else {
        MRFOREST_LOOP(MRFOREST_GAPS)
    }
#undef MRFOREST_LOOP
}

/* The same where, from some feature on, all distances are 0 or 1 and none is missing: categories,
 * and numbers that are 0 or 1. That part of a row is a few words of eight codes, and what it adds is
 * the number of bytes in which two rows differ. */
static inline int64_t mrforest_differences(const uint64_t *a, const uint64_t *b, ptrdiff_t n_words) {
    const uint64_t low = 0x7F7F7F7F7F7F7F7Fu, one = 0x0101010101010101u;
    int64_t total = 0;
    for (ptrdiff_t w = 0; w < n_words; w++) {
        uint64_t x = a[w] ^ b[w];
        x = (((x & low) + low) | x) & ~low; /* the high bit of each byte that is not 0 ... */
        total += (int64_t)(((x >> 7) * one) >> 56); /* ... and how many there are */
    }
    return total;
}

/* One after the other, so that the sum is rounded as often as that of the features. */
static inline double mrforest_add_ones(double sum, int64_t n) {
    for (; n > 0; n--) sum += 1;
    return sum;
}

/* n_plain features as they are, then words. */
static inline int mrforest_nearer_packed(const double *x, const double *p, const double *q, ptrdiff_t n_plain,
                                         const uint8_t *is_categorical, int kind, const uint64_t *x_words,
                                         const uint64_t *p_words, const uint64_t *q_words,
                                         ptrdiff_t n_words) {
    int64_t n_p = mrforest_differences(x_words, p_words, n_words);
    int64_t n_q = mrforest_differences(x_words, q_words, n_words);
    if (n_plain == 0) return n_p <= n_q;
    double to_p = 0, to_q = 0;
    for (ptrdiff_t f = 0; f < n_plain; f++)
        mrforest_add_feature(x[f], p[f], q[f], is_categorical[f], kind, &to_p, &to_q);
    return mrforest_add_ones(to_p, n_p) <= mrforest_add_ones(to_q, n_q);
}

#endif
