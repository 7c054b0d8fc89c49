/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cuts of a feature of a node, scored from its points counted by code and class.
 *
 *     order cuts       <= 0   <= 1   <= 2   (between codes that occur)
 *     equality cuts    == 0   == 1   == 2   == 4
 *
 * A categorical feature has equality cuts only. A numeric one has order cuts; if it offers equality, too, then that of
 * the codes between the first and the last, for equality with these is an order cut already.
 *
 * Scores are those of impurity.pxd, to the bit. */
#ifndef MRFOREST_COUNTED_CUTS_H
#define MRFOREST_COUNTED_CUTS_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "best.h"
#include "entropy.h"
#include "class_histogram.h"

typedef enum { MRFOREST_ORDER_CUTS, MRFOREST_ORDER_AND_EQUAL_CUTS, MRFOREST_EQUAL_CUTS } mrforest_kind; /* of cuts */

typedef struct {
    double score;
    int32_t bin; /* points whose code is at most this go left; or those that have this code */
    int32_t is_equality;
    int32_t n_left;
} mrforest_cut;

/* Where cuts go: all of them to `cuts`, or, if that is NULL, the best score only. */
typedef struct {
    mrforest_cut *cuts;
    ptrdiff_t n;
    double best;
} mrforest_found;

static MRFOREST_INLINE void mrforest_add_cut(mrforest_found *found, double score, int32_t bin, int32_t is_equality,
                                             int64_t n_left) {
    if (found->cuts) {
        mrforest_cut cut = {score, bin, is_equality, (int32_t)n_left};
        found->cuts[found->n] = cut;
    }
    found->best = score > found->best ? score : found->best;
    found->n++;
}

static inline void mrforest_set_all_right(mrforest_points *points) {
    points->all_right = 0;
    for (ptrdiff_t k = 0; k < points->n_classes; k++) {
        int64_t total = points->totals[k];
        points->all_right += points->xlogx ? points->xlogx[total] : total * total;
    }
}

/* ---- two classes -------------------------------------------------------------------------------- */

static inline double mrforest_score_of_two(const mrforest_points *points, int64_t left, int64_t ones_left) {
    if (points->xlogx) return mrforest_entropy_of_two(points->xlogx, points->n, points->totals[1], left, ones_left);
    return mrforest_gini_of_two(points->n, points->totals[1], left, ones_left);
}

static MRFOREST_INLINE void mrforest_counted_cuts_of_two(const mrforest_points *points, const uint64_t *counts,
                                                         int32_t n_codes, mrforest_kind kind, mrforest_found *found) {
    uint64_t left = 0;
    int32_t first = -1, last = -1;
    for (int32_t code = 0; code < n_codes; code++) {
        if (!counts[code]) continue;
        if (last < 0) {
            first = code;
        } else if (kind != MRFOREST_EQUAL_CUTS) {
            int64_t n_left = (int64_t)(left & 0xFFFFFFFF);
            mrforest_add_cut(found, mrforest_score_of_two(points, n_left, (int64_t)(left >> 32)),
                             (last + code - 1) / 2, 0, n_left);
        }
        left += counts[code];
        last = code;
    }
    if (kind == MRFOREST_ORDER_CUTS || first == last) return;
    if (kind == MRFOREST_ORDER_AND_EQUAL_CUTS) first++, last--;
    for (int32_t code = first; code <= last; code++) {
        int64_t n_left = (int64_t)(counts[code] & 0xFFFFFFFF);
        if (n_left > 0)
            mrforest_add_cut(found, mrforest_score_of_two(points, n_left, (int64_t)(counts[code] >> 32)), code, 1,
                             n_left);
    }
}

/* ---- many classes ------------------------------------------------------------------------------- */

/* Sums over the classes: of squares, or of x log x of both sides together. */
typedef struct {
    int64_t of_left, of_right;
} mrforest_sums;

/* The lowest bit of a word that has one. */
static inline ptrdiff_t mrforest_lowest(uint64_t word) {
#if defined(__GNUC__)
    return __builtin_ctzll(word);
#else
    ptrdiff_t bit = 0;
    while (!(word >> bit & 1)) bit++;
    return bit;
#endif
}

/* `count` points of a class go left, where `left` of its `total` points are. */
static inline void mrforest_move_left(const mrforest_points *points, mrforest_sums *sums, int64_t left, int64_t total,
                                      int64_t count) {
    if (points->xlogx) {
        const int64_t *f = points->xlogx, right = total - left;
        sums->of_left += f[left + count] - f[left] + f[right - count] - f[right];
    } else {
        sums->of_left += count * (2 * left + count);
        sums->of_right -= count * (2 * (total - left) - count);
    }
}

