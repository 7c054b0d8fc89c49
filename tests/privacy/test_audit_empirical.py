# SPDX-License-Identifier: BSD-3-Clause
"""Lower bounds on epsilon: never above the truth, near it, and above false claims."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from mrforest import MultinomialForestClassifier
from mrforest.privacy import audit
from tests.privacy.standin import PrivateTree

X = np.zeros((3, 1))
D, D_NEIGHBOUR = (X, [0, 1, 1]), (X, [1, 1, 1])


class RandomizedResponse(BaseEstimator):
    """Tells the first label, or with probability 1 / (1 + e^epsilon) the other.

    With probability delta it tells it for sure, and that it does.
    """

    def __init__(self, epsilon=1.0, delta=0.0, seed=0):
        self.epsilon = epsilon
        self.delta = delta
        self.seed = seed

    def fit(self, X, y):
        rng = np.random.default_rng(self.seed)
        lies = rng.random() < 1 / (1 + math.exp(self.epsilon))
        self.label_ = y[0] ^ int(lies)
        if rng.random() < self.delta:
            self.label_ = ("for sure", y[0])
        return self

    def predict(self, X):
        return np.full(len(X), self.label_)


def label_of(fitted):
    return fitted.label_


def bound(runs, *, claimed_delta=0.0, random_state=0, **parameters):
    return audit.empirical(
        lambda seed: RandomizedResponse(**parameters, seed=seed),
        D,
        D_NEIGHBOUR,
        runs=runs,
        statistic=label_of,
        delta=claimed_delta,
        random_state=random_state,
    )


def test_the_bound_is_seldom_wrong():
    """At most once in twenty audits it is above epsilon; with no lie, never below 0."""
    epsilons = [bound(200, random_state=i).epsilon for i in range(100)]
    assert np.mean(np.array(epsilons) > 1.0) <= 0.05
    assert min(epsilons) >= 0
    assert max(epsilons) > 0.5
    assert bound(200, epsilon=0.0).epsilon < 0.2


def test_many_runs_come_near():
    found = bound(20_000)
    assert 0.9 < found.epsilon <= 1.0
    assert found.epsilon == max(event.epsilon for event in found.events)
    for event, label in zip(found.events, [0, 1], strict=True):
        assert event.n == 10_000
        assert event.values == {label} or event.is_complement
        assert event.hits / event.n == pytest.approx(math.e / (1 + math.e), abs=0.02)
        assert event.epsilon == math.log(event.p_low / event.q_high)
    assert str(found).startswith(f"epsilon >= {found.epsilon:.4g} with confidence 0.95")


def test_a_false_claim_is_refuted():
    found = bound(4_000, epsilon=2.0, random_state=1)
    assert found.refutes(1.0)
    assert not found.refutes(2.0)


def test_a_delta_is_allowed_for():
    """Of 4,000 fits, about 200 tell for sure: no epsilon without a delta."""
    without = bound(4_000, delta=0.05)
    assert without.refutes(2.0)
    allowed = bound(4_000, delta=0.05, claimed_delta=0.05)
    assert 0.6 < allowed.epsilon <= 1.0
    assert "delta = 0.05" in str(allowed)


class Fresh(BaseEstimator):
    """Every fit is another one, but for tables with a certain label."""

    numbers = itertools.count()

    def fit(self, X, y):
        self.label_ = "same" if y[0] == 0 else next(self.numbers)
        return self


def test_values_never_seen_before_count():
    """Nearly all are new under D', and under D none is."""
    found = audit.empirical(Fresh(), D, D_NEIGHBOUR, runs=400, statistic=label_of)
    assert found.epsilon == pytest.approx(3.81, abs=0.01)
    like_d, unlike_d = found.events
    assert like_d.values == {"same"}
    assert unlike_d.is_complement
    assert (unlike_d.hits, unlike_d.hits_other) == (200, 0)


def test_values_seen_once_are_not_overrated():
    """Both tables give something new each time, so the bound is 0, as it must be."""
    found = audit.empirical(
        Fresh(), D_NEIGHBOUR, D_NEIGHBOUR, runs=40, statistic=label_of
    )
    assert found.epsilon == 0


