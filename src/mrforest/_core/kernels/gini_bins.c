/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gini scores of the cuts of features whose points are counted: classes x bins, the bins of the next class `stride`
 * cells after those of a class. How cuts are ruled out by cheaper numbers is said in gini_lists.c. */
#include "gini.h"
#include "kernels.h"
#include "lanes.h"
#include "ways.h"

enum { BINS_TOGETHER = 256 };

/* ---- two classes ---------------------------------------------------------------------------- */

static double best_in_bins_of_two(const int32_t *counts, ptrdiff_t n_bins, ptrdiff_t stride, double n, double ones) {
    enum { SUMS = 8 };
    int32_t left[BINS_TOGETHER], x[BINS_TOGETHER], of_left = 0, of_ones = 0;
    double gain[BINS_TOGETHER], highest[SUMS], largest = 0, best = -INFINITY;
    for (ptrdiff_t first = 0; first < n_bins; first += BINS_TOGETHER) {
        ptrdiff_t m = n_bins - first < BINS_TOGETHER ? n_bins - first : BINS_TOGETHER;
        ptrdiff_t padded = (m + SUMS - 1) / SUMS * SUMS;
        const int32_t *zeros = counts + first, *others = zeros + stride;
        for (ptrdiff_t i = 0; i < m; i++) {
            of_left += zeros[i] + others[i];
            of_ones += others[i];
            left[i] = of_left;
            x[i] = of_ones;
        }
        for (ptrdiff_t i = m; i < padded; i++) left[i] = x[i] = 0; /* no cut */
        for (ptrdiff_t i = 0; i < padded; i++) {
            double l = left[i], d = n * x[i] - ones * l, area = l * (n - l);
            gain[i] = d * d / (area > 1 ? area : 1); /* if a side is empty, d is 0 */
        }
        for (int j = 0; j < SUMS; j++) highest[j] = largest;
        for (ptrdiff_t i = 0; i < padded; i += SUMS)
            for (int j = 0; j < SUMS; j++) highest[j] = gain[i + j] > highest[j] ? gain[i + j] : highest[j];
        for (int j = 0; j < SUMS; j++) largest = highest[j] > largest ? highest[j] : largest;
        double enough = largest - largest * 0x1p-50 - n * n * 0x1p-51;
        for (ptrdiff_t i = 0; i < padded; i += SUMS) {
            int64_t is_enough = 0;
            for (int j = 0; j < SUMS; j++) is_enough |= -(int64_t)(gain[i + j] >= enough);
            for (int j = 0; is_enough && j < SUMS; j++)
                if (gain[i + j] >= enough && left[i + j] > 0 && left[i + j] < n) {
                    double score = gini_of_two((int64_t)n, (int64_t)ones, left[i + j], x[i + j]);
                    best = score > best ? score : best;
                }
        }
    }
    return best;
}

/* ---- many classes --------------------------------------------------------------------------- */

/* Work has room for two numbers of 64 bits a class. */
static double best_in_few_bins(const int32_t *counts, ptrdiff_t n_bins, ptrdiff_t stride, ptrdiff_t n_classes,
                               const int64_t *totals, int64_t *work) {
    int64_t of_left = 0, of_right = 0, n_left = 0, n_right = 0, *left = work, *right = work + n_classes;
    double best = -INFINITY;
    for (ptrdiff_t k = 0; k < n_classes; k++) {
        left[k] = 0;
        right[k] = totals[k];
        n_right += totals[k];
        of_right += totals[k] * totals[k];
    }
    for (ptrdiff_t b = 0; b < n_bins && n_right > 0; b++) {
        int64_t n = 0;
        for (ptrdiff_t k = 0; k < n_classes; k++) {
            int64_t count = counts[k * stride + b], l = left[k], r = right[k];
            n += count;
            of_left += count * (2 * l + count);
            of_right -= count * (2 * r - count);
            left[k] = l + count;
            right[k] = r - count;
        }
        n_left += n;
        n_right -= n;
        if (n > 0 && n_right > 0) {
            double score = score_of_sums(of_left, n_left, of_right, n_right);
            best = score > best ? score : best;
        }
    }
    return best;
}

#if LANES

