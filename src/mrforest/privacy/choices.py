# SPDX-License-Identifier: BSD-3-Clause
"""The ways in which splits part a region, listed with their weights.

Draws do not need the list: `mrforest._core.RegionSubtrees` chooses. Probabilities and
weights in decimals do.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mrforest._core import RegionSubtrees
from mrforest.privacy.grid import Grid
from mrforest.privacy.scoring import Powers, powers_of


@dataclass(frozen=True)
class Choices:
    """The ways in which splits part a region, and how much each weighs.

    The last one is "all rows on one side", the others are runs of candidates.

    Attributes
    ----------
    grid : Grid
    first, end : ndarray of shape (n,), dtype=int64
        Candidates of each run, by their number in the grid; none of the last.
    exponent, mantissa : ndarray of shape (n + 1,)
        Of the sum over all subtrees below: ``mantissa * exp(unit * exponent)``.
    """

    grid: Grid
    first: NDArray[np.int64]
    end: NDArray[np.int64]
    exponent: NDArray[np.int64]
    mantissa: NDArray[np.float64]

    @classmethod
    def of(cls, region: RegionSubtrees, grid: Grid) -> Choices:
        """List the ways to split a region that has been weighed."""
        slot, weights = region.slot, region.weights
        n_occupied = np.diff(slot)
        feature = np.repeat(np.arange(len(n_occupied)), n_occupied)
        first = grid.slot[feature].astype(np.int64) + region.bins
        # A cut may lie anywhere up to the next occupied code; after the last one all
        # rows are on one side.
        end = np.where(grid.is_categorical[feature], first + 1, np.roll(first, -1))
        is_last = np.zeros(len(first), dtype=bool)
        is_last[slot[1:][n_occupied > 0] - 1] = True
        end = np.where(is_last & ~grid.is_categorical[feature], first, end)
        return cls(grid, first, end, weights["exponent"], weights["mantissa"])

    @cached_property
    def feature(self) -> NDArray[np.intp]:
        """The feature of each run."""
        return np.searchsorted(self.grid.slot, self.first, side="right") - 1

    @cached_property
    def run_measures(self) -> NDArray[np.int64]:
        """Base measure of each run, to be divided by the total of its feature."""
        up_to = np.concatenate([[0], np.cumsum(self.grid.measure)])
        return np.asarray(up_to[self.end] - up_to[self.first])

    @cached_property
    def left_over(self) -> NDArray[np.int64]:
        """Base measure of the candidates of each feature that are in no run."""
        left_over = np.add.reduceat(self.grid.measure, self.grid.slot[:-1])
        np.subtract.at(left_over, self.feature, self.run_measures)
        return left_over

    def exact_measures(self) -> list[Fraction]:
        """Return the base measure of each choice, as it is multiplied."""
        total = self.grid.total
        pairs = zip(self.run_measures, total[self.feature], strict=True)
        rest = zip(self.left_over, total, strict=True)
        return [
            *(Fraction(int(a), int(b)) for a, b in pairs),
            sum((Fraction(int(a), int(b)) for a, b in rest), Fraction(0)),
        ]

    def float_weights(self, tables: Powers) -> tuple[NDArray[np.float64], int]:
        """Return weights of the choices, measures included, and an exponent of all."""
        total = self.grid.total
        rest = (self.left_over / total).sum()
        weights = np.append(self.run_measures / total[self.feature], rest)
        weights *= self.mantissa
        # What cannot be drawn must not push all others out of range.
        exponent = np.where(weights > 0, self.exponent, 0)
        highest = int(exponent.max())
        return weights * powers_of(highest - exponent, tables), highest

    def candidate(self, chosen: int) -> tuple[int, int]:
        """Return feature and code of a candidate of a choice; all part it alike."""
        if chosen < len(self.first):
            found = np.arange(self.first[chosen], self.end[chosen])
        else:
            covered = np.zeros(len(self.grid.measure) + 1, dtype=np.int64)
            np.add.at(covered, self.first, 1)
            np.subtract.at(covered, self.end, 1)
            found = np.flatnonzero(np.cumsum(covered[:-1]) == 0)
        return self.grid.feature_of(int(found[self.grid.measure[found] > 0][0]))
