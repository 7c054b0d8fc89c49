/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Points of a node counted by code and class: of one feature, or of all features at once.
 *
 *     code     0  1  1  2  4          counts of two classes, by code     0 | 1 0
 *     class    a  a  b  b  a                                             1 | 1 1
 *                                                                        2 | 0 1
 *                                                                        4 | 1 0 */
#include "kernels.h"
#include "lanes.h"

#include <string.h>

static void fill_histogram(const mrforest_points *points, const uint8_t *codes, int32_t n_codes,
                           mrforest_histogram *histogram) {
    const ptrdiff_t K = points->n_classes;
    if (K == 2) {
        memset(histogram->of_two, 0, (size_t)n_codes * sizeof *histogram->of_two);
        for (ptrdiff_t i = 0; i < points->n; i++)
            histogram->of_two[codes[i]] += 1 | (uint64_t)points->classes[i] << 32;
        return;
    }
    memset(histogram->sizes, 0, (size_t)n_codes * sizeof *histogram->sizes);
    memset(histogram->marks, 0, (size_t)n_codes * sizeof *histogram->marks);
    memset(histogram->counts, 0, (size_t)(n_codes * K) * sizeof *histogram->counts);
    for (ptrdiff_t i = 0; i < points->n; i++) {
        uint8_t k = points->classes[i];
        histogram->counts[codes[i] * K + k]++;
        histogram->sizes[codes[i]]++;
        histogram->marks[codes[i]][k >> 6] |= (uint64_t)1 << (k & 63);
    }
}

/* ---- all features at once ------------------------------------------------------------------- */

/* Rows of codes are read as they are, many features at a time: where a row has code 1, one is added to what its class
 * and code 1 have there. */

#if defined(__GNUC__)
typedef uint8_t bytes_8 __attribute__((vector_size(8)));
typedef uint8_t bytes_32 __attribute__((vector_size(32)));

/* Count some features, as many as a vector has bytes, of points of one class. Bytes count up to 255. */
#define COUNT_PART(BYTES)                                                                                        \
    INLINE void count_part_##BYTES(const uint8_t *codes, const uint8_t *first, const int32_t *rows, ptrdiff_t n, \
                                   ptrdiff_t n_features, int n_codes, uint16_t *counts, uint8_t *differ) {       \
        bytes_##BYTES here, of_first, differs, found[MRFOREST_HISTOGRAMS_MOST_CODES] = {{0}};                    \
        memcpy(&of_first, first, BYTES);                                                                         \
        memcpy(&differs, differ, BYTES);                                                                         \
        for (ptrdiff_t start = 0; start < n; start += 255) {                                                     \
            ptrdiff_t end = n - start < 255 ? n : start + 255;                                                   \
            for (ptrdiff_t i = start; i < end; i++) {                                                            \
                memcpy(&here, codes + rows[i] * n_features, BYTES);                                              \
                differs |= here ^ of_first;                                                                      \
                for (int code = 0; code < n_codes; code++)                                                       \
                    found[code] -= (bytes_##BYTES)(here == (uint8_t)code); /* true is -1 */                      \
            }                                                                                                    \
            for (int code = 0; code < n_codes; code++) {                                                         \
                for (int j = 0; j < BYTES; j++)                                                                  \
                    counts[code * n_features + j] =                                                              \
                        (uint16_t)(found[code][j] + (start > 0 ? counts[code * n_features + j] : 0));            \
                found[code] ^= found[code];                                                                      \
            }                                                                                                    \
        }                                                                                                        \
        memcpy(differ, &differs, BYTES);                                                                         \
    }

COUNT_PART(8)
COUNT_PART(32)
#undef COUNT_PART

/* Of points of one class. */
INLINE void count_all_features(const uint8_t *codes, const uint8_t *first, const int32_t *rows, ptrdiff_t n,
                               int n_codes, uint16_t *counts, mrforest_histograms *histograms) {
    const ptrdiff_t n_features = histograms->n_features, together = n_features < 32 ? 8 : 32;
    const ptrdiff_t last = n_features - together; /* the last part may overlap the one before it */
    for (ptrdiff_t f = 0; f < n_features; f += together) {
        if (f > last) f = last;
        if (together == 8)
            count_part_8(codes + f, first + f, rows, n, n_features, n_codes, counts + f, histograms->differ + f);
        else count_part_32(codes + f, first + f, rows, n, n_features, n_codes, counts + f, histograms->differ + f);
    }
}
#else
INLINE void count_all_features(const uint8_t *codes, const uint8_t *first, const int32_t *rows, ptrdiff_t n,
                               int n_codes, uint16_t *counts, mrforest_histograms *histograms) {
    const ptrdiff_t n_features = histograms->n_features;
    memset(counts, 0, (size_t)(n_codes * n_features) * sizeof *counts);
    for (ptrdiff_t i = 0; i < n; i++) {
        const uint8_t *code = codes + rows[i] * n_features;
        for (ptrdiff_t f = 0; f < n_features; f++) {
            histograms->differ[f] |= code[f] ^ first[f];
            if (code[f] < n_codes) counts[code[f] * n_features + f]++;
        }
    }
}
#endif

/* The same with a number of codes that the compiler knows. */
static void count_class(const uint8_t *codes, const uint8_t *first, const int32_t *rows, ptrdiff_t n,
                        uint16_t *counts, mrforest_histograms *histograms) {
    if (histograms->n_codes == 2) count_all_features(codes, first, rows, n, 2, counts, histograms);
    else if (histograms->n_codes == 4) count_all_features(codes, first, rows, n, 4, counts, histograms);
    else count_all_features(codes, first, rows, n, 8, counts, histograms);
}

static void fill_histograms(const mrforest_points *points, const uint8_t *codes, const int32_t *rows,
                            mrforest_histograms *histograms) {
    const uint8_t *first = codes + rows[0] * histograms->n_features;
    memset(histograms->differ, 0, (size_t)histograms->n_features);
    for (ptrdiff_t k = 0; k < points->n_classes; k++) {
        count_class(codes, first, rows, points->totals[k],
                    histograms->counts + k * histograms->n_codes * histograms->n_features, histograms);
        rows += points->totals[k];
    }
}

static int read_histogram(const mrforest_points *points, const mrforest_histograms *histograms, ptrdiff_t feature,
                          int32_t n_codes, mrforest_histogram *histogram) {
    const ptrdiff_t K = points->n_classes, step = histograms->n_codes * histograms->n_features;
    const uint16_t *counts = histograms->counts + feature;
    ptrdiff_t n = 0;
    for (int32_t code = 0; code < n_codes; code++, counts += histograms->n_features) {
        if (K == 2) {
            uint64_t zeros = counts[0], ones = counts[step];
            histogram->of_two[code] = zeros + ones + (ones << 32);
            n += (ptrdiff_t)(zeros + ones);
        } else {
            int32_t size = 0;
            uint64_t marks = 0; /* there are fewer than 64 classes */
            for (ptrdiff_t k = 0; k < K; k++) {
                int32_t count = counts[k * step];
                histogram->counts[code * K + k] = count;
                marks |= (uint64_t)(count > 0) << k;
                size += count;
            }
            histogram->marks[code][0] = marks;
            histogram->sizes[code] = size;
            n += size;
        }
    }
    return n == points->n;
}
