# SPDX-License-Identifier: BSD-3-Clause
"""Flat forests whose leaves hold numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.forests._flat import FlatForest


@dataclass(frozen=True)
class ValueForest(FlatForest):
    """A forest whose leaves hold numbers.

    Attributes
    ----------
    leaf_value : ndarray of shape (n_leaves,), dtype=float64
        Mean target of the estimation points.
    leaf_deviation : ndarray of shape (n_leaves,), dtype=float64
        Standard deviation of their targets.
    leaf_mass : ndarray of shape (n_leaves,), dtype=float64
        Their weight.
    """

    leaf_value: NDArray[np.float64]
    leaf_deviation: NDArray[np.float64]
    leaf_mass: NDArray[np.float64]

    def _arrays_of(self, tree: int) -> dict[str, NDArray[Any]]:
        leaves = slice(*self.leaf_offset[tree : tree + 2])
        return {
            **super()._arrays_of(tree),
            "leaf_value": self.leaf_value[leaves],
            "leaf_deviation": self.leaf_deviation[leaves],
            "leaf_mass": self.leaf_mass[leaves],
        }

    def leaf_weights(self) -> NDArray[np.float64]:
        """Return the weight of the points of each leaf; 1 if nobody tells."""
        return np.where(self.leaf_mass > 0, self.leaf_mass, 1.0)

    def values(self, X: NDArray[np.float64], n_jobs: int | None) -> NDArray[np.float64]:
        """Values of the leaves, summed over trees in their order."""
        out = np.zeros(len(X))

        def add(ready: _core.Rows, rows: slice) -> None:
            _core.add_values(
                ready,
                self.leaf_offset,
                self.leaf_value,
                out[rows],
            )

        coded = self._coded(n_jobs) if self._is_worth_it(len(X)) else None
        self.in_blocks(add, X, n_jobs, coded)
        return out

    def estimation_decrease(self, n_features: int) -> NDArray[Any]:
        """Decrease of the variance of the estimation points, by feature, scaled."""
        centre = np.median(self.leaf_value)
        # Squares of targets may be out of range; of their ratio to the largest not.
        size = max(np.abs(self.leaf_value - centre).max(), self.leaf_deviation.max())
        size = size if size > 0 else 1.0
        return _core.value_decrease(
            self.nodes,
            self.tree_start,
            self.leaf_offset,
            self.leaf_points,
            self.leaf_mass,
            (self.leaf_value - centre) / size,
            (self.leaf_deviation / size) ** 2,
            n_features,
        )
