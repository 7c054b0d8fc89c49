# SPDX-License-Identifier: BSD-3-Clause
"""Real workers, in processes of their own."""

import gc
import pickle
import time
from contextlib import contextmanager

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits

from mrforest import (
    BreimanForestClassifier,
    ForestClassifier,
    MultinomialForestClassifier,
    PrivateForestClassifier,
)
from mrforest.dask import (
    DaskBreimanForestClassifier,
    DaskForestClassifier,
    DaskMultinomialForestClassifier,
    DaskPrivateForestClassifier,
)
from tests.dask.parted import (
    as_array,
    assert_same_choices,
    assert_same_forest,
    assert_same_trees,
    uneven,
)

# Dask calls pandas in a way that pandas will not take for ever.
pytestmark = pytest.mark.filterwarnings("ignore:.*inplace keyword.*")


@contextmanager
def cluster_of(n_workers):
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client():
    with cluster_of(2) as client:
        yield client


PARTS = pytest.mark.parametrize(("n_parts", "gather_rows"), [(1, None), (17, 100)])


@PARTS
def test_same_forest(client, n_parts, gather_rows):
    X, y = load_digits(return_X_y=True)
    lengths = uneven(np.random.default_rng(n_parts), len(X), n_parts)
    local = MultinomialForestClassifier(4, random_state=1).fit(X, y)
    far = DaskMultinomialForestClassifier(
        client=client, n_estimators=4, random_state=1, gather_rows=gather_rows
    )
    rows = as_array(X, lengths)
    far.fit(rows, as_array(y, lengths))
    assert_same_forest(far, local)
    found = far.predict_proba(rows)
    assert isinstance(found, da.Array)
    np.testing.assert_array_equal(found.compute(), local.predict_proba(X))
    np.testing.assert_array_equal(far.predict(rows).compute(), local.predict(X))
    ordinary = far.to_local()
    assert type(ordinary) is MultinomialForestClassifier
    np.testing.assert_array_equal(ordinary.predict(X), local.predict(X))


@pytest.mark.long
@PARTS
@pytest.mark.parametrize("n_workers", [1, 3])
def test_same_forest_of_any_number_of_workers(n_workers, n_parts, gather_rows):
    with cluster_of(n_workers) as client:
        test_same_forest(client, n_parts, gather_rows)


