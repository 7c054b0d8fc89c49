# SPDX-License-Identifier: BSD-3-Clause
"""Comparison forests: metrics, matrices, oracles, and growth that always ends."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold, cross_val_score

from mrforest import ComparisonForestClassifier
from tests.forests.frames import mixed_frame
from tests.forests.sound import assert_sound
from tests.forests.twin import assert_same_predictions, assert_same_trees, twin_of
from tests.leaves import leaf_options

KINDS = pytest.mark.parametrize("honest", [False, True])
RULES = pytest.mark.parametrize("leaf_rule", ["stop", "floor"])
IRIS, SPECIES = load_iris(return_X_y=True)


def forest_of(**params) -> ComparisonForestClassifier:
    defaults = {"n_estimators": 6, "random_state": 0, "min_samples_split": 3}
    return ComparisonForestClassifier(**{**defaults, **params})


def rows(n_rows: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Return whole numbers, whose distances are exact, and classes."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 50, (n_rows, 3)).astype(float)
    return X, (X[:, 0] > 25).astype(int) + (X[:, 1] > 40)


def squares(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Squared Euclidean distances; they order as the distances do."""
    return ((A[:, None] - B[None]) ** 2).sum(axis=2)


def assert_same_shape(one, other) -> None:
    """Nodes and leaves of two forests are the same; pivots may be shown differently."""
    for array in ("nodes", "leaf_points", "leaf_label", "mass", "mass_class"):
        expected = getattr(other._forest, array)
        assert_array_equal(getattr(one._forest, array), expected)


# ---- ways to compare ----------------------------------------------------------------


@KINDS
@RULES
def test_precomputed_distances(honest, leaf_rule):
    """The trees of the vectors, if the rows are given in their canonical order."""
    X, y = rows()
    vectors = forest_of(honest=honest, **leaf_options(leaf_rule, 2)).fit(X, y)
    assert vectors.n_leaves_.min() > 2
    order = vectors._batches[0].origin
    matrix = forest_of(
        honest=honest, **leaf_options(leaf_rule, 2), metric="precomputed"
    ).fit(np.sqrt(squares(X[order], X[order])), y[order])
    assert_same_shape(matrix, vectors)
    for a, b in zip(matrix.estimators_, vectors.estimators_, strict=True):
        inner = a.children_left >= 0
        columns = a.pivots[inner][:, :, 0].astype(int)
        assert_array_equal(X[order][columns], b.pivots[inner])
    asked = np.random.default_rng(0).integers(0, 50, (40, 3)).astype(float)
    given = np.sqrt(squares(asked, X[order]))
    assert_array_equal(matrix.apply(given), vectors.apply(asked))
    assert_array_equal(matrix.predict_proba(given), vectors.predict_proba(asked))


@KINDS
@RULES
def test_oracle(honest, leaf_rule):
    """The trees of the distances by which it answers, in its canonical order."""
    X, y = rows()
    distances = squares(X, X)

    def nearer(i, j, k):
        return distances[i, j] <= distances[i, k]

    items = np.arange(60.0)[:, None]
    oracle = forest_of(honest=honest, **leaf_options(leaf_rule, 2), oracle=nearer)
    oracle.fit(items, y)
    order = oracle._batches[0].origin
    matrix = forest_of(
        honest=honest, **leaf_options(leaf_rule, 2), metric="precomputed"
    ).fit(distances[np.ix_(order, order)], y[order])
    assert_same_shape(oracle, matrix)
    given = distances[:, order]
    assert_array_equal(oracle.predict_proba(items), matrix.predict_proba(given))
    assert oracle.score(items, y) > 0.6


def manhattan(a, b):
    return np.abs(a - b).sum()


def minkowski(a, b, p):
    return (np.abs(a - b) ** p).sum()


@KINDS
def test_other_metrics(honest):
    """By name, as a function, and with arguments."""
    X, y = rows(40)
    params = {"honest": honest, "n_estimators": 3}
    by_name = forest_of(metric="manhattan", **params).fit(X, y)
    assert by_name.n_leaves_.min() > 2
    for metric in (
        {"metric": manhattan},
        {"metric": "cityblock"},
        {"metric": "minkowski", "metric_params": {"p": 1}},
        {"metric": minkowski, "metric_params": {"p": 1}},
    ):
        other = forest_of(**metric, **params).fit(X, y)
        assert_same_shape(other, by_name)
        assert_array_equal(other.apply(X), by_name.apply(X))
        assert_array_equal(other.predict_proba(X), by_name.predict_proba(X))
    # Another metric, other trees.
    plain = forest_of(**params).fit(X, y)
    assert (plain.apply(X) != by_name.apply(X)).any()
    cubes = {"metric": minkowski, "metric_params": {"p": 3}}
    cubic = forest_of(**cubes, **params).fit(X, y)
    assert (cubic.apply(X) != by_name.apply(X)).any()


