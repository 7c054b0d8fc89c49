# SPDX-License-Identifier: BSD-3-Clause
"""Which points shape a tree and which fill its leaves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from mrforest import _core


def tree_key(seed: int, tree: int) -> NDArray[np.uint64]:
    """Key of all random streams of a tree."""
    sequence = np.random.SeedSequence(seed, spawn_key=(tree,))
    return sequence.generate_state(2, np.uint64).astype(np.uint64)


class Sampler(Protocol):
    """Draws the structure and the estimation points of a tree."""

    def __call__(
        self, key: NDArray[np.uint64], n_points: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int32] | None]:
        """Point numbers of both sides, ascending; None: the structure points again."""


@dataclass(frozen=True)
class Partition:
    """Disjoint sides, all points used; rate is structure over estimation points."""

    rate: float

    def n_structure(self, n_points: int) -> int:
        """Size of the structure side; neither side is empty if there are two points."""
        if n_points == 1:
            return 0
        wanted = math.floor(n_points * (self.rate / (1 + self.rate)) + 0.5)
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


def seed_from(random_state: Any) -> int:
    """Turn a `random_state` into a whole number that stands for it from now on."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    # As everywhere in scikit-learn: None means NumPy's global generator.
    words = check_random_state(random_state).randint(0, 2**32, size=4, dtype=np.uint32)
    return int.from_bytes(words.astype("<u4").tobytes(), "little")
