# SPDX-License-Identifier: BSD-3-Clause
"""Private forests: what they read, spend, draw and keep."""

import dataclasses
import json
import math
import pickle
import warnings
from collections import Counter
from contextlib import contextmanager

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal
from scipy.stats import chi2
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.model_selection import cross_val_score

from mrforest import PrivateForestClassifier, PrivateForestRegressor
from mrforest.forests import _private
from mrforest.privacy import Accountant, BudgetExceeded, PrivacyLeakWarning
from mrforest.privacy._floats import exact_sum
from mrforest.privacy.randomness import RandomBits

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(300, 4))
Y = (X[:, 0] + 0.3 * X[:, 1] > 0.6).astype(int)
PUBLIC = {"bounds": (0.0, 1.0), "classes": [0, 1]}


@contextmanager
def leaks():
    """Expect a warning that the fit is not private."""
    with pytest.warns(PrivacyLeakWarning) as caught:
        yield caught


def seeded(cls=PrivateForestClassifier, **parameters):
    return cls(**{"random_state": 0, **parameters})


def fit_seeded(X, y, cls=PrivateForestClassifier, **parameters):
    with leaks():
        return seeded(cls, **parameters).fit(X, y)


# ---- budgets ------------------------------------------------------------------------


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("delta", [0.0, 1e-5])
@pytest.mark.parametrize("honest", [False, True])
@pytest.mark.parametrize("leaf", ["label", "counts"])
def test_the_total_is_at_most_epsilon(leaf, honest, delta, neighbours):
    forest = PrivateForestClassifier(
        0.7, delta=delta, leaf=leaf, honest=honest, neighbours=neighbours, **PUBLIC
    ).fit(X, Y)
    assert 0.6 < forest.epsilon_ <= 0.7
    assert forest.ledger_.neighbours == neighbours
    assert forest.ledger_.epsilon_at(delta) == forest.epsilon_
    assert json.loads(forest.ledger_.to_json())["neighbours"] == neighbours


def test_replacing_a_row_is_removing_one_and_adding_one():
    add_remove, replace_one = (
        PrivateForestClassifier(
            2.0, neighbours=neighbours, n_estimators=1, max_depth=3, **PUBLIC
        ).fit(X, Y)
        for neighbours in ("add-remove", "replace-one")
    )
    for whole, half in zip(
        add_remove._plan.blocks, replace_one._plan.blocks, strict=True
    ):
        assert half.epsilon == pytest.approx(whole.epsilon / 2)


def test_the_number_of_rows_is_paid_for_only_if_it_is_needed():
    def what(**parameters):
        forest = PrivateForestClassifier(**PUBLIC, **parameters).fit(X, Y)
        return [item.what for item in forest.ledger_.items], forest.n_rows_

    paid, noisy = what()
    assert paid[0] == "number of rows"
    assert noisy is not None
    assert "number of rows" not in what(n_public=250)[0]
    assert what(n_public=250)[1] == 250
    fixed, unknown = what(n_estimators=2, max_depth=3)
    assert "number of rows" not in fixed
    assert unknown is None


def test_an_exhausted_accountant_refuses_before_the_rows_are_touched():
    class Untouchable:
        shape = (300, 4)

        def __array__(self, *args, **kwargs):
            raise AssertionError("the rows were read")

        def __len__(self):
            return 300

    accountant = Accountant(1.0)
    accountant.charge(0.5, "earlier")
    forest = PrivateForestClassifier(0.6, accountant=accountant, **PUBLIC)
    with pytest.raises(BudgetExceeded, match=r"costs epsilon=0\.6 .* has 0\.5 left"):
        forest.fit(Untouchable(), Y)
    assert accountant.spent == 0.5
    assert not hasattr(forest, "_forest")
    assert not hasattr(forest, "n_features_in_")


