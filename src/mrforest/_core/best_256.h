/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The kernels of best.h for registers of 256 bits. Scores are the same to the bit: what is computed
 * otherwise here are the cheaper numbers that rule cuts out. */
#ifndef MRFOREST_BEST_256_H
#define MRFOREST_BEST_256_H
#include "best.h"
#include "lanes.h"
#include "wide.h"

#ifdef MRFOREST_WITH_256

static inline MRFOREST_256 float mrforest_largest_256(__m256 v) {
    __m128 m = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    m = _mm_max_ps(m, _mm_movehl_ps(m, m));
    return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
}

/* v, and -1 in the other lanes. */
static inline MRFOREST_256 __m256 mrforest_only_256(__m256 v, __m256i lanes) {
    return _mm256_blendv_ps(_mm256_set1_ps(-1), v, _mm256_castsi256_ps(lanes));
}

static inline MRFOREST_256 unsigned mrforest_at_least_256(__m256 v, float enough) {
    return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(v, _mm256_set1_ps(enough), _CMP_GE_OQ));
}

/* ---- lists -------------------------------------------------------------------------------------- */

/* Cuts that may be the best of their list: points on the left, and sums of squares. */
enum { MRFOREST_CLOSE_256 = 1024 };
typedef struct {
    ptrdiff_t n;
    int32_t left[MRFOREST_CLOSE_256], of_left[MRFOREST_CLOSE_256], of_right[MRFOREST_CLOSE_256];
    int32_t list[MRFOREST_CLOSE_256];
} mrforest_close_256;

/* Their scores; best has the best one of each list. */
MRFOREST_256 static void mrforest_score_close_256(mrforest_close_256 *close, int32_t n, double *best) {
    double scores[MRFOREST_CLOSE_256];
    for (ptrdiff_t i = 0; i < close->n; i++)
        scores[i] = (double)close->of_left[i] / (double)close->left[i] +
                    (double)close->of_right[i] / (double)(n - close->left[i]);
    for (ptrdiff_t i = 0; i < close->n; i++) {
        double *so_far = best + close->list[i];
        *so_far = scores[i] > *so_far ? scores[i] : *so_far;
    }
    close->n = 0;
}

static inline void mrforest_add_close_256(mrforest_close_256 *close, ptrdiff_t list, int32_t left, int32_t of_left,
                                          int32_t of_right) {
    close->left[close->n] = left;
    close->of_left[close->n] = of_left;
    close->of_right[close->n] = of_right;
    close->list[close->n] = (int32_t)list;
    close->n++;
}

/* Lanes of 8 places from place i on after which a list of n points can be cut: the next code differs. */
static inline MRFOREST_256 __m256i mrforest_cuts_256(const uint32_t *items, ptrdiff_t i, ptrdiff_t n) {
    __m256i differ = _mm256_xor_si256(mrforest_load_256(items + i), mrforest_load_256(items + i + 1));
    __m256i is_same = _mm256_cmpeq_epi32(_mm256_srli_epi32(differ, 16), _mm256_setzero_si256());
    return _mm256_andnot_si256(is_same, mrforest_first_256(n - 1 - i));
}

/* Two classes: for each list the score of its best cut, -INFINITY if it has none. A list begins at
 * items + place[number[i]]. */
