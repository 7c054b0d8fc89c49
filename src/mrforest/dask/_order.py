# SPDX-License-Identifier: BSD-3-Clause
"""The place of each row in the canonical order of all. These functions run on workers.

parts ─► join: codes in the order of their hashes ─► rank, range by range ─► shard

For trees whose nodes are scored on rows at certain places, rows move to the shard that
has their range of places (`run_of`, `join_runs`): then shards follow one another in the
canonical order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.dask._parts import Codes
from mrforest.dask._problem import Problem


def join(parts: Sequence[Codes | None], problem: Problem) -> Codes:
    """Put parts together, in the order of their fingerprints."""
    present = [part for part in parts if part is not None]
    if not present:
        return Codes(
            np.empty((0, problem.n_features), dtype=problem.binning.code_dtype),
            np.empty(0, dtype=np.int32),
            np.empty(0, dtype=np.uint64),
        )
    fingerprints = np.concatenate([part.fingerprints for part in present])
    order = np.argsort(fingerprints, kind="stable").astype(np.int32)
    codes = np.concatenate([part.codes for part in present])
    _core.put_in_order(codes, order)
    y = np.concatenate([part.y for part in present])[order]
    return Codes(codes, y, fingerprints[order])


def pieces(rows: Codes, n_ranges: int) -> NDArray[np.int64]:
    """Return where fingerprints of equally wide ranges begin, and the end."""
    ends = [((i << 64) // n_ranges) for i in range(1, n_ranges)]
    inner = np.searchsorted(rows.fingerprints, np.array(ends, dtype=np.uint64))
    return np.concatenate([[0], inner, [len(rows.fingerprints)]]).astype(np.int64)


def piece(rows: Codes, n_ranges: int, number: int) -> NDArray[np.uint64]:
    """Return the fingerprints of one range."""
    start = pieces(rows, n_ranges)
    return rows.fingerprints[start[number] : start[number + 1]]


def rank(found: Sequence[NDArray[np.uint64]]) -> list[NDArray[np.int32]]:
    """Return the places of fingerprints of one range among all of them.

    Equal ones belong to equal rows: any order of them will do.
    """
    lengths = [len(part) for part in found]
    order = np.argsort(np.concatenate(found), kind="stable")
    places = np.empty(len(order), dtype=np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return np.split(places, np.cumsum(lengths)[:-1])


@dataclass(frozen=True)
class Shard:
    """Rows of a table, ascending by their place among all rows.

    Attributes
    ----------
    codes, y : ndarray
        See `Codes`.
    points : ndarray of shape (n_rows,), dtype=int32
        Places of the rows in the canonical order of all: the numbers of the points.
    table : TrainingTable or None
        The rows as the engine sees them; None: there are none.
    """

    codes: NDArray[Any]
    y: NDArray[np.int32]
    points: NDArray[np.int32]
    table: _core.TrainingTable | None

    def __sizeof__(self) -> int:
        return self.codes.nbytes + self.y.nbytes + self.points.nbytes


def shard(
    rows: Codes,
    ranges: Sequence[Sequence[NDArray[np.int32]]],
    number: int,
    first: Sequence[int],
    problem: Problem,
) -> Shard:
    """Return the rows of a shard with their places.

    Parameters
    ----------
    rows : Codes
    ranges : sequence
        Of each range of fingerprints, what `rank` returned.
    number : int
        Of the shard.
    first : sequence of int
        How many rows have fingerprints of earlier ranges.
    problem : Problem
    """
    if len(rows.y) == 0:
        return Shard(rows.codes, rows.y, np.empty(0, dtype=np.int32), None)
    points = np.concatenate(
        [of_all[number] + np.int32(n) for of_all, n in zip(ranges, first, strict=True)]
    )
    return Shard(rows.codes, rows.y, points, problem.table(rows.codes, rows.y))


# ---- shards that follow one another --------------------------------------------------


@dataclass(frozen=True)
class Run:
    """Rows of a shard whose places are in one range.

    Attributes
    ----------
    codes, y, points : ndarray
        See `Shard`.
    """

    codes: NDArray[Any]
    y: NDArray[np.int32]
    points: NDArray[np.int32]

    def __sizeof__(self) -> int:
        return self.codes.nbytes + self.y.nbytes + self.points.nbytes


def run_of(shard: Shard, first: int, end: int) -> Run:
    """Return the rows of a shard at the places from first to end."""
    here = slice(*np.searchsorted(shard.points, [first, end]).tolist())
    return Run(shard.codes[here], shard.y[here], shard.points[here])


def join_runs(runs: Sequence[Run], problem: Problem) -> Shard:
    """Return the shard that has all rows of one range of places."""
    points = np.concatenate([run.points for run in runs])
    order = np.argsort(points).astype(np.int32)
    codes = np.concatenate([run.codes for run in runs])
    _core.put_in_order(codes, order)
    y = np.concatenate([run.y for run in runs])[order]
    table = problem.table(codes, y) if len(y) else None
    return Shard(codes, y, points[order], table)
