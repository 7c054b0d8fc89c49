/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The largest Gini score of the cuts of a feature, without the cuts: most features of a node are looked
 * at for no more than that. The score of a cut, of which l_c and r_c points of class c lie on its sides,
 *
 *     sum(l_c^2) / L + sum(r_c^2) / R        L, R their sums, n both
 *
 * is within a share of 2^-52 of what impurity.pxd computes, and at most n. So it is computed for those
 * cuts only that a cheaper number does not rule out. Of two classes, of which x of n_1 points lie left,
 *
 *     score = constant + 2 / n * gain,       gain = (n x - n_1 L)^2 / (L R)
 *
 * A cut whose gain is less than the largest one by more than n^2 2^-51 is not the best, however scores
 * are rounded; a little more is allowed for the rounding of gains. */
#ifndef MRFOREST_BEST_H
#define MRFOREST_BEST_H
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "wide.h"

#define MRFOREST_LIST 256 /* points of a list, at most */

enum { MRFOREST_LEFT = 1, MRFOREST_RIGHT = 2 }; /* sides of a cut that somebody wants */

static inline double mrforest_gini_of_two(int64_t n, int64_t ones, int64_t left, int64_t x) {
    int64_t right = n - left, y = ones - x;
    int64_t of_left = x * x + (left - x) * (left - x), of_right = y * y + (right - y) * (right - y);
    return (double)of_left / (double)left + (double)of_right / (double)right;
}

/* Of any number of classes: left[k * stride] points of class k are on the left, n_left of all. */
static inline double mrforest_gini_of_sides(const int32_t *left, ptrdiff_t stride, ptrdiff_t n_classes,
                                            const int64_t *totals, int32_t n_left, int32_t n_right) {
    int64_t of_left = 0, of_right = 0;
    for (ptrdiff_t k = 0; k < n_classes; k++) {
        int64_t l = left[k * stride], r = totals[k] - l;
        of_left += l * l;
        of_right += r * r;
    }
    return (double)of_left / (double)n_left + (double)of_right / (double)n_right;
}

/* Bits of numbers, one for each place between points in the order of a feature, that are not negative: so
 * they are in the order of their bits. Below 0: there is no cut. Returns the bits of the largest less a
 * share of 2^-20 of it. */
static MRFOREST_INLINE int32_t mrforest_find_largest(const uint32_t *items, ptrdiff_t n, const float *numbers,
                                                     int32_t *bits) {
    int32_t largest = 0;
    float enough;
    memcpy(bits, numbers, (n - 1) * sizeof(float));
    for (ptrdiff_t i = 0; i + 1 < n; i++) {
        int32_t is_cut = items[i] >> 16 != items[i + 1] >> 16;
        bits[i] |= is_cut - 1;
        largest = bits[i] > largest ? bits[i] : largest;
    }
    memcpy(&enough, &largest, sizeof enough);
    enough -= enough * 0x1p-20f;
    memcpy(&largest, &enough, sizeof largest);
    return largest;
}

/* Points in the order of a feature: code (16 bits) | class (8) | whatever. At least two codes. Of two
 * classes `one` is one, of which there are `ones`. */
MRFOREST_WIDE static double mrforest_best_of_two(const uint32_t *items, ptrdiff_t n, uint32_t one, int32_t ones,
                                                 const float *weight) {
    int32_t distance[MRFOREST_LIST], bits[MRFOREST_LIST], enough, d = 0, all = (int32_t)n;
    float gain[MRFOREST_LIST];
    double best = 0;
    for (ptrdiff_t i = 0; i + 1 < n; i++) {
        d += (all & -(int32_t)((items[i] >> 8 & 255) == one)) - ones;
        distance[i] = d;
    }
    for (ptrdiff_t i = 0; i + 1 < n; i++) gain[i] = (float)distance[i] * (float)distance[i] * weight[i];
    /* Less a share of 2^-20: n^2 2^-51 is less than that, unless the largest is 0. */
    enough = mrforest_find_largest(items, n, gain, bits);
    for (ptrdiff_t i = 0; i + 1 < n; i++)
        if (bits[i] >= enough) {
            int64_t left = i + 1, x = (distance[i] + (int64_t)ones * left) / n;
            double score = mrforest_gini_of_two(n, ones, left, x);
            best = score > best ? score : best;
        }
    return best;
}

/* 1 / (L R) of the cuts of a list. */
MRFOREST_WIDE static void mrforest_weights_of_cuts(ptrdiff_t n, float *weight) {
    for (ptrdiff_t i = 0; i + 1 < n; i++)
        weight[i] = 1.0f / (float)((int32_t)(i + 1) * (int32_t)(n - 1 - i));
}

