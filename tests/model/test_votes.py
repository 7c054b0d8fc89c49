# SPDX-License-Identifier: BSD-3-Clause
"""Votes and shares of many rows are those of one row after the other."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification

from mrforest import BreimanForestClassifier, MultinomialForestClassifier, _core
from mrforest.model.engines import SET_ROWS
from mrforest.model.leaves import ClassForest, VoteTrees
from mrforest.model.nodes import EQUALITY, MISSING_LEFT
from tests.model.plain_walk import walk

# More cuts of a feature than are compared one by one
VALUES = [-math.inf, -0.0, 5e-324, *np.arange(1.0, 25.0), 1e300, math.inf]


def random_tree(rng, n_splits, n_features, values, flags):
    """Nodes in any order that has children after their parents."""
    nodes = np.zeros(2 * n_splits + 1, dtype=_core.NODE_DTYPE)
    waiting, n_nodes = [0], 1
    for _ in range(n_splits):
        at = waiting.pop(rng.integers(len(waiting)))
        feature = int(rng.integers(n_features)) | int(rng.choice(flags))
        nodes[at] = (rng.choice(values), feature, n_nodes)
        waiting += [n_nodes, n_nodes + 1]
        n_nodes += 2
    nodes["child"][waiting] = -1 - np.arange(len(waiting))
    return nodes


def random_forest(rng, sizes, n_features, n_classes, values=VALUES, flags=(0,)):
    """Trees of so many splits; some leaves have mass of no, one or several classes."""
    trees = []
    for n_splits in sizes:
        n_masses = rng.integers(0, n_classes + 1, n_splits + 1)
        labels = [np.sort(rng.permutation(n_classes)[:n]) for n in n_masses]
        tree = {
            "nodes": random_tree(rng, n_splits, n_features, values, flags),
            "leaf_points": n_masses.astype(np.uint32),
            "leaf_label": rng.integers(n_classes, size=n_splits + 1, dtype=np.uint16),
            "mass_start": np.cumsum([0, *n_masses]),
            "mass_class": np.concatenate(labels).astype(np.uint16),
            "mass": rng.integers(0, 7, n_masses.sum()).astype(np.float32),
        }
        trees.append(ClassForest.from_tree(tree))
    return ClassForest.join(trees)


def leaf_of(nodes, row):
    """Number of the leaf of a row."""
    return -1 - nodes["child"][walk(nodes, row)]


def votes_of(forest, X, n_classes):
    votes = np.zeros((len(X), n_classes), dtype=np.int32)
    for t in range(len(forest)):
        tree = forest[t]
        for i, row in enumerate(X):
            votes[i, tree.leaf_label[leaf_of(tree.nodes, row)]] += 1
    return votes


def shares_of(forest, X, n_classes):
    shares = np.zeros((len(X), n_classes))
    for t in range(len(forest)):
        tree = forest[t]
        for i, row in enumerate(X):
            leaf = leaf_of(tree.nodes, row)
            own = slice(*tree.mass_start[leaf : leaf + 2])
            whole = 0.0
            for mass in tree.mass[own]:
                whole += float(mass)
            if whole > 0:
                of_classes = tree.mass[own].astype(float) / whole
                shares[i, tree.mass_class[own]] += of_classes
            else:
                shares[i] += 1 / n_classes
    return shares


@st.composite
def cases(draw, allowed):
    """A forest, rows and the number of classes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_features = draw(st.integers(1, 7))
    # With one value all columns have one cut, and features are read together.
    values = draw(st.sampled_from([VALUES, VALUES[3:5], [1.0]]))
    flags = draw(st.sampled_from([(0,), (0, EQUALITY), (0, MISSING_LEFT, EQUALITY)]))
    n_classes = draw(st.integers(1, 10))
    sizes = draw(st.lists(st.integers(0, 40), min_size=1, max_size=9))
    forest = random_forest(rng, sizes, n_features, n_classes, values, flags)
    n_rows = draw(st.integers(1, 150))
    X = rng.choice([*values, 0.5, -3.0, 7.5, *allowed], (n_rows, n_features))
    return forest, X, n_classes


@given(case=cases(allowed=[]))
def test_bit_votes_are_the_votes(case):
    forest, X, n_classes = case
    trees = VoteTrees(forest, n_classes, X.shape[1])
    expected = votes_of(forest, X, n_classes)
    walked = np.zeros_like(expected)
    trees.count_votes(X, walked)  # fewer rows than make a set
    np.testing.assert_array_equal(walked, expected)
    assert (trees.bit_votes is None) == (trees.coded is None)
    if trees.bit_votes is not None:
        counted = np.full_like(expected, 77)
        assert trees.bit_votes.count_votes(X, counted) == len(X)
        np.testing.assert_array_equal(counted, expected)


