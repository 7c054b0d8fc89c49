# SPDX-License-Identifier: BSD-3-Clause
"""Subtrees of regions of which only counts are known.

One level of splits looks at points by class and bin, two at pairs of bins. So rows that
are in several places need not meet: their counts are added up.

A box has few candidates, and codes without one between them are told apart by none of
its splits. Bins are such runs of codes:

    codes        0  1  2  3  4  5  6  7
    candidates        |        |
    bins         0  0  0  1  1  1  2  2
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrforest._core import RegionSubtrees, count_bins, count_pairs
from mrforest.privacy.grid import Grid
from mrforest.privacy.scoring import Scoring
from mrforest.privacy.subtree import Leaf, Split, SubtreeMechanism, Tree


@dataclass(frozen=True)
class Bins:
    """Codes of a box that its candidates tell apart.

    Attributes
    ----------
    of_code : ndarray of shape (n_features, 256), dtype=uint8
        Bin of each code.
    last_code : list of ndarray of int64
        Of each bin, the code of the candidate after it.
    grid : Grid
        With bins instead of codes; its cuts are left out.
    """

    of_code: NDArray[np.uint8]
    last_code: list[NDArray[np.int64]]
    grid: Grid

    @classmethod
    def of(cls, grid: Grid) -> Bins:
        """Return the bins of a grid, see `Boxes.inside`."""
        of_code = np.zeros((len(grid.n_codes), 256), dtype=np.uint8)
        last_code, measures = [], []
        for f, (first, end) in enumerate(pairwise(grid.slot.tolist())):
            measure = grid.measure[first:end]
            codes = np.arange(end - first)
            if grid.is_categorical[f]:
                last, bins = codes, codes
            else:
                cuts = np.flatnonzero(measure)
                last = np.append(cuts, end - first - 1)
                bins = np.searchsorted(cuts, codes)
            of_code[f, codes] = bins
            last_code.append(last)
            measures.append(measure[last])
        n_bins = np.array([len(last) for last in last_code], dtype=np.int32)
        reduced = Grid(
            cuts=np.empty(0),
            cuts_start=np.zeros(len(n_bins) + 1, dtype=np.int64),
            ends=grid.ends,
            n_cells=grid.n_cells,
            n_codes=n_bins,
            slot=np.cumsum([0, *n_bins], dtype=np.int32),
            is_categorical=grid.is_categorical,
            measure=np.concatenate(measures),
            total=grid.total,
        )
        return cls(of_code, last_code, reduced)

    @property
    def n_pairs(self) -> int:
        """Cells of pairs, of a class."""
        n_bins = int(self.grid.slot[-1])
        return int((self.grid.n_codes * (n_bins - self.grid.slot[:-1])).sum())

    def count(
        self,
        codes: NDArray[np.uint8],
        y: NDArray[np.int32],
        rows: NDArray[np.int32],
        columns: NDArray[np.int32],
        n_classes: int,
        depth: int,
    ) -> NDArray[np.int32]:
        """Count rows for so many levels, one or two.

        Parameters
        ----------
        codes, y, rows
            See `count_bins`.
        columns : ndarray of int32
            Of the codes of each feature, that of "do not split" included: any.
        n_classes, depth : int
        """
        count = count_pairs if depth == 2 else count_bins
        return count(codes, y, rows, columns, self.of_code, self.grid.slot, n_classes)

    def as_codes(self, tree: Tree) -> Tree:
        """Return a tree whose splits are at bins with splits at codes."""
        if isinstance(tree, Leaf):
            return tree
        code = int(self.last_code[tree.feature][tree.code])
        left, right = self.as_codes(tree.left), self.as_codes(tree.right)
        return Split(tree.feature, code, left, right)


@dataclass(frozen=True)
class Counts:
    """Points of a region.

    Attributes
    ----------
    slot : ndarray of shape (n_features + 1,), dtype=int32
        First bin of each feature, and the end.
    classes : ndarray of shape (n_classes,), dtype=int64
        Points of each class.
    bins : ndarray of shape (n_classes, n_bins), dtype=int32, or None
        Of each class and bin; None: no level of splits is left to be drawn.
    pairs : ndarray of int32, or None
        See `count_pairs`; None: at most one level is left.
    """

    slot: NDArray[np.int32]
    classes: NDArray[np.int64]
    bins: NDArray[np.int32] | None = None
    pairs: NDArray[np.int32] | None = None

    @classmethod
    def of(
        cls, cells: NDArray[np.int32], depth: int, slot: NDArray[np.int32], n: int
    ) -> Counts:
        """Return counts that suffice for so many levels, of n classes."""
        if depth == 2:
            squares = (own[:, :, : len(own)] for own in blocks_of(cells, slot, n))
            # Every point is in one bin of a feature: the pair of it and itself.
            bins = [np.einsum("bkb->kb", square) for square in squares]
            return cls.of_bins(slot, np.concatenate(bins, axis=1), cells)
        return cls.of_bins(slot, cells.reshape(n, -1))

    @classmethod
    def of_bins(
        cls,
        slot: NDArray[np.int32],
        bins: NDArray[np.int32],
        pairs: NDArray[np.int32] | None = None,
    ) -> Counts:
        """Return counts with what follows from the bins."""
        classes = bins[:, : slot[1]].sum(axis=1, dtype=np.int64)
        return cls(slot, classes, np.ascontiguousarray(bins), pairs)

    def __len__(self) -> int:
        return int(self.classes.sum())

    def part(self, feature: int, is_left: slice) -> tuple[Counts, Counts]:
        """Return the points whose bins of a feature are these, and the others."""
        assert self.bins is not None
        first, end = self.slot[feature : feature + 2].tolist()
        if self.pairs is None:
            left = self.bins[:, first:end][:, is_left].sum(axis=1, dtype=np.int64)
            return Counts(self.slot, left), Counts(self.slot, self.classes - left)
        blocks = blocks_of(self.pairs, self.slot, len(self.classes))
        parts = [
            block[:, :, first - start : end - start][:, :, is_left].sum(axis=2).T
            for block, start in zip(blocks[:feature], self.slot, strict=False)
        ]
        parts.append(blocks[feature][is_left].sum(axis=0))
        bins = np.concatenate(parts, axis=1).astype(np.int32)
        return (
            Counts.of_bins(self.slot, bins),
            Counts.of_bins(self.slot, self.bins - bins),
        )


def blocks_of(
    pairs: NDArray[np.int32], slot: NDArray[np.int32], n_classes: int
) -> list[NDArray[np.int32]]:
    """Return pairs by their first feature: its bins x classes x bins from it on."""
    n_bins = int(slot[-1])
    shapes = [(b - a, n_classes, n_bins - a) for a, b in pairwise(slot.tolist())]
    ends = np.cumsum([np.prod(shape) for shape in shapes])
    blocks = np.split(pairs, ends[:-1])
    return [block.reshape(shape) for block, shape in zip(blocks, shapes, strict=True)]


class CountedMechanism(SubtreeMechanism):
    """Draws subtrees of regions whose points are counted.

    Parameters
    ----------
    bins : Bins
    n_classes : int
    scoring : Scoring
    n_points : int
        Rows of the whole table.
    """

    def __init__(
        self, bins: Bins, n_classes: int, scoring: Scoring, n_points: int
    ) -> None:
        nothing = np.empty((0, len(bins.grid.n_codes)), dtype=np.uint8)
        none = np.empty(0, dtype=np.int32)
        super().__init__(
            nothing, none, n_classes, bins.grid, scoring, n_points=n_points
        )

    def region(self, rows: Any, depth: int) -> RegionSubtrees:
        """Return a region that waits to be weighed."""
        cells = rows.pairs if depth == 2 else rows.bins.ravel()
        return RegionSubtrees(self.kernel, None, depth, self.shares, counts=cells)

    def class_counts(self, rows: Any) -> NDArray[np.int64]:
        """Points of each class in a region."""
        counts: NDArray[np.int64] = rows.classes
        return counts

    def part(self, rows: Any, feature: int, code: int) -> tuple[Any, Any]:
        """Points left and right of a split."""
        is_categorical = self.boxes.grid.is_categorical[feature]
        first = code if is_categorical else 0
        parts: tuple[Any, Any] = rows.part(feature, slice(first, code + 1))
        return parts
