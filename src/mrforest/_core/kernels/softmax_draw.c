/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which of n numbers is drawn, most of the time without a single exp: weights are floats first. If the drawn place is
 * too near to a border for them to tell, the caller has to.
 *
 *     weights   |   w_0   | w_1 |      w_2      | ...
 *     target                         ^              u times their sum
 */
#include "kernels.h"
#include "lanes.h"

#define STEEPEST 60.0 /* exp(-60) is a normal float */

/* exp(steep (score - highest)), which is at least exp(-60), to a share of 2^-21 + steep (highest - score) 2^-22;
 * return their sum, to a further share of n 2^-27. */
static double write_weights(const double *scores, ptrdiff_t n, double highest, double steep, float *weights) {
    enum { SUMS = 16 };
    float sum[SUMS] = {0}, per_octave = (float)(steep * 1.4426950408889634);
    double total = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        float y = (float)(scores[i] - highest) * per_octave;
        float whole = (y + 0x1.8p23f) - 0x1.8p23f, f = y - whole, w; /* 2^y = 2^whole 2^f, |f| <= 1/2 */
        float p = 1.535336188e-4f;                                   /* a polynomial near 2^f */
        int32_t bits;
        p = p * f + 1.339887440e-3f;
        p = p * f + 9.618437358e-3f;
        p = p * f + 5.550332471e-2f;
        p = p * f + 2.402264791e-1f;
        p = p * f + 6.931472029e-1f;
        p = p * f + 1.0f;
        memcpy(&bits, &p, sizeof bits);
        bits += (int32_t)whole * (1 << 23);
        memcpy(&w, &bits, sizeof w);
        weights[i] = w;
    }
    ptrdiff_t i = 0;
    for (; i + SUMS <= n; i += SUMS)
        for (int j = 0; j < SUMS; j++) sum[j] += weights[i + j];
    for (int j = 0; j < SUMS; j++) total += sum[j];
    for (; i < n; i++) total += weights[i];
    return total;
}

static ptrdiff_t draw_softmax(const double *scores, ptrdiff_t n, double highest, double span, double steep, double u,
                              double *work) {
    float *weights = (float *)work;
    if (!(steep * span <= STEEPEST) || n > 4096) return -1;
    double total = write_weights(scores, n, highest, steep, weights), target = u * total, sum = 0;
    /* Twice the error of a sum */
    double margin = total * (0x1p-19 + steep * span * 0x1p-21 + (double)n * 0x1p-25);
    for (ptrdiff_t i = 0; i < n - 1; i++) {
        sum += weights[i];
        if (sum > target - margin) return sum > target + margin ? i : -1;
    }
    return n - 1;
}
