/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A block of rows goes through a tree all together: a node is a set of rows, one bit for each, and a split parts
 * it by the set of the rows that go right there, which is made once for all trees. So a split costs the same few
 * operations whether it parts all rows or none, no row waits for its node, and no branch is guessed wrong. It pays
 * where trees are small: about 200 splits cost a row as much as one level costs it that it walks.
 *
 * Votes are counted in bits as well: 64 rows at a time, one word for each binary digit of a count. */
#ifndef MRFOREST_SIEVE_H
#define MRFOREST_SIEVE_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "below.h"
#include "checked.h"
#include "coded.h"
#include "wide.h"
#include "words.h"

/* Words of 64 rows in a set */
#define MRFOREST_WORDS 16
#define MRFOREST_SET_ROWS (64 * MRFOREST_WORDS)
/* A few trees are counted in two digits before they are added to all digits. */
#define MRFOREST_FEW_TREES 3
#define MRFOREST_DIGITS 8
#define MRFOREST_MOST_COUNTED 255

#define MRFOREST_CHUNKS ((int)(8 * MRFOREST_WORDS / sizeof(MRForestWords)))

typedef union {
    uint64_t words[MRFOREST_WORDS];
    MRForestWords chunks[MRFOREST_CHUNKS];
} MRForestSet;

/* The first set in memory that has room for one more: a set begins with a cache line. */
static inline MRForestSet *mrforest_first_set(void *memory) {
    return (MRForestSet *)(((uintptr_t)memory + 63) & ~(uintptr_t)63);
}

/* What becomes of a side: a leaf of the class that is not counted is forgotten, a leaf of another joins the rows
 * of a tally, and what is parted further is kept. */
enum { MRFOREST_FORGET, MRFOREST_JOIN, MRFOREST_KEEP, MRFOREST_N_FATES };

/* Part the set at `from` by a cut; the sides go to two places, where they are not forgotten. */
typedef struct {
    int32_t cut;
    uint16_t from, left, right;
} MRForestStep;

/* Steps one after the other whose sides have the same fates, so that nothing is asked from step to step */
typedef struct {
    int32_t n_steps;
    int32_t fates; /* of the left side, + MRFOREST_N_FATES times that of the right one */
} MRForestRun;

static MRFOREST_INLINE void mrforest_send(MRForestWords *to, MRForestWords rows, const int fate) {
    if (fate == MRFOREST_JOIN) *to |= rows;
    if (fate == MRFOREST_KEEP) *to = rows;
}

static MRFOREST_INLINE void mrforest_sift_run(const MRForestStep *steps, ptrdiff_t n_steps, const MRForestSet *cuts,
                                              ptrdiff_t n_cuts, MRForestSet *sets, ptrdiff_t n_sets,
                                              const int left_fate, const int right_fate) {
    for (ptrdiff_t s = 0; s < n_steps; s++) {
        const MRForestStep step = steps[s];
        const MRForestWords *right_of = cuts[mrforest_at(step.cut, n_cuts)].chunks;
        const MRForestWords *from = sets[mrforest_at(step.from, n_sets)].chunks;
        MRForestWords *left = sets[mrforest_at(step.left, n_sets)].chunks;
        MRForestWords *right = sets[mrforest_at(step.right, n_sets)].chunks;
        MRFOREST_UNROLL
        for (int c = 0; c < MRFOREST_CHUNKS; c++) {
            /* A side may go where the set was: both are made before one is stored. */
            const MRForestWords rows = from[c], cut = right_of[c];
            const MRForestWords to_left = rows & ~cut, to_right = rows & cut;
            mrforest_send(left + c, to_left, left_fate);
            mrforest_send(right + c, to_right, right_fate);
        }
    }
}

#define MRFOREST_CASE(LEFT, RIGHT)                                                                            \
    case LEFT + MRFOREST_N_FATES * RIGHT:                                                                     \
        mrforest_sift_run(steps, runs->n_steps, cuts, n_cuts, sets, n_sets, LEFT, RIGHT);                     \
        break;

MRFOREST_WIDE
static void mrforest_sift(const MRForestRun *runs, ptrdiff_t n_runs, const MRForestStep *steps, const MRForestSet *cuts,
                          ptrdiff_t n_cuts, MRForestSet *sets, ptrdiff_t n_sets) {
    for (; n_runs--; steps += runs->n_steps, runs++) {
        switch (runs->fates) {
            MRFOREST_CASE(MRFOREST_JOIN, MRFOREST_FORGET)
            MRFOREST_CASE(MRFOREST_KEEP, MRFOREST_FORGET)
            MRFOREST_CASE(MRFOREST_FORGET, MRFOREST_JOIN)
            MRFOREST_CASE(MRFOREST_JOIN, MRFOREST_JOIN)
            MRFOREST_CASE(MRFOREST_KEEP, MRFOREST_JOIN)
            MRFOREST_CASE(MRFOREST_FORGET, MRFOREST_KEEP)
            MRFOREST_CASE(MRFOREST_JOIN, MRFOREST_KEEP)
            MRFOREST_CASE(MRFOREST_KEEP, MRFOREST_KEEP)
        }
    }
}

