# SPDX-License-Identifier: BSD-3-Clause
"""Large nodes are split by samples of their rows. These functions run on workers.

A sample is drawn by places among the structure points of a node. Shards follow one
another in the canonical order, so a shard that knows how many of these points come
before its own draws its part of the sample by itself. Rows of small samples are sent to
the worker that draws the split. Large samples, which nodes have that are nearly of one
class, are counted by feature, bin and class, as nodes are in other forests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.dask._choice import total
from mrforest.dask._excerpts import Excerpt, Joined
from mrforest.dask._order import Shard
from mrforest.dask._sampled_problem import SampledProblem
from mrforest.dask._shards import Points
from mrforest.dask._shards import sizes as class_sizes
from mrforest.dask._subtrees import Arrays, Small


@dataclass(frozen=True)
class NodeSizes:
    """Points of some nodes in one shard.

    Attributes
    ----------
    structure, held : ndarray of shape (n_nodes, n_classes), dtype=int64
        Points of each class that shape the tree, and that it holds out.
    n_asked : ndarray of shape (n_nodes,), dtype=int64
        Those held out that somebody asks about.
    """

    structure: NDArray[np.int64]
    held: NDArray[np.int64]
    n_asked: NDArray[np.int64]


def sizes(
    points: Points, shard: Shard, nodes: Sequence[int], problem: SampledProblem
) -> NodeSizes:
    """Count the points of nodes."""
    counted = class_sizes(points, shard, nodes, problem.n_classes)
    n_asked = np.zeros(len(nodes), dtype=np.int64)
    # Rows of a shard ascend, and so do the points of a node in it.
    n_first = int(np.searchsorted(shard.points, problem.n_asked))
    if n_first > 0:
        rows, first, end = points.slices(nodes, of_estimation=True)
        for i, (a, b) in enumerate(zip(first.tolist(), end.tolist(), strict=True)):
            n_asked[i] = np.searchsorted(rows[a:b], n_first)
    return NodeSizes(counted.structure, counted.estimation, n_asked)


# ---- samples -------------------------------------------------------------------------


# Samples of more rows are counted.
MOST_SENT = 1024


class Sample(NamedTuple):
    """A sample of a node, see `_core.SampleChooser.choose`."""

    size: int
    first_word: int

    @property
    def is_counted(self) -> bool:
        """Whether counts of its rows are sent, not the rows."""
        return self.size > MOST_SENT


@dataclass(frozen=True)
class Taken:
    """What a shard has of the samples of some nodes.

    Attributes
    ----------
    codes, y : ndarray
        Rows of samples that are not counted, one sample after the other.
    lengths : ndarray of int64
        How many rows of each sample these are.
    counts : ndarray of shape (n_counted, n_cells), dtype=int32
        See `_core.count_nodes`.
    """

    codes: NDArray[Any]
    y: NDArray[np.int32]
    lengths: NDArray[np.int64]
    counts: NDArray[np.int32]

    def __sizeof__(self) -> int:
        return self.codes.nbytes + self.y.nbytes + self.counts.nbytes


def take(
    points: Points,
    shard: Shard,
    nodes: Sequence[Asked],
    before: NDArray[np.int64],
    problem: SampledProblem,
) -> Taken:
    """Draw the part of samples that is in a shard.

    Parameters
    ----------
    points : Points
    shard : Shard
    nodes : sequence of Asked
    before : ndarray of shape (n_nodes,), dtype=int64
        Structure points of each node in the shards before.
    problem : SampledProblem
    """
    empty = np.empty(0, dtype=np.int32)
    rows, lengths = [empty], []
    counts = [np.zeros((0, problem.n_bins_and_classes), dtype=np.int32)]
    for node, start in zip(nodes, before.tolist(), strict=True):
        first, end, *_ = points.nodes[node.number]
        for sample in node.samples:
            places = _core.sample_places(
                node.key,
                node.path,
                node.n_structure,
                *sample,
                start,
                start + end - first,
            )
            own = points.structure[first + places]
            if sample.is_counted:
                counts.append(count(own, shard, problem))
            lengths.append(0 if sample.is_counted else len(own))
            rows.append(empty if sample.is_counted else own)
    taken = np.concatenate(rows)
    return Taken(
        shard.codes[taken],
        shard.y[taken],
        np.array(lengths, dtype=np.int64),
        np.concatenate(counts),
    )


def count(
    rows: NDArray[np.int32], shard: Shard, problem: SampledProblem
) -> NDArray[np.int32]:
    """Count rows of a sample; one line."""
    if shard.table is None:
        return np.zeros((1, problem.n_bins_and_classes), dtype=np.int32)
    ends = np.array([0, len(rows)])
    return _core.count_nodes(shard.table, rows, ends[:1], ends[1:])


@dataclass(frozen=True)
class Asked:
    """A node that waits for its split.

    Attributes
    ----------
    number, path, depth : int
    key : ndarray of shape (2,), dtype=uint64
        Of its tree.
    n_structure, n_points : int
        Points that shape the tree, and all points.
    root_weight : float
        Weight of all points that shape the tree.
    samples : tuple of Sample
        That were asked for.
    """

    number: int
    path: int
    depth: int
    key: NDArray[np.uint64]
    n_structure: int
    n_points: int
    root_weight: float
    samples: tuple[Sample, ...]


# A split as `_core.SampleChooser.choose` returns it, a sample that is wanted beside
# those that are there, or None for a leaf
Answer = tuple[tuple[int, int, bool, bool], tuple[float, int], float] | Sample | None


def choose(
    parts: Sequence[Taken], nodes: Sequence[Asked], problem: SampledProblem
) -> list[Answer]:
    """Draw the splits of nodes, or say which samples are wanted beside these.

    Parameters
    ----------
    parts : sequence of Taken
        Of each shard, in their order.
    nodes : sequence of Asked
    problem : SampledProblem
    """
    lengths = np.sum([part.lengths for part in parts], axis=0)
    which = np.concatenate(
        [np.repeat(np.arange(len(lengths)), part.lengths) for part in parts]
    )
    order = np.argsort(which, kind="stable")
    codes = np.concatenate([part.codes for part in parts])[order]
    y = np.concatenate([part.y for part in parts])[order]
    counts = total([part.counts for part in parts])
    table = problem.table(codes, y) if len(y) else problem.blank_table()
    chooser = problem.sample_chooser(table)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    answers: list[Answer] = []
    first = first_counted = 0
    for node in nodes:
        end = first + len(node.samples)
        end_counted = first_counted + sum(one.is_counted for one in node.samples)
        of_node = starts[first : end + 1], counts[first_counted:end_counted]
        answers.append(ask(chooser, node, *of_node))
        first, first_counted = end, end_counted
    return answers


def ask(
    chooser: _core.SampleChooser,
    node: Asked,
    starts: NDArray[np.int64],
    counts: NDArray[np.int32],
) -> Answer:
    """Let the split of one node be drawn."""
    answer = chooser.choose(
        node.key,
        node.path,
        node.depth,
        node.n_structure,
        node.n_points,
        node.root_weight,
        starts,
        counts,
    )
    if answer is not None and len(answer) == 2:
        return Sample(*answer)
    return answer


# ---- small nodes ---------------------------------------------------------------------


class SampledRows:
    """Rows of some small nodes as the engine reads them; see `_subtrees.Rows`.

    They stand in their canonical order.
    """

    def __init__(
        self, excerpts: Sequence[Excerpt | None], problem: SampledProblem
    ) -> None:
        self._arguments = excerpts, problem
        self._rows = Joined(excerpts)
        self.table = problem.table(self._rows.codes, self._rows.y)
        self.n_asked = -1
        if problem.n_asked >= 0:
            self.n_asked = int(np.searchsorted(self._rows.numbers, problem.n_asked))
        self.idle: list[Any] = []

    def points(self, node: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the structure points of a node, and those that are held out."""
        own, others = self._rows.points(node)
        assert others is not None
        return own, others

    def __sizeof__(self) -> int:
        return 2 * sum(part.__sizeof__() for part in self._arguments[0] if part)

    def __reduce__(self) -> Any:
        return type(self), self._arguments


def grow_below(
    rows: SampledRows, nodes: Sequence[Small], problem: SampledProblem
) -> dict[int, Arrays]:
    """Grow the subtrees of nodes."""
    grown = {}
    for node in sorted(nodes, key=lambda node: -node.n_structure):
        own, held = rows.points(node.number)
        tree = problem.grow_below(
            rows.table,
            np.concatenate([own, held]),
            n_structure=len(own),
            key=node.key,
            n_asked=rows.n_asked,
            idle=rows.idle,
            below=(node.path, node.depth, node.root_weight, node.min_weight),
        )
        points, impurity = _core.held_impurity(rows.table, tree, held)
        tree |= {"held_points": points, "held_impurity": impurity}
        del tree["held_leaf"]
        grown[node.number] = tree
    return grown
