/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The kernels of best.h for registers of 512 bits. Scores are the same to the bit: what is computed
 * otherwise here are the cheaper numbers that rule cuts out. */
#ifndef MRFOREST_BEST_512_H
#define MRFOREST_BEST_512_H
#include "best.h"
#include "wide.h"

#define MRFOREST_MOST_512 32 /* classes, for which this pays */

#ifdef MRFOREST_WITH_512

/* Lane i has the bits 0 to i. */
#define MRFOREST_UP_TO_LANE                                                                                         \
    _mm512_setr_epi32(0x1, 0x3, 0x7, 0xF, 0x1F, 0x3F, 0x7F, 0xFF, 0x1FF, 0x3FF, 0x7FF, 0xFFF, 0x1FFF, 0x3FFF, 0x7FFF, \
                      0xFFFF)
/* 1 to 16: points left of a cut after the lane. */
#define MRFOREST_LANES _mm512_setr_ps(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)

/* Cuts that may be the best of their list. Whole numbers below 2^24 are exact as floats. */
enum { MRFOREST_CLOSE = 1024 };
typedef struct {
    ptrdiff_t n;
    float left[MRFOREST_CLOSE + 16], of_left[MRFOREST_CLOSE + 16], of_right[MRFOREST_CLOSE + 16]; /* L, sums of squares */
    int32_t list[MRFOREST_CLOSE + 16];
} mrforest_close;

/* Their scores; best has the best one of each list. */
MRFOREST_512 static void mrforest_score_close(mrforest_close *close, ptrdiff_t n, double *best) {
    const __m512d all = _mm512_set1_pd((double)n);
    for (ptrdiff_t i = 0; i < close->n; i += 8) {
        double scores[8];
        __m512d left = _mm512_cvtps_pd(_mm256_loadu_ps(close->left + i));
        __m512d of_left = _mm512_cvtps_pd(_mm256_loadu_ps(close->of_left + i));
        __m512d of_right = _mm512_cvtps_pd(_mm256_loadu_ps(close->of_right + i));
        _mm512_storeu_pd(scores, _mm512_add_pd(_mm512_div_pd(of_left, left),
                                               _mm512_div_pd(of_right, _mm512_sub_pd(all, left))));
        for (ptrdiff_t j = 0; j < 8 && i + j < close->n; j++) {
            double *so_far = best + close->list[i + j];
            *so_far = scores[j] > *so_far ? scores[j] : *so_far;
        }
    }
    close->n = 0;
}

static inline MRFOREST_512 void mrforest_add_close(mrforest_close *close, __mmask16 which, ptrdiff_t list, __m512 left,
                                                   __m512 of_left, __m512 of_right) {
    _mm512_storeu_ps(close->left + close->n, _mm512_maskz_compress_ps(which, left));
    _mm512_storeu_ps(close->of_left + close->n, _mm512_maskz_compress_ps(which, of_left));
    _mm512_storeu_ps(close->of_right + close->n, _mm512_maskz_compress_ps(which, of_right));
    _mm512_storeu_si512(close->list + close->n, _mm512_set1_epi32((int)list));
    close->n += __builtin_popcount(which);
}

/* Lanes of 16 places from place i on after which a list of n points can be cut: the next code differs. */
static inline MRFOREST_512 __mmask16 mrforest_cuts_512(const uint32_t *items, ptrdiff_t i, ptrdiff_t n) {
    __m512i differ = _mm512_xor_si512(_mm512_loadu_si512(items + i), _mm512_loadu_si512(items + i + 1));
    __mmask16 inside = (__mmask16)_bzhi_u32(0xFFFF, n - 1 - i < 16 ? (unsigned)(n - 1 - i) : 16);
    return _mm512_mask_test_epi32_mask(inside, differ, _mm512_set1_epi32((int)0xFFFF0000));
}

/* Lanes of 16 points whose class is this one. */
static inline MRFOREST_512 uint32_t mrforest_of_class_512(const uint32_t *items, uint32_t class_) {
    return _mm512_cmpeq_epi32_mask(_mm512_and_si512(_mm512_loadu_si512(items), _mm512_set1_epi32(0xFF00)),
                                   _mm512_set1_epi32((int)(class_ << 8)));
}

