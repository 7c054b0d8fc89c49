# SPDX-License-Identifier: BSD-3-Clause
"""Random numbers of the twin: streams, keys and paths (docs/algorithm.md, §3).

`Stream` reads its words from NumPy's Philox. `philox_block` computes the same words
with Python integers only, so that the two can be held against each other.
"""

from collections.abc import Sequence

import numpy as np

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15

SAMPLE = 0
SPLIT = 1
LABEL = 2


class Stream:
    """The random words that belong to one key, one path and one purpose."""

    def __init__(self, key: Sequence[int], path: int, purpose: int) -> None:
        self._bits = np.random.Philox(
            key=np.array([int(key[0]), int(key[1])], dtype=np.uint64),
            counter=np.array([0, path, purpose, 0], dtype=np.uint64),
        )

    def word(self) -> int:
        """Return the next 64-bit word."""
        return int(self._bits.random_raw())

    def uniform(self) -> float:
        """Return the next number of [0, 1)."""
        return (self.word() >> 11) * 2.0**-53


def philox_block(key: Sequence[int], counter: Sequence[int]) -> tuple[int, ...]:
    """Return the four words of Philox4x64-10 at a counter, least word first."""
    k0, k1 = int(key[0]), int(key[1])
    x0, x1, x2, x3 = (int(c) for c in counter)
    for _ in range(10):
        product0 = 0xD2E7470EE14C6C93 * x0
        product1 = 0xCA5A826395121157 * x2
        high0, low0 = product0 >> 64, product0 & MASK
        high1, low1 = product1 >> 64, product1 & MASK
        x0, x1, x2, x3 = high1 ^ x1 ^ k0, low1, high0 ^ x3 ^ k1, low0
        k0 = (k0 + 0x9E3779B97F4A7C15) & MASK
        k1 = (k1 + 0xBB67AE8584CAA73B) & MASK
    return x0, x1, x2, x3


def tree_key(seed: int, tree: int) -> np.ndarray:
    """Return the key of a tree, two words of 64 bits."""
    sequence = np.random.SeedSequence(seed, spawn_key=(tree,))
    return sequence.generate_state(2, np.uint64)


def mix(z: int) -> int:
    """Return the splitmix64 finaliser of a 64-bit word."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def child_path(path: int, side: int) -> int:
    """Return the path of a child; the left side is 0, the right side is 1."""
    return mix(path ^ (((side + 1) * GOLDEN) & MASK))