@pytest.mark.parametrize("weights", [None, "whole", "real"])
@pytest.mark.parametrize("kind", ["function", "matrix", "oracle"])
@KINDS
def test_trees_of_the_twin(kind, honest, weights):
    rng = np.random.default_rng(2)
    X, y = rows(40)
    weight = {
        None: None,
        "whole": rng.integers(0, 3, 40).astype(float),
        "real": np.where(rng.random(40) < 0.2, 0.0, rng.random(40)),
    }[weights]
    params, table = {"metric": manhattan}, X
    if kind == "matrix":
        params, table = {"metric": "precomputed"}, squares(X, X)
    elif kind == "oracle":
        distances = squares(X, X)
        params = {"oracle": lambda i, j, k: distances[i, j] <= distances[i, k]}
        table = rng.permutation(40)[:, None]
    forest = forest_of(honest=honest, n_estimators=2, **params)
    forest.fit(table, y, sample_weight=weight)
    frame = pd.DataFrame(table.astype(float)).set_axis(range(table.shape[1]), axis=1)
    twin = twin_of(forest, frame, y, weight)
    assert max(len(tree.nodes) for tree in twin.trees) > 3
    assert_same_trees(forest, twin)
    assert_same_predictions(forest, twin, frame)


@pytest.mark.parametrize(
    "kind", ["flags", "categories", "many", "behind numbers", "behind ties", "mixed"]
)
@KINDS
def test_trees_of_the_twin_where_features_are_packed(kind, honest):
    rng = np.random.default_rng(3)
    flags = pd.DataFrame(rng.integers(0, 2, (60, 19)).astype(float))
    frame = flags
    if kind in ("categories", "many", "mixed"):
        n_codes, n_features = (9, 150) if kind == "many" else (4, 11)
        codes = rng.integers(0, n_codes, (60, n_features)).astype(str)
        frame = pd.DataFrame(codes).astype("category")
    if kind == "mixed":
        frame = pd.concat([frame, flags], axis=1)
    if kind == "behind ties":
        # Distances that differ by rounding alone, or not at all.
        tenths = pd.DataFrame(rng.integers(0, 2, (60, 4)) / 10)
        frame = pd.concat([tenths, frame], axis=1)
    if kind in ("behind numbers", "mixed"):
        # Sums that are rounded, and gaps.
        numbers = pd.DataFrame(rng.random((60, 3)) / 3)
        numbers.iloc[::7, 1] = np.nan
        frame = pd.concat([numbers, frame], axis=1)
    frame = frame.set_axis(range(frame.shape[1]), axis=1)
    y = rng.integers(0, 3, 60)
    forest = forest_of(honest=honest, n_estimators=3).fit(frame, y)
    twin = twin_of(forest, frame, y, None)
    assert max(len(tree.nodes) for tree in twin.trees) > 3
    assert_same_trees(forest, twin)
    assert_same_predictions(forest, twin, frame)
    # Queries need not be as the training rows are: other numbers, gaps, few of them.
    other = frame.copy()
    other.isetitem(-1, other.iloc[:, -1].where(np.arange(60) % 5 > 0))
    if kind not in ("categories", "many"):
        other.isetitem(-2, other.iloc[:, -2] * 2.5)
    assert not other.equals(frame)
    assert_same_predictions(forest, twin, other)
    assert_same_predictions(forest, twin, frame[:1])


def test_pivots_of_a_supervised_tree_differ_in_class():
    X, y = rows()
    forest = forest_of(honest=False, metric="precomputed", min_samples_split=2)
    forest.fit(squares(X, X), y)
    for tree in forest.estimators_:
        columns = tree.pivots[tree.children_left >= 0][:, :, 0].astype(int)
        assert (y[columns[:, 0]] != y[columns[:, 1]]).all()
    free = clone(forest).set_params(honest=True).fit(squares(X, X), y)
    columns = np.concatenate(
        [t.pivots[t.children_left >= 0][:, :, 0].astype(int) for t in free.estimators_]
    )
    assert (y[columns[:, 0]] == y[columns[:, 1]]).any()


