# SPDX-License-Identifier: BSD-3-Clause
"""Floats as the exact rationals they are: sums, rounding and search on the safe side.

Costs are never negative; those that are not bounded are inf.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable
from fractions import Fraction
from numbers import Real


def as_cost(name: str, value: object) -> float:
    """Return a cost that somebody gave; it is a float or exactly equal to one."""
    return _as_float(name, value, lambda cost: cost >= 0, "at least 0, or inf")


def as_delta(name: str, value: object) -> float:
    """Return a probability of failure that somebody gave."""
    return _as_float(name, value, lambda delta: 0 <= delta < 1, "at least 0, below 1")


def _as_float(
    name: str, value: object, allowed: Callable[[float], bool], wish: str
) -> float:
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.nan
        # A rational between two floats is refused: to round it is to change it.
        if number == value and allowed(number):
            return number + 0.0  # never -0.0
    raise ValueError(f"{name} must be a float, {wish}; got {value!r}")


def round_up(exact: Fraction) -> float:
    """Return the smallest float that is not below a rational >= 0."""
    try:
        nearest = float(exact)
    except OverflowError:
        return math.inf
    return nearest if nearest >= exact else math.nextafter(nearest, math.inf)


def round_down(exact: Fraction) -> float:
    """Return the largest finite float that is not above a rational >= 0."""
    rounded_up = round_up(exact)
    return rounded_up if rounded_up == exact else math.nextafter(rounded_up, 0)


def exact_sum(values: Iterable[float]) -> Fraction:
    """Return the sum of finite floats, exactly.

    Examples
    --------
    >>> exact_sum([0.1] * 10) > 1
    True
    """
    ratios = [value.as_integer_ratio() for value in values]
    # All denominators are powers of two, so the largest is a common one.
    common = max((denominator for _, denominator in ratios), default=1)
    total = sum(
        numerator * (common // denominator) for numerator, denominator in ratios
    )
    return Fraction(total, common)


def sum_up(values: Iterable[float]) -> float:
    """Return the smallest float that is not below the sum of costs."""
    values = list(values)
    return math.inf if math.inf in values else round_up(exact_sum(values))


def largest(fits: Callable[[float], bool]) -> float:
    """Return the largest float >= 0 that fits, of those below which all fit.

    What is returned did fit, also if rounding errors blur the border; 0 if nothing
    does.

    Examples
    --------
    >>> largest(lambda x: x * x <= 2)
    1.414213562373095
    """
    if fits(math.inf):
        return math.inf
    # Floats >= 0 are in the order of their bits, so this takes 63 steps at any scale.
    low, high = 0, _bits(math.inf)
    while high - low > 1:
        middle = (low + high) // 2
        if fits(_float(middle)):
            low = middle
        else:
            high = middle
    return _float(low)


def _bits(number: float) -> int:
    return int.from_bytes(struct.pack(">d", number), "big")


def _float(bits: int) -> float:
    return float(struct.unpack(">d", bits.to_bytes(8, "big"))[0])
