/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gini scores of the cuts of features whose points are in order. Most features of a node are asked for their best
 * score alone. The score of a cut, of which l_c and r_c points of class c lie on its sides,
 *
 *     sum(l_c^2) / L + sum(r_c^2) / R        L, R their sums, n both
 *
 * is within a share of 2^-52 of what impurity.pxd computes, and at most n. So it is computed for those cuts only that
 * a cheaper number does not rule out. Of two classes, of which x of n_1 points lie left,
 *
 *     score = constant + 2 / n * gain,       gain = (n x - n_1 L)^2 / (L R)
 *
 * A cut whose gain is less than the largest one by more than n^2 2^-51 is not the best, however scores are rounded; a
 * little more is allowed for the rounding of gains, which are floats.
 *
 * Several features are looked at together, a lane each. Their lists are of one length, and at each place of all of
 * them sums are added to and the best cut so far is kept; no lane looks at another:
 *
 *     feature 0   [ a c b d e ]
 *     feature 1   [ c a d b e ]
 *        ...          ^
 *     feature 7   [ b a e d c ]
 *
 * A feature whose next best cut comes too near its best is looked at again, alone. */
#include "gini.h"
#include "kernels.h"
#include "lanes.h"
#include "ways.h"

/* ---- one list ------------------------------------------------------------------------------- */

INLINE int is_constant(const uint32_t *list, ptrdiff_t n) { return list[0] >> 16 == list[n - 1] >> 16; }

/* Set bits to those of numbers, one for each place between points, that are not negative: so they are in the order of
 * their bits; below 0 where there is no cut. Return the bits of the largest less a share of 2^-20 of it. */
INLINE int32_t find_largest(const uint32_t *list, ptrdiff_t n, const float *numbers, int32_t *bits) {
    int32_t largest = 0;
    float enough;
    memcpy(bits, numbers, (size_t)(n - 1) * sizeof(float));
    for (ptrdiff_t i = 0; i + 1 < n; i++) {
        int32_t is_cut = list[i] >> 16 != list[i + 1] >> 16;
        bits[i] |= is_cut - 1;
        largest = bits[i] > largest ? bits[i] : largest;
    }
    memcpy(&enough, &largest, sizeof enough);
    enough -= enough * 0x1p-20f;
    memcpy(&largest, &enough, sizeof largest);
    return largest;
}

/* Of two classes, of which `one` has `ones` points. The list has two codes at least. */
static double best_of_two(const uint32_t *list, const mrforest_gini_node *node, uint32_t one, int32_t ones) {
    int32_t distance[MRFOREST_LIST], bits[MRFOREST_LIST], enough, d = 0;
    float gain[MRFOREST_LIST];
    double best = 0;
    const ptrdiff_t n = node->n;
    for (ptrdiff_t i = 0; i + 1 < n; i++) {
        d += ((int32_t)n & -(int32_t)((list[i] >> 8 & 255) == one)) - ones;
        distance[i] = d;
    }
    for (ptrdiff_t i = 0; i + 1 < n; i++) gain[i] = (float)distance[i] * (float)distance[i] * node->weight[i];
    /* Less a share of 2^-20: n^2 2^-51 is less than that, unless the largest is 0. */
    enough = find_largest(list, n, gain, bits);
    for (ptrdiff_t i = 0; i + 1 < n; i++)
        if (bits[i] >= enough) {
            int64_t left = i + 1, x = (distance[i] + (int64_t)ones * left) / n;
            double score = gini_of_two(n, ones, left, x);
            best = score > best ? score : best;
        }
    return best;
}

/* Of any number of classes. Scores are computed as floats first, right to a share of 2^-22: those of whole numbers up
 * to 256^2. */
static double best_of_many(const uint32_t *list, const mrforest_gini_node *node) {
    int32_t of_left[MRFOREST_LIST], of_right[MRFOREST_LIST], bits[MRFOREST_LIST], left[MRFOREST_LIST];
    int32_t enough, l = 0, r = 0;
    float about[MRFOREST_LIST];
    double best = 0;
    const ptrdiff_t n = node->n;
    for (ptrdiff_t k = 0; k < node->n_classes; k++) {
        left[k] = 0;
        r += node->totals[k] * node->totals[k];
    }
    for (ptrdiff_t i = 0; i + 1 < n; i++) {
        uint32_t k = list[i] >> 8 & 255;
        int32_t before = left[k];
        l += 2 * before + 1;
        r -= 2 * (node->totals[k] - before) - 1;
        left[k] = before + 1;
        of_left[i] = l;
        of_right[i] = r;
    }
    for (ptrdiff_t i = 0; i + 1 < n; i++)
        about[i] = (float)of_left[i] * node->weight[i] + (float)of_right[i] * node->right_weight[i];
    enough = find_largest(list, n, about, bits);
    for (ptrdiff_t i = 0; i + 1 < n; i++)
        if (bits[i] >= enough) {
            double score = score_of_sums(of_left[i], i + 1, of_right[i], n - 1 - i);
            best = score > best ? score : best;
        }
    return best;
}

