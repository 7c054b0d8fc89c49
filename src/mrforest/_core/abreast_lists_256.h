/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The best scores of lists, eight abreast. */
#ifndef MRFOREST_ABREAST_LISTS_256_H
#define MRFOREST_ABREAST_LISTS_256_H
#include "abreast_256.h"
#include "best.h"
#include "best_256.h"
#include "wide.h"

#ifdef MRFOREST_WITH_256

/* Lists of eight features from one place on; the last one stands for those that are not there. Return how many are. */
static inline ptrdiff_t mrforest_eight_lists(const uint32_t *items, const ptrdiff_t *place, const int32_t *number,
                                             ptrdiff_t n_lists, const uint32_t **list) {
    ptrdiff_t n = n_lists < 8 ? n_lists : 8;
    for (ptrdiff_t j = 0; j < 8; j++) list[j] = items + place[number[j < n ? j : n - 1]];
    return n;
}

static inline int mrforest_is_constant(const uint32_t *list, ptrdiff_t n) { return list[0] >> 16 == list[n - 1] >> 16; }

/* ---- two classes ---------------------------------------------------------------------------------- */

/* The distance n x - n_1 L, see best.h, is a whole number; a point adds to it. */
static inline MRFOREST_256 __m256 mrforest_step_of_two_256(__m256i point, __m256i one, __m256 n, __m256 ones) {
    __m256i is_one = _mm256_cmpeq_epi32(_mm256_and_si256(point, _mm256_set1_epi32(0xFF00)), one);
    return _mm256_sub_ps(_mm256_and_ps(n, _mm256_castsi256_ps(is_one)), ones);
}

/* A walk along eight lists. */
typedef struct {
    mrforest_top_256 top;
    __m256 distance, distance_at_top;
    __m256i left, left_at_top, code;
} mrforest_walk_of_two;

/* Some points: the cut before each, if the code changes there, then the point itself. */
static MRFOREST_INLINE MRFOREST_256 void mrforest_pass_points_of_two(mrforest_walk_of_two *walk, const __m256i *points, int m,
                                                                     const float *weight, __m256i one, __m256 n, __m256 ones) {
    for (int j = 0; j < m; j++) {
        __m256i code = _mm256_srli_epi32(points[j], 16), is_cut = _mm256_cmpgt_epi32(code, walk->code);
        __m256 gain = _mm256_mul_ps(_mm256_mul_ps(walk->distance, walk->distance), _mm256_broadcast_ss(weight + j));
        __m256 is_top = mrforest_rise_256(&walk->top, _mm256_and_ps(gain, _mm256_castsi256_ps(is_cut)));
        walk->distance_at_top = _mm256_blendv_ps(walk->distance_at_top, walk->distance, is_top);
        walk->left_at_top = mrforest_either_256(walk->left_at_top, walk->left, is_top);
        walk->distance = _mm256_add_ps(walk->distance, mrforest_step_of_two_256(points[j], one, n, ones));
        walk->left = _mm256_sub_epi32(walk->left, _mm256_set1_epi32(-1));
        walk->code = code;
    }
}

