/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cuts of a feature of a node, scored from its points counted by code and class.
 *
 *     order cuts       <= 0   <= 1   <= 2   (between codes that occur)
 *     equality cuts    == 0   == 1   == 2   == 4
 *
 * A categorical feature has equality cuts only. A numeric one has order cuts; if it offers equality, too, then that
 * of the codes between the first and the last, for equality with these is an order cut already.
 *
 * Scores are those of impurity.pxd, to the bit. */
#include "entropy.h"
#include "gini.h"
#include "kernels.h"
#include "lanes.h"

#include <math.h>
#include <string.h>

/* Where cuts go: all of them to `cuts`, or, if that is NULL, the best score only. */
typedef struct {
    mrforest_cut *cuts;
    ptrdiff_t n;
    double best;
} cut_sink;

INLINE void add_cut(cut_sink *sink, double score, int32_t bin, int32_t is_equality, int64_t n_left) {
    if (sink->cuts) {
        mrforest_cut cut = {score, bin, is_equality, (int32_t)n_left};
        sink->cuts[sink->n] = cut;
    }
    sink->best = score > sink->best ? score : sink->best;
    sink->n++;
}

static void sum_totals(mrforest_points *points) {
    points->all_right = 0;
    for (ptrdiff_t k = 0; k < points->n_classes; k++) {
        int64_t total = points->totals[k];
        points->all_right += points->xlogx ? points->xlogx[total] : total * total;
    }
}

/* ---- two classes -------------------------------------------------------------------------------- */

INLINE double score_of_two(const mrforest_points *points, int64_t left, int64_t ones_left) {
    if (points->xlogx) return entropy_of_two(points->xlogx, points->n, points->totals[1], left, ones_left);
    return gini_of_two(points->n, points->totals[1], left, ones_left);
}

INLINE void counted_cuts_of_two(const mrforest_points *points, const uint64_t *counts, int32_t n_codes,
                                mrforest_kind kind, cut_sink *sink) {
    uint64_t left = 0;
    int32_t first = -1, last = -1;
    for (int32_t code = 0; code < n_codes; code++) {
        if (!counts[code]) continue;
        if (last < 0) {
            first = code;
        } else if (kind != MRFOREST_EQUAL_CUTS) {
            int64_t n_left = (int64_t)(left & 0xFFFFFFFF);
            add_cut(sink, score_of_two(points, n_left, (int64_t)(left >> 32)), (last + code - 1) / 2, 0, n_left);
        }
        left += counts[code];
        last = code;
    }
    if (kind == MRFOREST_ORDER_CUTS || first == last) return;
    if (kind == MRFOREST_ORDER_AND_EQUAL_CUTS) first++, last--;
    for (int32_t code = first; code <= last; code++) {
        int64_t n_left = (int64_t)(counts[code] & 0xFFFFFFFF);
        if (n_left > 0) add_cut(sink, score_of_two(points, n_left, (int64_t)(counts[code] >> 32)), code, 1, n_left);
    }
}

/* ---- many classes ------------------------------------------------------------------------------- */

/* Sums over the classes: of squares, or of x log x of both sides together. */
typedef struct {
    int64_t of_left, of_right;
} side_sums;

/* `count` points of a class go left, where `left` of its `total` points are. */
INLINE void move_left(const mrforest_points *points, side_sums *sums, int64_t left, int64_t total, int64_t count) {
    if (points->xlogx) {
        const int64_t *f = points->xlogx, right = total - left;
        sums->of_left += f[left + count] - f[left] + f[right - count] - f[right];
    } else {
        sums->of_left += count * (2 * left + count);
        sums->of_right -= count * (2 * (total - left) - count);
    }
}

INLINE double score_of_sides(const mrforest_points *points, const side_sums *sums, int64_t n_left) {
    int64_t n_right = points->n - n_left;
    if (points->xlogx) return from_fixed(sums->of_left - points->xlogx[n_left] - points->xlogx[n_right]);
    return score_of_sums(sums->of_left, n_left, sums->of_right, n_right);
}

INLINE side_sums start_right(const mrforest_points *points) {
    side_sums sums = {points->xlogx ? points->all_right : 0, points->all_right};
    return sums;
}

INLINE void counted_cuts_of_many(const mrforest_points *points, const mrforest_histogram *histogram, int32_t n_codes,
                                 mrforest_kind kind, cut_sink *sink) {
    const ptrdiff_t K = points->n_classes, n_words = (K + 63) / 64;
    const int32_t *counts = histogram->counts, *sizes = histogram->sizes;
    int32_t *left = histogram->left;
    const side_sums start = start_right(points);
    side_sums sums = start;
    int64_t n_left = 0;
    int32_t first = -1, last = -1;
    memset(left, 0, (size_t)K * sizeof *left);
    for (int32_t code = 0; code < n_codes; code++) {
        const int32_t *here = counts + code * K;
        if (!sizes[code]) continue;
        if (last < 0) first = code;
        else if (kind != MRFOREST_EQUAL_CUTS)
            add_cut(sink, score_of_sides(points, &sums, n_left), (last + code - 1) / 2, 0, n_left);
        for (ptrdiff_t w = 0; w < n_words; w++) {
            for (uint64_t marks = histogram->marks[code][w]; marks; marks &= marks - 1) {
                ptrdiff_t k = 64 * w + lowest_bit(marks);
                move_left(points, &sums, left[k], points->totals[k], here[k]);
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
                ptrdiff_t k = 64 * w + lowest_bit(marks);
                move_left(points, &sums, 0, points->totals[k], here[k]);
            }
        }
        add_cut(sink, score_of_sides(points, &sums, sizes[code]), code, 1, sizes[code]);
    }
}

/* ---- any number of classes ---------------------------------------------------------------------- */

INLINE void find_cuts(const mrforest_points *points, const mrforest_histogram *histogram, int32_t n_codes,
                      mrforest_kind kind, cut_sink *sink) {
    if (points->n_classes == 2) counted_cuts_of_two(points, histogram->of_two, n_codes, kind, sink);
    else counted_cuts_of_many(points, histogram, n_codes, kind, sink);
}

static double best_counted_cut(const mrforest_points *points, const mrforest_histogram *histogram, int32_t n_codes,
                               mrforest_kind kind) {
    cut_sink sink = {NULL, 0, -INFINITY};
    find_cuts(points, histogram, n_codes, kind, &sink);
    return sink.best;
}

static ptrdiff_t all_counted_cuts(const mrforest_points *points, const mrforest_histogram *histogram, int32_t n_codes,
                                  mrforest_kind kind, mrforest_cut *cuts) {
    cut_sink sink = {cuts, 0, -INFINITY};
    find_cuts(points, histogram, n_codes, kind, &sink);
    return sink.n;
}
