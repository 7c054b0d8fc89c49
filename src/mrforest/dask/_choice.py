# SPDX-License-Identifier: BSD-3-Clause
"""Counts of all shards are added up, and splits are drawn. This runs on workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrforest.dask._problem import Problem
from mrforest.dask._shards import Counts, Wanted


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

# Instead of a split: the rule has to see points of more features.
LACKS = "lacks"


@dataclass(frozen=True)
class Chosen:
    """What was drawn, and the counts of nodes that are split.

    Attributes
    ----------
    splits : list of (Split, LACKS or None)
    kept : dict
        For each node that is split what was counted there, for the larger child.
    """

    splits: list[Split | str | None]
    kept: dict[int, tuple[NDArray[np.int32], NDArray[np.int32] | None]]

    def __sizeof__(self) -> int:
        arrays = [a for pair in self.kept.values() for a in pair if a is not None]
        return sum(array.nbytes for array in arrays)


def choose(
    counts: Sequence[Counts | None],
    before: Chosen | None,
    asked: Sequence[Asked],
    problem: Problem,
    wanted: Sequence[Wanted] | None = None,
    codes: Sequence[Sequence[NDArray[np.int32]]] = (),
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
    wanted : sequence of Wanted, default=None
        Points of each node that the rule asks for; None: it asks for none.
    codes : sequence
        Of each shard what `codes_at` returned for these.
    """
    structure = total([c.structure for c in counts if c is not None])
    points = None
    if problem.needs_points:
        points = total([c.estimation for c in counts if c is not None])
    chooser = problem.chooser()
    splits: list[Split | str | None] = []
    kept = {}
    for i, node in enumerate(asked):
        own = structure[node.counted]
        others = None if points is None else points[node.counted]
        if node.rest_of is not None:
            assert before is not None
            of_parent, others_of_parent = before.kept[node.rest_of]
            own = of_parent - own
            others = None if others is None else others_of_parent - others
        points_drawn: list[NDArray[Any]] = []
        if wanted is not None:
            points_drawn = drawn(wanted[i], [part[i] for part in codes], problem)
        split = chooser.choose(
            own,
            others,
            node.key,
            node.path,
            node.depth,
            node.n_structure,
            node.n_estimation,
            node.root_weight,
            *points_drawn,
        )
        if chooser.lacks:
            splits.append(LACKS)
            continue
        splits.append(split)
        if split is not None:
            kept[node.number] = own, others
    return Chosen(splits, kept)


def drawn(
    want: Wanted, parts: Sequence[NDArray[np.int32]], problem: Problem
) -> list[NDArray[Any]]:
    """Return codes of the points that the rule draws at a node, and which are there."""
    if len(want.features) == 0:  # all points of the node are looked at
        return []
    codes = np.zeros((problem.n_features, want.points.shape[1]), dtype=np.int32)
    # A point is in one shard; the others say -1.
    codes[want.features] = np.max(parts, axis=0)
    is_known = np.zeros(problem.n_features, dtype=np.uint8)
    is_known[want.features] = 1
    return [codes, is_known]


def want_points(
    parts: Sequence[Sequence[NDArray[np.int32]]],
    asked: Sequence[Asked],
    problem: Problem,
    times: int,
) -> list[Wanted]:
    """Return which points of nodes the rule asks for.

    Parameters
    ----------
    parts : sequence
        Of each shard, the numbers of the structure points of each node.
    asked : sequence of Asked
    problem : Problem
    times : int
        Features, as a multiple of those that are looked at in any case.
    """
    chooser = problem.chooser()
    wanted = []
    for i, node in enumerate(asked):
        features, places, n_first = chooser.points_wanted(
            node.key, node.path, node.n_structure
        )
        # Structure points of a node ascend.
        of_node = np.sort(np.concatenate([part[i] for part in parts]))
        n = n_first * times
        wanted.append(Wanted(features[:n], of_node[places[:n]]))
    return wanted


def total(arrays: Sequence[Any]) -> NDArray[np.int32]:
    """Add up arrays."""
    added: NDArray[np.int32] = arrays[0].copy()
    for array in arrays[1:]:
        added += array
    return added


def splits_of(chosen: Chosen) -> list[Split | str | None]:
    """Return what the driver wants to know."""
    return chosen.splits
