# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the twin's stop rules, weights and of whole trees on random tables."""

import numpy as np
import pytest

from tests.leaves import leaf_options
from tests.naive.cases import GREEDY, INF, NAN, random_rows, six_rows, table_of
from tests.naive.grow import Node, Params, Tree, candidates, grow
from tests.naive.importance import estimation_importance
from tests.naive.predict import apply, soft_probabilities, votes
from tests.naive.rng import Stream, child_path, tree_key
from tests.naive.rules import Multinomial
from tests.naive.sample import partition
from tests.naive.score import class_counts, tolerance_of

KEY = tree_key(0, 0)


def test_stop_rule():
    """At most k estimation points, one class, or an empty child make a leaf."""
    _, table = six_rows()
    params = Params(**GREEDY, min_samples_split=4)
    assert len(grow(table, range(6), [0, 3, 5], KEY, params).nodes) == 1
    assert len(grow(table, range(6), [0, 3, 4, 5], KEY, params).nodes) == 3
    assert len(grow(table, [0, 1, 2], range(6), KEY, params).nodes) == 1
    # The best cut is at 3.5, where the left child would have no estimation point.
    tree = grow(table, range(6), [3, 4, 4, 5], KEY, params)
    assert len(tree.nodes) == 1
    assert tree.nodes[0].masses.tolist() == [0, 3, 1]
    assert tree.nodes[0].label == 1


def test_floor_rule():
    """Fewer than 2k estimation points make a leaf, one class does not."""
    _, table = six_rows()
    params = Params(**GREEDY, **leaf_options("floor", 2))
    assert len(grow(table, range(6), [0, 3, 4], KEY, params).nodes) == 1
    # Rows 3, 3 below and 4, 5 above the only cuts with two points on each side.
    tree = grow(table, range(6), [3, 3, 4, 5], KEY, params)
    assert tree.nodes[0].threshold == 4.5
    assert [node.n_estimation for node in tree.nodes] == [4, 2, 2]
    # A node of one class is split all the same.
    assert len(grow(table, [0, 1, 2], range(6), KEY, params).nodes) > 1


def test_max_depth_and_trivial_trees():
    """Depth 0 is a leaf, and so is a node without structure points."""
    _, table = six_rows()
    params = Params(**GREEDY, min_samples_split=2, max_depth=0)
    assert len(grow(table, range(6), range(6), KEY, params).nodes) == 1
    for rule in ("stop", "floor"):
        params = Params(**leaf_options(rule, 1))
        assert len(grow(table, [], range(6), KEY, params).nodes) == 1
        assert len(grow(table, range(6), [], KEY, params).nodes) == 1


def test_draws_of_the_root_and_its_children():
    """Budget 0 picks feature and cut by the node's first two uniform numbers."""
    X = np.array([[i, 7 - i, i % 4] for i in range(8)])
    table = table_of(X, [0, 1] * 4)
    params = Params(Multinomial(0, 0), 0, **leaf_options("floor", 1))
    for t in range(20):
        key = tree_key(5, t)
        nodes = grow(table, range(8), range(8), key, params).nodes
        stream = Stream(key, 1, 1)
        feature = int(stream.uniform() * 3)
        cuts = table.cuts[feature]
        threshold = cuts[int(stream.uniform() * len(cuts))]
        assert (nodes[0].feature, nodes[0].threshold) == (feature, threshold)
        for side in (0, 1):
            node = nodes[1 + side]
            if node.feature is None:
                label = int(Stream(key, child_path(1, side), 2).uniform() * 2)
                assert node.label == label


def test_weights():
    """Masses add up as integers, class weights multiply the sums."""
    mass = np.array([1, 2, 3, 4, 5, 6])
    X, _ = six_rows()
    table = table_of(X, [0, 0, 0, 1, 1, 2], mass=mass)
    assert class_counts(table, [0, 1, 3, 3]) == [3.0, 8.0, 0.0]
    table.class_weight = np.array([0.1, 1.0, 2.0])
    assert class_counts(table, [0, 1, 2, 5]) == [6 * 0.1, 0.0, 12.0]
    params = Params(criterion="entropy")
    assert tolerance_of(table, [5], params) == 1e-12 * 12
    # The larger side is the heavier one: row 5 is alone but has a mass of 6.
    found = candidates(table, [0, 1, 5], [], 0, params)
    assert [c.missing_left for c in found] == [False, False]
    tree = grow(table, range(6), range(6), KEY, Params(**GREEDY, max_depth=0))
    assert tree.nodes[0].masses.tolist() == [np.float32(6 * 0.1), 9.0, 12.0]
    assert tree.nodes[0].label == 2


def test_masses_of_one_change_nothing():
    """Masses of 1 and class weights of 1 give the tree without weights."""
    X, y = random_rows(1)
    s, e = partition(KEY, len(y), 0.5)
    params = Params(min_samples_split=3)
    plain = grow(table_of(X, y, [2]), s, e, KEY, params)
    ones = np.ones(len(y), dtype=np.int64)
    heavy = table_of(X, y, [2], mass=ones, class_weight=np.ones(4))
    weighted = grow(heavy, s, e, KEY, params)
    assert str(plain) == str(weighted)


