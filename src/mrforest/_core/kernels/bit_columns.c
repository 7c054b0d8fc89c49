/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Points as bits, 64 to a word. A column has a bit for each point, 1 if it lies left of some cut. Words
 * of all columns that tell of the same 64 points lie next to each other, so what is done to one column is
 * done to several at once:
 *
 *     words    [ column 0, column 1, ... of points 0 to 63 ][ column 0, column 1, ... of points 64 to 127 ] ...
 */
#include "kernels.h"
#include "lanes.h"

#include <math.h>
#include <string.h>

/* ---- counts --------------------------------------------------------------------------------- */

/* Add to counts how many points of a mask lie left of each of n columns; stride: of all columns. */
INLINE void add_counts(const uint64_t *words, ptrdiff_t stride, ptrdiff_t n, const uint64_t *mask, ptrdiff_t n_words,
                       int32_t *counts) {
    ptrdiff_t w = 0;
    for (; w + 4 <= n_words; w += 4, words += 4 * stride) {
        uint64_t m0 = mask[w], m1 = mask[w + 1], m2 = mask[w + 2], m3 = mask[w + 3];
        if ((m0 | m1 | m2 | m3) == 0) continue;
        for (ptrdiff_t s = 0; s < n; s++)
            counts[s] += count_ones(words[s] & m0) + count_ones(words[s + stride] & m1) +
                         count_ones(words[s + 2 * stride] & m2) + count_ones(words[s + 3 * stride] & m3);
    }
    for (; w < n_words; w++, words += stride) {
        uint64_t m = mask[w];
        if (m == 0) continue;
        for (ptrdiff_t s = 0; s < n; s++) counts[s] += count_ones(words[s] & m);
    }
}

#if LANES

/* The same for all but the last n % 4 columns; return how many are done. */
INLINE ptrdiff_t add_counts_of_four(const uint64_t *words, ptrdiff_t stride, ptrdiff_t n, const uint64_t *mask,
                                    ptrdiff_t n_words, int32_t *counts) {
    const ptrdiff_t n_done = n / 4 * 4;
    for (ptrdiff_t w = 0; w < n_words; w += 4, words += 4 * stride) {
        const ptrdiff_t m = n_words - w < 4 ? n_words - w : 4;
        uint64_t masks[4] = {0}, any = 0;
        for (ptrdiff_t i = 0; i < m; i++) any |= masks[i] = mask[w + i];
        if (any == 0) continue;
        for (ptrdiff_t s = 0; s < n_done; s += 4) {
            four_words bits = bits_in_bytes(load_words(words + s) & masks[0]);
            four_ints sums;
            if (m == 4) {
                bits += bits_in_bytes(load_words(words + s + stride) & masks[1]);
                bits += bits_in_bytes(load_words(words + s + 2 * stride) & masks[2]);
                bits += bits_in_bytes(load_words(words + s + 3 * stride) & masks[3]);
            } else {
                for (ptrdiff_t i = 1; i < m; i++)
                    bits += bits_in_bytes(load_words(words + s + i * stride) & masks[i]);
            }
            memcpy(&sums, counts + s, sizeof sums);
            sums += sums_of_bytes(bits);
            memcpy(counts + s, &sums, sizeof sums);
        }
    }
    return n_done;
}

#endif

static void count_left(const uint64_t *words, ptrdiff_t stride, ptrdiff_t n, const uint64_t *masks, ptrdiff_t n_masks,
                       ptrdiff_t n_words, ptrdiff_t capacity, int32_t *counts) {
    for (ptrdiff_t k = 0; k < n_masks; k++, masks += n_words, counts += capacity) {
        ptrdiff_t done = 0;
        memset(counts, 0, (size_t)n * sizeof(int32_t));
#if LANES
        done = add_counts_of_four(words, stride, n, masks, n_words, counts);
#endif
        if (done < n) add_counts(words + done, stride, n - done, masks, n_words, counts + done);
    }
}