/* Points so far, and lanes of the mask up to and with each lane. */
static inline MRFOREST_512 __m512 mrforest_count_up_512(uint32_t so_far, uint32_t mask) {
    __m512i up_to = _mm512_and_si512(_mm512_set1_epi32((int)mask), MRFOREST_UP_TO_LANE);
    return _mm512_cvtepi32_ps(_mm512_add_epi32(_mm512_set1_epi32((int)so_far), _mm512_popcnt_epi32(up_to)));
}

static inline MRFOREST_512 __m512 mrforest_squares_512(__m512 a, __m512 b) {
    return _mm512_add_ps(_mm512_mul_ps(a, a), _mm512_mul_ps(b, b));
}

/* Two classes: for each list the score of its best cut, -INFINITY if it has none. A list begins at
 * items + place[number[i]]. */
MRFOREST_512 static void mrforest_best_of_two_512(const uint32_t *items, const ptrdiff_t *place, const int32_t *number,
                                                  ptrdiff_t n_lists, ptrdiff_t n, uint32_t one, int32_t ones,
                                                  const float *weight, double *best) {
    enum { PARTS = MRFOREST_LIST / 16 };
    const __m512 all = _mm512_set1_ps((float)n), share = _mm512_set1_ps((float)ones);
    const ptrdiff_t n_parts = (n + 14) / 16;
    __m512 gain[PARTS], x[PARTS];
    mrforest_close close;
    close.n = 0;
    for (ptrdiff_t i = 0; i < n_lists; i++) {
        const uint32_t *list = items + place[number[i]];
        __m512 largest = _mm512_setzero_ps(), left = MRFOREST_LANES;
        uint32_t so_far = 0;
        best[i] = -INFINITY;
        for (ptrdiff_t p = 0; p < n_parts; p++) {
            __mmask16 cuts = mrforest_cuts_512(list, 16 * p, n);
            uint32_t are_one = mrforest_of_class_512(list + 16 * p, one);
            x[p] = mrforest_count_up_512(so_far, are_one);
            __m512 d = _mm512_sub_ps(_mm512_mul_ps(all, x[p]), _mm512_mul_ps(share, left));
            gain[p] = _mm512_mask_mul_ps(_mm512_set1_ps(-1), cuts, _mm512_mul_ps(d, d), _mm512_loadu_ps(weight + 16 * p));
            largest = _mm512_max_ps(largest, gain[p]);
            so_far += (uint32_t)__builtin_popcount(are_one);
            left = _mm512_add_ps(left, _mm512_set1_ps(16));
        }
        float most = _mm512_reduce_max_ps(largest);
        __m512 enough = _mm512_set1_ps(most - most * 0x1p-20f);
        left = MRFOREST_LANES;
        for (ptrdiff_t p = 0; p < n_parts; p++) {
            __mmask16 which = _mm512_cmp_ps_mask(gain[p], enough, _CMP_GE_OQ);
            if (n_parts == 1 || which) {
                __m512 right = _mm512_sub_ps(all, left), y = _mm512_sub_ps(share, x[p]);
                mrforest_add_close(&close, which, i, left, mrforest_squares_512(x[p], _mm512_sub_ps(left, x[p])),
                                   mrforest_squares_512(y, _mm512_sub_ps(right, y)));
            }
            left = _mm512_add_ps(left, _mm512_set1_ps(16));
        }
        if (close.n > MRFOREST_CLOSE - MRFOREST_LIST) mrforest_score_close(&close, n, best);
    }
    mrforest_score_close(&close, n, best);
}

/* Any number of classes, of which n_present are there. They are counted by twos, in the halves of a lane. With
 * T_c points of class c in the node, l_c of them left, sum(r_c^2) = sum(T_c^2) - 2 sum(T_c l_c) + sum(l_c^2). */
