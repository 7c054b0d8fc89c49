/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Entropy scores of cuts, in whole numbers.
 *
 *     sum f(l_c) - f(L)  +  sum f(r_c) - f(R)         f(x) = x log x, rounded to multiples of 2^-26
 *
 * l_c and r_c points of class c lie on the sides of a cut, L and R of all classes. */
#ifndef MRFOREST_ENTROPY_H
#define MRFOREST_ENTROPY_H
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include "best.h"

static inline double mrforest_from_fixed(int64_t score) { return (double)score * 0x1p-26; }

/* Of two classes, `ones_left` of the `left` points on the left are of one, of which there are `ones`. */
static inline double mrforest_entropy_of_two(const int64_t *f, int64_t n, int64_t ones, int64_t left, int64_t ones_left) {
    int64_t right = n - left, ones_right = ones - ones_left;
    return mrforest_from_fixed(f[ones_left] + f[left - ones_left] + f[ones_right] + f[right - ones_right] - f[left] -
                               f[right]);
}

/* ---- lists -------------------------------------------------------------------------------------- */

/* Points in the order of a feature: code (16 bits) | class (8) | whatever, see best.h. What a node adds to the scores
 * of its lists: */
typedef struct {
    ptrdiff_t n, n_classes;
    int64_t all_right;                /* sum over the classes of f(points) */
    int32_t begin[MRFOREST_LIST];     /* where the steps of each class begin */
    int32_t step[MRFOREST_LIST];      /* of class c, for l = 0, 1, ...: by what the sum grows if one more point goes left */
    int64_t of_sides[MRFOREST_LIST];  /* for each cut f(L) + f(R) */
} mrforest_entropy_node;

static void mrforest_enter_entropy_node(ptrdiff_t n, ptrdiff_t n_classes, const int32_t *totals, const int64_t *f,
                                        mrforest_entropy_node *node) {
    int32_t at = 0;
    node->n = n;
    node->n_classes = n_classes;
    node->all_right = 0;
    for (ptrdiff_t k = 0; k < n_classes; k++) {
        int32_t total = totals[k];
        node->all_right += f[total];
        node->begin[k] = at;
        for (int32_t l = 0; l < total; l++)
            node->step[at++] = (int32_t)(f[l + 1] - f[l] + f[total - l - 1] - f[total - l]);
    }
    for (ptrdiff_t i = 0; i + 1 < n; i++) node->of_sides[i] = f[i + 1] + f[n - i - 1];
}

/* The best scores of `width` lists; -INFINITY: it has no cut. Sums of one list wait for each other, so several lists are
 * walked along at once. */
static MRFOREST_INLINE void mrforest_best_entropy_of(const uint32_t *const *list, int width,
                                                     const mrforest_entropy_node *node, double *best_score) {
    int32_t next[4][MRFOREST_LIST];
    int64_t sum[4], best[4];
    for (int j = 0; j < width; j++) {
        sum[j] = node->all_right;
        best[j] = INT64_MIN;
        memcpy(next[j], node->begin, (size_t)node->n_classes * sizeof **next);
    }
    for (ptrdiff_t i = 0; i + 1 < node->n; i++) {
        int64_t of_sides = node->of_sides[i];
        for (int j = 0; j < width; j++) {
            uint32_t here = list[j][i], after = list[j][i + 1];
            int64_t score;
            sum[j] += node->step[next[j][here >> 8 & 255]++];
            score = here >> 16 == after >> 16 ? INT64_MIN : sum[j] - of_sides;
            best[j] = score > best[j] ? score : best[j];
        }
    }
    for (int j = 0; j < width; j++)
        best_score[j] = best[j] == INT64_MIN ? -INFINITY : mrforest_from_fixed(best[j]);
}

/* The same of any number of lists. A list begins at items + place[i]. */
static void mrforest_best_entropy_in_lists(const uint32_t *items, const ptrdiff_t *place, ptrdiff_t n_lists,
                                           const mrforest_entropy_node *node, double *best) {
    const uint32_t *list[4];
    ptrdiff_t i = 0;
    for (; i + 4 <= n_lists; i += 4) {
        for (int j = 0; j < 4; j++) list[j] = items + place[i + j];
        mrforest_best_entropy_of(list, 4, node, best + i);
    }
    for (; i < n_lists; i++) {
        list[0] = items + place[i];
        mrforest_best_entropy_of(list, 1, node, best + i);
    }
}

/* All cuts of a list: of_left has their scores. Return how many. */
static ptrdiff_t mrforest_entropy_cuts_in_list(const uint32_t *list, const mrforest_entropy_node *node,
                                               mrforest_cuts cuts) {
    int32_t next[MRFOREST_LIST];
    int64_t sum = node->all_right;
    ptrdiff_t n_cuts = 0;
    memcpy(next, node->begin, (size_t)node->n_classes * sizeof *next);
    for (ptrdiff_t i = 0; i + 1 < node->n; i++) {
        uint32_t k = list[i] >> 8 & 255, code = list[i] >> 16, after = list[i + 1] >> 16;
        sum += node->step[next[k]++];
        /* Write first, keep if there is a cut: no branch to mispredict. */
        cuts.of_left[n_cuts] = mrforest_from_fixed(sum - node->of_sides[i]);
        cuts.n_left[n_cuts] = (int32_t)(i + 1);
        cuts.bin[n_cuts] = (int32_t)((code + after - 1) / 2);
        n_cuts += code != after;
    }
    return n_cuts;
}

#endif