static void count_left_of_some(const uint64_t *words, ptrdiff_t stride, const int32_t *columns, ptrdiff_t n,
                               const uint64_t *masks, ptrdiff_t n_masks, ptrdiff_t n_words, ptrdiff_t capacity,
                               int32_t *counts) {
    for (ptrdiff_t k = 0; k < n_masks; k++, masks += n_words, counts += capacity) {
        memset(counts, 0, (size_t)n * sizeof(int32_t));
        for (ptrdiff_t w = 0; w < n_words; w++) {
            const uint64_t *word = words + w * stride;
            uint64_t m = masks[w];
            if (m == 0) continue;
            for (ptrdiff_t s = 0; s < n; s++) counts[s] += count_ones(word[columns[s]] & m);
        }
    }
}

/* ---- scores --------------------------------------------------------------------------------- */

/* Sums of squares of whole numbers are exact as doubles, so scores are what they are elsewhere. */
static void score_columns(const int32_t *counts, ptrdiff_t capacity, ptrdiff_t n, const double *totals,
                          ptrdiff_t n_classes, double n_points, int32_t *n_left, double *scores) {
    enum { AT_ONCE = 64 };
    double left[AT_ONCE], of_left[AT_ONCE], of_right[AT_ONCE];
    for (ptrdiff_t first = 0; first < n; first += AT_ONCE) {
        ptrdiff_t m = n - first < AT_ONCE ? n - first : AT_ONCE;
        for (ptrdiff_t s = 0; s < m; s++) left[s] = of_left[s] = of_right[s] = 0;
        for (ptrdiff_t k = 0; k < n_classes; k++) {
            const int32_t *count = counts + k * capacity + first;
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

static void score_some(const uint64_t *words, ptrdiff_t stride, const int32_t *columns, ptrdiff_t n,
                       const uint64_t *masks, ptrdiff_t n_words, const double *totals, ptrdiff_t n_classes,
                       double n_points, int32_t *n_left, double *scores) {
    for (ptrdiff_t i = 0; i < n; i++) {
        const uint64_t *word = words + columns[i], *mask = masks;
        int64_t left = 0, of_left = 0, of_right = 0, right;
        for (ptrdiff_t k = 0; k < n_classes; k++, mask += n_words) {
            int64_t l = 0, r;
            for (ptrdiff_t w = 0; w < n_words; w++) l += count_ones(word[w * stride] & mask[w]);
            r = (int64_t)totals[k] - l;
            left += l;
            of_left += l * l;
            of_right += r * r;
        }
        right = (int64_t)n_points - left;
        n_left[columns[i]] = (int32_t)left;
        scores[columns[i]] =
            left > 0 && right > 0 ? (double)of_left / (double)left + (double)of_right / (double)right : -INFINITY;
    }
}

/* ---- masks ---------------------------------------------------------------------------------- */

static void find_sides(const uint64_t *words, ptrdiff_t n_columns, const uint64_t *mask, ptrdiff_t n_words,
                       uint64_t *left, uint64_t *right) {
    memset(left, 0, (size_t)n_columns * sizeof(uint64_t));
    memset(right, 0, (size_t)n_columns * sizeof(uint64_t));
    for (ptrdiff_t w = 0; w < n_words; w++, words += n_columns) {
        uint64_t m = mask[w];
        if (m == 0) continue;
        for (ptrdiff_t s = 0; s < n_columns; s++) {
            left[s] |= words[s] & m;
            right[s] |= ~words[s] & m;
        }
    }
}

/* A word's bits are squeezed together by one instruction where that is fast, else in six steps: those of moves[i] go
 * down by 2^i (Warren, Hacker's Delight, 7-4). */
INLINE void plan_moves(uint64_t mask, uint64_t *moves) {
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

#define SQUEEZE(PLAN, SQUEEZED)                                                              \
    out += (first >> 6) * n_kept;                                                            \
    int at = (int)(first & 63); /* the next bit of out's present word */                     \
    for (ptrdiff_t w = 0; w < n_words; w++, words += n_columns) {                            \
        uint64_t m = mask[w];                                                                \
        int n = count_ones(m);                                                               \
        if (n == 0) continue;                                                                \
        PLAN;                                                                                \
        if (at + n <= 64) {                                                                  \
            for (ptrdiff_t s = 0; s < n_kept; s++) out[s] |= SQUEEZED(words[kept[s]]) << at; \
        } else {                                                                             \
            for (ptrdiff_t s = 0; s < n_kept; s++) {                                         \
                uint64_t x = SQUEEZED(words[kept[s]]);                                       \
                out[s] |= x << at;                                                           \
                out[s + n_kept] = x >> (64 - at);                                            \
            }                                                                                \
        }                                                                                    \
        if (at + n >= 64) out += n_kept;                                                     \
        at = (at + n) & 63;                                                                  \
    }

INLINE uint64_t squeezed(uint64_t x, const uint64_t *moves) {
    for (int i = 0; i < 6; i++) {
        uint64_t moved = x & moves[i];
        x = (x ^ moved) | (moved >> (1 << i));
    }
    return x;
}

static void squeeze_in_steps(const uint64_t *words, ptrdiff_t n_columns, const int32_t *kept, ptrdiff_t n_kept,
                             const uint64_t *mask, ptrdiff_t n_words, ptrdiff_t first, uint64_t *out) {
    uint64_t moves[6];
#define IN_STEPS(x) squeezed((x) & m, moves)
    SQUEEZE(plan_moves(m, moves), IN_STEPS)
#undef IN_STEPS
}

#if defined(__BMI2__)

static void squeeze_at_once(const uint64_t *words, ptrdiff_t n_columns, const int32_t *kept, ptrdiff_t n_kept,
                            const uint64_t *mask, ptrdiff_t n_words, ptrdiff_t first, uint64_t *out){
#define AT_ONCE(x) _pext_u64(x, m)
    SQUEEZE((void)0, AT_ONCE)
#undef AT_ONCE
}

/* AMD's family 17h has the instruction, but it takes hundreds of cycles there. */
INLINE int is_squeezing_fast(void) {
    return !__builtin_cpu_is("amdfam17h");
}

#endif
#undef SQUEEZE

static void squeeze(const uint64_t *words, ptrdiff_t n_columns, const int32_t *kept, ptrdiff_t n_kept,
                    const uint64_t *mask, ptrdiff_t n_words, ptrdiff_t first, uint64_t *out) {
#if defined(__BMI2__)
    if (is_squeezing_fast()) {
        squeeze_at_once(words, n_columns, kept, n_kept, mask, n_words, first, out);
        return;
    }
#endif
    squeeze_in_steps(words, n_columns, kept, n_kept, mask, n_words, first, out);
}

static void gather_points(const uint64_t *words, ptrdiff_t n_columns, const int32_t *points, ptrdiff_t first,
                          ptrdiff_t n, uint64_t *out) {
    for (ptrdiff_t i = first; i < n; i++) {
        const uint64_t *from = words + (points[i] >> 6) * n_columns;
        uint64_t *to = out + (i >> 6) * n_columns;
        int bit = points[i] & 63, at = (int)(i & 63);
        for (ptrdiff_t s = 0; s < n_columns; s++) to[s] |= (from[s] >> bit & 1) << at;
    }
}

static ptrdiff_t count_bits(const uint64_t *mask, ptrdiff_t n_words) {
    ptrdiff_t n = 0;
    for (ptrdiff_t w = 0; w < n_words; w++) n += count_ones(mask[w]);
    return n;
}

static ptrdiff_t part_by_class(const uint64_t *classes, ptrdiff_t n_classes, const uint64_t *mask, ptrdiff_t n_words,
                               int64_t *totals, double *present_totals, uint64_t *present) {
    ptrdiff_t n_present = 0;
    for (ptrdiff_t k = 0; k < n_classes; k++) {
        int64_t n = 0;
        for (ptrdiff_t w = 0; w < n_words; w++) {
            present[w] = mask[w] & classes[w * n_classes + k];
            n += count_ones(present[w]);
        }
        totals[k] = n;
        if (n == 0) continue;
        present_totals[n_present++] = (double)n;
        present += n_words;
    }
    return n_present;
}

static ptrdiff_t rows_of_mask(const int32_t *rows, const uint64_t *mask, ptrdiff_t n_words, int32_t *out) {
    ptrdiff_t n = 0;
    for (ptrdiff_t w = 0; w < n_words; w++)
        for (uint64_t m = mask[w]; m != 0; m &= m - 1) out[n++] = rows[64 * w + lowest_bit(m)];
    return n;
}
