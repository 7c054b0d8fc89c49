# SPDX-License-Identifier: BSD-3-Clause
"""Trees that some rows shape and all rows fill, and rows that are held out.

`HeldTree` is such a tree; `HeldOut` adds up what many of them predict of rows that did
not shape them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.data.training import TrainingSet
from mrforest.forests.sampling import HeldOutGroups, tree_key

# A node of more points is scored on so many of them, more of them in regression ...
MAX_SCORED, MAX_SCORED_NUMBERS = 128, 256
# ... unless fewer than this are not of the largest class, or have another target.
MIN_MINORITY = 16


class Setting(NamedTuple):
    """How the nodes of a tree are split.

    Attributes
    ----------
    n_features : int
        Features that a node looks at.
    feature_budget, split_budget : float
    equality : bool
        Whether numeric features of few values are cut by equality, too.
    criterion : {"gini", "entropy", "variance"}
    """

    n_features: int
    feature_budget: float
    split_budget: float
    equality: bool
    criterion: str


@dataclass
class HeldTree:
    """A tree, and the rows that are held out of it.

    Attributes
    ----------
    tree : dict of arrays
        As `_core.grow_sampled_tree` returns it.
    held : ndarray of int32
        Rows that did not shape it, ascending.
    group : int
    decrease : ndarray of shape (n_features,)
        Decrease of the impurity on the rows that are held out.
    """

    tree: dict[str, NDArray[Any]]
    held: NDArray[np.int32]
    group: int
    decrease: NDArray[np.float64]


def grow_one(
    number: int,
    *,
    seed: int,
    training: TrainingSet,
    sampler: HeldOutGroups,
    setting: Setting,
    rule: _core.SplitRule,
    limits: _core.Limits,
    n_asked: int,
    idle: list[Any],
) -> HeldTree:
    """One tree, from its number."""
    n = training.n_points
    points, n_structure = sampler.points(seed, number, n)
    held = points[n_structure:].copy()
    is_regression = setting.criterion == "variance"
    tree = _core.grow_sampled_tree(
        training.table,
        points,
        n_structure,
        tree_key(seed, number),
        limits,
        rule=rule,
        offers_equality=setting.equality,
        max_scored=MAX_SCORED_NUMBERS if is_regression else MAX_SCORED,
        min_minority=MIN_MINORITY,
        n_asked=n_asked,
        idle=idle,
    )
    decrease = np.zeros(0)
    if n_asked < 0:
        decrease = _core.held_decrease(training.table, tree, held)
    return HeldTree(tree, held, sampler.group_of(number, n), decrease)


@dataclass
class HeldOut:
    """Sums of what trees say of rows that did not shape them.

    Attributes
    ----------
    sizes : ndarray of int64
        Leaf sizes.
    sums : ndarray of shape (2, n_rows, n_sizes, n_columns)
        Even groups of trees, and odd ones.
    counts : ndarray of shape (2, n_rows), dtype=int64
        How many trees these are.
    """

    sizes: NDArray[np.int64]
    sums: NDArray[np.float64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, sizes: NDArray[np.int64], n_rows: int, n_columns: int) -> HeldOut:
        """Return empty sums."""
        return cls(
            sizes,
            np.zeros((2, n_rows, len(sizes), n_columns)),
            np.zeros((2, n_rows), dtype=np.int64),
        )

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.counts.shape[1])

    def first(self, n_rows: int) -> HeldOut:
        """Return a copy with the first rows only."""
        return HeldOut(
            self.sizes, self.sums[:, :n_rows].copy(), self.counts[:, :n_rows].copy()
        )

    def of_size(self, index: int) -> HeldOut:
        """Return a copy with one leaf size only."""
        one = slice(index, index + 1)
        return HeldOut(self.sizes[one], self.sums[:, :, one].copy(), self.counts)

    def shares(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Divide weights by the sum of those of rows that have both halves."""
        total = float(weights[self.has_halves].sum())
        return weights / total if total > 0 else weights

    def squared_losses(
        self, truth: NDArray[np.float64], weights: NDArray[np.float64], n_trees: int
    ) -> NDArray[np.float64]:
        """Mean squared error of n_trees trees, for each leaf size.

        Parameters
        ----------
        truth : ndarray of shape (n_rows, n_columns)
        weights : ndarray of shape (n_rows,)
        n_trees : int
        """
        losses = _core.squared_losses(
            self.sums, self.counts, truth, self.shares(weights), n_trees
        )
        # Extrapolation may end below 0, where no loss is.
        return np.maximum(losses, 0.0)

    def means(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return rows that some tree holds out, and means over trees.

        The means are those of the first leaf size, of shape (n_rows, n_columns).
        """
        counts = self.counts.sum(axis=0)
        rows = np.flatnonzero(counts)
        sums = self.sums[0, rows, 0] + self.sums[1, rows, 0]
        return rows, sums / counts[rows, None]

    @property
    def has_halves(self) -> NDArray[np.bool_]:
        """Whether trees of both halves hold out a row."""
        even, odd = self.counts > 0
        both: NDArray[np.bool_] = even & odd
        return both