def test_a_fit_is_charged_once():
    accountant = Accountant(1.0)
    PrivateForestClassifier(0.25, accountant=accountant, **PUBLIC).fit(X, Y)
    with accountant:
        PrivateForestClassifier(0.5, **PUBLIC).fit(X, Y)
    assert accountant.spent == pytest.approx(0.75)
    # A noisy number of rows, then the trees
    charges = [charge.epsilon for charge in accountant.charges]
    assert charges == pytest.approx([0.0075, 0.2425, 0.015, 0.485])


def test_a_fit_with_delta_is_charged_what_it_costs():
    accountant = Accountant(2.0, 1e-6)
    forest = PrivateForestClassifier(
        1.0,
        delta=1e-6,
        leaf="counts",
        n_estimators=20,
        max_depth=2,
        accountant=accountant,
        **PUBLIC,
    )
    forest.fit(X, Y)
    assert accountant.spent == pytest.approx(1.0, rel=1e-6)
    forest.fit(X, Y)
    # Less than twice as much: that is what zCDP is for.
    assert 1.3 < accountant.spent < 1.6
    with pytest.raises(BudgetExceeded, match="rho"):
        clone(forest).set_params(accountant=Accountant(1.5)).fit(X, Y)


@pytest.mark.parametrize("parameters", [{}, {"honest": True}, {"leaf": "counts"}])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.01])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_no_charge_is_below_what_the_ledger_says(epsilon, delta, parameters):
    accountant = Accountant(100.0, 0.5)
    forest = PrivateForestClassifier(
        epsilon, delta=delta, accountant=accountant, **parameters, **PUBLIC
    ).fit(X, Y)
    charged = accountant.charges
    assert exact_sum(charge.epsilon for charge in charged) >= forest.ledger_.exact
    assert exact_sum(charge.zcdp for charge in charged) >= forest.ledger_.exact_rho
    assert sum(charge.epsilon for charge in charged) < 1.01 * forest.ledger_.epsilon


def test_fits_in_other_threads_of_a_block_are_charged():
    accountant = Accountant(10.0)
    forest = PrivateForestClassifier(0.5, max_depth=1, n_public=300, **PUBLIC)
    with accountant, parallel_config("threading", n_jobs=2):
        cross_val_score(forest, X, Y, cv=3)
    assert accountant.spent == 1.5
    assert Accountant.current() is None


def test_a_fitted_forest_leaves_its_budget_behind():
    forest = PrivateForestClassifier(accountant=Accountant(1.0), **PUBLIC).fit(X, Y)
    again = pickle.loads(pickle.dumps(forest))
    assert again.accountant is None
    assert forest.accountant is not None
    assert_array_equal(again.predict(X), forest.predict(X))


def test_a_charge_stays_if_the_fit_dies(monkeypatch):
    def dies(*args, **kwargs):
        raise KeyboardInterrupt

    accountant = Accountant(1.0)
    forest = PrivateForestClassifier(0.25, accountant=accountant, **PUBLIC).fit(X, Y)
    before = pickle.dumps(forest._forest)
    monkeypatch.setattr(_private.TreeMechanism, "draw", dies)
    with pytest.raises(KeyboardInterrupt):
        forest.fit(X, Y)
    assert accountant.spent == pytest.approx(0.5)
    assert pickle.dumps(forest._forest) == before


