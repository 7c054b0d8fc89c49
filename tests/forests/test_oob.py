# SPDX-License-Identifier: BSD-3-Clause
"""Out-of-bag estimates: each row is judged by the trees whose bag it is not in."""

import contextlib
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    mean_absolute_error,
    r2_score,
)
from sklearn.model_selection import cross_val_predict

from tests.forests.every import BAGGED, CLASSIFIERS, forest_of, target_of, told
from tests.forests.frames import mixed_frame
from tests.naive.rng import tree_key
from tests.naive.sample import bootstrap

bagged = pytest.mark.parametrize("name", BAGGED)
# Enough for every row to be outside some bag
ENOUGH = {"n_estimators": 25, "oob_score": True}


def rows_outside(forest, n_rows: int) -> list[np.ndarray]:
    """Return for each tree the rows that are not in its bag, by the plain sampler."""
    origin = forest._batches[0].origin
    bags = [
        {int(origin[point]) for point in bootstrap(tree_key(0, tree), len(origin))}
        for tree in range(forest.n_estimators)
    ]
    return [np.array([r for r in range(n_rows) if r not in bag]) for bag in bags]


def recomputed(forest, X) -> np.ndarray:
    """Return the mean of what single trees tell of the rows outside their bags."""
    total = np.zeros_like(told(forest, X))
    n_trees = np.zeros(len(X), dtype=int)
    for tree, rows in zip(
        forest.estimators_, rows_outside(forest, len(X)), strict=True
    ):
        if len(rows):
            total[rows] += told(tree, X.iloc[rows])
            n_trees[rows] += 1
    with np.errstate(invalid="ignore"):
        return total / n_trees.reshape(-1, *[1] * (total.ndim - 1))


def estimate_of(forest) -> np.ndarray:
    name = (
        "oob_decision_function_" if hasattr(forest, "classes_") else "oob_prediction_"
    )
    return getattr(forest, name)


@pytest.mark.parametrize(
    ("name", "voting"),
    [
        (name, voting)
        for name in BAGGED
        for voting in (["hard", "soft"] if name in CLASSIFIERS else [None])
    ],
)
@pytest.mark.parametrize("weights", [None, "whole", "real"])
def test_estimates_by_hand(name, weights, voting):
    """Weights change bags and trees; a row of weight 0 is outside every bag."""
    X, labels = mixed_frame(6, 60)
    y = target_of(name, labels)
    rng = np.random.default_rng(6)
    weight = {
        None: None,
        "whole": rng.integers(0, 3, 60).astype(float),
        "real": np.where(rng.random(60) < 0.2, 0.0, rng.random(60)),
    }[weights]
    forest = forest_of(name, n_estimators=45, oob_score=True, voting=voting)
    forest.fit(X, y, sample_weight=weight)
    expected = recomputed(forest, X)
    assert not np.isnan(expected).any()
    assert_array_equal(estimate_of(forest), expected)
    if weights is None:
        winner = expected
        if name in CLASSIFIERS:
            winner = forest.classes_[expected.argmax(axis=1)]
        metric = accuracy_score if name in CLASSIFIERS else r2_score
        assert forest.oob_score_ == metric(y, winner)
    # Not just what the whole forest tells
    assert (estimate_of(forest) != told(forest, X)).any()


@bagged
def test_rows_in_every_bag(name):
    """They have no estimate and do not count; whoever asked is told."""
    X, labels = mixed_frame(7, 50)
    y = target_of(name, labels)
    forest = forest_of(name, n_estimators=2, oob_score=True)
    with pytest.warns(UserWarning, match="rows are in the bag of every tree"):
        forest.fit(X, y)
    inside = np.ones(50, dtype=bool)
    for rows in rows_outside(forest, 50):
        inside[rows] = False
    assert 0 < inside.sum() < 50
    is_nan = np.isnan(estimate_of(forest)).reshape(50, -1)
    assert_array_equal(is_nan.all(axis=1), inside)
    assert_array_equal(is_nan.any(axis=1), inside)
    assert_array_equal(estimate_of(forest), recomputed(forest, X))
    known = estimate_of(forest)[~inside]
    if name in CLASSIFIERS:
        winner = forest.classes_[known.argmax(axis=1)]
        assert forest.oob_score_ == accuracy_score(y[~inside], winner)
    else:
        assert forest.oob_score_ == r2_score(y[~inside], known)


