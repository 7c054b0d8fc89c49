# SPDX-License-Identifier: BSD-3-Clause
"""Grown trees to the arrays of a forest, while the others still grow."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Arrays that say where something begins, and the end; others are just laid end to end.
STARTS = {"tree_start", "leaf_offset", "mass_start"}

# Trees of a forest are nearly of one size. Room that is not used is given back, and
# until then it is not even there: nobody has written to it.
SPARE = 1.25


class Gathered:
    """Trees laid end to end as they come, so that each stands in memory once.

    Parameters
    ----------
    n_trees : int
        How many there will be; or forests, or whatever has the arrays of some trees.

    Examples
    --------
    >>> import numpy as np
    >>> trees = Gathered(n_trees=2)
    >>> trees.add({"mass_start": np.array([0, 1, 3]), "mass": np.array([5, 6, 7])})
    >>> trees.add({"mass_start": np.array([0, 2]), "mass": np.array([8, 9])})
    >>> {name: array.tolist() for name, array in trees.arrays().items()}
    {'mass_start': [0, 1, 3, 5], 'mass': [5, 6, 7, 8, 9]}
    """

    def __init__(self, n_trees: int) -> None:
        self._n_trees = n_trees
        self._n_added = 0
        self._rooms: dict[str, NDArray[Any]] = {}
        self._lengths: dict[str, int] = {}

    def __len__(self) -> int:
        return self._n_added

    def add(self, tree: dict[str, NDArray[Any]]) -> None:
        """Put a tree behind those that are there."""
        self._n_added += 1
        for name, part in tree.items():
            end = self._lengths.get(name, 0)
            if name in STARTS and end > 0:
                part = part[1:] + self._rooms[name][end - 1]
            room = self._rooms.get(name)
            if room is None or len(room) < end + len(part) or room.dtype != part.dtype:
                room = self._room(name, part, end + len(part))
            plain(room)[end : end + len(part)] = plain(part)
            self._lengths[name] = end + len(part)

    def _room(self, name: str, part: NDArray[Any], length: int) -> NDArray[Any]:
        """Return an array of at least that length that begins with what is there.

        Its numbers are as long as those of the tree that has the longest.
        """
        room = self._rooms.get(name)
        dtype = part.dtype if room is None else wider(room.dtype, part.dtype)
        if room is None or len(room) < length or room.dtype != dtype:
            expected = math.ceil(SPARE * length / self._n_added * self._n_trees)
            larger = np.empty((max(expected, length), *part.shape[1:]), dtype)
            if room is not None:
                used = self._lengths[name]
                plain(larger)[:used] = plain(room)[:used]
            self._rooms[name] = room = larger
        return room

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays; nothing can be added afterwards."""
        for name, room in self._rooms.items():
            # Gives the rest back without moving anything; no view of it is left.
            room.resize((self._lengths[name], *room.shape[1:]), refcheck=False)
        return self._rooms


def sizes_of(tree: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return where a single tree begins and ends."""
    return {
        "tree_start": np.array([0, len(tree["nodes"])]),
        "leaf_offset": np.array([0, len(tree["leaf_points"])]),
    }


def wider(one: np.dtype[Any], other: np.dtype[Any]) -> np.dtype[Any]:
    """Return a type for the numbers of both."""
    return one if one == other else np.promote_types(one, other)


def plain(array: NDArray[Any]) -> NDArray[Any]:
    """View records as bytes: NumPy would copy them field by field, which is slow."""
    if array.dtype.names is None:
        return array
    return array.view(f"V{array.dtype.itemsize}")
