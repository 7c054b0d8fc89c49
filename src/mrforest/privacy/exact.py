# SPDX-License-Identifier: BSD-3-Clause
r"""Exact draws from distributions whose probabilities are irrational numbers.

A draw is a function of one uniform real number U, of which only some bits are known,
and of real numbers of which only approximations are known. An answer is given when it
is the same for every U with these bits and all numbers within their error bounds.
Else more bits and more digits are asked for. So the answer is always that of the exact
U and the exact numbers, and its distribution is theirs, whatever the errors were. The
number of bits and digits needed is finite with probability 1. (How long it takes is
not a secret that is kept here.)

`draw_index`: true weights w_i, sums S_j = w_0 + ... + w_{j-1} and W = S_n. Its answer
is the i with S_i <= U W < S_{i+1}; that has probability w_i / W.

*Fast path.* Let u = 2^-53 and r <= 1/8. Floats a_i with |a_i - w_i| <= r w_i + t, where
t = 2^-99 max(w) stands for what is dropped or lost in scaling, are added to c_j. Each
passes through fewer than n additions, so that with g = n u / (1 - n u)

    |c_j - S_j| <= d W + 2 n t,     d = r + g + r g,     W <= (1 + 2^-40) c_n / (1 - d).

U lies in [k u, (k + 1) u), so the float product x of k u and c_n has

    |x - U W| <= u c_n + u c_n + d W + 2 n t.

Comparing x with c_j + E or c_j - E rounds once more, by less than 2 u c_n. Hence U W
lies on the same side of S_j as x of c_j if x is more than E away from it and

    E >= 2 d W + 4 u c_n + 4 n t.

As d <= 0.126 and g <= 1.01 n u (n <= 2^40), the right side is below
(2.3 r + 2.7 n u + 4 u + 2^-40 n u) c_n, and E = 4 (r + 2 n u) c_n is enough.

*Slow path.* Decimals D_i with |D_i - w_i| <= 10^-d w_i, or 0 for a weight below
10^-(d+2) of the largest, are cut to whole multiples of 10^-d to 10^-(d+1) times the
largest. These units are added exactly, to Q_j. In units, where n < 10^20,

    |Q_j - S_j| <= 2 n + 2 10^-d W <= 2 n + 1 + 3 10^-d Q_n <= e.

With U in [k, k + 1) / 2^b the index is i if (Q_i + e) 2^b <= k (Q_n - e), or i = 0,
and (k + 1) (Q_n + e) <= (Q_{i+1} - e) 2^b, or i = n - 1. All of this is in integers.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_HALF_EVEN,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
    localcontext,
)
from fractions import Fraction
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from mrforest.privacy.randomness import RandomBits

# numpy's exp and log err by a unit or two of 2^-53; 256 are allowed for.
FUNCTION_ERROR = 2.0**-45
FIRST_DIGITS = 40
# Waiting times of this rate reach 2^62 with a probability of exp(-4096).
LEAST_RATE = Fraction(1, 2**50)
LONGEST_TIME = 2**62 - 1

Refine = Callable[[int], Sequence[Decimal]]


class Uniform:
    """A uniform real number in [0, 1), of which bits are drawn when asked for.

    Parameters
    ----------
    random : RandomBits
    k, n : int
        What is known of it: it lies in [k / 2**n, (k + 1) / 2**n).

    Examples
    --------
    >>> u = Uniform(RandomBits.seeded(0))
    >>> k, n = u.interval(3)
    >>> 0 <= k < 2**n, n
    (True, 3)
    >>> u.interval(10)[0] >> 7 == k
    True
    """

    def __init__(self, random: RandomBits, k: int = 0, n: int = 0) -> None:
        self._random = random
        self._k = k
        self._n = n

    def interval(self, n_bits: int) -> tuple[int, int]:
        """Return k and n >= n_bits; the number is in [k / 2**n, (k + 1) / 2**n)."""
        n_more = n_bits - self._n
        if n_more > 0:
            self._k = self._k << n_more | self._random.bits(n_more)
            self._n = n_bits
        return self._k, self._n


def draw_index(
    weights: NDArray[np.float64],
    relative_error: float,
    random: RandomBits,
    refine: Refine,
) -> int:
    """Draw an index with probability exactly its true weight over the sum of all.

    Parameters
    ----------
    weights : ndarray of shape (n,), dtype=float64
        Approximate weights, not negative. 0.0 may stand for a true weight below 2^-100
        of the largest.
    relative_error : float
        Each weight differs from the true one by at most so much of the true one.
        Above 1/8 the weights are not used at all.
    random : RandomBits
    refine : callable
        Given a number of digits it returns the true weights with a relative error of
        at most 10^-digits. 0 may stand for one below 10^-(digits + 2) of the largest.

    Returns
    -------
    int

    Examples
    --------
    >>> thirds = np.array([1.0, 2.0])
    >>> exact = [Decimal(1), Decimal(2)]
    >>> random = RandomBits.seeded(0)
    >>> [draw_index(thirds, 0.0, random, lambda digits: exact) for _ in range(6)]
    [1, 1, 0, 0, 0, 1]
    """
    check_weights(weights, relative_error)
    uniform = Uniform(random)
    if relative_error <= 0.125:
        index = index_by_floats(weights, relative_error, uniform)
        if index is not None:
            return index
    return index_by_refining(refine, len(weights), uniform)


def index_by_refining(refine: Refine, n: int, uniform: Uniform) -> int:
    """Return the index that more and more digits and bits tell in the end."""
    for digits in precisions():
        refined = refine(digits)
        if len(refined) != n:
            raise ValueError(f"refine({digits}) gives {len(refined)} weights, not {n}")
        index = index_by_decimals(refined, digits, uniform)
        if index is not None:
            return index
    raise AssertionError("precisions have no end")


def check_weights(weights: NDArray[np.float64], relative_error: float) -> None:
    """Raise ValueError for what cannot be weights."""
    if weights.ndim != 1 or len(weights) == 0:
        raise ValueError(f"weights of shape {weights.shape} must be a list of weights")
    # Both comparisons are false if there is a NaN.
    lowest, largest = weights.min(), weights.max()
    if not (lowest >= 0 and largest < math.inf):
        raise ValueError(
            f"weights from {lowest} to {largest} must be finite and not negative"
        )
    if not relative_error >= 0:
        raise ValueError(f"relative_error={relative_error} must not be negative")
    if relative_error <= 0.125 and largest == 0:
        raise ValueError("weights are all 0; one at least must be positive")


def precisions() -> Iterator[int]:
    """Yield numbers of digits, each twice the one before."""
    digits = FIRST_DIGITS
    while True:
        yield digits
        digits *= 2


def precise(digits: int) -> Context:
    """Arithmetic of so many digits, and of no other setting of the caller's."""
    return Context(
        prec=digits,
        rounding=ROUND_HALF_EVEN,
        Emin=MIN_EMIN,
        Emax=MAX_EMAX,
        clamp=0,
        flags=[],
        traps=[DivisionByZero, InvalidOperation, Overflow],
    )


