# SPDX-License-Identifier: BSD-3-Clause
"""How a comparison forest compares, when it grows and when it predicts.

- `ByVectors`: Euclidean distances of rows, compiled
- `ByMatrix`: given dissimilarities, compiled
- `ByMetric`: any metric of scikit-learn
- `ByOracle`: a function that answers "is i at least as near to j as to k?"
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances

from mrforest import _core
from mrforest.model.engines import in_blocks
from mrforest.model.leaves import ClassForest


class Comparison(Protocol):
    """A way to tell the nearer of two pivots."""

    allows_missing: ClassVar[bool]

    def comparer(self, rows: NDArray[np.float64]) -> _core.Comparer:
        """Return what compares the training rows."""

    def find_nodes(
        self, forest: PivotForest, X: NDArray[np.float64], out: NDArray[np.int32]
    ) -> None:
        """Write the leaf node of each query in each tree, trees x queries."""


@dataclass(frozen=True)
class ByVectors:
    """Euclidean distance without missing features; categories are 0 or 1 apart."""

    allows_missing: ClassVar[bool] = True
    is_categorical: NDArray[np.bool_]

    def comparer(self, rows: NDArray[np.float64]) -> _core.Comparer:
        """Return the compiled comparer."""
        return _core.VectorComparer(rows, self.is_categorical)

    def find_nodes(
        self, forest: PivotForest, X: NDArray[np.float64], out: NDArray[np.int32]
    ) -> None:
        """Walk the queries down the trees."""
        _core.find_nodes_by_vectors(
            X,
            forest.nodes,
            forest.tree_start,
            forest.pivots,
            forest.pivot_rows,
            self.is_categorical,
            out,
        )


@dataclass(frozen=True)
class ByMatrix:
    """Given dissimilarities: row i, column j is from row i to training row j."""

    allows_missing: ClassVar[bool] = False

    columns: NDArray[np.int32]  # of the training rows that count

    def comparer(self, rows: NDArray[np.float64]) -> _core.Comparer:
        """Return the compiled comparer."""
        return _core.MatrixComparer(rows, self.columns)

    def find_nodes(
        self, forest: PivotForest, X: NDArray[np.float64], out: NDArray[np.int32]
    ) -> None:
        """Walk the queries down the trees."""
        columns = forest.pivot_rows[:, 0].astype(np.int32)
        pivots = columns[forest.pivots] if len(columns) else forest.pivots
        _core.find_nodes_by_matrix(X, forest.nodes, forest.tree_start, pivots, out)


@dataclass(frozen=True)
class Asking(ABC):
    """The part of a comparison that Python code answers."""

    allows_missing: ClassVar[bool] = False

    @abstractmethod
    def nearer(
        self, X: NDArray[np.float64], p: NDArray[np.float64], q: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Which rows of X are at least as near to p as to q."""

    def comparer(self, rows: NDArray[np.float64]) -> _core.Comparer:
        """Return a comparer that asks."""
        return _core.PythonComparer(AboutRows(self, rows))

    def find_nodes(
        self, forest: PivotForest, X: NDArray[np.float64], out: NDArray[np.int32]
    ) -> None:
        """Send all queries of a node on together."""
        for tree in range(len(forest)):
            first = forest.tree_start[tree]
            children = forest.nodes["child"][first : forest.tree_start[tree + 1]]
            waiting = [(0, np.arange(len(X)))]
            while waiting:
                node, queries = waiting.pop()
                child = int(children[node])
                if child < 0 or not len(queries):
                    out[tree, queries] = node
                    continue
                p, q = forest.pivot_rows[forest.pivots[first + node]]
                left = np.asarray(self.nearer(X[queries], p, q), dtype=bool)
                waiting += [(child, queries[left]), (child + 1, queries[~left])]


@dataclass(frozen=True)
class AboutRows:
    """Answers about training rows by their number; pickles for process backends."""

    asking: Asking
    rows: NDArray[np.float64]

    def __call__(self, rows: NDArray[np.int32], p: int, q: int) -> NDArray[np.bool_]:
        """Which of these rows are at least as near to row p as to row q."""
        return self.asking.nearer(self.rows[rows], self.rows[p], self.rows[q])