static double best_of_one(const uint32_t *list, const mrforest_gini_node *node) {
    const int32_t one = node->present[0];
    if (is_constant(list, node->n)) return -INFINITY;
    if (node->n_present == 2) return best_of_two(list, node, (uint32_t)one, node->totals[one]);
    return best_of_many(list, node);
}

#if LANES

/* ---- LANES lists ---------------------------------------------------------------------------- */

/* The lists of some features; the last one stands for those that are not there. Return how many are. */
INLINE ptrdiff_t some_lists(const uint32_t *items, const ptrdiff_t *place, const int32_t *number, ptrdiff_t n_lists,
                            const uint32_t **list) {
    ptrdiff_t n = n_lists < LANES ? n_lists : LANES;
    for (ptrdiff_t j = 0; j < LANES; j++) list[j] = items + place[number[j < n ? j : n - 1]];
    return n;
}

/* Of two classes. The distance n x - n_1 L is a whole number; a point adds to it. */
typedef struct {
    ints one; /* the class, where items have theirs */
    floats n, ones;
} two_classes;

INLINE floats step_of_two(ints point, const two_classes *two) {
    return where((point & 0xFF00) == two->one, two->n) - two->ones;
}

/* A walk along the lists. */
typedef struct {
    top_two top;
    floats distance, distance_at_top;
    ints left, left_at_top, code;
} walk_of_two;

/* Some points: the cut before each, if the code changes there, then the point itself. */
INLINE void pass_points_of_two(walk_of_two *walk, const ints *points, int m, const float *weight,
                               const two_classes *two) {
    for (int j = 0; j < m; j++) {
        ints code = code_of(points[j]);
        floats gain = walk->distance * walk->distance * weight[j];
        ints is_top = raise_top(&walk->top, where(code > walk->code, gain));
        walk->distance_at_top = (floats)either(is_top, (ints)walk->distance, (ints)walk->distance_at_top);
        walk->left_at_top = either(is_top, walk->left, walk->left_at_top);
        walk->distance += step_of_two(points[j], two);
        walk->left += 1;
        walk->code = code;
    }
}

/* The best scores of LANES lists; return the lanes where they are not sure. */
INLINE unsigned best_of_two_in_lanes(const uint32_t *const *list, const mrforest_gini_node *node, double *best) {
    const int32_t n = (int32_t)node->n, one = node->present[0], ones = node->totals[one];
    const two_classes two = {all_lanes(one << 8), all_floats((float)n), all_floats((float)ones)};
    walk_of_two walk = {0};
    ints four[4];
    ptrdiff_t i = 1;
    load_four_each(list, 0, four);
    walk.left = walk.left_at_top = all_lanes(1);
    walk.code = code_of(four[0]);
    walk.distance = step_of_two(four[0], &two);
    for (; i + 4 <= n; i += 4) {
        load_four_each(list, i, four);
        pass_points_of_two(&walk, four, 4, node->weight + i - 1, &two);
    }
    if (i < n) {
        load_four_each(list, i, four);
        pass_points_of_two(&walk, four, (int)(n - i), node->weight + i - 1, &two);
    }
    ints l = walk.left_at_top, r = n - l;
    /* n x over n: a whole number, and no quotient is rounded. */
    ints a = to_ints((walk.distance_at_top + two.ones * to_floats(l)) / two.n), b = l - a, c = ones - a, d = r - c;
    write_scores(a * a + b * b, l, c * c + d * d, r, best);
    return unsure_lanes(walk.top, 0x1p-20f, 0);
}

#if HAS_LOOKUP

/* Of up to 32 classes. Those that are present are ranked, and of each rank there is a byte in a lane: how many of its
 * points are on the left. */
enum { MOST_RANKS = 32, RANK_WORDS = MOST_RANKS / 4 };