MRFOREST_256 static void mrforest_best_of_two_256(const uint32_t *items, const ptrdiff_t *place, const int32_t *number,
                                                  ptrdiff_t n_lists, ptrdiff_t n, uint32_t one, int32_t ones,
                                                  const float *weight, double *best) {
    enum { PARTS = MRFOREST_LIST / 8 };
    const __m256 all = _mm256_set1_ps((float)n), share = _mm256_set1_ps((float)ones);
    const __m256i the_one = _mm256_set1_epi32((int32_t)(one << 8)), class_bits = _mm256_set1_epi32(0xFF00);
    const ptrdiff_t n_parts = (n + 6) / 8;
    int32_t x[MRFOREST_LIST];
    __m256 gain[PARTS];
    mrforest_close_256 close;
    close.n = 0;
    for (ptrdiff_t i = 0; i < n_lists; i++) {
        const uint32_t *list = items + place[number[i]];
        __m256 largest = _mm256_setzero_ps(), left = _mm256_setr_ps(1, 2, 3, 4, 5, 6, 7, 8);
        int32_t so_far = 0;
        best[i] = -INFINITY;
        for (ptrdiff_t p = 0; p < n_parts; p++) {
            __m256i classes = _mm256_and_si256(mrforest_load_256(list + 8 * p), class_bits);
            unsigned are_one = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(classes, the_one)));
            __m256i ones_left = _mm256_add_epi32(mrforest_widen_256(mrforest_counts_up + are_one), _mm256_set1_epi32(so_far));
            __m256 d = _mm256_sub_ps(_mm256_mul_ps(all, _mm256_cvtepi32_ps(ones_left)), _mm256_mul_ps(share, left));
            __m256 here = _mm256_mul_ps(_mm256_mul_ps(d, d), _mm256_loadu_ps(weight + 8 * p));
            gain[p] = mrforest_only_256(here, mrforest_cuts_256(list, 8 * p, n));
            largest = _mm256_max_ps(largest, gain[p]);
            mrforest_store_256(x + 8 * p, ones_left);
            so_far += __builtin_popcount(are_one);
            left = _mm256_add_ps(left, _mm256_set1_ps(8));
        }
        float most = mrforest_largest_256(largest), enough = most - most * 0x1p-20f;
        for (ptrdiff_t p = 0; p < n_parts; p++)
            for (unsigned which = mrforest_at_least_256(gain[p], enough); which; which &= which - 1) {
                int32_t at = 8 * (int32_t)p + __builtin_ctz(which), l = at + 1, a = x[at], b = ones - a;
                int32_t others_left = l - a, others_right = (int32_t)n - l - b;
                mrforest_add_close_256(&close, i, l, a * a + others_left * others_left, b * b + others_right * others_right);
            }
        if (close.n > MRFOREST_CLOSE_256 - MRFOREST_LIST) mrforest_score_close_256(&close, (int32_t)n, best);
    }
    mrforest_score_close_256(&close, (int32_t)n, best);
}

/* Points whose bit in is_left, by their number, is set come first, else all keep their order; a side that nobody wants
 * is left as it comes. */
static MRFOREST_INLINE MRFOREST_256 void mrforest_part_list_256(uint32_t *items, ptrdiff_t n, __m256i is_left, int sides) {
    uint32_t others[MRFOREST_LIST + 8];
    ptrdiff_t n_left = 0, n_right = 0;
    __m256i after = mrforest_load_256(items + n); /* eight are written at a time, some of them there */
    for (ptrdiff_t i = 0; i < n; i += 8) {
        __m256i here = mrforest_load_256(items + i);
        __m256i word = _mm256_permutevar8x32_epi32(is_left, _mm256_srli_epi32(here, 5)); /* its low three bits count */
        __m256i top = _mm256_sllv_epi32(word, _mm256_andnot_si256(here, _mm256_set1_epi32(31)));
        unsigned inside = n - i < 8 ? (1u << (n - i)) - 1 : 255u;
        unsigned which = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(top)) & inside, rest = which ^ inside;
        /* What is written here has been read: there are no more left ones than points so far. */
        if (sides & MRFOREST_LEFT) mrforest_store_256(items + n_left, mrforest_ones_first_256(here, which));
        if (sides & MRFOREST_RIGHT) mrforest_store_256(others + n_right, mrforest_ones_first_256(here, rest));
        n_left += __builtin_popcount(which);
        n_right += __builtin_popcount(rest);
    }
    if (sides & MRFOREST_RIGHT)
        for (ptrdiff_t i = 0; i < n_right; i += 8) mrforest_store_256(items + n_left + i, mrforest_load_256(others + i));
    mrforest_store_256(items + n, after);
}

