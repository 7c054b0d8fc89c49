# SPDX-License-Identifier: BSD-3-Clause
"""Private trees of rows that never meet are those of the whole table."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrforest import PrivateForestClassifier
from mrforest.dask import _cluster, _private_worker
from mrforest.dask import private as dask_private
from mrforest.dask._partitions import PartitionError
from mrforest.privacy import Accountant
from mrforest.privacy.public import PrivacyLeakWarning
from tests.dask.here import Here, use_here
from tests.dask.parted import as_array, assert_same_trees, uneven

# With a seed nothing is private.
pytestmark = [
    pytest.mark.filterwarnings("ignore::mrforest.privacy.PrivacyLeakWarning"),
    pytest.mark.filterwarnings("ignore:.*too many to draw two levels"),
]


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    use_here(monkeypatch)


def table(rng, n_rows):
    X = rng.random((n_rows, 4))
    X[:, 1] = rng.integers(0, 4, n_rows)
    X[:, 3] = rng.integers(0, 3, n_rows)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = (np.nan_to_num(X[:, 0]) + (X[:, 3] == 1) + rng.normal(size=n_rows) > 1) * 2
    y[rng.random(n_rows) < 0.1] = 1
    return X, y


PUBLIC = {
    "bounds": {0: (0.0, 1.0), 1: (0, 3), 2: (0.0, 0.5)},
    "categories": {3: [0, 1]},
    "classes": [0, 1, 2],
}

OPTIONS = [
    {},
    {"epsilon": 20.0},
    {"max_depth": 1},
    {"max_depth": 5, "epsilon": 5.0},
    {"leaf": "counts"},
    {"leaf": "counts", "n_estimators": 3, "max_depth": 3},
    {"honest": True, "max_depth": 4},
    {"honest": True, "leaf": "counts", "n_estimators": 2, "max_depth": 6},
    {"n_samples_public": 100, "delta": 1e-6, "leaf": "counts"},
    {"neighbours": "replace-one", "epsilon": np.inf},
]


def assert_same(far, local):
    np.testing.assert_array_equal(far.classes_, local.classes_)
    assert far._schema == local._schema
    assert far.n_rows_ == local.n_rows_
    assert far.epsilon_ == local.epsilon_
    assert str(far.ledger_) == str(local.ledger_)
    assert_same_trees(far, local)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@settings(max_examples=settings.default.max_examples // 20)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(1, 200),
    n_parts=st.integers(1, 17),
    n_workers=st.integers(1, 3),
    gather_rows=st.sampled_from([1, 10, 50, 1000, None]),
)
def test_same_forest(options, seed, n_rows, n_parts, n_workers, gather_rows):
    rng = np.random.default_rng(seed)
    X, y = table(rng, n_rows)
    lengths = uneven(rng, n_rows, n_parts)
    options = PUBLIC | options | {"random_state": seed}
    local = PrivateForestClassifier(**options).fit(X, y)
    far = dask_private.DaskPrivateForestClassifier(
        client=n_workers, gather_rows=gather_rows, **options
    )
    rows = as_array(X, lengths)
    far.fit(rows, as_array(y, lengths))
    assert_same(far, local)
    np.testing.assert_array_equal(
        far.predict_proba(rows).compute(), local.predict_proba(X)
    )
    ordinary = far.to_local()
    assert type(ordinary) is PrivateForestClassifier
    assert ordinary.ledger_ is far.ledger_


def test_many_columns_are_drawn_one_level_at_a_time():
    rng = np.random.default_rng(0)
    X = rng.random((60, 600))
    y = (X[:, 0] > 0.5).astype(int)
    options = {"bounds": (0, 1.0), "classes": [0, 1], "max_depth": 3, "random_state": 1}
    local = PrivateForestClassifier(**options).fit(X, y)
    far = dask_private.DaskPrivateForestClassifier(client=2, gather_rows=1, **options)
    assert_same(far.fit(as_array(X, [20, 40]), as_array(y, [20, 40])), local)


def test_nothing_to_split():
    X, y = np.ones((30, 2)), np.repeat([0, 1], 15)
    options = {"bounds": (1, 1), "classes": [0, 1], "random_state": 1}
    local = PrivateForestClassifier(**options).fit(X, y)
    far = dask_private.DaskPrivateForestClassifier(client=2, gather_rows=1, **options)
    assert_same(far.fit(as_array(X, [20, 10]), as_array(y, [20, 10])), local)


def test_without_a_seed_no_two_are_the_same():
    rng = np.random.default_rng(0)
    X, y = table(rng, 200)
    forests = []
    for _ in range(3):
        far = dask_private.DaskPrivateForestClassifier(
            client=2, gather_rows=20, epsilon=0.1, max_depth=6, **PUBLIC
        )
        forests.append(far.fit(as_array(X, [50, 150]), as_array(y, [50, 150])))
    assert len({str(forest._trees) for forest in forests}) == 3
    assert all(forest.epsilon_ <= 0.1 for forest in forests)


# ---- budgets and errors --------------------------------------------------------------


def fit(X, y, lengths=(30, 0, 70), **options):
    far = dask_private.DaskPrivateForestClassifier(client=2, **(PUBLIC | options))
    return far.fit(as_array(X, lengths), as_array(y, lengths))


def test_the_budget_is_charged_once():
    X, y = table(np.random.default_rng(0), 100)
    accountant = Accountant(epsilon=1.5)
    fit(X, y, epsilon=1.0, accountant=accountant)
    assert 0.9 < accountant.spent <= 1.0
    with pytest.raises(ValueError, match="budget"):
        fit(X, y, epsilon=1.0, accountant=accountant)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: y.__setitem__(50, 7), "partition 2: y has the label 7"),
        (lambda X, y: X.__setitem__((10, 0), np.inf), "partition 0: .*infinity"),
    ],
)
def test_a_bad_row_costs_nothing(change, message):
    X, y = table(np.random.default_rng(0), 100)
    change(X, y)
    accountant = Accountant(epsilon=1.5)
    with pytest.raises(PartitionError, match=message):
        fit(X, y, accountant=accountant)
    assert accountant.spent == 0


def test_what_must_be_public():
    X, y = table(np.random.default_rng(0), 100)
    with pytest.raises(ValueError, match="bounds: there are none for"):
        fit(X, y, bounds={0: (0, 1)})
    with pytest.raises(ValueError, match="on_missing_public='warn': on a cluster"):
        fit(X, y, bounds=None, on_missing_public="warn")
    with pytest.warns(PrivacyLeakWarning, match="random_state"):
        fit(X, y, random_state=1)


def test_counts_that_no_worker_has_room_for():
    X, y = table(np.random.default_rng(0), 100)
    far = dask_private.DaskPrivateForestClassifier(client=2, **PUBLIC)

    class Narrow(Here):
        worker_bytes = property(lambda self: 10**5, lambda self, value: None)

    far.set_params(gather_rows=10)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dask_private, "DaskCluster", Narrow)
        with pytest.raises(
            ValueError, match=r"GB of counts.*a gather_rows of all rows"
        ):
            far.fit(as_array(X, [100]), as_array(y, [100]))
        far.set_params(gather_rows=100)
        far.fit(as_array(X, [100]), as_array(y, [100]))


def test_many_columns_of_few_rows_need_no_counts():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 9, (100, 60)), rng.integers(0, 2, 100)
    options = {
        "categories": {j: list(range(9)) for j in range(60)},
        "classes": [0, 1],
        "random_state": 0,
    }
    local = PrivateForestClassifier(**options).fit(X, y)

    class Narrow(Here):
        def __init__(self, n_workers):
            super().__init__(n_workers)
            self.worker_bytes = 10**6

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_cluster, "SENT_BYTES", 10**5)
        patch.setattr(dask_private, "DaskCluster", Narrow)
        far = dask_private.DaskPrivateForestClassifier(client=2, **options)
        rows, labels = as_array(X, [60, 40]), as_array(y, [60, 40])
        assert_same(far.fit(rows, labels), local)
        far.set_params(gather_rows=10)
        with pytest.raises(ValueError, match="GB of counts"):
            far.fit(rows, labels)
        far.set_params(max_depth=1).fit(rows, labels)


def test_rows_that_change_are_an_error(monkeypatch):
    """When a worker is lost its parts are read again."""
    X, y = table(np.random.default_rng(0), 100)
    join = _private_worker.join

    def join_others(parts, numbers, *told):
        if 2 in numbers:
            parts = [part and (part[0][::-1], part[1]) for part in parts]
        return join(parts, numbers, *told)

    monkeypatch.setattr(_private_worker, "join", join_others)
    with pytest.raises(PartitionError, match="partition 2: its rows are not those"):
        fit(X, y)


def test_no_rows():
    with pytest.raises(ValueError, match="X has 0 rows in all partitions"):
        fit(np.empty((0, 4)), np.empty(0, dtype=int), lengths=[0, 0])
