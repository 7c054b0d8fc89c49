# SPDX-License-Identifier: BSD-3-Clause
"""`min_weight_fraction_leaf`: every leaf has that share of the weight of its tree."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.forests.every import CLASSIFIERS, TUNED, forest_of, having, target_of
from tests.forests.frames import mixed_frame
from tests.forests.points import filling_rows

NAMES = having("min_weight_fraction_leaf")
every = pytest.mark.parametrize("name", NAMES)
CLASS_WEIGHT = {"none": 0.3, "some": 1.0, "many": 5.0, "most": 2.0}
SHARE = 0.08
CASES = [(name, None) for name in NAMES]
CASES += [(name, CLASS_WEIGHT) for name in NAMES if name in CLASSIFIERS]


@pytest.mark.parametrize(("name", "class_weight"), CASES)
@pytest.mark.parametrize("weights", [None, "whole", "real"])
def test_least_share_of_a_leaf(name, class_weight, weights):
    X, labels = mixed_frame(7, 150)
    y = target_of(name, labels)
    rng = np.random.default_rng(7)
    weight = {
        None: np.ones(150),
        "whole": rng.integers(0, 4, 150).astype(float),
        "real": rng.random(150) ** 3,
    }[weights]
    forest = forest_of(
        name,
        n_estimators=5,
        min_samples_split=2,
        class_weight=class_weight,
        min_weight_fraction_leaf=SHARE,
    ).fit(X, y, sample_weight=None if weights is None else weight)
    # Rows of whole weight are named as often as they count.
    of_row = weight if weights == "real" or name in TUNED else np.ones(150)
    if class_weight is not None:
        of_row = of_row * [class_weight[label] for label in labels]
    leaves = forest.apply(X)
    smallest = 1.0
    for tree in range(5):
        rows = filling_rows(forest, tree)
        shares = np.bincount(leaves[rows, tree], weights=of_row[rows])
        shares = shares[np.unique(leaves[rows, tree])] / of_row[rows].sum()
        assert len(shares) == forest.n_leaves_[tree]
        assert shares.min() >= SHARE * (1 - 1e-9)
        smallest = min(smallest, shares.min())
    # The limit is felt: the smallest leaf is not much larger.
    assert forest.n_leaves_.max() > 1
    assert smallest < 3 * SHARE


@every
def test_no_limit_by_default(name):
    X, labels = mixed_frame(7, 100)
    y = target_of(name, labels)
    plain = forest_of(name, min_samples_split=2).fit(X, y)
    zero = forest_of(name, min_samples_split=2, min_weight_fraction_leaf=0.0).fit(X, y)
    assert_array_equal(zero.apply(X), plain.apply(X))
    tiny = forest_of(name, min_samples_split=2, min_weight_fraction_leaf=1e-9)
    # In a centered tree a child without points is too light.
    if name != "centered":
        assert_array_equal(tiny.fit(X, y).apply(X), plain.apply(X))


@pytest.mark.parametrize("name", ["random-all", "range", "comparison-s"])
def test_halves(name):
    """0.5 allows a split into equal halves, and no other."""
    X = np.array([[0.0], [1.0]] * 20)
    y = np.array([0, 1] * 20)
    params = {"min_samples_split": 2, "min_weight_fraction_leaf": 0.5}
    assert_array_equal(forest_of(name, **params).fit(X, y).n_leaves_, np.full(4, 2))
    weight = np.where(y == 0, 1.0, 1.001)
    forest = forest_of(name, **params).fit(X, y, sample_weight=weight)
    assert_array_equal(forest.n_leaves_, np.ones(4))
    # Class weights make up for it.
    weights = {0: 1.001, 1: 1.0}
    forest = forest_of(name, class_weight=weights, **params)
    assert_array_equal(forest.fit(X, y).n_leaves_, np.ones(4))