ERRORS = [
    ({"epsilon": 0.0}, "epsilon"),
    ({"epsilon": -1.0}, "epsilon"),
    ({"epsilon": 1e-14}, "epsilon"),
    ({"epsilon": math.nan}, "epsilon"),
    ({"delta": 1.0}, "delta"),
    ({"delta": -0.1}, "delta"),
    ({"bounds": (1.0, 0.0)}, "lower one first"),
    ({"bounds": [(0.0, 1.0)] * 3}, "3 entries"),
    ({"bounds": [(0.0, 1.0)] * 3 + [(0.0, math.inf)]}, "finite"),
    ({"bounds": {0: (0.0, 1.0)}}, r"none for the numeric columns \[1, 2, 3\]"),
    ({"bounds": None}, r"bounds: give the range of the 4 numeric columns"),
    ({"classes": None}, r"classes: give all labels"),
    ({"classes": [0]}, r"y has the label 1, which is not in classes=\[0\]"),
    ({"classes": [0, 1, 1]}, "twice"),
    ({"classes": ["0", "1"]}, "y has the label 0"),
    ({"categories": {7: ["a"]}}, "no column 7"),
    ({"categories": {0: "abc"}}, "must be a list"),
    ({"leaf": "mean"}, "leaf"),
    ({"n_estimators": 0}, "n_estimators"),
    ({"max_depth": 0}, "max_depth"),
    ({"max_depth": 21}, "max_depth"),
    ({"n_public": 0}, "n_public"),
    ({"neighbours": "friends"}, "neighbours"),
    ({"on_missing_public": "ignore"}, "on_missing_public"),
]


@pytest.mark.parametrize(("wrong", "match"), ERRORS, ids=str)
def test_errors_come_before_anything_is_spent(wrong, match):
    accountant = Accountant(10.0)
    forest = PrivateForestClassifier(**{**PUBLIC, "accountant": accountant, **wrong})
    with pytest.raises(ValueError, match=match):
        forest.fit(X, Y)
    assert accountant.spent == 0


BAD_ROWS = [
    (np.where(X > 0.9, math.inf, X), Y, "infinity"),
    (X[:, 0], Y, "2D array"),
    (X[:10], Y, "inconsistent"),
    (X, np.where(Y == 1, math.nan, 0.0), "NaN"),
    (X, None, "None"),
    (X, X[:, 0], "which is not in classes"),
    (np.full(X.shape, "text"), Y, "could not convert"),
]


@pytest.mark.parametrize(("X", "y", "match"), BAD_ROWS)
def test_bad_rows_cost_nothing(X, y, match):
    accountant = Accountant(10.0)
    forest = PrivateForestClassifier(accountant=accountant, **PUBLIC)
    with pytest.raises(ValueError, match=match):
        forest.fit(X, y)
    assert accountant.spent == 0


# ---- public information -------------------------------------------------------------


def test_what_is_missing_is_read_only_on_demand():
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0.5, "yes", "no")})
    with pytest.raises(ValueError, match="What must be known beforehand") as error:
        PrivateForestClassifier().fit(frame, Y)
    for part in ("categories: the column 'b'", "bounds:", "classes:"):
        assert part in str(error.value)
    with leaks() as caught:
        forest = PrivateForestClassifier(on_missing_public="warn").fit(frame, Y)
    assert forest.epsilon_ == math.inf
    assert set(forest.ledger_.reasons) == {
        "categories read from the rows",
        "bounds read from the rows",
        "classes read from the rows",
    }
    assert "not private: " in str(forest.ledger_)
    assert "classes read from the rows" in str(caught[0].message)


def test_a_leaking_fit_is_refused_by_an_accountant():
    accountant = Accountant(1e6)
    with leaks(), pytest.raises(BudgetExceeded):
        PrivateForestClassifier(
            on_missing_public="warn", accountant=accountant, classes=[0, 1]
        ).fit(X, Y)
    with leaks(), pytest.raises(BudgetExceeded):
        PrivateForestClassifier(random_state=0, accountant=accountant, **PUBLIC).fit(
            X, Y
        )
    assert accountant.spent == 0


def test_values_beyond_the_bounds_are_clipped():
    far = np.where(X > 0.8, X * 1e9, np.where(X < 0.2, -X * 1e9, X))
    near = np.clip(far, 0, 1)
    forests = [fit_seeded(table, Y, epsilon=5.0, **PUBLIC) for table in (far, near)]
    assert_array_equal(forests[0]._forest.nodes, forests[1]._forest.nodes)
    assert_array_equal(forests[0].predict(far), forests[1].predict(near))


