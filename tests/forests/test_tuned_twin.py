# SPDX-License-Identifier: BSD-3-Clause
"""Forests that tune themselves: those of the twin, choice for choice, node for node."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from mrforest import ForestClassifier, ForestRegressor
from tests.forests.tuned_twin import check, check_choices

KINDS = ["number", "few", "few", "category", "half", "constant"]


def column_of(kind: str, rng: np.random.Generator, n_rows: int) -> pd.Series:
    if kind == "number":
        return pd.Series(rng.normal(size=n_rows))
    if kind == "few":
        return pd.Series(rng.integers(-2, rng.integers(0, 9), n_rows).astype(float))
    if kind == "half":
        return pd.Series(rng.integers(0, 5, n_rows) / 2)
    if kind == "constant":
        return pd.Series(np.full(n_rows, 7.0))
    letters = np.array(list("abcdefgh"))[rng.integers(0, rng.integers(1, 8), n_rows)]
    return pd.Series(pd.Categorical(letters))


@st.composite
def frames(draw, n_rows: int) -> pd.DataFrame:
    """Tables with numbers, few whole numbers, categories; with gaps or without."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_rows = draw(st.integers(5, n_rows))
    columns = {}
    for f in range(draw(st.integers(1, 6))):
        column = column_of(draw(st.sampled_from(KINDS)), rng, n_rows)
        gaps = draw(st.sampled_from([0.0, 0.0, 0.2]))
        column[rng.random(n_rows) < gaps] = np.nan
        columns[f"f{f}"] = column
    return pd.DataFrame(columns)