/* The same of any number of classes; totals are those of the node, left has room for them. Weights of the
 * sides are 1 / L and 1 / R. Scores are computed as floats first, right to a share of 2^-22: those of whole
 * numbers up to 256^2. */
MRFOREST_WIDE static double mrforest_best_of_many(const uint32_t *items, ptrdiff_t n, ptrdiff_t n_classes,
                                                  const int32_t *totals, const float *left_weight,
                                                  const float *right_weight, int32_t *left) {
    int32_t of_left[MRFOREST_LIST], of_right[MRFOREST_LIST], bits[MRFOREST_LIST], enough, l = 0, r = 0;
    float about[MRFOREST_LIST];
    double best = 0;
    for (ptrdiff_t k = 0; k < n_classes; k++) {
        left[k] = 0;
        r += totals[k] * totals[k];
    }
    for (ptrdiff_t i = 0; i + 1 < n; i++) {
        uint32_t k = items[i] >> 8 & 255;
        int32_t before = left[k];
        l += 2 * before + 1;
        r -= 2 * (totals[k] - before) - 1;
        left[k] = before + 1;
        of_left[i] = l;
        of_right[i] = r;
    }
    for (ptrdiff_t i = 0; i + 1 < n; i++)
        about[i] = (float)of_left[i] * left_weight[i] + (float)of_right[i] * right_weight[i];
    enough = mrforest_find_largest(items, n, about, bits);
    for (ptrdiff_t i = 0; i + 1 < n; i++)
        if (bits[i] >= enough) {
            double score = (double)of_left[i] / (double)(i + 1) + (double)of_right[i] / (double)(n - 1 - i);
            best = score > best ? score : best;
        }
    return best;
}

/* 1 / L and 1 / R of the cuts of a list. */
MRFOREST_WIDE static void mrforest_weights_of_sides(ptrdiff_t n, float *left_weight, float *right_weight) {
    for (ptrdiff_t i = 0; i + 1 < n; i++) {
        left_weight[i] = 1.0f / (float)(int32_t)(i + 1);
        right_weight[i] = 1.0f / (float)(int32_t)(n - 1 - i);
    }
}

/* ---- all cuts ----------------------------------------------------------------------------------- */

/* Where the cuts of a feature are written. */
typedef struct {
    double *of_left, *of_right; /* sums of squares; then of_left has the scores */
    int32_t *n_left;            /* points on the left */
    int32_t *bin;               /* the cut: codes up to it are on the left */
} mrforest_cuts;

/* Of points in the order of the feature; return how many. Left has room for the classes. */
static ptrdiff_t mrforest_cuts_of_list(const uint32_t *items, ptrdiff_t n, ptrdiff_t n_classes, const int32_t *totals,
                                       int32_t *left, mrforest_cuts cuts) {
    int32_t l = 0, r = 0;
    ptrdiff_t n_cuts = 0;
    for (ptrdiff_t k = 0; k < n_classes; k++) {
        left[k] = 0;
        r += totals[k] * totals[k];
    }
    for (ptrdiff_t i = 0; i + 1 < n; i++) {
        uint32_t k = items[i] >> 8 & 255, code = items[i] >> 16, next = items[i + 1] >> 16;
        l += 2 * left[k] + 1;
        r -= 2 * (totals[k] - left[k]) - 1;
        left[k] += 1;
        /* Write first, keep if there is a cut: no branch to mispredict. */
        cuts.of_left[n_cuts] = l;
        cuts.of_right[n_cuts] = r;
        cuts.n_left[n_cuts] = (int32_t)(i + 1);
        cuts.bin[n_cuts] = (int32_t)((code + next - 1) / 2);
        n_cuts += code != next;
    }
    return n_cuts;
}

/* Of bins of two classes, see below, of n points: sums of squares are exact as doubles. Return how many bins have
 * points; there is room for all of them. */
