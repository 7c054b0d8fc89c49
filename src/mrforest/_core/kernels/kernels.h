/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The kernels: loops over points, bins and rows, in which the time of a fit or of a prediction goes. They are
 * compiled once for each width of registers, and a table of pointers to them is chosen as the package is imported.
 *
 * Results are the same to the bit whatever the width. Arguments are not checked here, but in the `checked` build
 * indices are. Each kernel has a twin in NumPy in tests/naive/kernels.py. */
#ifndef MRFOREST_KERNELS_H
#define MRFOREST_KERNELS_H
#include "node.h"

#include <stddef.h>
#include <stdint.h>

/* ---- points in order ------------------------------------------------------------------------ */

/* A list has the points of a node in the order of a feature, an item each: code (16 bits) | class (8) | number (8).
 * Lists of several features lie in one array, list i from items + place[i] on. Items behind a list may be read. */
enum {
    MRFOREST_LIST = 256,     /* points of a list, at most */
    MRFOREST_READ_AHEAD = 32 /* items that may be read behind a list */
};

/* A node whose points are listed. Classes are numbered; some may have no point in the node. */
typedef struct {
    ptrdiff_t n;
    ptrdiff_t n_classes, n_present;    /* n_present >= 2 have points ... */
    int32_t present[MRFOREST_LIST];    /* ... these */
    int32_t totals[MRFOREST_LIST];     /* points of each class */
    float weight[MRFOREST_LIST];       /* set by enter_gini_node: for each cut ... */
    float right_weight[MRFOREST_LIST]; /* ... what the cheap number takes of it */
} mrforest_gini_node;

/* The same for the entropy. */
typedef struct {
    ptrdiff_t n, n_classes;
    int64_t all_right;            /* sum over the classes of f(points), see entropy.c */
    int32_t begin[MRFOREST_LIST]; /* where the steps of each class begin */
    int32_t
        step[MRFOREST_LIST]; /* of a class, for l = 0, 1, ...: by what the sum grows if one more point goes left */
    int64_t of_sides[MRFOREST_LIST]; /* for each cut f(L) + f(R) */
} mrforest_entropy_node;

/* Where the cuts of a feature are written. */
typedef struct {
    double *of_left, *of_right; /* work space; then of_left has the scores */
    int32_t *n_left;            /* points on the left */
    int32_t *bin;               /* codes up to it are on the left */
} mrforest_cuts;

enum { MRFOREST_LEFT = 1, MRFOREST_RIGHT = 2 }; /* sides of a cut that are wanted */

/* ---- points that are counted ---------------------------------------------------------------- */

/* The rows of a node, and what is known of them. */
typedef struct {
    const uint8_t *codes; /* all rows x n_features */
    ptrdiff_t n_features, n_rows;
    const int32_t *y;      /* class of each row */
    const int32_t *copies; /* points that each row is; NULL: one */
    const int32_t *rows;   /* those of the node */
    ptrdiff_t n;
} mrforest_counted;

enum { MRFOREST_MOST_CODES = 256 }; /* of a feature whose points are counted by code and class */

/* The points of a node, its classes numbered from 0 on. */
typedef struct {
    ptrdiff_t n;            /* points */
    const uint8_t *classes; /* of each */
    ptrdiff_t n_classes;
    const int32_t *totals; /* points of each class */
    const int64_t *xlogx;  /* for x = 0 to n, see entropy.c; NULL: scores are those of the Gini impurity */
    int64_t all_right;     /* set by sum_totals: sum over the classes of the squares of totals, or of their x log x */
} mrforest_points;

/* Points of one feature, by code and class. */
typedef struct {
    uint64_t
        of_two[MRFOREST_MOST_CODES];    /* if there are two classes: points of a code, of class 1 in the high half */
    int32_t sizes[MRFOREST_MOST_CODES]; /* else: points of a code */
    uint64_t marks[MRFOREST_MOST_CODES][MRFOREST_MOST_CODES / 64]; /* classes that a code has, a bit each */
    int32_t *counts;                                               /* codes x classes */
    int32_t *left; /* classes; work space of those who read the rest */
} mrforest_histogram;

