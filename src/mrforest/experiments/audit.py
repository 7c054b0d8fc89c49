# SPDX-License-Identifier: BSD-3-Clause
"""The audits of `mrforest.privacy.audit`, run on mechanisms and forests, sound or not.

The data is made up or comes with scikit-learn. Nothing is downloaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import RandomForestClassifier

from mrforest.experiments.flawed import printed_split
from mrforest.forests.multinomial import MultinomialForestClassifier
from mrforest.forests.private import PrivateForestClassifier
from mrforest.privacy import audit
from mrforest.privacy.grid import Grid, Numeric
from mrforest.privacy.mechanisms import Exponential
from mrforest.privacy.sensitivity import GINI_RANGE, gini
from mrforest.privacy.subtree import Scoring

__all__ = ["N_STEPS", "Attack", "Audits", "Check", "run"]

# What is too small for five records to show it is not asked of the mechanisms.
MECHANISM_EPSILONS = (1.0, 2.0, 4.0, 8.0)
ATTACK_EPSILONS = (0.1, 0.5, 1.0, 2.0, 8.0)

# What an exhaustive audit goes through: three values of a feature, two classes.
GRID = Grid.of([Numeric(0, 2, is_whole=True)])
N_CLASSES = 2
MOST_RECORDS = 5
POINTS = [((x,), label) for x in (0.0, 0.3, 1.0) for label in range(N_CLASSES)]

# Upper bounds of the first ten columns of the breast-cancer data, that a doctor would
# give; and how many of its rows are looked at.
HIGHEST = (30.0, 40.0, 200.0, 2600.0, 0.2, 0.4, 0.5, 0.3, 0.4, 0.1)
N_LOSSES = 100
# Of the columns of the diabetes data, which are standardised, and a disease that
# progresses fast.
DIABETES_BOUNDS = (-0.2, 0.2)
FAST_PROGRESS = 140

Step = Callable[[], object]


@dataclass(frozen=True)
class Check:
    """A claim and what an audit found.

    Attributes
    ----------
    audit : str
        How it was found.
    what : str
        Whose claim it is.
    claimed, found : float
        Epsilon, and the largest loss or a lower bound on epsilon.
    is_sound : bool
        Whether the claim is known to be true.

    Examples
    --------
    >>> from mrforest.experiments.audit import Check
    >>> Check("exhaustive", "Gini", claimed=1.0, found=0.9, is_sound=True).holds
    True
    >>> Check("empirical", "a seed", claimed=1.0, found=3.2, is_sound=False).holds
    False
    """

    audit: str
    what: str
    claimed: float
    found: float
    is_sound: bool

    @property
    def holds(self) -> bool:
        """Whether nothing was found against the claim."""
        return self.found <= self.claimed * (1 + 1e-9)


@dataclass(frozen=True)
class Attack:
    """A membership attack on one forest; a forest without privacy has no epsilon.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mrforest import PrivateForestClassifier
    >>> from mrforest.experiments.audit import Attack
    >>> from mrforest.privacy import audit
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = PrivateForestClassifier(1.0, bounds=(0, 8), classes=[0, 1, 2])
    >>> found = audit.membership(forest, X, y, epsilon=1.0, runs=20)
    >>> round(Attack("private forest", 1.0, found).result.bound, 3)
    0.462
    """

    what: str
    epsilon: float | None
    result: audit.MembershipAudit


@dataclass(frozen=True, eq=False)
class Audits:
    """All that the audits found.

    Attributes
    ----------
    checks : list of Check
        Exhaustive audits of mechanisms, empirical ones of forests.
    attacks : list of Attack
        On the private forest for several epsilons, and on scikit-learn's.
    losses : ExactAudit
        Of one private forest, for some of its rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mrforest import PrivateForestClassifier
    >>> from mrforest.experiments.audit import Audits, Check
    >>> from mrforest.privacy import audit
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = PrivateForestClassifier(1.0, bounds=(0, 8), classes=[0, 1, 2])
    >>> forest = forest.fit(X, y)
    >>> losses = audit.exact(forest, X, y, rows=range(10))
    >>> refuted = Check("empirical", "a forest", claimed=1.0, found=1.2, is_sound=True)
    >>> Audits([refuted], [], losses).n_surprises
    1
    """

    checks: list[Check]
    attacks: list[Attack]
    losses: audit.ExactAudit

    @property
    def n_surprises(self) -> int:
        """Sound claims that were refuted, and false ones that were not."""
        return (
            sum(check.holds != check.is_sound for check in self.checks)
            + sum(
                attack.epsilon is not None and attack.result.refutes
                for attack in self.attacks
            )
            + (not self.losses.holds)
        )


def run(
    *,
    epsilon: float = 1.0,
    runs: int = 1000,
    attacks: int = 80,
    n_jobs: int = -1,
    step: Step = lambda: None,
) -> Audits:
    """Run all audits.

    Parameters
    ----------
    epsilon : float, default=1.0
        Claim of the forests that are fitted often, and of the one whose losses are
        computed.
    runs : int, default=1000
        Fits of each of two tables, for a lower bound.
    attacks : int, default=80
        Fits for each membership attack.
    n_jobs : int, default=-1
        Processes; -1 is one for each core.
    step : callable
        Called after each of `N_STEPS` audits.

    Returns
    -------
    Audits

    Examples
    --------
    >>> from mrforest.experiments import audit
    >>> found = audit.run(runs=100, attacks=10, n_jobs=1)
    >>> {check.what for check in found.checks if check.found == float("inf")}
    {'cuts of the data'}
    >>> found.losses.holds
    True
    """

    def stepping(found: Iterator[Any]) -> list[Any]:
        done = []
        for result in found:
            done.append(result)
            step()
        return done

    checks = stepping(check_mechanisms())
    checks += stepping(check_forests(epsilon, runs, n_jobs))
    attacked = stepping(attack_forests(attacks, n_jobs))
    losses = losses_of_a_forest(epsilon, n_jobs)
    step()
    return Audits(checks, attacked, losses)


# ---- mechanisms: every small dataset -------------------------------------------------


def check_mechanisms() -> Iterator[Check]:
    """Compare declared epsilons with the largest loss on all small datasets."""
    domain = audit.records_of(GRID, N_CLASSES)
    # name, whether it is sound, distribution for an epsilon, records
    mechanisms: list[tuple[str, bool, Callable[[float], Any], Any]] = [
        ("subtree, labels", True, lambda e: _subtree(e, None), domain),
        ("subtree, norm 3", True, lambda e: _subtree(e, 3.0), domain),
        ("Gini", True, lambda e: _split(e, GINI_RANGE), domain),
        ("half-range Gini", False, lambda e: _split(e, GINI_RANGE // 2), domain),
        ("cuts of the data", False, lambda e: printed_split(e / 2, e / 2), POINTS),
    ]
    for name, is_sound, distribution, records in mechanisms:
        for epsilon in MECHANISM_EPSILONS:
            found = audit.exhaustive(distribution(epsilon), records, MOST_RECORDS)
            yield Check("exhaustive", name, epsilon, found.largest, is_sound)


def _subtree(epsilon: float, norm: float | None) -> Any:
    return audit.subtree_distribution(GRID, N_CLASSES, Scoring(epsilon, norm), 2)


def _split(epsilon: float, unit: int) -> Any:
    return audit.split_distribution(GRID, N_CLASSES, gini, Exponential(epsilon, unit))


# ---- forests: many fits of two tables ------------------------------------------------


def check_forests(epsilon: float, runs: int, n_jobs: int) -> Iterator[Check]:
    """Bound the epsilon of a private tree, and of the paper's, from below."""
    # So few rows that the other label is drawn now and then: a rare event needs more
    # fits to be seen.
    n = max(1, round(2 / epsilon))
    X, y = np.zeros((n + 1, 1)), np.append(np.zeros(n, dtype=np.int64), 1)
    private = private_forest(
        epsilon, bounds=(0, 3), n_estimators=1, max_depth=2, n_samples_public=n
    )
    bound = partial(audit.empirical, runs=runs, n_jobs=n_jobs)
    found = bound(private, (X, y), (X[:n], y[:n]))
    yield Check("empirical", "private forest", epsilon, found.epsilon, True)

    # One tree of one split: its budgets as the paper's theorem has them.
    printed = MultinomialForestClassifier(
        1,
        feature_budget=epsilon / 2,
        split_budget=epsilon / 2,
        label_budget=epsilon,
        max_depth=1,
        max_bins="exact",
    )
    X, y = np.repeat([[0.0], [1.0]], 20, axis=0), np.repeat([0, 1], 20)
    more = np.vstack([X, [[0.3]]]), np.append(y, 0)
    found = bound(printed, more, (X, y), statistic=first_cut)
    yield Check("empirical", "the paper's tree", epsilon, found.epsilon, False)


