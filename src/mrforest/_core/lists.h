/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The kernels of best.h, or those for the widest registers that this processor has, for all lists or bins of a node. */
#ifndef MRFOREST_LISTS_H
#define MRFOREST_LISTS_H
#include "abreast_bins_256.h"
#include "abreast_lists_256.h"
#include "best.h"
#include "best_256.h"
#include "best_512.h"

/* A node of at most MRFOREST_LIST points. */
typedef struct {
    ptrdiff_t n;
    ptrdiff_t n_classes, n_present; /* of the block; of them, in the node */
    int32_t present[MRFOREST_LIST]; /* which they are */
    int32_t totals[MRFOREST_LIST];  /* points of each class */
    float weight[MRFOREST_LIST];    /* of each cut, if two classes are present; else of its left side ... */
    float right_weight[MRFOREST_LIST]; /* ... and its right one */
} mrforest_node;

/* What totals are known of; the node has two classes at least. */
static void mrforest_weigh_cuts(mrforest_node *node) {
    if (node->n_present == 2)
        mrforest_weights_of_cuts(node->n, node->weight);
    else
        mrforest_weights_of_sides(node->n, node->weight, node->right_weight);
}

/* For each list the score of its best cut; -INFINITY: it has none. A list begins at items + place[number[i]],
 * and may be read by 17 items beyond its end. */
static void mrforest_best_in_lists(const uint32_t *items, const ptrdiff_t *place, const int32_t *number,
                                   ptrdiff_t n_lists, const mrforest_node *node, double *best) {
    int32_t left[MRFOREST_LIST], one = node->present[0];
    ptrdiff_t n = node->n;
#ifdef MRFOREST_WITH_512
    if (mrforest_has_512 && node->n_present == 2) {
        mrforest_best_of_two_512(items, place, number, n_lists, n, (uint32_t)one, node->totals[one], node->weight, best);
        return;
    }
    if (mrforest_has_512 && node->n_present <= MRFOREST_MOST_512) {
        mrforest_best_of_many_512(items, place, number, n_lists, n, node->present, node->n_present, node->totals,
                                  node->weight, node->right_weight, best);
        return;
    }
#endif
#ifdef MRFOREST_WITH_256
    if (mrforest_has_256 && node->n_present == 2) {
        mrforest_abreast_of_two_256(items, place, number, n_lists, n, (uint32_t)one, node->totals[one], node->weight, best);
        return;
    }
    if (mrforest_has_256 && node->n_classes <= MRFOREST_MOST_ABREAST) {
        mrforest_abreast_of_many_256(items, place, number, n_lists, n, node->n_classes, node->present, node->n_present,
                                     node->totals, node->weight, node->right_weight, best);
        return;
    }
#endif
    for (ptrdiff_t i = 0; i < n_lists; i++) {
        const uint32_t *list = items + place[number[i]];
        if (list[0] >> 16 == list[n - 1] >> 16)
            best[i] = -INFINITY;
        else if (node->n_present == 2)
            best[i] = mrforest_best_of_two(list, n, (uint32_t)one, node->totals[one], node->weight);
        else
            best[i] = mrforest_best_of_many(list, n, node->n_classes, node->totals, node->weight, node->right_weight, left);
    }
}

/* All cuts of one list; return how many. */
static ptrdiff_t mrforest_cuts_in_list(const uint32_t *list, const mrforest_node *node, mrforest_cuts cuts) {
    int32_t left[MRFOREST_LIST];
    ptrdiff_t n = mrforest_cuts_of_list(list, node->n, node->n_classes, node->totals, left, cuts);
    mrforest_score_all(n, (int32_t)node->n, cuts);
    return n;
}

/* Left ones first, else in their order. A point is left if is_left[its number]. Of sides that nobody wants it does not
 * matter what is there. */
static void mrforest_part_lists(uint32_t *items, const ptrdiff_t *place, const int32_t *number, ptrdiff_t n_lists,
                                ptrdiff_t n, const uint8_t *is_left, int sides) {
    uint32_t others[MRFOREST_LIST];
#ifdef MRFOREST_WITH_512
    if (mrforest_has_512) {
        mrforest_part_lists_512(items, place, number, n_lists, n, is_left);
        return;
    }
#endif
#ifdef MRFOREST_WITH_256
    if (mrforest_has_256) {
        mrforest_part_lists_256(items, place, number, n_lists, n, is_left, sides);
        return;
    }
#endif
    for (ptrdiff_t i = 0; i < n_lists; i++) {
        uint32_t *list = items + place[number[i]];
        ptrdiff_t n_left = 0, n_right = 0;
        for (ptrdiff_t j = 0; j < n; j++) {
            /* Write to both sides, advance one: no branch to mispredict. */
            uint32_t item = list[j];
            int left = is_left[item & 255];
            list[n_left] = item;
            others[n_right] = item;
            n_left += left;
            n_right += !left;
        }
        memcpy(list + n_left, others, (size_t)n_right * sizeof *others);
    }
}

