/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ways: each is quicker than the general one on some tables, and gives the same forest. plan.pyx says when each is
 * taken and what it buys; any can be switched off, for tests and measurements. */
#ifndef MRFOREST_WAYS_H
#define MRFOREST_WAYS_H
#include <stdint.h>

typedef enum {
    MRFOREST_CUT_BITS,
    MRFOREST_SQUEEZED_BITS,
    MRFOREST_BITS_OF_SOME,
    MRFOREST_ROW_CACHE,
    MRFOREST_JOINED_COPIES,
    MRFOREST_COLUMNS,
    MRFOREST_COLUMNS_TOGETHER,
    MRFOREST_BLOCKS,
    MRFOREST_NODE_LISTS,
    MRFOREST_HISTOGRAMS,
    MRFOREST_NODE_HISTOGRAMS,
    MRFOREST_CHILD_TOTALS,
    MRFOREST_SAMPLE_HISTOGRAMS,
    MRFOREST_SAMPLE_COUNTS,
    MRFOREST_SAMPLE_LISTS,
    MRFOREST_LISTS_BY_LANES,
    MRFOREST_BINS_OF_TWO_BY_LANES,
    MRFOREST_BINS_OF_MANY_BY_LANES,
    MRFOREST_BINS_AT_ONCE,
    MRFOREST_ROWS_BY_LANES,
    MRFOREST_CELLS_BY_LANES,
    MRFOREST_FEW_SORTED,
    MRFOREST_CODED_ROWS,
    MRFOREST_SLIM_NODES,
    MRFOREST_BIT_VOTES,
    MRFOREST_SINGLE_THRESHOLDS,
    MRFOREST_N_WAYS
} mrforest_way;

extern uint8_t mrforest_is_off[MRFOREST_N_WAYS];

#endif
