# SPDX-License-Identifier: BSD-3-Clause
"""A fitted forest as a few flat arrays, and how rows go through them.

`ClassForest` and `ValueForest` have classes, or numbers, in the leaves.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field, fields
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

Made = TypeVar("Made")

# Rows that go through all trees together: enough of them to make use of a tree once it
# is in the cache, few enough to leave it there.
BLOCK_ROWS = 4096
# The same of rows in codes, in bytes, and the fewest and most rows
BLOCK_CODES, LEAST_BLOCK_ROWS, MOST_BLOCK_ROWS = 2**21, 2**8, 2**14
# To lay a node out for codes takes half as long as they save a row in a tree.
NODE_WORK = 0.5
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

    def leaf_nodes(self) -> NDArray[np.intp]:
        """Node of each leaf, counted in the whole forest."""
        child = self.nodes["child"].astype(np.int64)
        nodes = np.flatnonzero(child < 0)
        first = np.repeat(self.leaf_offset[:-1], np.diff(self.tree_start))
        found = np.empty(len(nodes), dtype=np.intp)
        found[first[nodes] - 1 - child[nodes]] = nodes
        return found

    def add_up(self, of_leaves: NDArray[Any]) -> NDArray[Any]:
        """Return for each node the sum of what the leaves below it have.

        Parameters
        ----------
        of_leaves : ndarray of shape (n_leaves, n_columns)

        Returns
        -------
        ndarray of shape (n_nodes, n_columns)
        """
        sums = np.zeros((len(self.nodes), of_leaves.shape[1]), dtype=of_leaves.dtype)
        sums[self.leaf_nodes()] = of_leaves
        start = np.repeat(self.tree_start[:-1], np.diff(self.tree_start))
        left = start + self.nodes["child"]
        depth = self.depths()
        inner = np.flatnonzero(self.nodes["child"] >= 0)
        inner = inner[np.argsort(-depth[inner], kind="stable")]
        n_of_depth = np.bincount(depth[inner])[::-1]
        for level in np.split(inner, np.cumsum(n_of_depth)[:-1]):
            sums[level] = sums[left[level]] + sums[left[level] + 1]
        return sums

    # ---- rows through the trees -----------------------------------------------------

    def _coded(self, n_jobs: int | None) -> _core.CodedNodes | None:
        """Return the nodes in codes, if that can be."""
        return self._once("_coded_nodes", self._make_codes, n_jobs)

    def _make_codes(self, n_jobs: int | None) -> _core.CodedNodes | None:
        return coded_nodes(
            self.nodes,
            self.tree_start,
            self.lists,
            n_threads=effective_n_jobs(n_jobs),
        )

    @property
    def lists(self) -> Lists | None:
        """Lists that have all thresholds, if they are known."""
        lists: Lists | None = vars(self).get("_lists")
        return lists

    def _is_worth_it(self, n_rows: int) -> bool:
        """Note that rows come; return whether what is made for many pays by now."""
        if not _core.plan.is_taken("coded_rows"):
            return False
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
            if "cuts" in packed:
                state["_lists"] = packed["cuts"], packed["cuts_start"]
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

        coded = self._coded(n_jobs) if self._is_worth_it(len(X)) else None
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
