# SPDX-License-Identifier: BSD-3-Clause
"""A fitted forest as a few flat arrays, and how rows go through them.

- `FlatForest`: nodes and leaves, whatever is in the leaves
    - `ClassForest`: class masses and a label in each leaf
    - `ValueForest`: a number in each leaf
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse

from mrforest import _core
from mrforest._threads import in_threads
from mrforest.forests._coded import coded_nodes
from mrforest.forests._gather import Gathered, sizes_of
from mrforest.forests._nodes import EQUALITY
from mrforest.forests._packed import Lists, pack, unpack, with_lists
from mrforest.forests._votes import VoteTrees

Made = TypeVar("Made")

# Rows that go through all trees together: enough of them to make use of a tree once it
# is in the cache, few enough to leave it there.
BLOCK_ROWS = 4096
# The same of rows in codes, in bytes, and the fewest and most rows
BLOCK_CODES, LEAST_BLOCK_ROWS, MOST_BLOCK_ROWS = 2**19, 2**8, 2**14
# To lay a node out for codes takes as long as a few rows need for a tree.
NODE_WORK = 2
# Below this many rows x trees a second thread costs more than it saves.
SERIAL_WORK = 200_000


@dataclass(frozen=True)
class FlatForest:
    """All trees of a forest, one after the other; no training rows.

    A forest that was just grown, or read from a file, is packed. When somebody asks for
    one of its arrays, all of them are unpacked, and the packed ones dropped.

    Attributes
    ----------
    nodes : ndarray of NODE_DTYPE
        Breadth first in each tree. ``child`` is the left child, counted from the first
        node of the tree, the right one follows it; in a leaf it is -1 - number of the
        leaf. ``feature`` carries two flags in its high bits.
    tree_start : ndarray of shape (n_trees + 1,), dtype=int64
        First node of each tree, and the end.
    leaf_offset : ndarray of shape (n_trees + 1,), dtype=int64
        First leaf of each tree, and the end.
    leaf_points : ndarray of shape (n_leaves,), dtype=uint32
        Estimation points.
    has_equality : bool
        Whether any node is an equality cut; rows walk faster if none is.
    """

    nodes: NDArray[np.void]
    tree_start: NDArray[np.int64]
    leaf_offset: NDArray[np.int64]
    leaf_points: NDArray[np.uint32]
    has_equality: bool = field(init=False)

    def __post_init__(self) -> None:
        flags = np.bitwise_or.reduce(self.nodes["feature"])
        object.__setattr__(self, "has_equality", bool(flags & EQUALITY))

    @classmethod
    def from_tree(cls, tree: dict[str, NDArray[Any]]) -> Self:
        """One tree, as the engine gives it, as a forest."""
        return cls(**tree, **sizes_of(tree))

    @classmethod
    def from_trees(cls, arrays: dict[str, NDArray[Any]], lists: Lists | None) -> Self:
        """Return a forest of trees laid end to end, packed with these lists if any."""
        if lists is None:
            return cls(**arrays)
        forest = cls.__new__(cls)
        forest.__setstate__(with_lists(arrays, lists))
        return forest

    @classmethod
    def names(cls) -> list[str]:
        """Names of the arrays."""
        return [part.name for part in fields(cls) if part.init]

    @classmethod
    def join(cls, forests: Sequence[Self]) -> Self:
        """Trees of the first, then of the second, and so on."""
        return cls(**cls._joined(forests))

    @classmethod
    def _joined(
        cls, forests: Sequence[Self], without: Container[str] = ()
    ) -> dict[str, NDArray[Any]]:
        names = [name for name in cls.names() if name not in without]
        joined = Gathered(len(forests))
        for forest in forests:
            joined.add({name: getattr(forest, name) for name in names})
        return joined.arrays()

    def __len__(self) -> int:
        return len(self.tree_start) - 1

    def __getitem__(self, tree: int) -> Self:
        """One tree as a forest of its own; its arrays are views."""
        return type(self)(**self._arrays_of(tree))

    def _arrays_of(self, tree: int) -> dict[str, NDArray[Any]]:
        nodes = slice(*self.tree_start[tree : tree + 2])
        leaves = slice(*self.leaf_offset[tree : tree + 2])
        return {
            "nodes": self.nodes[nodes],
            "tree_start": np.array([0, nodes.stop - nodes.start]),
            "leaf_offset": np.array([0, leaves.stop - leaves.start]),
            "leaf_points": self.leaf_points[leaves],
        }

    # ---- shape of the trees ---------------------------------------------------------

    def parents(self) -> NDArray[np.int32]:
        """Parent of each node, counted in its tree; -1 for a root."""
        children = self.nodes["child"]
        inner = np.flatnonzero(children >= 0)
        start = np.repeat(self.tree_start[:-1], np.diff(self.tree_start))
        parent = np.full(len(children), -1, dtype=np.int32)
        for side in (0, 1):
            at = start[inner] + children[inner] + side
            parent[at] = inner - start[inner]
        return parent

    def depths(self) -> NDArray[np.int32]:
        """Depth of each node; roots have 0."""
        start = np.repeat(self.tree_start[:-1], np.diff(self.tree_start))
        children = self.nodes["child"]
        depth = np.zeros(len(children), dtype=np.int32)
        level = self.tree_start[:-1]
        while len(level):
            inner = level[children[level] >= 0]
            left = start[inner] + children[inner]
            depth[left] = depth[left + 1] = depth[inner] + 1
            level = np.concatenate([left, left + 1])
        return depth

    # ---- rows through the trees -----------------------------------------------------

    @cached_property
    def _coded(self) -> _core.CodedNodes | None:
        """The nodes in codes, if that can be."""
        return coded_nodes(self.nodes, self.tree_start)

    def _is_worth_it(self, n_rows: int) -> bool:
        """Note that rows come; return whether what is made for many pays by now."""
        state = vars(self)
        state["_walked"] = state.get("_walked", 0) + n_rows * len(self)
        return bool(state["_walked"] >= NODE_WORK * len(self.nodes))

    def _once(self, name: str, make: Callable[..., Made], *arguments: Any) -> Made:
        """Return what was made for many rows, and make it if it was not."""
        state = vars(self)
        if name not in state:
            state[name] = make(*arguments)
        made: Made = state[name]
        return made

    # ---- packed ---------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        # What rows have come, and what was made for them, is not part of the forest.
        packed: dict[str, Any] | None = vars(self).get("_packed")
        if packed is not None:
            return packed
        return pack({name: getattr(self, name) for name in self.names()})

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(
            _packed=state,
            tree_start=state["tree_start"],
            leaf_offset=state["leaf_offset"],
        )

    def __getattr__(self, name: str) -> Any:
        """Unpack the arrays, which are not there yet; others are not there at all."""
        state = vars(self)
        packed = state.get("_packed")
        if packed is not None and (name in self.names() or name == "has_equality"):
            state.update(unpack(packed))
            self.__post_init__()
            # Last, for other threads may ask at the same time; what they find is equal.
            state.pop("_packed", None)
        if name in state:
            return state[name]
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}"
        )

    # ---- blocks of rows -------------------------------------------------------------

    def in_blocks(
        self,
        add: Callable[[_core.Rows, slice], None],
        X: NDArray[np.float64],
        n_jobs: int | None,
        coded: _core.CodedNodes | None,
    ) -> None:
        """Call `add` with blocks of rows that are ready to go through the trees."""

        def block(rows: slice) -> None:
            ready = _core.Rows(
                X[rows], self.nodes, self.tree_start, self.has_equality, coded
            )
            add(ready, rows)

        in_blocks(block, len(X), len(self), n_jobs, rows_of_block(coded))

    def find_nodes(
        self, X: NDArray[np.float64], n_jobs: int | None
    ) -> NDArray[np.int32]:
        """Find the leaf node of each row in each tree."""
        out = np.empty((len(X), len(self)), dtype=np.int32)

        def add(ready: _core.Rows, rows: slice) -> None:
            _core.find_nodes(ready, out[rows])

        coded = self._coded if self._is_worth_it(len(X)) else None
        self.in_blocks(add, X, n_jobs, coded)
        return out

    def paths(self, X: NDArray[np.float64], n_jobs: int | None) -> sparse.csr_matrix:
        """Mark the nodes of all trees that each row passes."""
        leaves = self.find_nodes(X, n_jobs)
        parent = self.parents()
        tree = np.broadcast_to(self.tree_start[:-1], leaves.shape).ravel()
        row = np.repeat(np.arange(len(leaves)), leaves.shape[1])
        node = leaves.ravel().astype(np.int64)
        rows, columns = [], []
        while len(node):
            rows.append(row)
            columns.append(tree + node)
            above = parent[tree + node].astype(np.int64)
            inner = above >= 0
            tree, row, node = tree[inner], row[inner], above[inner]
        at = (np.concatenate(rows), np.concatenate(columns))
        ones = np.ones(len(at[0]), dtype=np.int64)
        return sparse.csr_matrix((ones, at), shape=(len(leaves), len(self.nodes)))


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
        trees = self._once("_vote_trees", VoteTrees, self, n_classes, X.shape[1])

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
        starts = self.tree_start, self.leaf_offset
        leaf_shares = self._once(
            "_leaf_shares",
            _core.LeafShares,
            self.nodes,
            *starts,
            *self._masses(),
            n_classes,
        )
        self.in_blocks(add_made, X, n_jobs, self._coded)
        return out

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

        coded = self._coded if self._is_worth_it(len(X)) else None
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


def rows_of_block(coded: _core.CodedNodes | None) -> int:
    """Return how many rows had better go through all trees together."""
    if coded is None:
        return BLOCK_ROWS
    n_rows = BLOCK_CODES // coded.stride
    return min(max(n_rows, LEAST_BLOCK_ROWS), MOST_BLOCK_ROWS)


def in_blocks(
    block: Callable[[slice], None],
    n_rows: int,
    n_trees: int,
    n_jobs: int | None,
    block_rows: int = BLOCK_ROWS,
) -> None:
    """Call block on slices of rows, in threads if it pays."""
    is_small = n_rows * n_trees < SERIAL_WORK
    n_threads = 1 if is_small else min(effective_n_jobs(n_jobs), n_rows)
    # As many blocks for each thread, all of nearly the same size.
    n_blocks = n_threads * math.ceil(n_rows / (n_threads * block_rows))
    edges = np.linspace(0, n_rows, n_blocks + 1).astype(int).tolist()
    slices = [slice(*edge) for edge in itertools.pairwise(edges)]
    # Blocks write to disjoint rows of one array, so they must share memory.
    for _ in in_threads(block, slices, n_threads):
        pass
