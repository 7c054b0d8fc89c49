# SPDX-License-Identifier: BSD-3-Clause
"""Large nodes are split by samples of their points.

    driver    sizes ─┐                        ┌─ splits, or larger samples
    shards           └─ take_samples ─┐       │
    a worker                          choose ─┘

A node is scored on some of its structure points only, 128 in most cases. A sample is
drawn by indices among them. Shards follow one another in the canonical order, so a
shard that knows how many of these points are in the shards before it can draw its own
part of the sample. The rows of the sample are sent to the worker that chooses the
split. If they do not suffice, it asks for a larger sample. Large samples, which nodes
have that are nearly of one class, are not sent, but counted by feature, bin and class.
So the size of a message does not depend on the size of the node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.dask._cluster import Future, share
from mrforest.dask._counts import sum_arrays
from mrforest.dask._growth import (
    DrawnSplits,
    SplitOrLeaf,
    SplitQuestion,
    WaitingNode,
)
from mrforest.dask._shards import NodeCounts, NodePoints, Shard, ShardTasks
from mrforest.dask._specs import SampledForestSpec
from mrforest.dask._subtrees import TopNode

# Samples of more rows are counted.
MOST_SENT = 1024
# Where the rows of samples begin, and counts, if there are no samples
NO_SAMPLES = np.zeros(1, dtype=np.int64), np.empty((0, 1), dtype=np.int32)


class Sample(NamedTuple):
    """A sample of a node, see `_core.SampleChooser.choose`."""

    size: int
    first_word: int

    @property
    def is_counted(self) -> bool:
        """Whether counts of its rows are sent instead of the rows."""
        return self.size > MOST_SENT


# A split or a leaf, or a sample that is needed beside those that are there
Answer = SplitOrLeaf | Sample


class SampledNodes:
    """Draws the splits of large nodes; see `LargeNodes` of `_growth`.

    Parameters
    ----------
    shards : ShardTasks
        Shards must follow one another in the canonical order.
    spec : SampledForestSpec
    """

    def __init__(self, shards: ShardTasks, spec: SampledForestSpec) -> None:
        self._shards = shards
        self._cluster = shards.cluster
        self._spec = spec
        self._shared_spec = share(self._cluster, spec)
        self._blank = spec.rows.blank_table()
        self._chooser = spec.sample_chooser(self._blank)

    def node(self, path: int, depth: int, counts: NodeCounts) -> TopNode:
        """Return a node with these points, which shape the tree or are held out."""
        held = counts.estimation
        return TopNode(
            path,
            depth,
            counts.n_structure,
            counts.structure + held,
            counts.n_structure + counts.n_estimation,
            held_points=float(counts.n_estimation),
            held_impurity=_core.impurity_of_classes(self._blank, held),
        )

    def is_leaf(self, node: TopNode, counts: NodeCounts) -> bool:
        """Whether a node is a leaf in any case."""
        limits = self._spec.limits
        return bool(
            node.depth == limits.max_depth
            or node.n_structure < 2
            or node.n_points < limits.min_split
            or np.count_nonzero(counts.structure) < 2
            or (self._spec.n_asked >= 0 and counts.n_first == 0)
        )

    def draw(
        self, points: Sequence[Future], waiting: Sequence[WaitingNode], kept: None
    ) -> DrawnSplits:
        """Draw the splits of a level; take samples until all are drawn."""
        drawn: dict[int, SplitOrLeaf] = {}
        groups: dict[int, list[SampledRequest]] = {}
        by_shard = {node.number: node.by_shard for node in waiting}
        for node in waiting:
            group = node.owner.tree.root % self._cluster.n_workers
            request = SampledRequest(node.number, node.question)
            answer = choose_one(self._chooser, request, *NO_SAMPLES)
            if isinstance(answer, Sample):
                groups.setdefault(group, []).append(request.with_sample(answer))
            else:
                drawn[node.number] = answer
        while groups:
            futures = [
                self._choose_by_samples(points, requests, by_shard, group)
                for group, requests in groups.items()
            ]
            answers = self._cluster.gather(futures)
            asked, groups = groups, {}
            for (group, requests), of_group in zip(asked.items(), answers, strict=True):
                for request, answer in zip(requests, of_group, strict=True):
                    if isinstance(answer, Sample):
                        groups.setdefault(group, []).append(request.with_sample(answer))
                    else:
                        drawn[request.number] = answer
        return DrawnSplits(drawn)

    def _choose_by_samples(
        self,
        points: Sequence[Future],
        requests: Sequence[SampledRequest],
        by_shard: dict[int, NDArray[np.int64]],
        group: int,
    ) -> Future:
        n_points = np.array([by_shard[request.number] for request in requests])
        n_before = np.cumsum(n_points, axis=1) - n_points
        parts = self._shards.map(
            take_samples,
            requests,
            self._shared_spec,
            per_shard=[points, list(n_before.T)],
        )
        return self._cluster.submit(
            choose, parts, requests, self._shared_spec, worker=group
        )


class SampledRequest(NamedTuple):
    """A node whose split is to be chosen.

    Attributes
    ----------
    number : int
    question : SplitQuestion
    samples : tuple of Sample
        Those that were needed so far.
    """

    number: int
    question: SplitQuestion
    samples: tuple[Sample, ...] = ()

    def with_sample(self, sample: Sample) -> SampledRequest:
        """Return the same request with one more sample."""
        return self._replace(samples=(*self.samples, sample))


# ---- on the workers of the shards ----------------------------------------------------


@dataclass(frozen=True)
class ShardSamples:
    """The part of the samples of some nodes that is in one shard.

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


