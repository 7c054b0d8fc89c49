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
from mrforest.model.engines import LIMITS, NODE_WORK, Engine, Sizes, coded_nodes
from mrforest.model.nodes import EQUALITY, MISSING_LEFT
from tests.model.plain_walk import walk

VALUES = [-math.inf, -1.5, -0.0, 0.0, 0.1, 1.0, 2.0, 5e-324, 1e300, math.inf]


def find_nodes(X, nodes, tree_start, coded):
    out = np.empty((len(X), len(tree_start) - 1), dtype=np.int32)
    has_equality = bool((nodes["feature"] & EQUALITY).any())
    _core.find_nodes(_core.Rows(X, nodes, tree_start, has_equality, coded), out)
    return out


@st.composite
def trees(draw, n_features):
    """Nodes breadth first; children are neighbours."""
    n_splits = draw(st.integers(0, 24))
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
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(LIMITS, Engine.SLIM_CODES, Sizes(0, 0))
        wide = coded_nodes(nodes, tree_start)
    # Lists with thresholds that no node has
    ascending = sorted(VALUES, key=lambda value: (value, math.copysign(1, value)))
    cuts = np.tile(ascending, n_features)
    lists = cuts, np.arange(n_features + 1) * len(ascending)
    listed = coded_nodes(nodes, tree_start, lists)
    threaded = coded_nodes(nodes, tree_start, lists, n_threads=3, wide=True)
    for kind in (None, coded, wide, listed, threaded):
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
    assert "_coded_nodes" not in vars(pickle.loads(before)._forest)
    together = forest.predict_proba(X)
    assert forest._forest._coded(1) is not None
    np.testing.assert_array_equal(together[:200], one_by_one)
    for n_jobs in (2, 3):
        forest.n_jobs = n_jobs
        np.testing.assert_array_equal(forest.predict_proba(X), together)
    forest.n_jobs = 1
    assert pickle.dumps(forest) == before


@pytest.mark.parametrize("n", [16, 17, 33, 65, 129, 256, 257])
def test_columns_of_any_number(n):
    """Codes of a row take a power of two of bytes, or as many as there are columns."""
    rng = np.random.default_rng(n)
    nodes, tree_start = stumps(rng.normal(size=3 * n))
    nodes["feature"][::3] = np.tile(rng.permutation(n), 3)
    coded = coded_nodes(nodes, tree_start)
    assert coded.stride == (n if n > 256 else max(16, 2 ** math.ceil(math.log2(n))))
    X = rng.normal(size=(21, n))
    found = find_nodes(X, nodes, tree_start, coded)
    np.testing.assert_array_equal(found, find_nodes(X, nodes, tree_start, None))


def test_a_child_far_ahead_needs_wide_nodes():
    """A tree whose last level is too far from the one above for two bytes."""
    nodes = np.zeros(2**18 - 1, dtype=_core.NODE_DTYPE)
    is_inner = np.arange(len(nodes)) < len(nodes) // 2
    nodes["child"] = np.where(is_inner, 2 * np.arange(len(nodes)) + 1, -1)
    nodes["threshold"] = np.arange(len(nodes)) % 250
    X = np.random.default_rng(0).uniform(-1, 251, (30, 1))
    tree_start = np.array([0, len(nodes)])
    coded = coded_nodes(nodes, tree_start)
    assert coded.stride == coded.n_columns
    found = find_nodes(X, nodes, tree_start, coded)
    np.testing.assert_array_equal(found, find_nodes(X, nodes, tree_start, None))


@pytest.mark.parametrize(
    ("voting", "made"), [("hard", "_vote_trees"), ("soft", "_coded_nodes")]
)
def test_codes_are_made_when_many_rows_have_come(voting, made):
    X, y = make_classification(400, random_state=0)
    forest = MultinomialForestClassifier(5, voting=voting, random_state=0).fit(X, y)
    n_rows = math.ceil(NODE_WORK * len(forest._forest.nodes) / 5)
    for _ in range(n_rows - 1):
        assert made not in vars(forest._forest)
        forest.predict(X[:1])
    assert made not in vars(forest._forest)
    forest.predict(X[:1])
    assert made in vars(forest._forest)
