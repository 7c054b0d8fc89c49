# SPDX-License-Identifier: BSD-3-Clause
"""Flat forests with classes, or numbers, in their leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from mrforest import _core
from mrforest._threads import in_parts
from mrforest.model.arrays import FlatForest
from mrforest.model.engines import (
    SET_ROWS,
    Engine,
    Sizes,
    coded_nodes,
    in_blocks,
    rows_of_block,
    suits,
)
from mrforest.model.nodes import EQUALITY


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

        in_blocks(block, len(X), len(self), n_jobs, trees.block_rows)
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


class VoteTrees:
    """Trees of a forest of classes, as far as they say which class has a vote.

    Only the label of a leaf counts, so a part of a tree whose leaves all have the same
    one is a leaf here: many splits of an honest tree part points that vote alike.

    Parameters
    ----------
    forest : ClassForest
    n_classes, n_features : int
    n_threads : int, default=1

    Attributes
    ----------
    nodes : ndarray of NODE_DTYPE
        The same nodes in the same places; some splits are leaves.
    labels : ndarray of uint16
        Label of each node that is a leaf.
    coded : CodedNodes or None
    bit_votes : BitVotes or None
        What counts the votes of whole sets of rows.
    block_rows : int
        How many rows had better come together.
    """

    def __init__(
        self,
        forest: ClassForest,
        n_classes: int,
        n_features: int,
        n_threads: int = 1,
    ) -> None:
        tree_start = forest.tree_start
        labels = _core.common_labels(
            forest.nodes, tree_start, forest.leaf_offset, forest.leaf_label
        )
        is_leaf = labels >= 0
        self.nodes = forest.nodes.copy()
        self.nodes["child"][is_leaf] = -1
        self.tree_start = tree_start
        self.labels = labels.astype(np.uint16)
        is_equality = self.nodes["feature"] & EQUALITY != 0
        self.has_equality = bool((is_equality & ~is_leaf).any())
        self.coded = coded_nodes(
            self.nodes, tree_start, forest.lists, n_threads=n_threads, wide=True
        )
        self.bit_votes = None
        if self.coded is not None:
            sizes = Sizes(
                n_columns=self.coded.n_columns,
                n_column_cuts=0,  # as the nodes are in codes
                n_cuts=self.coded.n_values,
                n_splits=np.count_nonzero(~is_leaf) / len(forest),
                n_classes=n_classes,
            )
            if suits(Engine.BIT_VOTES, sizes):
                self.bit_votes = _core.BitVotes(
                    self.coded, tree_start, labels, n_classes, n_features
                )
        self.block_rows = rows_of_block(
            self.coded, bit_votes=self.bit_votes is not None
        )

    def count_votes(self, X: NDArray[np.float64], votes: NDArray[np.int32]) -> None:
        """Count the votes of a block of rows, rows x classes; they are 0 before."""
        done = 0
        while self.bit_votes is not None and len(X) - done > SET_ROWS // 2:
            done += self.bit_votes.count_votes(X[done:], votes[done:])
            # Rows with missing values walk: each node has its own way for them.
            some = slice(done, done + SET_ROWS)
            self._walk(X[some], votes[some], None)
            done = min(some.stop, len(X))
        self._walk(X[done:], votes[done:], self.coded)

    def _walk(
        self,
        X: NDArray[np.float64],
        votes: NDArray[np.int32],
        coded: _core.CodedNodes | None,
    ) -> None:
        if len(X):
            rows = _core.Rows(X, self.nodes, self.tree_start, self.has_equality, coded)
            _core.add_labels(rows, self.labels, votes)


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
