/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Points as bits, 64 to a word. A slice has a bit for each point, 1 if it lies left of some cut. Words
 * of all slices that tell of the same 64 points lie next to each other, so what is done to one slice is
 * done to several at once:
 *
 *     words    [ slice 0, slice 1, ... of points 0 to 63 ][ slice 0, slice 1, ... of points 64 to 127 ] ...
 */
#ifndef MRFOREST_SLICES_H
#define MRFOREST_SLICES_H
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "popcount_256.h"
#include "wide.h"

/* Add to counts how many points of a mask lie left of each of n slices; stride: of all slices. */
static MRFOREST_INLINE void mrforest_add_counts(const uint64_t *words, ptrdiff_t stride, ptrdiff_t n,
                                                const uint64_t *mask, ptrdiff_t n_words, int32_t *counts) {
    ptrdiff_t w = 0;
    for (; w + 4 <= n_words; w += 4, words += 4 * stride) {
        uint64_t m0 = mask[w], m1 = mask[w + 1], m2 = mask[w + 2], m3 = mask[w + 3];
        if ((m0 | m1 | m2 | m3) == 0) continue;
        for (ptrdiff_t s = 0; s < n; s++)
            counts[s] +=
                __builtin_popcountll(words[s] & m0) + __builtin_popcountll(words[s + stride] & m1) +
                __builtin_popcountll(words[s + 2 * stride] & m2) + __builtin_popcountll(words[s + 3 * stride] & m3);
    }
    for (; w < n_words; w++, words += stride) {
        uint64_t m = mask[w];
        if (m == 0) continue;
        for (ptrdiff_t s = 0; s < n; s++) counts[s] += __builtin_popcountll(words[s] & m);
    }
}

/* The same for several masks of n_words each; counts are masks x room, from the first slice on. */
MRFOREST_WIDE static void mrforest_count_left(const uint64_t *words, ptrdiff_t stride, ptrdiff_t n,
                                              const uint64_t *masks, ptrdiff_t n_masks, ptrdiff_t n_words,
                                              ptrdiff_t room, int32_t *counts) {
    for (ptrdiff_t k = 0; k < n_masks; k++, masks += n_words, counts += room) {
        ptrdiff_t done = 0;
        memset(counts, 0, (size_t)n * sizeof(int32_t));
#ifdef MRFOREST_WITH_256
        if (mrforest_has_256) done = mrforest_add_counts_256(words, stride, n, masks, n_words, counts);
#endif
        if (done < n) mrforest_add_counts(words + done, stride, n - done, masks, n_words, counts + done);
    }
}

/* The same for slices that are listed. */
MRFOREST_WIDE static void mrforest_count_left_of_some(const uint64_t *words, ptrdiff_t stride,
                                                      const int32_t *slices, ptrdiff_t n, const uint64_t *masks,
                                                      ptrdiff_t n_masks, ptrdiff_t n_words, ptrdiff_t room,
                                                      int32_t *counts) {
    for (ptrdiff_t k = 0; k < n_masks; k++, masks += n_words, counts += room) {
        memset(counts, 0, (size_t)n * sizeof(int32_t));
        for (ptrdiff_t w = 0; w < n_words; w++) {
            const uint64_t *word = words + w * stride;
            uint64_t m = masks[w];
            if (m == 0) continue;
            for (ptrdiff_t s = 0; s < n; s++) counts[s] += __builtin_popcountll(word[slices[s]] & m);
        }
    }
}

/* Gini scores of n slices, -INFINITY where a side is empty; counts are classes x room. Sums of squares
 * of whole numbers are exact, so scores are what they are elsewhere. */
MRFOREST_WIDE static void mrforest_score_slices(const int32_t *counts, ptrdiff_t room, ptrdiff_t n,
                                                const double *totals, ptrdiff_t n_classes, double n_points,
                                                int32_t *n_left, double *scores) {
    enum { AT_ONCE = 64 };
    double left[AT_ONCE], of_left[AT_ONCE], of_right[AT_ONCE];
    for (ptrdiff_t first = 0; first < n; first += AT_ONCE) {
        ptrdiff_t m = n - first < AT_ONCE ? n - first : AT_ONCE;
        for (ptrdiff_t s = 0; s < m; s++) left[s] = of_left[s] = of_right[s] = 0;
        for (ptrdiff_t k = 0; k < n_classes; k++) {
            const int32_t *count = counts + k * room + first;
            for (ptrdiff_t s = 0; s < m; s++) {
                double l = count[s], r = totals[k] - l;
                left[s] += l;
                of_left[s] += l * l;
                of_right[s] += r * r;
            }
        }
        for (ptrdiff_t s = 0; s < m; s++) {
            double right = n_points - left[s];
            double score = of_left[s] / left[s] + of_right[s] / right;
            n_left[first + s] = (int32_t)left[s];
            scores[first + s] = left[s] > 0 && right > 0 ? score : -INFINITY;
        }
    }
}

