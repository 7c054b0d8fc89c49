/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The best scores of features that are counted, eight abreast. */
#ifndef MRFOREST_ABREAST_BINS_256_H
#define MRFOREST_ABREAST_BINS_256_H
#include "abreast_256.h"
#include "best.h"
#include "best_256.h"
#include "wide.h"

#ifdef MRFOREST_WITH_256

/* Counts of eight features, classes x bins each, from one place on; the last one stands for those that are not there.
 * Return how many are. */
static inline ptrdiff_t mrforest_eight_counts(const int32_t *const *counts, ptrdiff_t n_features, const uint32_t **eight) {
    ptrdiff_t n = n_features < 8 ? n_features : 8;
    for (ptrdiff_t j = 0; j < 8; j++) eight[j] = (const uint32_t *)counts[j < n ? j : n - 1];
    return n;
}

/* ---- two classes ---------------------------------------------------------------------------------- */

/* A walk along the bins of eight features: points on the left, and those of the second class among them. */
typedef struct {
    mrforest_top_256 top;
    __m256i left, x, left_at_top, x_at_top;
} mrforest_walk_of_bins;

static MRFOREST_INLINE MRFOREST_256 void mrforest_pass_bins_of_two(mrforest_walk_of_bins *walk, const __m256i *zeros,
                                                                   const __m256i *others, int m, __m256i n, __m256i ones) {
    for (int j = 0; j < m; j++) {
        __m256i points = _mm256_add_epi32(zeros[j], others[j]);
        walk->left = _mm256_add_epi32(walk->left, points);
        walk->x = _mm256_add_epi32(walk->x, others[j]);
        __m256i right = _mm256_sub_epi32(n, walk->left), zero = _mm256_setzero_si256();
        __m256i is_cut = _mm256_and_si256(_mm256_cmpgt_epi32(points, zero), _mm256_cmpgt_epi32(right, zero));
        __m256 d = _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_mullo_epi32(n, walk->x), _mm256_mullo_epi32(ones, walk->left)));
        __m256 area = _mm256_mul_ps(_mm256_cvtepi32_ps(walk->left), _mm256_cvtepi32_ps(right));
        __m256 gain = _mm256_div_ps(_mm256_mul_ps(d, d), area);
        __m256 is_top = mrforest_rise_256(&walk->top, _mm256_and_ps(gain, _mm256_castsi256_ps(is_cut)));
        walk->left_at_top = mrforest_either_256(walk->left_at_top, walk->left, is_top);
        walk->x_at_top = mrforest_either_256(walk->x_at_top, walk->x, is_top);
    }
}

/* The best scores of eight features, of n points, at most 46,340; return the lanes where they are not sure. */
static inline MRFOREST_256 unsigned mrforest_eight_bins_of_two(const uint32_t *const *zeros, const uint32_t *const *others,
                                                               ptrdiff_t n_bins, int32_t n, int32_t ones, double *best) {
    const __m256i all = _mm256_set1_epi32(n), share = _mm256_set1_epi32(ones), none = _mm256_setzero_si256();
    mrforest_walk_of_bins walk = {{_mm256_setzero_ps(), _mm256_setzero_ps()}, none, none, none, none};
    __m256i four[4], other_four[4];
    ptrdiff_t i = 0;
    for (; i + 4 <= n_bins; i += 4) {
        mrforest_four_of_eight(zeros, i, four);
        mrforest_four_of_eight(others, i, other_four);
        mrforest_pass_bins_of_two(&walk, four, other_four, 4, all, share);
    }
    if (i < n_bins) {
        mrforest_four_of_eight(zeros, i, four);
        mrforest_four_of_eight(others, i, other_four);
        mrforest_pass_bins_of_two(&walk, four, other_four, (int)(n_bins - i), all, share);
    }
    __m256i l = walk.left_at_top, r = _mm256_sub_epi32(all, l), a = walk.x_at_top, b = _mm256_sub_epi32(l, a);
    __m256i c = _mm256_sub_epi32(share, a), d = _mm256_sub_epi32(r, c);
    mrforest_scores_256(_mm256_add_epi32(_mm256_mullo_epi32(a, a), _mm256_mullo_epi32(b, b)), l,
                        _mm256_add_epi32(_mm256_mullo_epi32(c, c), _mm256_mullo_epi32(d, d)), r, best);
    return mrforest_unsure_256(walk.top, 0x1p-19f, (float)((double)n * (double)n * 0x1p-50));
}

/* For each feature, all of n_bins bins, the score of its best cut; -INFINITY: it has none. Three cells after the
 * bins of a class may be read. At most 46,340 points. */
MRFOREST_256 static void mrforest_bins_abreast_of_two(const int32_t *const *counts, ptrdiff_t n_features, ptrdiff_t n_bins,
                                                      ptrdiff_t stride, int32_t n, int32_t ones, double *best) {
    const uint32_t *zeros[8], *others[8];
    double eight[8];
    for (; n_features > MRFOREST_FEW_ABREAST; n_features -= 8, counts += 8, best += 8) {
        ptrdiff_t m = mrforest_eight_counts(counts, n_features, zeros);
        for (int j = 0; j < 8; j++) others[j] = zeros[j] + stride;
        unsigned unsure = mrforest_eight_bins_of_two(zeros, others, n_bins, n, ones, eight) & ((1u << m) - 1);
        for (ptrdiff_t j = 0; j < m; j++) best[j] = eight[j];
        for (; unsure; unsure &= unsure - 1) {
            int j = __builtin_ctz(unsure);
            best[j] = mrforest_best_of_two_in_bins_256(counts[j], n_bins, stride, n, ones);
        }
    }
    for (ptrdiff_t j = 0; j < n_features; j++)
        best[j] = mrforest_best_of_two_in_bins_256(counts[j], n_bins, stride, n, ones);
}

