# SPDX-License-Identifier: BSD-3-Clause
"""The default forest of rows that never meet is that of the whole table."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrforest import ForestClassifier
from mrforest.dask import DaskForestClassifier, _samples
from mrforest.forests import self_tuning
from tests.dask.here import use_here
from tests.dask.parted import (
    as_array,
    assert_same_choices,
    assert_same_forest,
    uneven,
)


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    """A trial is short."""
    use_here(monkeypatch)
    monkeypatch.setattr(self_tuning, "MOST_PAIRS", 2)


def table(rng, n_rows, n_features, n_classes):
    X = rng.normal(size=(n_rows, n_features))
    X[:, 0] = rng.integers(0, 3, n_rows)
    X[:, 1] = rng.integers(-2, 6, n_rows)
    X[:, -1] = np.round(X[:, -1], 1)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.nansum(X[:, 2:], axis=1) + 2 * (X[:, 1] == 3) + rng.normal(size=n_rows)
    y = np.digitize(y, np.quantile(y, np.linspace(0, 1, n_classes + 1)[1:-1]))
    # Equal rows may change places.
    same = rng.integers(0, n_rows, n_rows // 4)
    X[: len(same)], y[: len(same)] = X[same], y[same]
    return X, y * 10


def compare(options, X, y, *, lengths, n_workers, gather_rows):
    local = ForestClassifier(**options).fit(X, y)
    far = DaskForestClassifier(client=n_workers, gather_rows=gather_rows, **options)
    far.fit(as_array(X, lengths), as_array(y, lengths))
    assert_same_forest(far, local)
    assert_same_choices(far, local)
    np.testing.assert_array_equal(
        far.predict_proba(as_array(X, lengths)).compute(), local.predict_proba(X)
    )
    assert type(far.to_local()) is ForestClassifier
    return far, local


FIXED = {
    "max_features": 2,
    "feature_budget": 5.0,
    "split_budget": 5.0,
    "equality_cuts": False,
    "min_samples_split": 4,
    "criterion": "gini",
}

OPTIONS = [
    {},
    {"n_estimators": 13, "max_samples": 0.7},
    FIXED,
    FIXED | {"max_samples": 1.0},
    FIXED | {"max_samples": 30},
    FIXED | {"equality_cuts": True, "criterion": "entropy"},
    {"class_weight": "balanced", "max_depth": 3},
    {"class_weight": {0: 1.0, 10: 3.0, 20: 0.5}, "calibrate": False},
    {"min_weight_fraction_leaf": 0.05, "max_bins": 4},
    {"min_samples_leaf": 3, "max_bins": "exact", "criterion": "entropy"},
    {"categorical_features": [0, 1]},
    {"categorical_features": [1], "feature_budget": 0.0, "split_budget": 0.0},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@settings(max_examples=max(settings.default.max_examples // 30, 1))
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(30, 90),
    n_parts=st.integers(1, 5),
    n_workers=st.integers(1, 3),
    gather_rows=st.sampled_from([1, 10, 50, None]),
)
def test_same_forest(options, seed, n_rows, n_parts, n_workers, gather_rows):
    rng = np.random.default_rng(seed)
    X, y = table(rng, n_rows, 5, 3)
    compare(
        {"n_estimators": 5, "random_state": seed} | options,
        X,
        y,
        lengths=uneven(rng, n_rows, n_parts),
        n_workers=n_workers,
        gather_rows=gather_rows,
    )


@pytest.mark.parametrize(
    ("gather_rows", "most_sent"), [(3000, 128), (60, 0), (60, 128), (60, 1024)]
)
def test_large_nodes(gather_rows, most_sent, monkeypatch):
    """Rare classes make larger samples, which are counted."""
    monkeypatch.setattr(_samples, "MOST_SENT", most_sent)
    n_rows = 1200
    rng = np.random.default_rng(5)
    X, _ = table(rng, n_rows, 6, 3)
    y = np.where(np.nan_to_num(X[:, 2]) > 2.2, "b", "a")
    y[rng.random(n_rows) < 0.004] = "c"
    lengths = uneven(rng, n_rows, 4)
    options = {"n_estimators": 4, "random_state": 3}
    compare(options, X, y, lengths=lengths, n_workers=2, gather_rows=gather_rows)


@pytest.mark.parametrize("options", [{}, FIXED | {"max_samples": 1e-9}], ids=str)
@pytest.mark.parametrize("n_rows", [1, 2, 3, 7])
def test_few_rows(options, n_rows):
    X = np.arange(2.0 * n_rows).reshape(n_rows, 2)
    y = np.arange(n_rows) % 2
    lengths = [0, n_rows // 2, 0, n_rows - n_rows // 2]
    options = {"n_estimators": 3, "random_state": 0} | options
    compare(options, X, y, lengths=lengths, n_workers=3, gather_rows=1)


def test_rows_that_are_all_alike():
    X, y = np.ones((60, 3)), np.repeat([0, 1], 30)
    options = {"n_estimators": 3, "random_state": 0}
    compare(options, X, y, lengths=[20, 40], n_workers=2, gather_rows=5)


def test_names_and_categories_of_a_frame():
    rng = np.random.default_rng(2)
    X, y = table(rng, 200, 4, 2)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["c"] = pd.Categorical(np.where(frame["c"] > 0, "up", "down"))
    local = ForestClassifier(4, random_state=1).fit(frame, y)
    far = DaskForestClassifier(client=2, n_estimators=4, random_state=1, gather_rows=30)
    far.fit(dd.from_pandas(frame, npartitions=3), dd.from_pandas(pd.Series(y), 3))
    assert_same_forest(far, local)
    assert_same_choices(far, local)
    assert far.feature_names_in_.tolist() == list("abcd")


def test_what_there_is_not():
    X, y = as_array(np.ones((4, 1)), [4]), as_array(np.arange(4) % 2, [4])
    with pytest.raises(ValueError, match="warm_start=True: there is no such option"):
        DaskForestClassifier(client=1, warm_start=True).fit(X, y)
    with pytest.raises(TypeError, match="sample_weight"):
        DaskForestClassifier(client=1).fit(X, y, sample_weight=np.ones(4))
    forest = DaskForestClassifier(client=1, n_estimators=2, random_state=0).fit(X, y)
    assert not hasattr(forest, "oob_decision_function_")
    assert not hasattr(forest, "_encoded")
