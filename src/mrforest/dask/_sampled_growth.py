# SPDX-License-Identifier: BSD-3-Clause
"""Many trees that some rows shape and all rows fill grow at once, level by level.

    driver    sizes ─┐                     ┌─ split ─┐              ┌─ children ─ ...
    shards           └─ rows there ─┐      │         └─ part, count ┘
    a worker                        choose ┘

A large node is scored on some of its rows only, 128 in most cases. Who has a place in
the sample of a node follows from how many of its rows each shard has, and these rows
are sent to the worker that draws the split. If it finds that they do not suffice it
asks for a larger sample; samples of many rows are not sent, but counted by bins. So a
message does not grow with the node. Small nodes are finished by one worker, as in other
forests.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.dask import _samples, _shards
from mrforest.dask._growth import ForestGrowth
from mrforest.dask._sampled_problem import SampledProblem, SampledTree
from mrforest.dask._samples import Answer, Asked, NodeSizes, Sample
from mrforest.dask._shards import Cuts
from mrforest.dask._subtrees import Arrays, Top
from mrforest.dask._tasks import Future
from mrforest.dask._trees import GrowingTree, Level, Waiting
from mrforest.forests.sampling import HeldOutGroups, tree_key

# Where rows of samples begin, and counts, if there are none
NO_SAMPLES = np.zeros(1, dtype=np.int64), np.empty((0, 1), dtype=np.int32)


class SampledForestGrowth(ForestGrowth):
    """Grows trees of one setting; parameters are those of `OnShards`.

    Shards must follow one another in the canonical order.
    """

    _rows = _samples.SampledRows
    _grow_below = staticmethod(_samples.grow_below)
    _problem: SampledProblem

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._blank = self._problem.blank_table()
        self._first = self._problem.sample_chooser(self._blank)
        # Structure points of each node that waits, shard by shard
        self._by_shard: dict[int, NDArray[np.int64]] = {}

    @property
    def n_trees(self) -> int:
        """How many trees there is room for at once."""
        return self._room.n_trees

    def grow_numbered(self, numbers: range) -> Iterator[tuple[SampledTree, Arrays]]:
        """Yield the trees of these numbers."""
        trees = [self._tree(number) for number in numbers]
        points = self._draw_points(trees)
        sizes = self._sizes(points, [tree.root for tree in trees])
        n_structure = np.sum([part.structure.sum(axis=1) for part in sizes], axis=0)
        if not n_structure.all():
            # A tree that all points would be held out of is shaped by all.
            trees = [
                tree if n > 0 else without_held(tree)
                for tree, n in zip(trees, n_structure, strict=True)
            ]
            points = self._draw_points(trees)
            sizes = self._sizes(points, [tree.root for tree in trees])
        growing, waiting = self._begin_trees(trees, sizes)
        for depth in itertools.count():
            if not waiting:
                break
            begun = time.perf_counter()
            asked = waiting
            cuts = self._split_all(points, waiting)
            points = self._on_shards(points, _shards.part, cuts)
            waiting = self._add_below(points, asked, cuts)
            n_points = sum(node.owner.nodes[node.number].n_structure for node in asked)
            seconds = time.perf_counter() - begun
            self._watch(Level(depth, len(asked), 0, n_points, seconds))
        yield from zip(trees, self._finish(points, growing), strict=True)

    # ---- roots ----------------------------------------------------------------------

    def _tree(self, number: int) -> SampledTree:
        problem, sampler = self._problem, self._problem.sampler
        assert isinstance(sampler, HeldOutGroups)
        return SampledTree(
            number,
            tree_key(problem.seed, number),
            next(self._numbers),
            sampler.group_of(number, problem.n_points) % 2,
            *sampler.edges(problem.seed, number, problem.n_points),
        )

    def _sizes(self, points: Sequence[Future], nodes: Sequence[int]) -> list[NodeSizes]:
        parts = self._on_shards(points, _samples.sizes, nodes, self._told)
        return self._cluster.gather(parts)

    def _begin_trees(
        self, trees: Sequence[SampledTree], sizes: Sequence[NodeSizes]
    ) -> tuple[list[GrowingTree], list[Waiting]]:
        structure = np.sum([part.structure for part in sizes], axis=0)
        held = np.sum([part.held for part in sizes], axis=0)
        growing: list[GrowingTree] = []
        waiting: list[Waiting] = []
        for i, tree in enumerate(trees):
            weight = self._chooser.weight(structure[i] + held[i])
            min_weight = self._problem.limits.min_weight * weight
            owner = GrowingTree(tree, self._chooser.weight(structure[i]), min_weight)
            place = (_core.PATH_OF_ROOT, 0)
            waiting += self._add(owner, tree.root, place, sizes, i)
            growing.append(owner)
        return growing, waiting

    def _add(
        self,
        owner: GrowingTree,
        number: int,
        place: tuple[int, int],
        sizes: Sequence[NodeSizes],
        i: int,
    ) -> Iterator[Waiting]:
        """Add a node, of a path and depth; yield it if it waits for its split."""
        by_shard = np.array([part.structure[i].sum() for part in sizes])
        structure = np.sum([part.structure[i] for part in sizes], axis=0)
        held = np.sum([part.held[i] for part in sizes], axis=0)
        n_asked = sum(int(part.n_asked[i]) for part in sizes)
        node = owner.nodes[number] = Top(
            *place,
            int(structure.sum()),
            structure + held,
            held_points=float(held.sum()),
            held_impurity=_core.impurity_of_classes(self._blank, held),
        )
        if self._is_leaf(node, structure, n_asked):
            owner.leaves.append(number)
        elif self._is_small(node):
            owner.small.append(number)
        else:
            self._by_shard[number] = by_shard
            yield Waiting(owner, number, None, number)

    def _is_leaf(self, node: Top, structure: NDArray[np.int64], n_asked: int) -> bool:
        limits = self._problem.limits
        return bool(
            node.depth == limits.max_depth
            or node.n_structure < 2
            or node.counts.sum() <= limits.min_leaf
            or np.count_nonzero(structure) < 2
            or (self._problem.n_asked >= 0 and n_asked == 0)
        )

    # ---- one level ------------------------------------------------------------------

    def _split_all(self, points: Sequence[Future], waiting: Sequence[Waiting]) -> Cuts:
        """Let splits be drawn; nodes without one become leaves."""
        answers = self._answers(points, waiting)
        nodes, cuts = [], []
        for node in waiting:
            del self._by_shard[node.number]
            split = answers[node.number]
            if split is None:
                node.owner.leaves.append(node.number)
                continue
            top = node.owner.nodes[node.number]
            cut, (top.threshold, top.feature), top.decrease = split
            top.children = next(self._numbers), next(self._numbers)
            nodes.append(node.number)
            cuts.append((cut, top.children))
        return Cuts(
            nodes,
            np.array([cut for cut, _ in cuts], dtype=np.int32).reshape(-1, 4),
            np.array([pair for _, pair in cuts], dtype=np.int64).reshape(-1, 2),
        )

    def _answers(
        self, points: Sequence[Future], waiting: Sequence[Waiting]
    ) -> dict[int, Any]:
        """Return the split of each node, or None; take samples until all are drawn."""
        answers: dict[int, Answer] = {}
        samples: dict[int, tuple[Sample, ...]] = {}
        for node in waiting:
            samples[node.number] = ()
            first = asked(node, ())
            answers[node.number] = _samples.ask(self._first, first, *NO_SAMPLES)
        while lacking := [
            node for node in waiting if isinstance(answers[node.number], Sample)
        ]:
            groups: dict[int, list[Waiting]] = {}
            for node in lacking:
                wanted = answers[node.number]
                assert isinstance(wanted, Sample)
                samples[node.number] += (wanted,)
                group = node.owner.tree.root % self._cluster.n_workers
                groups.setdefault(group, []).append(node)
            futures = [
                self._choose_by_samples(
                    points, [asked(node, samples[node.number]) for node in nodes], group
                )
                for group, nodes in groups.items()
            ]
            found = self._cluster.gather(futures)
            for nodes, of_group in zip(groups.values(), found, strict=True):
                for node, answer in zip(nodes, of_group, strict=True):
                    answers[node.number] = answer
        return answers

    def _choose_by_samples(
        self, points: Sequence[Future], nodes: Sequence[Asked], group: int
    ) -> Future:
        by_shard = np.array([self._by_shard[node.number] for node in nodes])
        before = np.cumsum(by_shard, axis=1) - by_shard
        parts = [
            self._on(worker, _samples.take, own, shard, nodes, before[:, i], self._told)
            for i, ((worker, shard), own) in enumerate(
                zip(self._shards, points, strict=True)
            )
        ]
        return self._on(group, _samples.choose, parts, nodes, self._told)

    def _add_below(
        self, points: Sequence[Future], parents: Sequence[Waiting], cuts: Cuts
    ) -> list[Waiting]:
        """Add the children of nodes that are split; return those that wait."""
        if not cuts.nodes:
            return []
        sizes = self._sizes(points, cuts.children.ravel().tolist())
        counts = np.sum([part.structure + part.held for part in sizes], axis=0)
        place = {number: 2 * i for i, number in enumerate(cuts.nodes)}
        waiting: list[Waiting] = []
        for node in parents:
            owner, top = node.owner, node.owner.nodes[node.number]
            if top.children is None:
                continue
            i = place[node.number]
            if self._is_refused(owner, counts[i : i + 2]):
                top.children, top.threshold, top.feature = None, 0.0, 0
                top.decrease = 0.0
                owner.leaves.append(node.number)
                continue
            paths = _core.paths_below(top.path)
            for side, number in enumerate(top.children):
                below = paths[side], top.depth + 1
                waiting += self._add(owner, number, below, sizes, i + side)
        return waiting

    def _is_refused(self, owner: GrowingTree, counts: NDArray[np.int64]) -> bool:
        """Whether a child would have too few points, or too little weight."""
        if (counts.sum(axis=1) < self._problem.limits.min_side).any():
            return True
        return super()._is_refused(owner, counts)

    # ---- leaves ---------------------------------------------------------------------

    def _leaf(self, node: Top, key: NDArray[np.uint64]) -> Arrays:
        return super()._leaf(node, key) | {
            "count": node.counts[node.counts > 0],
            "held_points": np.array([node.held_points]),
            "held_impurity": np.array([node.held_impurity]),
        }


def without_held(tree: SampledTree) -> SampledTree:
    """Return the tree without points that are held out."""
    return replace(tree, low=0.0, high=0.0)


def asked(node: Waiting, samples: tuple[Sample, ...]) -> Asked:
    """Return what a worker is to know of a node."""
    top = node.owner.nodes[node.number]
    return Asked(
        node.number,
        top.path,
        top.depth,
        node.owner.tree.key,
        top.n_structure,
        int(top.counts.sum()),
        node.owner.root_weight,
        samples,
    )
