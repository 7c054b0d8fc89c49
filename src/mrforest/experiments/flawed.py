# SPDX-License-Identifier: BSD-3-Clause
"""The paper's private split as it is printed, for an audit to refute."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["printed_split"]

# A row of numbers, and the number of its class.
Record = tuple[tuple[float, ...], int]

LEAF = "leaf"


def printed_split(
    b1: float,
    b2: float,
    n_features: int = 1,
    public_cuts: Sequence[float] | None = None,
) -> Callable[[tuple[Record, ...]], dict[Hashable, float]]:
    """Distribution of the first split of a tree, which the paper calls (B1 + B2)-DP.

    The feature is drawn by softmax(B1/2 · its best gain), then the cut by softmax(B2/2
    · its gain), both after the gains have been brought to [0, 1] (Section 3.2; Lemmas 5
    and 6 of the paper). Candidates are "all possible split values": halfway between
    neighbouring values of the records. That is the flaw: which outputs are possible
    depends on the records.

    Parameters
    ----------
    b1, b2 : float
        Budgets of the feature and of the cut.
    n_features : int, default=1
        Numbers of a record.
    public_cuts : sequence of float or None, default=None
        Cuts of every feature, in place of those of the records. With them the lemmas
        hold.

    Returns
    -------
    callable
        Takes a tuple of records, returns the log probability of each (feature, cut),
        or of "leaf" if there is no candidate.

    Examples
    --------
    >>> split = printed_split(0.5, 0.5)
    >>> split((((0.0,), 0), ((1.0,), 1)))
    {(0, 0.5): 0.0}
    >>> list(split((((0.0,), 0), ((1.0,), 1), ((0.5,), 0))))
    [(0, 0.25), (0, 0.75)]
    """

    def distribution(records: tuple[Record, ...]) -> dict[Hashable, float]:
        gains = {
            j: _gains([(row[j], label) for row, label in records], public_cuts)
            for j in range(n_features)
        }
        gains = {j: found for j, found in gains.items() if found}
        if not gains:
            return {LEAF: 0.0}
        by_feature = _log_softmax(b1, [max(found.values()) for found in gains.values()])
        return {
            (j, cut): float(log_feature + log_cut)
            for (j, found), log_feature in zip(gains.items(), by_feature, strict=True)
            for cut, log_cut in zip(
                found, _log_softmax(b2, list(found.values())), strict=True
            )
        }

    return distribution


def _gains(
    column: list[tuple[float, int]], public_cuts: Sequence[float] | None
) -> dict[float, float]:
    """Decrease of the Gini impurity for each cut."""
    values = sorted({value for value, _ in column})
    cuts = (
        [(a + b) / 2 for a, b in itertools.pairwise(values)]
        if public_cuts is None
        else public_cuts
    )
    whole = _impurity([label for _, label in column])
    return {
        cut: whole
        - _impurity([label for value, label in column if value <= cut])
        - _impurity([label for value, label in column if value > cut])
        for cut in cuts
    }


def _impurity(labels: list[int]) -> float:
    """Gini impurity times the number of records.

    The paper divides by the number of records of the node, which the normalisation
    takes out again.
    """
    n = len(labels)
    squares = sum(labels.count(label) ** 2 for label in set(labels))
    return n - squares / n if n else 0.0


def _log_softmax(budget: float, gains: Sequence[float]) -> NDArray[np.float64]:
    """Log probabilities of candidates; all alike if the gains are."""
    scores = np.array(gains) - min(gains)
    if (highest := scores.max()) > 0:
        scores = scores / highest
    exponents = budget / 2 * scores
    return np.asarray(exponents - math.log(np.exp(exponents).sum()))
