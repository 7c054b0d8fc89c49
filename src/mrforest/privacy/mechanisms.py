# SPDX-License-Identifier: BSD-3-Clause
"""Private choices and private counts, drawn with exactly the probabilities they claim.

`Exponential` and `PermuteAndFlip` choose one of several candidates by integer scores,
`Geometric` adds noise to counts. Each can tell its `probabilities`, for tests and
audits, and `draw`. Only the draw is private: probabilities tell the scores.

`SubtreeMechanism` is the exponential mechanism over whole subtrees. They are too many
to list: it can tell the `log_probability` of one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mrforest.privacy.exact import (
    LEAST_RATE,
    bernoulli_exp,
    draw_index,
    draw_waiting_times,
    precise,
)
from mrforest.privacy.randomness import RandomBits
from mrforest.privacy.subtree import SubtreeMechanism

__all__ = ["Exponential", "Geometric", "PermuteAndFlip", "SubtreeMechanism"]

# The difference of two scores is then a 64-bit integer too.
SCORE_END = 2**62
BASE_END = 2**40
# exp(LOWEST_EXPONENT) BASE_END < 2^-100: such a weight may be left out, see draw_index.
LOWEST_EXPONENT = -110.0
# An exponent has four roundings, of 2^-53 of at most 110 each; exp errs by 2^-45, and
# the product with the base measure by 2^-53. Together (440 + 256 + 1) 2^-53.
WEIGHT_ERROR = 2.0**-43
# Gauss-Legendre nodes are known to full precision up to 100.
MOST_FLIPPED = 199


@dataclass(frozen=True)
class Exponential:
    """Choose candidate i with probability ~ base_i exp(epsilon score_i / unit).

    If one record moves all scores by amounts that differ by at most `unit` (score
    functions that only rise, by at most `unit`; or that rise or fall by at most half
    of it), the choice is epsilon-differentially private: each weight changes by a
    factor between exp(epsilon (c - 1)) and exp(epsilon c) for some c, and so does their
    sum (McSherry and Talwar 2007; Dong, Durfee and Rogers 2019).

    Parameters
    ----------
    epsilon : float
        Positive; taken as the rational number it is. inf: always one of the best,
        with probabilities by the base measure.
    unit : int, default=1

    Examples
    --------
    >>> mechanism = Exponential(epsilon=1.0)
    >>> mechanism.probabilities([3, 2, 0]).round(3)
    array([0.705, 0.259, 0.035])
    >>> mechanism.draw([3, 2, 0], RandomBits.seeded(0))
    2
    """

    epsilon: float
    unit: int = 1

    def __post_init__(self) -> None:
        keep(self, epsilon=read_epsilon(self.epsilon))
        keep(self, unit=read_whole("unit", self.unit))

    def probabilities(
        self, scores: ArrayLike, base_measure: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Return the probability of each candidate.

        Parameters
        ----------
        scores : array-like of int of shape (n,)
            Absolute values below 2**62.
        base_measure : array-like of int of shape (n,), default=all 1
            In [0, 2**40], not all 0. It must not depend on the records.
        """
        behind, base = read_candidates(scores, base_measure)
        if math.isinf(self.epsilon):
            weights = base * (behind == 0)
        else:
            weights = base * np.exp(self._exponents(behind))
        return np.asarray(weights / weights.sum())

    def draw(
        self,
        scores: ArrayLike,
        random: RandomBits,
        base_measure: ArrayLike | None = None,
    ) -> int:
        """Draw a candidate; the parameters are those of `probabilities`."""
        behind, base = read_candidates(scores, base_measure)
        if math.isinf(self.epsilon):
            return random.index((base * (behind == 0)).tolist())
        exponents = self._exponents(behind)
        is_tiny = exponents < LOWEST_EXPONENT
        weights = np.where(is_tiny, 0.0, base * np.exp(exponents))
        return draw_index(
            weights, WEIGHT_ERROR, random, lambda d: self._weights(behind, base, d)
        )

    def _exponents(self, behind: NDArray[np.int64]) -> NDArray[np.float64]:
        with np.errstate(over="ignore"):
            return np.asarray(-(self.epsilon / self.unit) * behind)

    def _weights(
        self, behind: NDArray[np.int64], base: NDArray[np.int64], digits: int
    ) -> Sequence[Decimal]:
        """Weights to so many digits, the best score's being at least 1.

        The 20 spare digits take up the errors of the exponent, that is below 3 digits
        + 60 or else belongs to a weight below 2^40 exp(-3 digits - 60), which is left
        out.
        """
        distinct, place = np.unique(behind, return_inverse=True)
        with localcontext(precise(digits + 20)):
            factors = []
            for difference in distinct.tolist():
                exponent = Decimal(self.epsilon) * difference / self.unit
                is_tiny = exponent > 3 * digits + 60
                factors.append(Decimal(0) if is_tiny else (-exponent).exp())
            return [
                factors[i] * measure
                for i, measure in zip(place.tolist(), base.tolist(), strict=True)
            ]