static inline double mrforest_score_of_sums(const mrforest_points *points, const mrforest_sums *sums, int64_t n_left) {
    int64_t n_right = points->n - n_left;
    if (points->xlogx) return mrforest_from_fixed(sums->of_left - points->xlogx[n_left] - points->xlogx[n_right]);
    return (double)sums->of_left / (double)n_left + (double)sums->of_right / (double)n_right;
}

static inline mrforest_sums mrforest_start_right(const mrforest_points *points) {
    mrforest_sums sums = {points->xlogx ? points->all_right : 0, points->all_right};
    return sums;
}

static MRFOREST_INLINE void mrforest_counted_cuts_of_many(const mrforest_points *points,
                                                          const mrforest_histogram *histogram, int32_t n_codes,
                                                          mrforest_kind kind, mrforest_found *found) {
    const ptrdiff_t K = points->n_classes, n_words = (K + 63) / 64;
    const int32_t *counts = histogram->counts, *sizes = histogram->sizes;
    int32_t *left = histogram->left;
    const mrforest_sums start = mrforest_start_right(points);
    mrforest_sums sums = start;
    int64_t n_left = 0;
    int32_t first = -1, last = -1;
    memset(left, 0, (size_t)K * sizeof *left);
    for (int32_t code = 0; code < n_codes; code++) {
        const int32_t *here = counts + code * K;
        if (!sizes[code]) continue;
        if (last < 0)
            first = code;
        else if (kind != MRFOREST_EQUAL_CUTS)
            mrforest_add_cut(found, mrforest_score_of_sums(points, &sums, n_left), (last + code - 1) / 2, 0, n_left);
        for (ptrdiff_t w = 0; w < n_words; w++) {
            for (uint64_t marks = histogram->marks[code][w]; marks; marks &= marks - 1) {
                ptrdiff_t k = 64 * w + mrforest_lowest(marks);
                mrforest_move_left(points, &sums, left[k], points->totals[k], here[k]);
                left[k] += here[k];
            }
        }
        n_left += sizes[code];
        last = code;
    }
    if (kind == MRFOREST_ORDER_CUTS || first == last) return;
    if (kind == MRFOREST_ORDER_AND_EQUAL_CUTS) first++, last--;
    for (int32_t code = first; code <= last; code++) {
        const int32_t *here = counts + code * K;
        if (!sizes[code]) continue;
        sums = start;
        for (ptrdiff_t w = 0; w < n_words; w++) {
            for (uint64_t marks = histogram->marks[code][w]; marks; marks &= marks - 1) {
                ptrdiff_t k = 64 * w + mrforest_lowest(marks);
                mrforest_move_left(points, &sums, 0, points->totals[k], here[k]);
            }
        }
        mrforest_add_cut(found, mrforest_score_of_sums(points, &sums, sizes[code]), code, 1, sizes[code]);
    }
}

/* ---- any number of classes ---------------------------------------------------------------------- */

static MRFOREST_INLINE void mrforest_find_cuts(const mrforest_points *points, const mrforest_histogram *histogram,
                                               int32_t n_codes, mrforest_kind kind, mrforest_found *found) {
    if (points->n_classes == 2)
        mrforest_counted_cuts_of_two(points, histogram->of_two, n_codes, kind, found);
    else
        mrforest_counted_cuts_of_many(points, histogram, n_codes, kind, found);
}

/* The best score of the cuts of a feature; -INFINITY: it has none. */
static double mrforest_best_counted_cut(const mrforest_points *points, const mrforest_histogram *histogram,
                                        int32_t n_codes, mrforest_kind kind) {
    mrforest_found found = {NULL, 0, -INFINITY};
    mrforest_find_cuts(points, histogram, n_codes, kind, &found);
    return found.best;
}

/* All cuts, in their order; return how many there are, at most twice as many as codes. */
static ptrdiff_t mrforest_all_counted_cuts(const mrforest_points *points, const mrforest_histogram *histogram,
                                           int32_t n_codes, mrforest_kind kind, mrforest_cut *cuts) {
    mrforest_found found = {cuts, 0, -INFINITY};
    mrforest_find_cuts(points, histogram, n_codes, kind, &found);
    return found.n;
}

#endif
