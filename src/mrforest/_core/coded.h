/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows down a tree as walk.h has it, but in codes: a node asks for a byte or two of a row instead of a
 * double, and is half as large, so that more of both is in the cache. A leaf is its own child, so a lane
 * that has arrived stays there without being asked whether it has. */
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

/* Right if the code of the column is above `high`; no code is above that of a leaf. */
typedef struct {
    int32_t child;
    uint16_t column;
    uint16_t high;
} MRForestCodedNode;

#define MRFOREST_CODED(CODE_ROWS, WALK_CODES, CODE)                                            \
    /* Codes of rows without missing values, rows x columns. */                                \
    static inline void CODE_ROWS(const MRForestColumn *columns, ptrdiff_t n_columns,           \
                                 const double *X, ptrdiff_t n_features, ptrdiff_t n_rows,      \
                                 CODE *codes) {                                                \
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
                    codes[(i + lane) * n_columns + j] = (CODE)code[lane];                      \
            }                                                                                  \
        }                                                                                      \
    }                                                                                          \
                                                                                               \
    /* where[i]: the leaf node of row i. */                                                    \
    static inline void WALK_CODES(const MRForestCodedNode *nodes, const CODE *codes,           \
                                  ptrdiff_t n_columns, ptrdiff_t n_rows, int32_t *where) {     \
        ptrdiff_t i = 0;                                                                       \
        for (; i + MRFOREST_LANES <= n_rows; i += MRFOREST_LANES) {                            \
            int32_t at[MRFOREST_LANES] = {0}, moves;                                           \
            do {                                                                               \
                moves = 0;                                                                     \
                MRFOREST_UNROLL                                                                \
                for (int lane = 0; lane < MRFOREST_LANES; lane++) {                            \
                    const MRForestCodedNode node = nodes[at[lane]];                            \
                    int32_t next = node.child + (codes[(i + lane) * n_columns + node.column] > node.high); \
                    moves |= next ^ at[lane];                                                  \
                    at[lane] = next;                                                           \
                }                                                                              \
            } while (moves);                                                                   \
            for (int lane = 0; lane < MRFOREST_LANES; lane++) where[i + lane] = at[lane];      \
        }                                                                                      \
        for (; i < n_rows; i++) {                                                              \
            int32_t at = -1, next = 0;                                                         \
            while (next != at) {                                                               \
                at = next;                                                                     \
                next = nodes[at].child + (codes[i * n_columns + nodes[at].column] > nodes[at].high); \
            }                                                                                  \
            where[i] = at;                                                                     \
        }                                                                                      \
    }

MRFOREST_CODED(code_bytes, walk_bytes, uint8_t)
MRFOREST_CODED(code_shorts, walk_shorts, uint16_t)

#endif
