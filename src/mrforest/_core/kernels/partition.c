/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stable partitions: left ones first, each side in its order.
 *
 *     rows      [ a b c d e f ]  ->  [ a d e | b c f ]       if a, d, e go left
 *
 * Writing runs to both sides and then one of them advances: no branch to mispredict. */
#include "checked.h"
#include "kernels.h"
#include "lanes.h"
#include "ways.h"

/* ---- rows ----------------------------------------------------------------------------------- */

/* Short lists are copied without a call. */
INLINE void copy_short(int32_t *to, const int32_t *from, ptrdiff_t n) {
    if (n >= 8) {
        ptrdiff_t i = 0;
        for (; i + 8 <= n; i += 8) memcpy(to + i, from + i, 32);
        memcpy(to + n - 8, from + n - 8, 32);
        return;
    }
    if (n & 4) memcpy(to, from, 16);
    if (n & 2) memcpy(to + (n & 4), from + (n & 4), 8);
    if (n & 1) to[n - 1] = from[n - 1];
}

/* Left are the codes from the lowest one up to the bin, except for missing values, which have a side of their own. */
typedef struct {
    int32_t lowest, bin, left_too, never;
} left_range;

INLINE left_range range_of(mrforest_left_codes left) {
    const int32_t none = -1;
    return (left_range){.lowest = left.is_equality ? left.bin : 0,
                        .bin = left.bin,
                        .left_too = left.missing_left ? left.missing : none,
                        .never = left.missing_left ? none : left.missing};
}

#if HAS_LOOKUP
/* LANES rows at a time, as long as there are so many; return how many rows were read. */
#define PART_MANY_ROWS(NAME, CODE, LANES_OF)                                                                 \
    INLINE ptrdiff_t NAME(const CODE *codes, ptrdiff_t stride, ptrdiff_t n_rows, int32_t *rows, ptrdiff_t n, \
                          left_range range, int32_t *scratch, ptrdiff_t *n_left) {                           \
        ptrdiff_t i = 0;                                                                                     \
        for (; i + LANES <= n; i += LANES) {                                                                 \
            const ints here = load(rows + i);                                                                \
            CODE some[LANES];                                                                                \
            for (int j = 0; j < LANES; j++) some[j] = codes[mrforest_at(rows[i + j], n_rows) * stride];      \
            const ints code = LANES_OF(some);                                                                \
            const ints in_range = (code >= range.lowest) & (code <= range.bin) & (code != range.never);      \
            const unsigned left = bits_of_mask(in_range | (code == range.left_too));                         \
            /* No row is written before it has been read: LANES of those from n_left on have been. */        \
            store(rows + *n_left, ones_first(here, left));                                                   \
            store(scratch + i - *n_left, ones_first(here, left ^ ((1u << LANES) - 1)));                      \
            *n_left += __builtin_popcount(left);                                                             \
        }                                                                                                    \
        return i;                                                                                            \
    }

PART_MANY_ROWS(part_many_rows_of_bytes, uint8_t, lanes_of_bytes)
PART_MANY_ROWS(part_many_rows_of_shorts, uint16_t, lanes_of_shorts)
#else
#define part_many_rows_of_bytes(...) 0
#define part_many_rows_of_shorts(...) 0
#endif

#define PART_ROWS(NAME, CODE, PART_MANY)                                                                     \
    static ptrdiff_t NAME(const CODE *codes, ptrdiff_t stride, ptrdiff_t n_rows, int32_t *rows, ptrdiff_t n, \
                          mrforest_left_codes left_codes, int32_t *scratch) {                                \
        const left_range range = range_of(left_codes);                                                       \
        ptrdiff_t n_left = 0, i = 0;                                                                         \
        if (!mrforest_is_off[MRFOREST_ROWS_BY_LANES])                                                        \
            i = PART_MANY(codes, stride, n_rows, rows, n, range, scratch, &n_left);                          \
        for (; i < n; i++) {                                                                                 \
            const int32_t row = rows[i];                                                                     \
            const int32_t code = codes[mrforest_at(row, n_rows) * stride];                                   \
            const int in_range = (code >= range.lowest) & (code <= range.bin) & (code != range.never);       \
            /* n_left <= i, so the first write never runs ahead of the reading. */                           \
            rows[n_left] = row;                                                                              \
            scratch[i - n_left] = row;                                                                       \
            n_left += in_range | (code == range.left_too);                                                   \
        }                                                                                                    \
        copy_short(rows + n_left, scratch, n - n_left);                                                      \
        return n_left;                                                                                       \
    }

PART_ROWS(part_rows_of_bytes, uint8_t, part_many_rows_of_bytes)
PART_ROWS(part_rows_of_shorts, uint16_t, part_many_rows_of_shorts)

/* ---- lists ---------------------------------------------------------------------------------- */

#if HAS_LOOKUP

/* Points whose bit is set, by their number, come first, else all keep their order; a side that is not wanted is left
 * as it comes. LANES items are read and written at a time, also behind the list. */
INLINE void part_list(uint32_t *list, ptrdiff_t n, bit_set is_left, int sides) {
    uint32_t others[MRFOREST_LIST + LANES];
    ptrdiff_t n_left = 0, n_right = 0;
    const ints after = load(list + n);
    for (ptrdiff_t i = 0; i < n; i += LANES) {
        const ints here = load(list + i);
        const unsigned inside = n - i < LANES ? (1u << (n - i)) - 1 : (1u << LANES) - 1;
        const unsigned left = bits_in_set(is_left, here) & inside, right = left ^ inside;
        /* What is written here has been read: there are no more left ones than points so far. */
        if (sides & MRFOREST_LEFT) store(list + n_left, ones_first(here, left));
        if (sides & MRFOREST_RIGHT) store(others + n_right, ones_first(here, right));
        n_left += __builtin_popcount(left);
        n_right += __builtin_popcount(right);
    }
    if (sides & MRFOREST_RIGHT)
        for (ptrdiff_t i = 0; i < n_right; i += LANES) store(list + n_left + i, load(others + i));
    store(list + n, after);
}

static void part_lists(uint32_t *items, const ptrdiff_t *place, const int32_t *number, ptrdiff_t n_lists, ptrdiff_t n,
                       const uint8_t *is_left, int sides) {
    const bit_set set = load_bit_set(is_left);
    for (ptrdiff_t i = 0; i < n_lists; i++) {
        uint32_t *list = items + place[number[i]];
        if (sides == MRFOREST_LEFT) part_list(list, n, set, MRFOREST_LEFT);
        else if (sides == MRFOREST_RIGHT) part_list(list, n, set, MRFOREST_RIGHT);
        else part_list(list, n, set, MRFOREST_LEFT | MRFOREST_RIGHT);
    }
}

#else

static void part_lists(uint32_t *items, const ptrdiff_t *place, const int32_t *number, ptrdiff_t n_lists, ptrdiff_t n,
                       const uint8_t *is_left, int sides) {
    uint32_t others[MRFOREST_LIST];
    (void)sides;
    for (ptrdiff_t i = 0; i < n_lists; i++) {
        uint32_t *list = items + place[number[i]];
        ptrdiff_t n_left = 0;
        for (ptrdiff_t j = 0; j < n; j++) {
            const uint32_t item = list[j];
            list[n_left] = item;
            others[j - n_left] = item;
            n_left += is_left[item & 255];
        }
        memcpy(list + n_left, others, (size_t)(n - n_left) * sizeof *others);
    }
}

#endif
