/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MRFOREST_FEW_CUTS_H
#define MRFOREST_FEW_CUTS_H
#include <stddef.h>
#include <stdint.h>
#include "wide.h"

/* Features of so many cuts are compared with all of them: then a row is coded from left to right. */
#define MRFOREST_FEW_CUTS 3

/* Codes of one row. Features have MRFOREST_FEW_CUTS cuts each, infinity where they have fewer; `cuts` has the
 * first cut of every feature, then the second of every feature, and so on. */
MRFOREST_WIDE static void mrforest_encode_few(const double *x, const double *cuts, const int32_t *n_bins, ptrdiff_t n,
                                              uint8_t *codes) {
    for (ptrdiff_t j = 0; j < n; j++) {
        int64_t code = (x[j] > cuts[j]) + (x[j] > cuts[n + j]) + (x[j] > cuts[2 * n + j]);
        codes[j] = (uint8_t)(x[j] != x[j] ? n_bins[j] : code);
    }
}

#endif