/* Votes of a class in binary digits: `few` of the last trees, `all` of those before. */
typedef struct {
    MRForestSet few[2];
    MRForestSet all[MRFOREST_DIGITS];
} MRForestCount;

/* Count the rows that a tree gives to a class, which its tallies hold. */
MRFOREST_WIDE
static void mrforest_count_votes(const MRForestSet *tallies, int n_tallies, MRForestCount *count) {
    for (int w = 0; w < MRFOREST_WORDS; w++) {
        uint64_t vote = 0;
        for (int t = 0; t < n_tallies; t++) vote |= tallies[t].words[w];
        count->few[1].words[w] ^= count->few[0].words[w] & vote;
        count->few[0].words[w] ^= vote;
    }
}

/* Add the votes of a few trees to those of all. */
MRFOREST_WIDE
static void mrforest_carry_votes(MRForestCount *count) {
    for (int w = 0; w < MRFOREST_WORDS; w++) {
        uint64_t carry = 0;
        for (int digit = 0; digit < MRFOREST_DIGITS; digit++) {
            uint64_t more = digit < 2 ? count->few[digit].words[w] : 0, one = count->all[digit].words[w];
            count->all[digit].words[w] = one ^ more ^ carry;
            carry = (one & more) | (carry & (one ^ more));
        }
        count->few[0].words[w] = count->few[1].words[w] = 0;
    }
}

/* Bit i of a byte to byte i of a word */
static inline uint64_t mrforest_spread(uint64_t byte) {
    return ((((byte * 0x0101010101010101u) & 0x8040201008040201u) + 0x00406070787C7E7Fu) >> 7) & 0x0101010101010101u;
}

/* The other way, where bytes are 0 or 1 */
static inline uint64_t mrforest_gather(uint64_t bytes) { return (bytes * 0x0102040810204080u) >> 56; }

/* votes[row * stride]: how many votes a class has had; the counts begin again. */
static void mrforest_read_votes(MRForestCount *count, ptrdiff_t n_rows, int32_t *votes, ptrdiff_t stride) {
    mrforest_carry_votes(count);
    for (ptrdiff_t i = 0; i < n_rows; i += 8) {
        uint64_t of_rows = 0;
        int lanes = n_rows - i < 8 ? (int)(n_rows - i) : 8;
        for (int digit = 0; digit < MRFOREST_DIGITS; digit++) {
            uint64_t word = count->all[digit].words[i / 64];
            of_rows |= mrforest_spread((word >> (i % 64)) & 255) << digit;
        }
        for (int lane = 0; lane < lanes; lane++) votes[(i + lane) * stride] += (of_rows >> (8 * lane)) & 255;
    }
    memset(count, 0, sizeof *count);
}

/* ---- rows to sets ---------------------------------------------------------------------------------------- */

/* Add bit `row` to the word of each feature where the row lies above the threshold, for four rows from there on.
 * Return whether a value is missing. */
MRFOREST_WIDE
static int mrforest_above_singles(const double *thresholds, ptrdiff_t n_features, const double *X, int row,
                                  uint64_t *above) {
    enum { TOGETHER = sizeof(MRForestWords) / sizeof(uint64_t) };
    const double *rows[4] = {X, X + n_features, X + 2 * n_features, X + 3 * n_features};
    MRForestWords missing = {0};
    int is_missing = 0;
    ptrdiff_t j = 0;
    for (; j + TOGETHER <= n_features; j += TOGETHER) {
        const MRForestValues threshold = *(const MRForestValues *)(thresholds + j);
        MRForestWords words = *(const MRForestLooseWords *)(above + j);
        MRFOREST_UNROLL
        for (int i = 0; i < 4; i++) {
            const MRForestValues x = *(const MRForestValues *)(rows[i] + j);
            words |= MRFOREST_WHERE(x > threshold) & ((uint64_t)1 << (row + i));
            missing |= MRFOREST_WHERE(x != x);
        }
        *(MRForestLooseWords *)(above + j) = words;
    }
    for (; j < n_features; j++)
        for (int i = 0; i < 4; i++) {
            above[j] |= (uint64_t)(rows[i][j] > thresholds[j]) << (row + i);
            is_missing |= rows[i][j] != rows[i][j];
        }
    return is_missing | mrforest_any(missing);
}