/* Points on the left of slices that are listed, and their scores, each at the place of its slice: the same where
 * there are few words. */
MRFOREST_WIDE static void mrforest_score_some(const uint64_t *words, ptrdiff_t stride, const int32_t *slices,
                                              ptrdiff_t n, const uint64_t *masks, ptrdiff_t n_words,
                                              const double *totals, ptrdiff_t n_classes, double n_points,
                                              int32_t *n_left, double *scores) {
    for (ptrdiff_t i = 0; i < n; i++) {
        const uint64_t *word = words + slices[i], *mask = masks;
        int64_t left = 0, of_left = 0, of_right = 0, right;
        for (ptrdiff_t k = 0; k < n_classes; k++, mask += n_words) {
            int64_t l = 0, r;
            for (ptrdiff_t w = 0; w < n_words; w++) l += __builtin_popcountll(word[w * stride] & mask[w]);
            r = (int64_t)totals[k] - l;
            left += l;
            of_left += l * l;
            of_right += r * r;
        }
        right = (int64_t)n_points - left;
        n_left[slices[i]] = (int32_t)left;
        scores[slices[i]] =
            left > 0 && right > 0 ? (double)of_left / (double)left + (double)of_right / (double)right : -INFINITY;
    }
}

/* Bits of some point of the mask that lies left of a slice, and of some that lies right of it. */
MRFOREST_WIDE static void mrforest_find_sides(const uint64_t *words, ptrdiff_t n_slices, const uint64_t *mask,
                                              ptrdiff_t n_words, uint64_t *left, uint64_t *right) {
    memset(left, 0, (size_t)n_slices * sizeof(uint64_t));
    memset(right, 0, (size_t)n_slices * sizeof(uint64_t));
    for (ptrdiff_t w = 0; w < n_words; w++, words += n_slices) {
        uint64_t m = mask[w];
        if (m == 0) continue;
        for (ptrdiff_t s = 0; s < n_slices; s++) {
            left[s] |= words[s] & m;
            right[s] |= ~words[s] & m;
        }
    }
}

/* Keep the points of a mask alone, in their order, and of the slices those that are listed: from bit `first`
 * of `out` on, which has zeros there and behind.
 *
 * A word's bits are squeezed together by one instruction where that is fast, else in six steps: those of
 * moves[i] go down by 2^i (Warren, Hacker's Delight, 7-4). */
static inline void mrforest_plan_moves(uint64_t mask, uint64_t *moves) {
    uint64_t gaps = ~mask << 1; /* zeros below each bit, counted bit by bit */
    for (int i = 0; i < 6; i++) {
        uint64_t odd = gaps ^ (gaps << 1);
        odd ^= odd << 2;
        odd ^= odd << 4;
        odd ^= odd << 8;
        odd ^= odd << 16;
        odd ^= odd << 32;
        moves[i] = odd & mask;
        mask = (mask ^ moves[i]) | (moves[i] >> (1 << i));
        gaps &= ~odd;
    }
}

#define MRFOREST_SQUEEZE(PLAN, SQUEEZED)                                                           \
    out += (first >> 6) * n_kept;                                                                  \
    int at = (int)(first & 63); /* the next bit of out's present word */                           \
    for (ptrdiff_t w = 0; w < n_words; w++, words += n_slices) {                                   \
        uint64_t m = mask[w];                                                                      \
        int n = __builtin_popcountll(m);                                                           \
        if (n == 0) continue;                                                                      \
        PLAN;                                                                                      \
        if (at + n <= 64) {                                                                        \
            for (ptrdiff_t s = 0; s < n_kept; s++) out[s] |= SQUEEZED(words[kept[s]]) << at;       \
        } else {                                                                                   \
            for (ptrdiff_t s = 0; s < n_kept; s++) {                                               \
                uint64_t x = SQUEEZED(words[kept[s]]);                                             \
                out[s] |= x << at;                                                                 \
                out[s + n_kept] = x >> (64 - at);                                                  \
            }                                                                                      \
        }                                                                                          \
        if (at + n >= 64) out += n_kept;                                                           \
        at = (at + n) & 63;                                                                        \
    }

static inline uint64_t mrforest_squeezed(uint64_t x, const uint64_t *moves) {
    for (int i = 0; i < 6; i++) {
        uint64_t moved = x & moves[i];
        x = (x ^ moved) | (moved >> (1 << i));
    }
    return x;
}

