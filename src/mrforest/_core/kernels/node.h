/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MRFOREST_NODE_H
#define MRFOREST_NODE_H
#include <stdint.h>

/* A node of a fitted tree: 16 bytes, four to a cache line. Children are neighbours. */
typedef struct {
    double threshold; /* left if x <= threshold (x == threshold for an equality cut) */
    uint32_t feature; /* low 30 bits; flags in the two high ones: NaN goes left, else right; an equality cut */
    int32_t child;    /* left child, the right one is child + 1; a leaf: -1 - its number */
} mrforest_node;

#define MRFOREST_FEATURE 0x3FFFFFFFu
#define MRFOREST_MISSING_LEFT 0x40000000u
#define MRFOREST_EQUALITY 0x80000000u

#endif
