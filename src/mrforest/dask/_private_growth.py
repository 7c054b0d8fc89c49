# SPDX-License-Identifier: BSD-3-Clause
"""Private trees are drawn block by block, from rows that stay where they are.

    shards    count ──┐        ┌── partition ─► class counts ──┐
                      + ─ draw ┤                               + ─ regions ─ count ...
    shards    count ──┘        └── partition ─► class counts ──┘

As in `_growth`, a region with few rows leaves this loop: one worker draws all that is
below it.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrforest.dask import _private_worker
from mrforest.dask._cluster import Future, LevelProgress, MemoryPlan, share
from mrforest.dask._private_worker import (
    PrivateForestSpec,
    PrivateTree,
    Region,
    TreeGrids,
)
from mrforest.dask._shards import NodeCounts, NodeSplits, ShardTasks, partition_points
from mrforest.dask._subtrees import gather_rows
from mrforest.forests.private_base import draw_columns
from mrforest.privacy.boxes import Boxes
from mrforest.privacy.grid import MOST_CODES
from mrforest.privacy.randomness import RandomBits
from mrforest.privacy.subtree import Split, Tree
from mrforest.privacy.tree import Place, draw_leaf, halving_key

# Levels that can be drawn from counts; deeper blocks occur in small tables only
MOST_COUNTED = 2


Key = tuple[int, int]


class Drawn(NamedTuple):
    """What has been drawn, by the keys of regions.

    Attributes
    ----------
    blocks : dict
        The block of a region, which has further regions below it.
    whole : dict
        All that is below a region.
    """

    blocks: dict[Key, Tree]
    whole: dict[Key, Tree]


class PrivateGrowth:
    """Draws the trees of one forest.

    Parameters
    ----------
    shards : ShardTasks
    spec : PrivateForestSpec
    memory : MemoryPlan
    on_level : callable
        Is called with the `LevelProgress` of each level of blocks.
    """

    def __init__(
        self,
        shards: ShardTasks,
        spec: PrivateForestSpec,
        memory: MemoryPlan,
        on_level: Callable[[LevelProgress], object],
    ) -> None:
        self._shards = shards
        self._cluster = shards.cluster
        self._spec = spec
        self._shared_spec = share(self._cluster, spec)
        self._memory = memory
        self._on_level = on_level
        self._grids = TreeGrids(spec)

    def draw(self, numbers: Sequence[int]) -> Iterator[tuple[NDArray[np.intp], Tree]]:
        """Yield the trees of these numbers, each with the columns that it uses."""
        trees = [self._begin(number) for number in numbers]
        points = self._shards.draw_points(trees)
        drawn = Drawn({}, {})
        finishing: list[tuple[list[Region], Future]] = []
        waiting = [Region(tree, Place()) for tree in trees]
        for number in itertools.count():
            if not waiting:
                break
            begun = time.perf_counter()
            nodes = [region.node for region in waiting]
            n_classes = self._spec.rows.n_classes
            counts = self._shards.count_classes(points, nodes, n_classes)
            drawn.whole.update(self._draw_leaves(waiting, counts))
            large, small = self._sort(waiting, counts)
            finishing += self._finish(points, small)
            blocks = self._draw_blocks(points, [region for region, _ in large])
            drawn.blocks.update((region.key, block) for region, block in blocks)
            waiting = [
                below
                for region, block in blocks
                for below in self._below(region, block)
            ]
            if waiting:
                points = self._partition(points, blocks)
            if large:
                n, n_points = len(large), sum(n_points for _, n_points in large)
                seconds = time.perf_counter() - begun
                self._on_level(LevelProgress(number, n, n, n_points, seconds))
        subtrees = self._cluster.gather([future for _, future in finishing])
        for (regions, _), below in zip(finishing, subtrees, strict=True):
            keys = [region.key for region in regions]
            drawn.whole.update(zip(keys, below, strict=True))
        for tree in trees:
            yield tree.columns, self._put_together(Region(tree, Place()), drawn)

    def _begin(self, number: int) -> PrivateTree:
        spec = self._spec
        # The random bits of the tree itself, as the local forest draws them
        random = RandomBits.of(spec.seed, 1, number)
        n_features = len(spec.rows.grid.n_codes)
        columns = draw_columns(n_features, spec.plan.n_features, random)
        tree = PrivateTree(number, columns, None)
        if spec.plan.honest:
            tree = replace(tree, halving_key=halving_key(partial(spec.random, tree)))
        return tree

    # ---- leaves, large and small regions --------------------------------------------

    def _is_leaf(self, region: Region) -> bool:
        return region.place.block == len(self._spec.plan.blocks)

    def _draw_leaves(
        self, regions: Sequence[Region], counts: Sequence[NodeCounts]
    ) -> Iterator[tuple[Key, Tree]]:
        """Draw the leaves below the last block."""
        plan, squares = self._spec.plan, self._spec.rows.squares
        for region, of_region in zip(regions, counts, strict=True):
            if self._is_leaf(region):
                place = region.place
                random = self._spec.random(region.tree, place.region, place.block)
                yield (
                    region.key,
                    draw_leaf(plan, of_region.estimation, random, squares=squares),
                )

    def _sort(
        self, regions: Sequence[Region], counts: Sequence[NodeCounts]
    ) -> tuple[list[tuple[Region, int]], list[tuple[Region, int]]]:
        """Return large and small regions that wait for a block, with their rows."""
        large: list[tuple[Region, int]] = []
        small: list[tuple[Region, int]] = []
        honest = self._spec.plan.honest
        for region, of_region in zip(regions, counts, strict=True):
            if self._is_leaf(region):
                continue
            n = of_region.n_structure + of_region.n_estimation * honest
            depth = self._spec.plan.blocks[region.place.block].depth
            is_small = n <= self._memory.gather_rows or depth > MOST_COUNTED
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
            bins = share(self._cluster, self._grids.bins(region), worker)
            counts = self._shards.map(
                _private_worker.count,
                region,
                bins,
                self._shared_spec,
                per_shard=[points],
            )
            futures.append(
                self._cluster.submit(
                    _private_worker.draw,
                    self._sum(counts),
                    region,
                    bins,
                    self._shared_spec,
                    worker=worker,
                )
            )
        return list(zip(regions, self._cluster.gather(futures), strict=True))

    def _sum(self, counts: Sequence[Future]) -> Future:
        """Add counts two at a time, as a worker may not have memory for more."""
        workers = self._shards.workers
        while len(counts) > 1:
            pairs = zip(counts[::2], counts[1::2], workers[::2], strict=False)
            added = [
                self._cluster.submit(_private_worker.add, one, other, worker=worker)
                for one, other, worker in pairs
            ]
            counts = [*added, *(counts[-1:] if len(counts) % 2 else [])]
            workers = workers[::2]
        return counts[0]

    def _partition(
        self, points: list[Future], blocks: Sequence[tuple[Region, Tree]]
    ) -> list[Future]:
        """Send the points of regions to the regions below their blocks."""
        splits = [
            (region.tree, region.place.region, block)
            for region, block in blocks
            if isinstance(block, Split)
        ]
        while splits:
            node_splits = NodeSplits.of(
                [
                    (
                        tree.node(region),
                        self._cut(tree, split),
                        (tree.node(2 * region), tree.node(2 * region + 1)),
                    )
                    for tree, region, split in splits
                ]
            )
            points = self._shards.map(partition_points, node_splits, per_shard=[points])
            splits = [
                (tree, 2 * region + side, child)
                for tree, region, split in splits
                for side, child in enumerate((split.left, split.right))
                if isinstance(child, Split)
            ]
        return points

    def _cut(self, tree: PrivateTree, split: Split) -> tuple[int, int, int, int]:
        """Return a split as `_core.Chooser.choose` does."""
        if split.feature == len(tree.columns):  # do not split: all go left
            return 0, MOST_CODES, 0, 1
        column = int(tree.columns[split.feature])
        return (
            column,
            split.code,
            int(self._spec.rows.grid.is_categorical[column]),
            1,
        )

    # ---- small regions --------------------------------------------------------------

    def _finish(
        self, points: Sequence[Future], small: Sequence[tuple[Region, int]]
    ) -> list[tuple[list[Region], Future]]:
        """Let workers draw all that is below small regions."""
        share_of_worker = max(sum(n for _, n in small) / self._cluster.n_workers, 1)
        finishing = []
        for i, regions in enumerate(self._memory.bundles(small, share_of_worker)):
            nodes = [region.node for region in regions]
            gathered = self._shards.map(gather_rows, nodes, per_shard=[points])
            below = self._cluster.submit(
                _private_worker.finish, gathered, regions, self._shared_spec, worker=i
            )
            finishing.append((regions, below))
        return finishing

    # ---- trees ----------------------------------------------------------------------

    def _below(self, region: Region, block: Tree) -> Iterator[Region]:
        """Yield the regions below a block that wait for a block of their own."""
        boxes = self._grids.boxes(region.tree, region.place.block)
        for place in places_below(block, region.place.next_block, boxes):
            yield Region(region.tree, place)

    def _put_together(self, region: Region, drawn: Drawn) -> Tree:
        """Return all that was drawn for a region and below it."""
        if region.key in drawn.whole:
            return drawn.whole[region.key]
        block = drawn.blocks[region.key]
        return self._extended(block, self._below(region, block), drawn)

    def _extended(self, tree: Tree, waited: Iterator[Region], drawn: Drawn) -> Tree:
        """Replace leaves without a label by the subtrees of `waited`, in order."""
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
