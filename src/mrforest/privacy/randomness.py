# SPDX-License-Identifier: BSD-3-Clause
"""Uniform random bits: from the entropy of the system, or from a seed for tests."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from mrforest._core import ChaCha20

# A key is used for one stream only, so its nonce may be anything.
NONCE = bytes(12)
MOST_BELOW = 2**63  # that the compiled `below` knows
BLOCK_COINS = 512  # of a block of ChaCha20


class RandomBits:
    """A stream of independent fair bits.

    It cannot be copied or pickled, for whoever has a copy knows the noise. A process
    forked from this one draws a new secure key of its own.

    Parameters
    ----------
    key : bytes of length 32 or None
        None: a key from the operating system, that nobody knows. What is drawn with
        any other key is not private.

    Examples
    --------
    >>> random = RandomBits.seeded(7)
    >>> random.bits(8), random.below(6)
    (194, 4)
    >>> RandomBits.secure()
    RandomBits.secure()
    """

    def __init__(self, key: bytes | None = None) -> None:
        self._is_secure = key is None
        self._process = os.getpid()
        self._stream = ChaCha20(os.urandom(32) if key is None else key, NONCE)

    @classmethod
    def secure(cls) -> RandomBits:
        """Bits that nobody can foresee."""
        return cls()

    @classmethod
    def seeded(cls, seed: int, *path: int) -> RandomBits:
        """Bits that depend on the seed and the path only, and so are not private.

        Parameters
        ----------
        seed : int
            Not negative.
        *path : int
            Not negative; another path is another stream.
        """
        for name, number in [("seed", seed), *(("path", step) for step in path)]:
            if number < 0:
                raise ValueError(f"{name}={number} must not be negative")
        words = np.random.SeedSequence(seed, spawn_key=path).generate_state(8)
        return cls(words.astype("<u4").tobytes())

    @classmethod
    def of(cls, seed: int | None, *path: int) -> RandomBits:
        """Bits of a seed and a path, or secure ones."""
        return cls.secure() if seed is None else cls.seeded(seed, *path)

    @property
    def is_secure(self) -> bool:
        """Whether the key came from the operating system."""
        return self._is_secure

    def bits(self, n: int) -> int:
        """Draw a whole number, uniform in [0, 2**n)."""
        if n < 0:
            raise ValueError(f"n={n} must not be negative")
        n_bytes = (n + 7) // 8
        return int.from_bytes(self._read(n_bytes), "little") >> (8 * n_bytes - n)

    def below(self, n: int) -> int:
        """Draw a whole number, uniform in [0, n)."""
        if n < 1:
            raise ValueError(f"n={n} must be at least 1")
        if n <= MOST_BELOW:
            return self._of_this_process().below(n)
        n_bits = (n - 1).bit_length()
        while True:
            drawn = self.bits(n_bits)
            if drawn < n:
                return drawn

    def index(self, counts: Sequence[int]) -> int:
        """Draw an index with probability its count over the sum of all."""
        return self.place(list(accumulate(counts)))

    def place(self, sums: Sequence[int]) -> int:
        """Draw an index as `index` does, from the sums of the counts up to each."""
        return bisect_right(sums, self.below(sums[-1]))

    def words(self, n: int) -> NDArray[np.uint64]:
        """Draw n whole numbers, each uniform in [0, 2**64)."""
        if n < 0:
            raise ValueError(f"n={n} must not be negative")
        return np.frombuffer(self._read(8 * n), dtype="<u8").astype(np.uint64)

    def _read(self, n_bytes: int) -> bytes:
        return self._of_this_process().read(n_bytes)

    def _of_this_process(self) -> ChaCha20:
        if self._is_secure and self._process != os.getpid():
            # Forked: with the key of the parent both would draw the same noise.
            self._process = os.getpid()
            self._stream = ChaCha20(os.urandom(32), NONCE)
        return self._stream

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "RandomBits cannot be copied or pickled: the copy would draw the same bits"
        )

    def __repr__(self) -> str:
        return f"RandomBits.{'secure()' if self._is_secure else 'seeded(...)'}"


def coins(key: bytes, first: int, n: int) -> NDArray[np.bool_]:
    """Return fair coins, numbers ``first`` to ``first + n - 1`` of those of a key.

    Whoever knows the key can toss any of them without the others.

    Parameters
    ----------
    key : bytes of length 32
        Nothing else may be drawn with it.
    first, n : int

    Examples
    --------
    >>> key = bytes(32)
    >>> bool((coins(key, 0, 1000)[700:] == coins(key, 700, 300)).all())
    True
    """
    block, skipped = divmod(first, BLOCK_COINS)
    stream = ChaCha20(key, NONCE, counter=block)
    bits = np.frombuffer(stream.read((skipped + n + 7) // 8), dtype=np.uint8)
    return np.unpackbits(bits, bitorder="little")[skipped : skipped + n].astype(bool)
