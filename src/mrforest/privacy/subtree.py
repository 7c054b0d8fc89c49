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
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from itertools import pairwise
from queue import SimpleQueue

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from mrforest._core import RegionSubtrees, Subtrees
from mrforest.privacy.exact import (
    Refine,
    Uniform,
    index_by_refining,
    margin,
    precise,
)
from mrforest.privacy.grid import Grid
from mrforest.privacy.mechanisms import draw_by_counts
from mrforest.privacy.randomness import RandomBits
from mrforest.privacy.scoring import Scoring, power_tables, powers_of
from mrforest.privacy.sensitivity import SCALE_BITS, check_norm

__all__ = ["Choices", "Leaf", "Scoring", "Split", "SubtreeMechanism"]

# Sums of 10^12 terms lose 12 digits; a power exp(x) loses as many as x has, which are
# 16 for the largest budget and 2^31 points.
GUARD_DIGITS = 35
# Below this much work, some two milliseconds, a second thread costs more than it saves.
SERIAL_WORK = 2_000_000


@dataclass(frozen=True)
class Leaf:
    """A leaf of a drawn subtree: its label, or its noisy counts, or neither yet."""

    label: int | None
    counts: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Split:
    """A split of a drawn subtree: code <= (categorical: ==) ``code`` goes left."""

    feature: int
    code: int
    left: Split | Leaf
    right: Split | Leaf