/* The score of the best cut of a feature that is counted; -INFINITY: it has none. Work has room for 257 numbers a
 * class, left and right for one. */
static double mrforest_best_in_bins(const int32_t *counts, ptrdiff_t n_bins, ptrdiff_t stride, ptrdiff_t n_classes,
                                    const int64_t *totals, int32_t *work, int64_t *left, int64_t *right) {
    if (n_classes == 2) {
        double n = (double)(totals[0] + totals[1]), ones = (double)totals[1];
#ifdef MRFOREST_WITH_512
        if (mrforest_has_512)
            return mrforest_best_of_two_in_bins_512(counts, n_bins, stride, (int32_t)n, (int32_t)totals[1]);
#endif
#ifdef MRFOREST_WITH_256
        if (mrforest_has_256 && n <= 46340)
            return mrforest_best_of_two_in_bins_256(counts, n_bins, stride, (int32_t)n, (int32_t)totals[1]);
#endif
        return mrforest_best_of_two_in_bins(counts, n_bins, stride, n, ones);
    }
#ifdef MRFOREST_WITH_512
    if (mrforest_has_512 && n_bins > 4)
        return mrforest_best_of_many_in_bins_512(counts, n_bins, stride, n_classes, totals, work);
#endif
#ifdef MRFOREST_WITH_256
    if (mrforest_has_256 && n_bins > 4)
        return mrforest_best_of_many_in_bins_256(counts, n_bins, stride, n_classes, totals, work);
#endif
    return mrforest_best_of_many_in_bins(counts, n_bins, stride, n_classes, totals, left, right);
}

/* The same of features of equally many bins; after the bins of a class three more cells may be read. */
static void mrforest_best_in_all_bins(const int32_t *const *counts, ptrdiff_t n_features, ptrdiff_t n_bins, ptrdiff_t stride,
                                      ptrdiff_t n_classes, const int64_t *totals, int32_t *work, int64_t *left,
                                      int64_t *right, double *best) {
#ifdef MRFOREST_WITH_256
    int64_t n = 0;
    for (ptrdiff_t k = 0; k < n_classes; k++) n += totals[k];
    if (mrforest_has_256 && !mrforest_has_512 && n_classes == 2 && n <= 46340) {
        mrforest_bins_abreast_of_two(counts, n_features, n_bins, stride, (int32_t)n, (int32_t)totals[1], best);
        return;
    }
    if (mrforest_has_256 && !mrforest_has_512 && n_classes > 2 && n_classes <= MRFOREST_MOST_IN_BINS && n < 1 << 24) {
        mrforest_bins_abreast_of_many(counts, n_features, n_bins, stride, n_classes, (int32_t)n, totals, work, best);
        return;
    }
#endif
    for (ptrdiff_t i = 0; i < n_features; i++)
        best[i] = mrforest_best_in_bins(counts[i], n_bins, stride, n_classes, totals, work, left, right);
}

/* All cuts of it; return how many. */
static ptrdiff_t mrforest_cuts_in_bins(const int32_t *counts, ptrdiff_t n_bins, ptrdiff_t stride, ptrdiff_t n_classes,
                                       const int64_t *totals, int64_t *left, mrforest_cuts cuts) {
    int64_t n = 0;
    ptrdiff_t n_cuts;
    for (ptrdiff_t k = 0; k < n_classes; k++) n += totals[k];
    if (n_classes == 2 && n < 1 << 26)
        n_cuts = mrforest_cuts_of_two(counts, n_bins, stride, (int32_t)n, (int32_t)totals[1], cuts) - 1;
    else
        n_cuts = mrforest_cuts_of_many(counts, n_bins, stride, n_classes, totals, left, cuts) - 1;
    /* A cut is halfway to the next bin that has points. */
    for (ptrdiff_t i = 0; i < n_cuts; i++) cuts.bin[i] = (cuts.bin[i] + cuts.bin[i + 1] - 1) / 2;
    mrforest_score_all(n_cuts, (int32_t)n, cuts);
    return n_cuts;
}

#endif