def test_unknown_and_missing_categories_are_other():
    colour = np.array(["red", "green", "blue", None])[RNG.integers(4, size=300)]
    y = np.isin(colour, ["blue", None]).astype(int)
    frame = pd.DataFrame({"colour": colour})
    # Blue is not listed: it is "other", as no colour is.
    public = {"categories": {"colour": ["red", "green", "black"]}, "classes": [0, 1]}
    forest = fit_seeded(frame, y, epsilon=50.0, **public)
    told = forest.predict(
        pd.DataFrame({"colour": ["red", "green", "blue", None, "x", "black"]})
    )
    assert_array_equal(told[:5], [0, 0, 1, 1, 1])


def test_a_missing_number_goes_left():
    y = (X[:, 0] > 0.5).astype(int)
    forest = fit_seeded(X, y, epsilon=100.0, **PUBLIC)
    hole, low = X.copy(), X.copy()
    hole[:, 0], low[:, 0] = math.nan, 0.0
    assert_array_equal(forest.predict(hole), forest.predict(low))
    zeros = np.where(X < 0.1, 0.0, X)
    holes = np.where(X < 0.1, math.nan, X)
    forests = [fit_seeded(x, y, epsilon=9.0, **PUBLIC) for x in (zeros, holes)]
    assert_array_equal(forests[0]._forest.nodes, forests[1]._forest.nodes)


@pytest.mark.parametrize("library", [pd, pl])
def test_frames(library):
    colour = np.where(X[:, 2] > 0.5, "red", "green")
    frame = library.DataFrame({"x": X[:, 0], "colour": colour})
    y = np.where((X[:, 0] > 0.5) ^ (colour == "red"), "yes", "no")
    forest = fit_seeded(
        frame,
        y,
        epsilon=20.0,
        bounds={"x": (0.0, 1.0)},
        categories={"colour": ["green", "red"]},
        classes=["no", "yes"],
    )
    assert forest.score(frame, y) > 0.9
    assert list(forest.feature_names_in_) == ["x", "colour"]
    assert set(forest.predict(frame)) == {"no", "yes"}


def test_classes_that_do_not_occur_may_be_told():
    forest = fit_seeded(X, Y, epsilon=1.0, bounds=(0.0, 1.0), classes=["a", 0, 1][1:])
    assert_array_equal(forest.classes_, [0, 1])
    three = fit_seeded(X, Y, bounds=(0.0, 1.0), classes=[2, 0, 1], leaf="counts")
    assert_array_equal(three.classes_, [0, 1, 2])
    assert three.predict_proba(X).shape == (300, 3)


# ---- randomness ---------------------------------------------------------------------


def test_a_seed_makes_it_reproducible_and_not_private():
    forests = [
        fit_seeded(X, Y, n_estimators=3, n_jobs=n_jobs, **PUBLIC) for n_jobs in (1, 2)
    ]
    assert_array_equal(forests[0]._forest.nodes, forests[1]._forest.nodes)
    assert forests[0].epsilon_ == math.inf
    assert "random_state" in forests[0].ledger_.reasons[0]
    other = fit_seeded(X, Y, n_estimators=3, random_state=1, **PUBLIC)
    assert (
        len(other._forest.nodes) != len(forests[0]._forest.nodes)
        or (other._forest.nodes != forests[0]._forest.nodes).any()
    )


def test_without_a_seed_every_fit_differs():
    drawn = set()
    for _ in range(8):
        # NumPy's global state has no say in it.
        np.random.seed(0)  # noqa: NPY002
        forest = PrivateForestClassifier(0.1, max_depth=2, n_public=300, **PUBLIC)
        drawn.add(forest.fit(X, Y)._forest.nodes.tobytes())
    assert len(drawn) > 1


def test_prediction_draws_nothing(monkeypatch):
    forest = PrivateForestClassifier(leaf="counts", **PUBLIC).fit(X, Y)
    first = forest.predict_proba(X)

    def refuses(*args):
        raise AssertionError("predict drew something")

    monkeypatch.setattr(RandomBits, "_read", refuses)
    assert_array_equal(forest.predict_proba(X), first)
    assert first.sum(axis=1) == pytest.approx(1.0)


