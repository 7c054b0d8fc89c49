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

static inline int mrforest_nearer(const double *x, const double *p, const double *q, ptrdiff_t n,
                                  const uint8_t *is_categorical, int kind) {
    double to_p = 0, to_q = 0;
    for (ptrdiff_t f = 0; f < n; f++) {
        double a = x[f] - p[f], b = x[f] - q[f];
        double a2 = a * a, b2 = b * b;
        if (kind != MRFOREST_NUMBERS && is_categorical[f]) {
            a2 = a != 0;
            b2 = b != 0;
        }
        if (kind == MRFOREST_GAPS && (a != a || b != b)) continue;
        to_p += a2;
        to_q += b2;
    }
    return to_p <= to_q;
}

/* left[i]: whether row rows[i] of X is at least as near to p as to q. */
static inline void mrforest_compare(const double *X, const int32_t *rows, ptrdiff_t n_rows, const double *p,
                                    const double *q, ptrdiff_t n, const uint8_t *is_categorical, int kind,
                                    uint8_t *left) {
/* One loop for each kind: the compiler drops what a kind does not need. */
#define MRFOREST_LOOP(KIND)                                                                       \
    for (ptrdiff_t i = 0; i < n_rows; i++)                                                         \
        left[i] = (uint8_t)mrforest_nearer(X + (ptrdiff_t)rows[i] * n, p, q, n, is_categorical, KIND);
    if (kind == MRFOREST_NUMBERS) {
        MRFOREST_LOOP(MRFOREST_NUMBERS)
    } else if (kind == MRFOREST_CATEGORIES) {
        MRFOREST_LOOP(MRFOREST_CATEGORIES)
    } else {
        MRFOREST_LOOP(MRFOREST_GAPS)
    }
#undef MRFOREST_LOOP
}

/* The same where all features are categorical and none is missing: a row is a few words of eight
 * category codes, and a distance is the number of bytes in which two rows differ. */
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

static inline void mrforest_compare_packed(const uint64_t *words, const int32_t *rows, ptrdiff_t n_rows,
                                           ptrdiff_t p, ptrdiff_t q, ptrdiff_t n_words, uint8_t *left) {
    for (ptrdiff_t i = 0; i < n_rows; i++) {
        const uint64_t *x = words + (ptrdiff_t)rows[i] * n_words;
        left[i] = mrforest_differences(x, words + p * n_words, n_words)
                  <= mrforest_differences(x, words + q * n_words, n_words);
    }
}

#endif