def test_private_trees_keep_their_claim():
    tree = PrivateTree(1.0, bounds=[(0, 2, True)], classes=[0, 1])
    rows = np.array([[0], [0], [1], [2], [2], [1]])
    y = np.array([0, 0, 0, 1, 1, 1])
    # With this confidence it is wrong once in a million runs of the test.
    found = audit.empirical(
        tree, (rows, y), (rows[:5], y[:5]), runs=400, confidence=1 - 1e-6
    )
    assert found.epsilon < 1.0
    broken = tree.set_params(spent=20.0)
    found = audit.empirical(broken, (rows, y), (rows, 1 - y), runs=400)
    assert found.refutes(1.0)


def first_cut(fitted):
    return fitted.estimators_[0].threshold[0].round(6).item()


def test_a_forest_whose_cuts_are_of_the_data_has_no_epsilon():
    """One more row, and with even odds the cut is one that was impossible before."""
    forest = MultinomialForestClassifier(
        1, feature_budget=0.1, split_budget=0.1, max_bins="exact"
    )
    rows, y = np.repeat([[0.0], [1.0]], 20, axis=0), np.repeat([0, 1], 20)
    more = np.vstack([rows, [[0.3]]]), np.append(y, 0)
    found = audit.empirical(forest, more, (rows, y), runs=400, statistic=first_cut)
    assert found.refutes(2.0)
    assert found.events[0].hits_other == 0
    assert {*found.events[0].values} <= {0.15, 0.65, 0.5}


def test_the_default_statistic_sees_predictions_and_probabilities():
    rows = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array(["a", "a", "b", "b"])
    # The same labels everywhere, other shares of the classes
    prior = DummyClassifier(strategy="prior")
    found = audit.empirical(prior, (rows, y), (rows[:3], y[:3]), runs=100)
    assert found.refutes(2.0)
    # Other labels, and no probabilities
    found = audit.empirical(LinearSVC(), (rows, y), (rows, y[::-1]), runs=20)
    assert found.epsilon > 0
    same = audit.empirical(GaussianNB(), (rows, y), (rows, y), runs=40)
    assert same.epsilon == 0
    frames = [pd.DataFrame({"a": part[:, 0]}) for part in (rows, rows[:3])]
    found = audit.empirical(GaussianNB(), (frames[0], y), (frames[1], y[:3]), runs=40)
    assert found.refutes(1.0)


def test_the_same_for_any_number_of_processes(capsys):
    arguments = (lambda seed: RandomizedResponse(seed=seed), D, D_NEIGHBOUR)
    one, two = (
        audit.empirical(
            *arguments, runs=301, random_state=5, n_jobs=n_jobs, verbose=n_jobs - 1
        )
        for n_jobs in (1, 2)
    )
    assert one == two
    assert one != audit.empirical(*arguments, runs=301, random_state=6)
    assert "602/602" in capsys.readouterr().err


def test_bad_arguments():
    with pytest.raises(ValueError, match="random_state=0, so all its fits"):
        audit.empirical(RandomForestClassifier(random_state=0), D, D_NEIGHBOUR, runs=9)
    pipeline = make_pipeline(RandomForestClassifier(random_state=3))
    with pytest.raises(ValueError, match="randomforestclassifier__random_state=3"):
        audit.empirical(pipeline, D, D_NEIGHBOUR, runs=9)
    with pytest.raises(ValueError, match="estimator=7 must have a method fit"):
        audit.empirical(7, D, D_NEIGHBOUR, runs=9)
    with pytest.raises(ValueError, match=r"runs must be .* at least 4; got 3"):
        audit.empirical(GaussianNB(), D, D_NEIGHBOUR, runs=3)
    with pytest.raises(ValueError, match="confidence must be in"):
        audit.empirical(GaussianNB(), D, D_NEIGHBOUR, runs=9, confidence=1.0)
    with pytest.raises(ValueError, match="delta must be"):
        audit.empirical(GaussianNB(), D, D_NEIGHBOUR, runs=9, delta=-1.0)
    with pytest.raises(ValueError, match="D_neighbour must be a table"):
        audit.empirical(GaussianNB(), D, (X, [1, 1]), runs=9)
