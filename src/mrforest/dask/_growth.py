# SPDX-License-Identifier: BSD-3-Clause
"""Many trees grow at once, level by level, on rows that stay where they are.

    shards    count ──┐          ┌── part ── sizes ──┐
                      + ─ choose ┤                   + ─ children ─ count ...
    shards    count ──┘          └── part ── sizes ──┘

A node with few points leaves this loop: its rows are brought to one worker, which grows
what comes below it. The driver sees splits and sizes, no rows and no counts.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrforest._core import PATH_OF_ROOT, paths_below
from mrforest.dask import _choice, _excerpts, _shards, _subtrees
from mrforest.dask._choice import Asked
from mrforest.dask._on_shards import OnShards
from mrforest.dask._problem import Problem, Tree
from mrforest.dask._shards import Cuts, Sizes
from mrforest.dask._subtrees import Arrays, Small, Top
from mrforest.dask._tasks import Future
from mrforest.dask._trees import GrowingTree, Level, Waiting


class ForestGrowth(OnShards[Problem]):
    """Grows trees of one forest; parameters are those of `OnShards`."""

    # What a worker reads the rows of small nodes with, and grows what is below them
    _rows: Callable[..., Any] = _subtrees.Rows
    _grow_below: Callable[..., Any] = staticmethod(_subtrees.grow_below)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._chooser = self._problem.chooser()
        self._numbers = itertools.count()

    def grow(self, keys: Sequence[NDArray[np.uint64]]) -> Iterator[Arrays]:
        """Yield the trees of these keys."""
        points = self._draw_points(trees := self._begin(keys))
        growing, waiting = self._roots(trees, points)
        before: dict[int, Future] = {}
        for depth in itertools.count():
            if not waiting:
                break
            begun = time.perf_counter()
            asked = waiting
            cuts, before = self._split(points, waiting, before)
            points = self._on_shards(points, _shards.part, cuts)
            waiting = self._add_children(points, asked, cuts)
            self._watch(
                Level(
                    depth,
                    len(asked),
                    len(counted_for(asked)),
                    sum(node.owner.nodes[node.number].n_structure for node in asked),
                    time.perf_counter() - begun,
                )
            )
        yield from self._finish(points, growing)

    # ---- roots ----------------------------------------------------------------------

    def _begin(self, keys: Sequence[NDArray[np.uint64]]) -> list[Tree]:
        n_workers = self._cluster.n_workers
        found = self._cluster.gather(
            [
                self._on(
                    worker, _shards.boundaries, keys[worker::n_workers], self._told
                )
                for worker in range(n_workers)
            ]
        )
        return [
            Tree(key, found[i % n_workers][i // n_workers], next(self._numbers))
            for i, key in enumerate(keys)
        ]

    def _roots(
        self, trees: Sequence[Tree], points: Sequence[Future]
    ) -> tuple[list[GrowingTree], list[Waiting]]:
        roots = [tree.root for tree in trees]
        sizes = self._count_classes(points, roots, self._problem.n_classes)
        growing, waiting = [], []
        for i, tree in enumerate(trees):
            own, others = sizes.structure[i], sizes.estimation[i]
            min_weight = self._problem.limits.min_weight * self._chooser.weight(others)
            owner = GrowingTree(tree, self._chooser.weight(own), min_weight)
            owner.nodes[tree.root] = Top(PATH_OF_ROOT, 0, int(own.sum()), others)
            growing.append(owner)
            if self._is_small(owner.nodes[tree.root]):
                owner.small.append(tree.root)
            else:
                waiting.append(Waiting(owner, tree.root, None, tree.root))
        return growing, waiting

    def _is_small(self, node: Top) -> bool:
        n_points = int(node.counts.sum())
        if self._problem.is_honest:
            n_points += node.n_structure
        return n_points <= self._room.gather_rows

    # ---- one level ------------------------------------------------------------------

    def _split(
        self,
        points: Sequence[Future],
        waiting: Sequence[Waiting],
        before: dict[int, Future],
    ) -> tuple[Cuts, dict[int, Future]]:
        """Let splits be drawn; nodes without one become leaves.

        Counts of a tree are added up on one worker, which keeps them for the level
        below: trees are dealt out to groups, one a worker.
        """
        groups: dict[int, list[Waiting]] = {}
        for node in waiting:
            group = node.owner.tree.root % self._cluster.n_workers
            groups.setdefault(group, []).append(node)
        counts = {group: self._count(points, nodes) for group, nodes in groups.items()}
        times, lacks = 1, True
        while lacks:
            chosen = {
                group: self._choose(
                    points, nodes, (counts[group], before.get(group)), group, times
                )
                for group, nodes in groups.items()
            }
            splits = self._cluster.gather(
                [self._on(g, _choice.splits_of, future) for g, future in chosen.items()]
            )
            lacks = any(_choice.LACKS in of_group for of_group in splits)
            times *= 4
        nodes, cuts = [], []
        for of_group, drawn in zip(groups.values(), splits, strict=True):
            for node, split in zip(of_group, drawn, strict=True):
                if split is None:
                    node.owner.leaves.append(node.number)
                    continue
                top = node.owner.nodes[node.number]
                cut, (top.threshold, top.feature), top.decrease = split
                top.children = next(self._numbers), next(self._numbers)
                nodes.append(node.number)
                cuts.append((cut, top.children))
        return (
            Cuts(
                nodes,
                np.array([cut for cut, _ in cuts], dtype=np.int32).reshape(-1, 4),
                np.array([pair for _, pair in cuts], dtype=np.int64).reshape(-1, 2),
            ),
            chosen,
        )

    def _count(
        self, points: Sequence[Future], waiting: Sequence[Waiting]
    ) -> list[Future]:
        counted = counted_for(waiting)
        return self._on_shards(points, _shards.count, counted, self._told)

    def _choose(
        self,
        points: Sequence[Future],
        waiting: Sequence[Waiting],
        known: tuple[list[Future], Future | None],
        group: int,
        times: int,
    ) -> Future:
        """Let splits be drawn from counts, and from what was chosen for the parents."""
        place = {number: i for i, number in enumerate(counted_for(waiting))}
        asked = []
        for node in waiting:
            owner, top = node.owner, node.owner.nodes[node.number]
            asked.append(
                Asked(
                    node.number,
                    top.path,
                    top.depth,
                    owner.tree.key,
                    top.n_structure,
                    int(top.counts.sum()),
                    owner.root_weight,
                    place[node.counted],
                    None if node.counted == node.number else node.parent,
                )
            )
        asking = (*known, asked, self._told)
        if not self._problem.rule.restricts:
            return self._on(group, _choice.choose, *asking)
        numbers = [node.number for node in waiting]
        parts = self._on_shards(points, _shards.numbers, numbers)
        wanted = self._on(group, _choice.want_points, parts, asked, self._told, times)
        codes = [
            self._on(worker, _shards.codes_at, shard, wanted)
            for worker, shard in self._shards
        ]
        return self._on(group, _choice.choose, *asking, wanted, codes)

    def _add_children(
        self, points: Sequence[Future], asked: Sequence[Waiting], cuts: Cuts
    ) -> list[Waiting]:
        """Add the children of nodes that are split; return those that wait."""
        if not cuts.nodes:
            return []
        children = cuts.children.ravel().tolist()
        sizes = self._count_classes(points, children, self._problem.n_classes)
        place = {number: i for i, number in enumerate(cuts.nodes)}
        waiting: list[Waiting] = []
        for node in asked:
            top = node.owner.nodes[node.number]
            if top.children is None:
                continue
            i = 2 * place[node.number]
            if self._is_refused(node.owner, sizes.estimation[i : i + 2]):
                top.children, top.threshold, top.feature = None, 0.0, 0
                top.decrease = 0.0
                node.owner.leaves.append(node.number)
                continue
            waiting += self._children(node, sizes, i)
        return waiting

    def _is_refused(self, owner: GrowingTree, counts: NDArray[np.int64]) -> bool:
        """Whether a child would have no estimation point, or too little weight."""
        if not counts.any(axis=1).all():
            return True
        return owner.min_weight > 0 and any(
            self._chooser.weight(of_child) < owner.min_weight for of_child in counts
        )

    def _children(self, node: Waiting, sizes: Sizes, place: int) -> Iterable[Waiting]:
        owner, top = node.owner, node.owner.nodes[node.number]
        assert top.children is not None
        paths = paths_below(top.path)
        n_structure = sizes.structure[place : place + 2].sum(axis=1).tolist()
        for side, number in enumerate(top.children):
            owner.nodes[number] = Top(
                paths[side],
                top.depth + 1,
                n_structure[side],
                sizes.estimation[place + side],
            )
        # What the one with fewer points leaves is the other's.
        counted = top.children[0 if n_structure[0] <= n_structure[1] else 1]
        for number in top.children:
            if self._is_small(owner.nodes[number]):
                owner.small.append(number)
            else:
                yield Waiting(owner, number, node.number, counted)

    # ---- small subtrees -------------------------------------------------------------

    def _finish(
        self, points: Sequence[Future], growing: Sequence[GrowingTree]
    ) -> Iterator[Arrays]:
        """Let small subtrees grow, and put trees together."""
        futures: dict[int, list[Future]] = {}
        for worker in range(self._cluster.n_workers):
            mine = growing[worker :: self._cluster.n_workers]
            for bundle in self._bundles(mine):
                self._grow_bundle(points, bundle, worker, futures)
        for owner in growing:
            below: dict[int, Arrays] = {}
            for grown in self._cluster.gather(futures.pop(owner.tree.root, [])):
                below |= grown
            for number in owner.leaves:
                below[number] = self._leaf(owner.nodes[number], owner.tree.key)
            yield _subtrees.graft(
                owner.tree.root, owner.nodes, below, self._problem.n_features
            )

    def _leaf(self, node: Top, key: NDArray[np.uint64]) -> Arrays:
        return _subtrees.top_leaf(node, key, self._chooser)

    def _bundles(
        self, growing: Sequence[GrowingTree]
    ) -> Iterator[list[tuple[GrowingTree, list[int]]]]:
        """Deal small nodes out to tasks that take no more rows than allowed.

        A row is sent once, however many trees want it.
        """
        bundle: list[tuple[GrowingTree, list[int]]] = []
        n_points = 0
        for owner in growing:
            of_tree: list[int] = []
            for number in owner.small:
                top = owner.nodes[number]
                more = int(top.counts.sum()) + top.n_structure * self._problem.is_honest
                if min(n_points + more, self._problem.n_points) > self._room.sent_rows:
                    yield [*bundle, *([(owner, of_tree)] if of_tree else [])]
                    bundle, of_tree, n_points = [], [], 0
                of_tree.append(number)
                n_points += more
            if of_tree:
                bundle.append((owner, of_tree))
        if bundle:
            yield bundle

    def _grow_bundle(
        self,
        points: Sequence[Future],
        bundle: Sequence[tuple[GrowingTree, list[int]]],
        worker: int,
        futures: dict[int, list[Future]],
    ) -> None:
        numbers = [number for _, of_tree in bundle for number in of_tree]
        excerpts = self._on_shards(points, _excerpts.excerpt, numbers)
        rows = self._on(worker, self._rows, excerpts, self._told)
        for owner, of_tree in bundle:
            nodes = [
                Small(
                    number,
                    owner.nodes[number].path,
                    owner.nodes[number].depth,
                    owner.tree.key,
                    owner.nodes[number].n_structure,
                    owner.root_weight,
                    owner.min_weight,
                )
                for number in of_tree
            ]
            grown = self._on(worker, self._grow_below, rows, nodes, self._told)
            futures.setdefault(owner.tree.root, []).append(grown)


def counted_for(waiting: Sequence[Waiting]) -> list[int]:
    """Return the nodes that are counted for those that wait."""
    return sorted({node.counted for node in waiting})