/* The best scores of eight lists; return the lanes where they are not sure. */
static inline MRFOREST_256 unsigned mrforest_eight_of_two_256(const uint32_t *const *list, ptrdiff_t n, uint32_t one,
                                                              int32_t ones, const float *weight, double *best) {
    const __m256 all = _mm256_set1_ps((float)n), share = _mm256_set1_ps((float)ones), zero = _mm256_setzero_ps();
    const __m256i the_one = _mm256_set1_epi32((int32_t)(one << 8)), first = _mm256_set1_epi32(1);
    mrforest_walk_of_two walk = {{zero, zero}, zero, zero, first, first, first};
    __m256i four[4];
    ptrdiff_t i = 1;
    mrforest_four_of_eight(list, 0, four);
    walk.code = _mm256_srli_epi32(four[0], 16);
    walk.distance = mrforest_step_of_two_256(four[0], the_one, all, share);
    for (; i + 4 <= n; i += 4) {
        mrforest_four_of_eight(list, i, four);
        mrforest_pass_points_of_two(&walk, four, 4, weight + i - 1, the_one, all, share);
    }
    if (i < n) {
        mrforest_four_of_eight(list, i, four);
        mrforest_pass_points_of_two(&walk, four, (int)(n - i), weight + i - 1, the_one, all, share);
    }
    __m256i l = walk.left_at_top, r = _mm256_sub_epi32(_mm256_set1_epi32((int32_t)n), l);
    /* n x over n: a whole number, and no quotient is rounded. */
    __m256 n_x = _mm256_add_ps(walk.distance_at_top, _mm256_mul_ps(share, _mm256_cvtepi32_ps(l)));
    __m256i a = _mm256_cvtps_epi32(_mm256_div_ps(n_x, all)), b = _mm256_sub_epi32(l, a);
    __m256i c = _mm256_sub_epi32(_mm256_set1_epi32(ones), a), d = _mm256_sub_epi32(r, c);
    mrforest_scores_256(_mm256_add_epi32(_mm256_mullo_epi32(a, a), _mm256_mullo_epi32(b, b)), l,
                        _mm256_add_epi32(_mm256_mullo_epi32(c, c), _mm256_mullo_epi32(d, d)), r, best);
    return mrforest_unsure_256(walk.top, 0x1p-20f, 0);
}

/* As mrforest_best_of_two_256. */
MRFOREST_256 static void mrforest_abreast_of_two_256(const uint32_t *items, const ptrdiff_t *place, const int32_t *number,
                                                     ptrdiff_t n_lists, ptrdiff_t n, uint32_t one, int32_t ones,
                                                     const float *weight, double *best) {
    const uint32_t *list[8];
    double eight[8];
    for (; n_lists > MRFOREST_FEW_ABREAST; n_lists -= 8, number += 8, best += 8) {
        ptrdiff_t m = mrforest_eight_lists(items, place, number, n_lists, list);
        unsigned unsure = mrforest_eight_of_two_256(list, n, one, ones, weight, eight) & ((1u << m) - 1);
        for (ptrdiff_t j = 0; j < m; j++) best[j] = eight[j];
        for (; unsure; unsure &= unsure - 1) {
            int j = __builtin_ctz(unsure);
            if (mrforest_is_constant(list[j], n))
                best[j] = -INFINITY;
            else
                mrforest_best_of_two_256(items, place, number + j, 1, n, one, ones, weight, best + j);
        }
    }
    if (n_lists > 0) mrforest_best_of_two_256(items, place, number, n_lists, n, one, ones, weight, best);
}

/* ---- many classes --------------------------------------------------------------------------------- */

/* Up to 32 classes. Those that are present are ranked, and of each rank there is a byte in a lane: how
 * many of its points are on the left. */
enum { MRFOREST_MOST_ABREAST = 32, MRFOREST_RANK_WORDS = MRFOREST_MOST_ABREAST / 4 };
typedef struct {
    uint8_t bits[MRFOREST_MOST_ABREAST];    /* place of the byte of each class of the block, in bits; 8 times its rank */
    uint32_t totals[MRFOREST_RANK_WORDS];   /* points of each rank in the node, four to a word */
    ptrdiff_t n_words;
    int32_t squares;                        /* sum of the squares of these */
} mrforest_ranks;

static void mrforest_rank_classes(const int32_t *present, ptrdiff_t n_present, const int32_t *totals, mrforest_ranks *ranks) {
    memset(ranks, 0, sizeof *ranks);
    for (ptrdiff_t k = 0; k < n_present; k++) {
        int32_t total = totals[present[k]];
        ranks->bits[present[k]] = (uint8_t)(8 * k);
        ranks->totals[k / 4] |= (uint32_t)total << (8 * (k % 4));
        ranks->squares += total * total;
    }
    ranks->n_words = (n_present + 3) / 4;
}