def take_samples(
    points: NodePoints,
    n_before: NDArray[np.int64],
    shard: Shard,
    requests: Sequence[SampledRequest],
    spec: SampledForestSpec,
) -> ShardSamples:
    """Draw the part of samples that is in a shard.

    Parameters
    ----------
    points : NodePoints
    n_before : ndarray of shape (n_nodes,), dtype=int64
        Structure points of each node in the shards before.
    shard : Shard
    requests : sequence of SampledRequest
    spec : SampledForestSpec
    """
    empty = np.empty(0, dtype=np.int32)
    rows, lengths = [empty], []
    counts = [np.zeros((0, spec.rows.n_cells), dtype=np.int32)]
    for node, start in zip(requests, n_before.tolist(), strict=True):
        first, end, *_ = points.spans[node.number]
        key, path, _, n_structure, *_ = node.question
        for sample in node.samples:
            indices = _core.sample_places(
                key, path, n_structure, *sample, start, start + end - first
            )
            own = points.structure[first + indices]
            if sample.is_counted:
                counts.append(count_sample(own, shard, spec))
            lengths.append(0 if sample.is_counted else len(own))
            rows.append(empty if sample.is_counted else own)
    taken = np.concatenate(rows)
    return ShardSamples(
        shard.codes[taken],
        shard.y[taken],
        np.array(lengths, dtype=np.int64),
        np.concatenate(counts),
    )


def count_sample(
    rows: NDArray[np.int32], shard: Shard, spec: SampledForestSpec
) -> NDArray[np.int32]:
    """Count the rows of one sample; return an array of one line."""
    if shard.table is None:
        return np.zeros((1, spec.rows.n_cells), dtype=np.int32)
    ends = np.array([0, len(rows)])
    return _core.count_nodes(shard.table, rows, ends[:1], ends[1:])


# ---- on the worker that chooses ------------------------------------------------------


def choose(
    parts: Sequence[ShardSamples],
    requests: Sequence[SampledRequest],
    spec: SampledForestSpec,
) -> list[Answer]:
    """Choose the splits of nodes, or say which samples are needed beside these.

    Parameters
    ----------
    parts : sequence of ShardSamples
        Of each shard, in their order.
    requests : sequence of SampledRequest
    spec : SampledForestSpec
    """
    lengths = np.sum([part.lengths for part in parts], axis=0)
    sample_of_row = np.concatenate(
        [np.repeat(np.arange(len(lengths)), part.lengths) for part in parts]
    )
    order = np.argsort(sample_of_row, kind="stable")
    codes = np.concatenate([part.codes for part in parts])[order]
    y = np.concatenate([part.y for part in parts])[order]
    counts = sum_arrays([part.counts for part in parts])
    table = spec.rows.table(codes, y) if len(y) else spec.rows.blank_table()
    chooser = spec.sample_chooser(table)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    answers: list[Answer] = []
    first = first_counted = 0
    for node in requests:
        end = first + len(node.samples)
        end_counted = first_counted + sum(one.is_counted for one in node.samples)
        of_node = starts[first : end + 1], counts[first_counted:end_counted]
        answers.append(choose_one(chooser, node, *of_node))
        first, first_counted = end, end_counted
    return answers


def choose_one(
    chooser: _core.SampleChooser,
    node: SampledRequest,
    starts: NDArray[np.int64],
    counts: NDArray[np.int32],
) -> Answer:
    """Choose the split of one node."""
    answer = chooser.choose(*node.question, starts, counts)
    if answer is not None and len(answer) == 2:
        return Sample(*answer)
    return answer
