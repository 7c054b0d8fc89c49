# SPDX-License-Identifier: BSD-3-Clause
"""Real workers, in processes of their own."""

import os
import signal
import threading
import time

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits

from mrforest import BreimanForestClassifier, MultinomialForestClassifier
from mrforest.dask import (
    DaskBreimanForestClassifier,
    DaskMultinomialForestClassifier,
)
from mrforest.dask._parts import PartitionError
from tests.dask.parted import as_array, assert_same_forest, uneven

# Dask calls pandas in a way that pandas will not take for ever.
pytestmark = pytest.mark.filterwarnings("ignore:.*inplace keyword.*")


@pytest.fixture(scope="module", params=[1, 2, 3])
def client(request):
    with (
        LocalCluster(
            request.param,
            threads_per_worker=1,
            dashboard_address=None,
            processes=True,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize("n_parts", [1, 2, 17])
@pytest.mark.parametrize("gather_rows", [None, 100])
def test_same_forest(client, n_parts, gather_rows):
    X, y = load_digits(return_X_y=True)
    lengths = uneven(np.random.default_rng(n_parts), len(X), n_parts)
    local = MultinomialForestClassifier(10, random_state=1).fit(X, y)
    far = DaskMultinomialForestClassifier(
        client, n_estimators=10, random_state=1, gather_rows=gather_rows
    )
    far.fit(as_array(X, lengths), as_array(y, lengths))
    assert_same_forest(far, local)
    rows = as_array(X, lengths)
    found = far.predict_proba(rows)
    assert isinstance(found, da.Array)
    np.testing.assert_array_equal(found.compute(), local.predict_proba(X))
    np.testing.assert_array_equal(far.predict(rows).compute(), local.predict(X))
    np.testing.assert_array_equal(far.to_local().predict(X), local.predict(X))


def frame_of(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.choice(pd.Categorical(["s", "m", "l"]), n_rows),
            "price": rng.normal(size=n_rows),
            "n": rng.integers(0, 5, n_rows),
        }
    )
    frame["size"] = pd.Categorical(frame["size"], ["s", "m", "l"], ordered=True)
    frame.loc[rng.random(n_rows) < 0.1, "price"] = np.nan
    label = (frame["size"] == "m") ^ (frame["price"].fillna(1) > rng.normal(size=n_rows))
    return frame, label.map({True: "yes", False: "no"}).rename("label")


def test_frames_from_parquet(client, tmp_path):
    X, y = frame_of(3000)
    dd.from_pandas(X.assign(label=y), npartitions=5).to_parquet(tmp_path)
    table = dd.read_parquet(tmp_path)
    far = DaskBreimanForestClassifier(
        client, n_estimators=5, random_state=0, gather_rows=200
    )
    far.fit(table.drop(columns="label"), table["label"])
    local = BreimanForestClassifier(5, random_state=0).fit(X, y)
    assert_same_forest(far, local)
    assert far.feature_names_in_.tolist() == ["size", "price", "n"]
    np.testing.assert_array_equal(
        far.predict(table.drop(columns="label")).compute(), local.predict(X)
    )
