# SPDX-License-Identifier: BSD-3-Clause
"""Workers that are lost, partitions with something wrong in them."""

import os
import signal
from contextlib import contextmanager

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask import delayed
from distributed import Client, LocalCluster
from sklearn.datasets import load_digits

from mrforest import (
    ForestClassifier,
    MultinomialForestClassifier,
    PrivateForestClassifier,
)
from mrforest.dask import (
    DaskForestClassifier,
    DaskMultinomialForestClassifier,
    DaskPrivateForestClassifier,
    _cluster,
)
from mrforest.dask import forest as dask_forests
from mrforest.dask import private as dask_private
from tests.dask.parted import (
    as_array,
    assert_same_choices,
    assert_same_forest,
    assert_same_trees,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*inplace keyword.*")


@pytest.fixture(scope="module")
def client():
    with (
        # An error instead of a task that waits for ever
        dask.config.set({"distributed.scheduler.no-workers-timeout": "60s"}),
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


# ---- a worker is killed --------------------------------------------------------------


def killing(client, depth, killed, n_victims=1):
    """Kill workers when the trees have reached a depth."""

    def on_level(level):
        if level.depth == depth and not killed:
            workers = client.run(os.getpid)
            killed.extend(sorted(workers.values())[:n_victims])
            for process in killed:
                os.kill(process, signal.SIGKILL)

    @contextmanager
    def progress(n_trees, *, visible, describe=None, label=None):
        yield (lambda n_steps=1, note=None: None), on_level

    return progress


@pytest.mark.parametrize(
    ("depth", "n_victims"), [pytest.param(0, 1, marks=pytest.mark.long), (3, 2)]
)
def test_workers_are_killed_while_trees_grow(client, depth, n_victims, monkeypatch):
    client.wait_for_workers(2)
    X, y = load_digits(return_X_y=True)
    lengths = [500, 0, 700, 597]
    killed = []
    progress = killing(client, depth, killed, n_victims)
    monkeypatch.setattr(dask_forests, "growth_progress", progress)
    far = DaskMultinomialForestClassifier(
        client=client, n_estimators=8, random_state=3, gather_rows=40
    )
    far.fit(as_array(X, lengths), as_array(y, lengths))
    assert len(killed) == n_victims
    assert not set(killed) & set(client.run(os.getpid).values())
    assert_same_forest(far, MultinomialForestClassifier(8, random_state=3).fit(X, y))


@pytest.mark.long
@pytest.mark.parametrize(("depth", "n_victims"), [(0, 1), (2, 2)])
def test_workers_are_killed_while_a_forest_tunes_itself(
    client, depth, n_victims, monkeypatch
):
    client.wait_for_workers(2)
    X, y = load_digits(return_X_y=True)
    lengths = [500, 0, 700, 597]
    killed = []
    progress = killing(client, depth, killed, n_victims)
    monkeypatch.setattr(dask_forests, "growth_progress", progress)
    options = {"n_estimators": 5, "random_state": 3}
    far = DaskForestClassifier(client=client, gather_rows=300, **options)
    far.fit(as_array(X, lengths), as_array(y, lengths))
    assert len(killed) == n_victims
    local = ForestClassifier(**options).fit(X, y)
    assert_same_forest(far, local)
    assert_same_choices(far, local)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::mrforest.privacy.PrivacyLeakWarning")
def test_worker_is_killed_while_private_trees_are_drawn(client, monkeypatch):
    X, y = load_digits(return_X_y=True)
    lengths = [500, 0, 700, 597]
    killed = []
    monkeypatch.setattr(dask_private, "growth_progress", killing(client, 1, killed))
    options = {
        "epsilon": 50.0,
        "bounds": (0, 16),
        "classes": range(10),
        "max_depth": 6,
        "random_state": 3,
    }
    far = DaskPrivateForestClassifier(client=client, gather_rows=50, **options)
    far.fit(as_array(X, lengths), as_array(y, lengths))
    assert len(killed) == 1
    assert_same_trees(far, PrivateForestClassifier(**options).fit(X, y))


# ---- partitions ----------------------------------------------------------------------


def fit(client, X, y, **options):
    return DaskMultinomialForestClassifier(
        client=client, n_estimators=2, **options
    ).fit(X, y)


def arrays(change=None, n_parts=4):
    """Return a table of which the third part is changed."""
    rng = np.random.default_rng(0)
    parts = [[rng.normal(size=(50, 3)), rng.integers(0, 2, 50)] for _ in range(n_parts)]
    if change is not None:
        change(parts[2])
    rows = [da.from_delayed(delayed(X), shape=(50, 3), dtype=float) for X, _ in parts]
    labels = [da.from_delayed(delayed(y), shape=(50,), dtype=int) for _, y in parts]
    return da.concatenate(rows), da.concatenate(labels)


def infinite(part):
    part[0][7, 1] = np.inf


def wrong_type(part):
    part[0] = np.full((50, 3), "tall")


def other_length(part):
    part[1] = part[1][:49]


def missing_label(part):
    part[1] = np.where(np.arange(50) == 3, np.nan, part[1])


def real_target(part):
    part[1] = part[1] + 0.5


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (infinite, "infinity"),
        (wrong_type, "could not convert"),
        (other_length, "X has 50 rows, y has 49"),
        (missing_label, "contains NaN"),
        (real_target, "Unknown label type"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_error_names_the_partition(client, change, what):
    with pytest.raises(ValueError, match=rf"partition 2: .*{what}"):
        fit(client, *arrays(change))


def test_column_of_another_type(client):
    X = pd.DataFrame({"a": np.arange(40.0), "b": np.arange(40.0)})
    parts = [X[:20], X[20:].assign(b="x")]
    rows = dd.from_delayed([delayed(p) for p in parts], meta=X, verify_meta=False)
    labels = dd.from_pandas(pd.Series(np.arange(40) % 2), npartitions=2)
    with pytest.raises(ValueError, match="partition 1: Column 'b'"):
        fit(client, rows, labels)


def test_forest_before_an_error_is_still_there(client):
    forest = DaskMultinomialForestClassifier(
        client=client, n_estimators=2, random_state=0
    )
    forest.fit(*arrays())
    before = forest._forest
    with pytest.raises(ValueError, match="partition 2"):
        forest.fit(*arrays(infinite))
    assert forest._forest is before


def test_no_rows(client):
    with pytest.raises(ValueError, match="no rows in any partition"):
        fit(client, as_array(np.empty((0, 3)), [0, 0]), as_array(np.empty(0), [0, 0]))
    with pytest.raises(ValueError, match="X has 4 partitions, y has 2"):
        fit(
            client, arrays()[0], dd.from_pandas(pd.Series(np.zeros(200)), npartitions=2)
        )


def test_table_in_memory(client):
    with pytest.raises(TypeError, match="X must be a Dask DataFrame or Array"):
        fit(client, np.zeros((4, 2)), np.zeros(4))


# ---- no workers ----------------------------------------------------------------------


@pytest.mark.long
def test_a_cluster_without_workers(monkeypatch):
    monkeypatch.setattr(_cluster, "PATIENCE", 0.2)
    with (
        LocalCluster(n_workers=0, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        with pytest.raises(ValueError, match=r"no worker for 0\.2 seconds"):
            fit(client, *arrays())
        monkeypatch.setattr(_cluster, "PATIENCE", 60)
        cluster.scale(1)  # comes while the fit waits
        fit(client, *arrays())