/* Sums of squares of the sides after a bin, from the points of each class on its left. */
static double score_after_bin(const int32_t *left, ptrdiff_t n_classes, const int64_t *totals, int64_t n_left,
                              int64_t n_right) {
    int64_t of_left = 0, of_right = 0;
    for (ptrdiff_t k = 0; k < n_classes; k++) {
        int64_t l = left[k * BINS_TOGETHER], r = totals[k] - l;
        of_left += l * l;
        of_right += r * r;
    }
    return score_of_sums(of_left, n_left, of_right, n_right);
}

/* Work has room for 257 numbers a class. Scores are computed as floats first, right to a share of (classes + 4)
 * 2^-23. */
static double best_in_many_bins(const int32_t *counts, ptrdiff_t n_bins, ptrdiff_t stride, ptrdiff_t n_classes,
                                const int64_t *totals, int32_t *work) {
    const float share = (float)(n_classes + 8) * 0x1p-22f;
    int32_t *so_far = work + n_classes * BINS_TOGETHER, n = 0, left_of[BINS_TOGETHER];
    float about[BINS_TOGETHER], most = 0;
    double best = -INFINITY;
    for (ptrdiff_t k = 0; k < n_classes; k++) {
        so_far[k] = 0;
        n += (int32_t)totals[k];
    }
    for (ptrdiff_t first = 0; first < n_bins; first += BINS_TOGETHER) {
        ptrdiff_t m = n_bins - first < BINS_TOGETHER ? n_bins - first : BINS_TOGETHER;
        floats largest = all_floats(most);
        for (ptrdiff_t i = 0; i < m; i += LANES) {
            ints left = {0}, points = {0};
            floats of_l = {0}, of_r = {0};
            for (ptrdiff_t k = 0; k < n_classes; k++) {
                ints here = load_first(counts + k * stride + first + i, m - i);
                ints l = running_sums(here) + so_far[k];
                floats a = to_floats(l), b = to_floats((int32_t)totals[k] - l);
                store(work + k * BINS_TOGETHER + i, l);
                so_far[k] = l[LANES - 1];
                left += l;
                points += here;
                of_l += a * a;
                of_r += b * b;
            }
            ints right = n - left, is_cut = (points > 0) & (right > 0);
            floats sum = of_l / to_floats(left) + of_r / to_floats(right);
            sum = (floats)either(is_cut, (ints)sum, (ints)all_floats(-1));
            largest = larger(largest, sum);
            memcpy(about + i, &sum, sizeof sum);
            store(left_of + i, left);
        }
        for (int j = 0; j < LANES; j++) most = largest[j] > most ? largest[j] : most;
        const floats enough = all_floats(most - most * share);
        for (ptrdiff_t i = 0; i < m; i += LANES)
            for (unsigned which = bits_of_mask(load_floats(about + i) >= enough); which; which &= which - 1) {
                ptrdiff_t b = i + __builtin_ctz(which);
                double score = score_after_bin(work + b, n_classes, totals, left_of[b], n - left_of[b]);
                best = score > best ? score : best;
            }
    }
    return best;
}

#endif

static double best_in_bins_of_many(const int32_t *counts, ptrdiff_t n_bins, ptrdiff_t stride, ptrdiff_t n_classes,
                                   const int64_t *totals, int64_t *work) {
#if LANES
    if (n_bins > 4 && !mrforest_is_off[MRFOREST_BINS_AT_ONCE])
        return best_in_many_bins(counts, n_bins, stride, n_classes, totals, (int32_t *)work);
#endif
    return best_in_few_bins(counts, n_bins, stride, n_classes, totals, work);
}

static double best_in_bins_of_one(const int32_t *counts, ptrdiff_t n_bins, ptrdiff_t stride, ptrdiff_t n_classes,
                                  const int64_t *totals, int64_t *work) {
    if (n_classes == 2)
        return best_in_bins_of_two(counts, n_bins, stride, (double)(totals[0] + totals[1]), (double)totals[1]);
    return best_in_bins_of_many(counts, n_bins, stride, n_classes, totals, work);
}

#if LANES

/* ---- LANES features ------------------------------------------------------------------------- */