@bagged
def test_one_row(name):
    forest = forest_of(name, oob_score=True)
    with pytest.warns(UserWarning, match="1 rows are in the bag of every tree"):
        forest.fit([[1.0]], [1])
    assert np.isnan(forest.oob_score_)


@bagged
def test_own_metric(name):
    X, labels = mixed_frame(8, 60)
    y = target_of(name, labels)
    metric = balanced_accuracy_score if name in CLASSIFIERS else mean_absolute_error
    forest = forest_of(name, **ENOUGH).set_params(oob_score=metric).fit(X, y)
    predicted = estimate_of(forest)
    if name in CLASSIFIERS:
        predicted = forest.classes_[predicted.argmax(axis=1)]
    assert forest.oob_score_ == metric(y, predicted)


@bagged
def test_a_metric_that_fails_leaves_the_forest(name):
    X, labels = mixed_frame(8, 60)
    y = target_of(name, labels)
    forest = forest_of(name, **ENOUGH).fit(X, y)
    before = forest.oob_score_, told(forest, X)

    def failing(truth, prediction):
        raise ZeroDivisionError("no metric")

    with pytest.raises(ZeroDivisionError, match="no metric"):
        forest.set_params(oob_score=failing, random_state=1).fit(X[:40], y[:40])
    assert forest.oob_score_ == before[0]
    assert_array_equal(told(forest, X), before[1])


@bagged
def test_warm_start_goes_on(name):
    X, labels = mixed_frame(9, 60)
    y = target_of(name, labels)
    cold = forest_of(name, **ENOUGH).fit(X, y)
    warm = forest_of(name, warm_start=True, **ENOUGH)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warm.set_params(n_estimators=3).fit(X, y)
    first = warm.oob_score_
    warm.set_params(n_estimators=25).fit(X, y)
    assert_array_equal(estimate_of(warm), estimate_of(cold))
    assert warm.oob_score_ == cold.oob_score_ != first


@bagged
def test_warm_start_that_began_without_it(name):
    """The estimate of one fit, or a refusal that leaves the forest as it was."""
    X, labels = mixed_frame(9, 60)
    y = target_of(name, labels)
    warm = forest_of(name, n_estimators=5, warm_start=True).fit(X, y)
    assert not hasattr(warm, "oob_score_")
    before, refusal = told(warm, X), None
    try:
        warm.set_params(**ENOUGH).fit(X, y)
    except ValueError as error:
        refusal = str(error)
    if refusal is None:
        whole = forest_of(name, **ENOUGH).fit(X, y)
        assert_array_equal(estimate_of(warm), estimate_of(whole))
    else:
        assert "oob_score" in refusal
        assert_array_equal(told(warm, X), before)


@bagged
def test_the_estimate_goes_when_it_is_not_asked_for(name):
    X, labels = mixed_frame(9, 60)
    y = target_of(name, labels)
    forest = forest_of(name, warm_start=True, **ENOUGH).fit(X, y)
    assert hasattr(forest, "oob_score_")
    forest.set_params(oob_score=False, n_estimators=30).fit(X, y)
    assert not hasattr(forest, "oob_score_")
    assert not hasattr(forest, "oob_decision_function_")
    assert not hasattr(forest, "oob_prediction_")


@bagged
def test_warm_start_on_fewer_rows(name):
    """The rows of the first trees are not there any more."""
    X, labels = mixed_frame(9, 60)
    y = target_of(name, labels)
    forest = forest_of(name, warm_start=True, **ENOUGH).fit(X, y)
    before = forest.oob_score_
    some = np.concatenate([np.arange(30), [31]])
    assert name not in CLASSIFIERS or set(labels[some]) == set(labels)
    with pytest.raises(ValueError, match="oob_score needs the rows of all trees"):
        forest.set_params(n_estimators=30).fit(X.iloc[some], y[some])
    assert forest.oob_score_ == before
    assert len(forest.estimators_) == 25


