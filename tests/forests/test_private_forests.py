# SPDX-License-Identifier: BSD-3-Clause
"""What private forests draw, how good it is, and how far it goes."""

import math
import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import settings
from scipy.stats import chi2
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import cross_val_score

from mrforest import PrivateForestClassifier
from mrforest.privacy import Accountant, PrivacyLeakWarning
from tests.forests.private import PUBLIC, RNG, X, Y, fit_seeded

# ---- distribution --------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_depth": 1},
        {"max_depth": 2, "bounds": (0, 1)},
        {"max_depth": 1, "n_estimators": 2},
        {"max_depth": 1, "epsilon": 2.5},  # not to split is a candidate, too
        {"max_depth": 1, "n_samples_public": None, "n_estimators": "auto"},
    ],
    ids=str,
)
def test_forests_are_drawn_as_they_say(parameters):
    """Frequencies of whole forests against the probabilities they claim."""
    x = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]])
    y = np.array([0, 0, 1, 1, 0])
    parameters = {
        "epsilon": 1.0,
        "bounds": (0, 1),
        "classes": [0, 1],
        "n_estimators": 1,
        **parameters,
    }
    n = 12 * settings().max_examples
    seen: Counter = Counter()
    chances = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        for seed in range(n):
            forest = PrivateForestClassifier(random_state=seed, **parameters).fit(x, y)
            key = (forest.n_rows_, repr([tree for _, tree in forest._trees]))
            seen[key] += 1
            if key not in chances:
                chances[key] = math.exp(forest.log_probability(x, y))
    expected = n * np.array([chances[key] for key in seen])
    observed = np.array([seen[key] for key in seen])
    common = expected >= 5
    rare = n - expected[common].sum()
    distance = ((observed - expected)[common] ** 2 / expected[common]).sum()
    distance += (n - observed[common].sum() - rare) ** 2 / max(rare, 1)
    assert sum(chances.values()) < 1 + 1e-9
    assert common.sum() > 3
    assert chi2.sf(distance, common.sum()) > 1e-6


@pytest.mark.parametrize("leaf", ["label", "counts"])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_a_row_changes_the_probability_by_epsilon_at_most(leaf, neighbours):
    x = np.round(X[:40] * 4).astype(int)
    forest = PrivateForestClassifier(
        1.5,
        bounds=(0, 4),
        classes=[0, 1],
        leaf=leaf,
        n_estimators=2,
        neighbours=neighbours,
    ).fit(x, Y[:40])
    whole = forest.log_probability(x, Y[:40])
    losses = [
        whole
        - forest.log_probability(np.delete(x, row, axis=0), np.delete(Y[:40], row))
        for row in range(40)
    ]
    most = 1.5 if neighbours == "add-remove" else 0.75
    assert np.abs(losses).max() <= most + 1e-9
    assert np.abs(losses).max() > 0.01
    if neighbours == "replace-one":
        flipped = Y[:40].copy()
        flipped[0] = 1 - flipped[0]
        assert abs(whole - forest.log_probability(x, flipped)) <= 1.5 + 1e-9


def test_the_probability_of_an_honest_forest_is_not_told():
    forest = PrivateForestClassifier(honest=True, **PUBLIC).fit(X, Y)
    with pytest.raises(ValueError, match="halve"):
        forest.log_probability(X, Y)


# ---- what it is good for -------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::mrforest.privacy.PrivacyLeakWarning")
def test_accuracy_grows_with_epsilon_to_that_without_noise():
    data = load_breast_cancer()
    bounds = list(zip(data.data.min(axis=0), data.data.max(axis=0), strict=True))

    def score(epsilon, **parameters):
        forest = PrivateForestClassifier(
            epsilon, bounds=bounds, classes=[0, 1], random_state=0, **parameters
        )
        return cross_val_score(forest, data.data, data.target, cv=5).mean()

    assert score(0.001) < 0.8
    assert score(1.0) > 0.87
    assert score(8.0) > 0.9
    assert score(math.inf) > 0.9
    assert score(math.inf, leaf="counts") > 0.9


