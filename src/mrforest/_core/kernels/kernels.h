/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The kernels: loops over points, bins and rows, in which the time of a fit or of a prediction goes. They are
 * compiled once for each width of registers, and a table of pointers to them is chosen as the package is imported.
 *
 * Results are the same to the bit whatever the width. Arguments are not checked here, but in the `checked` build
 * indices are. Each kernel has a twin in NumPy in tests/naive/kernels.py, and tests/kernels calls both.
 *
 * What holds for all of them:
 *
 * - There is at least one of whatever is counted (points, rows, classes, features, lists), unless 0 is mentioned.
 * - A kernel reads and writes the items that its comment mentions and no others. Work space need not be set, and has
 * no meaning afterwards. Arrays are aligned as their items need it, if no more is said.
 * - The Gini score of a cut with l_c and r_c points of class c on its sides is
 *
 *       (double)sum(l_c^2) / (double)L + (double)sum(r_c^2) / (double)R         L = sum(l_c), R = sum(r_c)
 *
 *   with sums in whole numbers. A node has at most 94,906,265 points, so that these are below 2^53.
 * - A cut has points on both sides. */
#ifndef MRFOREST_KERNELS_H
#define MRFOREST_KERNELS_H
#include "node.h"

#include <stddef.h>
#include <stdint.h>

/* ---- points in order ------------------------------------------------------------------------ */

/* A list has the points of a node in the order of a feature, an item each. From the high bits: code (16), class (8),
 * number (8). Lists of several features lie in one array, list i from items + place[i] on. */
enum {
    MRFOREST_LIST = 256,     /* points of a list, at most */
    MRFOREST_READ_AHEAD = 32 /* items behind a list, which kernels that take lists may read */
};

/* A node whose points are listed. Classes are numbered; some may have no point in the node. */
typedef struct {
    ptrdiff_t n;
    ptrdiff_t n_classes, n_present; /* n_present >= 2 have points ... */
    int32_t present[MRFOREST_LIST]; /* ... these */
    int32_t totals[MRFOREST_LIST];  /* points of each class */
    /* Set by enter_gini_node, in floats; number i is of the cut with L = i + 1. If two classes have points: 1 / (L
     * R), and right_weight is not set; else 1 / L and 1 / R. */
    float weight[MRFOREST_LIST];
    float right_weight[MRFOREST_LIST];
} mrforest_gini_node;

/* The same for the entropy, see entropy.h. All of it is set by enter_entropy_node. */
typedef struct {
    ptrdiff_t n, n_classes;
    int64_t all_right;               /* sum over the classes of f(points) */
    int32_t begin[MRFOREST_LIST];    /* where the steps of each class begin; a class has one step a point */
    int32_t step[MRFOREST_LIST];     /* step l of a class with t points: f(l + 1) - f(l) + f(t - l - 1) - f(t - l) */
    int64_t of_sides[MRFOREST_LIST]; /* number i: f(L) + f(R) of the cut with L = i + 1 */
} mrforest_entropy_node;