static ptrdiff_t mrforest_cuts_of_two(const int32_t *counts, ptrdiff_t n_bins, ptrdiff_t stride, int32_t n, int32_t ones,
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
static ptrdiff_t mrforest_cuts_of_many(const int32_t *counts, ptrdiff_t n_bins, ptrdiff_t stride, ptrdiff_t n_classes,
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

MRFOREST_WIDE static void mrforest_score_all(ptrdiff_t n_cuts, int32_t n, mrforest_cuts cuts) {
    for (ptrdiff_t i = 0; i < n_cuts; i++)
        cuts.of_left[i] = cuts.of_left[i] / (double)cuts.n_left[i] + cuts.of_right[i] / (double)(n - cuts.n_left[i]);
}

/* ---- slices ------------------------------------------------------------------------------------- */

/* Points are bits. Of a feature of few codes there is a mask for each of its cuts: the points left of it;
 * of the node, a mask for each class. Masks have n_words words each. */

/* Points of each class of the node on the left of each cut, cuts x classes. */
MRFOREST_WIDE static void mrforest_count_slices(const uint64_t *slices, ptrdiff_t n_cuts,
                                                const uint64_t *classes, ptrdiff_t n_classes,
                                                ptrdiff_t n_words, int32_t *left) {
    for (ptrdiff_t c = 0; c < n_cuts; c++, slices += n_words)
        for (ptrdiff_t k = 0; k < n_classes; k++) {
            int32_t count = 0;
            for (ptrdiff_t w = 0; w < n_words; w++)
                count += __builtin_popcountll(slices[w] & classes[k * n_words + w]);
            *left++ = count;
        }
}

/* The best score from these counts. */
static double mrforest_best_of_counts(const int32_t *left, ptrdiff_t n_cuts, ptrdiff_t n_classes, ptrdiff_t n,
                                      const int32_t *totals, const double *inverse) {
    double best = -INFINITY, enough = 0;
    for (ptrdiff_t c = 0; c < n_cuts; c++, left += n_classes) {
        int32_t n_left = 0, of_left = 0, of_right = 0;
        for (ptrdiff_t k = 0; k < n_classes; k++) {
            int32_t l = left[k], r = totals[k] - l;
            n_left += l;
            of_left += l * l;
            of_right += r * r;
        }
        if (n_left == 0 || n_left == n) continue;
        double about = of_left * inverse[n_left] + of_right * inverse[n - n_left];
        if (about >= enough) {
            double score = (double)of_left / (double)n_left + (double)of_right / (double)(n - n_left);
            best = score > best ? score : best;
            about -= about * 0x1p-49;
            enough = about > enough ? about : enough;
        }
    }
    return best;
}

/* ---- bins --------------------------------------------------------------------------------------- */

/* Counts are classes x bins, the bins of the next class `stride` cells after those of a class. */

/* Two classes. -INFINITY: fewer than two bins have points. */
MRFOREST_WIDE static double mrforest_best_of_two_in_bins(const int32_t *counts, ptrdiff_t n_bins, ptrdiff_t stride,
                                                         double n, double ones) {
    enum { PART = 256, LANES = 8 };
    int32_t left[PART], x[PART], of_left = 0, of_ones = 0;
    double gain[PART], highest[LANES], largest = 0, best = -INFINITY;
    for (ptrdiff_t first = 0; first < n_bins; first += PART) {
        ptrdiff_t m = n_bins - first < PART ? n_bins - first : PART, padded = (m + LANES - 1) / LANES * LANES;
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
        for (int j = 0; j < LANES; j++) highest[j] = largest;
        for (ptrdiff_t i = 0; i < padded; i += LANES)
            for (int j = 0; j < LANES; j++) highest[j] = gain[i + j] > highest[j] ? gain[i + j] : highest[j];
        for (int j = 0; j < LANES; j++) largest = highest[j] > largest ? highest[j] : largest;
        double enough = largest - largest * 0x1p-50 - n * n * 0x1p-51;
        for (ptrdiff_t i = 0; i < padded; i += LANES) {
            int64_t is_enough = 0;
            for (int j = 0; j < LANES; j++) is_enough |= -(int64_t)(gain[i + j] >= enough);
            for (int j = 0; is_enough && j < LANES; j++)
                if (gain[i + j] >= enough && left[i + j] > 0 && left[i + j] < n) {
                    double score = mrforest_gini_of_two((int64_t)n, (int64_t)ones, left[i + j], x[i + j]);
                    best = score > best ? score : best;
                }
        }
    }
    return best;
}

/* The same of any number of classes; left and right have room for them. */
static double mrforest_best_of_many_in_bins(const int32_t *counts, ptrdiff_t n_bins, ptrdiff_t stride,
                                            ptrdiff_t n_classes, const int64_t *totals, int64_t *left,
                                            int64_t *right) {
    int64_t of_left = 0, of_right = 0, n_left = 0, n_right = 0;
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
            double score = (double)of_left / (double)n_left + (double)of_right / (double)n_right;
            best = score > best ? score : best;
        }
    }
    return best;
}

#endif
