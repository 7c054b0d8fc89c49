# SPDX-License-Identifier: BSD-3-Clause
"""Weights of rows and classes, where they are easy to get wrong."""

import numpy as np
import pytest

from mrforest import MultinomialForestClassifier


@pytest.mark.parametrize("leaf_rule", ["stop", "floor"])
def test_a_tree_whose_structure_points_weigh_nothing(leaf_rule):
    rng = np.random.default_rng(0)
    X, y = rng.random((40, 3)), np.repeat([0, 1, 2], [18, 18, 4])
    forest = MultinomialForestClassifier(
        50,
        class_weight={0: 0, 1: 0, 2: 1},
        min_samples_leaf=1,
        leaf_rule=leaf_rule,
        random_state=0,
    ).fit(X, y)
    # Some tree has no row of class 2 among its structure points.
    assert any((y[forest.structure_samples(t)] != 2).all() for t in range(50))
    assert np.isfinite(forest.structure_importances_).all()
    assert np.isfinite(forest.predict_proba(X)).all()


def test_balanced_classes_with_real_weights_do_not_see_the_order_of_rows():
    rng = np.random.default_rng(0)
    X, y, weight = rng.random((3000, 2)), rng.integers(0, 3, 3000), rng.random(3000)
    forest = MultinomialForestClassifier(2, class_weight="balanced", random_state=0)
    decreases = set()
    for _ in range(5):
        order = rng.permutation(3000)
        forest.fit(X[order], y[order], sample_weight=weight[order])
        decreases.add(forest.structure_importances_.tobytes())
    assert len(decreases) == 1


def test_balanced_classes_weigh_the_same():
    """A leaf with the class counts of the whole table knows nothing."""
    X, y = np.zeros((300, 1)), np.repeat([0, 1, 2], [200, 90, 10])
    forest = MultinomialForestClassifier(
        200, class_weight="balanced", voting="soft", random_state=0
    )
    mean = forest.fit(X, y).predict_proba([[0.0]])[0]
    np.testing.assert_allclose(mean, 1 / 3, atol=0.03)


def test_voting_is_checked_again_when_it_is_used():
    forest = MultinomialForestClassifier(2, random_state=0)
    forest.fit([[0.0], [1.0]], [0, 1]).set_params(voting="softt")
    with pytest.raises(ValueError, match=r"voting='softt' must be 'hard' or 'soft'"):
        forest.predict([[0.0]])


@pytest.mark.parametrize("tree", [1.5, "0", None])
def test_the_number_of_a_tree_is_whole(tree):
    forest = MultinomialForestClassifier(2, random_state=0).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(TypeError, match="integer"):
        forest.structure_samples(tree)
