# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a private forest, and what is drawn of them. These functions run on workers.

None changes what it is given, so the cluster can do any of them again when a worker is
lost. A draw that is lost before anybody has seen it is drawn anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrforest.dask._excerpts import Excerpt, Joined
from mrforest.dask._order import Shard
from mrforest.dask._parts import Part, PartitionError, check_lengths, naming_part
from mrforest.dask._private_problem import PrivateProblem, PrivateRows, Region
from mrforest.dask._shards import Points
from mrforest.data.table import read_target
from mrforest.privacy.counted import Bins, CountedMechanism, Counts
from mrforest.privacy.subtree import Tree
from mrforest.privacy.tree import Coded, TreeMechanism, draw_block, scoring_of

# Codes and classes
Rows = tuple[NDArray[np.uint8], NDArray[np.int32]]


# ---- the table -----------------------------------------------------------------------


@naming_part
def read(number: int, part: Part, forest: Any) -> Rows | None:
    """Read a part as the ordinary forest does; None: it has no rows."""
    X, y = part
    check_lengths(X, y)
    if len(X) == 0:
        return None
    rows = forest._read_rows(X, read_target(y))
    return rows.codes, rows.y


class Seal(NamedTuple):
    """What the rows of a part are known by: how many they are, and a hash."""

    n_rows: int
    digest: bytes


def seal(rows: Rows | None) -> Seal:
    """Return what rows are known by."""
    digest = hashlib.blake2b()
    for array in rows or ():
        content: Any = np.ascontiguousarray(array)
        digest.update(content)
    return Seal(0 if rows is None else len(rows[1]), digest.digest())


def join(
    parts: Sequence[Rows | None],
    numbers: Sequence[int],
    seals: Sequence[Seal],
    first: int,
    known: PrivateRows,
) -> Shard:
    """Put neighbouring parts together.

    Parts are read again when a worker is lost. If they were other rows then, a row
    could be looked at twice, which nobody has paid for.

    Parameters
    ----------
    parts : sequence of (Rows or None)
    numbers : sequence of int
        Of the parts.
    seals : sequence of Seal
        Of the rows that the fit has seen first.
    first : int
        Number of the first row among all.
    known : PrivateRows
    """
    for number, part, expected in zip(numbers, parts, seals, strict=True):
        if seal(part) != expected:
            raise PartitionError(
                f"partition {number}: its rows are not those of the first look; a "
                "collection must give the same rows each time (persist it)"
            )
    present = [part for part in parts if part is not None]
    if not present:
        nothing = np.empty(0, dtype=np.int32)
        codes = np.empty((0, len(known.grid.n_codes)), dtype=np.uint8)
        return Shard(codes, nothing, nothing, None)
    codes = np.concatenate([codes for codes, _ in present])
    y = np.concatenate([y for _, y in present])
    places = np.arange(first, first + len(y), dtype=np.int32)
    return Shard(codes, y, places, known.table(codes, y))


# ---- large regions -------------------------------------------------------------------


def count(
    points: Points, shard: Shard, region: Region, bins: Bins, problem: PrivateProblem
) -> NDArray[np.int32]:
    """Count the structure points of a region for its block."""
    rows, first, end = points.slices([region.node], of_estimation=False)
    # The last feature is "do not split", of which all rows have the only bin.
    columns = np.append(region.tree.columns, 0).astype(np.int32)
    return bins.count(
        shard.codes,
        shard.y,
        rows[first[0] : end[0]],
        columns,
        problem.rows.n_classes,
        depth=counted_depth(region, problem),
    )


def counted_depth(region: Region, problem: PrivateProblem) -> int:
    """Return how many levels rows are counted for; a leaf needs their classes, too."""
    return max(problem.plan.blocks[region.place.block].depth, 1)


def add(one: NDArray[np.int32], other: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the counts of both."""
    return one + other


def draw(
    cells: NDArray[np.int32], region: Region, bins: Bins, problem: PrivateProblem
) -> Tree:
    """Draw the block of a region from the counts of all its points."""
    plan, place, known = problem.plan, region.place, problem.rows
    scoring = scoring_of(plan, place.block, problem.norm, squares=known.squares)
    mechanism = CountedMechanism(bins, known.n_classes, scoring, known.n_points)
    depth = counted_depth(region, problem)
    counts = Counts.of(cells, depth, bins.grid.slot, known.n_classes)
    random = problem.random(region.tree, place.region, place.block)
    return bins.as_codes(draw_block(plan, place, mechanism, counts, random))


# ---- small regions -------------------------------------------------------------------


def finish(
    excerpts: Sequence[Excerpt | None],
    regions: Sequence[Region],
    problem: PrivateProblem,
) -> list[Tree]:
    """Draw all that is below regions, whose rows are here."""
    rows, known = Joined(excerpts), problem.rows
    coded = Coded(rows.codes, rows.y, known.n_classes, known.grid, known.squares)
    mechanisms: dict[int, TreeMechanism] = {}
    drawn = []
    for region in regions:
        tree = region.tree
        if tree.number not in mechanisms:
            mechanisms[tree.number] = TreeMechanism(
                coded.only(tree.columns),
                problem.plan,
                problem.norm,
                n_points=known.n_points,
            )
        structure, estimation = rows.points(region.node)
        below = mechanisms[tree.number].draw_below(
            structure,
            structure if estimation is None else estimation,
            region.place,
            partial(problem.random, tree),
        )
        drawn.append(below)
    return drawn
