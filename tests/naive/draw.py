# SPDX-License-Identifier: BSD-3-Clause
"""Draws from the multinomial split rule and the label rule (docs/algorithm.md)."""

import math
from collections.abc import Sequence

import numpy as np


def _draw_equal(indices: Sequence[int], u: float) -> int:
    return indices[math.floor(u * len(indices))]


def _draw_weighted(weights: Sequence[float], u: float) -> int:
    running = []
    so_far = 0.0
    for weight in weights:
        so_far = so_far + weight
        running.append(so_far)
    target = u * running[-1]
    for i, value in enumerate(running):
        if value > target:
            return i
    return len(weights) - 1


def _softmax_weights(scores: Sequence[float], budget: float) -> list[float]:
    hi, lo = max(scores), min(scores)
    return [math.exp(budget / 2 * ((s - lo) / (hi - lo) - 1)) for s in scores]


def _is_uniform(scores: Sequence[float], budget: float, tolerance: float) -> bool:
    return budget == 0 or max(scores) - min(scores) <= tolerance


def _best(scores: Sequence[float], tolerance: float) -> list[int]:
    hi = max(scores)
    return [i for i, score in enumerate(scores) if score >= hi - tolerance]


def draw(scores: Sequence[float], budget: float, u: float, tolerance: float) -> int:
    """Return the index that the uniform number u draws among the scores."""
    scores = [float(score) for score in scores]
    if _is_uniform(scores, budget, tolerance):
        return _draw_equal(range(len(scores)), u)
    if budget == math.inf:
        return _draw_equal(_best(scores, tolerance), u)
    return _draw_weighted(_softmax_weights(scores, budget), u)


def draw_probabilities(
    scores: Sequence[float], budget: float, tolerance: float
) -> np.ndarray:
    """Return the probability of each index under `draw`."""
    scores = [float(score) for score in scores]
    if _is_uniform(scores, budget, tolerance):
        weights = [1.0] * len(scores)
    elif budget == math.inf:
        best = _best(scores, tolerance)
        weights = [1.0 if i in best else 0.0 for i in range(len(scores))]
    else:
        weights = _softmax_weights(scores, budget)
    return np.array(weights) / math.fsum(weights)


def draw_label(shares: Sequence[float], budget: float, u: float) -> int:
    """Return the class that the uniform number u draws among all classes."""
    shares = [float(share) for share in shares]
    if budget == 0:
        return _draw_equal(range(len(shares)), u)
    if budget == math.inf:
        return _draw_equal(_best(shares, 1e-12), u)
    hi = max(shares)
    return _draw_weighted([math.exp(budget / 2 * (s - hi)) for s in shares], u)
