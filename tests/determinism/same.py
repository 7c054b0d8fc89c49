# SPDX-License-Identifier: BSD-3-Clause
"""Forests to compare, a table for them, and what "the same" means."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.forests import every
from tests.forests.every import CUTTING, NAMES, PLAIN, told

# Every forest, and options that lead to other code
WAYS = [
    *[(name, {}) for name in NAMES],
    ("multinomial", {"voting": "soft", "min_samples_leaf": 2, "criterion": "entropy"}),
    ("multinomial", {"max_bins": 16, "label_budget": 3.0, "class_weight": "balanced"}),
    ("breiman-r", {"min_samples_leaf": None, "max_bins": "exact"}),
    ("range-honest", {"min_samples_leaf": 2, "class_weight": "balanced"}),
    ("comparison-s", {"min_samples_leaf": 2, "class_weight": "balanced"}),
]
ways = pytest.mark.parametrize(("name", "params"), WAYS, ids=str)
plain_ways = pytest.mark.parametrize(
    ("name", "params"), [way for way in WAYS if way[0] in PLAIN], ids=str
)


def rows(seed: int, n_rows: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers with gaps and ties, and three classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 6))
    X[:, 3:] = rng.integers(0, 6, (n_rows, 3))
    y = (X[:, 0] + X[:, 3] > 2).astype(int) + (rng.random(n_rows) < 0.2)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def table_of(name: str, seed: int, n_rows: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows, with numbers for a forest that tells numbers."""
    X, labels = rows(seed, n_rows)
    return X, every.target_of(name, labels)


def forest_of(name: str = "multinomial", **params):
    defaults = {"n_estimators": 8, "random_state": 7, "min_samples_split": 3}
    return every.forest_of(name, **{**defaults, **params})


def trees(forest) -> dict[str, bytes]:
    """Return the bytes of all arrays of a forest, by name.

    Of pivots, the rows that they are: where these are kept may differ.
    """
    flat = forest._forest
    arrays = {name: getattr(flat, name) for name in flat.names()}
    arrays.pop("comparison", None)
    if "pivots" in arrays:
        inner = flat.nodes["child"] >= 0
        arrays["pivots"] = arrays.pop("pivot_rows")[flat.pivots[inner]]
    return {name: array.tobytes() for name, array in arrays.items()}


def fitted_bytes(forest) -> bytes:
    """Pickle all that a fit learned; parameters are not compared."""
    params = forest.get_params()
    return pickle.dumps({k: v for k, v in vars(forest).items() if k not in params})


def assert_same(one, other, X) -> None:
    assert trees(one) == trees(other)
    assert told(one, X).tobytes() == told(other, X).tobytes()
    assert one.apply(X).tobytes() == other.apply(X).tobytes()


def assert_same_importances(name: str, one, other) -> None:
    if name in CUTTING:
        assert_array_equal(one.feature_importances_, other.feature_importances_)
        assert_array_equal(one.structure_importances_, other.structure_importances_)
