/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows down a tree as walk.h has it, but in codes. A leaf leads to itself, so a row that has arrived stays there
 * without being asked whether it has.
 *
 * Rows go some levels down without a question; those that have not arrived then go on a few levels at a time, close
 * together, so that a row that lies deep keeps no other from leaving. */
#ifndef MRFOREST_DESCENT_H
#define MRFOREST_DESCENT_H
#include <stddef.h>
#include <stdint.h>
#include "coded.h"
#include "walk.h"

/* A node of four bytes, where a tree has few enough nodes and a table few enough columns. From the low bits: the code
 * that a code must be above to go right, the column, and how many nodes further on the left child is: none if it is
 * a leaf. No code of a byte is above that of a leaf. */
typedef uint32_t MRForestSlimNode;

/* Levels that rows go on at least, once they have gone `levels`: where trees are deep, rows have far to go. */
static inline int mrforest_more_levels(int levels) { return levels < 12 ? 4 : levels / 3; }

static inline size_t mrforest_slim_step(const MRForestSlimNode *nodes, size_t at, const uint8_t *row) {
    const size_t node = nodes[at];
    return at + (node >> 16) + (row[(node >> 8) & 255] > (node & 255));
}

static inline int mrforest_slim_goes_on(const MRForestSlimNode *nodes, size_t at) { return nodes[at] >> 16 != 0; }

static inline size_t mrforest_bytes_step(const MRForestCodedNode *nodes, size_t at, const uint8_t *row) {
    const MRForestCodedNode node = nodes[at];
    return (size_t)node.child + (row[node.column] > node.high);
}

static inline size_t mrforest_shorts_step(const MRForestCodedNode *nodes, size_t at, const uint16_t *row) {
    const MRForestCodedNode node = nodes[at];
    return (size_t)node.child + (row[node.column] > node.high);
}

static inline int mrforest_coded_goes_on(const MRForestCodedNode *nodes, size_t at) {
    return (size_t)nodes[at].child != at;
}

/* where[i]: the leaf node of row i. `waiting` has room for all rows. STRIDE codes are from row to row: a number that
 * the compiler knows, or `stride`. */
#define MRFOREST_DESCENT(NAME, NODE, CODE, STRIDE, STEP, GOES_ON)                                                   \
    static void NAME(const NODE *nodes, const CODE *codes, ptrdiff_t stride, ptrdiff_t n_rows, int first_levels,    \
                     int32_t *where, int32_t *waiting) {                                                            \
        ptrdiff_t n_waiting = 0, i = 0;                                                                             \
        for (; i + MRFOREST_LANES <= n_rows; i += MRFOREST_LANES) {                                                 \
            size_t at[MRFOREST_LANES] = {0};                                                                        \
            const CODE *rows = codes + i * STRIDE;                                                                  \
            for (int level = 0; level < first_levels; level++) {                                                    \
                MRFOREST_UNROLL                                                                                     \
                for (int lane = 0; lane < MRFOREST_LANES; lane++)                                                   \
                    at[lane] = STEP(nodes, at[lane], rows + lane * STRIDE);                                         \
            }                                                                                                       \
            for (int lane = 0; lane < MRFOREST_LANES; lane++) {                                                     \
                where[i + lane] = (int32_t)at[lane];                                                                \
                waiting[n_waiting] = (int32_t)i + lane;                                                             \
                n_waiting += GOES_ON(nodes, at[lane]);                                                              \
            }                                                                                                       \
        }                                                                                                           \
        for (; i < n_rows; i++) {                                                                                   \
            size_t at = 0;                                                                                          \
            while (GOES_ON(nodes, at)) at = STEP(nodes, at, codes + i * STRIDE);                                    \
            where[i] = (int32_t)at;                                                                                 \
        }                                                                                                           \
        for (int more, levels = first_levels; n_waiting; levels += more) {                                          \
            ptrdiff_t n = n_waiting;                                                                                \
            more = mrforest_more_levels(levels);                                                                    \
            n_waiting = 0;                                                                                          \
            for (i = 0; i < n; i += MRFOREST_LANES) {                                                               \
                size_t at[MRFOREST_LANES];                                                                          \
                int32_t row[MRFOREST_LANES];                                                                        \
                const int lanes = n - i < MRFOREST_LANES ? (int)(n - i) : MRFOREST_LANES;                           \
                MRFOREST_UNROLL                                                                                     \
                for (int lane = 0; lane < MRFOREST_LANES; lane++) {                                                 \
                    row[lane] = waiting[lane < lanes ? i + lane : i]; /* lanes that are left go along */            \
                    at[lane] = (size_t)where[row[lane]];                                                            \
                }                                                                                                   \
                for (int level = 0; level < more; level++) {                                                        \
                    MRFOREST_UNROLL                                                                                 \
                    for (int lane = 0; lane < MRFOREST_LANES; lane++)                                               \
                        at[lane] = STEP(nodes, at[lane], codes + (ptrdiff_t)row[lane] * STRIDE);                    \
                }                                                                                                   \
                for (int lane = 0; lane < lanes; lane++) {                                                          \
                    where[row[lane]] = (int32_t)at[lane];                                                           \
                    waiting[n_waiting] = row[lane];                                                                 \
                    n_waiting += GOES_ON(nodes, at[lane]);                                                          \
                }                                                                                                   \
            }                                                                                                       \
        }                                                                                                           \
    }