/* Points of all features, by class and code. Codes from n_codes on are not counted. */
typedef struct {
    uint16_t *counts;     /* classes x codes x features */
    uint8_t *differ;      /* for each feature, not 0 if points differ in it */
    int32_t n_codes;      /* 2, 4 or 8 */
    ptrdiff_t n_features; /* bytes of a row; at least MRFOREST_HISTOGRAMS_LEAST_FEATURES */
} mrforest_histograms;

enum {
    MRFOREST_HISTOGRAMS_MOST_CODES = 8,
    MRFOREST_HISTOGRAMS_MOST_CLASSES = 16,
    MRFOREST_HISTOGRAMS_MOST_POINTS = 65535,
    MRFOREST_HISTOGRAMS_LEAST_FEATURES = 8
};

typedef enum { MRFOREST_ORDER_CUTS, MRFOREST_ORDER_AND_EQUAL_CUTS, MRFOREST_EQUAL_CUTS } mrforest_kind; /* of cuts */

typedef struct {
    double score;
    int32_t bin; /* points whose code is at most this go left; or those that have this code */
    int32_t is_equality;
    int32_t n_left;
} mrforest_cut;

/* ---- rows ----------------------------------------------------------------------------------- */

/* Which codes of a feature go left at a cut. */
typedef struct {
    int32_t bin;
    int32_t is_equality; /* left are codes up to the bin, or those equal to it */
    int32_t missing;     /* code of missing values */
    int32_t missing_left;
} mrforest_left_codes;

/* ---- distances ------------------------------------------------------------------------------ */

/* What a table asks for, from fast to slow. */
typedef enum { MRFOREST_NUMBERS, MRFOREST_CATEGORIES, MRFOREST_GAPS } mrforest_distance;

/* Features that are packed into bits, see pivot_distance.c. */
typedef struct {
    ptrdiff_t n_plain; /* features that are compared as they are */
    ptrdiff_t n_words; /* of a row */
    ptrdiff_t n_bits;  /* of a code, so many words for 64 features */
} mrforest_packing;

/* ---- losses --------------------------------------------------------------------------------- */

enum { MRFOREST_BLOCK_ROWS = 64, MRFOREST_N_POWERS = 12 };

/* Sums over the classes, for each power. */
typedef struct {
    double total[MRFOREST_N_POWERS][MRFOREST_BLOCK_ROWS];
    double squares[MRFOREST_N_POWERS][MRFOREST_BLOCK_ROWS];
    double own[MRFOREST_N_POWERS][MRFOREST_BLOCK_ROWS];
} mrforest_power_sums;

/* ---- private leaves ------------------------------------------------------------------------- */

enum { MRFOREST_LEAVES = 128 }; /* whose norms are computed at once, at most */

/* ---- prediction ----------------------------------------------------------------------------- */

/* A column of codes tells where a row lies among the thresholds of a feature, or whether it differs from one of them.
 */
typedef struct {
    const double *values; /* thresholds, ascending */
    int32_t n_values;
    int32_t feature;
    int32_t is_equality; /* then there is one value */
} mrforest_column;

/* Right if the code of the column is above `high`. A leaf is its own child, and no code is above its own. */
typedef struct {
    int32_t child;
    uint16_t column;
    uint16_t high;
} mrforest_coded_node;

/* The same in four bytes, where a tree has few enough nodes and a table few enough columns. From the low bits: `high`
 * (8), the column (8), and how many nodes further on the left child is (16): none if it is a leaf. */
typedef uint32_t mrforest_slim_node;

/* ---- votes of sets of rows, see bit_votes.c ------------------------------------------------- */

enum {
    MRFOREST_SET_WORDS = 16,
    MRFOREST_SET_ROWS = 64 * MRFOREST_SET_WORDS,
    MRFOREST_FEW_TREES = 3, /* that are counted in two digits before they are added to all digits */
    MRFOREST_DIGITS = 8,
    MRFOREST_MOST_COUNTED = 255
};

/* A set of rows, a bit for each. It begins with a cache line. */
typedef struct {
    uint64_t words[MRFOREST_SET_WORDS];
} mrforest_row_set;

/* What becomes of a side of a split: a leaf of the class that is not counted is dropped, a leaf of another class is
 * joined to the rows of that class, and what is split further is kept. */
enum { MRFOREST_DROP, MRFOREST_JOIN, MRFOREST_KEEP, MRFOREST_N_ENDS };