def signal_of(X: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    """Return what the first column says of the target, and noise."""
    codes = pd.factorize(X["f0"], sort=True)[0]
    return codes / max(codes.max(), 1) + 0.5 * rng.normal(size=len(X))


@st.composite
def weights(draw, n_rows: int) -> np.ndarray | None:
    """No weights, whole numbers with zeros, real ones, or equal ones."""
    kind = draw(st.sampled_from([None, None, "whole", "real", "equal"]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if kind is None:
        return None
    if kind == "equal":
        return np.full(n_rows, 0.7)
    weight = rng.integers(0, 4, n_rows).astype(float)
    weight[0] = 1
    return weight if kind == "whole" else weight * (rng.random(n_rows) + 0.1)


def auto_or(*values) -> st.SearchStrategy:
    return st.one_of(st.just("auto"), st.just("auto"), st.sampled_from(values))


@st.composite
def parameters(draw, n_rows: int, *, is_regression: bool) -> dict:
    """What the user fixes, and what the forest is to choose."""
    shares = st.sampled_from([0.8, 0.8, 0.5, 0.63, 0.9, 0.3, 1.0])
    found = {
        "n_estimators": draw(st.integers(5, 25)),
        "max_samples": draw(st.one_of(shares, st.integers(1, n_rows))),
        "max_features": draw(auto_or("sqrt", 1, 3, 0.5, None)),
        "feature_budget": draw(auto_or(0.0, 5.0, 10.0)),
        "split_budget": draw(auto_or(0.0, 5.0, 10.0)),
        "equality_cuts": draw(auto_or(True, False)),
        "min_samples_split": draw(auto_or(2, 3, 6)),
        "min_samples_leaf": draw(auto_or(1, 2)),
        "min_weight_fraction_leaf": draw(st.sampled_from([0.0, 0.0, 0.0, 0.1])),
        "max_depth": draw(st.sampled_from([None, None, None, 2])),
        "random_state": draw(st.integers(0, 2**32 - 1)),
    }
    if not is_regression:
        found["criterion"] = draw(auto_or("gini", "entropy"))
        found["calibrate"] = draw(st.sampled_from([True, True, False]))
    return found


def check_classifier(data, n_rows: int, **how) -> None:
    X = data.draw(frames(n_rows), label="X")
    n_classes = data.draw(st.integers(2, 4), label="classes")
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    ranks = np.argsort(np.argsort(signal_of(X, rng)))
    y = np.array(list("wxyz"))[ranks * n_classes // len(X)]
    weight = data.draw(weights(len(X)), label="weights")
    params = data.draw(parameters(len(X), is_regression=False), label="parameters")
    class_weight = of_class = None
    if data.draw(st.integers(0, 3)) == 0:
        of_class = rng.choice([0.0, 0.3, 1.0, 2.5], n_classes)
        of_class[0] = 1.0
        class_weight = dict(zip("wxyz", of_class.tolist(), strict=False))
    forest = ForestClassifier(class_weight=class_weight, **params)
    forest.fit(X, y, sample_weight=weight)
    assume(check(forest, X, y, weight, of_class, **how))


def check_regressor(data, n_rows: int, **how) -> None:
    X = data.draw(frames(n_rows), label="X")
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    y = signal_of(X, rng) * data.draw(st.sampled_from([1.0, 1e-9, 1e6]), label="scale")
    if data.draw(st.booleans(), label="ties"):
        y = np.round(y)
    weight = data.draw(weights(len(X)), label="weights")
    params = data.draw(parameters(len(X), is_regression=True), label="parameters")
    forest = ForestRegressor(**params).fit(X, y, sample_weight=weight)
    assume(check(forest, X, y, weight, **how))


# A failure is not made smaller: the twin is slow.
PHASES = [Phase.explicit, Phase.reuse, Phase.generate]
some = settings(phases=PHASES, max_examples=max(settings().max_examples // 2, 5))
few = settings(phases=PHASES, max_examples=max(settings().max_examples // 10, 5))


@some
@given(data=st.data())
def test_classifier_of_the_twin(data):
    check_classifier(data, 60)


@some
@given(data=st.data())
def test_regressor_of_the_twin(data):
    check_regressor(data, 60)


@few
@given(data=st.data())
def test_classifier_all_of_whose_trees_are_grown_by_the_twin(data):
    check_classifier(data, 20, all_by_the_twin=True)


@few
@given(data=st.data())
def test_regressor_all_of_whose_trees_are_grown_by_the_twin(data):
    check_regressor(data, 20, all_by_the_twin=True)


@pytest.mark.parametrize("max_samples", [0.8, 0.5, 1])
@pytest.mark.parametrize("n_rows", [1, 2, 3, 4])
def test_tiny_forests_of_the_twin(n_rows, max_samples):
    """Where trees often hold out no row, or a row has no tree in one half."""
    rng = np.random.default_rng(n_rows)
    X = pd.DataFrame(rng.integers(0, 4, (n_rows, 3)) + 0.0, columns=["a", "b", "c"])
    asked = {"max_samples": max_samples, "n_estimators": 5}
    for seed in range(3):
        y = rng.normal(size=n_rows)
        forest = ForestRegressor(random_state=seed, **asked).fit(X, y)
        check(forest, X, y, all_by_the_twin=True)
        y = y > 0
        forest = ForestClassifier(random_state=seed, **asked).fit(X, y)
        check(forest, X, y, all_by_the_twin=True)


# ---- more rows: fewer trees, fewer powers, and not all rows are asked about ---------

BUDGETS = {"feature_budget": 5.0, "split_budget": 5.0}
ONE_LEVEL = BUDGETS | {"max_features": 1}


def many_rows(n_rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(n_rows)
    X = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=["a", "b", "c"])
    return X, X["a"].to_numpy() + rng.normal(size=n_rows)


@pytest.mark.parametrize(
    ("n_rows", "params"),
    [
        (300, BUDGETS | {"criterion": "gini"}),
        (450, BUDGETS | {"min_samples_split": 9}),
        (1500, {"max_features": 2, "min_samples_split": 13, "criterion": "gini"}),
        (4300, ONE_LEVEL | {"min_samples_split": 60, "criterion": "gini"}),
    ],
    ids=str,
)
def test_classifier_of_more_rows(n_rows, params):
    X, y = many_rows(n_rows)
    y = np.digitize(y, [-1.0, 0.5])
    forest = ForestClassifier(10, random_state=1, **params).fit(X, y)
    check_choices(forest, X, y)


@pytest.mark.parametrize(
    ("n_rows", "params"),
    [
        (450, BUDGETS | {"min_samples_split": 9}),
        (4300, BUDGETS | {"min_samples_split": 60}),
    ],
    ids=str,
)
def test_regressor_of_more_rows(n_rows, params):
    X, y = many_rows(n_rows)
    forest = ForestRegressor(10, random_state=1, **params).fit(X, y)
    check_choices(forest, X, y)