/* More cuts than this are written one row after the other. */
#define MRFOREST_FEW_CUTS 16

/* Sets of the rows whose code is above each cut, from the codes of a block of rows */
MRFOREST_WIDE
static void mrforest_above_few(const uint16_t *codes, int32_t n_cuts, MRForestSet *cuts) {
    for (int word = 0; word < MRFOREST_WORDS; word++, codes += 64)
        for (int32_t high = 0; high < n_cuts; high++) {
            uint8_t is_above[64];
            uint64_t bits = 0, bytes[8];
            for (int i = 0; i < 64; i++) is_above[i] = codes[i] > (uint16_t)high;
            memcpy(bytes, is_above, sizeof bytes);
            for (int i = 0; i < 8; i++) bits |= mrforest_gather(bytes[i]) << (8 * i);
            cuts[high].words[word] = bits;
        }
}

/* The same of many cuts: rows of each code, then of all codes above. */
MRFOREST_WIDE
static void mrforest_above_many(const uint16_t *codes, ptrdiff_t n_rows, int32_t n_cuts, MRForestSet *cuts) {
    memset(cuts, 0, n_cuts * sizeof *cuts);
    for (ptrdiff_t i = 0; i < n_rows; i++)
        if (codes[i]) cuts[mrforest_at(codes[i] - 1, n_cuts)].words[i / 64] |= (uint64_t)1 << (i % 64);
    for (int32_t high = n_cuts - 2; high >= 0; high--)
        for (int c = 0; c < MRFOREST_CHUNKS; c++) cuts[high].chunks[c] |= cuts[high + 1].chunks[c];
}

/* Codes of up to 64 rows in a column, none of which is missing */
static void mrforest_code_column(const MRForestColumn *column, const double *x, ptrdiff_t stride, int n_rows,
                                 uint16_t *codes) {
    for (int i = 0; i < n_rows; i += MRFOREST_LANES, x += MRFOREST_LANES * stride) {
        int32_t code[MRFOREST_LANES];
        int lanes = n_rows - i < MRFOREST_LANES ? n_rows - i : MRFOREST_LANES;
        if (column->is_equality)
            for (int lane = 0; lane < lanes; lane++) code[lane] = x[lane * stride] != column->values[0];
        else
            mrforest_count_below(column->values, column->n_values, x, stride, lanes, code);
        for (int lane = 0; lane < lanes; lane++) codes[i + lane] = (uint16_t)code[lane];
    }
}

/* The sets of all cuts, for a block of rows: one after the other, as the values of the columns are. `is_single`
 * says which columns are among the single thresholds. `above` has room for a word a feature, `codes` for a block
 * of each column. Return whether a value is missing; the sets are of no use then. */
static int mrforest_cut_block(const MRForestColumn *columns, ptrdiff_t n_columns, const uint8_t *is_single,
                              const double *single_thresholds, const double *X, ptrdiff_t n_features, ptrdiff_t n_rows,
                              uint64_t *above, uint16_t *codes, MRForestSet *cuts) {
    const double *values = columns[0].values;
    for (int word = 0; 64 * word < n_rows; word++, X += 64 * n_features) {
        int n = n_rows - 64 * word < 64 ? (int)(n_rows - 64 * word) : 64, row = 0;
        if (single_thresholds != NULL) {
            memset(above, 0, n_features * sizeof *above);
            for (; row + 4 <= n; row += 4)
                if (mrforest_above_singles(single_thresholds, n_features, X + row * n_features, row, above)) return 1;
        }
        if (mrforest_has_missing(X + row * n_features, (n - row) * n_features)) return 1;
        for (ptrdiff_t j = 0; j < n_columns; j++) {
            const double *x = X + columns[j].feature;
            if (!is_single[j]) {
                mrforest_code_column(columns + j, x, n_features, n, codes + j * MRFOREST_SET_ROWS + 64 * word);
                continue;
            }
            uint64_t bits = above[columns[j].feature];
            for (int i = row; i < n; i++) bits |= (uint64_t)(x[i * n_features] > columns[j].values[0]) << i;
            cuts[columns[j].values - values].words[word] = bits;
        }
    }
    for (ptrdiff_t j = 0; j < n_columns; j++, codes += MRFOREST_SET_ROWS) {
        MRForestSet *sets = cuts + (columns[j].values - values);
        if (is_single[j]) continue;
        if (columns[j].n_values <= MRFOREST_FEW_CUTS)
            mrforest_above_few(codes, columns[j].n_values, sets);
        else
            mrforest_above_many(codes, n_rows, columns[j].n_values, sets);
    }
    return 0;
}

#endif
