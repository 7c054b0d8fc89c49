# SPDX-License-Identifier: BSD-3-Clause
"""Which points shape a tree and which fill its leaves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from mrforest import _core


def tree_key(seed: int, tree: int) -> NDArray[np.uint64]:
    """Key of all random streams of a tree."""
    sequence = np.random.SeedSequence(seed, spawn_key=(tree,))
    return sequence.generate_state(2, np.uint64).astype(np.uint64)


# Points that shape a tree, and points that fill it; None: the same.
Sides = tuple[NDArray[np.int32], NDArray[np.int32] | None]


class Sampler(Protocol):
    """Draws the structure and the estimation points of a tree."""

    def __call__(self, key: NDArray[np.uint64], n_points: int) -> Sides:
        """Point numbers of both sides, ascending; None: the structure points again."""


@dataclass(frozen=True)
class Partition:
    """Disjoint sides, all points used; the fraction is that of the estimation side."""

    honest_fraction: float

    def n_structure(self, n_points: int) -> int:
        """Size of the structure side; neither side is empty if there are two points."""
        if n_points == 1:
            return 0
        # Exact for simple fractions such as 7/10: halves are always rounded up.
        fraction = Fraction(float(self.honest_fraction)).limit_denominator()
        wanted = math.floor(n_points * (1 - fraction) + Fraction(1, 2))
        return min(max(wanted, 1), n_points - 1)

    def __call__(
        self, key: NDArray[np.uint64], n_points: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Draw a uniform subset of fixed size; the other side is the rest."""
        return _core.partition_points(key, n_points, self.n_structure(n_points))


@dataclass(frozen=True)
class Bootstrap:
    """As many points as there are, drawn with replacement; they shape and fill."""

    def __call__(
        self, key: NDArray[np.uint64], n_points: int
    ) -> tuple[NDArray[np.int32], None]:
        """Draw the bag."""
        return _core.bootstrap_points(key, n_points), None


@dataclass(frozen=True)
class AllPoints:
    """Every point shapes and fills every tree."""

    def __call__(
        self, key: NDArray[np.uint64], n_points: int
    ) -> tuple[NDArray[np.int32], None]:
        """Return all points."""
        return np.arange(n_points, dtype=np.int32), None


# Shares whose sum is this near to 1 add up to it.
ROUNDING = 1e-9


@dataclass(frozen=True)
class HeldOutGroups:
    """A share of the rows shapes a tree, all fill it; the others are held out.

    Trees come in groups. In a group every row is held out of one tree at most, and of
    exactly one if shares allow it: then all rows are held out of equally many trees.

    Attributes
    ----------
    max_samples : int or float
        Mean number of rows that shape a tree, or their share.
    """

    max_samples: float

    def _share(self, n_points: int) -> float:
        """Return the share of the points that are held out."""
        if isinstance(self.max_samples, Integral):
            return max(1 - int(self.max_samples) / n_points, 0.0)
        return 1 - float(self.max_samples)

    def holds_out(self, n_points: int) -> bool:
        """Whether trees hold out points."""
        return self._share(n_points) > 0 and n_points > 1

    def trees_of_group(self, n_points: int) -> int:
        """Trees of a group: as many as can hold out different points."""
        share = self._share(n_points)
        return math.floor(1 / share + ROUNDING) if share > 0 else 1

    def group_of(self, tree: int, n_points: int) -> int:
        """Return the number of the group of a tree."""
        return tree // self.trees_of_group(n_points)

    def edges(
        self, seed: int, tree: int, n_points: int
    ) -> tuple[NDArray[np.uint64], float, float]:
        """Return the key of the group of a tree, and which points the tree holds out.

        Each point has a uniform number in each group, and the trees of a group hold out
        those with numbers in [0, share), [share, 2 share), and so on.
        """
        group, place = divmod(tree, self.trees_of_group(n_points))
        share = self._share(n_points)
        low, high = (
            1.0 if edge * share > 1 - ROUNDING else edge * share
            for edge in (place, place + 1)
        )
        sequence = np.random.SeedSequence(seed, spawn_key=(group, 0))
        key = sequence.generate_state(2, np.uint64).astype(np.uint64)
        return key, low, high

    def points(
        self, seed: int, tree: int, n_points: int
    ) -> tuple[NDArray[np.int32], int]:
        """Return the points that shape a tree, then the others; and how many shape it.

        Both ascend. A tree that all points would be held out of is shaped by all.
        """
        key, low, high = self.edges(seed, tree, n_points)
        points, n_structure = _core.held_out_points(key, n_points, low, high)
        if n_structure == 0:
            return np.arange(n_points, dtype=np.int32), n_points
        return points, n_structure


def seed_from(random_state: Any) -> int:
    """Turn a `random_state` into a whole number that stands for it from now on."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    # As everywhere in scikit-learn: None means NumPy's global generator.
    words = check_random_state(random_state).randint(0, 2**32, size=4, dtype=np.uint32)
    return int.from_bytes(words.astype("<u4").tobytes(), "little")
