# SPDX-License-Identifier: BSD-3-Clause
"""What must not change a forest does not change a byte of it."""

import dataclasses
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal

from mrforest import MultinomialForestClassifier

VARIANTS = [
    {},
    {"voting": "soft", "leaf_rule": "floor", "criterion": "entropy"},
    {"max_bins": 16, "label_budget": 3.0, "class_weight": "balanced"},
]
variants = pytest.mark.parametrize("variant", VARIANTS, ids=["default", "soft", "bins"])


def rows(seed: int, n_rows: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers with gaps and ties, and three classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 6))
    X[:, 3:] = rng.integers(0, 6, (n_rows, 3))
    y = (X[:, 0] + X[:, 3] > 2).astype(int) + (rng.random(n_rows) < 0.2)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def forest_of(n_estimators: int = 8, **params) -> MultinomialForestClassifier:
    return MultinomialForestClassifier(
        n_estimators, **{"random_state": 7, "min_samples_leaf": 2, **params}
    )


def trees(forest: MultinomialForestClassifier) -> dict[str, bytes]:
    """Return the bytes of all arrays of a forest, by name."""
    arrays = dataclasses.asdict(forest._forest)
    return {name: np.asarray(array).tobytes() for name, array in arrays.items()}


def fitted_bytes(forest: MultinomialForestClassifier) -> bytes:
    """Pickle all that a fit learned; parameters are not compared."""
    params = forest.get_params()
    return pickle.dumps({k: v for k, v in vars(forest).items() if k not in params})


def assert_same(one, other, X) -> None:
    assert trees(one) == trees(other)
    assert one.predict_proba(X).tobytes() == other.predict_proba(X).tobytes()
    assert one.apply(X).tobytes() == other.apply(X).tobytes()


# ---- ways to compute ----------------------------------------------------------------


@variants
@pytest.mark.parametrize("n_jobs", [2, 4, -1])
def test_number_of_jobs(variant, n_jobs, seed):
    X, y = rows(seed)
    one = forest_of(n_jobs=1, **variant).fit(X, y)
    many = forest_of(n_jobs=n_jobs, **variant).fit(X, y)
    assert fitted_bytes(one) == fitted_bytes(many)
    assert_same(one, many, X)
    assert_array_equal(one.feature_importances_, many.feature_importances_)
    assert_array_equal(one.structure_importances_, many.structure_importances_)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_joblib_backend(backend):
    """Large enough for loky to hand the table to its workers as a read-only map."""
    X, y = rows(3, n_rows=200_000)
    assert X.size > 2**20
    weight = np.random.default_rng(0).random(len(X))
    for sample_weight in (None, weight):
        params = {"n_estimators": 3, "max_depth": 6}
        plain = forest_of(**params).fit(X, y, sample_weight)
        with parallel_config(backend=backend, n_jobs=2):
            other = forest_of(**params).fit(X, y, sample_weight)
            proba = other.predict_proba(X)
        assert_same(plain, other, X)
        assert plain.predict_proba(X).tobytes() == proba.tobytes()


@variants
def test_warm_start(variant, seed):
    X, y = rows(seed)
    cold = forest_of(12, **variant).fit(X, y)
    warm = forest_of(5, warm_start=True, **variant).fit(X, y)
    first = trees(warm)["nodes"]
    warm.set_params(n_estimators=12).fit(X, y)
    assert trees(warm)["nodes"][: len(first)] == first
    assert_same(cold, warm, X)
    np.testing.assert_allclose(
        cold.structure_importances_, warm.structure_importances_, rtol=1e-12
    )
    for tree in (0, 11):
        assert_array_equal(cold.structure_samples(tree), warm.structure_samples(tree))


def test_warm_start_without_a_seed():
    """The seed of the first fit is kept, whatever the generator does meanwhile."""
    X, y = rows(0)
    state = np.random.RandomState(4)
    cold = forest_of(6, random_state=np.random.RandomState(4)).fit(X, y)
    warm = forest_of(2, random_state=state, warm_start=True).fit(X, y)
    state.rand(100)
    assert_same(cold, warm.set_params(n_estimators=6).fit(X, y), X)


