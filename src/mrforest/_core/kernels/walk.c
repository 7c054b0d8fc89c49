/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows down a tree, ROWS_TOGETHER of them side by side: while one waits for its node, the others go on. */
#include "kernels.h"
#include "lanes.h"

/* 0 or 1, without a branch: which way a row goes is as good as random. */
INLINE int32_t goes_right(const mrforest_node *node, double x) {
    int32_t equality = (node->feature & MRFOREST_EQUALITY) != 0;
    int32_t missing_right = (node->feature & MRFOREST_MISSING_LEFT) == 0;
    return (x > node->threshold) | (equality & (x < node->threshold)) | (missing_right & (x != x));
}

/* The same where there is neither a missing value nor an equality cut. */
INLINE int32_t is_above(const mrforest_node *node, double x) { return x > node->threshold; }

/* A row that has arrived stays where it is until all have. */
#define WALK(NAME, TURN)                                                                                           \
    static void NAME(const mrforest_node *nodes, const double *X, ptrdiff_t n_features, ptrdiff_t n_rows,          \
                     int32_t *where) {                                                                             \
        ptrdiff_t i = 0;                                                                                           \
        for (; i + ROWS_TOGETHER <= n_rows; i += ROWS_TOGETHER, X += ROWS_TOGETHER * n_features) {                 \
            int32_t at[ROWS_TOGETHER] = {0}, all_leaves;                                                           \
            do {                                                                                                   \
                all_leaves = -1;                                                                                   \
                UNROLL                                                                                             \
                for (int r = 0; r < ROWS_TOGETHER; r++) {                                                          \
                    const mrforest_node *node = nodes + at[r];                                                     \
                    const double *x = X + r * n_features;                                                          \
                    int32_t is_leaf = node->child >> 31; /* -1 or 0 */                                             \
                    int32_t next = node->child + TURN(node, x[node->feature & MRFOREST_FEATURE]);                  \
                    all_leaves &= is_leaf;                                                                         \
                    at[r] = is_leaf ? at[r] : next;                                                                \
                }                                                                                                  \
            } while (!all_leaves);                                                                                 \
            for (int r = 0; r < ROWS_TOGETHER; r++) where[i + r] = at[r];                                          \
        }                                                                                                          \
        for (; i < n_rows; i++, X += n_features) {                                                                 \
            const mrforest_node *node = nodes;                                                                     \
            while (node->child >= 0) node = nodes + node->child + TURN(node, X[node->feature & MRFOREST_FEATURE]); \
            where[i] = (int32_t)(node - nodes);                                                                    \
        }                                                                                                          \
    }

WALK(walk_any, goes_right)
WALK(walk_plain, is_above)
#undef WALK