static void mrforest_squeeze_in_steps(const uint64_t *words, ptrdiff_t n_slices, const int32_t *kept,
                                      ptrdiff_t n_kept, const uint64_t *mask, ptrdiff_t n_words, ptrdiff_t first,
                                      uint64_t *out) {
    uint64_t moves[6];
#define MRFOREST_IN_STEPS(x) mrforest_squeezed((x)&m, moves)
    MRFOREST_SQUEEZE(mrforest_plan_moves(m, moves), MRFOREST_IN_STEPS)
#undef MRFOREST_IN_STEPS
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
__attribute__((target("bmi2,popcnt"))) static void mrforest_squeeze_at_once(
    const uint64_t *words, ptrdiff_t n_slices, const int32_t *kept, ptrdiff_t n_kept, const uint64_t *mask,
    ptrdiff_t n_words, ptrdiff_t first, uint64_t *out) {
#define MRFOREST_AT_ONCE(x) _pext_u64(x, m)
    MRFOREST_SQUEEZE((void)0, MRFOREST_AT_ONCE)
#undef MRFOREST_AT_ONCE
}

/* AMD's family 17h has the instruction, but it takes hundreds of cycles there. The checked build goes by
 * steps, so that these are tested on every machine. */
static inline int mrforest_is_squeezing_fast(void) {
#ifdef MRFOREST_CHECKED
    return 0;
#else
    return __builtin_cpu_supports("bmi2") && !__builtin_cpu_is("amdfam17h");
#endif
}
#else
#define mrforest_squeeze_at_once mrforest_squeeze_in_steps
static inline int mrforest_is_squeezing_fast(void) { return 0; }
#endif
#undef MRFOREST_SQUEEZE

static void mrforest_squeeze(const uint64_t *words, ptrdiff_t n_slices, const int32_t *kept, ptrdiff_t n_kept,
                             const uint64_t *mask, ptrdiff_t n_words, ptrdiff_t first, uint64_t *out) {
    if (mrforest_is_squeezing_fast())
        mrforest_squeeze_at_once(words, n_slices, kept, n_kept, mask, n_words, first, out);
    else
        mrforest_squeeze_in_steps(words, n_slices, kept, n_kept, mask, n_words, first, out);
}

/* The same for points number first to n of a list, in any order and each as often as it is there; all slices
 * are kept. */
MRFOREST_WIDE static void mrforest_gather(const uint64_t *words, ptrdiff_t n_slices, const int32_t *points,
                                          ptrdiff_t first, ptrdiff_t n, uint64_t *out) {
    for (ptrdiff_t i = first; i < n; i++) {
        const uint64_t *from = words + (points[i] >> 6) * n_slices;
        uint64_t *to = out + (i >> 6) * n_slices;
        int bit = points[i] & 63, at = (int)(i & 63);
        for (ptrdiff_t s = 0; s < n_slices; s++) to[s] |= (from[s] >> bit & 1) << at;
    }
}

MRFOREST_WIDE static ptrdiff_t mrforest_count_bits(const uint64_t *mask, ptrdiff_t n_words) {
    ptrdiff_t n = 0;
    for (ptrdiff_t w = 0; w < n_words; w++) n += __builtin_popcountll(mask[w]);
    return n;
}

/* How many points of a mask each class has, and, one after the other, of those that have some: again how many,
 * and a mask of them. Return how many such classes there are. Classes are slices, those of their points. */
MRFOREST_WIDE static ptrdiff_t mrforest_part_by_class(const uint64_t *classes, ptrdiff_t n_classes,
                                                      const uint64_t *mask, ptrdiff_t n_words, int64_t *totals,
                                                      double *present_totals, uint64_t *present) {
    ptrdiff_t n_present = 0;
    for (ptrdiff_t k = 0; k < n_classes; k++) {
        int64_t n = 0;
        for (ptrdiff_t w = 0; w < n_words; w++) {
            present[w] = mask[w] & classes[w * n_classes + k];
            n += __builtin_popcountll(present[w]);
        }
        totals[k] = n;
        if (n == 0) continue;
        present_totals[n_present++] = (double)n;
        present += n_words;
    }
    return n_present;
}

/* Those of the rows whose bits are set; return how many. */
static inline ptrdiff_t mrforest_rows_of(const int32_t *rows, const uint64_t *mask, ptrdiff_t n_words,
                                         int32_t *out) {
    ptrdiff_t n = 0;
    for (ptrdiff_t w = 0; w < n_words; w++)
        for (uint64_t m = mask[w]; m != 0; m &= m - 1) out[n++] = rows[64 * w + __builtin_ctzll(m)];
    return n;
}

#endif
