# SPDX-License-Identifier: BSD-3-Clause
"""One exponential mechanism over whole subtrees, drawn exactly.

A subtree of a region of the table is drawn with probability proportional to

    product of w(split)  x  exp(epsilon x sum of the scores of its leaves)

One record lies in one leaf and moves its score by at most one unit, always in the same
direction, so the draw costs epsilon once, however many levels it has. A score is a
whole number of steps; `Scoring` tells how many of them are one unit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from functools import cache, cached_property, partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from mrforest._core import LANES, RegionSubtrees, Subtrees
from mrforest._threads import in_threads
from mrforest.privacy.boxes import EVERYWHERE, Box, Boxes
from mrforest.privacy.choices import Choices
from mrforest.privacy.exact import (
    Refine,
    Uniform,
    index_by_refining,
    margin,
    precise,
)
from mrforest.privacy.grid import LARGEST_TOTAL, Grid
from mrforest.privacy.randomness import RandomBits
from mrforest.privacy.scoring import FARTHEST, Scoring, powers_of, powers_up_to
from mrforest.privacy.sensitivity import SCALE_BITS, check_norm

__all__ = ["Leaf", "Scoring", "Split", "SubtreeMechanism", "Tree"]

# Sums of 10^12 terms lose 12 digits; a power exp(x) loses as many as x has, which are
# 16 for the largest budget and 2^31 points.
GUARD_DIGITS = 35
# Below this much work, some two milliseconds, a second thread costs more than it saves.
SERIAL_WORK = 2_000_000


class Leaf(NamedTuple):
    """A leaf of a drawn subtree: its label, or its noisy counts, or neither yet."""

    label: int | None
    counts: tuple[int, ...] | None = None


class Split(NamedTuple):
    """A split of a drawn subtree: code <= (categorical: ==) ``code`` goes left."""

    feature: int
    code: int
    left: Tree
    right: Tree


Tree = Split | Leaf


class SubtreeMechanism:
    """Draws subtrees of regions of one table.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_features), dtype=uint8
        Rows on the grid.
    y : ndarray of shape (n_rows,), dtype=int32
    n_classes : int
    grid : Grid
    scoring : Scoring
    n_jobs : int or None, default=None
        Threads that weigh the features of a region, of two levels or more, if it is
        large; what is drawn does not depend on it.
    n_points : int or None, default=None
        Points that a region may have; None: the rows.

    Examples
    --------
    >>> from mrforest.privacy.grid import Numeric
    >>> grid = Grid.of([Numeric(0, 2, is_whole=True)])
    >>> codes = np.array([[0], [0], [2], [2]], dtype=np.uint8)
    >>> y = np.array([0, 0, 1, 1], dtype=np.int32)
    >>> mechanism = SubtreeMechanism(codes, y, 2, grid, Scoring(50.0, None))
    >>> tree = mechanism.draw(np.arange(4, dtype=np.int32), 1, RandomBits.secure())
    >>> tree.left.label, tree.right.label  # with so large a budget
    (0, 1)
    """

    def __init__(
        self,
        codes: NDArray[np.uint8],
        y: NDArray[np.int32],
        n_classes: int,
        grid: Grid,
        scoring: Scoring,
        n_jobs: int | None = None,
        n_points: int | None = None,
    ) -> None:
        n_points = len(y) if n_points is None else n_points
        if scoring.norm is not None and not scoring.squares:
            check_norm(n_classes, n_points)
        self.codes, self.y, self.n_classes = codes, y, n_classes
        self.scoring = scoring
        self.n_threads = effective_n_jobs(n_jobs)
        self.unit = scoring.unit(n_classes)
        self.tables = powers_up_to(n_points * scoring.range(n_classes), self.unit)
        self.boxes, self.box = Boxes(grid), EVERYWHERE
        self.error_of = cache(self.relative_error)
        self.kernel = Subtrees(
            codes,
            y,
            n_classes,
            grid.slot,
            grid.is_categorical.view(np.uint8),
            *self.tables,
            scoring.norm or 0.0,
            scoring.squares,
            SCALE_BITS,
        )
        # All that does not depend on a box; what is cached of one comes later.
        self._everywhere = dict(self.__dict__)

    def inside(self, box: Box) -> SubtreeMechanism:
        """Return the mechanism that draws from the candidates of a box."""
        other = object.__new__(SubtreeMechanism)
        other.__dict__.update(self._everywhere, _everywhere=self._everywhere, box=box)
        return other

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """Base measures in the box, as weights are multiplied by them."""
        return self.boxes.shares(self.box)

    @cached_property
    def feature_sums(self) -> list[int]:
        """Base measures of all features in the box, added up to each."""
        return self.boxes.feature_sums(self.box)

    @property
    def has_candidates(self) -> bool:
        """Whether the box has any candidate; else a subtree of it is a leaf."""
        return self.feature_sums[-1] > 0

    @cached_property
    def grid(self) -> Grid:
        """The grid with the candidates of the box."""
        return self.boxes.inside(self.box)

    # ---- weights ---------------------------------------------------------------------

    def weighed(self, rows: NDArray[np.int32], depth: int) -> RegionSubtrees:
        """Weigh the ways to split a region, each with all subtrees below it."""
        region = self.region(rows, depth)
        self.weigh(region, len(rows), depth)
        return region

    def region(self, rows: NDArray[np.int32], depth: int) -> RegionSubtrees:
        """Return a region that waits to be weighed."""
        return RegionSubtrees(self.kernel, rows, depth, self.shares)

    def choices(self, rows: NDArray[np.int32], depth: int) -> Choices:
        """List the ways to split a region, with their weights."""
        return Choices.of(self.weighed(rows, depth), self.grid)

    def weigh(self, region: RegionSubtrees, n: int, depth: int) -> None:
        """Weigh all features of a region of n points, in threads if it pays."""
        n_threads = min(self.n_threads, region.n_features)
        # For each feature a point is counted in the cells of all, and for each bin all
        # bins are weighed, which takes about 16 times as long.
        work = n * region.n_features**2 + 16 * region.n_weights**2
        if n_threads <= 1 or depth < 2 or work < SERIAL_WORK:
            region.weigh_all()
            return
        # A thread that has done a feature takes the next, so that all end at nearly the
        # same time.
        for _ in in_threads(region.weigh, range(region.n_features), n_threads):
            pass

    @cached_property
    def n_roundings(self) -> tuple[int, int, int]:
        """How many roundings a leaf, a base measure and a sum of a level add at most.

        A power is three rounded entries and two products. A leaf adds a power a class,
        of scores that are whole numbers without an error. A base measure is divided
        once, and added up over the bins of a feature and over features.

        A sum of a level adds products. Each is multiplied by a measure and a power. A
        sum may be multiplied by a power before something is added, which is seven
        roundings. It has been added up in parts:

            a feature below   LANES terms at a time, and then these sums
            a feature above   its bins, and then features
        """
        n_codes = self.boxes.grid.n_codes
        n_features, most_bins = len(n_codes), int(n_codes.max())
        n_parts = int(n_codes.sum()) // LANES + 1
        return (
            self.n_classes + 5,
            most_bins + n_features + 3,
            LANES + 7 * (n_parts + most_bins + n_features + 3),
        )

    def relative_error(self, depth: int) -> float:
        """Bound the relative error of a weight: 2^-53 an operation, and double that.

        All is positive, so errors of factors add up, and that of a sum is at most the
        largest of its terms'.

        A term of a sum is left out if its power is exp(-400) of another one's, or less.
        Its mantissa may be larger by a factor of all measures over the smallest one for
        each split, and of the number of labels for each leaf. If less than 2^-118 is
        left of the term nevertheless, then of 2^64 such terms less than 2^-54, which is
        nothing beside the doubling; else floats are not used at all.
        """
        if self.log_spread(depth) + 118 * math.log(2) > FARTHEST:
            return math.inf
        leaf, measure, level = self.n_roundings
        # Parts of regions add measures up again.
        measure *= max(depth, 1)
        error = leaf
        for _ in range(depth):
            error = 2 * error + 1 + measure + level
        # What a weight that is drawn adds, or a sum of those of a feature
        return 2 * (error + measure + level) * 2.0**-53

    def log_spread(self, depth: int) -> float:
        """Bound the log of the ratio of mantissas of subtrees, in whatever box."""
        largest = max(int(self.boxes.grid.total.max()), LARGEST_TOTAL)
        of_split = math.log(max(self.boxes.feature_sums(EVERYWHERE)[-1], 1) * largest)
        n_leaves = 1 << depth
        return (n_leaves - 1) * of_split + n_leaves * math.log(self.n_classes)

    def exact_sum(self, rows: NDArray[np.int32], depth: int) -> Decimal:
        """Z(rows, depth) in the precision of the decimal context; slow and plain."""
        if depth > 0:
            return sum(self.exact_weights(rows, depth), Decimal(0))
        return sum(map(self.exact_power, self.leaf_scores(rows)), Decimal(0))

    def exact_power(self, score: int) -> Decimal:
        """Return exp(unit score) in the precision of the decimal context."""
        return (Decimal(self.unit.numerator) * score / self.unit.denominator).exp()

    def leaf_scores(self, rows: NDArray[np.int32]) -> list[int]:
        """Return what a leaf is worth with each label, or the one score without."""
        counts = self.class_counts(rows)
        if self.scoring.norm is not None:
            return [self.kernel.score(counts)]
        return [int(score) for score in self.scoring.of_labels(counts)]

    def exact_weights(
        self, rows: NDArray[np.int32], depth: int, which: slice = slice(None)
    ) -> list[Decimal]:
        """Weights of the choices of a region, or some of them, measures included."""
        # Which choices there are does not depend on the depth.
        choices = self.choices(rows, 1)
        measures = choices.exact_measures()
        out = []
        for chosen in range(len(measures))[which]:
            measure = measures[chosen]
            if measure == 0:
                out.append(Decimal(0))
                continue
            left, right = self.part(rows, *choices.candidate(chosen))
            below = self.exact_sum(left, depth - 1) * self.exact_sum(right, depth - 1)
            out.append(below * measure.numerator / measure.denominator)
        return out

    # ---- draws -----------------------------------------------------------------------

    def class_counts(self, rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """Points of each class in a region."""
        return np.bincount(self.y[rows], minlength=self.n_classes)

    def part(
        self, rows: NDArray[np.int32], feature: int, code: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Rows left and right of a split."""
        return self.kernel.part(rows, feature, code)

    def draw(self, rows: NDArray[np.int32], depth: int, random: RandomBits) -> Tree:
        """Draw a subtree of a region."""
        if len(rows) == 0:
            return self.draw_blind(depth, random)
        if depth == 0 or not self.has_candidates:
            return Leaf(self.draw_label(rows, random))
        feature, code = self.draw_split(rows, depth, random)
        left, right = self.part(rows, feature, code)
        return Split(
            feature,
            code,
            self.draw(left, depth - 1, random),
            self.draw(right, depth - 1, random),
        )

    def draw_blind(self, depth: int, random: RandomBits) -> Tree:
        """Draw a subtree of no rows: all have the same score, only measures count."""
        if depth == 0 or not self.has_candidates:
            is_labelled = self.scoring.norm is None
            return Leaf(random.below(self.n_classes) if is_labelled else None)
        feature, code = self.draw_candidate(random)
        left, right = (self.draw_blind(depth - 1, random) for _ in range(2))
        return Split(feature, code, left, right)

    def draw_candidate(self, random: RandomBits) -> tuple[int, int]:
        """Draw feature and code of a candidate of the box by base measure."""
        feature = random.place(self.feature_sums)
        return feature, random.place(self.boxes.piece(self.box, feature).sums)

    def draw_split(
        self, rows: NDArray[np.int32], depth: int, random: RandomBits
    ) -> tuple[int, int]:
        """Draw the split of a region: a feature of it, a bin, and a cut behind that.

        One after the other, because the nearest of few boundaries is seldom so near
        that rounding could decide.
        """
        region = self.weighed(rows, depth)
        starts = region.starts

        def features(digits: int) -> list[Decimal]:
            with localcontext(precise(digits + GUARD_DIGITS)):
                weights = self.exact_weights(rows, depth)
                sums = [sum(weights[a:b], Decimal(0)) for a, b in pairwise(starts)]
            return [*sums, weights[-1]]

        def bins(digits: int) -> list[Decimal]:
            with localcontext(precise(digits + GUARD_DIGITS)):
                return self.exact_weights(rows, depth, slice(*starts[f : f + 2]))

        n_features = region.n_features
        f = self.settle(region.choose_feature, n_features + 1, depth, features, random)
        if f == n_features:
            return self.draw_empty(region, random)
        choose = partial(region.choose_bin, f)
        b = self.settle(choose, starts[f + 1] - starts[f], depth, bins, random)
        feature, first, end = region.run(f, b)
        measures = self.boxes.piece(self.box, feature).measure[first:end]
        return feature, first + random.index(measures.tolist())

    def draw_empty(self, region: RegionSubtrees, random: RandomBits) -> tuple[int, int]:
        """Draw one of the splits that leave a side empty, by their base measure.

        Tried until one is met: if they are rare, this is seldom asked for.
        """
        leaves_a_side_empty = region.leaves_a_side_empty()
        while True:
            feature, code = self.draw_candidate(random)
            if leaves_a_side_empty[self.boxes.slots[feature].start + code]:
                return feature, code

    def settle(
        self,
        choose: Callable[[float, float], int],
        n: int,
        depth: int,
        refine: Refine,
        random: RandomBits,
    ) -> int:
        """Draw the number of one of n weights: by floats, if they tell it for certain.

        `choose` is the compiled `exact.index_by_floats`.
        """
        error = self.error_of(depth)
        if error > 0.125:
            return index_by_refining(refine, n, Uniform(random))
        k = random.bits(53)
        chosen = choose(k * 2.0**-53, margin(n, error))
        if chosen >= 0:
            return chosen
        return index_by_refining(refine, n, Uniform(random, k, 53))

    def draw_label(self, rows: NDArray[np.int32], random: RandomBits) -> int | None:
        """Draw the label of a leaf, if labels are drawn."""
        if self.scoring.norm is not None:
            return None

        def refine(digits: int) -> list[Decimal]:
            scores = self.leaf_scores(rows)
            with localcontext(precise(digits + GUARD_DIGITS)):
                return [self.exact_power(score - max(scores)) for score in scores]

        choose = partial(self.kernel.choose_label, self.class_counts(rows))
        return self.settle(choose, self.n_classes, 0, refine, random)

    # ---- probabilities ---------------------------------------------------------------

    def log_sum(self, rows: NDArray[np.int32], depth: int) -> float:
        """Log Z(rows, depth), up to rounding."""
        if depth == 0 or not self.has_candidates:
            scores = self.leaf_scores(rows)
            highest = max(scores)
            weights = powers_of(highest - np.array(scores), self.tables)
        else:
            weights, highest = self.choices(rows, depth).float_weights(self.tables)
        return float(self.unit) * highest + math.log(weights.sum())

    def log_weight(self, tree: Tree, rows: NDArray[np.int32]) -> float:
        """Log of the weight of one subtree on some rows, up to rounding."""
        if isinstance(tree, Leaf):
            return float(self.unit) * self.leaf_scores(rows)[tree.label or 0]
        candidate = int(self.grid.slot[tree.feature]) + tree.code
        own = math.log(self.grid.measure[candidate] / self.grid.total[tree.feature])
        left, right = self.part(rows, tree.feature, tree.code)
        return (
            own + self.log_weight(tree.left, left) + self.log_weight(tree.right, right)
        )

    def log_probability(self, tree: Tree, rows: NDArray[np.int32], depth: int) -> float:
        """Log of the probability that a region's subtree of this depth is this one."""
        return self.log_weight(tree, rows) - self.log_sum(rows, depth)
