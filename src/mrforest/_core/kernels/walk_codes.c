/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows down a tree as in walk.c, but in codes. A leaf leads to itself, so a row that has arrived stays there
 * without being asked whether it has.
 *
 * Rows go some levels down without a question; those that have not arrived then go on a few levels at a time, close
 * together, so that a row that lies deep keeps no other from leaving. */
#include "kernels.h"
#include "lanes.h"

/* Levels that rows go on at least, once they have gone `levels`: where trees are deep, rows have far to go. */
INLINE int more_levels(int levels) { return levels < 12 ? 4 : levels / 3; }

INLINE size_t slim_step(const mrforest_slim_node *nodes, size_t at, const uint8_t *row) {
    const size_t node = nodes[at];
    return at + (node >> 16) + (row[(node >> 8) & 255] > (node & 255));
}

INLINE int slim_goes_on(const mrforest_slim_node *nodes, size_t at) { return nodes[at] >> 16 != 0; }

INLINE size_t bytes_step(const mrforest_coded_node *nodes, size_t at, const uint8_t *row) {
    const mrforest_coded_node node = nodes[at];
    return (size_t)node.child + (row[node.column] > node.high);
}

INLINE size_t shorts_step(const mrforest_coded_node *nodes, size_t at, const uint16_t *row) {
    const mrforest_coded_node node = nodes[at];
    return (size_t)node.child + (row[node.column] > node.high);
}

INLINE int coded_goes_on(const mrforest_coded_node *nodes, size_t at) { return (size_t)nodes[at].child != at; }

/* `waiting` has the rows that have not arrived. STRIDE codes are from row to row: a number that
 * the compiler knows, or `stride`. */
#define DESCENT(NAME, NODE, CODE, STRIDE, STEP, GOES_ON)                                                         \
    static void NAME(const NODE *nodes, const CODE *codes, ptrdiff_t stride, ptrdiff_t n_rows, int first_levels, \
                     int32_t *where, int32_t *waiting) {                                                         \
        ptrdiff_t n_waiting = 0, i = 0;                                                                          \
        (void)stride;                                                                                            \
        for (; i + ROWS_TOGETHER <= n_rows; i += ROWS_TOGETHER) {                                                \
            size_t at[ROWS_TOGETHER] = {0};                                                                      \
            const CODE *rows = codes + i * STRIDE;                                                               \
            for (int level = 0; level < first_levels; level++) {                                                 \
                UNROLL                                                                                           \
                for (int lane = 0; lane < ROWS_TOGETHER; lane++)                                                 \
                    at[lane] = STEP(nodes, at[lane], rows + (ptrdiff_t)lane * STRIDE);                           \
            }                                                                                                    \
            for (int lane = 0; lane < ROWS_TOGETHER; lane++) {                                                   \
                where[i + lane] = (int32_t)at[lane];                                                             \
                waiting[n_waiting] = (int32_t)i + lane;                                                          \
                n_waiting += GOES_ON(nodes, at[lane]);                                                           \
            }                                                                                                    \
        }                                                                                                        \
        for (; i < n_rows; i++) {                                                                                \
            size_t at = 0;                                                                                       \
            while (GOES_ON(nodes, at)) at = STEP(nodes, at, codes + i * STRIDE);                                 \
            where[i] = (int32_t)at;                                                                              \
        }                                                                                                        \
        for (int more, levels = first_levels; n_waiting; levels += more) {                                       \
            ptrdiff_t n = n_waiting;                                                                             \
            more = more_levels(levels);                                                                          \
            n_waiting = 0;                                                                                       \
            for (i = 0; i < n; i += ROWS_TOGETHER) {                                                             \
                size_t at[ROWS_TOGETHER];                                                                        \
                int32_t row[ROWS_TOGETHER];                                                                      \
                const int lanes = n - i < ROWS_TOGETHER ? (int)(n - i) : ROWS_TOGETHER;                          \
                UNROLL                                                                                           \
                for (int lane = 0; lane < ROWS_TOGETHER; lane++) {                                               \
                    row[lane] = waiting[lane < lanes ? i + lane : i]; /* lanes that are left go along */         \
                    at[lane] = (size_t)where[row[lane]];                                                         \
                }                                                                                                \
                for (int level = 0; level < more; level++) {                                                     \
                    UNROLL                                                                                       \
                    for (int lane = 0; lane < ROWS_TOGETHER; lane++)                                             \
                        at[lane] = STEP(nodes, at[lane], codes + (ptrdiff_t)row[lane] * STRIDE);                 \
                }                                                                                                \
                for (int lane = 0; lane < lanes; lane++) {                                                       \
                    where[row[lane]] = (int32_t)at[lane];                                                        \
                    waiting[n_waiting] = row[lane];                                                              \
                    n_waiting += GOES_ON(nodes, at[lane]);                                                       \
                }                                                                                                \
            }                                                                                                    \
        }                                                                                                        \
    }

#define DESCENT_SLIM(NAME, STRIDE) DESCENT(NAME, mrforest_slim_node, uint8_t, STRIDE, slim_step, slim_goes_on)

DESCENT_SLIM(descend_slim_16, 16)
DESCENT_SLIM(descend_slim_32, 32)
DESCENT_SLIM(descend_slim_64, 64)
DESCENT_SLIM(descend_slim_128, 128)
DESCENT_SLIM(descend_slim_256, 256)
DESCENT(descend_bytes, mrforest_coded_node, uint8_t, stride, bytes_step, coded_goes_on)
DESCENT(descend_shorts, mrforest_coded_node, uint16_t, stride, shorts_step, coded_goes_on)

/* Nearly as many levels as a balanced tree of so many nodes has: few rows arrive much earlier. */
INLINE int first_levels(ptrdiff_t n_nodes) {
    int levels = 0;
    while (n_nodes >> (levels + 1)) levels++;
    return levels > 2 ? levels - 2 : 0;
}

static void walk_slim(const mrforest_slim_node *nodes, ptrdiff_t n_nodes, const uint8_t *codes, ptrdiff_t stride,
                      ptrdiff_t n_rows, int32_t *where, int32_t *waiting) {
    int levels = first_levels(n_nodes);
    switch (stride) {
        case 16:
            descend_slim_16(nodes, codes, 16, n_rows, levels, where, waiting);
            break;
        case 32:
            descend_slim_32(nodes, codes, 32, n_rows, levels, where, waiting);
            break;
        case 64:
            descend_slim_64(nodes, codes, 64, n_rows, levels, where, waiting);
            break;
        case 128:
            descend_slim_128(nodes, codes, 128, n_rows, levels, where, waiting);
            break;
        default:
            descend_slim_256(nodes, codes, 256, n_rows, levels, where, waiting);
            break;
    }
}

static void walk_bytes(const mrforest_coded_node *nodes, ptrdiff_t n_nodes, const uint8_t *codes, ptrdiff_t stride,
                       ptrdiff_t n_rows, int32_t *where, int32_t *waiting) {
    descend_bytes(nodes, codes, stride, n_rows, first_levels(n_nodes), where, waiting);
}

static void walk_shorts(const mrforest_coded_node *nodes, ptrdiff_t n_nodes, const uint16_t *codes, ptrdiff_t stride,
                        ptrdiff_t n_rows, int32_t *where, int32_t *waiting) {
    descend_shorts(nodes, codes, stride, n_rows, first_levels(n_nodes), where, waiting);
}