#define MRFOREST_DESCENT_SLIM(NAME, STRIDE) \
    MRFOREST_DESCENT(NAME, MRForestSlimNode, uint8_t, STRIDE, mrforest_slim_step, mrforest_slim_goes_on)

MRFOREST_DESCENT_SLIM(mrforest_descend_slim_16, 16)
MRFOREST_DESCENT_SLIM(mrforest_descend_slim_32, 32)
MRFOREST_DESCENT_SLIM(mrforest_descend_slim_64, 64)
MRFOREST_DESCENT_SLIM(mrforest_descend_slim_128, 128)
MRFOREST_DESCENT_SLIM(mrforest_descend_slim_256, 256)
MRFOREST_DESCENT(mrforest_descend_bytes, MRForestCodedNode, uint8_t, stride, mrforest_bytes_step, mrforest_coded_goes_on)
MRFOREST_DESCENT(mrforest_descend_shorts, MRForestCodedNode, uint16_t, stride, mrforest_shorts_step,
                 mrforest_coded_goes_on)

/* Bytes from row to row: 16 to 256, a power of two */
static inline ptrdiff_t mrforest_slim_stride(ptrdiff_t n_columns) {
    ptrdiff_t stride = 16;
    while (stride < n_columns) stride *= 2;
    return stride;
}

/* Nearly as many levels as a balanced tree of so many nodes has: few rows arrive much earlier. */
static inline int mrforest_first_levels(ptrdiff_t n_nodes) {
    int levels = 0;
    while (n_nodes >> (levels + 1)) levels++;
    return levels > 2 ? levels - 2 : 0;
}

static inline void walk_slim(const MRForestSlimNode *nodes, ptrdiff_t n_nodes, const uint8_t *codes, ptrdiff_t stride,
                             ptrdiff_t n_rows, int32_t *where, int32_t *waiting) {
    int levels = mrforest_first_levels(n_nodes);
    switch (stride) {
    case 16: mrforest_descend_slim_16(nodes, codes, 16, n_rows, levels, where, waiting); break;
    case 32: mrforest_descend_slim_32(nodes, codes, 32, n_rows, levels, where, waiting); break;
    case 64: mrforest_descend_slim_64(nodes, codes, 64, n_rows, levels, where, waiting); break;
    case 128: mrforest_descend_slim_128(nodes, codes, 128, n_rows, levels, where, waiting); break;
    default: mrforest_descend_slim_256(nodes, codes, 256, n_rows, levels, where, waiting); break;
    }
}

static inline void walk_bytes(const MRForestCodedNode *nodes, ptrdiff_t n_nodes, const uint8_t *codes, ptrdiff_t stride,
                              ptrdiff_t n_rows, int32_t *where, int32_t *waiting) {
    mrforest_descend_bytes(nodes, codes, stride, n_rows, mrforest_first_levels(n_nodes), where, waiting);
}

static inline void walk_shorts(const MRForestCodedNode *nodes, ptrdiff_t n_nodes, const uint16_t *codes,
                               ptrdiff_t stride, ptrdiff_t n_rows, int32_t *where, int32_t *waiting) {
    mrforest_descend_shorts(nodes, codes, stride, n_rows, mrforest_first_levels(n_nodes), where, waiting);
}

#endif