MRFOREST_512 static void mrforest_best_of_many_512(const uint32_t *items, const ptrdiff_t *place, const int32_t *number,
                                                   ptrdiff_t n_lists, ptrdiff_t n, const int32_t *present,
                                                   ptrdiff_t n_present, const int32_t *totals, const float *left_weight,
                                                   const float *right_weight, double *best) {
    enum { PARTS = MRFOREST_LIST / 16, PAIRS = MRFOREST_MOST_512 / 2 };
    const __m512i up_to = _mm512_or_si512(MRFOREST_UP_TO_LANE, _mm512_slli_epi32(MRFOREST_UP_TO_LANE, 16));
    const ptrdiff_t n_parts = (n + 14) / 16, n_pairs = (n_present + 1) / 2;
    __m512 about[PARTS], of_left[PARTS], of_right[PARTS];
    int32_t class0[PAIRS], class1[PAIRS], in_all[PAIRS], so_far[PAIRS], squares = 0;
    mrforest_close close;
    close.n = 0;
    for (ptrdiff_t k = 0; k < n_pairs; k++) {
        int has_two = 2 * k + 1 < n_present;
        int32_t total0 = totals[present[2 * k]], total1 = has_two ? totals[present[2 * k + 1]] : 0;
        class0[k] = present[2 * k] << 8;
        class1[k] = has_two ? present[2 * k + 1] << 8 : -1;
        in_all[k] = total0 | total1 << 16;
        squares += total0 * total0 + total1 * total1;
    }
    for (ptrdiff_t i = 0; i < n_lists; i++) {
        const uint32_t *list = items + place[number[i]];
        __m512 largest = _mm512_setzero_ps(), left = MRFOREST_LANES;
        best[i] = -INFINITY;
        for (ptrdiff_t k = 0; k < n_pairs; k++) so_far[k] = 0;
        for (ptrdiff_t p = 0; p < n_parts; p++) {
            __m512i classes = _mm512_and_si512(_mm512_loadu_si512(list + 16 * p), _mm512_set1_epi32(0xFF00));
            __m512i of_l = _mm512_setzero_si512(), both = _mm512_setzero_si512();
            for (ptrdiff_t k = 0; k < n_pairs; k++) {
                uint32_t are0 = _mm512_cmpeq_epi32_mask(classes, _mm512_set1_epi32(class0[k]));
                uint32_t are1 = _mm512_cmpeq_epi32_mask(classes, _mm512_set1_epi32(class1[k]));
                __m512i masks = _mm512_and_si512(_mm512_set1_epi32((int)(are0 | are1 << 16)), up_to);
                __m512i l = _mm512_add_epi16(_mm512_popcnt_epi16(masks), _mm512_set1_epi32(so_far[k]));
                of_l = _mm512_dpwssd_epi32(of_l, l, l);
                both = _mm512_dpwssd_epi32(both, l, _mm512_set1_epi32(in_all[k]));
                so_far[k] += __builtin_popcount(are0) + (__builtin_popcount(are1) << 16);
            }
            __m512i of_r = _mm512_add_epi32(_mm512_sub_epi32(_mm512_set1_epi32(squares), _mm512_slli_epi32(both, 1)), of_l);
            of_left[p] = _mm512_cvtepi32_ps(of_l);
            of_right[p] = _mm512_cvtepi32_ps(of_r);
            __m512 a = _mm512_mul_ps(of_left[p], _mm512_loadu_ps(left_weight + 16 * p));
            __m512 b = _mm512_mul_ps(of_right[p], _mm512_loadu_ps(right_weight + 16 * p));
            about[p] = _mm512_mask_add_ps(_mm512_set1_ps(-1), mrforest_cuts_512(list, 16 * p, n), a, b);
            largest = _mm512_max_ps(largest, about[p]);
        }
        float most = _mm512_reduce_max_ps(largest);
        __m512 enough = _mm512_set1_ps(most - most * 0x1p-20f);
        for (ptrdiff_t p = 0; p < n_parts; p++) {
            __mmask16 which = _mm512_cmp_ps_mask(about[p], enough, _CMP_GE_OQ);
            if (n_parts == 1 || which) mrforest_add_close(&close, which, i, left, of_left[p], of_right[p]);
            left = _mm512_add_ps(left, _mm512_set1_ps(16));
        }
        if (close.n > MRFOREST_CLOSE - MRFOREST_LIST) mrforest_score_close(&close, n, best);
    }
    mrforest_score_close(&close, n, best);
}

/* ---- bins --------------------------------------------------------------------------------------- */

/* Sums of the lanes up to and with each lane. */
static inline MRFOREST_512 __m512i mrforest_sums_512(__m512i v) {
    const __m512i none = _mm512_setzero_si512();
    v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, none, 15));
    v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, none, 14));
    v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, none, 12));
    return _mm512_add_epi32(v, _mm512_alignr_epi32(v, none, 8));
}

static inline MRFOREST_512 __m512i mrforest_last_512(__m512i v) {
    return _mm512_permutexvar_epi32(_mm512_set1_epi32(15), v);
}

/* Bins of two classes, in which points on the left and ones among them are counted up. */
typedef struct {
    const int32_t *counts;
    ptrdiff_t n_bins, stride;
    int32_t n, ones;
    __m512i of_left, of_ones; /* so far */
} mrforest_two_bins;