/* Where the cuts of a feature are written: arrays as long as there are points in its list, or bins. */
typedef struct {
    double *of_left, *of_right; /* of_left gets the scores; of_right is work space */
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

/* The points of a node. Its classes are numbered from 0 on, and each has a point. */
typedef struct {
    ptrdiff_t n;            /* points */
    const uint8_t *classes; /* of each */
    ptrdiff_t n_classes;
    const int32_t *totals; /* points of each class */
    const int64_t *xlogx;  /* f(x) of entropy.h for x = 0 to n; NULL: scores are those of the Gini impurity */
    int64_t all_right;     /* set by sum_totals: sum over the classes of the squares of totals, or of their f */
} mrforest_points;

/* Points of one feature, by code and class. If there are two classes only `of_two` is set, otherwise all but that,
 * and of `marks` the words that have a class. What lies behind the n_codes codes of the feature is not set. */
typedef struct {
    uint64_t of_two[MRFOREST_MOST_CODES]; /* low half: points of a code; high half: those of class 1 */
    int32_t sizes[MRFOREST_MOST_CODES];   /* points of a code */
    uint64_t marks[MRFOREST_MOST_CODES][MRFOREST_MOST_CODES / 64]; /* classes that a code has, a bit each */
    int32_t *counts;                                               /* codes x classes */
    int32_t *left; /* classes; work space of those who read the rest */
} mrforest_histogram;

/* Points of all features, by class and code. Codes from n_codes on are not counted. */
typedef struct {
    uint16_t *counts;     /* classes x codes x features */
    uint8_t *differ;      /* for each feature, not 0 if points differ in it; codes that are not counted differ, too */
    int32_t n_codes;      /* 2, 4 or 8 */
    ptrdiff_t n_features; /* bytes of a row; at least MRFOREST_HISTOGRAMS_LEAST_FEATURES */
} mrforest_histograms;

enum {
    MRFOREST_HISTOGRAMS_MOST_CODES = 8,
    MRFOREST_HISTOGRAMS_MOST_CLASSES = 16,
    MRFOREST_HISTOGRAMS_MOST_POINTS = 65535, /* of a class */
    MRFOREST_HISTOGRAMS_LEAST_FEATURES = 8
};

/* Cuts between two codes that have points, with those of the lower codes on the left; and cuts with one code on the
 * left and the others on the right. If a feature has both, then equality with its lowest and its highest code that
 * have points is left out: that is an order cut already. */
typedef enum { MRFOREST_ORDER_CUTS, MRFOREST_ORDER_AND_EQUAL_CUTS, MRFOREST_EQUAL_CUTS } mrforest_kind;

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
    int32_t is_equality;  /* left are codes up to the bin, or those equal to it */
    int32_t missing;      /* code of missing values ... */
    int32_t missing_left; /* ... which go left if this is not 0, wherever the bin is */
} mrforest_left_codes;

/* ---- distances ------------------------------------------------------------------------------ */

/* What is in a table, from fast to slow: numbers only; also categorical features; also NaN, for missing values. */
typedef enum { MRFOREST_NUMBERS, MRFOREST_CATEGORIES, MRFOREST_GAPS } mrforest_distance;

/* The last features of a table, packed into bits. None of their values is missing; they are 0 or 1, or in a
 * categorical feature a code of n_bits bits. For each 64 of these features a row has n_bits words: of the lowest bits
 * of their codes, of the next bits, and so on. The first feature is the lowest bit of a word; bits that no feature
 * has are 0. */
typedef struct {
    ptrdiff_t n_plain; /* features that are not packed, which come first; may be 0 */
    ptrdiff_t n_words; /* of a row */
    ptrdiff_t n_bits;
} mrforest_packing;

/* ---- losses --------------------------------------------------------------------------------- */

enum { MRFOREST_BLOCK_ROWS = 64, MRFOREST_N_POWERS = 12 };

/* For each power and row. */
typedef struct {
    double total[MRFOREST_N_POWERS][MRFOREST_BLOCK_ROWS];   /* sum of the raised shares, from class 0 on */
    double squares[MRFOREST_N_POWERS][MRFOREST_BLOCK_ROWS]; /* sum of their squares */
    double own[MRFOREST_N_POWERS][MRFOREST_BLOCK_ROWS];     /* the raised share of the class of the row */
} mrforest_power_sums;

/* ---- private leaves ------------------------------------------------------------------------- */

enum { MRFOREST_LEAVES = 128 }; /* whose norms are computed at once, at most */

/* ---- prediction ----------------------------------------------------------------------------- */

/* A column of codes tells how many thresholds of a feature a row is above, or, for equality, whether it differs from
 * the one value: 1 or 0. */
typedef struct {
    const double *values; /* thresholds, ascending */
    int32_t n_values;
    int32_t feature;
    int32_t is_equality; /* then there is one value */
} mrforest_column;

