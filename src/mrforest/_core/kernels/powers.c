/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums of class shares that are raised to powers: what losses of sharpened probabilities need.
 *
 * The powers are such that square roots and products give them, which all machines round alike. */
#include "kernels.h"
#include "lanes.h"

#include <math.h>

static const double powers[MRFOREST_N_POWERS] = {0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8};

/* x to each of the powers. */
INLINE void raise_to_powers(double x, double *y) {
    double root = sqrt(x), fourth = sqrt(root), square = x * x, biquadrate = square * square;
    y[0] = root;
    y[1] = root * fourth;
    y[2] = x;
    y[3] = x * fourth;
    y[4] = x * root;
    y[5] = square;
    y[6] = square * root;
    y[7] = square * x;
    y[8] = biquadrate;
    y[9] = biquadrate * x;
    y[10] = biquadrate * square;
    y[11] = biquadrate * biquadrate;
}

static void sum_powers(const double *shares, ptrdiff_t n_classes, const int32_t *classes, mrforest_power_sums *out) {
    memset(out, 0, sizeof *out);
    for (ptrdiff_t k = 0; k < n_classes; k++) {
        const double *share = shares + k * MRFOREST_BLOCK_ROWS;
        for (ptrdiff_t i = 0; i < MRFOREST_BLOCK_ROWS; i++) {
            double raised[MRFOREST_N_POWERS];
            raise_to_powers(share[i], raised);
            for (int p = 0; p < MRFOREST_N_POWERS; p++) {
                out->total[p][i] += raised[p];
                out->squares[p][i] += raised[p] * raised[p];
            }
        }
    }
    for (ptrdiff_t i = 0; i < MRFOREST_BLOCK_ROWS; i++) {
        double raised[MRFOREST_N_POWERS];
        raise_to_powers(shares[(ptrdiff_t)classes[i] * MRFOREST_BLOCK_ROWS + i], raised);
        for (int p = 0; p < MRFOREST_N_POWERS; p++) out->own[p][i] = raised[p];
    }
}