def frame_of(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    sizes = np.array(["s", "m", "l"])[rng.integers(0, 3, n_rows)]
    frame = pd.DataFrame(
        {
            "size": pd.Categorical(sizes, ["s", "m", "l"], ordered=True),
            "shop": pd.Categorical(rng.choice(["b", "a", "d"], n_rows)),
            "price": rng.normal(size=n_rows),
            "n": rng.integers(0, 5, n_rows),
        }
    )
    frame.loc[rng.random(n_rows) < 0.1, "price"] = np.nan
    is_high = frame["price"].fillna(1) > rng.normal(size=n_rows)
    label = (frame["size"] == "m") ^ is_high
    return frame, label.map({True: "yes", False: "no"}).rename("label")


def test_frames_from_parquet(client, tmp_path):
    X, y = frame_of(3000)
    dd.from_pandas(X.assign(label=y), npartitions=5).to_parquet(tmp_path)
    table = dd.read_parquet(tmp_path)
    rows = table.drop(columns="label")
    far = DaskBreimanForestClassifier(
        client=client, n_estimators=5, random_state=0, gather_rows=200
    )
    far.fit(rows, table["label"])
    # Parquet has categories, but not their order.
    X["size"] = pd.Categorical(X["size"], ["s", "m", "l"])
    local = BreimanForestClassifier(5, random_state=0).fit(X, y)
    assert_same_forest(far, local)
    assert far.feature_names_in_.tolist() == ["size", "shop", "price", "n"]
    np.testing.assert_array_equal(far.predict(rows).compute(), local.predict(X))


def test_ordered_categories_keep_their_order(client):
    X, y = frame_of(600)
    rows, labels = dd.from_pandas(X, npartitions=4), dd.from_pandas(y, npartitions=4)
    far = DaskMultinomialForestClassifier(client=client, n_estimators=3, random_state=0)
    far.fit(rows, labels)
    local = MultinomialForestClassifier(3, random_state=0).fit(X, y)
    assert far._schema.categories[0].tolist() == ["s", "m", "l"]
    assert_same_forest(far, local)


@pytest.mark.parametrize("gather_rows", [500, None])
def test_default_forest(client, gather_rows, tmp_path):
    X, y = frame_of(3000)
    X["size"] = pd.Categorical(X["size"], ["s", "m", "l"])
    dd.from_pandas(X.assign(label=y), npartitions=5).to_parquet(tmp_path)
    table = dd.read_parquet(tmp_path)
    rows = table.drop(columns="label")
    options = {"n_estimators": 6, "random_state": 0, "class_weight": "balanced"}
    far = DaskForestClassifier(client=client, gather_rows=gather_rows, **options)
    gc.disable()
    try:
        far.fit(rows, table["label"])
        # Nothing is left on the workers, soon.
        for _ in range(100):
            if not client.futures:
                break
            time.sleep(0.05)
        assert not client.futures
    finally:
        gc.enable()
    local = ForestClassifier(**options).fit(X, y)
    assert_same_forest(far, local)
    assert_same_choices(far, local)
    found = far.predict_proba(rows).compute()
    np.testing.assert_array_equal(found, local.predict_proba(X))
    np.testing.assert_array_equal(far.predict(rows).compute(), local.predict(X))


@pytest.mark.filterwarnings("ignore::mrforest.privacy.PrivacyLeakWarning")
@pytest.mark.parametrize("gather_rows", [200, None])
def test_private_forest(client, gather_rows, tmp_path):
    X, y = frame_of(3000)
    X = X.astype({"size": str, "shop": str})
    dd.from_pandas(X.assign(label=y), npartitions=5).to_parquet(tmp_path)
    table = dd.read_parquet(tmp_path)
    rows = table.drop(columns="label")
    options = {
        "epsilon": 5.0,
        "bounds": {"price": (-3.0, 3.0), "n": (0, 4)},
        "categories": {"size": ["s", "m", "l"], "shop": ["a", "b"]},
        "classes": ["no", "yes"],
        "random_state": 0,
    }
    far = DaskPrivateForestClassifier(client=client, gather_rows=gather_rows, **options)
    gc.disable()
    try:
        far.fit(rows, table["label"])
        # Nothing is left on the workers, soon.
        for _ in range(100):
            if not client.futures:
                break
            time.sleep(0.05)
        assert not client.futures
    finally:
        gc.enable()
    local = PrivateForestClassifier(**options).fit(X, y)
    assert_same_trees(far, local)
    assert far.epsilon_ == local.epsilon_
    assert far.feature_names_in_.tolist() == ["size", "shop", "price", "n"]
    np.testing.assert_array_equal(far.predict(rows).compute(), local.predict(X))
    assert clone(far).get_params()["bounds"] == options["bounds"]


def test_estimator_api(client):
    forest = DaskMultinomialForestClassifier(client=client, n_estimators=3, max_depth=2)
    assert forest.get_params()["client"] is client
    assert forest.get_params()["honest_fraction"] == 0.5
    other = clone(forest)
    assert other.get_params()["max_depth"] == 2
    with pytest.raises(TypeError, match="n_tree"):
        DaskMultinomialForestClassifier(client=client, n_tree=3)
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(ValueError, match="gather_rows"):
        forest.set_params(gather_rows=0).fit(da.from_array(X), da.from_array(y))


def test_pickled_forest_has_no_client(client):
    X, y = load_breast_cancer(return_X_y=True)
    forest = DaskMultinomialForestClassifier(
        client=client, n_estimators=3, random_state=0
    )
    forest.fit(da.from_array(X), da.from_array(y))
    again = pickle.loads(pickle.dumps(forest))
    assert again.client is None
    np.testing.assert_array_equal(again.predict(X), forest.predict(X))