/* The next 16, from bin b on; return after which of them there is a cut. */
static inline MRFOREST_512 __mmask16 mrforest_next_bins_512(mrforest_two_bins *bins, ptrdiff_t b, __m512i *left, __m512i *x) {
    __mmask16 inside = (__mmask16)_bzhi_u32(0xFFFF, bins->n_bins - b < 16 ? (unsigned)(bins->n_bins - b) : 16);
    __m512i others = _mm512_maskz_loadu_epi32(inside, bins->counts + bins->stride + b);
    __m512i both = _mm512_add_epi32(_mm512_maskz_loadu_epi32(inside, bins->counts + b), others);
    *left = _mm512_add_epi32(bins->of_left, mrforest_sums_512(both));
    *x = _mm512_add_epi32(bins->of_ones, mrforest_sums_512(others));
    bins->of_left = mrforest_last_512(*left);
    bins->of_ones = mrforest_last_512(*x);
    return _mm512_mask_cmplt_epi32_mask(_mm512_test_epi32_mask(both, both), *left, _mm512_set1_epi32(bins->n));
}

static inline MRFOREST_512 double mrforest_best_of_lanes_512(uint32_t which, const mrforest_two_bins *bins, const __m512i *left,
                                                             const __m512i *x, double best) {
    for (; which; which &= which - 1) {
        unsigned lane = (unsigned)__builtin_ctz(which);
        double score = mrforest_gini_of_two(bins->n, bins->ones, ((const int32_t *)left)[lane], ((const int32_t *)x)[lane]);
        best = score > best ? score : best;
    }
    return best;
}

/* The gain of a few points, 16 at a time: n x is exact as a float. Right to a share of 2^-21. */
static inline MRFOREST_512 __m512 mrforest_gain_of_few_512(__m512i left, __m512i x, float n, float ones) {
    __m512 l = _mm512_cvtepi32_ps(left), all = _mm512_set1_ps(n);
    __m512 d = _mm512_sub_ps(_mm512_mul_ps(all, _mm512_cvtepi32_ps(x)), _mm512_mul_ps(_mm512_set1_ps(ones), l));
    __m512 area = _mm512_max_ps(_mm512_mul_ps(l, _mm512_sub_ps(all, l)), _mm512_set1_ps(1));
    __m512 inverse = _mm512_rcp14_ps(area);
    inverse = _mm512_mul_ps(inverse, _mm512_fnmadd_ps(area, inverse, _mm512_set1_ps(2)));
    return _mm512_mul_ps(_mm512_mul_ps(d, d), inverse);
}

/* The gain of any number, 8 at a time, right to a share of 2^-25. */
static inline MRFOREST_512 __m512d mrforest_gain_of_any_512(__m256i left, __m256i x, double n, double ones) {
    __m512d l = _mm512_cvtepi32_pd(left), all = _mm512_set1_pd(n);
    __m512d d = _mm512_sub_pd(_mm512_mul_pd(all, _mm512_cvtepi32_pd(x)), _mm512_mul_pd(_mm512_set1_pd(ones), l));
    __m512d area = _mm512_max_pd(_mm512_mul_pd(l, _mm512_sub_pd(all, l)), _mm512_set1_pd(1));
    __m512d inverse = _mm512_rcp14_pd(area);
    inverse = _mm512_mul_pd(inverse, _mm512_fnmadd_pd(area, inverse, _mm512_set1_pd(2)));
    return _mm512_mul_pd(_mm512_mul_pd(d, d), inverse);
}

