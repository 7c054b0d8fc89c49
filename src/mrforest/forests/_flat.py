# SPDX-License-Identifier: BSD-3-Clause
"""A fitted forest as a few flat arrays, and how rows go through them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.parallel import Parallel, delayed

from mrforest import _core

FEATURE_MASK = np.uint32(0x3FFFFFFF)
MISSING_LEFT = np.uint32(0x40000000)
EQUALITY = np.uint32(0x80000000)

# Rows that go through all trees together: enough of them to make use of a tree once it
# is in the cache, few enough to leave it there.
BLOCK_ROWS = 4096
# Below this many rows x trees a second thread costs more than it saves.
SERIAL_WORK = 200_000


@dataclass(frozen=True)
class FlatForest:
    """All trees of a forest, one after the other; no training rows.

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
    leaf_label : ndarray of shape (n_leaves,), dtype=uint16
        Class code drawn once, at fit.
    leaf_points : ndarray of shape (n_leaves,), dtype=uint32
        Estimation points.
    mass_start : ndarray of shape (n_leaves + 1,), dtype=int64
        First mass of each leaf, and the end.
    mass_class : ndarray of uint16
        Class of each mass, ascending in a leaf; only classes that occur.
    mass : ndarray of float32
        Weight of the estimation points of that class.
    has_equality : bool
        Whether any node is an equality cut; rows walk faster if none is.
    """

    nodes: NDArray[np.void]
    tree_start: NDArray[np.int64]
    leaf_offset: NDArray[np.int64]
    leaf_label: NDArray[np.uint16]
    leaf_points: NDArray[np.uint32]
    mass_start: NDArray[np.int64]
    mass_class: NDArray[np.uint16]
    mass: NDArray[np.float32]
    has_equality: bool = field(init=False)

    def __post_init__(self) -> None:
        found = bool((self.nodes["feature"] & EQUALITY).any())
        object.__setattr__(self, "has_equality", found)

    @classmethod
    def from_trees(cls, trees: Sequence[dict[str, NDArray[Any]]]) -> FlatForest:
        """Join trees as `grow_tree` returns them."""
        mass_offset = ends([len(tree["mass"]) for tree in trees])
        return cls(
            nodes=np.concatenate([tree["nodes"] for tree in trees]),
            tree_start=ends([len(tree["nodes"]) for tree in trees]),
            leaf_offset=ends([len(tree["leaf_label"]) for tree in trees]),
            leaf_label=np.concatenate([tree["leaf_label"] for tree in trees]),
            leaf_points=np.concatenate([tree["leaf_points"] for tree in trees]),
            mass_start=np.concatenate(
                [
                    tree["leaf_start"][:-1] + start
                    for tree, start in zip(trees, mass_offset, strict=False)
                ]
                + [mass_offset[-1:]]
            ),
            mass_class=np.concatenate([tree["mass_class"] for tree in trees]),
            mass=np.concatenate([tree["mass"] for tree in trees]),
        )

    @classmethod
    def join(cls, first: FlatForest, second: FlatForest) -> FlatForest:
        """Trees of the first, then of the second."""
        starts = {"tree_start", "leaf_offset", "mass_start"}
        arrays: dict[str, Any] = {}
        for name in [part.name for part in fields(cls) if part.init]:
            parts = [getattr(first, name), getattr(second, name)]
            if name in starts:
                parts = [parts[0], parts[1][1:] + parts[0][-1]]
            arrays[name] = np.concatenate(parts)
        return cls(**arrays)

    def __len__(self) -> int:
        return len(self.tree_start) - 1

    def __getitem__(self, tree: int) -> FlatForest:
        """One tree as a forest of its own; its arrays are views."""
        nodes = slice(*self.tree_start[tree : tree + 2])
        leaves = slice(*self.leaf_offset[tree : tree + 2])
        mass_start = self.mass_start[leaves.start : leaves.stop + 1]
        masses = slice(mass_start[0], mass_start[-1])
        return FlatForest(
            nodes=self.nodes[nodes],
            tree_start=np.array([0, nodes.stop - nodes.start]),
            leaf_offset=np.array([0, leaves.stop - leaves.start]),
            leaf_label=self.leaf_label[leaves],
            leaf_points=self.leaf_points[leaves],
            mass_start=mass_start - mass_start[0],
            mass_class=self.mass_class[masses],
            mass=self.mass[masses],
        )

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

    def find_nodes(
        self, X: NDArray[np.float64], n_jobs: int | None
    ) -> NDArray[np.int32]:
        """Find the leaf node of each row in each tree."""
        out = np.empty((len(X), len(self)), dtype=np.int32)

        def block(rows: slice) -> None:
            _core.find_nodes(
                X[rows], self.nodes, self.tree_start, self.has_equality, out[rows]
            )

        in_blocks(block, len(X), len(self), n_jobs)
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

    def votes(
        self, X: NDArray[np.float64], n_classes: int, n_jobs: int | None
    ) -> NDArray[np.int32]:
        """Votes for each class, one a tree."""
        out = np.zeros((len(X), n_classes), dtype=np.int32)

        def block(rows: slice) -> None:
            _core.add_votes(
                X[rows],
                self.nodes,
                self.tree_start,
                self.has_equality,
                self.leaf_offset,
                self.leaf_label,
                out[rows],
            )

        in_blocks(block, len(X), len(self), n_jobs)
        return out

    def shares(
        self, X: NDArray[np.float64], n_classes: int, n_jobs: int | None
    ) -> NDArray[np.float64]:
        """Class shares of the leaves, summed over trees in their order."""
        out = np.zeros((len(X), n_classes))

        def block(rows: slice) -> None:
            _core.add_shares(
                X[rows],
                self.nodes,
                self.tree_start,
                self.has_equality,
                self.leaf_offset,
                self.mass_start,
                self.mass_class,
                self.mass,
                out[rows],
            )

        in_blocks(block, len(X), len(self), n_jobs)
        return out


def ends(lengths: Iterable[int]) -> NDArray[np.int64]:
    """Where parts of these lengths begin when laid end to end, and the end."""
    return np.concatenate([[0], np.cumsum(list(lengths))]).astype(np.int64)


def in_blocks(
    block: Callable[[slice], None], n_rows: int, n_trees: int, n_jobs: int | None
) -> None:
    """Call block on slices of rows, in threads if it pays."""
    is_small = n_rows * n_trees < SERIAL_WORK
    n_threads = 1 if is_small else min(effective_n_jobs(n_jobs), n_rows)
    # As many blocks for each thread, all of nearly the same size.
    n_blocks = n_threads * math.ceil(n_rows / (n_threads * BLOCK_ROWS))
    edges = np.linspace(0, n_rows, n_blocks + 1).astype(int).tolist()
    slices = [slice(*edge) for edge in itertools.pairwise(edges)]
    if n_threads == 1:
        for rows in slices:
            block(rows)
        return

    def every(first: int) -> None:
        for rows in slices[first::n_threads]:
            block(rows)

    # Blocks write to disjoint rows of one array, so they must share memory.
    Parallel(n_jobs=n_threads, require="sharedmem")(
        delayed(every)(first) for first in range(n_threads)
    )
