# SPDX-License-Identifier: BSD-3-Clause
"""Structure and estimation points of a tree (docs/algorithm.md, §4)."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from tests.naive.rng import SAMPLE, Stream


def partition(
    key: Sequence[int], n: int, honest_fraction: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the structure points and the estimation points, each ascending."""
    share = 1 - Fraction(float(honest_fraction)).limit_denominator(10**6)
    n_structure = math.floor(n * share + Fraction(1, 2))
    n_structure = max(n_structure, 1)
    n_structure = min(n_structure, n - 1)

    stream = Stream(key, 0, SAMPLE)
    words = [stream.word() for _ in range(n)]
    order = sorted(range(n), key=lambda i: (words[i], i))
    structure = sorted(order[:n_structure])
    estimation = sorted(order[n_structure:])
    return np.array(structure, dtype=np.int64), np.array(estimation, dtype=np.int64)


def bootstrap(key: Sequence[int], n: int) -> list[int]:
    """Return n points drawn with replacement, ascending."""
    stream = Stream(key, 0, SAMPLE)
    return sorted(math.floor(stream.uniform() * n) for _ in range(n))
