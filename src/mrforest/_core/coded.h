/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows in codes, and nodes that ask for them: for a byte or two of a row instead of a double. A node is half as
 * large as well, so that more of both is in the cache. */
#ifndef MRFOREST_CODED_H
#define MRFOREST_CODED_H
#include <stddef.h>
#include <stdint.h>
#include "below.h"
#include "walk.h"

/* A column of codes tells where a row lies among the thresholds of a feature, or whether it differs from
 * one of them. */
typedef struct {
    const double *values; /* thresholds, ascending */
    int32_t n_values;
    int32_t feature;
    int32_t is_equality; /* then there is one value */
} MRForestColumn;

/* Right if the code of the column is above `high`. A leaf is its own child, and no code is above its own. */
typedef struct {
    int32_t child;
    uint16_t column;
    uint16_t high;
} MRForestCodedNode;

#define MRFOREST_CODED(CODE_ROWS, CODE)                                                        \
    /* Codes of rows without missing values, rows x columns, `stride` from row to row. */      \
    static inline void CODE_ROWS(const MRForestColumn *columns, ptrdiff_t n_columns,           \
                                 const double *X, ptrdiff_t n_features, ptrdiff_t n_rows,      \
                                 CODE *codes, ptrdiff_t stride) {                              \
        for (ptrdiff_t i = 0; i < n_rows; i += MRFOREST_LANES) {                               \
            int lanes = n_rows - i < MRFOREST_LANES ? (int)(n_rows - i) : MRFOREST_LANES;      \
            for (ptrdiff_t j = 0; j < n_columns; j++) {                                        \
                int32_t code[MRFOREST_LANES];                                                  \
                const double *x = X + i * n_features + columns[j].feature;                     \
                if (columns[j].is_equality)                                                    \
                    for (int lane = 0; lane < lanes; lane++)                                   \
                        code[lane] = x[lane * n_features] != columns[j].values[0];             \
                else                                                                           \
                    mrforest_count_below(columns[j].values, columns[j].n_values, x, n_features,\
                                         lanes, code);                                         \
                for (int lane = 0; lane < lanes; lane++)                                       \
                    codes[(i + lane) * stride + j] = (CODE)code[lane];                         \
            }                                                                                  \
        }                                                                                      \
    }

MRFOREST_CODED(code_bytes, uint8_t)
MRFOREST_CODED(code_shorts, uint16_t)

#endif