/* Node 0 is the root. A row goes on to node `child` if its code in the column is at most `high`, else to child + 1. A
 * leaf is its own child; its column is one that there is, and no code is above its `high`. */
typedef struct {
    int32_t child;
    uint16_t column;
    uint16_t high;
} mrforest_coded_node;

/* The same in four bytes, where a tree has few enough nodes and a table few enough columns. From the low bits: `high`
 * (8), the column (8), and how many nodes further on the left child is (16), which is 0 in a leaf. */
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

/* Votes of a class in binary digits, the lowest first: `few` of the last trees, `all` of those before. It begins with
 * zeros. */
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
     * their codes, and of j among equal ones. Codes are codes[j * stride]; if the stride is 1, codes[0] to codes[31]
     * may be read, also if n is less. `points` is below 2^16. */
    void (*sort_bytes)(const uint8_t *codes, ptrdiff_t stride, ptrdiff_t n, const uint32_t *points, uint32_t *items);
    void (*sort_shorts)(const uint16_t *codes, ptrdiff_t stride, ptrdiff_t n, const uint32_t *points,
                        uint32_t *items);

    /* Set the weights of a node, the rest of which is set. To be called before the next two. */
    void (*enter_gini_node)(mrforest_gini_node *node);

    /* best[i]: the largest Gini score of the cuts between two codes of list number[i], whose first item is
     * items[place[number[i]]]; -INFINITY if all its codes are equal. */
    void (*best_in_lists)(const uint32_t *items, const ptrdiff_t *place, const int32_t *number, ptrdiff_t n_lists,
                          const mrforest_gini_node *node, double *best);

    /* All cuts of a list, in order, with their scores. Between codes a < b the bin is (a + b - 1) / 2, rounded down.
     * Return how many there are; what is written behind them has no meaning. */
    ptrdiff_t (*cuts_in_list)(const uint32_t *list, const mrforest_gini_node *node, mrforest_cuts cuts);

    /* The same with the entropy score, see entropy.h, which has f(0) to f(n). best[i] is that of list i. A node may
     * have one class only. */
    void (*enter_entropy_node)(ptrdiff_t n, ptrdiff_t n_classes, const int32_t *totals, const int64_t *f,
                               mrforest_entropy_node *node);
    void (*best_entropy_in_lists)(const uint32_t *items, const ptrdiff_t *place, ptrdiff_t n_lists,
                                  const mrforest_entropy_node *node, double *best);
    ptrdiff_t (*entropy_cuts_in_list)(const uint32_t *list, const mrforest_entropy_node *node, mrforest_cuts cuts);

    /* Partition lists of n items stably, as best_in_lists finds them: items whose is_left[item & 255] is 1 first,
     * then those whose is 0. is_left has 256 numbers. A side that is not in `sides` (MRFOREST_LEFT | MRFOREST_RIGHT)
     * gets any contents, in its place. Up to MRFOREST_READ_AHEAD items behind a list may be read and written back as
     * they were. */
    void (*part_lists)(uint32_t *items, const ptrdiff_t *place, const int32_t *number, ptrdiff_t n_lists, ptrdiff_t n,
                       const uint8_t *is_left, int sides);

    /* -- bins -- */

    /* best[j]: the largest Gini score of the cuts of feature j; -INFINITY: it has none. counts[j] is classes x bins,
     * the bins of the next class `stride` >= n_bins cells after those of a class; up to three cells behind the last
     * bin of a class may be read, and have no meaning. totals: points of each class, the same in all features. There
     * may be any number of bins. `work` is 129 numbers a class. */
    void (*best_in_bins)(const int32_t *const *counts, ptrdiff_t n_features, ptrdiff_t n_bins, ptrdiff_t stride,
                         ptrdiff_t n_classes, const int64_t *totals, int64_t *work, double *best);

    /* All cuts of a feature, as cuts_in_list has them. Its codes are the bins that have points. */
    ptrdiff_t (*cuts_in_bins)(const int32_t *counts, ptrdiff_t n_bins, ptrdiff_t stride, ptrdiff_t n_classes,
                              const int64_t *totals, int64_t *work, mrforest_cuts cuts);

    /* counts[start[class * features + feature] + code] += copies, for all features of each row of a node, which may
     * have no rows, or one of them several times. There are `size` cells. */
    void (*count_rows)(const mrforest_counted *node, const int32_t *start, ptrdiff_t size, int32_t *counts);

    /* -- counts by code and class -- */

    /* Set all_right, the rest being set. */
    void (*sum_totals)(mrforest_points *points);

    /* Count points by their codes, which are below n_codes. */
    void (*fill_histogram)(const mrforest_points *points, const uint8_t *codes, int32_t n_codes,
                           mrforest_histogram *histogram);

    /* Count all features of the points at once. Point i is row rows[i] of `codes`; those of class 0 come first, then
     * those of class 1, and so on (`classes` is not read). counts and differ are set, the rest is. */
    void (*fill_histograms)(const mrforest_points *points, const uint8_t *codes, const int32_t *rows,
                            mrforest_histograms *histograms);

    /* Read a feature of n_codes codes, as many as were counted or fewer. Return 0, and a histogram without meaning,
     * if some points have other codes: values are missing. */
    int (*read_histogram)(const mrforest_points *points, const mrforest_histograms *histograms, ptrdiff_t feature,
                          int32_t n_codes, mrforest_histogram *histogram);

    /* The best score of the cuts of a feature; -INFINITY: it has none. And all of them, at most twice as many as
     * codes; return how many. Order cuts come first, their bins as in cuts_in_list; then equality cuts, whose bin is
     * the code. Both are in the order of codes. */
    double (*best_counted_cut)(const mrforest_points *points, const mrforest_histogram *histogram, int32_t n_codes,
                               mrforest_kind kind);
    ptrdiff_t (*all_counted_cuts)(const mrforest_points *points, const mrforest_histogram *histogram, int32_t n_codes,
                                  mrforest_kind kind, mrforest_cut *cuts);

    /* -- rows -- */

    /* Copy n rows of n_bytes each, one after the other: rows[i] of the n_rows that `codes` has. If `differ` is not
     * NULL, its n_bytes get the bits in which some of these rows differ from the first of them. */
    void (*copy_rows)(const void *codes, ptrdiff_t n_bytes, ptrdiff_t n_rows, const int32_t *rows, ptrdiff_t n,
                      void *copy, uint8_t *differ);

    /* Partition n >= 0 row numbers stably by codes[row * stride], left ones first; return how many go left. `scratch`
     * is work space of n numbers. */
    ptrdiff_t (*part_rows_of_bytes)(const uint8_t *codes, ptrdiff_t stride, ptrdiff_t n_rows, int32_t *rows,
                                    ptrdiff_t n, mrforest_left_codes left, int32_t *scratch);
    ptrdiff_t (*part_rows_of_shorts)(const uint16_t *codes, ptrdiff_t stride, ptrdiff_t n_rows, int32_t *rows,
                                     ptrdiff_t n, mrforest_left_codes left, int32_t *scratch);

    /* -- bit columns: words is n_words x stride, a column for each cut, 1 where a point lies left of it. Point p is
     * bit p % 64, from the lowest one on, of word p / 64; so it is in a mask, which has n_words words. -- */

    /* counts[k * capacity + s]: points of mask k that lie left of column s. masks is n_masks x n_words. */
    void (*count_left)(const uint64_t *words, ptrdiff_t stride, ptrdiff_t n, const uint64_t *masks, ptrdiff_t n_masks,
                       ptrdiff_t n_words, ptrdiff_t capacity, int32_t *counts);

    /* The same of column columns[s]. */
    void (*count_left_of_some)(const uint64_t *words, ptrdiff_t stride, const int32_t *columns, ptrdiff_t n,
                               const uint64_t *masks, ptrdiff_t n_masks, ptrdiff_t n_words, ptrdiff_t capacity,
                               int32_t *counts);

    /* Gini scores of n columns, -INFINITY where a side is empty. counts[k * capacity + s]: points of class k that lie
     * left of column s, of which there are totals[k], and n_points of all classes. n_left: points of any class on the
     * left. */
    void (*score_columns)(const int32_t *counts, ptrdiff_t capacity, ptrdiff_t n, const double *totals,
                          ptrdiff_t n_classes, double n_points, int32_t *n_left, double *scores);

    /* Count and score columns[s], with a mask for each class; n_left and scores are by column, and others keep
     * theirs. It is fast for few words. */
    void (*score_some)(const uint64_t *words, ptrdiff_t stride, const int32_t *columns, ptrdiff_t n,
                       const uint64_t *masks, ptrdiff_t n_words, const double *totals, ptrdiff_t n_classes,
                       double n_points, int32_t *n_left, double *scores);

    /* left[s], right[s]: not 0 if some point of the mask lies on that side of column s. */
    void (*find_sides)(const uint64_t *words, ptrdiff_t n_columns, const uint64_t *mask, ptrdiff_t n_words,
                       uint64_t *left, uint64_t *right);

    /* Write the points of a mask, in their order, and of the columns those that are kept: from bit `first` >= 0 of
     * `out` on, which has zeros there and behind. out is words x n_kept; words that get no point are not touched. */
    void (*squeeze)(const uint64_t *words, ptrdiff_t n_columns, const int32_t *kept, ptrdiff_t n_kept,
                    const uint64_t *mask, ptrdiff_t n_words, ptrdiff_t first, uint64_t *out);

    /* The same for point points[i], which is written to bit i, for i from first to n - 1. These are in any order,
     * each as often as it is there; all columns are kept. */
    void (*gather_points)(const uint64_t *words, ptrdiff_t n_columns, const int32_t *points, ptrdiff_t first,
                          ptrdiff_t n, uint64_t *out);

    ptrdiff_t (*count_bits)(const uint64_t *mask, ptrdiff_t n_words);

    /* Points of each class under a mask: totals[k] of all classes. Of those that have some, one after the other, also
     * the number in present_totals and the points as a mask in `present`; return how many classes that are. `classes`
     * are bit columns, one a class. present_totals and `present` are as long as if all classes were there. */
    ptrdiff_t (*part_by_class)(const uint64_t *classes, ptrdiff_t n_classes, const uint64_t *mask, ptrdiff_t n_words,
                               int64_t *totals, double *present_totals, uint64_t *present);

    /* Write rows[i] for each bit i of a mask that is set, in their order; return how many. */
    ptrdiff_t (*rows_of_mask)(const int32_t *rows, const uint64_t *mask, ptrdiff_t n_words, int32_t *out);

    /* -- draws -- */

    /* The first i with w_0 + ... + w_i > u (w_0 + ... + w_(n-1)), where w_i = exp(steep (scores[i] - highest)); u is
     * at least 0 and below 1. Or -1, if that is not sure. Scores are at most `span` below the highest. -1 comes only
     * if steep * span is above 60 or NaN, or n above 4096, or if some sum on the left, but that of all, is as near to
     * the right-hand side as 2 (2^-19 + steep * span * 2^-21 + n * 2^-25) times the sum of all. `work` is n numbers.
     */
    ptrdiff_t (*draw_softmax)(const double *scores, ptrdiff_t n, double highest, double span, double steep, double u,
                              double *work);

    /* -- private leaves -- */

    /* out[i]: about 2^scale_bits times the norm (1.5, 2 or 3) of the counts of leaf i of n <= MRFOREST_LEAVES, which
     * are counts[k * stride + i] of class k. That is the largest whole number k with
     *
     *     h(k) <= h(2^scale_bits c_0) + h(2^scale_bits c_1) + ...      h(x) = x sqrt(x), x x or (x x) x
     *
     * in rounded doubles, added in this order. scale_bits is even and at most 16.
     * is_large: not 0 if a leaf has 2^26 points or more; then a loop mends what is off by more than 1. */
    void (*norms)(double norm, int scale_bits, ptrdiff_t n_classes, const int32_t *counts, ptrdiff_t stride,
                  ptrdiff_t n, int is_large, int64_t *out);

    /* The same of four leaves, for n <= MRFOREST_LEAVES pairs of splits; none has 2^26 points. Counts of class k in
     * pair i: near[k * stride + i] of the first leaf (nn), sides[k * stride + i] of the first and the third (fn),
     * side[k] of the first and the second (nf), whole[k] of all four. */
    void (*norms_of_pairs)(double norm, int scale_bits, ptrdiff_t n_classes, const int32_t *near,
                           const int32_t *sides, ptrdiff_t stride, const int32_t *side, const int32_t *whole,
                           ptrdiff_t n, int64_t *nn, int64_t *nf, int64_t *fn, int64_t *ff);

    /* -- distances -- */

    /* left[i]: 1 if row rows[i] of X is at least as near to p as to q, all of n features, else 0. Both distances are
     * sums in the order of the features: (x - p) (x - p), or in a categorical feature 0 if both are equal and 1 if
     * not. A feature in which x, p or q is NaN is left out of both. Other values are finite. What is not in a table
     * of this kind is not looked for: is_categorical is 0 in a table of numbers. */
    void (*compare)(const double *X, const int32_t *rows, ptrdiff_t n_rows, const double *p, const double *q,
                    ptrdiff_t n, const uint8_t *is_categorical, mrforest_distance kind, uint8_t *left);

    /* The same, to the bit, for rows whose last features are packed into words, which are rows x n_words; p and q are
     * rows of X. */
    void (*compare_packed)(const double *X, const int32_t *rows, ptrdiff_t n_rows, ptrdiff_t p, ptrdiff_t q,
                           ptrdiff_t n, const uint8_t *is_categorical, mrforest_distance kind, const uint64_t *words,
                           mrforest_packing packing, uint8_t *left);

    /* One row; and one with packed features, whose x, p, q and is_categorical have n_plain features. */
    int (*is_nearer)(const double *x, const double *p, const double *q, ptrdiff_t n, const uint8_t *is_categorical,
                     mrforest_distance kind);
    int (*is_nearer_packed)(const double *x, const double *p, const double *q, const uint8_t *is_categorical,
                            mrforest_distance kind, const uint64_t *x_words, const uint64_t *p_words,
                            const uint64_t *q_words, mrforest_packing packing);

    /* -- losses -- */

    /* shares: classes x MRFOREST_BLOCK_ROWS, the largest of each row 1; classes: of each row. Each share x is raised
     * to each of the powers, which are MRFOREST_N_POWERS numbers, by square roots and products that are rounded: with
     * r = sqrt(x), s = sqrt(r), x2 = x x and x4 = x2 x2
     *
     *     0.5  0.75  1  1.25  1.5  2   2.5   3     4   5     6      8
     *     r    r s   x  x s   x r  x2  x2 r  x2 x  x4  x4 x  x4 x2  x4 x4 */
    const double *powers;
    void (*sum_powers)(const double *shares, ptrdiff_t n_classes, const int32_t *classes, mrforest_power_sums *out);

    /* -- prediction -- */

    /* Whether any of n >= 0 values is NaN. */
    int (*has_missing)(const double *X, ptrdiff_t n);

    /* below[i]: how many of ascending values are less than x[i * stride], for n <= 16 rows; 0 for NaN. */
    void (*count_below)(const double *values, int32_t n_values, const double *x, ptrdiff_t stride, int n,
                        int32_t *below);

    /* codes[i * stride + j]: the code of row i in column j, of which the type of codes has enough. No value is
     * missing. */
    void (*code_bytes)(const mrforest_column *columns, ptrdiff_t n_columns, const double *X, ptrdiff_t n_features,
                       ptrdiff_t n_rows, uint8_t *codes, ptrdiff_t stride);
    void (*code_shorts)(const mrforest_column *columns, ptrdiff_t n_columns, const double *X, ptrdiff_t n_features,
                        ptrdiff_t n_rows, uint16_t *codes, ptrdiff_t stride);

    /* where[i]: the leaf that row i reaches from node 0 on, as a node number. The first asks for equality and missing
     * values, the second knows that there are none (but flags of missing values may be set). The feature of a leaf is
     * one that there is. */
    void (*walk_any)(const mrforest_node *nodes, const double *X, ptrdiff_t n_features, ptrdiff_t n_rows,
                     int32_t *where);
    void (*walk_plain)(const mrforest_node *nodes, const double *X, ptrdiff_t n_features, ptrdiff_t n_rows,
                       int32_t *where);

    /* The same by codes. `waiting` is work space of n_rows numbers. The stride of slim nodes is a power of two from
     * 16 to 256. */
    void (*walk_slim)(const mrforest_slim_node *nodes, ptrdiff_t n_nodes, const uint8_t *codes, ptrdiff_t stride,
                      ptrdiff_t n_rows, int32_t *where, int32_t *waiting);
    void (*walk_bytes)(const mrforest_coded_node *nodes, ptrdiff_t n_nodes, const uint8_t *codes, ptrdiff_t stride,
                       ptrdiff_t n_rows, int32_t *where, int32_t *waiting);
    void (*walk_shorts)(const mrforest_coded_node *nodes, ptrdiff_t n_nodes, const uint16_t *codes, ptrdiff_t stride,
                        ptrdiff_t n_rows, int32_t *where, int32_t *waiting);

    /* -- votes of sets of rows -- */

    /* cuts[c]: the rows of a block above threshold c, or, for equality, those that differ from value c. The values of
     * all columns lie in one array, those of the next column behind those of a column: c is the place there. Bits
     * behind the n_rows <= MRFOREST_SET_ROWS rows get any contents. Return whether a value of X is missing, also one
     * that no column asks for; the sets are of no use then. single_thresholds: a threshold of each feature, NaN where
     * there is none; or NULL. is_single[j]: column j is not one of equality, and its one value is the single
     * threshold of its feature. Work space: above, a word a feature; codes, columns x MRFOREST_SET_ROWS. */
    int (*cut_rows)(const mrforest_column *columns, ptrdiff_t n_columns, const uint8_t *is_single,
                    const double *single_thresholds, const double *X, ptrdiff_t n_features, ptrdiff_t n_rows,
                    uint64_t *above, uint16_t *codes, mrforest_row_set *cuts);

    /* Split sets as the runs say. Rows of the cut, see cut_rows, go right, the others left. A set that is kept may
     * take the place of the one that was split, and both sides may be joined to one set; else the places differ. */
    void (*split_sets)(const mrforest_split_run *runs, ptrdiff_t n_runs, const mrforest_set_split *splits,
                       const mrforest_row_set *cuts, ptrdiff_t n_cuts, mrforest_row_set *sets, ptrdiff_t n_sets);

    /* Count the rows that a tree gives to a class, in `few`: those that are in any of n_sets sets. */
    void (*count_votes)(const mrforest_row_set *sets, int n_sets, mrforest_vote_count *count);

    /* Add the votes of up to MRFOREST_FEW_TREES trees to those of all, at most MRFOREST_MOST_COUNTED; `few` begins
     * again. */
    void (*carry_votes)(mrforest_vote_count *count);

    /* votes[row * stride] += how many votes a class has had, in `few` and `all`; the counts begin again. */
    void (*read_votes)(mrforest_vote_count *count, ptrdiff_t n_rows, int32_t *votes, ptrdiff_t stride);
} mrforest_kernels;

/* The kernels called "baseline" or "avx2"; NULL if this build has none of that name, or this machine cannot run
 * them. */
const mrforest_kernels *mrforest_kernels_named(const char *name);
const mrforest_kernels *mrforest_widest_kernels(void);

#endif
