# SPDX-License-Identifier: BSD-3-Clause
"""Membership attacks: memory is found, and nothing where there is nothing to find."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from mrforest.privacy import audit
from mrforest.privacy.audit._membership import _best_threshold


def noise(n=80, n_classes=10):
    """Labels that say nothing about the rows: all that is known of them is memory."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 3)), rng.integers(n_classes, size=n)


class Response(BaseEstimator):
    """Tells whether its first row was in the table, by randomized response."""

    def __init__(self, epsilon, seed):
        self.epsilon, self.seed = epsilon, seed

    def fit(self, X, y):
        rng = np.random.default_rng(self.seed)
        lies = rng.random() < 1 / (1 + math.exp(self.epsilon))
        self.says_ = (0.0 in X[:, 0]) != lies
        return self


def attack_response(epsilon, claimed, **arguments):
    X = np.arange(10.0).reshape(-1, 1)
    return audit.membership(
        lambda seed: Response(epsilon, seed),
        X,
        np.zeros(10, dtype=int),
        epsilon=claimed,
        targets=[0],
        score=lambda fitted, X, y: [fitted.says_],
        random_state=0,
        **arguments,
    )


def test_the_bound_is_reached_and_not_exceeded():
    found = attack_response(1.0, 1.0, runs=4000)
    assert found.bound == pytest.approx((math.e - 1) / (math.e + 1), rel=1e-12)
    assert found.advantage == pytest.approx(found.bound, abs=0.05)
    assert found.low < found.bound < found.high
    assert found.high - found.low < 0.12
    assert not found.refutes
    assert found.n_targets == 1
    assert found.true_positive_rate == pytest.approx(math.e / (1 + math.e), abs=0.04)
    assert found.false_positive_rate == pytest.approx(1 / (1 + math.e), abs=0.04)
    assert "does not refute epsilon = 1, which allows 0.4621" in str(found)


def test_a_false_claim_is_refuted():
    found = attack_response(3.0, 1.0, runs=400)
    assert found.refutes
    assert "refutes epsilon = 1" in str(found)


@pytest.mark.parametrize(
    "estimator", [KNeighborsClassifier(1), DecisionTreeClassifier()]
)
def test_memory_is_found(estimator):
    X, y = noise()
    found = audit.membership(estimator, X, y, epsilon=1.0, runs=120, random_state=0)
    assert found.advantage > 0.85
    assert found.low > 0.6 > found.bound
    assert found.refutes
    assert found.true_positive_rate == 1.0


@pytest.mark.parametrize("strategy", ["uniform", "constant"])
def test_nothing_is_found_where_the_rows_are_ignored(strategy):
    X, y = noise(n_classes=2)
    found = audit.membership(
        DummyClassifier(strategy=strategy, constant=1),
        X,
        np.where(np.arange(80) < 2, [0, 1] * 40, y),
        targets=range(2, 80),
        epsilon=0.1,
        runs=100,
        random_state=0,
    )
    assert abs(found.advantage) < 0.05
    assert found.low < 0 < found.high
    assert not found.refutes


class Lookup(ClassifierMixin, BaseEstimator):
    """Knows labels of rows it has seen; has no probabilities."""

    def fit(self, X, y):
        self.known_ = dict(zip(*self.plain(X, y), strict=True))
        return self

    def predict(self, X):
        rows, _ = self.plain(X, [])
        return np.array([self.known_.get(row, -1) for row in rows])

    def plain(self, X, y):
        return [tuple(row) for row in np.asarray(X).tolist()], list(y)


def test_frames_and_labels_without_probabilities():
    X, y = noise()
    frame = pd.DataFrame(X, columns=list("abc"))
    found = audit.membership(
        Lookup(), frame, y, epsilon=1.0, runs=20, targets=[3, 5, 70], random_state=0
    )
    assert (found.true_positive_rate, found.false_positive_rate) == (1.0, 0.0)
    assert found.advantage == 1.0
    assert found.n_targets == 3


def test_rows_that_are_no_targets_are_always_in():
    X, y = noise()
    sizes = []

    def score(fitted, X, y):
        sizes.append(len(fitted.known_))
        assert len(X) == len(y) == 2
        return fitted.predict(X) == y

    audit.membership(Lookup(), X, y, epsilon=1.0, runs=30, targets=[4, 9], score=score)
    assert set(sizes) == {78, 79, 80}


def test_a_threshold_is_chosen_on_other_runs_than_it_is_measured_on():
    """Random scores fit the coins of the first half a bit, of the other not."""
    X, y = noise()
    scores = np.random.default_rng(1).random((40, 80))
    calls = iter(scores)
    found = audit.membership(
        Lookup(),
        X,
        y,
        epsilon=1.0,
        runs=40,
        score=lambda fitted, X, y: next(calls),
        random_state=3,
    )
    # The coins are the first thing that is drawn.
    coins = np.random.default_rng(3).integers(2, size=(40, 80)).astype(bool)
    best = max(
        np.unique(scores[:20])[::-1],
        key=lambda t: ((scores[:20] >= t) == coins[:20]).mean(),
    )
    assert found.threshold == best
    called = scores[20:] >= best
    expected = called[coins[20:]].mean() - called[~coins[20:]].mean()
    assert found.true_positive_rate - found.false_positive_rate == expected
    assert found.advantage == 2 * (called == coins[20:]).mean() - 1


def test_rows_of_the_same_score_are_called_the_same():
    scores = np.array([0.9, 0.9, 0.9, 0.5, 0.5, 0.1])
    is_member = np.array([True, False, False, True, True, False])
    assert _best_threshold(scores, is_member) == 0.5


def test_the_bound_with_a_delta():
    """No pair of probabilities that (epsilon, delta) allows has more."""
    epsilon, delta = 0.8, 0.1
    grid = np.linspace(0, 1, 1001)
    p, q = np.meshgrid(grid, grid)
    allowed = (p <= math.exp(epsilon) * q + delta) & (
        1 - q <= math.exp(epsilon) * (1 - p) + delta
    )
    best = (p - q)[allowed].max()
    bound = audit.membership_bound(epsilon, delta)
    assert best <= bound < best + 0.005
    assert audit.membership_bound(0.0, delta) == pytest.approx(delta)
    assert audit.membership_bound(math.inf) == 1.0


def test_the_same_for_the_same_seed():
    X, y = noise()
    first, second, other = (
        audit.membership(
            DecisionTreeClassifier(max_depth=1),
            X,
            y,
            epsilon=1.0,
            runs=8,
            random_state=s,
        )
        for s in (1, 1, 2)
    )
    assert first == second != other


def test_bad_arguments():
    X, y = noise(10)
    nearest = KNeighborsClassifier(1)
    for targets in ([10], [-1], []):
        with pytest.raises(ValueError, match=r"targets must be rows in \[0, 10\)"):
            audit.membership(nearest, X, y, epsilon=1.0, runs=8, targets=targets)
    with pytest.raises(ValueError, match="epsilon must be"):
        audit.membership(nearest, X, y, epsilon=-1.0, runs=8)
    with pytest.raises(ValueError, match="score must give a number for each of 10"):
        audit.membership(
            nearest, X, y, epsilon=1.0, runs=8, score=lambda fitted, X, y: 0.5
        )
    with pytest.raises(ValueError, match="with NaN"):
        audit.membership(
            nearest, X, y, epsilon=1.0, runs=8, score=lambda fitted, X, y: y * np.nan
        )
    tree = DecisionTreeClassifier(random_state=1)
    with pytest.raises(ValueError, match="random_state=1, so all its fits"):
        audit.membership(tree, X, y, epsilon=1.0, runs=8)