@bagged
def test_warm_start_on_rows_in_another_order(name):
    """Rows of the first trees are found again, or it is refused; none judges itself."""
    rng = np.random.default_rng(0)
    X, y = rng.random((100, 3)), rng.integers(0, 2, 100)
    forest = forest_of(name, warm_start=True, **ENOUGH).fit(X, y)
    assert forest.oob_score_ < 0.7
    order = rng.permutation(100)
    with contextlib.suppress(ValueError):
        forest.set_params(n_estimators=26).fit(X[order], y[order])
    assert forest.oob_score_ < 0.7


@bagged
def test_no_estimate_by_default(name):
    X, labels = mixed_frame(9, 60)
    forest = forest_of(name).fit(X, target_of(name, labels))
    assert not any(key.startswith("oob_") and key.endswith("_") for key in vars(forest))


@bagged
def test_order_of_rows(name):
    """Estimates stay with their rows."""
    X, labels = mixed_frame(10, 60)
    y = target_of(name, labels)
    order = np.random.default_rng(0).permutation(60)
    plain = forest_of(name, **ENOUGH).fit(X, y)
    shuffled = forest_of(name, **ENOUGH).fit(X.iloc[order], y[order])
    assert_array_equal(estimate_of(shuffled), estimate_of(plain)[order])


@pytest.mark.parametrize("name", [name for name in BAGGED if name in CLASSIFIERS])
@pytest.mark.parametrize("load", [load_breast_cancer, load_digits])
def test_accuracy_is_that_on_other_rows(name, load):
    X, y = load(return_X_y=True)
    X, y = X[:1200], y[:1200]
    half = np.arange(len(X)) % 2 == 0
    forest = forest_of(name, n_estimators=60, oob_score=True)
    forest.fit(X[half], y[half])
    assert abs(forest.oob_score_ - forest.score(X[~half], y[~half])) < 0.03


def test_r2_is_that_on_other_rows():
    X, y = load_diabetes(return_X_y=True)
    forest = forest_of("breiman-r", n_estimators=60, oob_score=True, random_state=1)
    held_out = cross_val_predict(forest, X, y, cv=10)
    assert abs(forest.fit(X, y).oob_score_ - r2_score(y, held_out)) < 0.03
    assert forest.oob_score_ < forest.score(X, y) - 0.2


@bagged
def test_a_warm_fit_without_new_trees_knows_its_rows(name):
    """The rows of the trees are those of the fit that grew them."""
    X, labels = mixed_frame(8, 60)
    y = target_of(name, labels)
    forest = forest_of(name, **ENOUGH, warm_start=True).fit(X, y)
    first = forest.oob_score_
    with pytest.warns(UserWarning, match="no tree is added"):
        assert forest.fit(X, y).oob_score_ == first
    turned = np.arange(60)[::-1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="same rows in the same order"):
            forest.fit(X.iloc[turned], np.asarray(y)[turned])


@bagged
def test_trees_of_unknown_rows(name):
    """Rows are known again only if somebody might have asked when they were read."""
    X, labels = mixed_frame(8, 60)
    y = target_of(name, labels)
    forest = forest_of(name, n_estimators=3).fit(X, y)
    forest.set_params(warm_start=True, oob_score=True, n_estimators=30)
    with pytest.raises(ValueError, match="their rows are not known any more"):
        forest.fit(X, y)


@bagged
def test_rows_of_weight_0_do_not_count(name):
    """The score is that of a fit without them."""
    X, labels = mixed_frame(9, 80)
    y = np.asarray(target_of(name, labels))
    wrong = np.arange(80) % 4 == 0
    y_wrong = np.where(wrong, np.roll(y, 3), y)
    weight = np.where(wrong, 0.0, 1.0)
    with_zeros = forest_of(name, **ENOUGH).fit(X, y_wrong, sample_weight=weight)
    without = forest_of(name, **ENOUGH).fit(X[~wrong], y_wrong[~wrong])
    assert with_zeros.oob_score_ == without.oob_score_


def test_labels_of_another_type_are_the_same_rows():
    X, y = load_breast_cancer(return_X_y=True)
    forest = forest_of("breiman", **ENOUGH, warm_start=True).fit(X, y)
    forest.set_params(n_estimators=30).fit(X, y.astype(float))
    assert forest.oob_score_ > 0.9
