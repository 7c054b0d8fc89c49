# SPDX-License-Identifier: BSD-3-Clause
"""Trees of rows that never meet are the trees of the whole table, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrforest import (
    BernoulliForestClassifier,
    BreimanForestClassifier,
    DenilForestClassifier,
    MultinomialForestClassifier,
)
from mrforest.dask import forest as dask_forests
from tests.dask.here import use_here
from tests.dask.parted import as_array, assert_same_forest, uneven

KINDS = {
    MultinomialForestClassifier: dask_forests.DaskMultinomialForestClassifier,
    BreimanForestClassifier: dask_forests.DaskBreimanForestClassifier,
    DenilForestClassifier: dask_forests.DaskDenilForestClassifier,
    BernoulliForestClassifier: dask_forests.DaskBernoulliForestClassifier,
}


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    use_here(monkeypatch)


def table(rng, n_rows, n_features, n_classes):
    X = rng.normal(size=(n_rows, n_features))
    X[:, 0] = rng.integers(0, 3, n_rows)
    X[:, -1] = np.round(X[:, -1], 1)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.nansum(X, axis=1) + rng.normal(size=n_rows)
    y = np.digitize(y, np.quantile(y, np.linspace(0, 1, n_classes + 1)[1:-1]))
    # Equal rows may change places.
    same = rng.integers(0, n_rows, n_rows // 4)
    X[: len(same)], y[: len(same)] = X[same], y[same]
    return X, y * 10


def compare(kind, options, X, y, *, lengths, n_workers, gather_rows):
    local = kind(**options).fit(X, y)
    far = KINDS[kind](client=n_workers, gather_rows=gather_rows, **options)
    far.fit(as_array(X, lengths), as_array(y, lengths))
    assert_same_forest(far, local)
    return far, local


OPTIONS = [
    (MultinomialForestClassifier, {}),
    (MultinomialForestClassifier, {"min_samples_leaf": 3}),
    (MultinomialForestClassifier, {"label_budget": 2.0, "honest_fraction": 0.7}),
    (MultinomialForestClassifier, {"criterion": "entropy", "max_depth": 4}),
    (MultinomialForestClassifier, {"min_weight_fraction_leaf": 0.05}),
    (MultinomialForestClassifier, {"feature_budget": np.inf, "split_budget": np.inf}),
    (MultinomialForestClassifier, {"class_weight": "balanced", "max_bins": 20}),
    (MultinomialForestClassifier, {"max_bins": "exact"}),
    (BreimanForestClassifier, {}),
    (BreimanForestClassifier, {"class_weight": {0: 1.0, 10: 3.0, 20: 0.5}}),
    (BreimanForestClassifier, {"min_samples_leaf": 4, "max_features": None}),
    (DenilForestClassifier, {}),
    (DenilForestClassifier, {"n_range_samples": 3, "mean_features": 0.0}),
    (DenilForestClassifier, {"n_range_samples": 8, "min_samples_split": 8}),
    (DenilForestClassifier, {"n_range_samples": 2**40}),
    (BernoulliForestClassifier, {}),
    (BernoulliForestClassifier, {"min_samples_leaf": 5}),
]


@pytest.mark.parametrize(
    ("kind", "options"), OPTIONS, ids=[f"{k.__name__}-{o}" for k, o in OPTIONS]
)
@settings(max_examples=settings.default.max_examples // 20)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(40, 200),
    n_parts=st.integers(1, 17),
    n_workers=st.integers(1, 3),
    gather_rows=st.sampled_from([1, 10, 50, 1000, None]),
)
def test_same_forest(kind, options, seed, n_rows, n_parts, n_workers, gather_rows):
    rng = np.random.default_rng(seed)
    X, y = table(rng, n_rows, 5, 3)
    lengths = uneven(rng, n_rows, n_parts)
    options = options | {"n_estimators": 3, "random_state": seed}
    compare(
        kind,
        options,
        X,
        y,
        lengths=lengths,
        n_workers=n_workers,
        gather_rows=gather_rows,
    )
