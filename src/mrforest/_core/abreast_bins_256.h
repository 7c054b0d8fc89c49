/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The best scores of features that are counted, of two classes, eight abreast. (Of more classes there is more to add up
 * in a bin than there is to save.) */
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

#endif
#endif
