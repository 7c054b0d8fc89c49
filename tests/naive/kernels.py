# SPDX-License-Identifier: BSD-3-Clause
"""Twins of the kernels: what kernels.h says, in plain steps.

A twin has the name of its kernel; one is enough for several that do the same. It takes
what the kernel reads and returns what the kernel writes.
"""

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

NO_CUT = -math.inf
WORD_BITS = 64


# --- Scores ---------------------------------------------------------------------------


def gini_score(left: Sequence[int], right: Sequence[int]) -> float:
    """Score a cut by the points of each class on its sides."""

    def side(counts: Sequence[int]) -> float:
        of_squares = sum(int(count) ** 2 for count in counts)
        return float(of_squares) / float(sum(int(count) for count in counts))

    return side(left) + side(right)


def entropy_score(left: Sequence[int], right: Sequence[int], f: np.ndarray) -> float:
    """Score a cut where f[x] is x log x in whole multiples of 2^-26."""

    def side(counts: Sequence[int]) -> int:
        return sum(int(f[count]) for count in counts) - int(f[sum(map(int, counts))])

    return (side(left) + side(right)) * 2.0**-26


def score(left: Sequence[int], right: Sequence[int], f: np.ndarray | None) -> float:
    """Score a cut by the entropy, or by the Gini impurity if there is no f."""
    return gini_score(left, right) if f is None else entropy_score(left, right, f)


def x_log_x(n: int) -> np.ndarray:
    """Return f(0), ..., f(n) for the entropy."""
    x = np.arange(n + 1)
    return np.rint(x * np.log(np.maximum(x, 1)) * 2**26).astype(np.int64)


# --- Points in order ------------------------------------------------------------------


class Cuts(NamedTuple):
    """Cuts of a feature."""

    scores: list[float]
    n_left: list[int]
    bins: list[int]


def sort_codes(codes: Sequence[int], points: Sequence[int]) -> list[int]:
    """Return the items of a list."""
    order = sorted(range(len(codes)), key=lambda j: int(codes[j]))
    return [int(codes[j]) << 16 | int(points[j]) for j in order]