def test_a_budget_beyond_what_floats_square():
    X, y = load_iris(return_X_y=True)
    forest = PrivateForestClassifier(
        8000.0, bounds=(0.0, 8.0), classes=[0, 1, 2], leaf="counts"
    )
    assert forest.fit(X, y).score(X, y) > 0.9


def test_an_infinite_budget_is_not_private():
    forest = PrivateForestClassifier(math.inf, **PUBLIC).fit(X, Y)
    assert forest.epsilon_ == math.inf
    assert not forest.ledger_.is_private
    assert forest.score(X, Y) > 0.97


def test_counts_give_probabilities_and_labels_do_not():
    data = load_wine()
    y = (data.target == 0).astype(int)
    bounds = list(zip(data.data.min(axis=0), data.data.max(axis=0), strict=True))
    parameters = {"epsilon": 8.0, "bounds": bounds, "classes": [0, 1]}
    counts = PrivateForestClassifier(leaf="counts", **parameters).fit(data.data, y)
    labels = PrivateForestClassifier(leaf="label", **parameters).fit(data.data, y)
    assert len(np.unique(counts.predict_proba(data.data))) > 2
    assert set(np.unique(labels.predict_proba(data.data))) <= {0.0, 1.0}


def test_honest_forests_learn():
    big = RNG.uniform(size=(2000, 4))
    y = (big[:, 0] > 0.5).astype(int)
    parameters = {"epsilon": 4.0, "honest": True, "n_samples_public": 2000, **PUBLIC}
    forests = [fit_seeded(big, y, random_state=s, **parameters) for s in range(5)]
    assert np.median([forest.score(big, y) for forest in forests]) > 0.9


# ---- limits --------------------------------------------------------------------------


def test_one_row_one_class_and_constant_features():
    one = PrivateForestClassifier(bounds=(0.0, 1.0), classes=["a"]).fit([[0.5]], ["a"])
    assert one.predict([[0.1], [9.0]]).tolist() == ["a", "a"]
    still = PrivateForestClassifier(bounds=(2.0, 2.0), classes=[0, 1])
    still.fit(np.full((50, 3), 2.0), np.zeros(50))
    assert still.depths_.tolist() == [0]
    assert math.exp(still.log_probability(np.full((50, 3), 2.0), np.zeros(50))) < 1


def test_a_hundred_classes():
    y = np.arange(2000) % 100
    x = y[:, None] + RNG.uniform(size=(2000, 1))
    forest = PrivateForestClassifier(
        math.inf, bounds=(0.0, 100.0), classes=range(100), max_depth=8
    )
    assert forest.fit(x, y).score(x, y) > 0.1


def test_two_thousand_features_are_drawn_one_level_at_a_time():
    x = RNG.uniform(size=(400, 2000))
    y = (x[:, 7] > 0.5).astype(int)
    with pytest.warns(UserWarning, match="2000 features .* drawn one by one"):
        forest = fit_seeded(x, y, epsilon=4.0, max_depth=2, **PUBLIC)
    assert [block.depth for block in forest._plan.blocks] == [1, 1]
    assert forest.score(x, y) > 0.8


def test_more_options_of_scikit_learn():
    forest = PrivateForestClassifier(
        2.0, delta=1e-6, accountant=Accountant(10.0, 1e-3), n_jobs=2, **PUBLIC
    )
    assert clone(forest).accountant is forest.accountant
    forest.fit(X, Y)
    assert forest.apply(X).shape == (300, forest._plan.n_trees)
    assert len(forest.estimators_) == forest._plan.n_trees
    assert forest.decision_path(X)[0].shape[0] == 300
    assert "epsilon" in repr(PrivateForestClassifier(3.0))