/* Split the set at `from` by a cut; the sides go to two places, unless they are dropped. */
typedef struct {
    int32_t cut;
    uint16_t from, left, right;
} mrforest_set_split;

/* Splits one after the other whose sides end alike. */
typedef struct {
    int32_t n_splits;
    int32_t ends; /* of the left side, + MRFOREST_N_ENDS times that of the right one */
} mrforest_split_run;

/* Votes of a class in binary digits: `few` of the last trees, `all` of those before. */
typedef struct {
    mrforest_row_set few[2];
    mrforest_row_set all[MRFOREST_DIGITS];
} mrforest_vote_count;

/* ---- the kernels ---------------------------------------------------------------------------- */

/* IN pointers are const. Where not said otherwise, arrays do not overlap. */
typedef struct {
    const char *name; /* "baseline" or "avx2" */

    /* -- points in order -- */

    /* Points by their codes: items[i] = code << 16 | points[j] for the n <= MRFOREST_LIST points j, in the order of
     * their codes, and of j among equal ones. Codes are codes[j * stride]; if the stride is 1, some behind the last
     * one may be read, up to 32. `points` is below 2^16. */
    void (*sort_bytes)(const uint8_t *codes, ptrdiff_t stride, ptrdiff_t n, const uint32_t *points, uint32_t *items);
    void (*sort_shorts)(const uint16_t *codes, ptrdiff_t stride, ptrdiff_t n, const uint32_t *points,
                        uint32_t *items);

    /* Set the weights of a node, the rest of which is set. To be called before the next three. */
    void (*enter_gini_node)(mrforest_gini_node *node);

    /* best[i]: the largest Gini score sum(l_c^2) / L + sum(r_c^2) / R of the cuts between codes of list number[i],
     * whose first item of the node is items[place[number[i]]]; -INFINITY if all its codes are equal. */
    void (*best_in_lists)(const uint32_t *items, const ptrdiff_t *place, const int32_t *number, ptrdiff_t n_lists,
                          const mrforest_gini_node *node, double *best);

    /* All cuts of a list, in order: of_left has their scores, bin lies halfway between the codes, rounded down, less
     * one half. Return how many; one more may be written. */
    ptrdiff_t (*cuts_in_list)(const uint32_t *list, const mrforest_gini_node *node, mrforest_cuts cuts);

    /* The same with the entropy score; f(x) = x log x in fixed point, for x = 0 to n. Lists are items + place[i]. */
    void (*enter_entropy_node)(ptrdiff_t n, ptrdiff_t n_classes, const int32_t *totals, const int64_t *f,
                               mrforest_entropy_node *node);
    void (*best_entropy_in_lists)(const uint32_t *items, const ptrdiff_t *place, ptrdiff_t n_lists,
                                  const mrforest_entropy_node *node, double *best);
    ptrdiff_t (*entropy_cuts_in_list)(const uint32_t *list, const mrforest_entropy_node *node, mrforest_cuts cuts);

    /* Partition lists of n items stably: items whose is_left[item & 255] is 1 first. A side that is not in `sides`
     * (MRFOREST_LEFT | MRFOREST_RIGHT) has unspecified contents. Up to MRFOREST_READ_AHEAD items behind a list may be
     * read and written back. */
    void (*part_lists)(uint32_t *items, const ptrdiff_t *place, const int32_t *number, ptrdiff_t n_lists, ptrdiff_t n,
                       const uint8_t *is_left, int sides);

    /* -- bins -- */

    /* best[j]: the largest Gini score of the cuts of feature j, -INFINITY: it has none. counts[j] is classes x bins,
     * the bins of the next class `stride` cells after those of a class. Three cells behind the last
     * bin may be read. `work` is 129 numbers a class. */
    void (*best_in_bins)(const int32_t *const *counts, ptrdiff_t n_features, ptrdiff_t n_bins, ptrdiff_t stride,
                         ptrdiff_t n_classes, const int64_t *totals, int64_t *work, double *best);

    /* All cuts of a feature, as cuts_in_list has them. */
    ptrdiff_t (*cuts_in_bins)(const int32_t *counts, ptrdiff_t n_bins, ptrdiff_t stride, ptrdiff_t n_classes,
                              const int64_t *totals, int64_t *work, mrforest_cuts cuts);

    /* counts[start[class * features + feature] + code] += copies, for all features of each row of a node. There are
     * `size` cells. */
    void (*count_rows)(const mrforest_counted *node, const int32_t *start, ptrdiff_t size, int32_t *counts);

    /* -- counts by code and class -- */

    /* Set all_right, the rest being set. */
    void (*sum_totals)(mrforest_points *points);

    /* Count points by their codes, which are below n_codes. */
    void (*fill_histogram)(const mrforest_points *points, const uint8_t *codes, int32_t n_codes,
                           mrforest_histogram *histogram);

    /* Count all features of some rows at once: those of class 0 first, then those of class 1, ... */
    void (*fill_histograms)(const mrforest_points *points, const uint8_t *codes, const int32_t *rows,
                            mrforest_histograms *histograms);

    /* Read a feature of n_codes codes from them; 0 if some points have other codes: values are missing. */
    int (*read_histogram)(const mrforest_points *points, const mrforest_histograms *histograms, ptrdiff_t feature,
                          int32_t n_codes, mrforest_histogram *histogram);

    /* The best score of the cuts of a feature, -INFINITY: it has none; and all of them, at most twice as many as
     * codes, in their order. */
    double (*best_counted_cut)(const mrforest_points *points, const mrforest_histogram *histogram, int32_t n_codes,
                               mrforest_kind kind);
    ptrdiff_t (*all_counted_cuts)(const mrforest_points *points, const mrforest_histogram *histogram, int32_t n_codes,
                                  mrforest_kind kind, mrforest_cut *cuts);

    /* -- rows -- */

    /* Copy rows of n_bytes each, one after the other. If `differ` is not NULL, its n_bytes get the bits in which some
     * of the rows differ from the first one. */
    void (*copy_rows)(const void *codes, ptrdiff_t n_bytes, ptrdiff_t n_rows, const int32_t *rows, ptrdiff_t n,
                      void *copy, uint8_t *differ);

    /* Partition row numbers stably by codes[row * stride]; return how many go left. `scratch` is n numbers. */
    ptrdiff_t (*part_rows_of_bytes)(const uint8_t *codes, ptrdiff_t stride, ptrdiff_t n_rows, int32_t *rows,
                                    ptrdiff_t n, mrforest_left_codes left, int32_t *scratch);
    ptrdiff_t (*part_rows_of_shorts)(const uint16_t *codes, ptrdiff_t stride, ptrdiff_t n_rows, int32_t *rows,
                                     ptrdiff_t n, mrforest_left_codes left, int32_t *scratch);

    /* -- bit columns: words is n_words x stride, a column for each cut, see bit_columns.c -- */

    /* counts[k * capacity + s]: points of mask k that lie left of column s. masks is n_masks x n_words. */
    void (*count_left)(const uint64_t *words, ptrdiff_t stride, ptrdiff_t n, const uint64_t *masks, ptrdiff_t n_masks,
                       ptrdiff_t n_words, ptrdiff_t capacity, int32_t *counts);

    /* The same of column columns[s]. */
    void (*count_left_of_some)(const uint64_t *words, ptrdiff_t stride, const int32_t *columns, ptrdiff_t n,
                               const uint64_t *masks, ptrdiff_t n_masks, ptrdiff_t n_words, ptrdiff_t capacity,
                               int32_t *counts);

    /* Gini scores of n columns, -INFINITY where a side is empty, from the counts of each class, of which there are
     * totals[k]; n_left: points of any class. */
    void (*score_columns)(const int32_t *counts, ptrdiff_t capacity, ptrdiff_t n, const double *totals,
                          ptrdiff_t n_classes, double n_points, int32_t *n_left, double *scores);

    /* Count and score columns[s]; n_left and scores are by column. For few words. */
    void (*score_some)(const uint64_t *words, ptrdiff_t stride, const int32_t *columns, ptrdiff_t n,
                       const uint64_t *masks, ptrdiff_t n_words, const double *totals, ptrdiff_t n_classes,
                       double n_points, int32_t *n_left, double *scores);

    /* left[s], right[s]: not 0 if some point of the mask lies on that side of column s. */
    void (*find_sides)(const uint64_t *words, ptrdiff_t n_columns, const uint64_t *mask, ptrdiff_t n_words,
                       uint64_t *left, uint64_t *right);

    /* Write the points of a mask, in their order, and of the columns those that are kept: from bit `first` of `out`
     * on, which has zeros there and behind. out is words x n_kept. */
    void (*squeeze)(const uint64_t *words, ptrdiff_t n_columns, const int32_t *kept, ptrdiff_t n_kept,
                    const uint64_t *mask, ptrdiff_t n_words, ptrdiff_t first, uint64_t *out);

    /* The same for points number first to n - 1 of a list, in any order and each as often as it is there; all columns
     * are kept. */
    void (*gather_points)(const uint64_t *words, ptrdiff_t n_columns, const int32_t *points, ptrdiff_t first,
                          ptrdiff_t n, uint64_t *out);

    ptrdiff_t (*count_bits)(const uint64_t *mask, ptrdiff_t n_words);

    /* Points of each class under a mask: totals[k] of all classes; present_totals and, as a mask, present of those
     * that have some, whose number is returned. `classes` are bit columns, one a class. */
    ptrdiff_t (*part_by_class)(const uint64_t *classes, ptrdiff_t n_classes, const uint64_t *mask, ptrdiff_t n_words,
                               int64_t *totals, double *present_totals, uint64_t *present);

    /* Write rows[i] for each bit i of a mask; return how many. */
    ptrdiff_t (*rows_of_mask)(const int32_t *rows, const uint64_t *mask, ptrdiff_t n_words, int32_t *out);

    /* -- draws -- */

    /* The first i with w_0 + ... + w_i > u (w_0 + ... + w_(n-1)), where w_i = exp(steep (scores[i] - highest)); -1 if
     * that is not sure. Scores are at most `span` below the highest. `work` is n numbers. */
    ptrdiff_t (*draw_softmax)(const double *scores, ptrdiff_t n, double highest, double span, double steep, double u,
                              double *work);

    /* -- private leaves -- */

    /* out[i]: the largest whole number up to 2^scale_bits times the norm (1.5, 2 or 3) of the counts of leaf i of
     * n <= MRFOREST_LEAVES, counts[k * stride + i] of class k. is_large: whether a leaf may have 2^26 points. */
    void (*norms)(double norm, int scale_bits, ptrdiff_t n_classes, const int32_t *counts, ptrdiff_t stride,
                  ptrdiff_t n, int is_large, int64_t *out);

    /* The same of four leaves, for n pairs of splits; none has 2^26 points. Counts of class k in pair i:
     * near[k * stride + i] of the first leaf (nn), sides[k * stride + i] of the first and the third (fn), side[k] of
     * the first and the second (nf), whole[k] of all four. */
    void (*norms_of_pairs)(double norm, int scale_bits, ptrdiff_t n_classes, const int32_t *near,
                           const int32_t *sides, ptrdiff_t stride, const int32_t *side, const int32_t *whole,
                           ptrdiff_t n, int64_t *nn, int64_t *nf, int64_t *fn, int64_t *ff);

    /* -- distances -- */

    /* left[i]: whether row rows[i] of X is at least as near to p as to q, all of n features. */
    void (*compare)(const double *X, const int32_t *rows, ptrdiff_t n_rows, const double *p, const double *q,
                    ptrdiff_t n, const uint8_t *is_categorical, mrforest_distance kind, uint8_t *left);

    /* The same for rows whose last features are packed into words; p and q are rows of X. */
    void (*compare_packed)(const double *X, const int32_t *rows, ptrdiff_t n_rows, ptrdiff_t p, ptrdiff_t q,
                           ptrdiff_t n, const uint8_t *is_categorical, mrforest_distance kind, const uint64_t *words,
                           mrforest_packing packing, uint8_t *left);

    /* One row; and one with packed features. */
    int (*is_nearer)(const double *x, const double *p, const double *q, ptrdiff_t n, const uint8_t *is_categorical,
                     mrforest_distance kind);
    int (*is_nearer_packed)(const double *x, const double *p, const double *q, const uint8_t *is_categorical,
                            mrforest_distance kind, const uint64_t *x_words, const uint64_t *p_words,
                            const uint64_t *q_words, mrforest_packing packing);

    /* -- losses -- */

    /* shares: classes x MRFOREST_BLOCK_ROWS, the largest of each row 1; classes: of each row. Each share is raised to
     * each of the powers, which are MRFOREST_N_POWERS numbers. */
    const double *powers;
    void (*sum_powers)(const double *shares, ptrdiff_t n_classes, const int32_t *classes, mrforest_power_sums *out);

    /* -- prediction -- */

    /* Whether any of n values is NaN. */
    int (*has_missing)(const double *X, ptrdiff_t n);

    /* below[i]: how many of ascending values are less than x[i * stride], for n <= 16 rows; 0 for NaN. */
    void (*count_below)(const double *values, int32_t n_values, const double *x, ptrdiff_t stride, int n,
                        int32_t *below);

    /* codes[i * stride + j]: the code of row i in column j. No value is missing. */
    void (*code_bytes)(const mrforest_column *columns, ptrdiff_t n_columns, const double *X, ptrdiff_t n_features,
                       ptrdiff_t n_rows, uint8_t *codes, ptrdiff_t stride);
    void (*code_shorts)(const mrforest_column *columns, ptrdiff_t n_columns, const double *X, ptrdiff_t n_features,
                        ptrdiff_t n_rows, uint16_t *codes, ptrdiff_t stride);

    /* where[i]: the leaf that row i reaches, as a node number. The first asks for equality and missing values, the
     * second knows that there are none. */
    void (*walk_any)(const mrforest_node *nodes, const double *X, ptrdiff_t n_features, ptrdiff_t n_rows,
                     int32_t *where);
    void (*walk_plain)(const mrforest_node *nodes, const double *X, ptrdiff_t n_features, ptrdiff_t n_rows,
                       int32_t *where);

    /* The same by codes. `waiting` is n_rows numbers. The stride of slim nodes is a power of two from 16 to 256. */
    void (*walk_slim)(const mrforest_slim_node *nodes, ptrdiff_t n_nodes, const uint8_t *codes, ptrdiff_t stride,
                      ptrdiff_t n_rows, int32_t *where, int32_t *waiting);
    void (*walk_bytes)(const mrforest_coded_node *nodes, ptrdiff_t n_nodes, const uint8_t *codes, ptrdiff_t stride,
                       ptrdiff_t n_rows, int32_t *where, int32_t *waiting);
    void (*walk_shorts)(const mrforest_coded_node *nodes, ptrdiff_t n_nodes, const uint16_t *codes, ptrdiff_t stride,
                        ptrdiff_t n_rows, int32_t *where, int32_t *waiting);

    /* -- votes of sets of rows -- */

    /* cuts[c]: the rows of a block above cut c, whose number is the place of its value among those of all columns.
     * Return whether a value is missing; the sets are of no use then. is_single: which columns are among the single
     * thresholds, one a feature and NaN where there is none, or NULL. above: a word a feature. codes: columns x
     * MRFOREST_SET_ROWS; what lies behind the rows is read, but does not count. */
    int (*cut_rows)(const mrforest_column *columns, ptrdiff_t n_columns, const uint8_t *is_single,
                    const double *single_thresholds, const double *X, ptrdiff_t n_features, ptrdiff_t n_rows,
                    uint64_t *above, uint16_t *codes, mrforest_row_set *cuts);

    /* Split sets as the runs say. */
    void (*split_sets)(const mrforest_split_run *runs, ptrdiff_t n_runs, const mrforest_set_split *splits,
                       const mrforest_row_set *cuts, ptrdiff_t n_cuts, mrforest_row_set *sets, ptrdiff_t n_sets);

    /* Count the rows that a tree gives to a class: those of n_sets sets, together. */
    void (*count_votes)(const mrforest_row_set *sets, int n_sets, mrforest_vote_count *count);

    /* Add the votes of up to MRFOREST_FEW_TREES trees to those of all. */
    void (*carry_votes)(mrforest_vote_count *count);

    /* votes[row * stride] += how many votes a class has had; the counts begin again. */
    void (*read_votes)(mrforest_vote_count *count, ptrdiff_t n_rows, int32_t *votes, ptrdiff_t stride);
} mrforest_kernels;

/* The kernels called "baseline" or "avx2"; NULL if this build has none of that name, or this machine cannot run them.
 */
const mrforest_kernels *mrforest_kernels_named(const char *name);
const mrforest_kernels *mrforest_widest_kernels(void);

#endif
