/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Points of a block in the order of their codes: by counting, a byte of the code at a time. There are at most
 * 256 of them, so that places fit a byte, too. */
#ifndef MRFOREST_SORT_H
#define MRFOREST_SORT_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* From how many have each byte to where the first of them goes. */
static inline void mrforest_counts_to_places(uint8_t *counts) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    /* Eight at a time. A sum of 256 runs over into sums above it, of which there are no points. */
    const uint64_t ones = 0x0101010101010101;
    uint64_t before = 0;
    for (int w = 0; w < 256; w += 8) {
        uint64_t word, sums;
        memcpy(&word, counts + w, sizeof word);
        sums = word * ones;
        word = (sums << 8) + before * ones;
        memcpy(counts + w, &word, sizeof word);
        before += sums >> 56;
    }
#else
    uint8_t before = 0;
    for (int b = 0; b < 256; b++) {
        uint8_t count = counts[b];
        counts[b] = before;
        before += count;
    }
#endif
}

/* Items: code (16 bits) | point (16). The code of the next point is `stride` codes further on. */
static inline void mrforest_sort_bytes(const uint8_t *codes, ptrdiff_t stride, ptrdiff_t n, const uint32_t *points,
                                       uint32_t *items) {
    uint8_t place[256] = {0};
    for (ptrdiff_t i = 0; i < n; i++) place[codes[i * stride]]++;
    mrforest_counts_to_places(place);
    for (ptrdiff_t i = 0; i < n; i++) {
        uint32_t code = codes[i * stride];
        items[place[code]++] = code << 16 | points[i];
    }
}

static inline void mrforest_sort_shorts(const uint16_t *codes, ptrdiff_t stride, ptrdiff_t n, const uint32_t *points,
                                        uint32_t *items) {
    uint8_t low[256] = {0}, high[256] = {0};
    uint32_t by_low[256];
    for (ptrdiff_t i = 0; i < n; i++) {
        low[codes[i * stride] & 255]++;
        high[codes[i * stride] >> 8]++;
    }
    mrforest_counts_to_places(low);
    mrforest_counts_to_places(high);
    for (ptrdiff_t i = 0; i < n; i++) {
        uint32_t code = codes[i * stride];
        by_low[low[code & 255]++] = code << 16 | points[i];
    }
    for (ptrdiff_t i = 0; i < n; i++) items[high[by_low[i] >> 24]++] = by_low[i];
}

#endif
