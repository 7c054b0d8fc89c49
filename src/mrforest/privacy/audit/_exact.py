# SPDX-License-Identifier: BSD-3-Clause
"""What one fitted forest tells about one row: the exact privacy loss."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mrforest.privacy.audit._parallel import in_batches
from mrforest.privacy.audit._tables import Table, joined, read_table, take, without

TOLERANCE = 1e-9


class Auditable(Protocol):
    """A fitted forest that knows how probable it is."""

    epsilon_: float

    def log_probability(self, X: Any, y: Any) -> float:
        """Log of the probability that a fit of (X, y) gives this very forest."""


@dataclass(frozen=True)
class Neighbour:
    """A table that differs from the training table in one row.

    Attributes
    ----------
    row : int or None
        The row of the training table that is gone.
    other : int or None
        The row of `others` that has come.

    Examples
    --------
    >>> print(Neighbour(row=3), "or", Neighbour(row=3, other=0))
    without row 3 or with other row 0 in place of row 3
    """

    row: int | None = None
    other: int | None = None

    def __str__(self) -> str:
        if self.other is None:
            return f"without row {self.row}"
        if self.row is None:
            return f"with other row {self.other}"
        return f"with other row {self.other} in place of row {self.row}"


@dataclass(frozen=True, eq=False)
class ExactAudit:
    """Privacy losses of one fitted forest; they depend on the data, so keep them.

    Attributes
    ----------
    losses : ndarray of shape (n_neighbours,)
        log P(forest | D) - log P(forest | D'), one for each of the neighbours D'.
    neighbours : tuple of Neighbour
    epsilon : float
        The claim: no loss may be larger.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mrforest import PrivateForestClassifier
    >>> from mrforest.privacy import audit
    >>> X, y = load_iris(return_X_y=True)
    >>> public = {"bounds": (0.0, 8.0), "classes": [0, 1, 2], "n_samples_public": 150}
    >>> forest = PrivateForestClassifier(1.0, **public).fit(X, y)
    >>> found = audit.exact(forest, X, y, rows=range(10))
    >>> found.holds, found.largest <= 1.0, len(found.losses)
    (True, True, 10)
    """

    losses: NDArray[np.float64]
    neighbours: tuple[Neighbour, ...]
    epsilon: float

    @property
    def largest(self) -> float:
        """The largest absolute loss."""
        return float(np.abs(self.losses).max())

    @property
    def worst(self) -> Neighbour:
        """The neighbour with the largest absolute loss."""
        return self.neighbours[int(np.argmax(np.abs(self.losses)))]

    @property
    def holds(self) -> bool:
        """Whether no loss is larger than the claim, rounding aside."""
        return self.largest <= self.epsilon * (1 + TOLERANCE)

    def __str__(self) -> str:
        sizes = np.abs(self.losses)
        return (
            f"losses of {len(sizes):,} neighbours: largest {self.largest:.6g} "
            f"({self.worst}), mean {sizes.mean():.6g}\n"
            f"claimed epsilon {self.epsilon:.6g} "
            f"{'holds' if self.holds else 'is VIOLATED'}"
        )


def exact(
    forest: Auditable,
    X: Any,
    y: ArrayLike,
    *,
    rows: Sequence[int] | NDArray[np.integer] | None = None,
    others: tuple[Any, ArrayLike] | None = None,
    epsilon: float | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> ExactAudit:
    """Compute what a fitted forest tells about single rows of its training table.

    The loss of a neighbour D' is log P(forest | D) - log P(forest | D'): the odds by
    which the released forest speaks for the training table D. A sound forest never
    loses more than epsilon, on any table; most losses are far smaller.

    The losses are computed from the data without noise. They are for the holder of the
    data, not for release.

    Parameters
    ----------
    forest : fitted estimator
        With ``epsilon_`` and ``log_probability(X, y)``, such as
        `mrforest.PrivateForestClassifier`.
    X, y : array or frame, array-like
        The training table.
    rows : sequence of int, default=all rows
        Rows to take away, or to replace. Empty: none.
    others : (X, y) or None
        Rows to add one by one; if ``forest.neighbours`` is "replace-one", rows that
        take the place of each of `rows`, in which case they must be given.
    epsilon : float, default=what the forest claims
        The claim: ``forest.epsilon_``; for a forest with a delta, that may lose more
        than that with a small probability, ``forest.ledger_.epsilon``.
    n_jobs : int or None
        Processes.
    verbose : int, default=0
        More than 0: a progress bar.

    Returns
    -------
    ExactAudit

    Examples
    --------
    A "forest" that tells the commoner of two labels by the exponential mechanism:

    >>> class Vote:
    ...     epsilon_, label = 1.0, 1
    ...     def log_probability(self, X, y):
    ...         weights = np.exp([np.sum(np.asarray(y) == k) for k in (0, 1)])
    ...         return np.log(weights[self.label] / weights.sum())
    >>> print(exact(Vote(), np.zeros((5, 1)), [0, 0, 1, 1, 1]))
    losses of 5 neighbours: largest 0.379885 (without row 2), mean 0.302465
    claimed epsilon 1 holds
    """
    table = read_table(X, y)
    added = None if others is None else read_table(*others, names="others")
    neighbours = _neighbours(forest, len(table[1]), rows, added)
    own = _log_probability(forest, table)
    if own == -math.inf:
        raise ValueError(
            "forest cannot come from a fit of (X, y): are they its training table?"
        )
    theirs = in_batches(
        _log_probabilities,
        neighbours,
        (forest, table, added),
        n_jobs=n_jobs,
        description="neighbours",
        verbose=verbose,
    )
    return ExactAudit(
        losses=own - np.concatenate(theirs),
        neighbours=tuple(neighbours),
        epsilon=_claim(forest) if epsilon is None else float(epsilon),
    )


def _neighbours(
    forest: Auditable,
    n: int,
    rows: Sequence[int] | NDArray[np.integer] | None,
    others: Table | None,
) -> list[Neighbour]:
    """List the tables to compare with."""
    gone = list(range(n)) if rows is None else [int(row) for row in rows]
    if outside := [row for row in gone if not 0 <= row < n]:
        raise ValueError(f"rows must be in [0, {n}); got {outside[0]}")
    come = list(range(0 if others is None else len(others[1])))
    if getattr(forest, "neighbours", "add-remove") == "replace-one":
        if others is None:
            raise ValueError(
                "others must be given: the neighbours of this forest have one row "
                "replaced by another"
            )
        found = [Neighbour(row, other) for row in gone for other in come]
    else:
        found = [Neighbour(row=row) for row in gone]
        found += [Neighbour(other=other) for other in come]
    if not found:
        raise ValueError("rows and others are empty: there is no neighbour to look at")
    return found


def _log_probabilities(
    neighbours: Sequence[Neighbour],
    forest: Auditable,
    table: Table,
    others: Table | None,
) -> NDArray[np.float64]:
    """Log probabilities of the forest under some neighbours."""

    def tables() -> Iterator[Table]:
        for neighbour in neighbours:
            changed = table
            if neighbour.row is not None:
                changed = without(changed, neighbour.row)
            if neighbour.other is not None and others is not None:
                changed = joined(changed, take(others, np.array([neighbour.other])))
            yield changed

    return np.array([_log_probability(forest, changed) for changed in tables()])


def _log_probability(forest: Auditable, table: Table) -> float:
    found = float(forest.log_probability(*table))
    if math.isnan(found):
        raise ValueError("forest.log_probability gives NaN")
    return found


def _claim(forest: Auditable) -> float:
    """Pure epsilon of the forest."""
    if getattr(forest, "delta", 0.0) > 0 and hasattr(forest, "ledger_"):
        return float(forest.ledger_.epsilon)
    return float(forest.epsilon_)