MRFOREST_256 static void mrforest_part_lists_256(uint32_t *items, const ptrdiff_t *place, const int32_t *number,
                                                 ptrdiff_t n_lists, ptrdiff_t n, const uint8_t *is_left, int sides) {
    uint32_t words[8];
    for (int w = 0; w < 8; w++)
        words[w] = (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(mrforest_load_256(is_left + 32 * w), 7));
    __m256i bits = mrforest_load_256(words);
    for (ptrdiff_t i = 0; i < n_lists; i++) {
        uint32_t *list = items + place[number[i]];
        if (sides == MRFOREST_LEFT)
            mrforest_part_list_256(list, n, bits, MRFOREST_LEFT);
        else if (sides == MRFOREST_RIGHT)
            mrforest_part_list_256(list, n, bits, MRFOREST_RIGHT);
        else
            mrforest_part_list_256(list, n, bits, MRFOREST_LEFT | MRFOREST_RIGHT);
    }
}

/* ---- bins --------------------------------------------------------------------------------------- */

/* Sums of the lanes up to and with each lane. */
static inline MRFOREST_256 __m256i mrforest_sums_256(__m256i v) {
    v = _mm256_add_epi32(v, _mm256_slli_si256(v, 4));
    v = _mm256_add_epi32(v, _mm256_slli_si256(v, 8));
    __m256i low = _mm256_permute2x128_si256(v, v, 0x08); /* the low half above, 0 below */
    return _mm256_add_epi32(v, _mm256_shuffle_epi32(low, 0xFF));
}

static inline MRFOREST_256 __m256i mrforest_last_256(__m256i v) {
    return _mm256_permutevar8x32_epi32(v, _mm256_set1_epi32(7));
}

enum { MRFOREST_PART_256 = 256 }; /* bins that are looked at together */

/* Two classes, n points, at most 46,340: then n^2 < 2^31. Gains are right to a share of 2^-21. */
MRFOREST_256 static double mrforest_best_of_two_in_bins_256(const int32_t *counts, ptrdiff_t n_bins, ptrdiff_t stride,
                                                            int32_t n, int32_t ones) {
    enum { PARTS = MRFOREST_PART_256 / 8 };
    const double slack = (double)n * (double)n * 0x1p-51;
    const __m256i all = _mm256_set1_epi32(n);
    int32_t left[MRFOREST_PART_256], x[MRFOREST_PART_256];
    __m256i of_left = _mm256_setzero_si256(), of_ones = of_left;
    __m256 gain[PARTS];
    float most = 0;
    double best = -INFINITY;
    for (ptrdiff_t first = 0; first < n_bins; first += MRFOREST_PART_256) {
        ptrdiff_t m = n_bins - first < MRFOREST_PART_256 ? n_bins - first : MRFOREST_PART_256, n_parts = (m + 7) / 8;
        __m256 largest = _mm256_set1_ps(most);
        for (ptrdiff_t p = 0; p < n_parts; p++) {
            const int32_t *zeros = counts + first + 8 * p;
            __m256i inside = mrforest_first_256(m - 8 * p);
            __m256i others = _mm256_maskload_epi32(zeros + stride, inside);
            __m256i both = _mm256_add_epi32(_mm256_maskload_epi32(zeros, inside), others);
            __m256i l = _mm256_add_epi32(of_left, mrforest_sums_256(both));
            __m256i a = _mm256_add_epi32(of_ones, mrforest_sums_256(others));
            __m256i is_cut = _mm256_andnot_si256(_mm256_cmpeq_epi32(both, _mm256_setzero_si256()), _mm256_cmpgt_epi32(all, l));
            __m256 d = _mm256_cvtepi32_ps(
                _mm256_sub_epi32(_mm256_mullo_epi32(all, a), _mm256_mullo_epi32(_mm256_set1_epi32(ones), l)));
            __m256 area = _mm256_mul_ps(_mm256_cvtepi32_ps(l), _mm256_cvtepi32_ps(_mm256_sub_epi32(all, l)));
            gain[p] = mrforest_only_256(_mm256_div_ps(_mm256_mul_ps(d, d), area), is_cut);
            largest = _mm256_max_ps(largest, gain[p]);
            of_left = mrforest_last_256(l);
            of_ones = mrforest_last_256(a);
            mrforest_store_256(left + 8 * p, l);
            mrforest_store_256(x + 8 * p, a);
        }
        most = mrforest_largest_256(largest);
        float enough = (float)fmax(most - most * 0x1p-19 - slack, 0);
        for (ptrdiff_t p = 0; p < n_parts; p++)
            for (unsigned which = mrforest_at_least_256(gain[p], enough); which; which &= which - 1) {
                ptrdiff_t at = 8 * p + __builtin_ctz(which);
                double score = mrforest_gini_of_two(n, ones, left[at], x[at]);
                best = score > best ? score : best;
            }
    }
    return best;
}