def cuts_of_counts(codes: Sequence[int], counts: np.ndarray, f=None) -> Cuts:
    """Return the cuts between codes; counts[i, c] points of class c have codes[i].

    The codes ascend; those that no point has are as if they were not there.
    """
    there = [i for i in range(len(codes)) if counts[i].any()]
    left = np.zeros(counts.shape[1], np.int64)
    right = counts.sum(axis=0, dtype=np.int64)
    cuts = Cuts([], [], [])
    for i, following in pairwise(there):
        left, right = left + counts[i], right - counts[i]
        cuts.scores.append(score(left.tolist(), right.tolist(), f))
        cuts.n_left.append(int(left.sum()))
        cuts.bins.append((int(codes[i]) + int(codes[following]) - 1) // 2)
    return cuts


def cuts_in_list(items: Sequence[int], n_classes: int, f=None) -> Cuts:
    """Return the cuts of a list."""
    codes = sorted({int(item) >> 16 for item in items})
    counts = np.zeros((len(codes), n_classes), np.int64)
    for item in items:
        counts[codes.index(int(item) >> 16), int(item) >> 8 & 255] += 1
    return cuts_of_counts(codes, counts, f)


def best_in_list(items: Sequence[int], n_classes: int, f=None) -> float:
    """Return the largest score of a list."""
    return max(cuts_in_list(items, n_classes, f).scores, default=NO_CUT)


def enter_gini_node(n: int, n_present: int) -> tuple[list, list]:
    """Return the weights of the cuts with L = 1 to n - 1, and their right weights."""
    left = np.arange(1, n)
    one = np.float32(1)
    if n_present == 2:
        return (one / (left * (n - left)).astype(np.float32)).tolist(), []
    weights = one / left.astype(np.float32), one / (n - left).astype(np.float32)
    return weights[0].tolist(), weights[1].tolist()


def enter_entropy_node(totals: Sequence[int], f: np.ndarray):
    """Return all_right; the steps of each class; f(L) + f(R) for L = 1, ..., n - 1."""
    n = sum(totals)
    steps = [
        [int(f[i + 1] - f[i] + f[t - i - 1] - f[t - i]) for i in range(t)]
        for t in totals
    ]
    of_sides = [int(f[left] + f[n - left]) for left in range(1, n)]
    return sum(int(f[t]) for t in totals), steps, of_sides


def part_list(items: Sequence[int], is_left: Sequence[int]) -> tuple[list, list]:
    """Return the items of the left side and those of the right one."""
    left = [int(item) for item in items if is_left[int(item) & 255]]
    right = [int(item) for item in items if not is_left[int(item) & 255]]
    return left, right


# --- Bins -----------------------------------------------------------------------------


def cuts_in_bins(counts: np.ndarray) -> Cuts:
    """Return the cuts of a feature; counts are classes x bins."""
    return cuts_of_counts(range(counts.shape[1]), counts.T.astype(np.int64))


def best_in_bins(counts: np.ndarray) -> float:
    """Return the largest score of a feature."""
    return max(cuts_in_bins(counts).scores, default=NO_CUT)


def count_rows(codes, y, copies, rows, start, counts):
    """Return the counts after the rows were added; start is classes x features."""
    counts = counts.copy()
    for row in rows:
        for feature in range(codes.shape[1]):
            cell = start[y[row], feature] + codes[row, feature]
            counts[cell] += 1 if copies is None else copies[row]
    return counts


# --- Counts by code and class ---------------------------------------------------------


def sum_totals(totals: Sequence[int], f: np.ndarray | None) -> int:
    """Return the sum of the squares of totals, or of their x log x."""
    return sum(int(t) ** 2 if f is None else int(f[t]) for t in totals)


def fill_histogram(codes, classes, n_codes: int, n_classes: int) -> np.ndarray:
    """Return the points of each code and class."""
    counts = np.zeros((n_codes, n_classes), np.int64)
    np.add.at(counts, (codes, classes), 1)
    return counts


def fill_histograms(rows_of_codes: np.ndarray, totals: Sequence[int], n_codes: int):
    """Return points by class, code and feature; and whether they differ in one."""
    classes = np.repeat(np.arange(len(totals)), totals)
    counts = np.zeros((len(totals), n_codes, rows_of_codes.shape[1]), np.int64)
    for feature, codes in enumerate(rows_of_codes.T):
        is_counted = codes < n_codes
        np.add.at(counts[:, :, feature], (classes[is_counted], codes[is_counted]), 1)
    differ = (rows_of_codes != rows_of_codes[:1]).any(axis=0)
    return counts, differ


def counted_cuts(counts: np.ndarray, kind: str, f=None) -> list[tuple]:
    """Return (score, bin, is_equality, n_left) of each cut; counts are codes x classes.

    The kind is "order", "order and equality" or "equality".
    """
    cuts = []
    if kind != "equality":
        plain = cuts_of_counts(range(len(counts)), counts, f)
        for of_cut, n_left, bin_ in zip(*plain, strict=True):
            cuts.append((of_cut, bin_, False, n_left))
    if kind != "order":
        there = [code for code in range(len(counts)) if counts[code].any()]
        if len(there) == 1:
            there = []
        # Equality with the first or the last code is an order cut.
        for code in there if kind == "equality" else there[1:-1]:
            rest = counts.sum(axis=0) - counts[code]
            of_cut = score(counts[code].tolist(), rest.tolist(), f)
            cuts.append((of_cut, code, True, int(counts[code].sum())))
    return cuts


# --- Rows -----------------------------------------------------------------------------


def copy_rows(table: np.ndarray, rows: Sequence[int]):
    """Return the rows, one after the other, and the bits in which some differ."""
    copy = table[rows]
    differ = np.zeros(table.shape[1], np.uint8)
    for row in copy:
        differ |= row ^ copy[0]
    return copy, differ


def code_goes_left(code: int, bin_: int, is_equality, missing: int, missing_left):
    """Tell whether points of a code go left."""
    if code == missing:
        return bool(missing_left)
    return code == bin_ if is_equality else code <= bin_


def part_rows(codes: np.ndarray, rows: Sequence[int], *cut) -> tuple[list, list]:
    """Return the rows of both sides; codes are those of all rows."""
    left = [int(row) for row in rows if code_goes_left(int(codes[row]), *cut)]
    right = [int(row) for row in rows if not code_goes_left(int(codes[row]), *cut)]
    return left, right


# --- Bit columns ----------------------------------------------------------------------


def bits_of(words: np.ndarray) -> np.ndarray:
    """Return the bits of each column of words, the lowest of the first word first."""
    places = np.arange(WORD_BITS, dtype=np.uint64)[:, None]
    bits = words[:, None, :] >> places & np.uint64(1)  # words x 64 x columns
    return bits.astype(bool).reshape(-1, words.shape[1])


def words_of(bits: np.ndarray) -> np.ndarray:
    """Return the words of bit columns; the last one is filled up with zeros."""
    n_words = -(-len(bits) // WORD_BITS)
    filled_up = np.zeros((n_words, WORD_BITS, bits.shape[1]), np.uint64)
    filled_up.reshape(-1, bits.shape[1])[: len(bits)] = bits
    places = np.arange(WORD_BITS, dtype=np.uint64)[:, None]
    return np.bitwise_or.reduce(filled_up << places, axis=1)


def count_left(columns: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """Return masks x columns: points of a mask that lie left; both are bits."""
    return np.array([columns[mask].sum(axis=0) for mask in masks], np.int64)


def score_columns(counts: np.ndarray, totals: Sequence[int]):
    """Return the points on the left and the score of each column of counts."""
    n_left, scores = counts.sum(axis=0), []
    for left in counts.T:
        right = np.asarray(totals, np.int64) - left
        is_cut = left.any() and right.any()
        scores.append(gini_score(left.tolist(), right.tolist()) if is_cut else NO_CUT)
    return n_left, scores


def find_sides(columns: np.ndarray, mask: np.ndarray):
    """Return whether some point of the mask is on the left, and on the right."""
    under = columns[mask]
    return under.any(axis=0), (~under).any(axis=0)


def append_points(out: np.ndarray, first: int, points: np.ndarray) -> np.ndarray:
    """Return the words of out with the bits of points from bit `first` on."""
    bits = bits_of(out)
    bits[first : first + len(points)] = points
    return words_of(bits)


def part_by_class(classes: np.ndarray, mask: np.ndarray):
    """Return points of each class under a mask, and masks of those that have some."""
    masks = [classes[:, k] & mask for k in range(classes.shape[1])]
    return [int(m.sum()) for m in masks], [m for m in masks if m.any()]


# --- Draws ----------------------------------------------------------------------------


def draw_softmax(scores: Sequence[float], steep: float, u: float) -> tuple[int, float]:
    """Return the index that is drawn, and how near the target is to a border.

    The latter as a share of the total; borders are all sums but the last.
    """
    with localcontext() as context:
        context.prec = 40
        highest = Decimal(max(scores))
        weights = [(Decimal(steep) * (Decimal(s) - highest)).exp() for s in scores]
        sums = list(accumulate(weights))
        target = Decimal(u) * sums[-1]
        drawn = next(i for i, so_far in enumerate(sums) if so_far > target)
        nearest = min([abs(so_far - target) for so_far in sums[:-1]], default=math.inf)
        return drawn, float(Decimal(nearest) / sums[-1])


# --- Norms ----------------------------------------------------------------------------


def raised(x: float, norm: float) -> float:
    """Return x^norm by rounded products and square roots."""
    x = float(x)
    return {1.5: x * math.sqrt(x), 2.0: x * x, 3.0: x * x * x}[norm]


def norm_of_counts(counts: Sequence[int], norm: float, scale_bits: int) -> int:
    """Return the largest k with h(k) <= h(2^s c_1) + h(2^s c_2) + ..., h as above."""
    total = 0.0
    for count in counts:
        total = total + raised(int(count) << scale_bits, norm)
    low, high = 0, (sum(map(int, counts)) << scale_bits) + 2**16
    assert raised(high, norm) > total
    while high - low > 1:
        middle = (low + high) // 2
        if raised(middle, norm) <= total:
            low = middle
        else:
            high = middle
    return low


# --- Distances ------------------------------------------------------------------------


def is_nearer(x, p, q, is_categorical) -> bool:
    """Tell whether x is at least as near to p as to q, in what all three have."""
    to_p, to_q = 0.0, 0.0
    for a, b, c, categorical in zip(x, p, q, is_categorical, strict=True):
        if np.isnan(a) or np.isnan(b) or np.isnan(c):
            continue
        if categorical:
            to_p, to_q = to_p + float(a != b), to_q + float(a != c)
        else:
            to_p, to_q = to_p + (a - b) * (a - b), to_q + (a - c) * (a - c)
    return bool(to_p <= to_q)


# --- Losses ---------------------------------------------------------------------------

POWERS = (0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8)


def to_all_powers(x: float) -> list[float]:
    """Return x to each of the powers by rounded square roots and products."""
    half = math.sqrt(x)
    quarter = math.sqrt(half)
    two = x * x
    four = two * two
    up_to_2 = [half, half * quarter, x, x * quarter, x * half, two]
    return [*up_to_2, two * half, two * x, four, four * x, four * two, four * four]


def sum_powers(shares: np.ndarray, classes: Sequence[int]):
    """Return powers x rows: sums over classes, also of squares; the own class."""
    n_classes, n_rows = shares.shape
    total = np.zeros((len(POWERS), n_rows))
    squares, own = total.copy(), total.copy()
    for row in range(n_rows):
        for k in range(n_classes):
            for p, power in enumerate(to_all_powers(float(shares[k, row]))):
                total[p, row] += power
                squares[p, row] += power * power
        own[:, row] = to_all_powers(float(shares[classes[row], row]))
    return total, squares, own


# --- Prediction -----------------------------------------------------------------------


def count_below(values: Sequence[float], x: float) -> int:
    """Return how many values are less than x."""
    return sum(bool(value < x) for value in values)


def code_of(values: Sequence[float], is_equality: bool, x: float) -> int:
    """Return the code of x in a column."""
    return int(x != values[0]) if is_equality else count_below(values, x)


def walk(nodes: np.ndarray, row: np.ndarray) -> int:
    """Return the leaf that a row reaches; nodes have threshold, feature and child."""
    here = 0
    while nodes[here]["child"] >= 0:
        feature = int(nodes[here]["feature"])
        x, threshold = row[feature & 0x3FFFFFFF], nodes[here]["threshold"]
        if np.isnan(x):
            goes_left = bool(feature & 0x40000000)
        elif feature & 0x80000000:
            goes_left = x == threshold
        else:
            goes_left = x <= threshold
        here = int(nodes[here]["child"]) + (0 if goes_left else 1)
    return here


def walk_codes(nodes: Sequence[tuple[int, int, int]], codes: Sequence[int]) -> int:
    """Return the leaf that a row of codes reaches; nodes are (child, column, high)."""
    here = 0
    while nodes[here][0] != here:
        child, column, high = nodes[here]
        here = child + (1 if codes[column] > high else 0)
    return here


# --- Votes of sets of rows ------------------------------------------------------------


def cut_rows(columns, X: np.ndarray) -> np.ndarray:
    """Return cuts x rows: which rows are above.

    Columns are (values, feature, is_equality).
    """
    above = [
        X[:, feature] != value if is_equality else X[:, feature] > value
        for values, feature, is_equality in columns
        for value in values
    ]
    return np.array(above, bool).reshape(-1, len(X))


def split_sets(runs, splits, cuts: np.ndarray, sets: np.ndarray) -> np.ndarray:
    """Return the sets after all splits; runs are (end of left, of right), for each."""
    sets = sets.copy()
    for ends, (cut, from_, left, right) in zip(runs, splits, strict=True):
        whole = sets[from_].copy()
        sides = (left, whole & ~cuts[cut]), (right, whole & cuts[cut])
        for end, (place, side) in zip(ends, sides, strict=True):
            if end == "join":
                sets[place] |= side
            elif end == "keep":
                sets[place] = side
    return sets