/* The bins of some features, a class after `offset` cells; the last feature stands for those that are not there. */
INLINE void some_bins(const int32_t *const *counts, ptrdiff_t n_features, ptrdiff_t offset, const uint32_t **bins) {
    for (ptrdiff_t j = 0; j < LANES; j++)
        bins[j] = (const uint32_t *)counts[j < n_features ? j : n_features - 1] + offset;
}

/* A walk along the bins, of two classes: points on the left, and those of the second class among them. */
typedef struct {
    top_two top;
    ints left, x, left_at_top, x_at_top;
} walk_of_bins;

/* Some bins, and the cut after each that has points, unless no points are right of it. */
INLINE void pass_bins_of_two(walk_of_bins *walk, const ints *zeros, const ints *others, int m, int32_t n,
                             int32_t ones) {
    for (int j = 0; j < m; j++) {
        const ints points = zeros[j] + others[j];
        walk->left += points;
        walk->x += others[j];
        const ints right = n - walk->left, is_cut = (points > 0) & (right > 0);
        const floats d = to_floats(n * walk->x - ones * walk->left);
        const floats gain = d * d / (to_floats(walk->left) * to_floats(right));
        const ints is_top = raise_top(&walk->top, where(is_cut, gain));
        walk->left_at_top = either(is_top, walk->left, walk->left_at_top);
        walk->x_at_top = either(is_top, walk->x, walk->x_at_top);
    }
}

/* No product of two numbers of points is larger than 2^31. */
enum { MOST_POINTS_OF_TWO = 46340 };

/* The best scores of LANES features of at most MOST_POINTS_OF_TWO points; return the lanes where they are not sure.
 */
INLINE unsigned best_in_bins_of_two_in_lanes(const uint32_t *const *zeros, const uint32_t *const *others,
                                             ptrdiff_t n_bins, int32_t n, int32_t ones, double *best) {
    walk_of_bins walk = {0};
    ints four[4], other_four[4];
    ptrdiff_t i = 0;
    for (; i + 4 <= n_bins; i += 4) {
        load_four_each(zeros, i, four);
        load_four_each(others, i, other_four);
        pass_bins_of_two(&walk, four, other_four, 4, n, ones);
    }
    if (i < n_bins) {
        load_four_each(zeros, i, four);
        load_four_each(others, i, other_four);
        pass_bins_of_two(&walk, four, other_four, (int)(n_bins - i), n, ones);
    }
    const ints l = walk.left_at_top, r = n - l, a = walk.x_at_top, b = l - a, c = ones - a, d = r - c;
    write_scores(a * a + b * b, l, c * c + d * d, r, best);
    /* A gain is right to a share of 2^-21, and scores to n 2^-52, which is n^2 2^-52 in gains. */
    return unsure_lanes(walk.top, 0x1p-19f, (float)((double)n * (double)n * 0x1p-50));
}

static void best_in_bins_of_two_by_lanes(const int32_t *const *counts, ptrdiff_t n_features, ptrdiff_t n_bins,
                                         ptrdiff_t stride, int32_t n, int32_t ones, double *best) {
    const uint32_t *zeros[LANES], *others[LANES];
    double found[LANES];
    while (n_features > 0) {
        const ptrdiff_t m = n_features < LANES ? n_features : LANES;
        unsigned unsure = ~0u;
        if (m > FEW_FEATURES) {
            some_bins(counts, n_features, 0, zeros);
            some_bins(counts, n_features, stride, others);
            unsure = best_in_bins_of_two_in_lanes(zeros, others, n_bins, n, ones, found);
        }
        for (ptrdiff_t j = 0; j < m; j++)
            best[j] = unsure >> j & 1 ? best_in_bins_of_two(counts[j], n_bins, stride, n, ones) : found[j];
        n_features -= m;
        counts += m;
        best += m;
    }
}

/* Of more classes there is more to add up in a bin than there is to save by lanes. */
enum { MOST_CLASSES_OF_LANES = 6 };

/* Four bins, all classes of them added up: sums of the squares of the sides after each, and its points. */
typedef struct {
    floats of_left[4], of_right[4];
    ints points[4];
} four_bins;

