/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Points of a node counted by code and class: of one feature, or of all features at once.
 *
 *     code     0  1  1  2  4          counts of two classes, by code     0 | 1 0
 *     class    a  a  b  b  a                                             1 | 1 1
 *                                                                        2 | 0 1
 *                                                                        4 | 1 0 */
#ifndef MRFOREST_CLASS_HISTOGRAM_H
#define MRFOREST_CLASS_HISTOGRAM_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "wide.h"

enum { MRFOREST_MOST_CODES = 256 }; /* that are counted */

/* The points of a node, its classes numbered from 0 on. */
typedef struct {
    ptrdiff_t n;            /* points */
    const uint8_t *classes; /* of each */
    ptrdiff_t n_classes;
    const int32_t *totals; /* points of each class */
    const int64_t *xlogx;  /* for x = 0 to n, see entropy.h; NULL: scores are those of the Gini impurity */
    int64_t all_right;     /* sum over the classes of the squares of totals, or of their x log x */
} mrforest_points;

/* Points of one feature. */
typedef struct {
    uint64_t of_two[MRFOREST_MOST_CODES]; /* if there are two classes: points of a code, of class 1 in the high half */
    int32_t sizes[MRFOREST_MOST_CODES];   /* else: points of a code */
    uint64_t marks[MRFOREST_MOST_CODES][MRFOREST_MOST_CODES / 64]; /* classes that a code has, a bit each */
    int32_t *counts;                                               /* codes x classes */
    int32_t *left;                                                 /* classes; for whoever reads the rest */
} mrforest_histogram;

/* Count points by their codes, which are below n_codes. */
static MRFOREST_INLINE void mrforest_fill_histogram(const mrforest_points *points, const uint8_t *codes,
                                                    int32_t n_codes, mrforest_histogram *histogram) {
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

/* ---- all features at once ----------------------------------------------------------------------- */

/* Points counted by class, code and feature. Rows of codes are read as they are, many features at a time: where a row
 * has code 1, one is added to what its class and code 1 have there. Codes from n_codes on are not counted. */
typedef struct {
    uint16_t *counts;     /* classes x codes x features */
    uint8_t *differ;      /* for each feature, not 0 if points differ in it */
    int32_t n_codes;      /* 2, 4 or 8 */
    ptrdiff_t n_features; /* bytes of a row; at least MRFOREST_HISTOGRAMS_LEAST_FEATURES */
} mrforest_histograms;

enum {
    MRFOREST_HISTOGRAMS_MOST_CLASSES = 16,
    MRFOREST_HISTOGRAMS_MOST_POINTS = 65535,
    MRFOREST_HISTOGRAMS_LEAST_FEATURES = 8
};

#if defined(__GNUC__)
enum { MRFOREST_HISTOGRAMS_MOST_CODES = 8 };
typedef uint8_t mrforest_bytes_8 __attribute__((vector_size(8)));
typedef uint8_t mrforest_bytes_32 __attribute__((vector_size(32)));

/* Count some features, as many as a register has bytes, of points of one class. Bytes count up to 255. */
#define MRFOREST_COUNT_PART(BYTES)                                                                                  \
    static MRFOREST_INLINE void mrforest_count_part_##BYTES(const uint8_t *codes, const uint8_t *first,             \
                                                            const int32_t *rows, ptrdiff_t n, ptrdiff_t n_features, \
                                                            int n_codes, uint16_t *counts, uint8_t *differ) {       \
        mrforest_bytes_##BYTES here, of_first, differs, found[MRFOREST_HISTOGRAMS_MOST_CODES] = {{0}};              \
        memcpy(&of_first, first, BYTES);                                                                            \
        memcpy(&differs, differ, BYTES);                                                                            \
        for (ptrdiff_t start = 0; start < n; start += 255) {                                                        \
            ptrdiff_t end = n - start < 255 ? n : start + 255;                                                      \
            for (ptrdiff_t i = start; i < end; i++) {                                                               \
                memcpy(&here, codes + rows[i] * n_features, BYTES);                                                 \
                differs |= here ^ of_first;                                                                         \
                for (int code = 0; code < n_codes; code++)                                                          \
                    found[code] -= (mrforest_bytes_##BYTES)(here == (uint8_t)code); /* true is -1 */                \
            }                                                                                                       \
            for (int code = 0; code < n_codes; code++) {                                                            \
                for (int j = 0; j < BYTES; j++)                                                                     \
                    counts[code * n_features + j] =                                                                 \
                        (uint16_t)(found[code][j] + (start > 0 ? counts[code * n_features + j] : 0));               \
                found[code] ^= found[code];                                                                         \
            }                                                                                                       \
        }                                                                                                           \
        memcpy(differ, &differs, BYTES);                                                                            \
    }                                                                                                               \
                                                                                                                    \
    static MRFOREST_INLINE void mrforest_count_rows_##BYTES(const uint8_t *codes, const uint8_t *first,             \
                                                            const int32_t *rows, ptrdiff_t n, ptrdiff_t n_features, \
                                                            int n_codes, uint16_t *counts, uint8_t *differ) {       \
        ptrdiff_t last = n_features - BYTES; /* the last part may overlap the one before it */                      \
        for (ptrdiff_t at = 0; at < n_features; at += BYTES) {                                                      \
            if (at > last) at = last;                                                                               \
            mrforest_count_part_##BYTES(codes + at, first + at, rows, n, n_features, n_codes, counts + at,          \
                                        differ + at);                                                               \
        }                                                                                                           \
    }

