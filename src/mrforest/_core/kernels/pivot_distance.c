/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether a row is at least as near to one row as to another: both squared Euclidean distances in
 * one pass. In a categorical feature the distance is 0 or 1; a feature in which one of the three is
 * missing is left out. */
#include "kernels.h"
#include "lanes.h"

/* One feature more. What is left out adds 0, which changes no sum, and needs no branch. */
INLINE void add_feature(double x, double p, double q, int is_categorical, mrforest_distance kind, double *to_p,
                        double *to_q) {
    double a = x - p, b = x - q;
    double a2 = a * a, b2 = b * b;
    if (kind != MRFOREST_NUMBERS && is_categorical) {
        a2 = a != 0;
        b2 = b != 0;
    }
    int is_known = kind != MRFOREST_GAPS || (a == a && b == b);
    *to_p += is_known ? a2 : 0;
    *to_q += is_known ? b2 : 0;
}

INLINE int is_nearer_in(const double *x, const double *p, const double *q, ptrdiff_t n, const uint8_t *is_categorical,
                        mrforest_distance kind) {
    double to_p = 0, to_q = 0;
    for (ptrdiff_t f = 0; f < n; f++) add_feature(x[f], p[f], q[f], is_categorical[f], kind, &to_p, &to_q);
    return to_p <= to_q;
}

/* Four rows at once: an addition waits for the one before it, but not for those of other rows.
 * Every sum is taken in the order of the features, so it is the same to the bit. */
INLINE void nearer_of_four(const double *X, const int32_t *rows, const double *p, const double *q, ptrdiff_t n,
                           const uint8_t *is_categorical, mrforest_distance kind, uint8_t *left) {
    const double *x[4];
    double to_p[4] = {0}, to_q[4] = {0};
    for (int r = 0; r < 4; r++) x[r] = X + (ptrdiff_t)rows[r] * n;
    for (ptrdiff_t f = 0; f < n; f++)
        for (int r = 0; r < 4; r++) add_feature(x[r][f], p[f], q[f], is_categorical[f], kind, &to_p[r], &to_q[r]);
    for (int r = 0; r < 4; r++) left[r] = to_p[r] <= to_q[r];
}

static int is_nearer(const double *x, const double *p, const double *q, ptrdiff_t n, const uint8_t *is_categorical,
                     mrforest_distance kind) {
    return is_nearer_in(x, p, q, n, is_categorical, kind);
}

static void compare(const double *X, const int32_t *rows, ptrdiff_t n_rows, const double *p, const double *q,
                    ptrdiff_t n, const uint8_t *is_categorical, mrforest_distance kind, uint8_t *left) {
/* One loop for each kind: the compiler drops what a kind does not need. */
#define LOOP(KIND)                                                                                        \
    for (; i + 4 <= n_rows; i += 4) nearer_of_four(X, rows + i, p, q, n, is_categorical, KIND, left + i); \
    for (; i < n_rows; i++)                                                                               \
        left[i] = (uint8_t)is_nearer_in(X + (ptrdiff_t)rows[i] * n, p, q, n, is_categorical, KIND);
    ptrdiff_t i = 0;
    if (kind == MRFOREST_NUMBERS) {
        LOOP(MRFOREST_NUMBERS)
    } else if (kind == MRFOREST_CATEGORIES) {
        LOOP(MRFOREST_CATEGORIES)
    } else {
        LOOP(MRFOREST_GAPS)
    }
#undef LOOP
}

/* The same where, from some feature on, all distances are 0 or 1 and none is missing: categories,
 * and numbers that are 0 or 1. That part of a row is words of bits, those of 64 features after those
 * of another 64; for each 64 there is a word of the lowest bits of their codes, one of the next bits,
 * and so on. What it adds is the number of features in which two rows differ in any bit. */
INLINE int64_t differences(const uint64_t *a, const uint64_t *b, mrforest_packing packing) {
    int64_t total = 0;
    for (ptrdiff_t w = 0; w < packing.n_words; w += packing.n_bits) {
        uint64_t differ = 0;
        for (ptrdiff_t bit = w; bit < w + packing.n_bits; bit++) differ |= a[bit] ^ b[bit];
        total += __builtin_popcountll(differ);
    }
    return total;
}

/* Ones one after the other, so that the sum is rounded as often as that of the features. */
INLINE double add_ones(double sum, int64_t n) {
    for (; n > 0; n--) sum += 1;
    return sum;
}

/* Whether sum_p, and then n_p times 1, is at most the same of q. Adding n ones at once and one by one
 * differ by less than n units of the sum's last place; further apart, rounding does not decide. */
INLINE int is_at_most(double sum_p, int64_t n_p, double sum_q, int64_t n_q) {
    double to_p = sum_p + (double)n_p, to_q = sum_q + (double)n_q;
    double apart = (double)(n_p + n_q + 2) * 0x1p-52 * (to_p + to_q);
    if (to_p + apart < to_q) return 1;
    if (to_q + apart < to_p) return 0;
    return add_ones(sum_p, n_p) <= add_ones(sum_q, n_q);
}

INLINE int is_nearer_in_words(const double *x, const double *p, const double *q, const uint8_t *is_categorical,
                              mrforest_distance kind, const uint64_t *x_words, const uint64_t *p_words,
                              const uint64_t *q_words, mrforest_packing packing) {
    int64_t n_p = differences(x_words, p_words, packing);
    int64_t n_q = differences(x_words, q_words, packing);
    if (packing.n_plain == 0) return n_p <= n_q;
    double to_p = 0, to_q = 0;
    for (ptrdiff_t f = 0; f < packing.n_plain; f++)
        add_feature(x[f], p[f], q[f], is_categorical[f], kind, &to_p, &to_q);
    return is_at_most(to_p, n_p, to_q, n_q);
}

static int is_nearer_packed(const double *x, const double *p, const double *q, const uint8_t *is_categorical,
                            mrforest_distance kind, const uint64_t *x_words, const uint64_t *p_words,
                            const uint64_t *q_words, mrforest_packing packing) {
    return is_nearer_in_words(x, p, q, is_categorical, kind, x_words, p_words, q_words, packing);
}

static void compare_packed(const double *X, const int32_t *rows, ptrdiff_t n_rows, ptrdiff_t p, ptrdiff_t q,
                           ptrdiff_t n, const uint8_t *is_categorical, mrforest_distance kind, const uint64_t *words,
                           mrforest_packing packing, uint8_t *left) {
    ptrdiff_t n_words = packing.n_words;
    for (ptrdiff_t i = 0; i < n_rows; i++)
        left[i] =
            (uint8_t)is_nearer_in_words(X + rows[i] * n, X + p * n, X + q * n, is_categorical, kind,
                                        words + rows[i] * n_words, words + p * n_words, words + q * n_words, packing);
}
