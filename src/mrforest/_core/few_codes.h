/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A feature of few codes in a small node: classes are counted by code, and every cut is scored from the counts.
 *
 *     code     0  1  1  2  4          counts of two classes, by code     0 | 1 0
 *     class    a  a  b  b  a                                             1 | 1 1
 *                                                                        2 | 0 1
 *     cuts     <= 0   <= 1   <= 2   (between codes that occur)           4 | 1 0
 *              == 1   == 2          (if equality is offered; neither the first code nor the last) */
#ifndef MRFOREST_FEW_CODES_H
#define MRFOREST_FEW_CODES_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "best.h"

enum {
    MRFOREST_MOST_FEW_CODES = 32,
    MRFOREST_MOST_CUTS_OF_FEW = 2 * MRFOREST_MOST_FEW_CODES,
};

typedef struct {
    double score;
    int32_t bin;         /* points whose code is at most this go left; or those that have this code */
    int32_t is_equality;
    int32_t n_left;
} mrforest_few_cut;

static inline mrforest_few_cut mrforest_few_cut_of(double score, int32_t bin, int32_t is_equality, int32_t n_left) {
    mrforest_few_cut cut = {score, bin, is_equality, n_left};
    return cut;
}

/* The same for two classes: counts has the points of each code in its low half, those of class 1 in its high half. */
static inline ptrdiff_t mrforest_cuts_of_few_of_two(const uint8_t *codes, const uint8_t *classes, ptrdiff_t n, int32_t ones,
                                                    int offers_equality, mrforest_few_cut *cuts) {
    uint32_t counts[MRFOREST_MOST_FEW_CODES] = {0}, present = 0, rest, left = 0;
    ptrdiff_t n_cuts = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        present |= (uint32_t)1 << codes[i];
        counts[codes[i]] += 1 | (uint32_t)classes[i] << 16;
    }
    for (rest = present; rest & (rest - 1); rest &= rest - 1) {
        int32_t code = __builtin_ctz(rest), next = __builtin_ctz(rest & (rest - 1));
        left += counts[code];
        cuts[n_cuts++] = mrforest_few_cut_of(mrforest_gini_of_two(n, ones, left & 0xFFFF, left >> 16),
                                             (code + next - 1) / 2, 0, (int32_t)(left & 0xFFFF));
    }
    if (!offers_equality || !(present & (present - 1))) return n_cuts;
    for (rest = present & (present - 1); rest & (rest - 1); rest &= rest - 1) {
        int32_t code = __builtin_ctz(rest);
        uint32_t here = counts[code];
        cuts[n_cuts++] = mrforest_few_cut_of(mrforest_gini_of_two(n, ones, here & 0xFFFF, here >> 16), code, 1,
                                             (int32_t)(here & 0xFFFF));
    }
    return n_cuts;
}

/* Write the cuts of a feature in their order; return how many there are.
 *
 * codes, classes: of n points, at most 2^15; codes below MRFOREST_MOST_FEW_CODES, classes below n_classes.
 * totals: points of each class.
 * counts: work, MRFOREST_MOST_FEW_CODES x n_classes; left: work, n_classes.
 * cuts: OUT, at most MRFOREST_MOST_CUTS_OF_FEW. */
static inline ptrdiff_t mrforest_cuts_of_few(const uint8_t *codes, const uint8_t *classes, ptrdiff_t n,
                                             ptrdiff_t n_classes, const int32_t *totals, int offers_equality,
                                             int32_t *counts, int32_t *left, mrforest_few_cut *cuts) {
    uint32_t present = 0, rest;
    int32_t sizes[MRFOREST_MOST_FEW_CODES];
    ptrdiff_t n_cuts = 0;
    int64_t of_left = 0, of_right = 0, of_all = 0;
    int32_t n_left = 0;
    if (n_classes == 2) return mrforest_cuts_of_few_of_two(codes, classes, n, totals[1], offers_equality, cuts);
    for (ptrdiff_t i = 0; i < n; i++) present |= (uint32_t)1 << codes[i];
    if (!(present & (present - 1))) return 0;
    for (rest = present; rest; rest &= rest - 1)
        memset(counts + __builtin_ctz(rest) * n_classes, 0, (size_t)n_classes * sizeof *counts);
    for (ptrdiff_t i = 0; i < n; i++) counts[codes[i] * n_classes + classes[i]]++;
    for (ptrdiff_t k = 0; k < n_classes; k++) {
        left[k] = 0;
        of_all += (int64_t)totals[k] * totals[k];
    }
    of_right = of_all;
    for (rest = present; rest & (rest - 1); rest &= rest - 1) {
        int32_t code = __builtin_ctz(rest), next = __builtin_ctz(rest & (rest - 1)), size = 0;
        const int32_t *here = counts + code * n_classes;
        for (ptrdiff_t k = 0; k < n_classes; k++) {
            int64_t c = here[k], l = left[k];
            size += here[k];
            of_left += c * (2 * l + c);
            of_right -= c * (2 * (totals[k] - l) - c);
            left[k] += here[k];
        }
        sizes[code] = size;
        n_left += size;
        cuts[n_cuts++] = mrforest_few_cut_of((double)of_left / (double)n_left + (double)of_right / (double)(n - n_left),
                                             (code + next - 1) / 2, 0, n_left);
    }
    if (!offers_equality) return n_cuts;
    for (rest = present & (present - 1); rest & (rest - 1); rest &= rest - 1) {
        int32_t code = __builtin_ctz(rest), size = sizes[code];
        const int32_t *here = counts + code * n_classes;
        int64_t equal = 0, others = of_all;
        for (ptrdiff_t k = 0; k < n_classes; k++) {
            int64_t c = here[k];
            equal += c * c;
            others -= c * (2 * (int64_t)totals[k] - c);
        }
        cuts[n_cuts++] = mrforest_few_cut_of((double)equal / (double)size + (double)others / (double)(n - size), code, 1,
                                             size);
    }
    return n_cuts;
}

#endif
