# SPDX-License-Identifier: BSD-3-Clause
"""One exponential mechanism over whole subtrees, drawn exactly.

A subtree of a region of the table is drawn with probability proportional to

    product of w(split)  x  exp(epsilon x sum of the scores of its leaves)

One record lies in one leaf and moves its score by at most one unit, always in the same
direction, so the draw costs epsilon once, however many levels it has.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from mrforest._core import Subtrees
from mrforest.privacy.exact import draw_index, precise
from mrforest.privacy.grid import Grid
from mrforest.privacy.randomness import RandomBits
from mrforest.privacy.sensitivity import CORRECT_RANGE, NORM_RANGE, SCALE_BITS

Tables = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]

DIGIT = 1024  # entries of a table of powers
GUARD_DIGITS = 25  # sums of 10^12 terms lose 12 digits, large powers another 12


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
class Scoring:
    """What a leaf is worth, and what a point of it costs.

    Parameters
    ----------
    epsilon : float
        Budget of the draw.
    norm : float or None
        None: labels are drawn, and a leaf is worth its points that have its label.
        Else the p-norm of its class counts, rounded down to multiples of 2^-16.
    """

    epsilon: float
    norm: float | None

    @property
    def shift(self) -> int:
        """Bits of a point in the whole number that a score is."""
        return 0 if self.norm is None else SCALE_BITS

    @cached_property
    def unit(self) -> Fraction:
        """Budget of one step of a score."""
        return Fraction(self.epsilon) / (
            CORRECT_RANGE if self.norm is None else NORM_RANGE
        )

    @cached_property
    def tables(self) -> Tables:
        """Powers exp(-unit s i) for steps s = 1, 2^10 and 2^20, correctly rounded."""
        n_last = math.ceil(Fraction(744, DIGIT * DIGIT) / self.unit) + 1
        return (
            powers(self.unit, DIGIT),
            powers(self.unit * DIGIT, DIGIT),
            powers(self.unit * DIGIT * DIGIT, n_last),
        )


def powers(unit: Fraction, n: int) -> NDArray[np.float64]:
    """Return exp(-unit i) for i < n, each rounded correctly."""
    with localcontext() as context:
        context.prec = 60
        ratio = (-Decimal(unit.numerator) / Decimal(unit.denominator)).exp()
        power, out = Decimal(1), []
        for _ in range(n):
            out.append(float(power))
            power *= ratio
    return np.array(out)


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
    """

    def __init__(
        self,
        codes: NDArray[np.uint8],
        y: NDArray[np.int32],
        n_classes: int,
        grid: Grid,
        scoring: Scoring,
    ) -> None:
        self.codes, self.y, self.n_classes = codes, y, n_classes
        self.grid, self.scoring = grid, scoring
        # Base measures are whole numbers over the sum of those of the feature.
        self.measure_up_to = np.concatenate([[0], np.cumsum(grid.measure)])
        self.feature_measure = np.diff(self.measure_up_to[grid.slot])
        self.feature_of = np.repeat(np.arange(len(grid.n_codes)), grid.n_codes)
        self.kernel = Subtrees(
            codes,
            y,
            n_classes,
            grid.slot,
            grid.is_categorical.view(np.uint8),
            grid.measure / np.maximum(self.feature_measure, 1)[self.feature_of],
            *scoring.tables,
            scoring.shift,
            scoring.norm or 0.0,
        )

    # ---- weights ---------------------------------------------------------------------

    def choices(self, rows: NDArray[np.int32], depth: int) -> Choices:
        """Weigh the ways to split a region, each with all subtrees below it."""
        slot, bins, weights = self.kernel.weights(rows, depth)
        n_occupied = np.diff(slot)
        feature = np.repeat(np.arange(len(n_occupied)), n_occupied)
        first = self.grid.slot[feature].astype(np.int64) + bins
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

    def measures(self, choices: Choices) -> list[Fraction]:
        """Return the base measure of each choice; that of a feature sums to 1."""
        runs = self.measure_up_to[choices.end] - self.measure_up_to[choices.first]
        feature = self.feature_of[choices.first]
        left_over = self.feature_measure.copy()
        np.subtract.at(left_over, feature, runs)
        totals = np.maximum(self.feature_measure, 1)
        pairs = zip(runs.tolist(), totals[feature].tolist(), strict=True)
        rest = zip(left_over.tolist(), totals.tolist(), strict=True)
        return [
            *(Fraction(a, b) for a, b in pairs),
            sum((Fraction(a, b) for a, b in rest), Fraction(0)),
        ]

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
        are bins and features, and one more. A leaf adds a power a class. Base measures
        are sums over bins, divided once. All is positive, so errors of factors add up,
        and that of a sum is at most the largest of its terms'.
        """
        n_bins, n_features = int(self.grid.slot[-1]), len(self.grid.n_codes)
        n_terms = n_bins + n_features + 1
        error = self.n_classes + 5
        for _ in range(depth):
            error = 2 * error + 1 + (n_bins + 2) + 7 * n_terms
        return 2 * (error + 8) * 2.0**-53

    def refine(self, rows: NDArray[np.int32], depth: int, digits: int) -> list[Decimal]:
        """Return the weights of the choices of a region, to so many digits."""
        with localcontext(precise(digits + GUARD_DIGITS)):
            return self.exact_weights(rows, depth)

    def exact_sum(self, rows: NDArray[np.int32], depth: int) -> Decimal:
        """Z(rows, depth) in the precision of the decimal context; slow and plain."""
        unit = self.scoring.unit
        step = Decimal(unit.numerator) / Decimal(unit.denominator)
        if depth == 0:
            counts = np.bincount(self.y[rows], minlength=self.n_classes)
            if self.scoring.norm is None:
                return sum(((step * int(n)).exp() for n in counts), Decimal(0))
            score = int(self.kernel.score(counts.astype(np.int32)))
            return (step * score).exp()
        return sum(self.exact_weights(rows, depth), Decimal(0))

    def exact_weights(self, rows: NDArray[np.int32], depth: int) -> list[Decimal]:
        """Weights of the choices of a region, measures included."""
        choices = self.choices(rows, depth)
        out = []
        for chosen, measure in enumerate(self.measures(choices)):
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
        choices = self.choices(rows, depth)
        measures = np.array([float(m) for m in self.measures(choices)])
        weights = measures * choices.mantissa * self.powers_below(choices.exponent)
        refine = partial(self.refine, rows, depth)
        chosen = draw_index(weights, self.relative_error(depth), random, refine)
        candidate = self.draw_candidate(self.candidates(choices, chosen), random)
        feature, code = self.grid.feature_of(candidate)
        left, right = self.part(rows, feature, code)
        return Split(
            feature,
            code,
            self.draw(left, depth - 1, random),
            self.draw(right, depth - 1, random),
        )

    def powers_below(self, exponent: NDArray[np.int64]) -> NDArray[np.float64]:
        """Powers exp(-unit (highest - exponent)), as the kernel takes them."""
        ones, tens, hundreds = self.scoring.tables
        steps = exponent.max() - exponent
        high = steps // (DIGIT * DIGIT)
        found = hundreds[np.minimum(high, len(hundreds) - 1)]
        found = ones[steps % DIGIT] * tens[steps // DIGIT % DIGIT] * found
        return np.where(high < len(hundreds), found, 0.0)

    def draw_candidate(self, candidates: NDArray[np.int64], random: RandomBits) -> int:
        """Draw one of several candidates by their base measure."""
        totals = self.feature_measure[self.feature_of[candidates]].tolist()
        common = math.lcm(*totals)
        shares = [
            measure * (common // total)
            for measure, total in zip(
                self.grid.measure[candidates].tolist(), totals, strict=True
            )
        ]
        place = random.below(sum(shares))
        ends = itertools.accumulate(shares)
        return int(candidates[next(i for i, end in enumerate(ends) if place < end)])

    def draw_label(self, rows: NDArray[np.int32], random: RandomBits) -> int | None:
        """Draw the label of a leaf, if labels are drawn."""
        if self.scoring.norm is not None:
            return None
        counts = np.bincount(self.y[rows], minlength=self.n_classes)

        def refine(digits: int) -> list[Decimal]:
            unit = self.scoring.unit
            with localcontext(precise(digits + GUARD_DIGITS)):
                step = Decimal(unit.numerator) / Decimal(unit.denominator)
                return [(step * int(n - counts.max())).exp() for n in counts]

        weights = self.powers_below(counts.astype(np.int64))
        return draw_index(weights, self.relative_error(0), random, refine)

    # ---- probabilities ---------------------------------------------------------------

    def log_sum(self, rows: NDArray[np.int32], depth: int) -> float:
        """Log Z(rows, depth), up to rounding."""
        exponent, mantissa = self.kernel.total(rows, depth)
        return float(self.scoring.unit) * exponent + math.log(mantissa)

    def log_weight(self, subtree: Split | Leaf, rows: NDArray[np.int32]) -> float:
        """Log of the weight of one subtree on some rows, up to rounding."""
        if isinstance(subtree, Leaf):
            counts = np.bincount(self.y[rows], minlength=self.n_classes)
            if subtree.label is None:
                score = self.kernel.score(counts.astype(np.int32))
            else:
                score = int(counts[subtree.label])
            return float(self.scoring.unit) * score
        candidate = int(self.grid.slot[subtree.feature]) + subtree.code
        own = math.log(
            self.grid.measure[candidate] / self.feature_measure[subtree.feature]
        )
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
