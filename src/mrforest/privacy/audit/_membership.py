# SPDX-License-Identifier: BSD-3-Clause
"""Was this row in the training table? An attack, and what epsilon allows it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mrforest.privacy._floats import as_cost, as_delta
from mrforest.privacy.audit._bounds import mean_between, read_confidence
from mrforest.privacy.audit._fits import Fresh, draw_seeds, read_estimator, read_runs
from mrforest.privacy.audit._parallel import in_batches
from mrforest.privacy.audit._tables import Table, read_table, take

Score = Callable[[Any, Any, NDArray[Any]], ArrayLike]


@dataclass(frozen=True)
class MembershipAudit:
    """How well an attacker tells members from others.

    Attributes
    ----------
    advantage : float
        Share of members that are called members, less the share of others that are.
        0 is guessing, 1 is knowing.
    low, high : float
        Confidence interval of the advantage of this attack.
    bound : float
        The largest advantage of any attack that the claimed epsilon allows.
    threshold : float
        The least score of a row that is called a member.
    true_positive_rate, false_positive_rate : float
        The two shares.
    epsilon, delta, confidence : float
        As given.
    runs, n_targets : int
        Fits, and rows that were in each of them or not.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from mrforest.privacy import audit
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 2)), rng.integers(9, size=60)
    >>> nearest = KNeighborsClassifier(n_neighbors=1)
    >>> found = audit.membership(nearest, X, y, epsilon=1.0, runs=40, random_state=0)
    >>> found.low > found.bound  # no forest of this epsilon could be attacked so well
    True
    """

    advantage: float
    low: float
    high: float
    bound: float
    threshold: float
    true_positive_rate: float
    false_positive_rate: float
    epsilon: float
    delta: float
    confidence: float
    runs: int
    n_targets: int

    @property
    def refutes(self) -> bool:
        """Whether the attack is better than epsilon allows, beyond chance."""
        return self.low > self.bound

    def __str__(self) -> str:
        verdict = "refutes" if self.refutes else "does not refute"
        claim = f"epsilon = {self.epsilon:g}"
        claim += f", delta = {self.delta:g}" if self.delta else ""
        return (
            f"advantage {self.advantage:.4f}, {100 * self.confidence:g} % interval "
            f"[{self.low:.4f}, {self.high:.4f}], from {self.runs:,} fits and "
            f"{self.n_targets:,} rows\n"
            f"{verdict} {claim}, which allows {self.bound:.4f}"
        )


def membership_bound(epsilon: float, delta: float = 0.0) -> float:
    """Return the largest advantage of a membership attack.

    Let p and q be the probabilities that a row is called a member if it is one, and if
    it is not. Both tables are neighbours, so p <= e^epsilon q + delta, and for the
    verdict "no member" 1 - q <= e^epsilon (1 - p) + delta. The sum of the two is

        1 + (p - q) <= e^epsilon (1 - (p - q)) + 2 delta,

    hence p - q <= (e^epsilon - 1 + 2 delta) / (e^epsilon + 1). With delta = 0 that is
    tanh(epsilon / 2), which randomized response reaches. If the other rows are random
    too, it holds for each choice of them, and so on average.

    Parameters
    ----------
    epsilon : float
        For neighbours of which one has a row more.
    delta : float, default=0.0

    Examples
    --------
    >>> round(membership_bound(1.0), 4), membership_bound(0.0), membership_bound(1000.0)
    (0.4621, 0.0, 1.0)
    """
    epsilon, delta = as_cost("epsilon", epsilon), as_delta("delta", delta)
    return math.tanh(epsilon / 2) + delta * (1 - math.tanh(epsilon / 2))


def membership(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    epsilon: float,
    runs: int,
    delta: float = 0.0,
    targets: Sequence[int] | NDArray[np.integer] | None = None,
    score: Score | None = None,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    verbose: int = 0,
    random_state: int | None = None,
) -> MembershipAudit:
    """Attack an estimator: guess from a fit which rows were in its training table.

    In each run every target row is in the training table by a fair coin of its own. The
    attacker sees the fitted estimator, scores each target, and calls those members
    whose score reaches a threshold. It is the best one on the first half of the runs;
    the advantage is measured on the second half.

    With fair coins the advantage is twice the share of right guesses, less 1. The share
    of one run is a number in [0, 1], and runs are independent, so the interval is one
    for the mean of such numbers (see `mean_at_least` of the sources); targets of one
    run need not be independent.

    Parameters
    ----------
    estimator : estimator or callable
        It is cloned for each fit; its ``random_state`` must be None. Or a callable that
        makes an estimator from an integer, the seed of the run.
    X, y : array or frame, array-like
        Rows; those that are no targets are in every training table.
    epsilon : float
        The claim, for neighbours of which one has a row more; see `membership_bound`.
    runs : int
        Fits.
    delta : float, default=0.0
        Of the claim.
    targets : sequence of int, default=all rows
        Rows to attack.
    score : callable, default=probability of the true label
        ``score(fitted, X, y)`` gives a number for each of the rows, large if it looks
        like a member. By default what ``predict_proba`` gives to the label of the row,
        0 for a label that the estimator does not know; without ``predict_proba``,
        whether the predicted label is right.
    confidence : float, default=0.95
    n_jobs : int or None
        Processes.
    verbose : int, default=0
        More than 0: a progress bar.
    random_state : int or None, default=None
        Seed of the coins, and of the seeds for a callable `estimator`.

    Returns
    -------
    MembershipAudit

    Examples
    --------
    One nearest neighbour knows its rows by heart:

    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 2)), rng.integers(9, size=60)
    >>> nearest = KNeighborsClassifier(n_neighbors=1)
    >>> print(membership(nearest, X, y, epsilon=1.0, runs=40, random_state=0))
    advantage 0.9000, 95 % interval [0.4958, 1.0000], from 40 fits and 60 rows
    refutes epsilon = 1, which allows 0.4621
    """
    fresh = read_estimator(estimator)
    runs = read_runs(runs)
    read_confidence(confidence)
    bound = membership_bound(epsilon, delta)
    table = read_table(X, y)
    n = len(table[1])
    attacked = np.arange(n) if targets is None else np.unique(np.asarray(targets))
    if len(attacked) == 0 or not 0 <= attacked[0] <= attacked[-1] < n:
        raise ValueError(f"targets must be rows in [0, {n}); got {targets!r}")

    rng = np.random.default_rng(random_state)
    is_member = rng.integers(2, size=(runs, len(attacked))).astype(bool)
    scores = np.concatenate(
        in_batches(
            _attack,
            list(zip(is_member, draw_seeds(rng, (runs,)).tolist(), strict=True)),
            (fresh, table, attacked, score or score_of_true_label),
            n_jobs=n_jobs,
            description="fits",
            verbose=verbose,
        )
    )
    half = runs // 2
    threshold = _best_threshold(scores[:half].ravel(), is_member[:half].ravel())
    called, members = scores[half:] >= threshold, is_member[half:]
    low, high = mean_between((called == members).mean(axis=1), confidence)
    positives = [
        float(called[kind].mean()) if kind.any() else math.nan
        for kind in (members, ~members)
    ]
    return MembershipAudit(
        advantage=float(2 * (called == members).mean() - 1),
        low=2 * low - 1,
        high=2 * high - 1,
        bound=bound,
        threshold=threshold,
        true_positive_rate=positives[0],
        false_positive_rate=positives[1],
        epsilon=epsilon,
        delta=delta,
        confidence=confidence,
        runs=runs,
        n_targets=len(attacked),
    )


def score_of_true_label(fitted: Any, X: Any, y: NDArray[Any]) -> NDArray[np.float64]:
    """Return the probability that a classifier gives to the label of each row."""
    if not hasattr(fitted, "predict_proba"):
        return np.asarray(fitted.predict(X) == y, dtype=np.float64)
    probabilities = np.asarray(fitted.predict_proba(X))
    is_label = y[:, None] == np.asarray(fitted.classes_)
    return np.asarray((probabilities * is_label).sum(axis=1))


def _attack(
    jobs: Sequence[tuple[NDArray[np.bool_], int]],
    fresh: Fresh,
    table: Table,
    attacked: NDArray[np.intp],
    score: Score,
) -> NDArray[np.float64]:
    """Fit and score, for each choice of members."""
    rows = take(table, attacked)
    found = []
    for is_member, seed in jobs:
        kept = np.ones(len(table[1]), dtype=bool)
        kept[attacked[~is_member]] = False
        fitted = fresh(seed).fit(*take(table, np.flatnonzero(kept)))
        scores = np.asarray(score(fitted, *rows), dtype=np.float64)
        if scores.shape != attacked.shape or np.isnan(scores).any():
            raise ValueError(
                f"score must give a number for each of {len(attacked)} rows; got an "
                f"array of shape {scores.shape}"
                + (" with NaN" if np.isnan(scores).any() else "")
            )
        found.append(scores)
    return np.array(found)


def _best_threshold(scores: NDArray[np.float64], is_member: NDArray[np.bool_]) -> float:
    """Return the score from which on calling members is right most often."""
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    gain = np.cumsum(np.where(is_member[order], 1, -1))
    is_last = np.append(ordered[1:] != ordered[:-1], True)  # of equal scores
    best = int(np.argmax(np.where(is_last, gain, -len(scores) - 1)))
    return float(ordered[best])
