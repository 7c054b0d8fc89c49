# SPDX-License-Identifier: BSD-3-Clause
"""What splits leave of the grid: boxes, whose candidates are as fine as they are small.

A box is as public as the splits that made it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from mrforest.privacy.grid import Grid

# First and last code of each feature that has been split
Box = Mapping[int, tuple[int, int]]
EVERYWHERE: Box = {}


class Piece:
    """Candidates of one feature between two of its codes.

    Parameters
    ----------
    measure : ndarray of shape (n_codes,), dtype=int64
        Their base measures.
    """

    def __init__(self, measure: NDArray[np.int64]) -> None:
        self.measure = measure
        self.sums = list(accumulate(measure.tolist()))
        self.shares = measure / max(self.sums[-1], 1)


class Boxes:
    """Boxes of a grid, and their candidates, those of each feature found once.

    Parameters
    ----------
    grid : Grid

    Attributes
    ----------
    slots : list of slice
        The codes of each feature.
    """

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.slots = [slice(*pair) for pair in pairwise(grid.slot.tolist())]
        self._last = (grid.n_codes - 1).tolist()
        self._known = {
            (feature, 0, last): Piece(grid.measure[slot])
            for feature, (slot, last) in enumerate(
                zip(self.slots, self._last, strict=True)
            )
        }
        self._shares = grid.measure / np.repeat(grid.total, grid.n_codes)
        # 1 each, or the weight of not to split, or 0
        totals = grid.total.tolist()
        pieces = zip(self._known.values(), totals, strict=True)
        self._features = [piece.sums[-1] // total for piece, total in pieces]
        self._feature_sums = list(accumulate(self._features))

    def parts(self, box: Box, feature: int, code: int) -> tuple[Box, Box]:
        """Return what a split leaves of a box on its two sides.

        A cut beyond the box leaves one of them nothing: a last code before the first.
        """
        last = self._last[feature]
        if last == 0:  # not to split
            return box, box
        if self.grid.is_categorical[feature]:
            return {**box, feature: (code, code)}, box
        low, high = box.get(feature, (0, last))
        return (
            {**box, feature: (low, min(code, high))},
            {**box, feature: (max(code + 1, low), high)},
        )

    def inside(self, box: Box) -> Grid:
        """Return the grid with the candidates of a box."""
        return self.grid.with_measures(
            {feature: self.piece(box, feature).measure for feature in box}
        )

    def shares(self, box: Box) -> NDArray[np.float64]:
        """Return the base measures in a box, divided by their features' totals."""
        if not box:
            return self._shares
        shares = self._shares.copy()
        for feature in box:
            shares[self.slots[feature]] = self.piece(box, feature).shares
        return shares

    def piece(self, box: Box, feature: int) -> Piece:
        """Return the candidates of one feature in a box."""
        low, high = box.get(feature) or (0, self._last[feature])
        key = (feature, low, high)
        if key not in self._known:
            self._known[key] = Piece(self.grid.measures(feature, low, high))
        return self._known[key]

    def feature_sums(self, box: Box) -> list[int]:
        """Return the base measures of all features in a box, added up to each."""
        closed = [feature for feature, (low, high) in box.items() if low >= high]
        if not closed:
            return self._feature_sums
        measures = self._features.copy()
        for feature in closed:
            measures[feature] = 0
        return list(accumulate(measures))
