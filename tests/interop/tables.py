# SPDX-License-Identifier: BSD-3-Clause
"""Tables that forests cut by equality, and rows to ask them about."""

import numpy as np

from mrforest import ForestClassifier, ForestRegressor
from mrforest.model.nodes import EQUALITY

OPTIONS = {"equality_cuts": True, "min_samples_split": 4, "random_state": 0}


def few_values(share_missing=0.0, n_rows=400):
    """Four columns of whole numbers, one of others; the target asks for equality."""
    random = np.random.default_rng(0)
    whole = random.integers(-2, 4, (n_rows, 4))
    X = np.column_stack([whole, random.normal(size=n_rows)])
    X = X.astype(np.float32).astype(np.float64)
    z = 2.0 * (X[:, 0] == 1) + 1.5 * (X[:, 1] == 0) - (X[:, 2] == -1) + X[:, 4] / 2
    X[random.random(X.shape) < share_missing] = np.nan
    return X, z + random.normal(size=n_rows) / 4


def queries(X):
    """Return rows of float32 numbers: as they are, between them, next to them."""
    random = np.random.default_rng(1)
    X = X.copy()
    X[random.random(X.shape) < 0.1] += 0.5
    for side in (-np.inf, np.inf):
        moved = random.random(X.shape) < 0.1
        X[moved] = np.nextafter(X[moved].astype(np.float32), np.float32(side))
    X[random.random(X.shape) < 0.05] = np.nan
    X[0], X[1] = 1e6, -1e6
    return X


def fitted_classifier(n_classes=3, share_missing=0.0, **options):
    """Return a forest, and rows to ask."""
    X, z = few_values(share_missing)
    edges = np.quantile(z, np.arange(1, n_classes) / n_classes)
    y = np.digitize(z, edges).astype(str)
    forest = ForestClassifier(8, **OPTIONS, **options)
    return with_equality(forest.fit(X, y)), queries(X)


def fitted_regressor(share_missing=0.0):
    """Return a forest, and rows to ask."""
    X, z = few_values(share_missing)
    forest = ForestRegressor(8, **OPTIONS)
    return with_equality(forest.fit(X, z)), queries(X)


def with_equality(forest):
    """Return the forest; a test of one without equality cuts would say nothing."""
    nodes = forest._forest.nodes
    is_equality = (nodes["feature"] & EQUALITY) != 0
    assert np.count_nonzero(is_equality & (nodes["child"] >= 0)) > 50
    return forest


def mean_shares(forest, X):
    """Return probabilities before they are calibrated."""
    return forest._forest.shares(X, forest.n_classes_, 1) / len(forest._forest)