# ---- what is kept -------------------------------------------------------------------

# Everything a fitted forest may have, and why.
KEPT = {
    "n_features_in_": "public",
    "feature_names_in_": "public",
    "classes_": "public",
    "n_classes_": "public",
    "_cells": "public",
    "_columns": "public",
    "_schema": "public",
    "_plan": "public numbers, and the noisy number of rows",
    "n_rows_": "paid for",
    "_trees": "paid for",
    "_forest": "made of the trees",
    "ledger_": "made of the plan",
    "epsilon_": "made of the plan",
    "delta_": "a parameter",
}


@pytest.mark.parametrize("leaf", ["label", "counts"])
def test_every_attribute_is_public_or_paid_for(leaf):
    forest = PrivateForestClassifier(
        leaf=leaf, delta=1e-6, n_estimators=2, **PUBLIC
    ).fit(pd.DataFrame(X, columns=list("abcd")), Y)
    fitted = set(vars(forest)) - set(forest.get_params())
    assert fitted <= set(KEPT)
    assert {part.name for part in dataclasses.fields(forest._forest)} == {
        "nodes",
        "tree_start",
        "leaf_offset",
        "leaf_points",
        "has_equality",
        "leaf_label",
        "mass_start",
        "mass_class",
        "mass",
    }
    assert not forest._forest.leaf_points.any()
    for name in ("feature_importances_", "structure_importances_", "oob_score_"):
        assert not hasattr(forest, name)


def bytes_of(forest):
    return pickle.dumps(forest)


def test_the_file_holds_nothing_but_the_model():
    """Other rows that lead to the same draws lead to the same bytes.

    The rows of the second table are those of the first three times, and moved inside
    their cells of the grid: with a budget that leaves no doubt, the trees are the same.
    """
    y = (X[:, 0] > 0.5).astype(int)
    edges = np.linspace(0, 1, 2**11 + 1)
    middle = (
        edges[np.searchsorted(edges, X) - 1] + edges[np.searchsorted(edges, X)]
    ) / 2
    tables = [(X, y), (np.tile(middle, (3, 1)), np.tile(y, 3))]
    parameters = {"epsilon": 1e5, "n_public": 300, "max_depth": 1, **PUBLIC}
    files = {bytes_of(fit_seeded(*table, **parameters)) for table in tables}
    assert len(files) == 1
    # And it would have been seen: other trees are other bytes.
    assert bytes_of(fit_seeded(X, 1 - y, **parameters)) not in files


def test_a_pickle_predicts_the_same():
    forest = PrivateForestClassifier(leaf="counts", **PUBLIC).fit(X, Y)
    again = pickle.loads(pickle.dumps(forest))
    assert_array_equal(forest.predict_proba(X), again.predict_proba(X))
    assert again.ledger_ == forest.ledger_


# ---- distribution -------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_depth": 1},
        {"max_depth": 2, "bounds": (0, 1)},
        {"max_depth": 1, "n_estimators": 2},
        {"max_depth": 1, "epsilon": 2.5},  # not to split is a candidate, too
        {"max_depth": 1, "n_public": None, "n_estimators": "auto"},
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
    n = 1200
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


# ---- what it is good for ------------------------------------------------------------


def test_accuracy_grows_with_epsilon_to_that_without_noise():
    data = load_breast_cancer()
    bounds = list(zip(data.data.min(axis=0), data.data.max(axis=0), strict=True))

    def score(epsilon, **parameters):
        forest = PrivateForestClassifier(
            epsilon, bounds=bounds, classes=[0, 1], **parameters
        )
        return cross_val_score(forest, data.data, data.target, cv=5).mean()

    assert score(0.001) < 0.8
    assert score(1.0) > 0.87
    assert score(8.0) > 0.9
    assert score(math.inf) > 0.9
    assert score(math.inf, leaf="counts") > 0.9


