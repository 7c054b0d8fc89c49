/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows down a tree, LANES of them side by side: while one waits for its node, the others go on.
 * Written in C because the lanes must be unrolled to stay in registers. */
#ifndef MRFOREST_WALK_H
#define MRFOREST_WALK_H
#include <stddef.h>
#include <stdint.h>

#define MRFOREST_LANES 8

#if defined(__clang__)
#define MRFOREST_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define MRFOREST_UNROLL _Pragma("GCC unroll 8")
#else
#define MRFOREST_UNROLL
#endif

/* A node of a fitted tree: 16 bytes, four to a cache line. Children are neighbours. */
typedef struct {
    double threshold; /* left if x <= threshold (x == threshold for an equality cut) */
    uint32_t feature; /* low 30 bits; flags in the two high ones */
    int32_t child;    /* left child, the right one is child + 1; a leaf: -1 - its number */
} MRForestNode;

#define MRFOREST_FEATURE 0x3FFFFFFFu
#define MRFOREST_MISSING_LEFT 0x40000000u
#define MRFOREST_EQUALITY 0x80000000u

/* 0 or 1, without a branch: which way a row goes is as good as random. */
static inline int32_t mrforest_goes_right(const MRForestNode *node, double x) {
    int32_t equality = (node->feature & MRFOREST_EQUALITY) != 0;
    int32_t missing_right = (node->feature & MRFOREST_MISSING_LEFT) == 0;
    return (x > node->threshold) | (equality & (x < node->threshold)) | (missing_right & (x != x));
}

/* The same where there is neither a missing value nor an equality cut. */
static inline int32_t mrforest_is_above(const MRForestNode *node, double x) {
    return x > node->threshold;
}

/* where[i]: the leaf node of row i. A lane that has arrived stays where it is until all have. */
#define MRFOREST_WALK(NAME, TURN)                                                              \
    static inline void NAME(const MRForestNode *nodes, const double *X, ptrdiff_t n_features,  \
                            ptrdiff_t n_rows, int32_t *where) {                                \
        ptrdiff_t i = 0;                                                                       \
        for (; i + MRFOREST_LANES <= n_rows; i += MRFOREST_LANES, X += MRFOREST_LANES * n_features) { \
            int32_t at[MRFOREST_LANES] = {0}, all_leaves;                                      \
            do {                                                                               \
                all_leaves = -1;                                                               \
                MRFOREST_UNROLL                                                                \
                for (int lane = 0; lane < MRFOREST_LANES; lane++) {                            \
                    const MRForestNode *node = nodes + at[lane];                               \
                    const double *x = X + lane * n_features;                                   \
                    int32_t is_leaf = node->child >> 31; /* -1 or 0 */                         \
                    int32_t next = node->child + TURN(node, x[node->feature & MRFOREST_FEATURE]); \
                    all_leaves &= is_leaf;                                                     \
                    at[lane] = is_leaf ? at[lane] : next;                                      \
                }                                                                              \
            } while (!all_leaves);                                                             \
            for (int lane = 0; lane < MRFOREST_LANES; lane++) where[i + lane] = at[lane];      \
        }                                                                                      \
        for (; i < n_rows; i++, X += n_features) {                                             \
            const MRForestNode *node = nodes;                                                  \
            while (node->child >= 0)                                                           \
                node = nodes + node->child + TURN(node, X[node->feature & MRFOREST_FEATURE]);  \
            where[i] = (int32_t)(node - nodes);                                                \
        }                                                                                      \
    }

MRFOREST_WALK(walk_any, mrforest_goes_right)
MRFOREST_WALK(walk_plain, mrforest_is_above)

#endif