def margin(n: int, relative_error: float) -> float:
    """E / c_n of the module's docstring."""
    return 4.0 * (relative_error + n * 2.0**-52)


def index_by_floats(
    weights: NDArray[np.float64], relative_error: float, uniform: Uniform
) -> int | None:
    """Return the index if 53 bits and double precision tell it for certain."""
    # The largest weight is brought into [1/2, 1): sums do not overflow.
    sums = np.cumsum(np.ldexp(weights, -math.frexp(weights.max())[1]))
    n, total = len(sums), float(sums[-1])
    k, _ = uniform.interval(53)
    x = math.ldexp(k, -53) * total
    apart = margin(n, relative_error) * total
    index = min(int(np.searchsorted(sums, x, side="right")), n - 1)
    # 0 <= U W < W is known without any computation.
    is_above = index == 0 or sums[index - 1] + apart < x
    is_below = index == n - 1 or x < sums[index] - apart
    return index if is_above and is_below else None


def index_by_decimals(
    weights: Sequence[Decimal], digits: int, uniform: Uniform
) -> int | None:
    """Return the index if so many digits, and bits to match, tell it for certain."""
    if not all(w.is_finite() and w >= 0 for w in weights):
        raise ValueError(f"refine({digits}) must give finite weights, not negative")
    largest = max(weights)
    if largest == 0:
        raise ValueError(f"refine({digits}) gives weights that are all 0")
    with localcontext(precise(2 * digits)):
        shift = digits - largest.adjusted()
        sums = list(accumulate(int(w.scaleb(shift)) for w in weights))
    n, total = len(sums), sums[-1]
    error = 2 * n + 2 + 3 * total // 10**digits
    k, n_bits = uniform.interval(4 * digits)
    index = min(bisect_right(sums, k * total >> n_bits), n - 1)
    is_above = index == 0 or (sums[index - 1] + error) << n_bits <= k * (total - error)
    is_below = index == n - 1 or (
        (k + 1) * (total + error) <= (sums[index] - error) << n_bits
    )
    return index if is_above and is_below else None


