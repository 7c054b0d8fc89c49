# SPDX-License-Identifier: BSD-3-Clause
"""Confidence bounds that hold for any number of observations."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainccinv, betaincinv

Real = NDArray[np.float64]


def share_at_least(hits: ArrayLike, n: float, error: float) -> Real:
    """Bound a probability from below (Clopper and Pearson 1934).

    Parameters
    ----------
    hits : array-like
        How often it happened in n independent trials.
    n : float
    error : float
        Probability that the bound is wrong, at most.

    Examples
    --------
    >>> float(share_at_least(10, 10, 0.05).round(4))
    0.7411
    """
    hits = np.asarray(hits, dtype=np.float64)
    # The distribution is not defined for no hit at all, where the bound is 0.
    return np.where(
        hits > 0, betaincinv(np.maximum(hits, 1e-300), n - hits + 1, error), 0.0
    )


def share_at_most(hits: ArrayLike, n: float, error: float) -> Real:
    """Bound a probability from above; see `share_at_least`.

    Examples
    --------
    >>> float(share_at_most(0, 10, 0.05).round(4))
    0.2589
    """
    misses = n - np.asarray(hits, dtype=np.float64)
    return np.where(
        misses > 0, betainccinv(n - misses + 1, np.maximum(misses, 1e-300), error), 1.0
    )


def mean_at_least(values: Real, error: float) -> float:
    """Bound the mean of independent numbers of one distribution in [0, 1] from below.

    Somebody who believes that the mean is m or less is offered bets: a stake l on a
    value x multiplies the capital by 1 + l (x - m), with 0 <= l < 1 / m chosen before x
    is seen. If the belief is right, the capital does not grow on average, so it ever
    reaches 1 / error with a probability of `error` at most (Ville). The bound is the
    smallest m that the bets do not refute. They adapt to the variance. Waudby-Smith and
    Ramdas, "Estimating means of bounded random variables by betting" (2024).

    Parameters
    ----------
    values : ndarray of shape (n,)
    error : float
        Probability that the bound is wrong, at most.

    Examples
    --------
    >>> round(mean_at_least(np.array([0.7, 0.8] * 50), 0.05), 3)
    0.719
    """
    stakes = _stakes(values, error)

    def refutes(m: float) -> bool:
        capped = np.minimum(stakes, 0.75 / m)
        return bool(np.log1p(capped * (values - m)).cumsum().max() >= -math.log(error))

    # The capital falls if m rises, so there is one border. 0 is never refuted.
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if refutes(middle) else (low, middle)
    return low


def _stakes(values: Real, error: float) -> Real:
    """Stakes that are good for the variance seen so far."""
    n = len(values)
    seen = np.arange(1, n + 1)
    means = (0.5 + values.cumsum()) / (seen + 1)
    variances = (0.25 + ((values - means) ** 2).cumsum()) / (seen + 1)
    before = np.concatenate([[0.25], variances[:-1]])
    return np.asarray(np.sqrt(-2 * math.log(error) / (n * before)))


def mean_between(values: Real, confidence: float) -> tuple[float, float]:
    """Bound a mean from both sides; see `mean_at_least`."""
    error = (1 - confidence) / 2
    return mean_at_least(values, error), 1 - mean_at_least(1 - values, error)


def read_confidence(confidence: float) -> float:
    """Return it; ValueError unless it is between 0 and 1."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be in (0, 1); got {confidence!r}")
    return confidence