@dataclass(frozen=True)
class Choices:
    """The ways in which splits part a region, and how much each weighs.

    The last one is "all rows on one side", the others are runs of candidates.

    Attributes
    ----------
    first, end : ndarray of shape (n,), dtype=int64
        Candidates of each run, by their number in the grid; none of the last.
    exponent, mantissa : ndarray of shape (n + 1,)
        Of the sum over all subtrees below: ``mantissa * exp(unit * exponent)``.
    """

    first: NDArray[np.int64]
    end: NDArray[np.int64]
    exponent: NDArray[np.int64]
    mantissa: NDArray[np.float64]


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
    """

    def __init__(
        self,
        codes: NDArray[np.uint8],
        y: NDArray[np.int32],
        n_classes: int,
        grid: Grid,
        scoring: Scoring,
        n_jobs: int | None = None,
    ) -> None:
        if scoring.norm is not None and not scoring.squares:
            check_norm(n_classes, len(y))
        self.codes, self.y, self.n_classes = codes, y, n_classes
        self.grid, self.scoring, self.n_jobs = grid, scoring, n_jobs
        self.unit = scoring.unit(n_classes)
        self.tables = power_tables(self.unit, len(y) * scoring.range(n_classes))
        # Base measures are whole numbers over the sum of those of the feature.
        self.measure_up_to = np.concatenate([[0], np.cumsum(grid.measure)])
        self.feature_measure = np.diff(self.measure_up_to[grid.slot])
        # Factors that make whole numbers of the base measures of all features.
        common = math.lcm(*grid.total.tolist())
        self.scales = [common // total for total in grid.total.tolist()]
        self.slots = [slice(*pair) for pair in pairwise(grid.slot.tolist())]
        self.feature_of = np.repeat(np.arange(len(grid.n_codes)), grid.n_codes)
        self.kernel = Subtrees(
            codes,
            y,
            n_classes,
            grid.slot,
            grid.is_categorical.view(np.uint8),
            grid.measure / self.grid.total[self.feature_of],
            *self.tables,
            scoring.norm or 0.0,
            scoring.squares,
            SCALE_BITS,
        )

    # ---- weights ---------------------------------------------------------------------

    def weighed(self, rows: NDArray[np.int32], depth: int) -> RegionSubtrees:
        """Weigh the ways to split a region, each with all subtrees below it."""
        region = RegionSubtrees(self.kernel, rows, depth)
        self.weigh(region, len(rows), depth)
        return region

    def choices(self, region: RegionSubtrees) -> Choices:
        """Return the ways to split a region, with their weights."""
        slot, weights = region.slot, region.weights
        n_occupied = np.diff(slot)
        feature = np.repeat(np.arange(len(n_occupied)), n_occupied)
        first = self.grid.slot[feature].astype(np.int64) + region.bins
        # A cut may lie anywhere up to the next occupied code; after the last one, or if
        # there is only one, all rows are on one side.
        end = np.where(self.grid.is_categorical[feature], first + 1, np.roll(first, -1))
        is_last = np.zeros(len(first), dtype=bool)
        is_last[slot[1:][n_occupied > 0] - 1] = True
        alone = n_occupied[feature] == 1
        end = np.where(
            alone | (is_last & ~self.grid.is_categorical[feature]), first, end
        )
        return Choices(first, end, weights["exponent"], weights["mantissa"])

    def weigh(self, region: RegionSubtrees, n: int, depth: int) -> None:
        """Weigh all features of a region of n points, in threads if it pays."""
        n_bins = np.diff(region.slot)
        # For each feature a point is counted in the cells of all, and for each bin all
        # bins are weighed on both sides, which takes about 16 times as long.
        work = n * len(n_bins) ** 2 + 16 * int(n_bins.sum()) ** 2
        is_small = depth < 2 or work < SERIAL_WORK
        n_threads = 1 if is_small else min(effective_n_jobs(self.n_jobs), len(n_bins))
        if n_threads == 1:
            region.weigh_all()
            return
        # A thread that has done a feature takes the next, so that all end at nearly the
        # same time. After the last there is a None for each.
        waiting: SimpleQueue[int | None] = SimpleQueue()
        longest_first = np.argsort(-n_bins, kind="stable").tolist()
        for feature in [*longest_first, *[None] * n_threads]:
            waiting.put(feature)

        def weigh_next() -> None:
            for feature in iter(waiting.get, None):
                region.weigh(feature)

        # joblib would look only every ten milliseconds whether threads have ended.
        with ThreadPoolExecutor(n_threads) as threads:
            for ended in [threads.submit(weigh_next) for _ in range(n_threads)]:
                ended.result()

    def measures(
        self, choices: Choices
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return base measures, each to be divided by the total of its feature.

        Returns
        -------
        runs : ndarray of shape (n,)
            Of each run of candidates.
        feature : ndarray of shape (n,)
            Its feature.
        left_over : ndarray of shape (n_features,)
            Of the candidates of each feature that are in no run.
        """
        runs = self.measure_up_to[choices.end] - self.measure_up_to[choices.first]
        feature = self.feature_of[choices.first]
        left_over = self.feature_measure.copy()
        np.subtract.at(left_over, feature, runs)
        return runs, feature, left_over

    def exact_measures(self, choices: Choices) -> list[Fraction]:
        """Return the base measure of each choice, as it is multiplied."""
        runs, feature, left_over = self.measures(choices)
        pairs = zip(runs.tolist(), self.grid.total[feature].tolist(), strict=True)
        rest = zip(left_over.tolist(), self.grid.total.tolist(), strict=True)
        return [
            *(Fraction(a, b) for a, b in pairs),
            sum((Fraction(a, b) for a, b in rest), Fraction(0)),
        ]

    def float_weights(self, choices: Choices) -> tuple[NDArray[np.float64], int]:
        """Return weights of the choices, measures included, and an exponent of all."""
        runs, feature, left_over = self.measures(choices)
        rest = (left_over / self.grid.total).sum()
        weights = np.append(runs / self.grid.total[feature], rest) * choices.mantissa
        # What cannot be drawn must not push all others out of range.
        exponent = np.where(weights > 0, choices.exponent, 0)
        highest = int(exponent.max())
        return weights * powers_of(highest - exponent, self.tables), highest

    def candidates(self, choices: Choices, chosen: int) -> NDArray[np.int64]:
        """Candidates of a choice, by their number in the grid."""
        if chosen < len(choices.first):
            found = np.arange(choices.first[chosen], choices.end[chosen])
        else:
            covered = np.zeros(len(self.grid.measure) + 1, dtype=np.int64)
            np.add.at(covered, choices.first, 1)
            np.subtract.at(covered, choices.end, 1)
            found = np.flatnonzero(np.cumsum(covered[:-1]) == 0)
        return found[self.grid.measure[found] > 0]

    def relative_error(self, depth: int) -> float:
        """Bound the relative error of a weight: 2^-53 an operation, and double that.

        A power is three rounded entries and two products. A term of a sum is multiplied
        by a power and added, or the sum is, which has at most as many terms as there
        are bins and features, and one more. A leaf adds a power a class, of scores that
        are whole numbers without an error. Base measures are sums over bins, divided
        once. All is positive, so errors of factors add up, and that of a sum is at most
        the largest of its terms'.

        A power below 2^-1022, which may be anything from 0 to there, multiplies a term
        that lies so far behind another one of the same sum. Mantissas are not below
        the smallest base measure to the power of the number of splits; so what is lost
        is nothing beside the doubling.
        """
        n_bins, n_features = int(self.grid.slot[-1]), len(self.grid.n_codes)
        n_terms = n_bins + n_features + 1
        error = self.n_classes + 5
        for _ in range(depth):
            error = 2 * error + 1 + (n_bins + 2) + 7 * n_terms
        # What a weight that is drawn adds: a base measure, a power, products.
        return 2 * (error + (n_bins + 2) + 8) * 2.0**-53

    def refine(self, rows: NDArray[np.int32], depth: int, digits: int) -> list[Decimal]:
        """Return the weights of the choices of a region, to so many digits."""
        with localcontext(precise(digits + GUARD_DIGITS)):
            return self.exact_weights(rows, depth)

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
        counts = np.bincount(self.y[rows], minlength=self.n_classes)
        if self.scoring.norm is not None:
            return [self.kernel.score(counts)]
        return [int(score) for score in self.scoring.of_labels(counts)]

    def exact_weights(self, rows: NDArray[np.int32], depth: int) -> list[Decimal]:
        """Weights of the choices of a region, measures included."""
        # Which choices there are does not depend on the depth.
        choices = self.choices(self.weighed(rows, 1))
        out = []
        for chosen, measure in enumerate(self.exact_measures(choices)):
            if measure == 0:
                out.append(Decimal(0))
                continue
            candidate = int(self.candidates(choices, chosen)[0])
            left, right = self.part(rows, *self.grid.feature_of(candidate))
            below = self.exact_sum(left, depth - 1) * self.exact_sum(right, depth - 1)
            out.append(below * measure.numerator / measure.denominator)
        return out

    # ---- draws -----------------------------------------------------------------------

    def part(
        self, rows: NDArray[np.int32], feature: int, code: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Rows left and right of a split."""
        codes = self.codes[rows, feature]
        left = codes == code if self.grid.is_categorical[feature] else codes <= code
        return rows[left], rows[~left]

    def draw(
        self, rows: NDArray[np.int32], depth: int, random: RandomBits
    ) -> Split | Leaf:
        """Draw a subtree of a region."""
        if depth == 0 or self.grid.n_candidates == 0:
            return Leaf(self.draw_label(rows, random))
        region = self.weighed(rows, depth)
        refine = partial(self.refine, rows, depth)
        n_weights = len(region.weights)
        chosen = self.settle(region.choose, n_weights, depth, refine, random)
        feature, code = self.draw_split(region, chosen, random)
        left, right = self.part(rows, feature, code)
        return Split(
            feature,
            code,
            self.draw(left, depth - 1, random),
            self.draw(right, depth - 1, random),
        )

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
        uniform = Uniform(random)
        error = self.relative_error(depth)
        if error <= 0.125:
            k, _ = uniform.interval(53)
            chosen = choose(math.ldexp(k, -53), margin(n, error))
            if chosen >= 0:
                return chosen
        return index_by_refining(refine, n, uniform)

    def draw_split(
        self, region: RegionSubtrees, chosen: int, random: RandomBits
    ) -> tuple[int, int]:
        """Draw one of the candidates that part a region in the chosen way.

        By their base measure: first the feature, then the code.
        """
        if chosen < len(region.weights) - 1:
            feature, first, end = region.run(chosen)
            measures = self.grid.measure[self.slots[feature]][first:end]
            return feature, first + draw_by_counts(measures.tolist(), random)
        measure = self.grid.measure * region.leaves_a_side_empty()
        of_feature = np.add.reduceat(measure, self.grid.slot[:-1]).tolist()
        shares = [n * scale for n, scale in zip(of_feature, self.scales, strict=True)]
        feature = draw_by_counts(shares, random)
        measures = measure[self.slots[feature]]
        return feature, draw_by_counts(measures.tolist(), random)

    def draw_label(self, rows: NDArray[np.int32], random: RandomBits) -> int | None:
        """Draw the label of a leaf, if labels are drawn."""
        if self.scoring.norm is not None:
            return None

        def refine(digits: int) -> list[Decimal]:
            scores = self.leaf_scores(rows)
            with localcontext(precise(digits + GUARD_DIGITS)):
                return [self.exact_power(score - max(scores)) for score in scores]

        choose = partial(self.kernel.choose_label, rows)
        return self.settle(choose, self.n_classes, 0, refine, random)

    # ---- probabilities ---------------------------------------------------------------

    def log_sum(self, rows: NDArray[np.int32], depth: int) -> float:
        """Log Z(rows, depth), up to rounding."""
        if depth == 0 or self.grid.n_candidates == 0:
            scores = self.leaf_scores(rows)
            highest = max(scores)
            weights = powers_of(highest - np.array(scores), self.tables)
        else:
            weights, highest = self.float_weights(
                self.choices(self.weighed(rows, depth))
            )
        return float(self.unit) * highest + math.log(weights.sum())

    def log_weight(self, subtree: Split | Leaf, rows: NDArray[np.int32]) -> float:
        """Log of the weight of one subtree on some rows, up to rounding."""
        if isinstance(subtree, Leaf):
            return float(self.unit) * self.leaf_scores(rows)[subtree.label or 0]
        candidate = int(self.grid.slot[subtree.feature]) + subtree.code
        own = math.log(self.grid.measure[candidate] / self.grid.total[subtree.feature])
        left, right = self.part(rows, subtree.feature, subtree.code)
        return (
            own
            + self.log_weight(subtree.left, left)
            + self.log_weight(subtree.right, right)
        )

    def log_probability(
        self, subtree: Split | Leaf, rows: NDArray[np.int32], depth: int
    ) -> float:
        """Log of the probability that a region's subtree of this depth is this one."""
        return self.log_weight(subtree, rows) - self.log_sum(rows, depth)
