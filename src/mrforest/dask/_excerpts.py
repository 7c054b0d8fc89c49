# SPDX-License-Identifier: BSD-3-Clause
"""Rows of small nodes, which move to the worker that finishes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrforest.dask._order import Shard
from mrforest.dask._shards import Points


@dataclass(frozen=True)
class Excerpt:
    """Rows of a shard that stand in some nodes, each once.

    Attributes
    ----------
    codes, y, points : ndarray
        As in a `Shard`.
    nodes : dict
        Structure and estimation points of each node, rows of the excerpt.
    """

    codes: NDArray[Any]
    y: NDArray[np.int32]
    points: NDArray[np.int32]
    nodes: dict[int, tuple[NDArray[np.int32], NDArray[np.int32] | None]]

    def __sizeof__(self) -> int:
        points = [p for pair in self.nodes.values() for p in pair if p is not None]
        return self.codes.nbytes + self.y.nbytes + sum(p.nbytes for p in points)


def excerpt(points: Points, shard: Shard, nodes: Sequence[int]) -> Excerpt | None:
    """Take the rows of some nodes out of a shard; None: there are none."""
    if shard.table is None:
        return None
    lists: dict[int, tuple[NDArray[np.int32], NDArray[np.int32] | None]] = {}
    is_used = np.zeros(len(shard.points), dtype=bool)
    for node in nodes:
        s0, s1, e0, e1 = points.nodes[node]
        own = points.structure[s0:s1]
        others = None if points.estimation is None else points.estimation[e0:e1]
        is_used[own] = True
        if others is not None:
            is_used[others] = True
        lists[node] = own, others
    place = np.cumsum(is_used, dtype=np.int32) - np.int32(1)
    return Excerpt(
        shard.codes[is_used],
        shard.y[is_used],
        shard.points[is_used],
        {
            node: (place[own], None if others is None else place[others])
            for node, (own, others) in lists.items()
        },
    )


class Joined:
    """Rows of some nodes, from all shards.

    Parameters
    ----------
    excerpts : sequence of (Excerpt or None)
        Of each shard; at least one has rows.
    """

    def __init__(self, excerpts: Sequence[Excerpt | None]) -> None:
        present = [part for part in excerpts if part is not None]
        lengths = [len(part.y) for part in present]
        first = np.cumsum([0, *lengths])[:-1].astype(np.int32)
        self.codes = np.concatenate([part.codes for part in present])
        self.y = np.concatenate([part.y for part in present])
        # Their places among the rows of the whole table
        self.numbers = np.concatenate([part.points for part in present])
        self._parts = list(zip(first, present, strict=True))

    def points(self, node: int) -> tuple[NDArray[np.int32], NDArray[np.int32] | None]:
        """Return the structure and the estimation points of a node; new arrays."""
        own = np.concatenate([p.nodes[node][0] + first for first, p in self._parts])
        if self._parts[0][1].nodes[node][1] is None:
            return own, None
        others = [part.nodes[node][1] + first for first, part in self._parts]
        return own, np.concatenate(others)
