# SPDX-License-Identifier: BSD-3-Clause
"""How a forest is computed does not change a byte: jobs, backends, warm starts."""

import copy
import pickle

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal
from sklearn.base import clone

from mrforest import ComparisonForestClassifier
from tests.determinism.same import (
    assert_same,
    assert_same_importances,
    fitted_bytes,
    forest_of,
    plain_ways,
    rows,
    table_of,
    trees,
    ways,
)
from tests.forests.every import HONEST, NAMES, PLAIN, every, having, told

# Threads of scikit-learn's Parallel reset the filters of warnings behind each other's
# back and may then complain of it.
pytestmark = pytest.mark.filterwarnings("ignore:.*sklearn.utils.parallel.delayed")

# ---- ways to compute ----------------------------------------------------------------


@ways
@pytest.mark.parametrize("n_jobs", [2, -1])
def test_number_of_jobs(name, params, n_jobs):
    X, y = table_of(name, 1)
    one = forest_of(name, n_jobs=1, **params).fit(X, y)
    many = forest_of(name, n_jobs=n_jobs, **params).fit(X, y)
    assert fitted_bytes(one) == fitted_bytes(many)
    assert_same(one, many, X)
    assert_same_importances(name, one, many)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_joblib_backend(backend):
    """All forests, one after the other, so that the processes are started once."""
    for name in NAMES:
        X, y = table_of(name, 2)
        weight = np.random.default_rng(0).random(len(X))
        plain = forest_of(name, n_estimators=3).fit(X, y, weight)
        with parallel_config(backend=backend, n_jobs=2):
            other = forest_of(name, n_estimators=3).fit(X, y, weight)
            answers = told(other, X)
        assert_same(plain, other, X)
        assert told(plain, X).tobytes() == answers.tobytes()


@pytest.mark.parametrize("backend", ["threading", "loky"])
@pytest.mark.parametrize("name", ["multinomial", "breiman-r", "range"])
def test_joblib_backend_with_a_large_table(backend, name):
    """Large enough for loky to hand the table to its workers as a read-only map."""
    X, y = table_of(name, 3, n_rows=200_000)
    assert X.size > 2**20
    params = {"n_estimators": 2, "max_depth": 4}
    plain = forest_of(name, **params).fit(X, y)
    with parallel_config(backend=backend, n_jobs=2):
        other = forest_of(name, **params).fit(X, y)
    assert_same(plain, other, X[:1000])


def nearer(i: int, j: int, k: int) -> bool:
    return abs(i - j) <= abs(i - k)


@pytest.mark.parametrize("backend", ["threading", "loky"])
@pytest.mark.parametrize(
    "params", [{"metric": "manhattan"}, {"metric": "precomputed"}, {"oracle": nearer}]
)
def test_joblib_backend_with_other_comparisons(backend, params):
    X, y = rows(4, 60)
    X = np.nan_to_num(X)
    if "oracle" in params:
        X = np.arange(60.0)[:, None]
    elif params["metric"] == "precomputed":
        X = np.abs(X[:, None] - X[None]).sum(axis=2)
    forest = ComparisonForestClassifier(4, random_state=0, **params)
    plain = clone(forest).fit(X, y)
    with parallel_config(backend=backend, n_jobs=2):
        other = clone(forest).fit(X, y)
        answers = other.predict_proba(X)
    assert_same(plain, other, X)
    assert plain.predict_proba(X).tobytes() == answers.tobytes()


@plain_ways
def test_warm_start(name, params):
    X, y = table_of(name, 5)
    cold = forest_of(name, n_estimators=12, **params).fit(X, y)
    warm = forest_of(name, n_estimators=5, warm_start=True, **params).fit(X, y)
    first = trees(warm)["nodes"]
    warm.set_params(n_estimators=9).fit(X, y).set_params(n_estimators=12).fit(X, y)
    assert trees(warm)["nodes"][: len(first)] == first
    assert_same(cold, warm, X)
    assert_same_importances(name, cold, warm)
    assert_array_equal(cold.n_leaves_, warm.n_leaves_)
    assert_array_equal(cold.depths_, warm.depths_)
    if name in HONEST:
        for tree in (0, 11):
            sides = cold.structure_samples(tree), warm.structure_samples(tree)
            assert_array_equal(*sides)


def test_warm_start_without_a_seed():
    """The seed of the first fit is kept, whatever the generator does meanwhile."""
    X, y = rows(0)
    state = np.random.RandomState(4)
    six = {"n_estimators": 6}
    cold = forest_of(random_state=np.random.RandomState(4), **six).fit(X, y)
    warm = forest_of(n_estimators=2, random_state=state, warm_start=True).fit(X, y)
    state.rand(100)
    assert_same(cold, warm.set_params(**six).fit(X, y), X)