@given(case=cases(allowed=[math.nan]))
def test_rows_with_missing_values_are_left(case):
    forest, X, n_classes = case
    trees = VoteTrees(forest, n_classes, X.shape[1])
    votes = np.zeros((len(X), n_classes), dtype=np.int32)
    trees.count_votes(X, votes)
    np.testing.assert_array_equal(votes, votes_of(forest, X, n_classes))
    if trees.bit_votes is not None:
        read = trees.bit_votes.count_votes(X, np.zeros_like(votes))
        assert read == (0 if np.isnan(X).any() else len(X))


@given(case=cases(allowed=[math.nan]))
def test_shares_are_made_once(case):
    forest, X, n_classes = case
    masses = forest.mass_start, forest.mass_class, forest.mass
    rows = _core.Rows(X, forest.nodes, forest.tree_start, forest.has_equality, None)
    one_by_one, made = np.zeros((2, len(X), n_classes))
    _core.add_shares(rows, forest.leaf_offset, *masses, one_by_one)
    leaf_shares = _core.LeafShares(forest.nodes, forest.leaf_offset, *masses, n_classes)
    for first in range(0, len(forest), 2):  # some trees at a time
        leaf_shares.lay_out(forest.tree_start[first : first + 3], first)
    _core.add_leaf_shares(rows, leaf_shares, made)
    expected = shares_of(forest, X, n_classes)
    np.testing.assert_array_equal(one_by_one, expected)
    np.testing.assert_array_equal(made, expected)


@pytest.mark.parametrize("has_missing", [False, True])
def test_several_sets_of_rows(has_missing):
    rng = np.random.default_rng(1)
    forest = random_forest(rng, [30] * 5, 3, 3)
    X = rng.choice([*VALUES, 2.5], (3 * SET_ROWS + 77, 3))
    if has_missing:  # in the second set and among the last rows
        X[[SET_ROWS + 5, -3], 1] = math.nan
    votes = np.zeros((len(X), 3), dtype=np.int32)
    VoteTrees(forest, 3, 3).count_votes(X, votes)
    np.testing.assert_array_equal(votes, votes_of(forest, X, 3))


def test_more_trees_than_a_count_holds():
    rng = np.random.default_rng(2)
    forest = random_forest(rng, rng.integers(0, 4, 600), 2, 2)
    X = rng.choice(VALUES, (70, 2))
    votes = np.zeros((len(X), 2), dtype=np.int32)
    assert VoteTrees(forest, 2, 2).bit_votes.count_votes(X, votes) == len(X)
    np.testing.assert_array_equal(votes, votes_of(forest, X, 2))


def test_more_sets_than_the_cache_holds():
    rng = np.random.default_rng(3)
    forest = random_forest(rng, [3000], 4, 4)
    X = rng.choice([*VALUES, 2.5, 9.5], (300, 4))
    votes = np.zeros((len(X), 4), dtype=np.int32)
    assert VoteTrees(forest, 4, 4).bit_votes.count_votes(X, votes) == len(X)
    np.testing.assert_array_equal(votes, votes_of(forest, X, 4))


def test_a_part_that_votes_alike_is_a_leaf():
    forest = random_forest(np.random.default_rng(4), [50] * 20, 3, 2)
    trees = VoteTrees(forest, 2, 3)
    labels = _core.common_labels(
        forest.nodes, forest.tree_start, forest.leaf_offset, forest.leaf_label
    )
    np.testing.assert_array_equal(trees.nodes["child"] < 0, labels >= 0)
    for t in range(len(forest)):
        tree, first = forest[t], forest.tree_start[t]

        def below(at, tree=tree):
            child = tree.nodes["child"][at]
            if child < 0:
                return {int(tree.leaf_label[-1 - child])}
            return below(child) | below(child + 1)

        for at in range(len(tree.nodes)):
            found = below(at)
            assert labels[first + at] == (found.pop() if len(found) == 1 else -1)


@pytest.mark.parametrize("kind", [MultinomialForestClassifier, BreimanForestClassifier])
@pytest.mark.parametrize("voting", ["hard", "soft"])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_many_rows_are_told_as_each_is(kind, voting, n_classes):
    X, y = make_classification(
        2500, n_classes=n_classes, n_informative=6, random_state=0
    )
    X[::7, 3] = np.round(X[::7, 3])
    forest = kind(20, voting=voting, random_state=0, n_jobs=1).fit(X, y)
    one_by_one = np.concatenate([forest.predict_proba(x[np.newaxis]) for x in X[:300]])
    for n_jobs in (1, 2, 3):
        forest.n_jobs = n_jobs
        np.testing.assert_array_equal(forest.predict_proba(X)[:300], one_by_one)