/* Any number of classes. Work has room for classes x 257. Scores are computed as floats first, right to a share of
 * (classes + 4) 2^-23. */
MRFOREST_256 static double mrforest_best_of_many_in_bins_256(const int32_t *counts, ptrdiff_t n_bins, ptrdiff_t stride,
                                                             ptrdiff_t n_classes, const int64_t *totals, int32_t *work) {
    enum { PART = MRFOREST_PART_256 };
    const float share = (float)(n_classes + 8) * 0x1p-22f;
    int32_t *so_far = work + n_classes * PART, n = 0, left_of[PART];
    float about[PART], most = 0;
    double best = -INFINITY;
    for (ptrdiff_t k = 0; k < n_classes; k++) {
        so_far[k] = 0;
        n += (int32_t)totals[k];
    }
    const __m256i all = _mm256_set1_epi32(n);
    for (ptrdiff_t first = 0; first < n_bins; first += PART) {
        ptrdiff_t m = n_bins - first < PART ? n_bins - first : PART;
        __m256 largest = _mm256_set1_ps(most);
        for (ptrdiff_t i = 0; i < m; i += 8) {
            __m256i inside = mrforest_first_256(m - i), left = _mm256_setzero_si256(), points = left;
            __m256 of_l = _mm256_setzero_ps(), of_r = of_l;
            for (ptrdiff_t k = 0; k < n_classes; k++) {
                __m256i here = _mm256_maskload_epi32(counts + k * stride + first + i, inside);
                __m256i l = _mm256_add_epi32(mrforest_sums_256(here), _mm256_set1_epi32(so_far[k]));
                __m256 a = _mm256_cvtepi32_ps(l);
                __m256 b = _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_set1_epi32((int32_t)totals[k]), l));
                mrforest_store_256(work + k * PART + i, l);
                so_far[k] = _mm256_extract_epi32(l, 7);
                left = _mm256_add_epi32(left, l);
                points = _mm256_add_epi32(points, here);
                of_l = _mm256_fmadd_ps(a, a, of_l);
                of_r = _mm256_fmadd_ps(b, b, of_r);
            }
            __m256i is_cut = _mm256_andnot_si256(_mm256_cmpeq_epi32(points, _mm256_setzero_si256()), _mm256_cmpgt_epi32(all, left));
            __m256 a = _mm256_div_ps(of_l, _mm256_cvtepi32_ps(left));
            __m256 b = _mm256_div_ps(of_r, _mm256_cvtepi32_ps(_mm256_sub_epi32(all, left)));
            __m256 sum = mrforest_only_256(_mm256_add_ps(a, b), is_cut);
            largest = _mm256_max_ps(largest, sum);
            _mm256_storeu_ps(about + i, sum);
            mrforest_store_256(left_of + i, left);
        }
        most = mrforest_largest_256(largest);
        float enough = most - most * share;
        for (ptrdiff_t i = 0; i < m; i += 8)
            for (unsigned which = mrforest_at_least_256(_mm256_loadu_ps(about + i), enough); which; which &= which - 1) {
                ptrdiff_t b = i + __builtin_ctz(which);
                double score = mrforest_gini_of_sides(work + b, PART, n_classes, totals, left_of[b], n - left_of[b]);
                best = score > best ? score : best;
            }
    }
    return best;
}

#endif
#endif
