# SPDX-License-Identifier: BSD-3-Clause
"""What every worker knows of the forest that grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.data.binning import Binning
from mrforest.forests.sampling import Bootstrap, Partition, Sampler


@dataclass(frozen=True)
class Problem:
    """The question, and how trees answer it.

    Attributes
    ----------
    n_points : int
        Rows of the whole table.
    binning : Binning
    n_classes : int
    class_weight : ndarray of shape (n_classes,), or None
    criterion : {"gini", "entropy"}
    sampler : Sampler
    rule : SplitRule
    limits : Limits
    """

    n_points: int
    binning: Binning
    n_classes: int
    class_weight: NDArray[np.float64] | None
    criterion: str
    sampler: Sampler
    rule: _core.SplitRule
    limits: _core.Limits

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.binning.n_bins)

    @property
    def row_bytes(self) -> int:
        """Bytes of a row: codes, class, and its place."""
        return self.n_features * int(np.dtype(self.binning.code_dtype).itemsize) + 8

    @property
    def is_honest(self) -> bool:
        """Whether other points fill the leaves than shape the tree."""
        return isinstance(self.sampler, Partition)

    @property
    def needs_points(self) -> bool:
        """Whether a split depends on the bins of estimation points, too."""
        return bool(self.limits.has_floor and self.is_honest)

    @property
    def n_cells(self) -> int:
        """Counters of a node."""
        return int((self.binning.n_bins + 1).sum()) * self.n_classes

    def own_points(
        self, numbers: NDArray[np.int32], tree: Tree
    ) -> tuple[NDArray[np.int32], NDArray[np.int32] | None]:
        """Return structure and estimation points of a tree among the rows of a shard.

        Parameters
        ----------
        numbers : ndarray of int32
            Of the rows, among those of the whole table.
        tree : Tree
        """
        if isinstance(self.sampler, Partition):
            side = _core.is_structure(tree.key, numbers, *tree.boundary)
            return (
                np.flatnonzero(side).astype(np.int32),
                np.flatnonzero(~side).astype(np.int32),
            )
        rows = np.arange(len(numbers), dtype=np.int32)
        if isinstance(self.sampler, Bootstrap):
            copies = _core.copies_in_bag(tree.key, self.n_points, numbers)
            rows = np.repeat(rows, copies)
        return rows, None

    def table(self, codes: NDArray[Any], y: NDArray[np.int32]) -> _core.TrainingTable:
        """Return rows as the engine reads them."""
        return _core.TrainingTable(
            _core.Target(
                y, self.n_classes, None, self.class_weight, None, self.criterion
            ),
            self.binning.is_categorical,
            codes=codes,
            n_bins=self.binning.n_bins,
            cuts=self.binning.cuts,
            cuts_start=self.binning.cuts_start,
            equal_values=self.binning.equal_values,
            equal_start=self.binning.equal_start,
        )

    def blank_table(self) -> _core.TrainingTable:
        """Return a table for those who need one, but no rows of it."""
        blank = np.zeros((1, self.n_features), dtype=self.binning.code_dtype)
        return self.table(blank, np.zeros(1, dtype=np.int32))

    def chooser(self) -> _core.Chooser:
        """Return what splits nodes."""
        return _core.Chooser(
            self.blank_table(), self.limits, self.rule, is_honest=self.is_honest
        )


@dataclass(frozen=True)
class Tree:
    """A tree that grows on all workers.

    Attributes
    ----------
    key : ndarray of shape (2,), dtype=uint64
        Of its random streams.
    boundary : tuple of int
        Which points are structure points, see `_core.structure_boundary`.
    root : int
        Number of its root, among the nodes of all trees that grow.
    """

    key: NDArray[np.uint64]
    boundary: tuple[int, int]
    root: int
