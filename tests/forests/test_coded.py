# SPDX-License-Identifier: BSD-3-Clause
"""Rows reach the same leaves in codes as they do by their values."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification

from mrforest import BreimanForestClassifier, MultinomialForestClassifier, _core
from mrforest.forests._coded import coded_nodes
from mrforest.forests._nodes import EQUALITY, FEATURE_MASK, MISSING_LEFT

VALUES = [-math.inf, -1.5, -0.0, 0.0, 0.1, 1.0, 2.0, 5e-324, 1e300, math.inf]


def walk(tree, row):
    """Find the leaf of a row, one node after the other."""
    at = 0
    while tree["child"][at] >= 0:
        flags = tree["feature"][at]
        x, threshold = row[flags & FEATURE_MASK], tree["threshold"][at]
        if math.isnan(x):
            goes_left = flags & MISSING_LEFT
        elif flags & EQUALITY:
            goes_left = x == threshold
        else:
            goes_left = x <= threshold
        at = tree["child"][at] + (not goes_left)
    return at


def find_nodes(X, nodes, tree_start, coded):
    out = np.empty((len(X), len(tree_start) - 1), dtype=np.int32)
    has_equality = bool((nodes["feature"] & EQUALITY).any())
    _core.find_nodes(_core.Rows(X, nodes, tree_start, has_equality, coded), out)
    return out


@st.composite
def trees(draw, n_features):
    """Nodes breadth first; children are neighbours."""
    n_splits = draw(st.integers(0, 12))
    nodes = np.zeros(2 * n_splits + 1, dtype=_core.NODE_DTYPE)
    nodes["child"] = -1
    waiting, n_nodes = [0], 1
    for _ in range(n_splits):
        at = waiting.pop(draw(st.integers(0, len(waiting) - 1)))
        flags = draw(st.sampled_from([0, MISSING_LEFT, EQUALITY]))
        nodes[at] = (
            draw(st.sampled_from(VALUES)),
            draw(st.integers(0, n_features - 1)) | int(flags),
            n_nodes,
        )
        waiting += [n_nodes, n_nodes + 1]
        n_nodes += 2
    return nodes


@given(data=st.data())
def test_same_leaves_as_one_node_after_the_other(data):
    n_features = data.draw(st.integers(1, 3))
    forest = data.draw(st.lists(trees(n_features), min_size=1, max_size=4))
    nodes = np.concatenate(forest)
    tree_start = np.cumsum([0, *map(len, forest)])
    allowed = st.sampled_from([*VALUES, 0.05, -7.0, math.nan])
    rows = st.lists(allowed, min_size=n_features, max_size=n_features)
    # More and fewer rows than go side by side
    X = np.array(data.draw(st.lists(rows, min_size=1, max_size=20)))
    expected = [[walk(tree, row) for tree in forest] for row in X]
    coded = coded_nodes(nodes, tree_start)
    assert (coded is None) == all(len(tree) == 1 for tree in forest)
    for kind in (None, coded):
        np.testing.assert_array_equal(
            find_nodes(X, nodes, tree_start, kind), expected, strict=False
        )


def stumps(thresholds, flags=0):
    """Trees of one split each, all of feature 0."""
    nodes = np.zeros(3 * len(thresholds), dtype=_core.NODE_DTYPE)
    nodes["child"] = -1
    nodes["child"][::3] = 1
    nodes["threshold"][::3] = thresholds
    nodes["feature"][::3] = flags
    return nodes, np.arange(0, len(nodes) + 1, 3)


@pytest.mark.parametrize("n", [255, 256, 2**16 - 1])
def test_many_thresholds(n):
    thresholds = np.random.default_rng(n).permutation(n).astype(float)
    nodes, tree_start = stumps(thresholds)
    coded = coded_nodes(nodes, tree_start)
    assert coded.is_wide == (n > 255)
    X = np.array([[-1.0], [0.0], [0.5], [n - 2.0], [n - 1.0], [n]])
    found = find_nodes(X, nodes, tree_start, coded)
    np.testing.assert_array_equal(found, 1 + (thresholds < X))


@pytest.mark.parametrize("flags", [0, EQUALITY])
def test_too_many_thresholds_are_left_as_they_are(flags):
    assert coded_nodes(*stumps(np.arange(2.0**16), flags)) is None


def test_a_category_is_a_column():
    thresholds = np.array([3.0, 1.0, 3.0, 7.0])
    nodes, tree_start = stumps(thresholds, EQUALITY)
    coded = coded_nodes(nodes, tree_start)
    assert coded.n_columns == 3
    X = np.array([[1.0], [3.0], [7.0], [2.0]])
    found = find_nodes(X, nodes, tree_start, coded)
    np.testing.assert_array_equal(found, 1 + (thresholds != X))


@pytest.mark.parametrize("max_bins", [255, "exact"])
@pytest.mark.parametrize("kind", [MultinomialForestClassifier, BreimanForestClassifier])
def test_predictions_do_not_depend_on_codes(kind, max_bins):
    X, y = make_classification(1500, n_classes=3, n_informative=6, random_state=0)
    forest = kind(10, max_bins=max_bins, n_jobs=1, random_state=0).fit(X, y)
    before = pickle.dumps(forest)
    one_by_one = np.concatenate([forest.predict_proba(x[np.newaxis]) for x in X[:200]])
    assert "_coded" not in vars(pickle.loads(before)._forest)
    together = forest.predict_proba(X)
    assert forest._forest._coded is not None
    np.testing.assert_array_equal(together[:200], one_by_one)
    for n_jobs in (2, 3):
        forest.n_jobs = n_jobs
        np.testing.assert_array_equal(forest.predict_proba(X), together)
    forest.n_jobs = 1
    assert pickle.dumps(forest) == before


def test_codes_are_made_when_many_rows_have_come():
    X, y = make_classification(400, random_state=0)
    forest = MultinomialForestClassifier(5, random_state=0).fit(X, y)
    for _ in range(2 * len(forest._forest.nodes) // 5):
        assert "_coded" not in vars(forest._forest)
        forest.predict(X[:1])
    forest.predict(X[:1])
    assert "_coded" in vars(forest._forest)
