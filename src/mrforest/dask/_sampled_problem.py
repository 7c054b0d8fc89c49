# SPDX-License-Identifier: BSD-3-Clause
"""What every worker knows of trees that some rows shape and all rows fill."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.dask._problem import Problem
from mrforest.forests.held_out import MAX_SCORED, MIN_MINORITY


@dataclass(frozen=True)
class SampledTree:
    """A tree that grows on all workers.

    Attributes
    ----------
    number : int
    key : ndarray of shape (2,), dtype=uint64
        Of its random streams.
    root : int
        Number of its root, among the nodes of all trees that grow.
    half : int
        Whether its group is an even or an odd one.
    group_key, low, high
        Which points are held out, see `HeldOutGroups.edges`.
    """

    number: int
    key: NDArray[np.uint64]
    root: int
    half: int
    group_key: NDArray[np.uint64]
    low: float
    high: float

    def is_held(self, numbers: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which of these points are held out of the tree."""
        return _core.is_held_out(self.group_key, numbers, self.low, self.high)


@dataclass(frozen=True)
class SampledProblem(Problem):
    """The question, and how trees of one setting answer it.

    Attributes
    ----------
    seed : int
        Of the forest.
    equality : bool
        Whether numeric features that offer it are cut by equality, too.
    n_asked : int
        Only nodes that hold out one of the first so many points are split; -1: all are.
    """

    seed: int
    equality: bool
    n_asked: int

    @property
    def n_cells(self) -> int:
        """Room that the sample of a node takes, in numbers of four bytes."""
        return MAX_SCORED * (self.row_bytes // 4 + 1)

    @property
    def n_bins_and_classes(self) -> int:
        """Counters of a sample that is counted."""
        return super().n_cells

    # Trees of other forests have boundaries, these have edges.
    def own_points(  # type: ignore[override]
        self, numbers: NDArray[np.int32], tree: SampledTree
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the rows of a shard that shape a tree, and those that it holds out."""
        is_held = tree.is_held(numbers)
        return (
            np.flatnonzero(~is_held).astype(np.int32),
            np.flatnonzero(is_held).astype(np.int32),
        )

    def sample_chooser(self, table: _core.TrainingTable) -> _core.SampleChooser:
        """Return what splits nodes by samples of their points."""
        return _core.SampleChooser(
            table, self.limits, rule=self.rule, **self._how_scored()
        )

    def grow_below(
        self, table: _core.TrainingTable, points: NDArray[np.int32], **arguments: Any
    ) -> dict[str, NDArray[Any]]:
        """Return the subtree of a node that has these points."""
        return _core.grow_sampled_tree(
            table,
            points,
            limits=self.limits,
            rule=self.rule,
            **self._how_scored(),
            **arguments,
        )

    def _how_scored(self) -> dict[str, Any]:
        return {
            "offers_equality": self.equality,
            "max_scored": MAX_SCORED,
            "min_minority": MIN_MINORITY,
        }