/* ---- many classes --------------------------------------------------------------------------------- */

/* Classes up to which this pays: of more there is more to add up in a bin than there is to save. */
enum { MRFOREST_MOST_IN_BINS = 6 };

/* Four bins of eight features, all classes of them added up. */
typedef struct {
    __m256 of_left[4], of_right[4];
    __m256i points[4];
} mrforest_four_bins;

/* Bins from place i on. `left` has the points of each class on the left of them, and then on the left of those that
 * follow. */
static MRFOREST_INLINE MRFOREST_256 void mrforest_add_classes_256(const uint32_t *const *counts, ptrdiff_t stride,
                                                                  ptrdiff_t n_classes, ptrdiff_t i, const int64_t *totals,
                                                                  __m256i *left, mrforest_four_bins *bins) {
    for (int j = 0; j < 4; j++) {
        bins->of_left[j] = bins->of_right[j] = _mm256_setzero_ps();
        bins->points[j] = _mm256_setzero_si256();
    }
    for (ptrdiff_t k = 0; k < n_classes; k++) {
        const __m256 total = _mm256_set1_ps((float)totals[k]);
        __m256i here[4], l = left[k];
        mrforest_four_of_eight(counts, k * stride + i, here);
        for (int j = 0; j < 4; j++) {
            l = _mm256_add_epi32(l, here[j]);
            __m256 a = _mm256_cvtepi32_ps(l), b = _mm256_sub_ps(total, a);
            bins->of_left[j] = _mm256_fmadd_ps(a, a, bins->of_left[j]);
            bins->of_right[j] = _mm256_fmadd_ps(b, b, bins->of_right[j]);
            bins->points[j] = _mm256_add_epi32(bins->points[j], here[j]);
        }
        left[k] = l;
    }
}

/* The bins after which the best cuts of eight features are; return the lanes where they are not sure. */
static inline MRFOREST_256 unsigned mrforest_eight_bins_of_many(const uint32_t *const *counts, ptrdiff_t n_bins,
                                                                ptrdiff_t stride, ptrdiff_t n_classes, int32_t n,
                                                                const int64_t *totals, int32_t *cut) {
    const __m256i none = _mm256_setzero_si256(), all = _mm256_set1_epi32(n);
    mrforest_top_256 top = {_mm256_setzero_ps(), _mm256_setzero_ps()};
    mrforest_four_bins bins;
    __m256i left[MRFOREST_MOST_IN_BINS], n_left = none, bin = none, bin_at_top = none;
    for (ptrdiff_t k = 0; k < n_classes; k++) left[k] = none;
    for (ptrdiff_t i = 0; i < n_bins; i += 4) {
        mrforest_add_classes_256(counts, stride, n_classes, i, totals, left, &bins);
        for (ptrdiff_t j = 0; j < 4 && i + j < n_bins; j++) {
            n_left = _mm256_add_epi32(n_left, bins.points[j]);
            __m256i right = _mm256_sub_epi32(all, n_left);
            __m256i is_cut = _mm256_and_si256(_mm256_cmpgt_epi32(bins.points[j], none), _mm256_cmpgt_epi32(right, none));
            __m256 a = _mm256_div_ps(bins.of_left[j], _mm256_cvtepi32_ps(n_left));
            __m256 b = _mm256_div_ps(bins.of_right[j], _mm256_cvtepi32_ps(right));
            __m256 is_top = mrforest_rise_256(&top, _mm256_and_ps(_mm256_add_ps(a, b), _mm256_castsi256_ps(is_cut)));
            bin_at_top = mrforest_either_256(bin_at_top, bin, is_top);
            bin = _mm256_sub_epi32(bin, _mm256_set1_epi32(-1));
        }
    }
    mrforest_store_256(cut, bin_at_top);
    return mrforest_unsure_256(top, (float)(n_classes + 8) * 0x1p-22f, 0);
}

/* The score of the cut after a bin. */
MRFOREST_256 static double mrforest_score_after(const int32_t *counts, ptrdiff_t bin, ptrdiff_t stride, ptrdiff_t n_classes,
                                                const int64_t *totals, int32_t n) {
    int32_t left[MRFOREST_MOST_IN_BINS], n_left = 0;
    for (ptrdiff_t k = 0; k < n_classes; k++, counts += stride) {
        left[k] = 0;
        for (ptrdiff_t b = 0; b <= bin; b++) left[k] += counts[b];
        n_left += left[k];
    }
    return mrforest_gini_of_sides(left, 1, n_classes, totals, n_left, n - n_left);
}

/* The same of up to 6 classes and less than 2^24 points, which are exact as floats. Work has room for 257 numbers a
 * class. */
MRFOREST_256 static void mrforest_bins_abreast_of_many(const int32_t *const *counts, ptrdiff_t n_features, ptrdiff_t n_bins,
                                                       ptrdiff_t stride, ptrdiff_t n_classes, int32_t n,
                                                       const int64_t *totals, int32_t *work, double *best) {
    const uint32_t *eight[8];
    int32_t cut[8];
    for (; n_features > 0; n_features -= 8, counts += 8, best += 8) {
        ptrdiff_t m = mrforest_eight_counts(counts, n_features, eight);
        unsigned unsure = 255;
        if (m > MRFOREST_FEW_ABREAST)
            unsure = mrforest_eight_bins_of_many(eight, n_bins, stride, n_classes, n, totals, cut);
        for (ptrdiff_t j = 0; j < m; j++)
            best[j] = unsure >> j & 1
                          ? mrforest_best_of_many_in_bins_256(counts[j], n_bins, stride, n_classes, totals, work)
                          : mrforest_score_after(counts[j], cut[j], stride, n_classes, totals, n);
    }
}

#endif
#endif
