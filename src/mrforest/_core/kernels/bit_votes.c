/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A block of rows goes through a tree all together: a node is a set of rows, one bit for each, and a split parts it
 * by the set of the rows that go right there, which is made once for all trees. So a split costs the same few
 * operations whether it parts all rows or none, no row waits for its node, and no branch is mispredicted. It pays
 * where trees are small: about 200 splits cost a row as much as one level costs it that it walks.
 *
 * Votes are counted in bits as well: 64 rows at a time, one word for each binary digit of a count. */
#include "checked.h"
#include "kernels.h"
#include "lanes.h"

#include <math.h>
#include <string.h>

/* ---- splits --------------------------------------------------------------------------------- */

INLINE void put_side(uint64_t *to, some_words rows, const int end) {
    if (end == MRFOREST_JOIN) store_words(to, load_words(to) | rows);
    if (end == MRFOREST_KEEP) store_words(to, rows);
}

INLINE void split_some_sets(const mrforest_set_split *splits, ptrdiff_t n_splits, const mrforest_row_set *cuts,
                            ptrdiff_t n_cuts, mrforest_row_set *sets, ptrdiff_t n_sets, const int left_end,
                            const int right_end) {
    for (ptrdiff_t s = 0; s < n_splits; s++) {
        const mrforest_set_split split = splits[s];
        const uint64_t *right_of = cuts[mrforest_at(split.cut, n_cuts)].words;
        const uint64_t *from = sets[mrforest_at(split.from, n_sets)].words;
        uint64_t *left = sets[mrforest_at(split.left, n_sets)].words;
        uint64_t *right = sets[mrforest_at(split.right, n_sets)].words;
        UNROLL
        for (int w = 0; w < MRFOREST_SET_WORDS; w += SOME_WORDS) {
            /* A side may go where the set was: both are made before one is stored. */
            const some_words rows = load_words(from + w), cut = load_words(right_of + w);
            const some_words to_left = rows & ~cut, to_right = rows & cut;
            put_side(left + w, to_left, left_end);
            put_side(right + w, to_right, right_end);
        }
    }
}

#define ENDS(LEFT, RIGHT)                                                                 \
    case LEFT + MRFOREST_N_ENDS *RIGHT:                                                   \
        split_some_sets(splits, runs->n_splits, cuts, n_cuts, sets, n_sets, LEFT, RIGHT); \
        break;

static void split_sets(const mrforest_split_run *runs, ptrdiff_t n_runs, const mrforest_set_split *splits,
                       const mrforest_row_set *cuts, ptrdiff_t n_cuts, mrforest_row_set *sets, ptrdiff_t n_sets) {
    for (; n_runs--; splits += runs->n_splits, runs++) {
        switch (runs->ends) {
            ENDS(MRFOREST_JOIN, MRFOREST_DROP)
            ENDS(MRFOREST_KEEP, MRFOREST_DROP)
            ENDS(MRFOREST_DROP, MRFOREST_JOIN)
            ENDS(MRFOREST_JOIN, MRFOREST_JOIN)
            ENDS(MRFOREST_KEEP, MRFOREST_JOIN)
            ENDS(MRFOREST_DROP, MRFOREST_KEEP)
            ENDS(MRFOREST_JOIN, MRFOREST_KEEP)
            ENDS(MRFOREST_KEEP, MRFOREST_KEEP)
            default:
                break; /* nobody asks for a split whose sides are both dropped */
        }
    }
}
#undef ENDS

/* ---- votes ---------------------------------------------------------------------------------- */

static void count_votes(const mrforest_row_set *sets, int n_sets, mrforest_vote_count *count) {
    for (int w = 0; w < MRFOREST_SET_WORDS; w++) {
        uint64_t vote = 0;
        for (int s = 0; s < n_sets; s++) vote |= sets[s].words[w];
        count->few[1].words[w] ^= count->few[0].words[w] & vote;
        count->few[0].words[w] ^= vote;
    }
}

static void carry_votes(mrforest_vote_count *count) {
    for (int w = 0; w < MRFOREST_SET_WORDS; w++) {
        uint64_t carry = 0;
        for (int digit = 0; digit < MRFOREST_DIGITS; digit++) {
            uint64_t more = digit < 2 ? count->few[digit].words[w] : 0, one = count->all[digit].words[w];
            count->all[digit].words[w] = one ^ more ^ carry;
            carry = (one & more) | (carry & (one ^ more));
        }
        count->few[0].words[w] = count->few[1].words[w] = 0;
    }
}

/* Bit i of a byte to byte i of a word. */
INLINE uint64_t spread_bits(uint64_t byte) {
    return ((((byte * 0x0101010101010101u) & 0x8040201008040201u) + 0x00406070787C7E7Fu) >> 7) & 0x0101010101010101u;
}

/* The other way, where bytes are 0 or 1. */
INLINE uint64_t join_bits(uint64_t bytes) { return (bytes * 0x0102040810204080u) >> 56; }

static void read_votes(mrforest_vote_count *count, ptrdiff_t n_rows, int32_t *votes, ptrdiff_t stride) {
    carry_votes(count);
    for (ptrdiff_t i = 0; i < n_rows; i += 8) {
        uint64_t of_rows = 0;
        int n = n_rows - i < 8 ? (int)(n_rows - i) : 8;
        for (int digit = 0; digit < MRFOREST_DIGITS; digit++) {
            uint64_t word = count->all[digit].words[i / 64];
            of_rows |= spread_bits((word >> (i % 64)) & 255) << digit;
        }
        for (int r = 0; r < n; r++) votes[(i + r) * stride] += (of_rows >> (8 * r)) & 255;
    }
    memset(count, 0, sizeof *count);
}