@variants
def test_a_shallow_tree_begins_a_deep_one(variant, seed):
    X, y = rows(seed)
    shallow = forest_of(max_depth=3, **variant).fit(X, y)
    deep = forest_of(max_depth=6, **variant).fit(X, y)
    assert (deep.depths_ > shallow.depths_).any()
    for less, more in zip(shallow.estimators_, deep.estimators_, strict=True):
        assert less.get_depth() <= 3
        inner = np.flatnonzero(less.children_left >= 0)
        assert_array_equal(less._flat.nodes[inner], more._flat.nodes[inner])
        # What is cut off is a leaf of the shallow tree, or below one.
        depth = more._flat.depths()
        assert len(less.feature) == (depth <= 3).sum()
        assert (depth[inner] < 3).all()


@pytest.mark.parametrize("voting", ["hard", "soft"])
@pytest.mark.parametrize("method", ["predict_proba", "predict", "apply"])
def test_predicting_in_threads(voting, method):
    """Rows x trees are enough for threads to be used; the last block is not full."""
    X, y = rows(1, n_rows=5000)
    forest = forest_of(60, voting=voting, max_depth=8).fit(X[:1000], y[:1000])
    answers = {
        getattr(forest.set_params(n_jobs=n_jobs), method)(X).tobytes()
        for n_jobs in (1, 2, 4)
    }
    assert len(answers) == 1
    one_by_one = np.concatenate([getattr(forest, method)(X[i : i + 1]) for i in (0, 9)])
    assert_array_equal(getattr(forest, method)(X)[[0, 9]], one_by_one)


def test_refit(seed):
    X, y = rows(seed)
    forest = forest_of().fit(X, y)
    before = fitted_bytes(forest)
    forest.fit(*rows(seed + 1))
    assert fitted_bytes(forest) != before
    assert fitted_bytes(forest.fit(X, y)) == before


# ---- seeds --------------------------------------------------------------------------


def test_random_state_instances(seed):
    X, y = rows(seed)
    one = forest_of(random_state=np.random.RandomState(seed)).fit(X, y)
    other = forest_of(random_state=np.random.RandomState(seed)).fit(X, y)
    assert_same(one, other, X)
    used = np.random.RandomState(seed)
    used.rand()
    assert trees(one) != trees(forest_of(random_state=used).fit(X, y))


def test_a_generator_moves_on():
    X, y = rows(0)
    state = np.random.RandomState(0)
    first = forest_of(random_state=state).fit(X, y)
    assert trees(first) != trees(forest_of(random_state=state).fit(X, y))


def test_seeds_differ():
    X, y = rows(0)
    forests = [forest_of(random_state=seed).fit(X, y) for seed in range(10)]
    forests += [forest_of(random_state=None).fit(X, y) for _ in range(2)]
    assert len({trees(forest)["nodes"] for forest in forests}) == 12
    # Neither do neighbouring seeds share trees.
    nodes = [tree._flat.nodes for forest in forests for tree in forest.estimators_]
    assert len({of_tree.tobytes() for of_tree in nodes}) == 12 * 8


# ---- rows ---------------------------------------------------------------------------


@variants
@pytest.mark.parametrize("weighted", [False, True])
def test_order_of_rows(variant, weighted, seed):
    X, y = rows(seed)
    rng = np.random.default_rng(seed)
    weight = rng.random(len(X)) if weighted else None
    forest = forest_of(**variant).fit(X, y, weight)
    order = rng.permutation(len(X))
    shuffled = forest_of(**variant).fit(
        X[order], y[order], weight[order] if weighted else None
    )
    assert_same(forest, shuffled, X)
    # The rows of a tree are the same, under their new numbers.
    again = np.sort(order[shuffled.structure_samples(2)])
    assert_array_equal(forest.structure_samples(2), again)


def test_order_of_rows_with_categories(seed):
    X, y = rows(seed)
    frame = pd.DataFrame(X)
    frame[4] = pd.Series(np.array(list("vwxyz_"))[rows(seed)[1]], dtype="category")
    frame[5] = frame[5].astype("category")
    forest = forest_of().fit(frame, y)
    assert forest._forest.has_equality
    order = np.random.default_rng(seed).permutation(len(X))
    shuffled = frame.iloc[order].reset_index(drop=True)
    # Categories in order of appearance, as pandas readers may leave them.
    shuffled[4] = shuffled[4].cat.set_categories(shuffled[4].drop_duplicates())
    assert_same(forest, forest_of().fit(shuffled, y[order]), frame)


