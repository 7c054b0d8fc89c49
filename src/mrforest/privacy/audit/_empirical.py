# SPDX-License-Identifier: BSD-3-Clause
"""Many fits of two neighbouring tables: a lower bound on epsilon for any estimator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mrforest.privacy._floats import as_delta
from mrforest.privacy.audit._bounds import (
    read_confidence,
    share_at_least,
    share_at_most,
)
from mrforest.privacy.audit._fits import Fresh, draw_seeds, read_estimator, read_runs
from mrforest.privacy.audit._parallel import in_batches
from mrforest.privacy.audit._tables import Table, read_table, stack

Statistic = Callable[[Any], Hashable]
Job = tuple[int, int, int]  # table, part of the runs, seed

RANK, CUT, TEST = range(3)
N_BOUNDS = 4  # a probability from below and one from above, in both directions
DIGITS = 6


@dataclass(frozen=True)
class Event:
    """Values of the statistic that one table gives more often than the other.

    Attributes
    ----------
    values : frozenset
    is_complement : bool
        True: the event is all values but these.
    hits, hits_other : int
        Runs of the test half in which it happened, for the table and for the other.
    n : int
        Runs of the test half, for each table.
    p_low, q_high : float
        Bounds of its probabilities.
    epsilon : float
        Lower bound that follows, log((p_low - delta) / q_high); 0 if negative.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from mrforest.privacy import audit
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    >>> found = audit.empirical(GaussianNB(), (X, y), (X[:3], y[:3]), runs=400)
    >>> event, _ = found.events
    >>> event.n, event.hits, event.hits_other
    (200, 200, 0)
    """

    values: frozenset[Hashable]
    is_complement: bool
    hits: int
    hits_other: int
    n: int
    p_low: float
    q_high: float
    epsilon: float


@dataclass(frozen=True)
class EmpiricalAudit:
    """A lower bound on the epsilon of an estimator.

    Attributes
    ----------
    epsilon : float
        The estimator has no smaller one, with the confidence told.
    confidence, delta : float
        As given.
    runs : int
        Fits of each table.
    events : (Event, Event)
        What `epsilon` rests on: one that is likelier under D, one under D'.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from mrforest.privacy import audit
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    >>> found = audit.empirical(GaussianNB(), (X, y), (X[:3], y[:3]), runs=400)
    >>> found.refutes(1.0), found.refutes(10.0)
    (True, False)
    """

    epsilon: float
    confidence: float
    delta: float
    runs: int
    events: tuple[Event, Event]

    def refutes(self, epsilon: float) -> bool:
        """Tell whether a claim is too small, with the confidence told."""
        return self.epsilon > epsilon

    def __str__(self) -> str:
        delta = f", delta = {self.delta:g}" if self.delta else ""
        lines = [
            f"epsilon >= {self.epsilon:.4g}{delta} with confidence "
            f"{self.confidence:g}, from {self.runs:,} fits of each table"
        ]
        for event, (one, other) in zip(
            self.events, [("D", "D'"), ("D'", "D")], strict=True
        ):
            what = "not in" if event.is_complement else "in"
            lines.append(
                f"  statistic {what} a set of {len(event.values):,}: "
                f"{event.hits:,} of {event.n:,} under {one}, "
                f"{event.hits_other:,} under {other}: epsilon >= {event.epsilon:.4g}"
            )
        return "\n".join(lines)


def empirical(
    estimator: Any,
    D: tuple[Any, ArrayLike],
    D_neighbour: tuple[Any, ArrayLike],
    *,
    runs: int,
    statistic: Statistic | None = None,
    confidence: float = 0.95,
    delta: float = 0.0,
    n_jobs: int | None = None,
    verbose: int = 0,
    random_state: int | None = None,
) -> EmpiricalAudit:
    """Bound the epsilon of any estimator from below, by fitting it often.

    Both tables are fitted `runs` times, and of each fit one statistic is kept. Half of
    the runs choose an event, a set of values of the statistic that one table gives
    more often than the other: a quarter ranks the values by their ratio of counts, a
    quarter says how many of them to take. The other half tests it. This is done in
    both directions.

    *Why the bound is valid.* Given the first half, the event is fixed, and each run of
    the second half is an independent trial of it. So its counts are binomial, and the
    bounds of Clopper and Pearson are each wrong with probability (1 - confidence) / 4
    at most, whatever the estimator, the statistic and the choice. There are four of
    them, p_low and q_high in two directions: with the confidence told, all are right.
    Then (epsilon, delta)-privacy, P(event) <= e^epsilon Q(event) + delta, gives epsilon
    >= log((p_low - delta) / q_high). This needs fits that draw their noise anew, and
    tables that were chosen before: of ten pairs that are tried, the largest bound has
    ten times the error.

    A small bound proves nothing: another pair of tables or another statistic may
    tell more. With n test runs it cannot exceed about log(n / 4).

    Parameters
    ----------
    estimator : estimator or callable
        It is cloned for each fit; its ``random_state`` must be None. Or a callable that
        makes an estimator from an integer, the seed of the run.
    D, D_neighbour : (X, y)
        Tables that are neighbours in the sense of the claim: one has a row more, or one
        row is another.
    runs : int
        Fits of each table.
    statistic : callable, default=a digest of the predictions
        Takes the fitted estimator, returns what is kept of it: hashable, small, and of
        few values, or no value is seen twice; for example
        ``lambda fitted: fitted.predict(row).item()`` or the first split of a tree. By
        default the labels of all rows of both tables and, if there are any, their
        probabilities to 6 digits.
    confidence : float, default=0.95
    delta : float, default=0.0
    n_jobs : int or None
        Processes.
    verbose : int, default=0
        More than 0: a progress bar.
    random_state : int or None, default=None
        Where the seeds for a callable `estimator` come from.

    Returns
    -------
    EmpiricalAudit

    Examples
    --------
    Naive Bayes keeps the share of each class, whatever else it does:

    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    >>> print(empirical(GaussianNB(), (X, y), (X[:3], y[:3]), runs=400))
    epsilon >= 3.81 with confidence 0.95, from 400 fits of each table
      statistic in a set of 1: 200 of 200 under D, 0 under D': epsilon >= 3.81
      statistic in a set of 1: 200 of 200 under D', 0 under D: epsilon >= 3.81
    """
    fresh = read_estimator(estimator)
    runs = read_runs(runs)
    read_confidence(confidence)
    delta = as_delta("delta", delta)
    tables = read_table(*D, names="D"), read_table(*D_neighbour, names="D_neighbour")
    if statistic is None:
        statistic = partial(digest_of_predictions, X=stack(tables[0][0], tables[1][0]))

    parts = np.full(runs, TEST)
    parts[: runs // 4] = RANK
    parts[runs // 4 : runs // 2] = CUT
    seeds = draw_seeds(np.random.default_rng(random_state), (2, runs))
    jobs = [
        (table, part, seed)
        for table in range(2)
        for part, seed in zip(parts.tolist(), seeds[table].tolist(), strict=True)
    ]
    counts = _Counts()
    for found in in_batches(
        _count,
        jobs,
        (fresh, tables, statistic),
        n_jobs=n_jobs,
        description="fits",
        verbose=verbose,
    ):
        counts.update(found)
    error = (1 - confidence) / N_BOUNDS
    n_of = [int(np.count_nonzero(parts == part)) for part in (RANK, CUT, TEST)]
    events = tuple(
        _event(counts, table, n_of, delta=delta, error=error) for table in range(2)
    )
    return EmpiricalAudit(
        epsilon=max(event.epsilon for event in events),
        confidence=confidence,
        delta=delta,
        runs=runs,
        events=(events[0], events[1]),
    )


def digest_of_predictions(fitted: Any, X: Any) -> bytes:
    """Return 16 bytes that tell predictions apart."""
    digest = blake2b(repr(fitted.predict(X).tolist()).encode(), digest_size=16)
    if hasattr(fitted, "predict_proba"):
        # 0.0 is added lest -0.0 and 0.0 be different.
        digest.update((fitted.predict_proba(X).round(DIGITS) + 0.0).tobytes())
    return digest.digest()


class _Counts(Counter[tuple[int, int, Hashable]]):
    """How often a table gave a value of the statistic in a part of the runs."""

    def of(self, table: int, part: int, values: Sequence[Hashable]) -> NDArray[Any]:
        return np.array([self[table, part, value] for value in values], dtype=float)

    def values_in(self, part: int) -> list[Hashable]:
        return list({value: None for _, p, value in self if p == part})


def _count(
    jobs: Sequence[Job], fresh: Fresh, tables: tuple[Table, Table], statistic: Statistic
) -> Counter[tuple[int, int, Hashable]]:
    """Fit, and count what the statistic says."""
    return Counter(
        (table, part, statistic(fresh(seed).fit(*tables[table])))
        for table, part, seed in jobs
    )


def _event(
    counts: _Counts, table: int, n_of: Sequence[int], *, delta: float, error: float
) -> Event:
    """Choose an event that is likelier under a table, and test it."""
    other = 1 - table
    values = counts.values_in(RANK)
    ratios = (counts.of(table, RANK, values) + 0.5) / (
        counts.of(other, RANK, values) + 0.5
    )
    threshold = _choose_threshold(counts, table, values, ratios, n_of, delta, error)
    # Values never seen before have the ratio 1; an event with them is a complement.
    is_complement = threshold <= 1
    chosen = (ratios < threshold) if is_complement else (ratios >= threshold)
    chosen_values = [
        value for value, is_in in zip(values, chosen, strict=True) if is_in
    ]

    def hits(of: int) -> int:
        found = int(counts.of(of, TEST, chosen_values).sum())
        return n_of[TEST] - found if is_complement else found

    n, p, q = n_of[TEST], hits(table), hits(other)
    p_low = float(share_at_least(p, n, error))
    q_high = float(share_at_most(q, n, error))
    return Event(
        values=frozenset(chosen_values),
        is_complement=is_complement,
        hits=p,
        hits_other=q,
        n=n,
        p_low=p_low,
        q_high=q_high,
        epsilon=float(_epsilon(np.array(p_low), np.array(q_high), delta)),
    )


def _choose_threshold(
    counts: _Counts,
    table: int,
    values: list[Hashable],
    ratios: NDArray[np.float64],
    n_of: Sequence[int],
    delta: float,
    error: float,
) -> float:
    """Return the least ratio of an event that looks best on runs of its own."""
    thresholds = np.unique(np.append(ratios, 1.0))

    def hits(of: int) -> NDArray[np.float64]:
        """Scale up the runs whose ratio is at least each threshold."""
        found = counts.of(of, CUT, values)
        unseen = n_of[CUT] - found.sum()
        places = np.searchsorted(thresholds, np.append(ratios, 1.0))
        by_threshold = np.bincount(
            places, np.append(found, unseen), minlength=len(thresholds)
        )
        above = np.cumsum(by_threshold[::-1])[::-1]
        return np.minimum(above * n_of[TEST] / n_of[CUT], n_of[TEST])

    expected = _epsilon(
        share_at_least(hits(table), n_of[TEST], error),
        share_at_most(hits(1 - table), n_of[TEST], error),
        delta,
    )
    # Of equals the largest, the smallest event.
    return float(thresholds[len(thresholds) - 1 - int(np.argmax(expected[::-1]))])


def _epsilon(
    p_low: NDArray[np.float64], q_high: NDArray[np.float64], delta: float
) -> NDArray[np.float64]:
    """Lower bound on epsilon; 0 is always one."""
    return np.maximum(np.log(np.maximum(p_low - delta, 1e-300) / q_high), 0.0)
