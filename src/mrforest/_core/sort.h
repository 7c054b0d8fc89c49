/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Points of a block in the order of their codes: by counting, a byte of the code at a time. There are at most
 * 256 of them, so that places fit a byte, too. */
#ifndef MRFOREST_SORT_H
#define MRFOREST_SORT_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "wide.h"

/* From how many of two parts of the points have each byte to where the first of them goes: those of the first part
 * come before those of the second. */
static inline void mrforest_counts_to_places(uint8_t *counts, uint8_t *later) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    /* Eight at a time. A sum of 256 runs over into sums above it, of which there are no points. */
    const uint64_t ones = 0x0101010101010101;
    uint64_t before = 0;
    for (int w = 0; w < 256; w += 8) {
        uint64_t here, more, sums, places;
        memcpy(&here, counts + w, sizeof here);
        memcpy(&more, later + w, sizeof more);
        sums = (here + more) * ones;
        places = (sums << 8) + before * ones;
        memcpy(counts + w, &places, sizeof places);
        places += here;
        memcpy(later + w, &places, sizeof places);
        before += sums >> 56;
    }
#else
    uint8_t before = 0;
    for (int b = 0; b < 256; b++) {
        uint8_t here = counts[b], more = later[b];
        counts[b] = before;
        later[b] = (uint8_t)(before + here);
        before += here + more;
    }
#endif
}

#ifdef MRFOREST_WITH_256

enum { MRFOREST_FEW_TO_SORT = 32 };

/* Few points, all at once: a point's place is how many are less than it. Codes may be read up to 32. */
MRFOREST_256 static void mrforest_sort_few_256(const uint8_t *codes, ptrdiff_t n, const uint32_t *points, uint32_t *items) {
    int16_t keys[MRFOREST_FEW_TO_SORT], places[MRFOREST_FEW_TO_SORT]; /* code (8 bits) | number (8), in signed order */
    const __m256i numbers = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (ptrdiff_t first = 0; first < n; first += 16) {
        __m256i code = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(codes + first)));
        __m256i key = _mm256_or_si256(_mm256_slli_epi16(code, 8), _mm256_add_epi16(numbers, _mm256_set1_epi16((short)first)));
        _mm256_storeu_si256((__m256i *)(keys + first), _mm256_xor_si256(key, _mm256_set1_epi16((short)0x8000)));
    }
    for (ptrdiff_t first = 0; first < n; first += 16) {
        __m256i key = _mm256_loadu_si256((const __m256i *)(keys + first)), place = _mm256_setzero_si256();
        for (ptrdiff_t i = 0; i < n; i++)
            place = _mm256_sub_epi16(place, _mm256_cmpgt_epi16(key, _mm256_set1_epi16(keys[i])));
        _mm256_storeu_si256((__m256i *)(places + first), place);
    }
    for (ptrdiff_t i = 0; i < n; i++) items[places[i]] = (uint32_t)codes[i] << 16 | points[i];
}

#endif

/* Items: code (16 bits) | point (16). The code of the next point is `stride` codes further on; where it is 1,
 * there is room for 32 codes. */
static inline void mrforest_sort_bytes(const uint8_t *codes, ptrdiff_t stride, ptrdiff_t n, const uint32_t *points,
                                       uint32_t *items) {
#ifdef MRFOREST_WITH_256
    if (mrforest_has_256 && stride == 1 && n <= MRFOREST_FEW_TO_SORT) {
        mrforest_sort_few_256(codes, n, points, items);
        return;
    }
#endif
    /* Points of one code wait for each other, so the two halves of the points take turns. */
    uint8_t place[256] = {0}, later[256] = {0};
    ptrdiff_t half = n / 2;
    for (ptrdiff_t i = 0; i < half; i++) {
        place[codes[i * stride]]++;
        later[codes[(half + i) * stride]]++;
    }
    if (n % 2) later[codes[(n - 1) * stride]]++;
    mrforest_counts_to_places(place, later);
    for (ptrdiff_t i = 0; i < half; i++) {
        uint32_t code = codes[i * stride], other = codes[(half + i) * stride];
        items[place[code]++] = code << 16 | points[i];
        items[later[other]++] = other << 16 | points[half + i];
    }
    if (n % 2) {
        uint32_t code = codes[(n - 1) * stride];
        items[later[code]] = code << 16 | points[n - 1];
    }
}

static inline void mrforest_sort_shorts(const uint16_t *codes, ptrdiff_t stride, ptrdiff_t n, const uint32_t *points,
                                        uint32_t *items) {
    uint8_t low[256] = {0}, high[256] = {0}, none[256] = {0};
    uint32_t by_low[256];
    for (ptrdiff_t i = 0; i < n; i++) {
        low[codes[i * stride] & 255]++;
        high[codes[i * stride] >> 8]++;
    }
    mrforest_counts_to_places(low, none);
    memset(none, 0, sizeof none);
    mrforest_counts_to_places(high, none);
    for (ptrdiff_t i = 0; i < n; i++) {
        uint32_t code = codes[i * stride];
        by_low[low[code & 255]++] = code << 16 | points[i];
    }
    for (ptrdiff_t i = 0; i < n; i++) items[high[by_low[i] >> 24]++] = by_low[i];
}

#endif
