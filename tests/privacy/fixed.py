# SPDX-License-Identifier: BSD-3-Clause
"""Random bits that are not: the binary digits of a number of one's choice."""

from bisect import bisect_right
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import accumulate

import numpy as np
from scipy.stats import chisquare

from mrforest.privacy.randomness import RandomBits

# The seeds are fixed, so chance has been taken once.
P_VALUE = 1e-6


class FixedBits(RandomBits):
    """Gives the binary digits of u in [0, 1), the first of them first."""

    def __init__(self, u: Fraction) -> None:
        super().__init__(bytes(32))
        self.rest = u

    def bits(self, n: int) -> int:
        digits, self.rest = divmod(self.rest * 2**n, 1)
        return digits

    def words(self, n: int) -> np.ndarray:
        # Of a word the first 53 bits are read; the others must not be lost.
        return np.array([self.bits(53) << 11 for _ in range(n)], dtype=np.uint64)


def index_of(u: Fraction, weights: Sequence[Fraction]) -> int:
    """Return the i whose share of [0, 1) has u in it: the definition."""
    sums = list(accumulate(weights))
    return bisect_right(sums, u * sums[-1])


def near_boundaries(
    weights: Sequence[Fraction], distances: Sequence[Fraction]
) -> list[Fraction]:
    """Return all u in [0, 1) so far above or below a boundary of two indices."""
    sums = [Fraction(0), *accumulate(weights)]
    places = {
        s / sums[-1] + sign * distance
        for s in sums
        for distance in distances
        for sign in (-1, 1)
    }
    return [u for u in sorted(places) if 0 <= u < 1]


def to_decimal(x: Fraction, digits: int) -> Decimal:
    """Return x with a relative error of 10^-digits at most."""
    with localcontext(prec=digits + 2):
        return Decimal(x.numerator) / Decimal(x.denominator)


def fits(counts: Sequence[int], probabilities: Sequence[float]) -> bool:
    """Whether counts may be draws with these probabilities, the rest put together."""
    if len(counts) == 1:
        return True
    counts, expected = np.asarray(counts), np.asarray(probabilities) * np.sum(counts)
    rare = expected < 5
    if rare.any():
        counts = np.append(counts[~rare], counts[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
        if expected[-1] < 1e-3:
            return counts[-1] == 0 and fits(counts[:-1], expected[:-1] / sum(counts))
    return bool(
        chisquare(counts, expected * sum(counts) / sum(expected)).pvalue > P_VALUE
    )
