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

/* Write the cuts of a feature in their order; return how many there are.
 *
 * codes, classes: of n points; codes below n_codes, classes below n_classes.
 * totals: points of each class.
 * counts: work, n_codes x n_classes; left: work, n_classes.
 * cuts: OUT, at most MRFOREST_MOST_CUTS_OF_FEW. */
static inline ptrdiff_t mrforest_cuts_of_few(const uint8_t *codes, const uint8_t *classes, ptrdiff_t n, ptrdiff_t n_codes,
                                             ptrdiff_t n_classes, const int32_t *totals, int offers_equality,
                                             int32_t *counts, int32_t *left, mrforest_few_cut *cuts) {
    int32_t present[MRFOREST_MOST_FEW_CODES], sizes[MRFOREST_MOST_FEW_CODES];
    ptrdiff_t n_present = 0, n_cuts = 0;
    int64_t of_left = 0, of_right = 0, of_all = 0;
    int32_t n_left = 0;
    memset(counts, 0, (size_t)(n_codes * n_classes) * sizeof *counts);
    for (ptrdiff_t i = 0; i < n; i++) counts[codes[i] * n_classes + classes[i]]++;
    for (ptrdiff_t b = 0; b < n_codes; b++) {
        int32_t size = 0;
        for (ptrdiff_t k = 0; k < n_classes; k++) size += counts[b * n_classes + k];
        present[n_present] = (int32_t)b;
        sizes[n_present] = size;
        n_present += size > 0;
    }
    for (ptrdiff_t k = 0; k < n_classes; k++) {
        left[k] = 0;
        of_all += (int64_t)totals[k] * totals[k];
    }
    of_right = of_all;
    for (ptrdiff_t j = 0; j + 1 < n_present; j++) {
        const int32_t *here = counts + present[j] * n_classes;
        for (ptrdiff_t k = 0; k < n_classes; k++) {
            int64_t c = here[k], l = left[k];
            of_left += c * (2 * l + c);
            of_right -= c * (2 * (totals[k] - l) - c);
            left[k] += here[k];
        }
        n_left += sizes[j];
        cuts[n_cuts].score = (double)of_left / (double)n_left + (double)of_right / (double)(n - n_left);
        cuts[n_cuts].bin = (present[j] + present[j + 1] - 1) / 2;
        cuts[n_cuts].is_equality = 0;
        cuts[n_cuts].n_left = n_left;
        n_cuts++;
    }
    for (ptrdiff_t j = 1; offers_equality && j + 1 < n_present; j++) {
        const int32_t *here = counts + present[j] * n_classes;
        int64_t equal = 0, others = of_all;
        for (ptrdiff_t k = 0; k < n_classes; k++) {
            int64_t c = here[k];
            equal += c * c;
            others -= c * (2 * (int64_t)totals[k] - c);
        }
        cuts[n_cuts].score = (double)equal / (double)sizes[j] + (double)others / (double)(n - sizes[j]);
        cuts[n_cuts].bin = present[j];
        cuts[n_cuts].is_equality = 1;
        cuts[n_cuts].n_left = sizes[j];
        n_cuts++;
    }
    return n_cuts;
}

#endif
