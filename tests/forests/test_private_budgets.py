# SPDX-License-Identifier: BSD-3-Clause
"""What a private fit costs, and that errors cost nothing."""

import json
import math
import pickle

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from mrforest import PrivateForestClassifier
from mrforest.forests import private_base
from mrforest.privacy import Accountant, BudgetExceeded
from mrforest.privacy._floats import exact_sum
from tests.forests.private import PUBLIC, X, Y


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
    assert "number of rows" not in what(n_samples_public=250)[0]
    assert what(n_samples_public=250)[1] == 250
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
    forest = PrivateForestClassifier(0.5, max_depth=1, n_samples_public=300, **PUBLIC)
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
    monkeypatch.setattr(private_base.TreeMechanism, "draw", dies)
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
    ({"n_samples_public": 0}, "n_samples_public"),
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
    (X, X[:, 0], "Unknown label type: continuous"),
    (np.full(X.shape, "text"), Y, "could not convert"),
]


@pytest.mark.parametrize(("X", "y", "match"), BAD_ROWS)
def test_bad_rows_cost_nothing(X, y, match):
    accountant = Accountant(10.0)
    forest = PrivateForestClassifier(accountant=accountant, **PUBLIC)
    with pytest.raises(ValueError, match=match):
        forest.fit(X, y)
    assert accountant.spent == 0