def test_missing_alone_and_equality():
    """A tree may ask for missing alone, or for one category."""
    X = np.array([[0], [1], [2], [NAN], [NAN], [NAN]])
    table = table_of(X, [0, 0, 0, 1, 1, 1])
    params = Params(**GREEDY, min_samples_split=2)
    tree = grow(table, range(6), range(6), KEY, params)
    assert len(tree.nodes) == 3
    assert tree.nodes[0].threshold == INF
    assert not tree.nodes[0].missing_left
    assert apply(tree, [[INF], [NAN], [-5.0]]).tolist() == [1, 2, 1]

    X = np.array([[0], [1], [1], [2], [2], [NAN]])
    table = table_of(X, [0, 1, 1, 0, 0, 1], categorical=[0])
    tree = grow(table, range(6), range(6), KEY, params)
    root = tree.nodes[0]
    assert root.is_equality
    assert root.threshold == 1.0
    assert root.missing_left
    assert apply(tree, [[0.0], [1.0], [7.0], [NAN]]).tolist() == [2, 1, 2, 1]


@pytest.mark.parametrize("rule", ["stop", "floor"])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("budget", [0, 10, INF])
def test_random_trees(rule, criterion, budget):
    """Raw rows reach the leaves whose masses they make, whatever the options."""
    X, y = random_rows(int(min(budget, 99)))
    table = table_of(X, y, categorical=[2])
    params = Params(
        Multinomial(budget, budget),
        budget,
        **leaf_options(rule, 3),
        criterion=criterion,
    )
    trees = []
    for t in range(3):
        key = tree_key(11, t)
        s, e = partition(key, len(y), 0.5)
        tree = grow(table, s, e, key, params)
        trees.append(tree)
        leaves = apply(tree, X)
        for number, node in enumerate(tree.nodes):
            if node.feature is None:
                classes = y[e][leaves[e] == number]
                counts = np.bincount(classes, minlength=table.n_classes)
                assert node.masses.tolist() == counts.tolist()
                assert node.n_structure == (leaves[s] == number).sum()
                assert node.n_estimation >= (3 if rule == "floor" else 1)
        leaf_numbers = [node.leaf for node in tree.nodes if node.feature is None]
        assert leaf_numbers == list(range(len(leaf_numbers)))
        assert len(tree.nodes) == 2 * len(leaf_numbers) - 1
    assert max(len(tree.nodes) for tree in trees) > 5
    assert (votes(trees, X, table.n_classes).sum(axis=1) == 3).all()
    soft = soft_probabilities(trees, X, table.n_classes)
    assert soft.sum(axis=1) == pytest.approx(np.ones(len(X)))


def test_shallow_tree_is_a_prefix():
    """The splits of a tree of depth 2 are those of the deep tree."""
    X, y = random_rows(4)
    table = table_of(X, y, categorical=[2])
    s, e = partition(KEY, len(y), 0.5)
    deep = grow(table, s, e, KEY, Params(min_samples_split=2))
    shallow = grow(table, s, e, KEY, Params(min_samples_split=2, max_depth=2))
    assert len(shallow.nodes) < len(deep.nodes)
    for a, b in zip(shallow.nodes, deep.nodes, strict=False):
        assert (a.depth, a.n_structure, a.n_estimation) == (
            b.depth,
            b.n_structure,
            b.n_estimation,
        )
        if a.feature is not None:
            assert str(a) == str(b)


def test_soft_probabilities_by_hand():
    """Shares are averaged over the trees; a leaf without mass has equal shares."""
    first = Tree([Node(0, 1, 4, masses=np.array([1, 3], dtype=np.float32))])
    second = Tree([Node(0, 1, 0, masses=np.zeros(2, dtype=np.float32))])
    got = soft_probabilities([first, second], np.zeros((1, 1)), 2)
    assert got.tolist() == [[0.375, 0.625]]


def test_importance_adds_up():
    """Decreases telescope: their sum is the root's n G less the leaves'."""
    _, table = six_rows()
    params = Params(**GREEDY, min_samples_split=2)
    tree = grow(table, range(6), [0, 1, 3, 3, 4, 5], KEY, params)
    # Classes 00, 1112: G is 6/5 * (1 - 14/36) = 11/15 at the root, 4/3 * 6/16 = 1/2
    # on the right, and the right child's leaf with one point takes 1/2 from it.
    assert [node.n_estimation for node in tree.nodes] == [6, 2, 4, 3, 1]
    expected = (6 * 11 / 15 - 2 * 0 - 4 / 2) + (4 / 2 - 3 * 0 - 1 / 2)
    assert estimation_importance(tree, 3, 3) == pytest.approx([expected / 6, 0, 0])
