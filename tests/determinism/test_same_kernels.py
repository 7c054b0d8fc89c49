# SPDX-License-Identifier: BSD-3-Clause
"""Kernels for wide registers give the same forests as the baseline, to the bit."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.datasets import make_classification

from mrforest import (
    BreimanForestClassifier,
    CompletelyRandomForestClassifier,
    ForestClassifier,
    ForestRegressor,
    MultinomialForestClassifier,
    _core,
)

# Rows, features, classes, distinct values (0: all), missing: nodes that are counted,
# lists of any length and with many ties, two classes and many, one byte and two, masks,
# excerpts.
TABLES = [
    (3_000, 5, 2, 0, 0.0),
    (3_000, 20, 3, 0, 0.0),
    (2_000, 8, 26, 16, 0.0),
    (2_000, 30, 2, 3, 0.0),
    (1_500, 9, 4, 40, 0.1),
    (20_000, 60, 2, 0, 0.0),
    (3_000, 17, 2, 12, 0.0),
    (3_000, 18, 6, 0, 0.0),
    (3_000, 11, 40, 0, 0.0),
]


def made(n_rows, n_features, n_classes, n_values, missing):
    X, y = make_classification(
        n_rows,
        n_features,
        n_informative=n_features - 1,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        random_state=0,
    )
    if n_values:
        ranks = X.argsort(axis=0).argsort(axis=0)
        X = (ranks * n_values // n_rows).astype(float)
    X[np.random.default_rng(0).random(X.shape) < missing] = np.nan
    return X, y


def digest() -> str:
    """Tell all bytes of some forests on all tables."""
    found = hashlib.sha256()
    for table in TABLES:
        X, y = made(*table)
        for forest in (
            ForestClassifier(2, random_state=0),
            ForestRegressor(2, random_state=0),
            MultinomialForestClassifier(3, random_state=1),
            MultinomialForestClassifier(2, max_bins="exact", random_state=2),
            BreimanForestClassifier(2, random_state=3),
            CompletelyRandomForestClassifier(2, random_state=4),
        ):
            flat = forest.fit(X, y)._forest
            for name in flat.names():
                found.update(getattr(flat, name).tobytes())
            found.update(forest.predict(X).tobytes())
            if is_classifier(forest):
                found.update(forest.predict_proba(X).tobytes())
    return found.hexdigest()


@pytest.fixture(scope="module")
def here() -> str:
    return digest()


@pytest.mark.parametrize("kernels", _core.KERNEL_NAMES)
def test_kernels(here, kernels):
    if kernels == _core.kernel_name():
        pytest.skip("they have grown the forests to compare with")
    if kernels not in _core.available_kernels():
        pytest.skip(f"this machine has no kernels called {kernels}")
    code = "from tests.determinism.test_same_kernels import digest; print(digest())"
    found = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"MRFOREST_KERNELS": kernels},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == here


def test_unknown_kernels():
    """A name that this machine has not is an error, not passed over."""
    found = subprocess.run(
        [sys.executable, "-c", "import mrforest._core"],
        env=os.environ | {"MRFOREST_KERNELS": "avx1024"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 1
    assert "MRFOREST_KERNELS is 'avx1024'; this machine has: baseline" in found.stderr
