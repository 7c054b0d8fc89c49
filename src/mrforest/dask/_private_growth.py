# SPDX-License-Identifier: BSD-3-Clause
"""Private trees are drawn block by block, from rows that stay where they are.

    shards    count ──┐        ┌── part ── sizes ──┐
                      + ─ draw ┤                   + ─ regions ─ count ...
    shards    count ──┘        └── part ── sizes ──┘

As in `_growth`, a region with few rows leaves this loop: one worker draws all that is
below it.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrforest.dask import _excerpts, _private_draws, _shards
from mrforest.dask._on_shards import OnShards
from mrforest.dask._private_problem import (
    Grids,
    PrivateProblem,
    PrivateTree,
    Region,
)
from mrforest.dask._shards import Cuts, Sizes
from mrforest.dask._tasks import Future, same
from mrforest.dask._trees import Level
from mrforest.forests.private_base import draw_columns
from mrforest.privacy.boxes import Boxes
from mrforest.privacy.grid import MOST_CODES
from mrforest.privacy.randomness import RandomBits
from mrforest.privacy.subtree import Split, Tree
from mrforest.privacy.tree import Place, draw_leaf, halving_key

# Levels that are drawn of counts; deeper blocks are for few rows
MOST_COUNTED = 2


Key = tuple[int, int]


class Drawn(NamedTuple):
    """What has been drawn, by the keys of regions.

    Attributes
    ----------
    blocks : dict
        Blocks of regions, to which others belong.
    whole : dict
        All that is below a region.
    """

    blocks: dict[Key, Tree]
    whole: dict[Key, Tree]


class PrivateGrowth(OnShards[PrivateProblem]):
    """Draws trees of one forest; parameters are those of `OnShards`."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._grids = Grids(self._problem)

    def draw(self, numbers: Sequence[int]) -> Iterator[tuple[NDArray[np.intp], Tree]]:
        """Yield the trees of these numbers, and the columns they look at."""
        trees = [self._begin(number) for number in numbers]
        points = self._draw_points(trees)
        drawn = Drawn({}, {})
        finishing: list[tuple[list[Region], Future]] = []
        waiting = [Region(tree, Place()) for tree in trees]
        for number in itertools.count():
            if not waiting:
                break
            begun = time.perf_counter()
            nodes = [region.node for region in waiting]
            sizes = self._count_classes(points, nodes, self._problem.rows.n_classes)
            drawn.whole.update(self._draw_leaves(waiting, sizes))
            large, small = self._sort(waiting, sizes)
            finishing += self._finish(points, small)
            blocks = self._draw_blocks(points, [region for region, _ in large])
            drawn.blocks.update((region.key, block) for region, block in blocks)
            waiting = [
                below
                for region, block in blocks
                for below in self._below(region, block)
            ]
            if waiting:
                points = self._part(points, blocks)
            if large:
                n, n_points = len(large), sum(n_points for _, n_points in large)
                self._watch(Level(number, n, n, n_points, time.perf_counter() - begun))
        subtrees = self._cluster.gather([future for _, future in finishing])
        for (regions, _), below in zip(finishing, subtrees, strict=True):
            keys = [region.key for region in regions]
            drawn.whole.update(zip(keys, below, strict=True))
        for tree in trees:
            yield tree.columns, self._put_together(Region(tree, Place()), drawn)

    def _begin(self, number: int) -> PrivateTree:
        problem = self._problem
        # The stream of the tree itself, as the ordinary forest draws it
        random = RandomBits.of(problem.seed, 1, number)
        n_features = len(problem.rows.grid.n_codes)
        columns = draw_columns(n_features, problem.plan.n_features, random)
        tree = PrivateTree(number, columns, None)
        if problem.plan.honest:
            tree = replace(tree, halving_key=halving_key(partial(problem.random, tree)))
        return tree

    # ---- sizes ----------------------------------------------------------------------

    def _is_leaf(self, region: Region) -> bool:
        return region.place.block == len(self._problem.plan.blocks)

    def _draw_leaves(
        self, regions: Sequence[Region], sizes: Sizes
    ) -> Iterator[tuple[Key, Tree]]:
        """Draw what is told of leaves below the last block."""
        plan, squares = self._problem.plan, self._problem.rows.squares
        for region, counts in zip(regions, sizes.estimation, strict=True):
            if self._is_leaf(region):
                place = region.place
                random = self._problem.random(region.tree, place.region, place.block)
                yield region.key, draw_leaf(plan, counts, random, squares=squares)

    def _sort(
        self, regions: Sequence[Region], sizes: Sizes
    ) -> tuple[list[tuple[Region, int]], list[tuple[Region, int]]]:
        """Return large and small regions that wait for a block, with their rows."""
        large: list[tuple[Region, int]] = []
        small: list[tuple[Region, int]] = []
        n_rows = sizes.structure.sum(axis=1)
        if self._problem.plan.honest:
            n_rows = n_rows + sizes.estimation.sum(axis=1)
        for region, n in zip(regions, n_rows.tolist(), strict=True):
            if self._is_leaf(region):
                continue
            depth = self._problem.plan.blocks[region.place.block].depth
            is_small = n <= self._room.gather_rows or depth > MOST_COUNTED
            (small if is_small else large).append((region, n))
        return large, small

    # ---- large regions --------------------------------------------------------------

    def _draw_blocks(
        self, points: Sequence[Future], regions: Sequence[Region]
    ) -> list[tuple[Region, Tree]]:
        """Draw the blocks of regions from counts of all shards."""
        futures = []
        for i, region in enumerate(regions):
            worker = i % self._cluster.n_workers
            bins = self._on(worker, same, self._grids.bins(region))
            counts = self._on_shards(
                points, _private_draws.count, region, bins, self._told
            )
            cells = self._added_up(counts)
            futures.append(
                self._on(worker, _private_draws.draw, cells, region, bins, self._told)
            )
        return list(zip(regions, self._cluster.gather(futures), strict=True))

    def _added_up(self, counts: Sequence[Future]) -> Future:
        """Add counts, two at a time, so that no worker has room for more."""
        workers = [worker for worker, _ in self._shards]
        while len(counts) > 1:
            pairs = zip(counts[::2], counts[1::2], workers[::2], strict=False)
            added = [self._on(at, _private_draws.add, a, b) for a, b, at in pairs]
            counts = [*added, *(counts[-1:] if len(counts) % 2 else [])]
            workers = workers[::2]
        return counts[0]

    def _part(
        self, points: list[Future], blocks: Sequence[tuple[Region, Tree]]
    ) -> list[Future]:
        """Send the points of regions to the regions below their blocks."""
        splits = [
            (region.tree, region.place.region, block)
            for region, block in blocks
            if isinstance(block, Split)
        ]
        while splits:
            cuts = Cuts(
                [tree.node(region) for tree, region, _ in splits],
                np.array(
                    [self._cut(tree, split) for tree, _, split in splits],
                    dtype=np.int32,
                ),
                np.array(
                    [
                        (tree.node(2 * region), tree.node(2 * region + 1))
                        for tree, region, _ in splits
                    ],
                    dtype=np.int64,
                ),
            )
            points = self._on_shards(points, _shards.part, cuts)
            splits = [
                (tree, 2 * region + side, child)
                for tree, region, split in splits
                for side, child in enumerate((split.left, split.right))
                if isinstance(child, Split)
            ]
        return points

    def _cut(self, tree: PrivateTree, split: Split) -> tuple[int, int, int, int]:
        """Return a split as `Chooser.choose` would."""
        if split.feature == len(tree.columns):  # do not split: all go left
            return 0, MOST_CODES, 0, 1
        column = int(tree.columns[split.feature])
        return (
            column,
            split.code,
            int(self._problem.rows.grid.is_categorical[column]),
            1,
        )

    # ---- small regions --------------------------------------------------------------

    def _finish(
        self, points: Sequence[Future], small: Sequence[tuple[Region, int]]
    ) -> list[tuple[list[Region], Future]]:
        """Let workers draw all that is below small regions."""
        found = []
        for i, regions in enumerate(self._bundles(small)):
            nodes = [region.node for region in regions]
            excerpts = self._on_shards(points, _excerpts.excerpt, nodes)
            below = self._on(i, _private_draws.finish, excerpts, regions, self._told)
            found.append((regions, below))
        return found

    def _bundles(self, small: Sequence[tuple[Region, int]]) -> Iterator[list[Region]]:
        """Deal small regions out to tasks that take no more rows than allowed.

        A row is sent once, however many trees want it.
        """
        share = max(sum(n for _, n in small) / self._cluster.n_workers, 1)
        bundle: list[Region] = []
        n_points = 0
        for region, n in small:
            is_full = n_points >= share
            sent = min(n_points + n, self._problem.n_points)
            if bundle and (is_full or sent > self._room.sent_rows):
                yield bundle
                bundle, n_points = [], 0
            bundle.append(region)
            n_points += n
        if bundle:
            yield bundle

    # ---- trees ----------------------------------------------------------------------

    def _below(self, region: Region, block: Tree) -> Iterator[Region]:
        """Yield the regions below a block that wait for theirs."""
        boxes = self._grids.boxes(region.tree, region.place.block)
        for place in places_below(block, region.place.next_block, boxes):
            yield Region(region.tree, place)

    def _put_together(self, region: Region, drawn: Drawn) -> Tree:
        """Put below a block what was drawn below it."""
        if region.key in drawn.whole:
            return drawn.whole[region.key]
        block = drawn.blocks[region.key]
        return self._extended(block, self._below(region, block), drawn)

    def _extended(self, tree: Tree, waited: Iterator[Region], drawn: Drawn) -> Tree:
        """Put subtrees below the leaves that waited for one, which come in order."""
        if isinstance(tree, Split):
            left = self._extended(tree.left, waited, drawn)
            right = self._extended(tree.right, waited, drawn)
            return Split(tree.feature, tree.code, left, right)
        if tree.label is not None:
            return tree
        return self._put_together(next(waited), drawn)


def places_below(tree: Tree, place: Place, boxes: Boxes) -> Iterator[Place]:
    """Yield the places of leaves that have no label yet, from left to right."""
    if isinstance(tree, Split):
        left, right = place.parts(boxes, tree)
        yield from places_below(tree.left, left, boxes)
        yield from places_below(tree.right, right, boxes)
    elif tree.label is None:
        yield place
