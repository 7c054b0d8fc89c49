/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Eight features of a node abreast, a lane of a register each. Their lists are of one length, so are the bins of most,
 * and at each place of all of them at once
 *
 *     feature 0   [ a c b d e ]
 *     feature 1   [ c a d b e ]
 *        ...          ^
 *     feature 7   [ b a e d c ]
 *
 * sums are added to and the best cut so far is kept; no lane looks at another. Gains are floats, so a feature whose
 * next best cut comes too near its best is looked at again, alone. Scores are the same to the bit. */
#ifndef MRFOREST_ABREAST_256_H
#define MRFOREST_ABREAST_256_H
#include "best.h"
#include "lanes.h"
#include "wide.h"

#ifdef MRFOREST_WITH_256

enum { MRFOREST_FEW_ABREAST = 2 }; /* features that had better be looked at one after the other */

/* Four numbers from each of eight places on: out[i] has number i of all. */
static inline MRFOREST_256 void mrforest_four_of_eight(const uint32_t *const *from, ptrdiff_t first, __m256i *out) {
    __m256i row[4];
    for (int j = 0; j < 4; j++)
        row[j] = _mm256_inserti128_si256(
            _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(from[j] + first))),
            _mm_loadu_si128((const __m128i *)(from[j + 4] + first)), 1);
    __m256i a = _mm256_unpacklo_epi32(row[0], row[1]), b = _mm256_unpacklo_epi32(row[2], row[3]);
    __m256i c = _mm256_unpackhi_epi32(row[0], row[1]), d = _mm256_unpackhi_epi32(row[2], row[3]);
    out[0] = _mm256_unpacklo_epi64(a, b);
    out[1] = _mm256_unpackhi_epi64(a, b);
    out[2] = _mm256_unpacklo_epi64(c, d);
    out[3] = _mm256_unpackhi_epi64(c, d);
}

/* a, and b in the lanes of a mask. */
static inline MRFOREST_256 __m256i mrforest_either_256(__m256i a, __m256i b, __m256 lanes) {
    return _mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), lanes));
}

/* of_left / left + of_right / right of eight cuts. */
static inline MRFOREST_256 void mrforest_scores_256(__m256i of_left, __m256i left, __m256i of_right, __m256i right,
                                                    double *scores) {
    for (int half = 0; half < 2; half++) {
        __m256d a = _mm256_div_pd(_mm256_cvtepi32_pd(_mm256_castsi256_si128(of_left)),
                                  _mm256_cvtepi32_pd(_mm256_castsi256_si128(left)));
        __m256d b = _mm256_div_pd(_mm256_cvtepi32_pd(_mm256_castsi256_si128(of_right)),
                                  _mm256_cvtepi32_pd(_mm256_castsi256_si128(right)));
        _mm256_storeu_pd(scores + 4 * half, _mm256_add_pd(a, b));
        of_left = _mm256_permute2x128_si256(of_left, of_left, 1);
        left = _mm256_permute2x128_si256(left, left, 1);
        of_right = _mm256_permute2x128_si256(of_right, of_right, 1);
        right = _mm256_permute2x128_si256(right, right, 1);
    }
}

/* The largest number so far of each lane, which are positive, and the next one. */
typedef struct {
    __m256 most, next;
} mrforest_top_256;

/* Lanes in which a number is the largest so far. */
static inline MRFOREST_256 __m256 mrforest_rise_256(mrforest_top_256 *top, __m256 number) {
    __m256 is_new = _mm256_cmp_ps(number, top->most, _CMP_GT_OQ);
    top->next = _mm256_max_ps(top->next, _mm256_min_ps(top->most, number));
    top->most = _mm256_max_ps(top->most, number);
    return is_new;
}

/* Lanes whose next number is too near to tell, a share and a number; and those that have none. */
static inline MRFOREST_256 unsigned mrforest_unsure_256(mrforest_top_256 top, float share, float slack) {
    __m256 enough = _mm256_sub_ps(top.most, _mm256_mul_ps(top.most, _mm256_set1_ps(share)));
    enough = _mm256_sub_ps(enough, _mm256_set1_ps(slack));
    return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(top.next, enough, _CMP_GE_OQ));
}

#endif
#endif