/* ---- rows to sets --------------------------------------------------------------------------- */

/* Add bit `row` to the word of each feature where the row lies above the threshold, for four rows from there on.
 * Return whether a value is missing. */
static int add_above_singles(const double *thresholds, ptrdiff_t n_features, const double *X, int row,
                             uint64_t *above) {
    const double *rows[4] = {X, X + n_features, X + 2 * n_features, X + 3 * n_features};
    some_words missing = {0};
    int is_missing = 0;
    ptrdiff_t j = 0;
    for (; j + SOME_WORDS <= n_features; j += SOME_WORDS) {
        const some_doubles threshold = load_doubles(thresholds + j);
        some_words words = load_words(above + j);
        UNROLL
        for (int i = 0; i < 4; i++) {
            const some_doubles x = load_doubles(rows[i] + j);
            words |= WHERE(x > threshold) & ((uint64_t)1 << (row + i));
            missing |= WHERE(x != x);
        }
        store_words(above + j, words);
    }
    for (; j < n_features; j++)
        for (int i = 0; i < 4; i++) {
            above[j] |= (uint64_t)(rows[i][j] > thresholds[j]) << (row + i);
            is_missing |= isnan(rows[i][j]);
        }
    return is_missing | any_bit(missing);
}

/* More cuts than this are written one row after the other. */
enum { FEW_CUTS = 16 };

/* Sets of the rows whose code is above each cut, from the codes of a block of rows. */
static void write_few_cuts(const uint16_t *codes, int32_t n_cuts, mrforest_row_set *cuts) {
    for (int word = 0; word < MRFOREST_SET_WORDS; word++, codes += 64)
        for (int32_t high = 0; high < n_cuts; high++) {
            uint8_t is_above[64];
            uint64_t bits = 0, bytes[8];
            for (int i = 0; i < 64; i++) is_above[i] = codes[i] > (uint16_t)high;
            memcpy(bytes, is_above, sizeof bytes);
            for (int i = 0; i < 8; i++) bits |= join_bits(bytes[i]) << (8 * i);
            cuts[high].words[word] = bits;
        }
}

/* The same of many cuts: rows of each code, then of all codes above. */
static void write_many_cuts(const uint16_t *codes, ptrdiff_t n_rows, int32_t n_cuts, mrforest_row_set *cuts) {
    memset(cuts, 0, (size_t)n_cuts * sizeof *cuts);
    for (ptrdiff_t i = 0; i < n_rows; i++)
        if (codes[i]) cuts[mrforest_at(codes[i] - 1, n_cuts)].words[i / 64] |= (uint64_t)1 << (i % 64);
    for (int32_t high = n_cuts - 2; high >= 0; high--)
        for (int w = 0; w < MRFOREST_SET_WORDS; w++) cuts[high].words[w] |= cuts[high + 1].words[w];
}

/* Codes of up to 64 rows in a column, none of which is missing. */
SCALAR static void code_column(const mrforest_column *column, const double *X, ptrdiff_t n_features, int n_rows,
                               uint16_t *codes) {
    for (int i = 0; i < n_rows; i += ROWS_TOGETHER, X += ROWS_TOGETHER * n_features) {
        int32_t some[ROWS_TOGETHER];
        const int n = n_rows - i < ROWS_TOGETHER ? n_rows - i : ROWS_TOGETHER;
        code_some(column, X, n_features, n, some);
        for (int r = 0; r < n; r++) codes[i + r] = (uint16_t)some[r];
    }
}

static int cut_rows(const mrforest_column *columns, ptrdiff_t n_columns, const uint8_t *is_single,
                    const double *single_thresholds, const double *X, ptrdiff_t n_features, ptrdiff_t n_rows,
                    uint64_t *above, uint16_t *codes, mrforest_row_set *cuts) {
    const double *values = columns[0].values;
    for (ptrdiff_t word = 0; 64 * word < n_rows; word++, X += 64 * n_features) {
        int n = n_rows - 64 * word < 64 ? (int)(n_rows - 64 * word) : 64, row = 0;
        if (single_thresholds != NULL) {
            memset(above, 0, (size_t)n_features * sizeof *above);
            for (; row + 4 <= n; row += 4)
                if (add_above_singles(single_thresholds, n_features, X + row * n_features, row, above)) return 1;
        }
        if (has_missing(X + row * n_features, (n - row) * n_features)) return 1;
        for (ptrdiff_t j = 0; j < n_columns; j++) {
            const double *x = X + columns[j].feature;
            if (!is_single[j]) {
                code_column(columns + j, X, n_features, n, codes + j * MRFOREST_SET_ROWS + 64 * word);
                continue;
            }
            uint64_t bits = above[columns[j].feature];
            for (int i = row; i < n; i++) bits |= (uint64_t)(x[i * n_features] > columns[j].values[0]) << i;
            cuts[columns[j].values - values].words[word] = bits;
        }
    }
    for (ptrdiff_t j = 0; j < n_columns; j++, codes += MRFOREST_SET_ROWS) {
        mrforest_row_set *sets = cuts + (columns[j].values - values);
        if (is_single[j]) continue;
        if (columns[j].n_values <= FEW_CUTS) write_few_cuts(codes, columns[j].n_values, sets);
        else write_many_cuts(codes, n_rows, columns[j].n_values, sets);
    }
    return 0;
}