@variants
def test_whole_weights_are_repetitions(variant, seed):
    X, y = rows(seed)
    weight = np.random.default_rng(seed).integers(0, 4, len(X))
    weighted = forest_of(**variant).fit(X, y, sample_weight=weight)
    origin = np.repeat(np.arange(len(X)), weight)
    repeated = forest_of(**variant).fit(X[origin], y[origin])
    assert_same(weighted, repeated, X)
    as_rows = np.sort(origin[repeated.estimation_samples(0)])
    assert_array_equal(weighted.estimation_samples(0), as_rows)


@variants
def test_weights_of_1_are_no_weights(variant):
    X, y = rows(5)
    plain = forest_of(**variant).fit(X, y)
    ones = forest_of(**variant).fit(X, y, sample_weight=np.ones(len(X), dtype=int))
    assert_same(plain, ones, X)


@variants
@pytest.mark.parametrize("scale", [1.0, 0.3])
def test_weight_0_removes(variant, scale, seed):
    X, y = rows(seed)
    kept = np.random.default_rng(seed).random(len(X)) < 0.6
    with_zeros = forest_of(**variant).fit(X, y, sample_weight=kept * scale)
    weight = np.full(kept.sum(), scale)
    removed = forest_of(**variant).fit(X[kept], y[kept], sample_weight=weight)
    assert_same(with_zeros, removed, X)
    assert set(with_zeros.structure_samples(0)) <= set(np.flatnonzero(kept))


@variants
@pytest.mark.parametrize("power", [-1000, -200, -3, 1, 5])
def test_scale_of_real_weights(variant, power):
    """Weights keep their ratios; none becomes a whole number by this."""
    X, y = rows(9)
    weight = np.random.default_rng(9).random(len(X))
    plain = forest_of(**variant).fit(X, y, weight)
    scaled = forest_of(**variant).fit(X, y, weight * 2.0**power)
    assert trees(plain)["nodes"] == trees(scaled)["nodes"]
    assert_array_equal(plain.predict_proba(X), scaled.predict_proba(X))


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("voting", ["hard", "soft"])
@pytest.mark.parametrize("power", [-160, -40, 3, 160])
def test_scale_of_class_weights(criterion, voting, power):
    X, y = rows(9)
    params = {"criterion": criterion, "voting": voting}
    weight = {0: 1.0, 1: 2.5, 2: 0.75}
    plain = forest_of(class_weight=weight, **params).fit(X, y)
    weight = {label: value * 2.0**power for label, value in weight.items()}
    scaled = forest_of(class_weight=weight, **params).fit(X, y)
    assert_array_equal(plain.predict_proba(X), scaled.predict_proba(X))


# ---- tables -------------------------------------------------------------------------


def test_single_precision(seed):
    X, y = rows(seed)
    X = X.astype(np.float32)
    single = forest_of().fit(X, y)
    double = forest_of().fit(X.astype(np.float64), y)
    assert_same(single, double, X)
    assert_array_equal(single.predict(X), double.predict(X.astype(np.float64)))


@pytest.mark.parametrize("layout", ["F", "strided", "read-only", "list"])
def test_memory_layout(layout):
    X, y = rows(0)
    other = {
        "F": np.asfortranarray(X),
        "strided": np.repeat(X, 2, axis=1)[:, ::2],
        "read-only": X.copy(),
        "list": X.tolist(),
    }[layout]
    if layout == "read-only":
        other.flags.writeable = False
    plain, given = forest_of().fit(X, y), forest_of().fit(other, y)
    assert trees(plain) == trees(given)
    assert_array_equal(plain.predict_proba(X), given.predict_proba(other))


def test_pandas_polars_and_numpy(seed):
    X, y = rows(seed)
    names = [f"x{j}" for j in range(X.shape[1])]
    array = forest_of().fit(X, y)
    pandas = forest_of().fit(pd.DataFrame(X, columns=names), pd.Series(y))
    polars = forest_of().fit(pl.DataFrame(X, schema=names), pl.Series(y))
    assert trees(array) == trees(pandas) == trees(polars)
    assert_array_equal(pandas.feature_names_in_, polars.feature_names_in_)
    expected = array.predict_proba(X)
    for forest in (pandas, polars):
        for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
            assert_array_equal(forest.predict_proba(frame), expected)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64, np.float32])
def test_dtype_of_a_column(dtype):
    X, y = rows(2)
    frame = pd.DataFrame(np.nan_to_num(X))
    frame.columns = frame.columns.astype(str)
    frame["5"] = (frame["5"] > 2).astype(float)
    plain = forest_of().fit(frame, y)
    typed = forest_of().fit(frame.astype({"5": dtype}), y)
    assert_same(plain, typed, frame)
