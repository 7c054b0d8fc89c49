/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Entropy scores of the cuts of features whose points are in order. */
#include "entropy.h"
#include "kernels.h"

#include <math.h>
#include <string.h>

static void enter_entropy_node(ptrdiff_t n, ptrdiff_t n_classes, const int32_t *totals, const int64_t *f,
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

/* The best scores of `width` lists; -INFINITY: it has no cut. Sums of one list wait for each other, so several lists
 * are walked along at once. */
INLINE void best_entropy_of_some(const uint32_t *const *list, int width, const mrforest_entropy_node *node,
                                 double *best_score) {
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
    for (int j = 0; j < width; j++) best_score[j] = best[j] == INT64_MIN ? -INFINITY : from_fixed(best[j]);
}

static void best_entropy_in_lists(const uint32_t *items, const ptrdiff_t *place, ptrdiff_t n_lists,
                                  const mrforest_entropy_node *node, double *best) {
    const uint32_t *list[4];
    ptrdiff_t i = 0;
    for (; i + 4 <= n_lists; i += 4) {
        for (int j = 0; j < 4; j++) list[j] = items + place[i + j];
        best_entropy_of_some(list, 4, node, best + i);
    }
    for (; i < n_lists; i++) {
        list[0] = items + place[i];
        best_entropy_of_some(list, 1, node, best + i);
    }
}

static ptrdiff_t entropy_cuts_in_list(const uint32_t *list, const mrforest_entropy_node *node, mrforest_cuts cuts) {
    int32_t next[MRFOREST_LIST];
    int64_t sum = node->all_right;
    ptrdiff_t n_cuts = 0;
    memcpy(next, node->begin, (size_t)node->n_classes * sizeof *next);
    for (ptrdiff_t i = 0; i + 1 < node->n; i++) {
        uint32_t k = list[i] >> 8 & 255, code = list[i] >> 16, after = list[i + 1] >> 16;
        sum += node->step[next[k]++];
        /* Write first, keep if there is a cut: no branch to mispredict. */
        cuts.of_left[n_cuts] = from_fixed(sum - node->of_sides[i]);
        cuts.n_left[n_cuts] = (int32_t)(i + 1);
        cuts.bin[n_cuts] = (int32_t)((code + after - 1) / 2);
        n_cuts += code != after;
    }
    return n_cuts;
}
