# SPDX-License-Identifier: BSD-3-Clause
"""A fitted forest as a few flat arrays; trees are laid end to end as they are grown.

`ClassForest` and `ValueForest` in leaves.py have classes, or numbers, in the leaves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self, TypeVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse

from mrforest import _core
from mrforest.model.codec import pack, unpack, with_lists
from mrforest.model.engines import coded_nodes, in_blocks, rows_of_block, serves_many
from mrforest.model.nodes import EQUALITY, Lists

Made = TypeVar("Made")

# Arrays that say where something begins, and the end; others are just laid end to end.
STARTS = {"tree_start", "leaf_offset", "mass_start"}

# Trees of a forest are nearly of one size. Memory that is not used is given back, and
# until then it is not even there: nobody has written to it.
SPARE = 1.25


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
        state = vars(self)
        state["_n_visits"] = state.get("_n_visits", 0) + n_rows * len(self)
        return serves_many(state["_n_visits"], len(self.nodes))

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


# ---- trees that come one by one ------------------------------------------------------


class Gathered:
    """Trees laid end to end as they come, so that each stands in memory once.

    Parameters
    ----------
    n_trees : int
        How many there will be; or forests that are joined.

    Examples
    --------
    >>> import numpy as np
    >>> trees = Gathered(n_trees=2)
    >>> trees.add({"mass_start": np.array([0, 1, 3]), "mass": np.array([5, 6, 7])})
    >>> trees.add({"mass_start": np.array([0, 2]), "mass": np.array([8, 9])})
    >>> {name: array.tolist() for name, array in trees.arrays().items()}
    {'mass_start': [0, 1, 3, 5], 'mass': [5, 6, 7, 8, 9]}
    """

    def __init__(self, n_trees: int) -> None:
        self._n_trees = n_trees
        self._n_added = 0
        self._buffers: dict[str, NDArray[Any]] = {}
        self._lengths: dict[str, int] = {}

    def __len__(self) -> int:
        return self._n_added

    def add(self, tree: dict[str, NDArray[Any]]) -> None:
        """Put a tree behind those that are there."""
        self._n_added += 1
        for name, part in tree.items():
            end = self._lengths.get(name, 0)
            if name in STARTS and end > 0:
                part = part[1:] + self._buffers[name][end - 1]
            buffer = self._buffer(name, part, end + len(part))
            plain(buffer)[end : end + len(part)] = plain(part)
            self._lengths[name] = end + len(part)

    def _buffer(self, name: str, part: NDArray[Any], length: int) -> NDArray[Any]:
        """Return an array of at least that length that begins with what is there.

        Its numbers are as long as those of the tree that has the longest.
        """
        buffer = self._buffers.get(name)
        dtype = part.dtype if buffer is None else wider(buffer.dtype, part.dtype)
        if buffer is None or len(buffer) < length or buffer.dtype != dtype:
            expected = math.ceil(SPARE * length / self._n_added * self._n_trees)
            larger = np.empty((max(expected, length), *part.shape[1:]), dtype)
            if buffer is not None:
                used = self._lengths[name]
                plain(larger)[:used] = plain(buffer)[:used]
            self._buffers[name] = buffer = larger
        return buffer

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays; nothing can be added afterwards."""
        for name, buffer in self._buffers.items():
            # Gives the rest back without moving anything; no view of it is left.
            buffer.resize((self._lengths[name], *buffer.shape[1:]), refcheck=False)
        return self._buffers


def sizes_of(tree: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return where a single tree begins and ends."""
    return {
        "tree_start": np.array([0, len(tree["nodes"])]),
        "leaf_offset": np.array([0, len(tree["leaf_points"])]),
    }


def wider(one: np.dtype[Any], other: np.dtype[Any]) -> np.dtype[Any]:
    """Return a type for the numbers of both."""
    return one if one == other else np.promote_types(one, other)


def plain(array: NDArray[Any]) -> NDArray[Any]:
    """View records as bytes: NumPy would copy them field by field, which is slow."""
    if array.dtype.names is None:
        return array
    return array.view(f"V{array.dtype.itemsize}")