/* Bins from i on. `left` has the points of each class on the left of them, and then on the left of those that follow.
 */
INLINE void add_classes(const uint32_t *const *bins, ptrdiff_t stride, ptrdiff_t n_classes, ptrdiff_t i,
                        const int64_t *totals, ints *left, four_bins *sums) {
    ints four[4];
    *sums = (four_bins){0};
    for (ptrdiff_t k = 0; k < n_classes; k++) {
        load_four_each(bins, k * stride + i, four);
        for (int j = 0; j < 4; j++) {
            left[k] += four[j];
            const floats l = to_floats(left[k]), r = (float)totals[k] - l;
            sums->of_left[j] += l * l;
            sums->of_right[j] += r * r;
            sums->points[j] += four[j];
        }
    }
}

/* The bins after which the best cuts are, of less than 2^24 points, which are exact as floats; return the lanes where
 * they are not sure. */
INLINE unsigned best_in_bins_of_many_in_lanes(const uint32_t *const *bins, ptrdiff_t n_bins, ptrdiff_t stride,
                                              ptrdiff_t n_classes, int32_t n, const int64_t *totals, int32_t *cut) {
    ints left[MOST_CLASSES_OF_LANES] = {0}, n_left = {0}, bin = {0}, bin_at_top = {0};
    top_two top = {0};
    four_bins sums;
    for (ptrdiff_t i = 0; i < n_bins; i += 4) {
        add_classes(bins, stride, n_classes, i, totals, left, &sums);
        for (ptrdiff_t j = 0; j < 4 && i + j < n_bins; j++) {
            n_left += sums.points[j];
            const ints n_right = n - n_left, is_cut = (sums.points[j] > 0) & (n_right > 0);
            const floats about = sums.of_left[j] / to_floats(n_left) + sums.of_right[j] / to_floats(n_right);
            bin_at_top = either(raise_top(&top, where(is_cut, about)), bin, bin_at_top);
            bin += 1;
        }
    }
    store(cut, bin_at_top);
    return unsure_lanes(top, (float)(n_classes + 8) * 0x1p-22f, 0);
}

/* The score of the cut after a bin. */
static double score_after(const int32_t *counts, ptrdiff_t bin, ptrdiff_t stride, ptrdiff_t n_classes,
                          const int64_t *totals, int64_t n) {
    int64_t of_left = 0, of_right = 0, n_left = 0;
    for (ptrdiff_t k = 0; k < n_classes; k++, counts += stride) {
        int64_t left = 0;
        for (ptrdiff_t b = 0; b <= bin; b++) left += counts[b];
        of_left += left * left;
        of_right += (totals[k] - left) * (totals[k] - left);
        n_left += left;
    }
    return score_of_sums(of_left, n_left, of_right, n - n_left);
}

static void best_in_bins_of_many_by_lanes(const int32_t *const *counts, ptrdiff_t n_features, ptrdiff_t n_bins,
                                          ptrdiff_t stride, ptrdiff_t n_classes, int32_t n, const int64_t *totals,
                                          int64_t *work, double *best) {
    const uint32_t *bins[LANES];
    int32_t cut[LANES];
    while (n_features > 0) {
        const ptrdiff_t m = n_features < LANES ? n_features : LANES;
        unsigned unsure = ~0u;
        if (m > FEW_FEATURES) {
            some_bins(counts, n_features, 0, bins);
            unsure = best_in_bins_of_many_in_lanes(bins, n_bins, stride, n_classes, n, totals, cut);
        }
        for (ptrdiff_t j = 0; j < m; j++)
            best[j] = unsure >> j & 1 ? best_in_bins_of_many(counts[j], n_bins, stride, n_classes, totals, work)
                                      : score_after(counts[j], cut[j], stride, n_classes, totals, n);
        n_features -= m;
        counts += m;
        best += m;
    }
}

#endif