@dataclass(frozen=True)
class ByMetric(Asking):
    """Any metric that scikit-learn's ``pairwise_distances`` knows, or a function."""

    metric: str | Callable[..., float]
    parameters: dict[str, Any]

    def nearer(
        self, X: NDArray[np.float64], p: NDArray[np.float64], q: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Which rows of X are at least as near to p as to q."""
        pivots = np.stack([p, q])
        distance = pairwise_distances(X, pivots, self.metric, **self.parameters)
        nearer: NDArray[np.bool_] = distance[:, 0] <= distance[:, 1]
        return nearer


@dataclass(frozen=True)
class ByOracle(Asking):
    """A triplet oracle about items, whose numbers are the one column of the table."""

    oracle: Callable[[int, int, int], bool]

    def nearer(
        self, X: NDArray[np.float64], p: NDArray[np.float64], q: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Ask about each item."""
        j, k = int(p[0]), int(q[0])
        return np.array([self.ask(int(i), j, k) for i in X[:, 0]], dtype=bool)

    def ask(self, i: int, j: int, k: int) -> bool:
        """Whether item i is at least as near to j as to k."""
        answer = self.oracle(i, j, k)
        if not isinstance(answer, (bool, np.bool_)):
            raise TypeError(
                f"oracle({i}, {j}, {k}) returned {answer!r}; it must return True or "
                "False"
            )
        return bool(answer)


@dataclass(frozen=True)
class PivotForest(ClassForest):
    """A forest of comparisons. It holds the training rows that are pivots.

    Attributes
    ----------
    pivots : ndarray of shape (n_nodes, 2), dtype=int32
        Rows of ``pivot_rows``; a query goes left if it is at least as near to the
        first. No matter in leaves.
    pivot_rows : ndarray of shape (n_pivots, n_features), dtype=float64
    comparison : Comparison
    """

    pivots: NDArray[np.int32]
    pivot_rows: NDArray[np.float64]
    comparison: Any

    APART: ClassVar[set[str]] = {"pivots", "pivot_rows", "comparison"}

    @classmethod
    def join(cls, forests: Sequence[Self]) -> Self:
        """Trees of the first, then of the second; pivots that they share stand once."""
        arrays = cls._joined(forests, cls.APART)
        tables: dict[int, tuple[int, NDArray[np.float64]]] = {}  # first row, rows
        total, pivots = 0, []
        for forest in forests:
            rows = forest.pivot_rows
            if id(rows) not in tables:
                tables[id(rows)] = (total, rows)
                total += len(rows)
            pivots.append(forest.pivots + tables[id(rows)][0])
        joined = np.concatenate(pivots)
        inner = arrays["nodes"]["child"] >= 0
        used, places = np.unique(joined[inner], return_inverse=True)
        joined = np.zeros_like(joined)
        joined[inner] = places.reshape(-1, 2)
        rows = np.concatenate([rows for _, rows in tables.values()])[used]
        if len(tables) > 1:  # of several fits, perhaps on the same rows
            bits, places = np.unique(rows.view(np.uint64), axis=0, return_inverse=True)
            rows = bits.view(np.float64)
            joined[inner] = places.reshape(-1)[joined[inner]]
        return cls(
            **arrays, pivots=joined, pivot_rows=rows, comparison=forests[-1].comparison
        )

    def _arrays_of(self, tree: int) -> dict[str, Any]:
        nodes = slice(*self.tree_start[tree : tree + 2])
        return {
            **super()._arrays_of(tree),
            "pivots": self.pivots[nodes],
            "pivot_rows": self.pivot_rows,
            "comparison": self.comparison,
        }

    def _find(self, X: NDArray[np.float64]) -> NDArray[np.int32]:
        out = np.empty((len(self), len(X)), dtype=np.int32)
        self.comparison.find_nodes(self, X, out)
        return out

    def find_nodes(
        self, X: NDArray[np.float64], n_jobs: int | None
    ) -> NDArray[np.int32]:
        """Find the leaf node of each row in each tree."""
        out = np.empty((len(X), len(self)), dtype=np.int32)

        def block(rows: slice) -> None:
            out[rows] = self._find(X[rows]).T

        in_blocks(block, len(X), len(self), n_jobs)
        return out

    def votes(
        self, X: NDArray[np.float64], n_classes: int, n_jobs: int | None
    ) -> NDArray[np.int32]:
        """Votes for each class, one a tree."""
        out = np.zeros((len(X), n_classes), dtype=np.int32)

        def block(rows: slice) -> None:
            _core.add_votes_at(
                self._find(X[rows]),
                self.nodes,
                self.tree_start,
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
            _core.add_shares_at(
                self._find(X[rows]),
                self.nodes,
                self.tree_start,
                self.leaf_offset,
                self.mass_start,
                self.mass_class,
                self.mass,
                out[rows],
            )

        in_blocks(block, len(X), len(self), n_jobs)
        return out