typedef struct {
    uint8_t bits[MOST_RANKS];    /* where the byte of each class is, in bits: 8 times its rank */
    uint32_t totals[RANK_WORDS]; /* points of each rank in the node, four to a word */
    ptrdiff_t n_words;
    int32_t squares; /* sum of the squares of these */
} class_ranks;

static void rank_classes(const mrforest_gini_node *node, class_ranks *ranks) {
    memset(ranks, 0, sizeof *ranks);
    for (ptrdiff_t rank = 0; rank < node->n_present; rank++) {
        int32_t k = node->present[rank], total = node->totals[k];
        ranks->bits[k] = (uint8_t)(8 * rank);
        ranks->totals[rank / 4] |= (uint32_t)total << (8 * (rank % 4));
        ranks->squares += total * total;
    }
    ranks->n_words = (node->n_present + 3) / 4;
}

/* What points add, by their class. */
typedef struct {
    byte_table bits;
    int has_high; /* whether there are more than 16 classes */
    const uint32_t *totals;
    ptrdiff_t n_words;
} ranked_classes;

/* A walk along the lists. */
typedef struct {
    top_two top;
    ints counts[RANK_WORDS]; /* points of each rank on the left, four bytes to a word */
    ints of_left, of_right;  /* sums of squares ... */
    ints left, code;
    ints of_left_at_top, of_right_at_top, left_at_top;
} walk_of_many;

/* One more point. With l of the T points of its class on the left it adds 2 l + 1 to one sum, and takes 2 (T - l) - 1
 * from the other. */
INLINE void add_point(walk_of_many *walk, ints point, const ranked_classes *classes) {
    ints bits = look_up(classes->bits, (ints)((uints)point >> 8) & 255, classes->has_high);
    ints l = {0}, total = {0};
    for (ptrdiff_t w = 0; w < classes->n_words; w++) {
        ints shift = bits - (int32_t)(32 * w); /* out of range for bits of other words */
        l |= shift_right(walk->counts[w], shift);
        total |= shift_right(all_lanes((int32_t)classes->totals[w]), shift);
        /* Unsigned: a fourth byte of 128 or more would overflow. */
        walk->counts[w] = (ints)((uints)walk->counts[w] + (uints)shift_left(all_lanes(1), shift));
    }
    l &= 255;
    total &= 255;
    ints more = l + l + 1;
    walk->of_left += more;
    walk->of_right += more - (total + total);
}

/* Some points: the cut before each, if the code changes there, then the point itself. */
INLINE void pass_points_of_many(walk_of_many *walk, const ints *points, int m, const float *left_weight,
                                const float *right_weight, const ranked_classes *classes) {
    for (int j = 0; j < m; j++) {
        ints code = code_of(points[j]);
        floats about = to_floats(walk->of_left) * left_weight[j] + to_floats(walk->of_right) * right_weight[j];
        ints is_top = raise_top(&walk->top, where(code > walk->code, about));
        walk->of_left_at_top = either(is_top, walk->of_left, walk->of_left_at_top);
        walk->of_right_at_top = either(is_top, walk->of_right, walk->of_right_at_top);
        walk->left_at_top = either(is_top, walk->left, walk->left_at_top);
        add_point(walk, points[j], classes);
        walk->left += 1;
        walk->code = code;
    }
}

/* The best scores of LANES lists; return the lanes where they are not sure. */
INLINE unsigned best_of_many_in_lanes(const uint32_t *const *list, const mrforest_gini_node *node,
                                      const class_ranks *ranks, ptrdiff_t n_words, int has_high, double *best) {
    const ranked_classes classes = {load_byte_table(ranks->bits), has_high, ranks->totals, n_words};
    const ptrdiff_t n = node->n;
    walk_of_many walk;
    ints four[4];
    ptrdiff_t i = 1;
    walk.top.most = walk.top.next = all_floats(0);
    for (ptrdiff_t w = 0; w < n_words; w++) walk.counts[w] = all_lanes(0);
    walk.of_left = all_lanes(0);
    walk.of_right = all_lanes(ranks->squares);
    walk.left = walk.left_at_top = walk.of_left_at_top = walk.of_right_at_top = all_lanes(1);
    load_four_each(list, 0, four);
    walk.code = code_of(four[0]);
    add_point(&walk, four[0], &classes);
    for (; i + 4 <= n; i += 4) {
        load_four_each(list, i, four);
        pass_points_of_many(&walk, four, 4, node->weight + i - 1, node->right_weight + i - 1, &classes);
    }
    if (i < n) {
        load_four_each(list, i, four);
        pass_points_of_many(&walk, four, (int)(n - i), node->weight + i - 1, node->right_weight + i - 1, &classes);
    }
    write_scores(walk.of_left_at_top, walk.left_at_top, walk.of_right_at_top, (int32_t)n - walk.left_at_top, best);
    return unsure_lanes(walk.top, 0x1p-20f, 0);
}

