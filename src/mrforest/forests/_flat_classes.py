# SPDX-License-Identifier: BSD-3-Clause
"""Flat forests whose leaves hold classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from mrforest import _core
from mrforest._threads import in_parts
from mrforest.forests._flat import (
    MOST_BLOCK_ROWS,
    FlatForest,
    in_blocks,
    rows_of_block,
)
from mrforest.forests._votes import VoteTrees


@dataclass(frozen=True)
class ClassForest(FlatForest):
    """A forest whose leaves hold classes.

    Attributes
    ----------
    leaf_label : ndarray of shape (n_leaves,), dtype=uint16
        Class code drawn once, at fit.
    mass_start : ndarray of shape (n_leaves + 1,), dtype=int64
        First mass of each leaf, and the end.
    mass_class : ndarray of uint16
        Class of each mass, ascending in a leaf; only classes that occur.
    mass : ndarray of float32
        Weight of the estimation points of that class.
    """

    leaf_label: NDArray[np.uint16]
    mass_start: NDArray[np.int64]
    mass_class: NDArray[np.uint16]
    mass: NDArray[np.float32]

    def _arrays_of(self, tree: int) -> dict[str, NDArray[Any]]:
        leaves = slice(*self.leaf_offset[tree : tree + 2])
        mass_start = self.mass_start[leaves.start : leaves.stop + 1]
        masses = slice(mass_start[0], mass_start[-1])
        return {
            **super()._arrays_of(tree),
            "leaf_label": self.leaf_label[leaves],
            "mass_start": mass_start - mass_start[0],
            "mass_class": self.mass_class[masses],
            "mass": self.mass[masses],
        }

    def votes(
        self, X: NDArray[np.float64], n_classes: int, n_jobs: int | None
    ) -> NDArray[np.int32]:
        """Votes for each class, one a tree."""
        out = np.zeros((len(X), n_classes), dtype=np.int32)

        def add(ready: _core.Rows, rows: slice) -> None:
            _core.add_votes(
                ready,
                self.leaf_offset,
                self.leaf_label,
                out[rows],
            )

        if not self._is_worth_it(len(X)):
            self.in_blocks(add, X, n_jobs, None)
            return out
        trees = self._once(
            "_vote_trees",
            VoteTrees,
            self,
            n_classes,
            X.shape[1],
            effective_n_jobs(n_jobs),
        )

        def block(rows: slice) -> None:
            trees.count_votes(X[rows], out[rows])

        n_rows = rows_of_block(trees.coded) if trees.sieve is None else MOST_BLOCK_ROWS
        in_blocks(block, len(X), len(self), n_jobs, n_rows)
        return out

    def shares(
        self, X: NDArray[np.float64], n_classes: int, n_jobs: int | None
    ) -> NDArray[np.float64]:
        """Class shares of the leaves, summed over trees in their order."""
        out = np.zeros((len(X), n_classes))

        def add(ready: _core.Rows, rows: slice) -> None:
            _core.add_shares(ready, self.leaf_offset, *self._masses(), out[rows])

        def add_made(ready: _core.Rows, rows: slice) -> None:
            _core.add_leaf_shares(ready, leaf_shares, out[rows])

        if not self._is_worth_it(len(X)):
            self.in_blocks(add, X, n_jobs, None)
            return out
        leaf_shares = self._once(
            "_leaf_shares", self._make_leaf_shares, n_classes, n_jobs
        )
        self.in_blocks(add_made, X, n_jobs, self._coded(n_jobs))
        return out

    def _make_leaf_shares(self, n_classes: int, n_jobs: int | None) -> _core.LeafShares:
        made = _core.LeafShares(
            self.nodes, self.leaf_offset, *self._masses(), n_classes
        )

        def lay_out(trees: slice) -> None:
            made.lay_out(self.tree_start[trees.start : trees.stop + 1], trees.start)

        in_parts(lay_out, len(self), effective_n_jobs(n_jobs))
        return made

    def leaf_shares(self, n_classes: int, voting: str) -> NDArray[np.float64]:
        """Return what each leaf adds to the shares of classes, as a full matrix."""
        n_leaves = len(self.leaf_label)
        shares = np.zeros((n_leaves, n_classes))
        if voting == "hard":
            shares[np.arange(n_leaves), self.leaf_label] = 1.0
            return shares
        leaf = np.repeat(np.arange(n_leaves), np.diff(self.mass_start))
        shares[leaf, self.mass_class] = self.mass
        shares /= shares.sum(axis=1, keepdims=True)
        return shares

    def leaf_weights(self) -> NDArray[np.float64]:
        """Return the weight of the estimation points of each leaf."""
        return np.add.reduceat(self.mass.astype(np.float64), self.mass_start[:-1])

    def _masses(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        return self.mass_start, self.mass_class, self.mass

    def estimation_decrease(self, n_classes: int, n_features: int) -> NDArray[Any]:
        """Decrease of the Gini impurity of the estimation points, by feature."""
        return _core.estimation_decrease(
            self.nodes,
            self.tree_start,
            self.leaf_offset,
            self.leaf_points,
            self.mass_start,
            self.mass_class,
            self.mass,
            n_classes,
            n_features,
        )
