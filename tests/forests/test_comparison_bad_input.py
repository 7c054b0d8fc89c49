# SPDX-License-Identifier: BSD-3-Clause
"""What a comparison forest cannot work with, in fit and later."""

import numpy as np
import pandas as pd
import pytest

from mrforest import ComparisonForestClassifier
from tests.forests.test_comparison import by_place, manhattan, squares

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = np.arange(40) % 2
GAPS = np.where(X > 1.5, np.nan, X)
TOWNS = pd.DataFrame({"x": X[:, 0], "town": pd.Categorical(["Ulm", "Bonn"] * 20)})


def forest_of(**params) -> ComparisonForestClassifier:
    return ComparisonForestClassifier(3, random_state=0, **params)


@pytest.mark.parametrize("shape", [(40, 39), (39, 40), (40, 3)])
def test_a_matrix_that_is_not_square(shape):
    table = np.ones(shape)
    match = rf"metric='precomputed': X must be square .*\({shape[0]}, {shape[1]}\)"
    with pytest.raises(ValueError, match=match):
        forest_of(metric="precomputed").fit(table, Y[: shape[0]])


def test_queries_of_a_matrix_have_its_columns():
    forest = forest_of(metric="precomputed").fit(squares(X, X), Y)
    assert forest.predict(squares(X[:5], X)).shape == (5,)
    with pytest.raises(ValueError, match=r"X has 5 features, but .* expecting 40"):
        forest.predict(squares(X[:5], X[:5]))


@pytest.mark.parametrize("metric", ["manhattan", "cosine", manhattan, "precomputed"])
def test_gaps_with_other_metrics(metric):
    table = GAPS[:, :1] - GAPS[:, :1].T if metric == "precomputed" else GAPS
    assert np.isnan(table).any()
    with pytest.raises(ValueError, match="X contains NaN"):
        forest_of(metric=metric).fit(table, Y)
    forest = forest_of(metric=metric).fit(np.nan_to_num(table), Y)
    with pytest.raises(ValueError, match="X contains NaN"):
        forest.predict(table)


def test_gaps_with_an_oracle():
    table = np.where(np.arange(40) == 3, np.nan, np.arange(40.0))[:, None]
    with pytest.raises(ValueError, match="X contains NaN"):
        forest_of(oracle=by_place).fit(table, Y)


@pytest.mark.parametrize(
    ("params", "name"),
    [
        ({"metric": "manhattan"}, "metric='manhattan'"),
        ({"metric": manhattan}, "metric=<function manhattan"),
        ({"metric": "precomputed"}, "metric='precomputed'"),
        ({"oracle": by_place}, "an oracle"),
    ],
)
def test_categories_with_other_metrics(params, name):
    match = f"{name}.* does not know categorical features; metric='euclidean' does"
    with pytest.raises(ValueError, match=match):
        forest_of(**params).fit(TOWNS, Y)
    with pytest.raises(ValueError, match=match):
        forest_of(**params, categorical_features=[0]).fit(X.round(), Y)


@pytest.mark.parametrize(
    "table",
    [np.ones((40, 2)), np.arange(40)[:, None] + 0.5, np.arange(80).reshape(40, 2)],
)
def test_items_of_an_oracle(table):
    with pytest.raises(ValueError, match="an oracle X must be one column of item numb"):
        forest_of(oracle=by_place).fit(table, Y)
    forest = forest_of(oracle=by_place).fit(np.arange(40)[:, None], Y)
    if table.shape[1] == 1:
        with pytest.raises(ValueError, match="an oracle X must be one column of item"):
            forest.predict(table)


@pytest.mark.parametrize(
    ("metric", "metric_params"),
    [
        ("hyperbolic", None),
        ("minkowski", {"q": 3}),
        ("manhattan", {"q": 3}),
        (manhattan, {"p": 3}),
        (lambda a: 0.0, None),
        ("haversine", None),  # of two features only
    ],
)
def test_a_metric_that_does_not_work(metric, metric_params):
    """Said before anything is grown, with the name of the parameter."""
    forest = forest_of(metric=metric, metric_params=metric_params)
    with pytest.raises(
        ValueError, match=r"metric=.* with metric_params=.*does not work"
    ):
        forest.fit(X, Y)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_arguments_that_nothing_takes(metric):
    X, y = np.zeros((6, 6)), np.arange(6) % 2
    forest = forest_of(metric=metric, metric_params={"p": 3})
    with pytest.raises(ValueError, match=r"metric_params=.* must be None"):
        forest.fit(X, y)