def bernoulli_exp(x: Fraction, random: RandomBits) -> bool:
    """Draw True with probability exactly exp(-x), in integer arithmetic.

    Algorithm 1 of Canonne, Kamath and Steinke, "The discrete Gaussian for differential
    privacy" (2020).

    Parameters
    ----------
    x : Fraction
        Not negative.
    random : RandomBits

    Examples
    --------
    >>> bernoulli_exp(Fraction(0), RandomBits.secure())
    True
    """
    if x < 0:
        raise ValueError(f"x={x} must not be negative")
    # exp(-x) is a product of factors exp(-1) and one exp(-part); all have to be heads.
    whole, part = divmod(x, 1)
    for _ in range(whole):
        if not _bernoulli_exp_of_part(Fraction(1), random):
            return False
    return _bernoulli_exp_of_part(part, random)


def _bernoulli_exp_of_part(x: Fraction, random: RandomBits) -> bool:
    """Draw for x in [0, 1]: the probability of k heads in a row is x^k / k!."""
    k = 1
    while random.below(x.denominator * k) < x.numerator:
        k += 1
    return k % 2 == 1


def draw_waiting_times(rate: Fraction, n: int, random: RandomBits) -> NDArray[np.int64]:
    """Draw n geometric numbers: each is m or more with probability exp(-rate m).

    The answer for U is the m with m <= -ln(U) / rate < m + 1. In double precision,
    U in [k, k + 1) / 2^53 bounds the quotient up to the relative errors of the
    logarithm and of three roundings; the number stands if both bounds have it.

    Parameters
    ----------
    rate : Fraction
        At least 2^-50. The numbers then fit into 62 bits; of the probability that one
        does not, exp(-4096) or less, nothing is left but that 2^62 - 1 is told.
    n : int
    random : RandomBits

    Examples
    --------
    >>> draw_waiting_times(Fraction(1, 10), 5, RandomBits.seeded(0)).tolist()
    [1, 0, 13, 0, 1]
    """
    if rate < LEAST_RATE:
        raise ValueError(f"rate={float(rate)} must be at least 2**-50")
    k = random.words(n) >> np.uint64(11)
    error = FUNCTION_ERROR + 2.0**-50
    with np.errstate(divide="ignore"):
        shortest = -np.log(np.ldexp((k + np.uint64(1)).astype(np.float64), -53))
        longest = -np.log(np.ldexp(k.astype(np.float64), -53))
    times = np.floor(shortest * (1 - error) / float(rate))
    is_open = times != np.floor(longest * (1 + error) / float(rate))
    found = times.astype(np.int64)
    for place in np.flatnonzero(is_open):
        time = _waiting_time(rate, Uniform(random, int(k[place]), 53))
        found[place] = min(time, LONGEST_TIME)
    return found


def _waiting_time(rate: Fraction, uniform: Uniform) -> int:
    """Return the waiting time of U.

    Of the precision 30 digits are spare. The quotient is -ln(U) < 3 digits, with an
    error of a few units in the last place of max(1, -ln(U)), divided by at least
    10^-16: so it errs by less than 10^-digits.
    """
    for digits in precisions():
        k, n_bits = uniform.interval(4 * digits)
        if k == 0:
            continue
        with localcontext(precise(digits + 30)):
            scale = Decimal(2**n_bits)
            per_time = Decimal(rate.numerator) / rate.denominator
            error = Decimal(10) ** -digits
            shortest = -(Decimal(k + 1) / scale).ln() / per_time - error
            longest = -(Decimal(k) / scale).ln() / per_time + error
        # A negative bound is cut to 0, as it should be.
        if int(shortest) == int(longest):
            return int(longest)
    raise AssertionError("precisions have no end")