@dataclass(frozen=True)
class PermuteAndFlip:
    """Look at the candidates in random order and take the first whose coin says yes.

    The coin of a candidate is heads with probability exp(-epsilon (best - score) /
    unit), the unit being the sensitivity, or twice that if the scores are not monotone.
    Never worse than `Exponential` with the same unit, but its ratios do not compose as
    well. McKenna and Sheldon, "Permute-and-flip: a new mechanism for differentially
    private selection" (2020).

    Parameters
    ----------
    epsilon : float
        Positive; inf: one of the best.
    sensitivity : int, default=1
        The most by which one record moves any one score.
    monotone : bool, default=True
        Whether one record moves all scores in the same direction.

    Examples
    --------
    >>> mechanism = PermuteAndFlip(epsilon=1.0)
    >>> mechanism.probabilities([3, 2, 0]).round(3)
    array([0.797, 0.181, 0.022])
    >>> mechanism.draw([3, 2, 0], RandomBits.seeded(0))
    0
    """

    epsilon: float
    sensitivity: int = 1
    monotone: bool = True

    def __post_init__(self) -> None:
        keep(self, epsilon=read_epsilon(self.epsilon))
        keep(self, sensitivity=read_whole("sensitivity", self.sensitivity))

    @property
    def unit(self) -> int:
        """The score that is worth epsilon."""
        return self.sensitivity if self.monotone else 2 * self.sensitivity

    def probabilities(self, scores: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each candidate, of 199 at most.

        A candidate comes after a share t of the order, uniform in [0, 1], and each
        other one is before it with probability t: it is taken with probability p_i
        times the integral of the product of (1 - t p_j) over j != i. That is a
        polynomial, for which the rule of Gauss and Legendre is exact.
        """
        behind, _ = read_candidates(scores, None)
        n = len(behind)
        if n > MOST_FLIPPED:
            raise ValueError(
                f"scores has {n} candidates; probabilities are computed for "
                f"{MOST_FLIPPED} at most"
            )
        heads = (behind == 0).astype(np.float64)
        if math.isfinite(self.epsilon):
            with np.errstate(over="ignore"):
                heads = np.exp(-(self.epsilon / self.unit) * behind)
        nodes, node_weights = np.polynomial.legendre.leggauss(n // 2 + 1)
        tails = 1 - np.outer((nodes + 1) / 2, heads)
        others = np.stack(
            [np.delete(tails, i, axis=1).prod(axis=1) for i in range(n)], axis=1
        )
        return np.asarray(heads * (node_weights / 2 @ others))

    def draw(self, scores: ArrayLike, random: RandomBits) -> int:
        """Draw a candidate."""
        behind, _ = read_candidates(scores, None)
        if math.isinf(self.epsilon):
            return random.index((behind == 0).tolist())
        rate = Fraction(self.epsilon) / self.unit
        differences = behind.tolist()
        waiting = list(range(len(differences)))
        while True:
            # The next of a random order. The best of all never says no.
            place = random.below(len(waiting))
            waiting[place], waiting[-1] = waiting[-1], waiting[place]
            candidate = waiting.pop()
            if bernoulli_exp(rate * differences[candidate], random):
                return candidate


@dataclass(frozen=True)
class Geometric:
    """Add noise that is k with probability ~ ``exp(-epsilon |k| / sensitivity)``.

    Counts of which one record moves one, by at most `sensitivity` (or several, by so
    much together), are epsilon-differentially private after it. Ghosh, Roughgarden and
    Sundararajan, "Universally utility-maximizing privacy mechanisms" (2009).

    Parameters
    ----------
    epsilon : float
        Positive; taken as the rational number it is. inf: no noise.
    sensitivity : int, default=1
        At most 2**50 epsilon: the noise is to fit into 64 bits.

    Examples
    --------
    >>> mechanism = Geometric(epsilon=1.0)
    >>> mechanism.probabilities([0, 1, -1]).round(3)
    array([0.462, 0.17 , 0.17 ])
    >>> mechanism.draw([10, 20], RandomBits.seeded(1))
    array([10, 20])
    """

    epsilon: float
    sensitivity: int = 1

    def __post_init__(self) -> None:
        keep(self, epsilon=read_epsilon(self.epsilon))
        keep(self, sensitivity=read_whole("sensitivity", self.sensitivity))
        if math.isfinite(self.epsilon) and self._rate < LEAST_RATE:
            raise ValueError(
                f"epsilon={self.epsilon} must be at least 2**-50 of sensitivity="
                f"{self.sensitivity}"
            )

    @property
    def _rate(self) -> Fraction:
        return Fraction(self.epsilon) / self.sensitivity

    def probabilities(self, noise: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each of these values of the noise."""
        size = np.abs(read_integers("noise", noise))
        if math.isinf(self.epsilon):
            return np.where(size == 0, 1.0, 0.0)
        rate = self.epsilon / self.sensitivity
        with np.errstate(over="ignore"):
            return np.asarray(math.tanh(rate / 2) * np.exp(-rate * size))

    def log_probabilities(self, noise: ArrayLike) -> NDArray[np.float64]:
        """Return the logarithm of `probabilities`, also where that is too small."""
        size = np.abs(read_integers("noise", noise))
        if math.isinf(self.epsilon):
            return np.where(size == 0, 0.0, -math.inf)
        rate = self.epsilon / self.sensitivity
        with np.errstate(over="ignore"):
            return np.asarray(math.log(math.tanh(rate / 2)) - rate * size)

    def draw(self, counts: ArrayLike, random: RandomBits) -> NDArray[np.int64]:
        """Return the counts, of any shape, each with noise of its own.

        The noise is the difference of two geometric numbers.
        """
        exact = read_integers("counts", counts)
        if math.isinf(self.epsilon):
            return exact.copy()
        # Both are below 2^62, as is a count: no sum leaves 64 bits.
        up, down = (
            draw_waiting_times(self._rate, exact.size, random).reshape(exact.shape)
            for _ in range(2)
        )
        return np.asarray(exact + (up - down))


def keep(mechanism: object, **values: object) -> None:
    """Set fields of a frozen mechanism, while it is being made."""
    for name, value in values.items():
        object.__setattr__(mechanism, name, value)


def read_epsilon(epsilon: Any) -> float:
    """Return epsilon as a float; ValueError unless it is one, and positive."""
    value = float(epsilon)
    if not (value > 0 and value == epsilon):
        raise ValueError(f"epsilon={epsilon!r} must be a positive float, or inf")
    return value


def read_whole(name: str, number: Any) -> int:
    """Return the number as an int; ValueError unless it is one in [1, 2**62).

    Numpy's integers would turn exact fractions into floats.
    """
    is_whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
    if not (is_whole and 1 <= number < SCORE_END):
        raise ValueError(f"{name}={number!r} must be a whole number in [1, 2**62)")
    return int(number)


def read_integers(name: str, numbers: ArrayLike) -> NDArray[np.int64]:
    """Return the numbers as an array; ValueError unless they are small integers."""
    array = np.asarray(numbers)
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} of type {array.dtype} must be integers")
    largest = max(int(array.max()), -int(array.min()))
    if largest >= SCORE_END:
        raise ValueError(f"{name} has the absolute value {largest}, not below 2**62")
    return array.astype(np.int64)


def read_candidates(
    scores: ArrayLike, base_measure: ArrayLike | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how far each score is behind the best, and the base measure.

    A candidate of base measure 0 cannot be chosen: it is not the best.
    """
    found = read_integers("scores", scores)
    if found.ndim != 1 or len(found) == 0:
        raise ValueError(f"scores of shape {found.shape} must be a list of scores")
    if base_measure is None:
        return found.max() - found, np.ones_like(found)
    base = read_integers("base_measure", base_measure)
    if base.shape != found.shape:
        raise ValueError(
            f"base_measure of shape {base.shape} must have the shape of scores, "
            f"{found.shape}"
        )
    if base.min() < 0 or base.max() > BASE_END or base.max() == 0:
        raise ValueError(
            f"base_measure from {base.min()} to {base.max()} must be in [0, 2**40], "
            "and not all 0"
        )
    best = found[base > 0].max()
    return np.maximum(best - found, 0), base
