# SPDX-License-Identifier: BSD-3-Clause
"""Forests and folds are those of the paper, and measures are what they are called."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.datasets import load_iris

from mrforest.experiments import protocol
from mrforest.experiments.datasets import Dataset
from tests.leaves import leaf_options

SETTINGS = {
    "dataset": "iris",
    "forest": "MRF",
    "leaf_rule": "stop",
    "n_estimators": 5,
    "min_samples_leaf": 5,
    "stratified": False,
    "seed": 0,
    "repetition": 0,
    "fold": 0,
}
EVERY = [
    (name, rule)
    for name in (*protocol.PAPER, *protocol.EXTRAS)
    for rule in protocol.leaf_rules(name)
]


@pytest.fixture(autouse=True)
def iris(monkeypatch):
    """Iris, with a category that has a gap."""
    data = load_iris(as_frame=True)
    X = data.data.set_axis(list("abcd"), axis=1)
    X["d"] = pd.Categorical(np.where(X["d"] > 1, "wide", "narrow"))
    X.loc[3, "d"] = None
    X.loc[5, "a"] = np.nan
    y = data.target_names[data.target].astype(str)
    table = Dataset("iris", X, y)
    monkeypatch.setattr(protocol.datasets, "load", lambda name: table)
    protocol.load_table.cache_clear()
    yield table
    protocol.load_table.cache_clear()


# ---- forests -------------------------------------------------------------------------


def test_the_multinomial_forest_has_the_papers_budgets():
    forest = protocol.make_forest("MRF", "stop")
    given = forest.get_params()
    expected = {
        "n_estimators": 100,
        "min_samples_split": 6,
        "min_samples_leaf": None,
        "feature_budget": 10,
        "split_budget": 10,
        "label_budget": math.inf,
        "honest_fraction": 0.5,
        "criterion": "gini",
        "max_bins": "exact",
        "voting": "hard",
    }
    assert {name: given[name] for name in expected} == expected


@pytest.mark.parametrize(("name", "rule"), EVERY)
def test_forests_have_the_papers_settings(name, rule):
    given = protocol.make_forest(name, rule, random_state=3).get_params()
    assert given["n_estimators"] == 100
    assert given["n_jobs"] == 1
    assert given["random_state"] == 3
    if name == "scikit-learn":
        assert given["min_samples_leaf"] == 1
        return
    leaves = {name: given[name] for name in ("min_samples_split", "min_samples_leaf")}
    assert leaves == leaf_options(rule, 5)
    assert given.get("criterion", "gini") == "gini"
    assert given.get("max_bins", "exact") == "exact"
    assert given.get("max_features", "sqrt") == "sqrt"
    assert given.get("mean_features", "sqrt") == "sqrt"
    assert given.get("honest_fraction", 0.5) == 0.5


def test_both_forests_of_comparisons():
    assert protocol.make_forest("CompRF-C", "stop").honest
    assert not protocol.make_forest("CompRF-I", "stop").honest


def test_unknown_forests_and_rules_are_refused():
    with pytest.raises(ValueError, match=r"forest='RF' must be one of .*'MRF'"):
        protocol.make_forest("RF", "stop")
    with pytest.raises(ValueError, match=r"leaf_rule='own' of MRF must be one of"):
        protocol.make_forest("MRF", "own")


# ---- data and folds ------------------------------------------------------------------


def test_a_table_has_codes_and_gaps(iris):
    table = protocol.load_table("iris")
    assert table.is_categorical.tolist() == [False, False, False, True]
    assert np.isnan(table.X[3, 3])
    assert np.isnan(table.X[5, 0])
    assert set(table.X[:, 3][~np.isnan(table.X[:, 3])]) == {0.0, 1.0}
    assert (table.X[:, 1] == iris.X["b"]).all()
    assert (np.unique(iris.y)[table.y] == iris.y).all()


@pytest.mark.parametrize("stratified", [False, True])
def test_folds_are_a_partition_of_their_own_in_each_repetition(stratified):
    table = protocol.load_table("iris")
    tests = {}
    for repetition in range(3):
        parts = protocol.folds(
            table, repetition=repetition, seed=0, stratified=stratified
        )
        assert len(parts) == 10
        held_out = np.concatenate([test for _, test in parts])
        assert sorted(held_out) == list(range(150))
        for train, test in parts:
            assert not set(train) & set(test)
            assert len(train) + len(test) == 150
        shares = {tuple(np.bincount(table.y[test], minlength=3)) for _, test in parts}
        assert (shares == {(5, 5, 5)}) == stratified
        tests[repetition] = tuple(parts[0][1])
    assert len(set(tests.values())) == 3


# ---- measures ------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "rule"), EVERY)
def test_every_forest_is_measured(name, rule):
    measures = protocol.measure_fold({**SETTINGS, "forest": name, "leaf_rule": rule})
    assert measures["accuracy"] > 0.7
    assert 0 < measures["log_loss"] < 1
    assert 0 < measures["brier"] < 0.6
    assert measures["fit_seconds"] > 0
    assert measures["predict_seconds"] > 0
    assert measures["leaves"] > 2
    assert measures["depth"] >= 1


def test_a_fold_is_the_same_each_time_and_another_for_other_settings():
    def told(**changed):
        measures = protocol.measure_fold({**SETTINGS, **changed})
        return {name: measures[name] for name in ("log_loss", "brier", "leaves")}

    assert told() == told()
    for changed in ({"fold": 1}, {"repetition": 1}, {"seed": 1}, {"stratified": True}):
        assert told(**changed) != told()


def test_accuracy_is_that_of_the_held_out_rows():
    table = protocol.load_table("iris")
    train, test = protocol.folds(table, repetition=2, seed=0, stratified=False)[4]
    measures = protocol.measure_fold({**SETTINGS, "repetition": 2, "fold": 4})
    forest = protocol.make_forest(
        "MRF",
        "stop",
        n_estimators=5,
        categorical_features=table.is_categorical,
        random_state=protocol._seed(0, 2, 4),
    ).fit(table.X[train], table.y[train])
    assert measures["accuracy"] == forest.score(table.X[test], table.y[test])
    assert measures["leaves"] == np.mean(forest.n_leaves_)


def test_losses_by_hand_and_by_scikit_learn():
    probabilities = np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]])
    truth = np.array([0, 1])
    assert protocol.log_loss(probabilities, truth) == pytest.approx(math.log(2) / 2)
    # (0.5² + 2 · 0.25²) / 2
    assert protocol.brier(probabilities, truth) == pytest.approx(0.1875)
    random = np.random.default_rng(0).dirichlet(np.ones(3), 50).clip(0.01)
    random /= random.sum(axis=1, keepdims=True)
    truth = np.arange(50) % 3
    assert protocol.log_loss(random, truth) == pytest.approx(
        metrics.log_loss(truth, random)
    )


def test_an_impossible_class_does_not_cost_everything():
    probabilities = np.array([[1.0, 0.0]])
    loss = protocol.log_loss(probabilities, np.array([1]))
    assert loss == pytest.approx(math.log(1000))


def test_a_class_that_was_not_fitted_has_no_probability(iris):
    # Only one row of this class: it is in the test rows of one fold.
    iris.y[:] = np.where(np.arange(150) == 7, "rare", iris.y)
    table = protocol.load_table("iris")
    parts = protocol.folds(table, repetition=0, seed=0, stratified=False)
    fold = next(i for i, (_, test) in enumerate(parts) if 7 in test)
    measures = protocol.measure_fold({**SETTINGS, "fold": fold})
    assert measures["accuracy"] < 1
    assert math.isfinite(measures["log_loss"])