/* Where the bytes of the classes of eight points are: `low` has those of the first 16 classes, `high` of the others. */
static inline MRFOREST_256 __m256i mrforest_bits_of_256(__m256i points, __m256i low, __m256i high, int has_high) {
    /* A byte of an index whose highest bit is set picks 0: so do all but the lowest one, and a class that is in the
     * other half. */
    __m256i class = _mm256_and_si256(_mm256_srli_epi32(points, 8), _mm256_set1_epi32(255));
    __m256i bits = _mm256_shuffle_epi8(low, _mm256_add_epi32(class, _mm256_set1_epi32((int32_t)0x80808070)));
    if (!has_high) return bits;
    return _mm256_or_si256(bits, _mm256_shuffle_epi8(high, _mm256_add_epi32(class, _mm256_set1_epi32((int32_t)0x808080F0))));
}

/* A walk along eight lists. */
typedef struct {
    mrforest_top_256 top;
    __m256i counts[MRFOREST_RANK_WORDS]; /* points of each rank on the left, four bytes to a word */
    __m256i of_left, of_right;           /* sums of squares ... */
    __m256i left, code;
    __m256i of_left_at_top, of_right_at_top, left_at_top;
} mrforest_walk_of_many;

/* One more point. With l of the T points of its class on the left it adds 2 l + 1 to one sum, and takes
 * 2 (T - l) - 1 from the other. */
static MRFOREST_INLINE MRFOREST_256 void mrforest_add_point_256(mrforest_walk_of_many *walk, __m256i bits,
                                                                const uint32_t *totals, ptrdiff_t n_words) {
    const __m256i one = _mm256_set1_epi32(1), byte = _mm256_set1_epi32(255);
    __m256i l = _mm256_setzero_si256(), total = l;
    for (ptrdiff_t w = 0; w < n_words; w++) {
        /* Bits of other words are out of range, and a shift by them gives 0. */
        __m256i shift = _mm256_sub_epi32(bits, _mm256_set1_epi32((int32_t)(32 * w)));
        l = _mm256_or_si256(l, _mm256_srlv_epi32(walk->counts[w], shift));
        total = _mm256_or_si256(total, _mm256_srlv_epi32(_mm256_set1_epi32((int32_t)totals[w]), shift));
        walk->counts[w] = _mm256_add_epi32(walk->counts[w], _mm256_sllv_epi32(one, shift));
    }
    l = _mm256_and_si256(l, byte);
    total = _mm256_and_si256(total, byte);
    __m256i more = _mm256_add_epi32(_mm256_add_epi32(l, l), one);
    walk->of_left = _mm256_add_epi32(walk->of_left, more);
    walk->of_right = _mm256_add_epi32(walk->of_right, _mm256_sub_epi32(more, _mm256_add_epi32(total, total)));
}

/* Some points: the cut before each, if the code changes there, then the point itself. */
static MRFOREST_INLINE MRFOREST_256 void mrforest_pass_points_of_many(mrforest_walk_of_many *walk, const __m256i *points,
                                                                      int m, const float *left_weight,
                                                                      const float *right_weight, __m256i low, __m256i high,
                                                                      int has_high, const uint32_t *totals,
                                                                      ptrdiff_t n_words) {
    for (int j = 0; j < m; j++) {
        __m256i code = _mm256_srli_epi32(points[j], 16), is_cut = _mm256_cmpgt_epi32(code, walk->code);
        __m256 a = _mm256_mul_ps(_mm256_cvtepi32_ps(walk->of_left), _mm256_broadcast_ss(left_weight + j));
        __m256 b = _mm256_mul_ps(_mm256_cvtepi32_ps(walk->of_right), _mm256_broadcast_ss(right_weight + j));
        __m256 is_top = mrforest_rise_256(&walk->top, _mm256_and_ps(_mm256_add_ps(a, b), _mm256_castsi256_ps(is_cut)));
        walk->of_left_at_top = mrforest_either_256(walk->of_left_at_top, walk->of_left, is_top);
        walk->of_right_at_top = mrforest_either_256(walk->of_right_at_top, walk->of_right, is_top);
        walk->left_at_top = mrforest_either_256(walk->left_at_top, walk->left, is_top);
        mrforest_add_point_256(walk, mrforest_bits_of_256(points[j], low, high, has_high), totals, n_words);
        walk->left = _mm256_sub_epi32(walk->left, _mm256_set1_epi32(-1));
        walk->code = code;
    }
}

