/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Points in the order of their codes: by counting, a byte of the code at a time. There are at most 256 of them, so
 * that places fit a byte, too. */
#include "kernels.h"
#include "lanes.h"
#include "ways.h"

/* From how many of two parts of the points have each byte to where the first of them goes: those of the first part
 * come before those of the second. */
INLINE void counts_to_places(uint8_t *counts, uint8_t *later) {
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

#if LANES

enum { FEW_TO_SORT = 32, KEYS_TOGETHER = 16 };
typedef int16_t short_keys __attribute__((vector_size(2 * KEYS_TOGETHER)));

/* Few points, all at once: a point's place is how many are less than it. Codes may be read up to 32. */
static void sort_few_bytes(const uint8_t *codes, ptrdiff_t n, const uint32_t *points, uint32_t *items) {
    int16_t keys[FEW_TO_SORT], places[FEW_TO_SORT]; /* code (8 bits) | number (8), in signed order */
    for (int i = 0; i < FEW_TO_SORT; i++) keys[i] = (int16_t)((codes[i] << 8 | i) ^ 0x8000);
    for (ptrdiff_t first = 0; first < n; first += KEYS_TOGETHER) {
        short_keys key, place = {0};
        memcpy(&key, keys + first, sizeof key);
        for (ptrdiff_t i = 0; i < n; i++) place -= key > keys[i];
        memcpy(places + first, &place, sizeof place);
    }
    for (ptrdiff_t i = 0; i < n; i++) items[places[i]] = (uint32_t)codes[i] << 16 | points[i];
}

#endif

static void sort_bytes(const uint8_t *codes, ptrdiff_t stride, ptrdiff_t n, const uint32_t *points, uint32_t *items) {
#if LANES
    if (stride == 1 && n <= FEW_TO_SORT && !mrforest_is_off[MRFOREST_FEW_SORTED]) {
        sort_few_bytes(codes, n, points, items);
        return;
    }
#endif
    /* Points of one code wait for each other, so the two halves of the points take turns. */
    uint8_t place[256] = {0}, later[256] = {0};
    const ptrdiff_t half = n / 2;
    for (ptrdiff_t i = 0; i < half; i++) {
        place[codes[i * stride]]++;
        later[codes[(half + i) * stride]]++;
    }
    if (n % 2) later[codes[(n - 1) * stride]]++;
    counts_to_places(place, later);
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

static void sort_shorts(const uint16_t *codes, ptrdiff_t stride, ptrdiff_t n, const uint32_t *points,
                        uint32_t *items) {
    uint8_t low[256] = {0}, high[256] = {0}, none[256] = {0};
    uint32_t by_low[256];
    for (ptrdiff_t i = 0; i < n; i++) {
        low[codes[i * stride] & 255]++;
        high[codes[i * stride] >> 8]++;
    }
    counts_to_places(low, none);
    memset(none, 0, sizeof none);
    counts_to_places(high, none);
    for (ptrdiff_t i = 0; i < n; i++) {
        uint32_t code = codes[i * stride];
        by_low[low[code & 255]++] = code << 16 | points[i];
    }
    for (ptrdiff_t i = 0; i < n; i++) items[high[by_low[i] >> 24]++] = by_low[i];
}