static void best_in_bins(const int32_t *const *counts, ptrdiff_t n_features, ptrdiff_t n_bins, ptrdiff_t stride,
                         ptrdiff_t n_classes, const int64_t *totals, int64_t *work, double *best) {
#if LANES
    int64_t n = 0;
    for (ptrdiff_t k = 0; k < n_classes; k++) n += totals[k];
    if (n_classes == 2 && n <= MOST_POINTS_OF_TWO && !mrforest_is_off[MRFOREST_BINS_OF_TWO_BY_LANES]) {
        best_in_bins_of_two_by_lanes(counts, n_features, n_bins, stride, (int32_t)n, (int32_t)totals[1], best);
        return;
    }
    if (n_classes > 2 && n_classes <= MOST_CLASSES_OF_LANES && n < 1 << 24 &&
        !mrforest_is_off[MRFOREST_BINS_OF_MANY_BY_LANES]) {
        best_in_bins_of_many_by_lanes(counts, n_features, n_bins, stride, n_classes, (int32_t)n, totals, work, best);
        return;
    }
#endif
    for (ptrdiff_t j = 0; j < n_features; j++)
        best[j] = best_in_bins_of_one(counts[j], n_bins, stride, n_classes, totals, work);
}

/* ---- all cuts ------------------------------------------------------------------------------- */

/* Of two classes: sums of squares are exact as doubles. Return how many bins have points. */
static ptrdiff_t sums_of_two(const int32_t *counts, ptrdiff_t n_bins, ptrdiff_t stride, int32_t n, int32_t ones,
                             mrforest_cuts cuts) {
    int32_t left = 0, x = 0;
    ptrdiff_t m = 0;
    for (ptrdiff_t b = 0; b < n_bins; b++) {
        int32_t here = counts[b] + counts[stride + b];
        left += here;
        x += counts[stride + b];
        cuts.n_left[m] = left;
        cuts.of_left[m] = x;
        cuts.bin[m] = (int32_t)b;
        m += here > 0;
    }
    for (ptrdiff_t i = 0; i < m; i++) {
        double a = cuts.of_left[i], b = cuts.n_left[i] - a, c = ones - a, d = (n - cuts.n_left[i]) - c;
        cuts.of_left[i] = a * a + b * b;
        cuts.of_right[i] = c * c + d * d;
    }
    return m;
}

/* The same of any number of classes and points. */
static ptrdiff_t sums_of_many(const int32_t *counts, ptrdiff_t n_bins, ptrdiff_t stride, ptrdiff_t n_classes,
                              const int64_t *totals, int64_t *left, mrforest_cuts cuts) {
    int64_t l = 0, r = 0, n_left = 0;
    ptrdiff_t n = 0;
    for (ptrdiff_t k = 0; k < n_classes; k++) {
        left[k] = 0;
        r += totals[k] * totals[k];
    }
    for (ptrdiff_t b = 0; b < n_bins; b++) {
        int64_t here = 0;
        for (ptrdiff_t k = 0; k < n_classes; k++) {
            int64_t count = counts[k * stride + b];
            here += count;
            l += count * (2 * left[k] + count);
            r -= count * (2 * (totals[k] - left[k]) - count);
            left[k] += count;
        }
        n_left += here;
        cuts.of_left[n] = (double)l;
        cuts.of_right[n] = (double)r;
        cuts.n_left[n] = (int32_t)n_left;
        cuts.bin[n] = (int32_t)b;
        n += here > 0;
    }
    return n;
}

static ptrdiff_t cuts_in_bins(const int32_t *counts, ptrdiff_t n_bins, ptrdiff_t stride, ptrdiff_t n_classes,
                              const int64_t *totals, int64_t *work, mrforest_cuts cuts) {
    int64_t n = 0;
    ptrdiff_t n_cuts;
    for (ptrdiff_t k = 0; k < n_classes; k++) n += totals[k];
    if (n_classes == 2 && n < 1 << 26)
        n_cuts = sums_of_two(counts, n_bins, stride, (int32_t)n, (int32_t)totals[1], cuts) - 1;
    else n_cuts = sums_of_many(counts, n_bins, stride, n_classes, totals, work, cuts) - 1;
    /* A cut is halfway to the next bin that has points. */
    for (ptrdiff_t i = 0; i < n_cuts; i++) cuts.bin[i] = (cuts.bin[i] + cuts.bin[i + 1] - 1) / 2;
    score_all_cuts(n_cuts, (int32_t)n, cuts);
    return n_cuts;
}
