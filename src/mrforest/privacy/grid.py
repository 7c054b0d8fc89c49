# SPDX-License-Identifier: BSD-3-Clause
"""Candidate splits that come from public information alone.

A numeric feature is cut at the edges of a uniform grid of its bounds and, because many
features crowd at one end, at ever finer dyadic edges near both ends:

    low  | | |  |   |      |      |      |  ...  |      |      |   |  | | |  high

With few candidates in all the uniform grid has twice as many cells: there is time for
them. A feature of few whole numbers is cut between them, a categorical one by "is it
v?".
Every candidate has a base measure, a whole number over that of its feature, so that all
features count the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

N_UNIFORM = 32  # cells of the uniform grid
MOST_FINE = 512  # candidates of a grid that may have twice as many cells
N_DYADIC = 11  # the finest dyadic edge is this many halvings away from a bound
DYADIC_SHARE = 10  # a uniform edge weighs as much as so many dyadic ones
MOST_WHOLE = 64  # a range of whole numbers this long is cut between all of them
MAX_CATEGORIES = 254


@dataclass(frozen=True)
class Numeric:
    """Bounds of a numeric feature; ``is_whole``: it takes whole numbers only."""

    low: float
    high: float
    is_whole: bool = False

    def cuts(
        self, n_cells: int = N_UNIFORM
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the cuts, ascending, and the base measure of each.

        Parameters
        ----------
        n_cells : int, default=32
            Of the uniform grid, a power of two.

        Examples
        --------
        >>> cuts, measure = Numeric(0, 3, is_whole=True).cuts()
        >>> cuts.tolist(), measure.tolist()
        ([0.5, 1.5, 2.5], [1, 1, 1])
        """
        if self.low == self.high:
            return np.empty(0), np.empty(0, dtype=np.int64)
        if self.is_whole and self.high - self.low <= MOST_WHOLE:
            cuts = np.arange(self.low, self.high) + 0.5
            return cuts, np.ones(len(cuts), dtype=np.int64)
        span = self.high - self.low
        uniform = np.arange(1, n_cells) / n_cells
        near = 0.5 ** np.arange(n_cells.bit_length(), N_DYADIC + 1)
        shares = np.concatenate([near, 1 - near, uniform])
        measure = np.ones(len(shares), dtype=np.int64)
        measure[2 * len(near) :] = DYADIC_SHARE
        cuts = self.low + span * shares
        if self.is_whole:
            cuts = np.floor(cuts) + 0.5
        # Edges that rounding lays upon each other are one candidate.
        # One that rounding lays upon a bound cuts nothing off.
        is_inside = (cuts >= self.low) & (cuts < self.high)
        measure = measure[is_inside]
        cuts, place = np.unique(cuts[is_inside], return_inverse=True)
        total = np.zeros(len(cuts), dtype=np.int64)
        np.add.at(total, place, measure)
        return cuts, total


@dataclass(frozen=True)
class Grid:
    """The candidate splits of a table.

    Attributes
    ----------
    cuts, cuts_start : ndarray of float64, ndarray of int64
        Cuts of all numeric features, and where those of each feature begin.
    n_codes : ndarray of shape (n_features,), dtype=int32
        Codes of each feature. The last code of a categorical feature is "other": a
        category that is not in the list, or none.
    slot : ndarray of shape (n_features + 1,), dtype=int32
        First code of each feature among those of all.
    is_categorical : ndarray of shape (n_features,), dtype=bool
    measure : ndarray of shape (n_codes.sum(),), dtype=int64
        Base measure of the cut after each code, or of "is it this category?"; 0 after
        the last code of a numeric feature.
    total : ndarray of shape (n_features,), dtype=int64
        What the base measures of a feature are divided by: their sum.
    """

    cuts: NDArray[np.float64]
    cuts_start: NDArray[np.int64]
    n_codes: NDArray[np.int32]
    slot: NDArray[np.int32]
    is_categorical: NDArray[np.bool_]
    measure: NDArray[np.int64]
    total: NDArray[np.int64]

    @classmethod
    def of(cls, features: Sequence[Numeric | Sequence[Any]]) -> Grid:
        """Lay the grid of numeric features and of lists of categories."""
        fine = cls._of(features, 2 * N_UNIFORM)
        return fine if fine.n_candidates <= MOST_FINE else cls._of(features, N_UNIFORM)

    @classmethod
    def _of(cls, features: Sequence[Numeric | Sequence[Any]], n_cells: int) -> Grid:
        cuts, measures = [], []
        for feature in features:
            if isinstance(feature, Numeric):
                edges, measure = feature.cuts(n_cells)
                cuts.append(edges)
                measures.append(np.append(measure, 0))
            else:
                cuts.append(np.empty(0))
                measures.append(np.ones(len(feature) + 1, dtype=np.int64))
        n_codes = np.array([len(measure) for measure in measures], dtype=np.int32)
        return cls(
            cuts=np.concatenate(cuts),
            cuts_start=np.cumsum([0, *map(len, cuts)]),
            n_codes=n_codes,
            slot=np.cumsum([0, *n_codes], dtype=np.int32),
            is_categorical=np.array([not isinstance(f, Numeric) for f in features]),
            measure=np.concatenate(measures),
            total=np.array([max(int(m.sum()), 1) for m in measures], dtype=np.int64),
        )

    def with_stop(self, weight: int) -> Grid:
        """Return the grid with one more candidate: not to split.

        It asks for the only category of a feature that is the same in all rows, and
        so has all rows on one side. Base measures of other features sum to 1 each, and
        that of this candidate is `weight`.
        """
        return Grid(
            cuts=self.cuts,
            cuts_start=np.append(self.cuts_start, self.cuts_start[-1]),
            n_codes=np.append(self.n_codes, np.int32(1)),
            slot=np.append(self.slot, self.slot[-1] + np.int32(1)),
            is_categorical=np.append(self.is_categorical, True),
            measure=np.append(self.measure, weight),
            total=np.append(self.total, 1),
        )

    def only(self, features: NDArray[np.intp]) -> Grid:
        """Return the grid of some of the features."""

        def joined(array: NDArray[Any], start: NDArray[Any]) -> NDArray[Any]:
            return np.concatenate(
                [array[:0], *(array[start[j] : start[j + 1]] for j in features)]
            )

        n_cuts = np.diff(self.cuts_start)[features]
        n_codes = self.n_codes[features]
        return Grid(
            cuts=joined(self.cuts, self.cuts_start),
            cuts_start=np.cumsum([0, *n_cuts]),
            n_codes=n_codes,
            slot=np.cumsum([0, *n_codes], dtype=np.int32),
            is_categorical=self.is_categorical[features],
            measure=joined(self.measure, self.slot),
            total=self.total[features],
        )

    @cached_property
    def n_candidates(self) -> int:
        """How many splits there are."""
        return int(np.count_nonzero(self.measure))

    def feature_of(self, candidate: int) -> tuple[int, int]:
        """Return the feature and the code of a candidate."""
        feature = int(np.searchsorted(self.slot, candidate, side="right")) - 1
        return feature, candidate - int(self.slot[feature])
