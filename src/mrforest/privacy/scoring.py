# SPDX-License-Identifier: BSD-3-Clause
"""What a leaf is worth to a subtree, and powers of what that costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrforest.privacy.exact import precise
from mrforest.privacy.sensitivity import (
    CORRECT_RANGE,
    NORM_RANGE,
    POWERS,
    correct,
    squares,
    squares_range,
)

DIGIT = 1024  # entries of a table of powers
# exp(epsilon n) of 2^31 points then has an exponent that decimals know.
MOST_EPSILON = 2.0**20
# A weight that is exp(-400) of another is left out beside it; see `SubtreeMechanism`.
FARTHEST = 400


@dataclass(frozen=True)
class Scoring:
    """What a leaf is worth, and what a point of it costs.

    Parameters
    ----------
    epsilon : float
        Budget of the draw, in (0, 2^20].
    norm : float or None
        None: labels are drawn, and a leaf is worth its points that have its label.
        Else the p-norm of its class counts, rounded down to multiples of 2^-16; p is
        1.5, 2, 3 or inf.
    squares : bool, default=False
        Classes are equally spaced numbers, and a point is worth the more, the nearer
        the label is to its class; see `sensitivity.squares`. ``norm=inf``: labels are
        not drawn, and a leaf is worth what its best label would make it.
    """

    epsilon: float
    norm: float | None
    squares: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.epsilon <= MOST_EPSILON:
            raise ValueError(f"epsilon={self.epsilon} must be in (0, 2**20]")
        allowed = [None, math.inf, *([] if self.squares else POWERS)]
        if self.norm not in allowed:
            raise ValueError(
                f"norm={self.norm} with squares={self.squares} must be one of {allowed}"
            )

    def range(self, n_classes: int) -> int:
        """Return how far one point moves a score at most."""
        if self.squares:
            return squares_range(n_classes)
        return CORRECT_RANGE if self.norm is None else NORM_RANGE

    def unit(self, n_classes: int) -> Fraction:
        """Return the budget of one step of a score."""
        # Nothing moves the scores of a single number, whatever they are multiplied by.
        return Fraction(self.epsilon) / max(self.range(n_classes), 1)

    def of_labels(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what each label would make a leaf worth; only if labels are drawn."""
        return (squares if self.squares else correct)(counts, np.arange(len(counts)))


class Powers(NamedTuple):
    """Powers exp(-unit s i) for steps s = 1, 2^10 and 2^20, correctly rounded.

    From ``negligible`` steps on, a power is taken for 0.
    """

    ones: NDArray[np.float64]
    tens: NDArray[np.float64]
    hundreds: NDArray[np.float64]
    negligible: int


def powers_up_to(highest: int, unit: Fraction) -> Powers:
    """Return the powers that scores of at most `highest` need."""
    negligible = min(math.ceil(FARTHEST / unit), highest + 1)
    return Powers(
        powers(unit, DIGIT),
        powers(unit * DIGIT, DIGIT),
        powers(unit * DIGIT * DIGIT, -(-negligible // (DIGIT * DIGIT))),
        negligible,
    )


@lru_cache(maxsize=64)
def powers(unit: Fraction, n: int) -> NDArray[np.float64]:
    """Return exp(-unit i) for i < n, each rounded correctly."""
    out = np.empty(n)
    with localcontext(precise(60)):
        ratio = (-Decimal(unit.numerator) / Decimal(unit.denominator)).exp()
        power = Decimal(1)
        for i in range(n):
            out[i] = float(power)
            power *= ratio
    out.setflags(write=False)
    return out


def powers_of(steps: NDArray[np.int64], tables: Powers) -> NDArray[np.float64]:
    """Return exp(-unit steps), as the kernel takes powers."""
    is_near = steps < tables.negligible
    near = np.where(is_near, steps, 0)
    found = tables.ones[near % DIGIT] * tables.tens[near // DIGIT % DIGIT]
    return np.where(is_near, found * tables.hundreds[near // (DIGIT * DIGIT)], 0.0)