/* Few classes, and their number known to the compiler, where that is worth it. */
static unsigned best_of_ranked(const uint32_t *const *list, const mrforest_gini_node *node, const class_ranks *ranks,
                               double *best) {
    if (node->n_classes > 16) return best_of_many_in_lanes(list, node, ranks, ranks->n_words, 1, best);
    if (ranks->n_words == 1) return best_of_many_in_lanes(list, node, ranks, 1, 0, best);
    if (ranks->n_words == 2) return best_of_many_in_lanes(list, node, ranks, 2, 0, best);
    return best_of_many_in_lanes(list, node, ranks, ranks->n_words, 0, best);
}

#endif
#endif

/* ---- the lists of a node -------------------------------------------------------------------- */

static void best_in_lists(const uint32_t *items, const ptrdiff_t *place, const int32_t *number, ptrdiff_t n_lists,
                          const mrforest_gini_node *node, double *best) {
#if LANES
    const uint32_t *list[LANES];
    double found[LANES];
    ptrdiff_t n_done = 0;
#if HAS_LOOKUP
    class_ranks ranks;
    const int is_ranked = node->n_present > 2 && node->n_classes <= MOST_RANKS;
    if (is_ranked) rank_classes(node, &ranks);
#else
    const int is_ranked = 0;
#endif
    const int by_lanes = (node->n_present == 2 || is_ranked) && !mrforest_is_off[MRFOREST_LISTS_BY_LANES];
    while (by_lanes && n_lists - n_done > FEW_FEATURES) {
        ptrdiff_t m = some_lists(items, place, number + n_done, n_lists - n_done, list);
#if HAS_LOOKUP
        unsigned unsure =
            is_ranked ? best_of_ranked(list, node, &ranks, found) : best_of_two_in_lanes(list, node, found);
#else
        unsigned unsure = best_of_two_in_lanes(list, node, found);
#endif
        for (ptrdiff_t j = 0; j < m; j++) best[n_done + j] = unsure >> j & 1 ? best_of_one(list[j], node) : found[j];
        n_done += m;
    }
    number += n_done;
    best += n_done;
    n_lists -= n_done;
#endif
    for (ptrdiff_t i = 0; i < n_lists; i++) best[i] = best_of_one(items + place[number[i]], node);
}

static void enter_gini_node(mrforest_gini_node *node) {
    const ptrdiff_t n = node->n;
    if (node->n_present == 2) {
        for (ptrdiff_t i = 0; i + 1 < n; i++)
            node->weight[i] = 1.0f / (float)((int32_t)(i + 1) * (int32_t)(n - 1 - i));
        return;
    }
    for (ptrdiff_t i = 0; i + 1 < n; i++) {
        node->weight[i] = 1.0f / (float)(int32_t)(i + 1);
        node->right_weight[i] = 1.0f / (float)(int32_t)(n - 1 - i);
    }
}

static ptrdiff_t cuts_in_list(const uint32_t *list, const mrforest_gini_node *node, mrforest_cuts cuts) {
    int32_t left[MRFOREST_LIST], l = 0, r = 0;
    const ptrdiff_t n = node->n;
    ptrdiff_t n_cuts = 0;
    for (ptrdiff_t k = 0; k < node->n_classes; k++) {
        left[k] = 0;
        r += node->totals[k] * node->totals[k];
    }
    for (ptrdiff_t i = 0; i + 1 < n; i++) {
        uint32_t k = list[i] >> 8 & 255, code = list[i] >> 16, next = list[i + 1] >> 16;
        l += 2 * left[k] + 1;
        r -= 2 * (node->totals[k] - left[k]) - 1;
        left[k] += 1;
        /* Write first, keep if there is a cut: no branch to mispredict. */
        cuts.of_left[n_cuts] = l;
        cuts.of_right[n_cuts] = r;
        cuts.n_left[n_cuts] = (int32_t)(i + 1);
        cuts.bin[n_cuts] = (int32_t)((code + next - 1) / 2);
        n_cuts += code != next;
    }
    score_all_cuts(n_cuts, (int32_t)n, cuts);
    return n_cuts;
}
