# SPDX-License-Identifier: BSD-3-Clause
"""Trees as tasks: the ordinary forest under joblib's Dask backend."""

import joblib
import numpy as np
import pytest
from distributed import Client, LocalCluster
from sklearn.datasets import load_digits

from mrforest import BreimanForestClassifier, MultinomialForestClassifier


@pytest.mark.parametrize(
    "kind",
    [
        MultinomialForestClassifier,
        pytest.param(BreimanForestClassifier, marks=pytest.mark.long),
    ],
)
def test_same_forest_in_other_processes(kind):
    X, y = load_digits(return_X_y=True)
    expected = kind(12, random_state=0).fit(X, y)
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        forest = kind(12, random_state=0, n_jobs=-1).fit(X, y)
    for name in expected._forest.names():
        found = getattr(forest._forest, name)
        np.testing.assert_array_equal(found, getattr(expected._forest, name))