def test_an_infinite_budget_is_not_private():
    forest = PrivateForestClassifier(math.inf, **PUBLIC).fit(X, Y)
    assert forest.epsilon_ == math.inf
    assert not forest.ledger_.is_private
    assert forest.score(X, Y) > 0.97


def test_counts_rank_better_than_labels():
    data = load_wine()
    y = (data.target == 0).astype(int)
    bounds = list(zip(data.data.min(axis=0), data.data.max(axis=0), strict=True))
    parameters = {"epsilon": 8.0, "bounds": bounds, "classes": [0, 1]}
    counts = PrivateForestClassifier(leaf="counts", **parameters).fit(data.data, y)
    labels = PrivateForestClassifier(leaf="label", **parameters).fit(data.data, y)
    assert len(np.unique(counts.predict_proba(data.data))) > 2
    assert set(np.unique(labels.predict_proba(data.data))) <= {0.0, 1.0}


def test_honest_forests_learn():
    forest = PrivateForestClassifier(4.0, honest=True, n_public=2000, **PUBLIC)
    big = RNG.uniform(size=(2000, 4))
    y = (big[:, 0] > 0.5).astype(int)
    scores = [forest.fit(big, y).score(big, y) for _ in range(5)]
    assert np.median(scores) > 0.9


# ---- limits -------------------------------------------------------------------------


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
    forest = PrivateForestClassifier(4.0, max_depth=2, **PUBLIC)
    with pytest.warns(UserWarning, match="2000 features .* drawn one by one"):
        forest.fit(x, y)
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


# ---- regression ---------------------------------------------------------------------


def test_a_regression_learns_within_its_budget():
    X, y = load_diabetes(return_X_y=True)
    forest = PrivateForestRegressor(8.0, bounds=(-0.2, 0.2), target_bounds=(25, 350))
    scores = [forest.fit(X, y).score(X, y) for _ in range(3)]
    assert np.median(scores) > 0.2
    assert forest.epsilon_ <= 8.0
    told = forest.predict(X)
    assert told.min() >= 25
    assert told.max() <= 350
    exact = PrivateForestRegressor(
        math.inf, bounds=(-0.2, 0.2), target_bounds=(25, 350)
    )
    assert exact.fit(X, y).score(X, y) > 0.4


def test_targets_beyond_the_bounds_are_clipped():
    y = X[:, 0] * 10
    tables = [y, np.where(y > 8, 1e9, y)]
    public = {"bounds": (0.0, 1.0), "target_bounds": (0.0, 8.0)}
    forests = [
        fit_seeded(X, target, PrivateForestRegressor, epsilon=4.0, **public)
        for target in tables
    ]
    assert_array_equal(forests[0]._forest.leaf_value, forests[1]._forest.leaf_value)
    assert_array_equal(forests[0]._forest.nodes, forests[1]._forest.nodes)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"target_bounds": None}, "target_bounds: give the range of y"),
        ({"target_bounds": (1.0, 0.0)}, "target_bounds: .* lower one first"),
        ({"target_bounds": (1.0,)}, "target_bounds: .* two numbers"),
    ],
)
def test_bad_bounds_of_the_target(wrong, match):
    accountant = Accountant(1.0)
    forest = PrivateForestRegressor(bounds=(0.0, 1.0), accountant=accountant, **wrong)
    with pytest.raises(ValueError, match=match):
        forest.fit(X, X[:, 0])
    assert accountant.spent == 0


def test_a_row_changes_a_regression_by_epsilon_at_most():
    x, y = np.round(X[:30] * 3).astype(int), X[:30, 0]
    forest = PrivateForestRegressor(
        1.0, bounds=(0, 3), target_bounds=(0.0, 1.0), max_depth=2, n_estimators=1
    ).fit(x, y)
    whole = forest.log_probability(x, y)
    losses = [
        whole - forest.log_probability(np.delete(x, row, 0), np.delete(y, row))
        for row in range(30)
    ]
    assert 0.01 < np.abs(losses).max() <= 1 + 1e-9
