# SPDX-License-Identifier: BSD-3-Clause
"""What a fitted object keeps beside what was paid for."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mrforest.privacy.audit._replay import Replay, replay
from mrforest.privacy.audit._tables import read_table
from mrforest.privacy.audit._traces import Finding, traces
from mrforest.privacy.audit._walk import walk
from mrforest.privacy.randomness import RandomBits

SEED = re.compile(r"random_?state|seed|entropy", re.IGNORECASE)
NAME = re.compile(r"[A-Za-z_]\w*")
INDEX = re.compile(r"\[\d+\]")
GENERATORS = (
    np.random.Generator,
    np.random.RandomState,
    np.random.BitGenerator,
    np.random.SeedSequence,
    random.Random,
    RandomBits,
)
MOST_LINES = 20


@dataclass(frozen=True)
class LeftoversAudit:
    """What a fitted object keeps that nobody paid for.

    Attributes
    ----------
    findings : tuple of Finding
        Things to look at. Small numbers may be equal by chance.
    replays : bool
        Whether the object can be computed again, noise and all, with a seed it keeps.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from mrforest.privacy import audit
    >>> X, y = np.random.default_rng(0).normal(size=(50, 2)), [0, 1] * 25
    >>> found = audit.leftovers(RandomForestClassifier(2).fit(X, y), X, y)
    >>> found.clean, found.replays
    (False, True)
    """

    findings: tuple[Finding, ...]
    replays: bool

    @property
    def clean(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def __str__(self) -> str:
        if self.clean:
            return "nothing found that was not paid for"
        # The trees of a forest all say the same: one line is enough.
        alike: dict[tuple[str, str], list[Finding]] = {}
        for finding in self.findings:
            key = INDEX.sub("[]", finding.path), finding.why
            alike.setdefault(key, []).append(finding)
        lines = [
            f"{found[0]}" + (f" (and {len(found) - 1} alike)" if found[1:] else "")
            for found in alike.values()
        ]
        if len(lines) > MOST_LINES:
            lines[MOST_LINES:] = [f"... and {len(lines) - MOST_LINES} more"]
        n = len(self.findings)
        return "\n".join([f"{n} finding{'s' if n > 1 else ''}", *lines])


def leftovers(fitted: Any, X: Any = None, y: ArrayLike | None = None) -> LeftoversAudit:
    """List what a fitted object keeps that would break its privacy.

    All that can be reached from the object is looked at: attributes, attributes of
    those, arrays, and what pickle stores. Without the training table, seeds and random
    generators are found: who has the seed computes the noise and takes it off. With the
    table also

    * the exact number of rows, class counts and class shares,
    * arrays of one entry a row,
    * numbers that are values of the table, or halfway between two neighbouring values
      of a column; not whole ones, nor those of one or two digits, nor those among the
      constructor's parameters, which are public;
    * whether each seed replays: the estimator that holds it, and the whole, are fitted
      again with the seed; the same arrays and predictions mean that its noise is no
      secret.

    To tell what comes from the table from what is so anyway, the estimator is also
    fitted to a table with a few rows less and slightly other numbers. What that one
    keeps as well is not reported. No accountant is charged for these fits.

    What is found is to be looked at: equal numbers may be so by chance, above all in
    small tables. What is not found may still be there in another form.

    Parameters
    ----------
    fitted : estimator
        After ``fit``.
    X, y : array or frame, array-like, default=None
        The training table.

    Returns
    -------
    LeftoversAudit

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = np.random.default_rng(0).normal(size=(50, 2)), [0, 1] * 25
    >>> found = leftovers(RandomForestClassifier(2).fit(X, y))
    >>> [finding.path for finding in found.findings]
    ['estimators_[0].random_state', 'estimators_[1].random_state']
    >>> leftovers(RandomForestClassifier(2).fit(X, y), X, y).replays
    True
    """
    if (X is None) != (y is None):
        raise ValueError("X and y must be given together")
    table = None if X is None or y is None else read_table(X, y)
    everything = list(walk(fitted))
    estimators = {
        path: value
        for path, value in everything
        if hasattr(value, "fit") and hasattr(value, "get_params")
    }
    findings, n_replayed = [], 0
    for path, value in everything:
        if isinstance(value, GENERATORS):
            findings.append(
                Finding(
                    path,
                    f"a {type(value).__name__}",
                    "a random generator tells what was or will be drawn",
                )
            )
        for place, seed in _seeds(path, value):
            tried = Replay.NO
            above = [at for at in estimators if not at or place.startswith(f"{at}.")]
            if table is not None and above:
                holder = estimators[max(above, key=len)]
                tried = replay(fitted, holder, seed, table)
            n_replayed += tried is Replay.YES
            findings.append(Finding(place, f"seed {seed}", tried.value))
    if table is not None:
        findings += traces(fitted, table)
    return LeftoversAudit(tuple(findings), n_replayed > 0)


def _seeds(path: str, value: Any) -> Iterator[tuple[str, int]]:
    """Yield whole numbers that are called seeds."""
    names = NAME.findall(path)
    if not (names and SEED.search(names[-1])) or isinstance(value, bool):
        return
    if isinstance(value, Integral):
        yield path, int(value)
    elif isinstance(value, bytes):
        yield path, int.from_bytes(value, "little")
    elif isinstance(value, np.ndarray) and value.dtype.kind in "iu":
        for i, seed in enumerate(value.ravel().tolist()):
            yield f"{path}[{i}]" if value.ndim else path, seed
