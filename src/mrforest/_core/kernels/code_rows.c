/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Values to codes: how many ascending numbers lie below a value. Rows that are predicted are coded by the thresholds
 * of the forest: then nodes ask for a byte or two of a row instead of a double, and are half as large themselves. */
#include "kernels.h"
#include "lanes.h"

#include <math.h>

enum { MOST_BELOW = 16 };

/* All rows take the same steps, and none waits for another. */
INLINE void count_below_of(const double *values, int32_t n_values, const double *x, ptrdiff_t stride, const int n,
                           int32_t *below) {
    double value[MOST_BELOW];
    int32_t found[MOST_BELOW];
    for (int i = 0; i < n; i++) value[i] = x[i * stride], found[i] = 0;
    /* Invariant: the answer lies in [found, found + length]. */
    for (int32_t length = n_values; length > 0;) {
        int32_t half = (length + 1) >> 1;
        for (int i = 0; i < n; i++) {
            int32_t is_above = values[found[i] + half - 1] < value[i];
            found[i] += half & -is_above;
        }
        length -= half;
    }
    for (int i = 0; i < n; i++) below[i] = found[i];
}

/* With a number of rows that the compiler knows, where that is a usual one, they stay in registers. */
SCALAR static void count_below(const double *values, int32_t n_values, const double *x, ptrdiff_t stride, int n,
                               int32_t *below) {
    if (n == 16) count_below_of(values, n_values, x, stride, 16, below);
    else count_below_of(values, n_values, x, stride, n, below);
}

/* Codes of up to ROWS_TOGETHER rows in a column, none of which is missing. */
INLINE void code_some(const mrforest_column *column, const double *X, ptrdiff_t n_features, int n, int32_t *codes) {
    const double *x = X + column->feature;
    if (column->is_equality)
        for (int i = 0; i < n; i++) codes[i] = x[i * n_features] != column->values[0];
    else if (n == ROWS_TOGETHER)
        count_below_of(column->values, column->n_values, x, n_features, ROWS_TOGETHER, codes);
    else count_below_of(column->values, column->n_values, x, n_features, n, codes);
}

#define CODE_ROWS(NAME, CODE)                                                                        \
    SCALAR static void NAME(const mrforest_column *columns, ptrdiff_t n_columns, const double *X,    \
                            ptrdiff_t n_features, ptrdiff_t n_rows, CODE *codes, ptrdiff_t stride) { \
        for (ptrdiff_t i = 0; i < n_rows; i += ROWS_TOGETHER) {                                      \
            const int n = n_rows - i < ROWS_TOGETHER ? (int)(n_rows - i) : ROWS_TOGETHER;            \
            for (ptrdiff_t j = 0; j < n_columns; j++) {                                              \
                int32_t some[ROWS_TOGETHER];                                                         \
                code_some(columns + j, X + i * n_features, n_features, n, some);                     \
                for (int r = 0; r < n; r++) codes[(i + r) * stride + j] = (CODE)some[r];             \
            }                                                                                        \
        }                                                                                            \
    }

CODE_ROWS(code_bytes, uint8_t)
CODE_ROWS(code_shorts, uint16_t)
#undef CODE_ROWS

static int has_missing(const double *X, ptrdiff_t n) {
    some_words missing = {0};
    int is_missing = 0;
    ptrdiff_t i = 0;
    for (; i + SOME_WORDS <= n; i += SOME_WORDS) {
        const some_doubles x = load_doubles(X + i);
        missing |= WHERE(x != x);
    }
    for (; i < n; i++) is_missing |= isnan(X[i]);
    return is_missing | any_bit(missing);
}
