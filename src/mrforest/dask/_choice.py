# SPDX-License-Identifier: BSD-3-Clause
"""Counts of all shards are added up, and splits are drawn. This runs on workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrforest.dask._problem import Problem
from mrforest.dask._shards import Counts


@dataclass(frozen=True)
class Asked:
    """A node that waits for its split.

    Attributes
    ----------
    number, path, depth : int
    key : ndarray of shape (2,), dtype=uint64
        Of its tree.
    n_structure, n_estimation : int
        Its points.
    root_weight : float
        Weight of the structure points of the tree.
    counted : int
        Its place among the nodes that were counted, or that of its sibling.
    rest_of : int or None
        Its parent, if it was not counted itself: it has what the sibling leaves.
    """

    number: int
    path: int
    depth: int
    key: NDArray[np.uint64]
    n_structure: int
    n_estimation: int
    root_weight: float
    counted: int
    rest_of: int | None


# (cut, threshold and feature, decrease), see `Chooser.choose`; None: a leaf
Split = tuple[tuple[int, int, bool, bool], tuple[float, int], float]


@dataclass(frozen=True)
class Chosen:
    """What was drawn, and the counts of nodes that are split.

    Attributes
    ----------
    splits : list of (Split or None)
    kept : dict
        For each node that is split what was counted there, for the larger child.
    """

    splits: list[Split | None]
    kept: dict[int, tuple[NDArray[np.int32], NDArray[np.int32] | None]]

    def __sizeof__(self) -> int:
        arrays = [a for pair in self.kept.values() for a in pair if a is not None]
        return sum(array.nbytes for array in arrays)


def choose(
    counts: Sequence[Counts | None],
    before: Chosen | None,
    asked: Sequence[Asked],
    problem: Problem,
) -> Chosen:
    """Draw the splits of nodes.

    Parameters
    ----------
    counts : sequence of (Counts or None)
        Of each shard.
    before : Chosen or None
        What was chosen for the parents; None: the nodes are roots.
    asked : sequence of Asked
    problem : Problem
    """
    structure = total([c.structure for c in counts if c is not None])
    points = None
    if problem.needs_points:
        points = total([c.estimation for c in counts if c is not None])
    chooser = problem.chooser()
    splits: list[Split | None] = []
    kept = {}
    for node in asked:
        own = structure[node.counted]
        others = None if points is None else points[node.counted]
        if node.rest_of is not None:
            assert before is not None
            of_parent, others_of_parent = before.kept[node.rest_of]
            own = of_parent - own
            others = None if others is None else others_of_parent - others
        split = chooser.choose(
            own,
            others,
            node.key,
            node.path,
            node.depth,
            node.n_structure,
            node.n_estimation,
            node.root_weight,
        )
        splits.append(split)
        if split is not None:
            kept[node.number] = own, others
    return Chosen(splits, kept)


def total(arrays: Sequence[Any]) -> NDArray[np.int32]:
    """Add up arrays."""
    added: NDArray[np.int32] = arrays[0].copy()
    for array in arrays[1:]:
        added += array
    return added


def splits_of(chosen: Chosen) -> list[Split | None]:
    """Return what the driver wants to know."""
    return chosen.splits