MRFOREST_COUNT_PART(8)
MRFOREST_COUNT_PART(32)

static MRFOREST_INLINE void mrforest_count_class_of(const uint8_t *codes, const uint8_t *first, const int32_t *rows,
                                                    ptrdiff_t n, int n_codes, uint16_t *counts,
                                                    mrforest_histograms *histograms) {
    if (histograms->n_features < 32)
        mrforest_count_rows_8(codes, first, rows, n, histograms->n_features, n_codes, counts, histograms->differ);
    else
        mrforest_count_rows_32(codes, first, rows, n, histograms->n_features, n_codes, counts, histograms->differ);
}

/* Count the points of one class. */
MRFOREST_WIDE static void mrforest_count_class(const uint8_t *codes, const uint8_t *first, const int32_t *rows,
                                               ptrdiff_t n, uint16_t *counts, mrforest_histograms *histograms) {
    switch (histograms->n_codes) {
        case 2:
            mrforest_count_class_of(codes, first, rows, n, 2, counts, histograms);
            return;
        case 4:
            mrforest_count_class_of(codes, first, rows, n, 4, counts, histograms);
            return;
        default:
            mrforest_count_class_of(codes, first, rows, n, 8, counts, histograms);
    }
}
#else
enum { MRFOREST_HISTOGRAMS_MOST_CODES = 0 }; /* no feature is counted in this way */
static void mrforest_count_class(const uint8_t *codes, const uint8_t *first, const int32_t *rows, ptrdiff_t n,
                                 uint16_t *counts, mrforest_histograms *histograms) {}
#endif

/* Count the points of a node. Rows are those of its points, those of a class behind those of the class before. */
static void mrforest_fill_histograms(const mrforest_points *points, const uint8_t *codes, const int32_t *rows,
                                     mrforest_histograms *histograms) {
    const uint8_t *first = codes + rows[0] * histograms->n_features;
    memset(histograms->differ, 0, (size_t)histograms->n_features);
    for (ptrdiff_t k = 0; k < points->n_classes; k++) {
        mrforest_count_class(codes, first, rows, points->totals[k],
                             histograms->counts + k * histograms->n_codes * histograms->n_features, histograms);
        rows += points->totals[k];
    }
}

/* Read a feature of n_codes codes; 0 if some points have others: values are missing. */
static MRFOREST_INLINE int mrforest_read_histogram(const mrforest_points *points,
                                                   const mrforest_histograms *histograms, ptrdiff_t feature,
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

#endif