MRFOREST_512 static double mrforest_best_of_two_in_bins_512(const int32_t *counts, ptrdiff_t n_bins, ptrdiff_t stride,
                                                            int32_t n, int32_t ones) {
    enum { PARTS = 16, FEW = 4096 };
    mrforest_two_bins bins = {counts, n_bins, stride, n, ones, _mm512_setzero_si512(), _mm512_setzero_si512()};
    const double slack = (double)n * (double)n * 0x1p-51;
    __m512i left[PARTS], x[PARTS];
    double most = 0, best = -INFINITY;
    for (ptrdiff_t first = 0; first < n_bins; first += 16 * PARTS) {
        ptrdiff_t n_parts = n_bins - first < 16 * PARTS ? (n_bins - first + 15) / 16 : PARTS;
        if (n <= FEW) {
            __m512 gain[PARTS], largest = _mm512_setzero_ps();
            for (ptrdiff_t p = 0; p < n_parts; p++) {
                __mmask16 cuts = mrforest_next_bins_512(&bins, first + 16 * p, &left[p], &x[p]);
                __m512 here = mrforest_gain_of_few_512(left[p], x[p], (float)n, (float)ones);
                gain[p] = _mm512_mask_mov_ps(_mm512_set1_ps(-1), cuts, here);
                largest = _mm512_max_ps(largest, gain[p]);
            }
            most = fmax(most, _mm512_reduce_max_ps(largest));
            __m512 enough = _mm512_set1_ps((float)fmax(most - most * 0x1p-19 - slack, 0));
            for (ptrdiff_t p = 0; p < n_parts; p++)
                best = mrforest_best_of_lanes_512(_mm512_cmp_ps_mask(gain[p], enough, _CMP_GE_OQ), &bins, &left[p], &x[p], best);
        } else {
            __m512d low[PARTS], high[PARTS], no_cut = _mm512_set1_pd(-1), largest = _mm512_setzero_pd();
            for (ptrdiff_t p = 0; p < n_parts; p++) {
                __mmask16 cuts = mrforest_next_bins_512(&bins, first + 16 * p, &left[p], &x[p]);
                __m512d here = mrforest_gain_of_any_512(_mm512_castsi512_si256(left[p]), _mm512_castsi512_si256(x[p]), n, ones);
                low[p] = _mm512_mask_mov_pd(no_cut, (__mmask8)cuts, here);
                here = mrforest_gain_of_any_512(_mm512_extracti64x4_epi64(left[p], 1), _mm512_extracti64x4_epi64(x[p], 1), n, ones);
                high[p] = _mm512_mask_mov_pd(no_cut, (__mmask8)(cuts >> 8), here);
                largest = _mm512_max_pd(largest, _mm512_max_pd(low[p], high[p]));
            }
            most = fmax(most, _mm512_reduce_max_pd(largest));
            __m512d enough = _mm512_set1_pd(fmax(most - most * 0x1p-24 - slack, 0));
            for (ptrdiff_t p = 0; p < n_parts; p++) {
                uint32_t which = _mm512_cmp_pd_mask(low[p], enough, _CMP_GE_OQ);
                which |= (uint32_t)_mm512_cmp_pd_mask(high[p], enough, _CMP_GE_OQ) << 8;
                best = mrforest_best_of_lanes_512(which, &bins, &left[p], &x[p], best);
            }
        }
    }
    return best;
}

/* Any number of classes. Work has room for classes x 257. Scores are computed as floats first, right to a share of
 * (classes + 4) 2^-23. */