/* The best scores of eight lists; return the lanes where they are not sure. */
static MRFOREST_INLINE MRFOREST_256 unsigned mrforest_eight_of_many_256(
    const uint32_t *const *list, ptrdiff_t n, const mrforest_ranks *ranks, ptrdiff_t n_words, int has_high,
    const float *left_weight, const float *right_weight, double *best) {
    const __m256i low = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)ranks->bits));
    const __m256i high = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(ranks->bits + 16)));
    const __m256i first = _mm256_set1_epi32(1);
    mrforest_walk_of_many walk;
    __m256i four[4];
    ptrdiff_t i = 1;
    walk.top.most = walk.top.next = _mm256_setzero_ps();
    for (ptrdiff_t w = 0; w < n_words; w++) walk.counts[w] = _mm256_setzero_si256();
    walk.of_left = _mm256_setzero_si256();
    walk.of_right = _mm256_set1_epi32(ranks->squares);
    walk.left = walk.left_at_top = walk.of_left_at_top = walk.of_right_at_top = first;
    mrforest_four_of_eight(list, 0, four);
    walk.code = _mm256_srli_epi32(four[0], 16);
    mrforest_add_point_256(&walk, mrforest_bits_of_256(four[0], low, high, has_high), ranks->totals, n_words);
    for (; i + 4 <= n; i += 4) {
        mrforest_four_of_eight(list, i, four);
        mrforest_pass_points_of_many(&walk, four, 4, left_weight + i - 1, right_weight + i - 1, low, high, has_high,
                                     ranks->totals, n_words);
    }
    if (i < n) {
        mrforest_four_of_eight(list, i, four);
        mrforest_pass_points_of_many(&walk, four, (int)(n - i), left_weight + i - 1, right_weight + i - 1, low, high,
                                     has_high, ranks->totals, n_words);
    }
    mrforest_scores_256(walk.of_left_at_top, walk.left_at_top, walk.of_right_at_top,
                        _mm256_sub_epi32(_mm256_set1_epi32((int32_t)n), walk.left_at_top), best);
    return mrforest_unsure_256(walk.top, 0x1p-20f, 0);
}

/* For each list the score of its best cut, as mrforest_best_of_many, of at most 32 classes. */
MRFOREST_256 static void mrforest_abreast_of_many_256(const uint32_t *items, const ptrdiff_t *place, const int32_t *number,
                                                      ptrdiff_t n_lists, ptrdiff_t n, ptrdiff_t n_classes,
                                                      const int32_t *present, ptrdiff_t n_present, const int32_t *totals,
                                                      const float *left_weight, const float *right_weight, double *best) {
    const uint32_t *list[8];
    int32_t left[MRFOREST_MOST_ABREAST];
    double eight[8];
    mrforest_ranks ranks;
    mrforest_rank_classes(present, n_present, totals, &ranks);
    for (; n_lists > 0; n_lists -= 8, number += 8, best += 8) {
        ptrdiff_t m = mrforest_eight_lists(items, place, number, n_lists, list);
        unsigned unsure;
        if (m <= MRFOREST_FEW_ABREAST)
            unsure = 255;
        else if (n_classes > 16)
            unsure = mrforest_eight_of_many_256(list, n, &ranks, ranks.n_words, 1, left_weight, right_weight, eight);
        else if (ranks.n_words == 1)
            unsure = mrforest_eight_of_many_256(list, n, &ranks, 1, 0, left_weight, right_weight, eight);
        else if (ranks.n_words == 2)
            unsure = mrforest_eight_of_many_256(list, n, &ranks, 2, 0, left_weight, right_weight, eight);
        else
            unsure = mrforest_eight_of_many_256(list, n, &ranks, ranks.n_words, 0, left_weight, right_weight, eight);
        for (ptrdiff_t j = 0; j < m; j++) {
            if (!(unsure >> j & 1))
                best[j] = eight[j];
            else if (mrforest_is_constant(list[j], n))
                best[j] = -INFINITY;
            else
                best[j] = mrforest_best_of_many(list[j], n, n_classes, totals, left_weight, right_weight, left);
        }
    }
}

#endif
#endif