@every
def test_copies(name):
    """Pickle, deepcopy and clone: the same forest, that can grow on."""
    X, y = table_of(name, 6)
    forest = forest_of(name).fit(X, y)
    for other in (
        pickle.loads(pickle.dumps(forest)),
        pickle.loads(pickle.dumps(forest, protocol=2)),
        copy.deepcopy(forest),
        clone(forest).fit(X, y),
        pickle.loads(pickle.dumps(clone(forest))).fit(X, y),
    ):
        assert_same(forest, other, X)
        assert other.get_params() == forest.get_params()
        # A copy can grow on, alone.
        other.set_params(warm_start=True, n_estimators=9).fit(X, y)
        assert len(other.estimators_) == 9
        assert len(forest.estimators_) == 8


@pytest.mark.parametrize("name", [n for n in having("max_depth") if n in PLAIN])
def test_a_shallow_tree_begins_a_deep_one(name):
    X, y = table_of(name, 7)
    shallow = forest_of(name, max_depth=3).fit(X, y)
    deep = forest_of(name, max_depth=6).fit(X, y)
    assert (deep.depths_ > shallow.depths_).any()
    for less, more in zip(shallow.estimators_, deep.estimators_, strict=True):
        assert less.get_depth() <= 3
        inner = np.flatnonzero(less.children_left >= 0)
        assert_array_equal(less._flat.nodes[inner], more._flat.nodes[inner])
        # What is cut off is a leaf of the shallow tree, or below one.
        depth = more._flat.depths()
        assert len(less.children_left) == (depth <= 3).sum()
        assert (depth[inner] < 3).all()


@pytest.mark.parametrize(
    ("name", "voting"),
    [
        ("multinomial", "hard"),
        ("multinomial", "soft"),
        ("breiman-r", None),
        ("comparison", "hard"),
        ("comparison", "soft"),
    ],
)
def test_predicting_in_threads(name, voting):
    """Rows x trees are enough for threads to be used; the last block is not full."""
    X, y = table_of(name, 1, n_rows=5000)
    forest = forest_of(name, n_estimators=50, voting=voting, max_depth=6)
    forest.fit(X[:1000], y[:1000])
    for method in (told, type(forest).predict, type(forest).apply):
        answers = {
            method(forest.set_params(n_jobs=n_jobs), X).tobytes()
            for n_jobs in (1, 2, 4)
        }
        assert len(answers) == 1
        one_by_one = np.concatenate([method(forest, X[i : i + 1]) for i in (0, 9)])
        assert_array_equal(method(forest, X)[[0, 9]], one_by_one)


@every
def test_refit(name):
    X, y = table_of(name, 8)
    forest = forest_of(name).fit(X, y)
    before = fitted_bytes(forest)
    forest.fit(*table_of(name, 9))
    assert fitted_bytes(forest) != before
    assert fitted_bytes(forest.fit(X, y)) == before


# ---- seeds --------------------------------------------------------------------------


@every
def test_random_state_instances(name):
    X, y = table_of(name, 10)
    one = forest_of(name, random_state=np.random.RandomState(3)).fit(X, y)
    other = forest_of(name, random_state=np.random.RandomState(3)).fit(X, y)
    assert_same(one, other, X)
    used = np.random.RandomState(3)
    used.rand()
    assert trees(one) != trees(forest_of(name, random_state=used).fit(X, y))


def test_a_generator_moves_on():
    X, y = rows(0)
    state = np.random.RandomState(0)
    first = forest_of(random_state=state).fit(X, y)
    assert trees(first) != trees(forest_of(random_state=state).fit(X, y))


@every
def test_seeds_differ(name):
    """No two trees with a split are the same, of neighbouring seeds neither."""
    X, y = table_of(name, 11)
    forests = [forest_of(name, random_state=seed).fit(X, y) for seed in range(5)]
    seen = []
    for forest in forests:
        for tree in forest.estimators_:
            flat = tree._flat
            asked = getattr(flat, "pivots", flat.nodes).tobytes()
            if len(flat.nodes) > 1:
                seen.append((asked, flat.leaf_points.tobytes()))
    assert len(seen) > 30
    assert len(set(seen)) == len(seen)


@every
def test_no_seed_is_another_seed_each_time(name):
    X, y = table_of(name, 11)
    one, other = (forest_of(name, random_state=None).fit(X, y) for _ in range(2))
    assert trees(one) != trees(other)
