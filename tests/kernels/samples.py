# SPDX-License-Identifier: BSD-3-Clause
"""Numbers that tests of several kernels draw."""

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

# Around the lanes of all registers, and of several at once.
AROUND_LANES = (
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    9,
    15,
    16,
    17,
    31,
    32,
    33,
    63,
    64,
    65,
    127,
    128,
    129,
)
LENGTHS = (*AROUND_LANES, 255, 256)
# Of classes: kernels for one class and two, for a register of them, for many.
CLASSES = (1, 2, 3, 4, 8, 9, 15, 16, 17, 31, 32, 33, 64, 255, 256)

seeds = st.integers(0, 2**32 - 1)


def sizes(high: int, limits: Sequence[int] = LENGTHS) -> st.SearchStrategy[int]:
    """Draw a number from 1 to high, often one of the limits."""
    limits = [limit for limit in limits if limit <= high]
    return st.sampled_from(limits) | st.integers(1, high)


CODE_STYLES = ("any", "equal", "two", "few", "ascending", "descending", "one other")


def codes_of(rng, n: int, n_codes: int, style: str) -> np.ndarray:
    """Return n codes below n_codes."""
    if style == "equal":
        return np.full(n, rng.integers(n_codes))
    if style in ("two", "few"):
        some = rng.integers(n_codes, size=2 if style == "two" else 5)
        return rng.choice(some, n)
    codes = rng.integers(n_codes, size=n)
    if style == "ascending":
        return np.sort(codes)
    if style == "descending":
        return np.sort(codes)[::-1].copy()
    if style == "one other":
        codes[:] = codes[0]
        codes[rng.integers(n)] = rng.integers(n_codes)
    return codes


def classes_of(rng, n: int, n_classes: int, all_there: bool = False) -> np.ndarray:
    """Return classes of n points, of unequal frequency; if asked, each has a point."""
    shares = rng.dirichlet(np.full(n_classes, rng.choice([0.1, 1.0, 10.0])))
    classes = rng.choice(n_classes, n, p=shares)
    if all_there:
        classes[:n_classes] = np.arange(n_classes)
        rng.shuffle(classes)
    return classes


def random_words(rng, shape, density: float = 0.5) -> np.ndarray:
    """Return words of random bits."""
    n = int(np.prod(shape))
    bits = rng.random((n, 64)) < density
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint64).reshape(shape)
