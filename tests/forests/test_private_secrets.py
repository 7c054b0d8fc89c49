# SPDX-License-Identifier: BSD-3-Clause
"""What private forests read, where their noise comes from, and what they keep."""

import dataclasses
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from mrforest import PrivateForestClassifier
from mrforest.privacy import Accountant, BudgetExceeded
from mrforest.privacy.randomness import RandomBits
from tests.forests.private import PUBLIC, RNG, X, Y, fit_seeded, leaks

# ---- public information --------------------------------------------------------------


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


def test_bounds_of_some_columns_are_kept_as_they_are_given():
    given = {0: (-10.0, 10.0)}
    with leaks():
        forest = PrivateForestClassifier(
            bounds=given, classes=[0, 1], on_missing_public="warn"
        ).fit(X, Y)
    features = forest._columns.features
    assert (features[0].low, features[0].high) == (-10, 10)
    assert (features[1].low, features[1].high) == (X[:, 1].min(), X[:, 1].max())


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


# ---- randomness ----------------------------------------------------------------------


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
        forest = PrivateForestClassifier(
            0.1, max_depth=2, n_samples_public=300, **PUBLIC
        )
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


# ---- what is kept --------------------------------------------------------------------


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
    parameters = {"epsilon": 1e5, "n_samples_public": 300, "max_depth": 1, **PUBLIC}
    files = {bytes_of(fit_seeded(*table, **parameters)) for table in tables}
    assert len(files) == 1
    # And it would have been seen: other trees are other bytes.
    assert bytes_of(fit_seeded(X, 1 - y, **parameters)) not in files


def test_a_pickle_predicts_the_same():
    forest = PrivateForestClassifier(leaf="counts", **PUBLIC).fit(X, Y)
    again = pickle.loads(pickle.dumps(forest))
    assert_array_equal(forest.predict_proba(X), again.predict_proba(X))
    assert again.ledger_ == forest.ledger_
