# SPDX-License-Identifier: BSD-3-Clause
"""Trees of order cuts lead rows where trees with equality cuts do."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mrforest.interop import _order_cuts, shap_values, to_onnx, to_sklearn
from mrforest.interop._order_cuts import as_it_is, by_order
from mrforest.model.arrays import FlatForest
from mrforest.model.nodes import EQUALITY, FEATURE_MASK
from tests.interop.tables import fitted_classifier, fitted_regressor
from tests.interop.trees import N_FEATURES, grid, leaves_of, random_forest

seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds)
def test_rows_go_to_the_same_leaves(seed):
    flat = random_forest(seed)
    shape = by_order(flat)
    assert not shape.trees.has_equality
    # A part of the table for each leaf of the one and the other
    X = np.concatenate([grid(shape.trees), grid(flat)])
    expected, found = leaves_of(flat, X), leaves_of(shape.trees, X)
    np.testing.assert_array_equal(shape.leaf[found], expected)


@given(seed=seeds)
def test_no_node_of_a_copy_is_out_of_reach(seed):
    flat = random_forest(seed)
    flags = flat.nodes["feature"][flat.nodes["child"] >= 0]
    asked = np.unique(flags[(flags & EQUALITY) != 0] & FEATURE_MASK)
    # Of other features nothing is left out.
    assume(len(asked) == N_FEATURES)
    trees = by_order(flat).trees
    reached = np.unique(leaves_of(trees, grid(trees)))
    assert len(reached) == len(trees.leaf_points)


@given(seed=seeds)
def test_copies_share_the_points(seed):
    flat = random_forest(seed)
    shape = by_order(flat)
    reached = np.unique(shape.leaf)
    points = np.bincount(shape.leaf, shape.trees.leaf_points)
    np.testing.assert_array_equal(
        points[reached], np.maximum(flat.leaf_points, 1)[reached]
    )
    n_copies = np.bincount(shape.leaf)
    np.testing.assert_array_equal(shape.n_copies, n_copies[shape.leaf])
    share = points[shape.leaf] / shape.n_copies
    assert (np.abs(shape.trees.leaf_points - share) < 1).all()


def test_trees_without_equality_stay_as_they_are():
    flat = random_forest(0)
    flat.nodes["feature"] &= ~EQUALITY
    flat = FlatForest(flat.nodes, flat.tree_start, flat.leaf_offset, flat.leaf_points)
    assert by_order(flat).trees.nodes is flat.nodes


@pytest.mark.parametrize("make", [fitted_classifier, fitted_regressor])
def test_fitted_forests(make):
    forest, X = make(share_missing=0.1)
    flat = forest._forest
    shape = by_order(flat)
    expected, found = leaves_of(flat, X), leaves_of(shape.trees, X)
    np.testing.assert_array_equal(shape.leaf[found], expected)
    # Every leaf of a fitted tree can be reached.
    assert len(np.unique(shape.leaf)) == len(flat.leaf_points)
    assert shape.trees.leaf_points.sum() == flat.leaf_points.sum()
    assert len(shape.trees.nodes) > len(flat.nodes)


def test_too_many_copies(monkeypatch):
    forest, X = fitted_classifier()
    n_nodes = len(forest._forest.nodes)
    monkeypatch.setattr(_order_cuts, "MOST_NODES", 2 * n_nodes)
    monkeypatch.setattr(_order_cuts, "MOST_TIMES", 2)
    with pytest.raises(ValueError, match=rf"than {2 * n_nodes:,} nodes.*equality_cuts"):
        to_sklearn(forest)
    assert len(as_it_is(forest._forest).trees.nodes) == n_nodes
    # They need no copies.
    pytest.importorskip("skl2onnx")
    to_onnx(forest)
    pytest.importorskip("shap")
    shap_values(forest, X[:2])
