/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether a row is at least as near to one row as to another: both squared Euclidean distances in
 * one pass. A feature in which one of the three is missing is left out; in a categorical feature
 * the distance is 0 or 1. */
#ifndef MRFOREST_NEARER_H
#define MRFOREST_NEARER_H
#include <stddef.h>
#include <stdint.h>

static inline int mrforest_nearer_plain(const double *x, const double *p, const double *q, ptrdiff_t n) {
    double to_p = 0, to_q = 0;
    for (ptrdiff_t f = 0; f < n; f++) {
        double a = x[f] - p[f], b = x[f] - q[f];
        to_p += a * a;
        to_q += b * b;
    }
    return to_p <= to_q;
}

static inline int mrforest_nearer(const double *x, const double *p, const double *q, ptrdiff_t n,
                                  const uint8_t *is_categorical) {
    double to_p = 0, to_q = 0;
    for (ptrdiff_t f = 0; f < n; f++) {
        double a = x[f] - p[f], b = x[f] - q[f];
        if (is_categorical[f]) {
            a = a == 0 ? 0 : a / a; /* NaN stays NaN */
            b = b == 0 ? 0 : b / b;
        }
        double a2 = a * a, b2 = b * b;
        int known = a2 == a2 && b2 == b2;
        to_p += known ? a2 : 0;
        to_q += known ? b2 : 0;
    }
    return to_p <= to_q;
}

#endif
