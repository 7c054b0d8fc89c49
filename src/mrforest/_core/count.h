/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counting all features of rows of one-byte codes. A node's rows lie scattered over the table, so those that come
 * next are asked for early. */
#ifndef MRFOREST_COUNT_H
#define MRFOREST_COUNT_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "checked.h"
#include "wide.h"

#if defined(__GNUC__)
#define mrforest_prefetch(address) __builtin_prefetch(address)
#else
#define mrforest_prefetch(address) ((void)0)
#endif

enum { MRFOREST_AHEAD = 16 }; /* rows */

/* The rows of a node, and what is known of them. */
typedef struct {
    const uint8_t *codes; /* all rows x n_features */
    ptrdiff_t n_features, n_rows;
    const int32_t *y;      /* class of each row */
    const int32_t *copies; /* points that each row is; NULL: one */
    const int32_t *rows;   /* those of the node */
    ptrdiff_t n;
} mrforest_counted;

/* Ask for row i of them. (A macro: gcc 12 takes a function that only asks for one that does nothing.) */
#define MRFOREST_ASK_FOR(node, i)                                                                   \
    if ((i) < (node)->n) {                                                                          \
        const uint8_t *code_ = (node)->codes + (node)->rows[i] * (node)->n_features;                \
        mrforest_prefetch(code_);                                                                   \
        mrforest_prefetch(code_ + (node)->n_features - 1);                                          \
        mrforest_prefetch((node)->y + (node)->rows[i]);                                             \
    }

/* Cells of class k and feature f begin at start[k * n_features + f]. */
static void mrforest_count_each(const mrforest_counted *node, const int32_t *start, ptrdiff_t size, int32_t *counts) {
    for (ptrdiff_t i = 0; i < node->n; i++) {
        MRFOREST_ASK_FOR(node, i + MRFOREST_AHEAD)
        ptrdiff_t row = mrforest_at(node->rows[i], node->n_rows), F = node->n_features;
        const uint8_t *code = node->codes + row * F;
        const int32_t *first = start + node->y[row] * F;
        int32_t count = node->copies == NULL ? 1 : node->copies[row];
        for (ptrdiff_t f = 0; f < F; f++) counts[mrforest_at((uint32_t)first[f] + code[f], size)] += count;
    }
}

/* The same where all features have equally many cells of a class, `width`, and those of n_classes follow each other. */
static void mrforest_count_alike(const mrforest_counted *node, ptrdiff_t width, ptrdiff_t n_classes, ptrdiff_t size,
                                 int32_t *counts) {
    const ptrdiff_t F = node->n_features, next = width * n_classes;
    for (ptrdiff_t i = 0; i < node->n; i++) {
        MRFOREST_ASK_FOR(node, i + MRFOREST_AHEAD)
        ptrdiff_t row = mrforest_at(node->rows[i], node->n_rows), at = node->y[row] * width, f = 0;
        const uint8_t *code = node->codes + row * F;
        int32_t count = node->copies == NULL ? 1 : node->copies[row];
        for (; f + 4 <= F; f += 4, at += 4 * next) {
            counts[mrforest_at(at + code[f], size)] += count;
            counts[mrforest_at(at + next + code[f + 1], size)] += count;
            counts[mrforest_at(at + 2 * next + code[f + 2], size)] += count;
            counts[mrforest_at(at + 3 * next + code[f + 3], size)] += count;
        }
        for (; f < F; f++, at += next) counts[mrforest_at(at + code[f], size)] += count;
    }
}

#ifdef MRFOREST_WITH_256

/* mrforest_count_each, which finds eight cells at once. */
MRFOREST_256 static void mrforest_count_each_256(const mrforest_counted *node, const int32_t *start, int32_t *counts) {
    for (ptrdiff_t i = 0; i < node->n; i++) {
        MRFOREST_ASK_FOR(node, i + MRFOREST_AHEAD)
        ptrdiff_t row = node->rows[i], F = node->n_features, f = 0;
        const uint8_t *code = node->codes + row * F;
        const int32_t *first = start + node->y[row] * F;
        int32_t count = node->copies == NULL ? 1 : node->copies[row];
        uint32_t cell[8];
        for (; f + 8 <= F; f += 8) {
            __m256i eight = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(code + f)));
            _mm256_storeu_si256((__m256i *)cell, _mm256_add_epi32(eight, _mm256_loadu_si256((const __m256i *)(first + f))));
            for (int j = 0; j < 8; j++) counts[cell[j]] += count;
        }
        for (; f < F; f++) counts[(uint32_t)first[f] + code[f]] += count;
    }
}

#endif

/* Add each row's copies to the cells of its class and its codes. There are `size` cells; width is 0 where features have
 * more or fewer of them. */
static void mrforest_count_bytes(const mrforest_counted *node, const int32_t *start, ptrdiff_t width, ptrdiff_t n_classes,
                                 ptrdiff_t size, int32_t *counts) {
    if (width > 0) {
        mrforest_count_alike(node, width, n_classes, size, counts);
        return;
    }
#ifdef MRFOREST_WITH_256
    if (mrforest_has_256) {
        mrforest_count_each_256(node, start, counts);
        return;
    }
#endif
    mrforest_count_each(node, start, size, counts);
}

#endif