MRFOREST_512 static double mrforest_best_of_many_in_bins_512(const int32_t *counts, ptrdiff_t n_bins, ptrdiff_t stride,
                                                             ptrdiff_t n_classes, const int64_t *totals, int32_t *work) {
    enum { PARTS = 16, PART = 16 * PARTS };
    const float share = (float)(n_classes + 8) * 0x1p-22f;
    int32_t *so_far = work + n_classes * PART, n = 0, left_of[PART];
    float about[PART], most = 0;
    double best = -INFINITY;
    for (ptrdiff_t k = 0; k < n_classes; k++) {
        so_far[k] = 0;
        n += (int32_t)totals[k];
    }
    __m512i of_left = _mm512_setzero_si512();
    for (ptrdiff_t first = 0; first < n_bins; first += PART) {
        ptrdiff_t m = n_bins - first < PART ? n_bins - first : PART;
        __m512 largest = _mm512_set1_ps(most);
        for (ptrdiff_t i = 0; i < m; i += 16) {
            __mmask16 inside = (__mmask16)_bzhi_u32(0xFFFF, m - i < 16 ? (unsigned)(m - i) : 16);
            __m512i left = _mm512_setzero_si512();
            __m512 of_l = _mm512_setzero_ps(), of_r = _mm512_setzero_ps();
            for (ptrdiff_t k = 0; k < n_classes; k++) {
                __m512i here = _mm512_maskz_loadu_epi32(inside, counts + k * stride + first + i);
                __m512i l = _mm512_add_epi32(mrforest_sums_512(here), _mm512_set1_epi32(so_far[k]));
                __m512 a = _mm512_cvtepi32_ps(l);
                __m512 b = _mm512_cvtepi32_ps(_mm512_sub_epi32(_mm512_set1_epi32((int32_t)totals[k]), l));
                _mm512_storeu_si512(work + k * PART + i, l);
                so_far[k] = work[k * PART + i + 15];
                left = _mm512_add_epi32(left, l);
                of_l = _mm512_fmadd_ps(a, a, of_l);
                of_r = _mm512_fmadd_ps(b, b, of_r);
            }
            __m512i before = _mm512_alignr_epi32(left, of_left, 15);
            __mmask16 cuts = _mm512_mask_cmpneq_epi32_mask(_mm512_cmplt_epi32_mask(left, _mm512_set1_epi32(n)), left, before);
            __m512 right = _mm512_cvtepi32_ps(_mm512_sub_epi32(_mm512_set1_epi32(n), left));
            __m512 a = _mm512_div_ps(of_l, _mm512_cvtepi32_ps(left)), b = _mm512_div_ps(of_r, right);
            __m512 sum = _mm512_mask_add_ps(_mm512_set1_ps(-1), cuts, a, b);
            largest = _mm512_max_ps(largest, sum);
            of_left = mrforest_last_512(left);
            _mm512_storeu_ps(about + i, sum);
            _mm512_storeu_si512(left_of + i, left);
        }
        most = _mm512_reduce_max_ps(largest);
        __m512 enough = _mm512_set1_ps(most - most * share);
        for (ptrdiff_t i = 0; i < m; i += 16) {
            uint32_t close = _mm512_cmp_ps_mask(_mm512_loadu_ps(about + i), enough, _CMP_GE_OQ);
            for (; close; close &= close - 1) {
                ptrdiff_t b = i + __builtin_ctz(close);
                double score = mrforest_gini_of_sides(work + b, PART, n_classes, totals, left_of[b], n - left_of[b]);
                best = score > best ? score : best;
            }
        }
    }
    return best;
}

/* ---- parting ------------------------------------------------------------------------------------ */

/* Points whose bit in is_left, by their number, is set come first, else all keep their order. */
static inline MRFOREST_512 void mrforest_part_list_512(uint32_t *items, ptrdiff_t n, __m512i is_left) {
    uint32_t others[MRFOREST_LIST + 16];
    ptrdiff_t n_left = 0, n_right = 0;
    for (ptrdiff_t i = 0; i < n; i += 16) {
        __mmask16 inside = (__mmask16)_bzhi_u32(0xFFFF, n - i < 16 ? (unsigned)(n - i) : 16);
        __m512i here = _mm512_loadu_si512(items + i);
        __m512i word = _mm512_permutexvar_epi32(_mm512_and_si512(_mm512_srli_epi32(here, 5), _mm512_set1_epi32(7)), is_left);
        __m512i bit = _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_and_si512(here, _mm512_set1_epi32(31)));
        __mmask16 left = _mm512_mask_test_epi32_mask(inside, word, bit), right = (__mmask16)(inside & ~left);
        unsigned n_here = (unsigned)__builtin_popcount(left);
        /* What is written here has been read: there are no more left ones than points so far. */
        _mm512_mask_storeu_epi32(items + n_left, (__mmask16)_bzhi_u32(0xFFFF, n_here), _mm512_maskz_compress_epi32(left, here));
        _mm512_storeu_si512(others + n_right, _mm512_maskz_compress_epi32(right, here));
        n_left += n_here;
        n_right += __builtin_popcount(right);
    }
    for (ptrdiff_t i = 0; i < n_right; i += 16) {
        __mmask16 inside = (__mmask16)_bzhi_u32(0xFFFF, n_right - i < 16 ? (unsigned)(n_right - i) : 16);
        _mm512_mask_storeu_epi32(items + n_left + i, inside, _mm512_loadu_si512(others + i));
    }
}

MRFOREST_512 static void mrforest_part_lists_512(uint32_t *items, const ptrdiff_t *place, const int32_t *number,
                                                 ptrdiff_t n_lists, ptrdiff_t n, const uint8_t *is_left) {
    uint64_t words[8] = {0};
    for (int w = 0; w < MRFOREST_LIST / 64; w++) {
        __m512i bytes = _mm512_loadu_si512(is_left + 64 * w);
        words[w] = _mm512_test_epi8_mask(bytes, bytes);
    }
    __m512i bits = _mm512_loadu_si512(words);
    for (ptrdiff_t i = 0; i < n_lists; i++) mrforest_part_list_512(items + place[number[i]], n, bits);
}

#endif
#endif