def test_cross_validation_with_a_matrix():
    """Rows and columns are split together."""
    distances = squares(IRIS, IRIS)
    forest = forest_of(honest=False, metric="precomputed", n_estimators=20)
    assert forest.__sklearn_tags__().input_tags.pairwise
    assert not forest_of().__sklearn_tags__().input_tags.pairwise
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    scores = cross_val_score(forest, distances, SPECIES, cv=folds)
    assert scores.mean() > 0.9
    for score, (train, test) in zip(scores, folds.split(IRIS, SPECIES), strict=True):
        fold = clone(forest).fit(distances[np.ix_(train, train)], SPECIES[train])
        assert score == fold.score(distances[np.ix_(test, train)], SPECIES[test])


@KINDS
def test_accuracy(honest):
    scores = cross_val_score(
        forest_of(honest=honest, n_estimators=40), IRIS, SPECIES, cv=5
    )
    assert scores.mean() > 0.9


# ---- duplicates and nonsense --------------------------------------------------------


@KINDS
@RULES
@pytest.mark.parametrize("kind", ["euclidean", "manhattan", "precomputed", "oracle"])
@pytest.mark.parametrize("n_distinct", [1, 2])
def test_duplicates_end(kind, honest, leaf_rule, n_distinct):
    """One row 2,000 times, or two rows 1,000 times each, of all classes."""
    n_rows = 200 if kind == "manhattan" else 2000  # the former is slow
    X = np.tile([[1.0, 2.0], [3.0, 4.0]][:n_distinct], (n_rows // n_distinct, 1))
    y = np.random.default_rng(0).integers(0, 3, n_rows)
    params = {"metric": kind}
    if kind == "precomputed":
        X = squares(X, X)
    elif kind == "oracle":
        params = {"oracle": lambda i, j, k: abs(i - j) <= abs(i - k)}
        X = X[:, :1]
    forest = forest_of(
        honest=honest,
        n_estimators=2,
        **leaf_options(leaf_rule, 1),
        **params,
    ).fit(X, y)
    assert_array_equal(forest.n_leaves_, np.full(2, n_distinct))
    assert_sound(forest, X[:20])


def always(i, j, k):
    return True


def never(i, j, k):
    return False


def by_chance(i, j, k):
    """Answer at random, but the same whenever asked."""
    return hash((i * 7919 + j * 104_729 + k * 1_299_709) % 1_000_003 * 31 % 97) % 2 == 0


@KINDS
@RULES
@pytest.mark.parametrize("oracle", [always, never, by_chance])
def test_nonsense_ends(oracle, honest, leaf_rule):
    items = np.arange(80)[:, None]
    forest = forest_of(oracle=oracle, honest=honest, **leaf_options(leaf_rule, 1)).fit(
        items, np.arange(80) % 3
    )
    assert_sound(forest, items)
    # Rows that cannot be told apart are no pivots.
    assert (forest.n_leaves_ > 1).all() == (oracle is by_chance)


def test_an_oracle_that_never_answers_the_same_ends():
    rng = np.random.default_rng(0)
    items = np.arange(80)[:, None]
    for honest in (False, True):
        forest = forest_of(
            oracle=lambda i, j, k: rng.random() < 0.5,
            honest=honest,
            min_samples_split=2,
        ).fit(items, np.arange(80) % 3)
        assert (forest.n_leaves_ <= 80).all()
        assert (forest._forest.leaf_points >= 1).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("kind", ["oracle", "metric"])
def test_a_function_that_fails(n_jobs, kind):
    """Its own error comes out, and the forest that was there stays."""
    calls = []

    def failing(*arguments):
        calls.append(arguments)
        if len(calls) > 50:
            raise ZeroDivisionError("no answer")
        return float(arguments[0][0] - arguments[1][0]) if kind == "metric" else True

    X = np.arange(40.0)[:, None]
    y = np.arange(40) % 2
    forest = forest_of(n_jobs=n_jobs).fit(X, y)
    before = forest.predict_proba(X)
    with pytest.raises(ZeroDivisionError, match="no answer"):
        clone(forest).set_params(**{kind: failing}).fit(X, y)
    params = forest.get_params()
    calls.clear()
    with pytest.raises(ZeroDivisionError, match="no answer"):
        forest.set_params(**{kind: failing}).fit(X, y)
    forest.set_params(**params)
    assert_array_equal(forest.predict_proba(X), before)


@pytest.mark.parametrize("metric", ["manhattan", "precomputed"])
def test_warm_start_with_another_metric(metric):
    """Trees that are there keep comparing as they did, or it is refused by name."""
    X, y = rows(40)
    X = squares(X, X)
    forest = forest_of(warm_start=True).fit(X, y)
    before = forest.apply(X)
    forest.set_params(metric=metric, n_estimators=8)
    message = "metric"
    try:
        forest.fit(X, y)
    except ValueError as error:
        message = str(error)
        forest.set_params(metric="euclidean")
    assert "metric" in message
    assert_array_equal(forest.apply(X)[:, :6], before)


# ---- what is kept -------------------------------------------------------------------


def by_place(i, j, k):
    return abs(i - j) <= abs(i - k)


@pytest.mark.parametrize(
    "params",
    [
        {"metric": "manhattan"},
        {"metric": manhattan},
        {"metric": "precomputed"},
        {"oracle": by_place},
    ],
)
def test_pickle(params):
    X, y = rows()
    if "oracle" in params:
        X = np.arange(60)[:, None]
    elif params["metric"] == "precomputed":
        X = squares(X, X)
    forest = forest_of(**params).fit(X, y)
    other = pickle.loads(pickle.dumps(forest))
    assert_array_equal(other.predict_proba(X), forest.predict_proba(X))
    other.set_params(warm_start=True, n_estimators=8).fit(X, y)
    whole = forest_of(**params, n_estimators=8).fit(X, y)
    assert_array_equal(other.predict_proba(X), whole.predict_proba(X))


def test_only_pivots_are_kept():
    """Rows that no node compares with are not in the forest."""
    X, y = mixed_frame(1, 300)
    X = X[["number", "noise"]].fillna(0.0).to_numpy()
    forest = forest_of(n_estimators=2, max_depth=2).fit(X, y)
    shown = np.concatenate([t.pivots[t.children_left >= 0] for t in forest.estimators_])
    n_pivots = len(np.unique(shown.reshape(-1, 2), axis=0))
    kept = pickle.dumps(forest)
    assert sum(row.tobytes() in kept for row in X) == n_pivots <= 12


def test_arguments_of_a_metric_belong_to_the_forest():
    """Equal arrays are the same comparison; a changed dict changes no forest."""
    X, y = load_iris(return_X_y=True)
    options = {"metric": "seuclidean", "n_estimators": 3, "random_state": 0}
    forest = ComparisonForestClassifier(
        metric_params={"V": X.var(axis=0)}, warm_start=True, **options
    ).fit(X, y)
    forest.set_params(n_estimators=5, metric_params={"V": X.var(axis=0)}).fit(X, y)
    assert len(forest.estimators_) == 5
    forest.set_params(n_estimators=6, metric_params={"V": np.ones(4)})
    with pytest.raises(ValueError, match="metric_params"):
        forest.fit(X, y)

    given = {"p": 1}
    forest = ComparisonForestClassifier(
        metric="minkowski", metric_params=given, n_estimators=5, random_state=0
    ).fit(X, y)
    before = forest.apply(X)
    given["p"] = 50
    assert_array_equal(forest.apply(X), before)


def test_a_warm_start_keeps_shared_pivots_once():
    X, y = load_iris(return_X_y=True)
    cold = ComparisonForestClassifier(n_estimators=40, random_state=0).fit(X, y)
    warm = ComparisonForestClassifier(20, random_state=0, warm_start=True).fit(X, y)
    warm.set_params(n_estimators=40).fit(X, y)
    assert len(warm._forest.pivot_rows) <= len(cold._forest.pivot_rows)
    assert_array_equal(warm.apply(X), cold.apply(X))


def test_single_trees_read_as_the_forest_does():
    X, y = load_iris(return_X_y=True)
    forest = ComparisonForestClassifier(2, metric="manhattan").fit(X, y)
    X[0, 0] = np.nan
    for model in (forest, forest.estimators_[0]):
        with pytest.raises(ValueError, match="NaN"):
            model.predict(X)
    with pytest.raises(ValueError, match="only metric='euclidean' leaves missing"):
        forest.fit(X, y)


def test_an_oracle_must_answer():
    X = np.arange(20.0)[:, None]
    forest = ComparisonForestClassifier(2, oracle=lambda i, j, k: None)
    with pytest.raises(TypeError, match=r"oracle\(.*\) returned None"):
        forest.fit(X, np.arange(20) % 2)