def first_cut(forest: Any) -> float:
    """Return where the first tree splits its root."""
    return float(forest.estimators_[0].threshold[0].round(6))


# ---- forests: who was in the table? --------------------------------------------------


def attack_forests(runs: int, n_jobs: int) -> Iterator[Attack]:
    """Attack private forests of several epsilons, and one that is not private."""
    # A target that is hard to learn is learnt by heart.
    X, progress = load_diabetes(return_X_y=True)
    y = (progress > FAST_PROGRESS).astype(np.int64)
    attack = partial(audit.membership, X=X, y=y, runs=runs, n_jobs=n_jobs)
    for epsilon in ATTACK_EPSILONS:
        forest = private_forest(epsilon, bounds=DIABETES_BOUNDS)
        yield Attack("private forest", epsilon, attack(forest, epsilon=epsilon))
    forest = RandomForestClassifier(50)
    yield Attack("scikit-learn", None, attack(forest, epsilon=max(ATTACK_EPSILONS)))


# ---- one forest: what it tells about each row ----------------------------------------


def losses_of_a_forest(epsilon: float, n_jobs: int) -> audit.ExactAudit:
    """Compute the losses of a private forest for rows spread over the table."""
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, : len(HIGHEST)]
    bounds = [(0.0, high) for high in HIGHEST]
    forest = private_forest(epsilon, bounds=bounds).fit(X, y)
    rows = np.linspace(0, len(y) - 1, N_LOSSES).astype(int)
    return audit.exact(forest, X, y, rows=rows, n_jobs=n_jobs)


def private_forest(epsilon: float, **parameters: Any) -> Any:
    """Return a private forest for two classes."""
    return PrivateForestClassifier(epsilon, classes=[0, 1], **parameters)


# Checks of five mechanisms and two forests, attacks on them and another one, losses
N_STEPS = 5 * len(MECHANISM_EPSILONS) + 2 + len(ATTACK_EPSILONS) + 1 + 1
