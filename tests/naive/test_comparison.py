# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the twin's trees of comparisons (docs/algorithm.md, §10)."""

import math

import numpy as np
import pytest

from tests.leaves import leaf_options
from tests.naive.comparison import (
    apply_comparison,
    apply_left,
    choose_pivots,
    euclidean_left,
    grow_comparison,
)
from tests.naive.raw import Options, Script, floor_of, raw_table, root_of
from tests.naive.rng import Stream, tree_key
from tests.naive.sample import partition

NAN = math.nan
KEYS = [tree_key(5, t) for t in range(40)]
ONE = Options(min_samples_split=2)


def pivots(table, script, structure, estimation, options=ONE, supervised=False):
    """Return the chosen rows; every scripted number must have been used."""
    branch = root_of(structure, estimation)
    left = euclidean_left(table)
    pair = choose_pivots(table, branch, script, options, supervised, left)
    assert script.numbers == []
    return pair


# --- The comparison -------------------------------------------------------------------


def test_ties_go_left():
    left = euclidean_left(raw_table([0.0, 2.0, 1.0, 1.5]))
    assert left(2, 0, 1)
    assert left(2, 1, 0)
    assert not left(3, 0, 1)
    assert left(3, 1, 0)
    assert left(0, 0, 1)
    assert not left(1, 0, 1)


def test_missing_values_in_distances():
    x = [[0, 0], [3, NAN], [1, 9], [NAN, 1], [2, NAN]]
    left = euclidean_left(raw_table(x))
    # Between rows 0 and 1 only feature 0 counts: row 2 is 1 from 0, 2 from 3.
    assert left(2, 0, 1)
    assert not left(4, 0, 1)
    # Rows 1 and 3 have nothing in common: every row goes left.
    assert all(left(i, 1, 3) and left(i, 3, 1) for i in range(5))
    # Nor has row 3 anything in common with both 0 and 1.
    assert left(3, 0, 1)
    assert left(3, 1, 0)


def test_categories_in_distances():
    # Feature 1 is categorical: 0 and 7 are as far apart as 0 and 1.
    table = raw_table([[0, 0], [2, 7], [1.2, 0], [1.3, 0], [1, 3]], categorical=[1])
    left = euclidean_left(table)
    # 1.44 + 0 against 0.64 + 1; 1.69 + 0 against 0.49 + 1.
    assert left(2, 0, 1)
    assert not left(3, 0, 1)
    # 1 + 1 against 1 + 1.
    assert left(4, 0, 1)
    assert left(4, 1, 0)


# --- The pivots -----------------------------------------------------------------------


def test_first_good_pair_is_taken():
    table = raw_table([0.0, 0.0, 5.0, 9.0])
    # i = 1, j = floor(0.25 * 3) = 0: equal rows. Then i = 1, j = 1 raised to 2.
    script = Script(0.25, 0.25, 0.25, 0.34)
    assert pivots(table, script, range(4), None) == (1, 2)
    # Positions, not rows, are drawn.
    assert pivots(table, Script(0.6, 0.1), [1, 3], [0, 2]) == (3, 1)


def test_supervised_pairs_differ_in_class():
    table = raw_table([0.0, 1.0, 2.0], [0, 0, 1])
    # (0, 1) has one class; (0, 2) is taken.
    script = Script(0.0, 0.0, 0.0, 0.5)
    assert pivots(table, script, range(3), None, supervised=True) == (0, 2)
    assert pivots(table, Script(0.0, 0.0), range(3), None) == (0, 1)


def test_floor_looks_at_estimation_points():
    table = raw_table([0.0, 1.0, 9.0, 0.1, 0.2, 8.8, 8.9])
    e = [3, 4, 5, 6]
    # (0, 1) leaves two against two: 0.1, 0.2 are nearer to 0.
    assert pivots(table, Script(0.0, 0.0), [0, 1, 2], e, floor_of(2)) == (0, 1)
    # (0, 3) leaves none on the left, as 0.1 is row 3; (1, 2) leaves two and two.
    script = Script(0.0, 0.99, 0.4, 0.6)
    assert pivots(table, script, [0, 1, 2, 3], e, floor_of(2)) == (1, 2)
    # Sixteen pairs in vain make a leaf, without further draws.
    script = Script(*[0.0, 0.99] * 16)
    assert pivots(table, script, [0, 1, 2, 3], e, floor_of(2)) is None


def test_listed_partners():
    table = raw_table([0.0, 0.0, 5.0, 9.0])
    in_vain = [0.0, 0.0] * 16  # positions 0 and 1
    # i = 1; good partners are 2 and 3.
    assert pivots(table, Script(*in_vain, 0.25, 0.49), range(4), None) == (1, 2)
    assert pivots(table, Script(*in_vain, 0.25, 0.5), range(4), None) == (1, 3)
    # i = 2; good partners are 0, 1, 3.
    assert pivots(table, Script(*in_vain, 0.5, 0.4), range(4), None) == (2, 1)


def test_classes_are_left_aside_at_last():
    table = raw_table([0.0, 0.0, 5.0, 7.0], [0, 1, 0, 1])
    in_vain = [0.0, 0.0] * 16
    # i = 0: another class and another place has only row 3.
    script = Script(*in_vain, 0.0, 0.1)
    assert pivots(table, script, range(4), None, supervised=True) == (0, 3)
    # Without row 3 the only other class is at the same place; row 2 is taken.
    script = Script(*in_vain, 0.0, 0.9)
    assert pivots(table, script, range(3), None, supervised=True) == (0, 2)


# --- Trees ----------------------------------------------------------------------------


@pytest.mark.parametrize("supervised", [False, True])
@pytest.mark.parametrize("rule", ["stop", "floor"])
def test_duplicates_only_make_a_leaf(rule, supervised):
    table = raw_table([[1.0, NAN, 2.0]] * 12, categorical=[2])
    options = Options(**leaf_options(rule, 1))
    tree = grow_comparison(table, range(12), None, KEYS[0], options, supervised)
    assert len(tree.nodes) == 1
    assert tree.nodes[0].pivots is None
    assert tree.nodes[0].masses.tolist() == [6, 6]


@pytest.mark.parametrize("supervised", [False, True])
def test_one_other_row_among_duplicates(supervised):
    """Pairs that are drawn rarely hold row 0; the list of partners always does."""
    y = [0] + [1] * 150 + [0] * 149
    table = raw_table([3.0] + [8.0] * 299, y)
    for key in KEYS[:8]:
        tree = grow_comparison(table, range(300), None, key, ONE, supervised)
        n_points = [node.n_estimation for node in tree.nodes]
        # Pivot 0 can be the first (it goes left) or the second.
        if tree.nodes[0].pivots[0] == 0:
            assert n_points == [300, 1, 299]
        else:
            assert tree.nodes[0].pivots[1] == 0
            assert n_points == [300, 299, 1]


def test_two_other_rows_and_estimation_points():
    """Structure: copies of 0 and one 10; estimation decides whether it may split."""
    table = raw_table([0.0] * 30 + [10.0, 4.0, 9.0, 1.0])
    structure = range(31)
    # 4 and 1 are nearer to 0, 9 nearer to 10.
    for key in KEYS[:8]:
        tree = grow_comparison(table, structure, [31, 32, 33], key, ONE, False)
        sizes = sorted(node.n_estimation for node in tree.nodes)
        assert sizes == [1, 2, 3]
        # Without row 32 no estimation point is near to 10: refused.
        tree = grow_comparison(table, structure, [31, 33], key, ONE, False)
        assert len(tree.nodes) == 1


def test_leaf_tests():
    table = raw_table(range(8), [0, 0, 0, 0, 1, 1, 1, 1])
    key = KEYS[0]

    def size(structure, estimation, options, supervised=False):
        return len(
            grow_comparison(
                table, structure, estimation, key, options, supervised
            ).nodes
        )

    assert size(range(8), None, Options(min_samples_split=9)) == 1
    assert size(range(8), None, Options(min_samples_split=2, max_depth=0)) == 1
    assert size(range(8), None, floor_of(5)) == 1
    assert size([], range(8), ONE) == 1
    assert size([3], range(8), ONE) == 1
    # One class stops a supervised tree only.
    for options in (ONE, floor_of(1)):
        assert size(range(4), None, options, supervised=True) == 1
        assert size(range(4), None, options, supervised=False) > 1
    # Every leaf of a label-free tree that stops at one point has one point.
    assert size(range(8), None, ONE) == 15


def test_masses_and_labels_of_weighted_leaves():
    mass, weight = np.array([3, 1, 1]), np.array([0.25, 0.5])
    table = raw_table([1.0] * 3, [0, 1, 0], mass=mass, class_weight=weight)
    leaf = grow_comparison(table, range(3), None, KEYS[0], ONE, False).nodes[0]
    assert leaf.masses.tolist() == [1.0, 0.5]
    assert leaf.masses.dtype == np.float32
    assert (leaf.label, leaf.n_estimation) == (0, 3)
    # With budget 0 the label is the first number of the leaf's stream alone.
    for key in KEYS:
        options = Options(label_budget=0)
        leaf = grow_comparison(table, range(3), None, key, options, False).nodes[0]
        assert leaf.label == math.floor(Stream(key, 1, 2).uniform() * 2)


def test_draws_of_the_root():
    table = raw_table([0.0, 1.0, 3.0, 7.0])
    for key in KEYS:
        tree = grow_comparison(table, range(4), None, key, ONE, False)
        stream = Stream(key, 1, 1)
        i = math.floor(stream.uniform() * 4)
        j = math.floor(stream.uniform() * 3)
        j = j + 1 if j >= i else j
        assert tree.nodes[0].pivots == (i, j)


def test_an_oracle_decides():
    """An oracle that orders rows by their number splits by it, whatever x is."""
    table = raw_table([4.0] * 6)
    tree = grow_comparison(
        table,
        range(6),
        None,
        KEYS[0],
        ONE,
        False,
        lambda i, p, q: abs(i - p) <= abs(i - q),
    )
    assert len(tree.nodes) == 11
    assert len(grow_comparison(table, range(6), None, KEYS[0], ONE, False).nodes) == 1


@pytest.mark.parametrize("rule", ["stop", "floor"])
@pytest.mark.parametrize("supervised", [False, True])
def test_mixed_tables(rule, supervised):
    rng = np.random.default_rng(2)
    x = np.stack([rng.normal(size=70), rng.normal(size=70), rng.integers(0, 3, 70)], 1)
    y = (x[:, 0] > 0).astype(int)
    x[rng.random(x.shape) < 0.1] = NAN
    table = raw_table(x, y, categorical=[2])
    options = Options(**leaf_options(rule, 3))
    for key in KEYS[:6]:
        structure, estimation = partition(key, 70, 0.5)
        if supervised:
            structure, estimation = range(70), None
        tree = grow_comparison(table, structure, estimation, key, options, supervised)
        assert len(tree.nodes) > 3
        e_rows = list(structure if estimation is None else estimation)
        leaves = apply_comparison(tree, table, x[e_rows])
        for number, node in enumerate(tree.nodes):
            assert (node.pivots is None) == (node.leaf >= 0) == (node.left < 0)
            if rule == "floor":
                assert node.n_estimation >= 3
            if node.pivots is None:
                here = [e_rows[i] for i in np.flatnonzero(leaves == number)]
                assert node.n_estimation == len(here) > 0
                assert (
                    node.masses.tolist() == np.bincount(y[here], minlength=2).tolist()
                )


def test_prediction_of_queries():
    # One split: pivots 0 and 10 in some order; 5 is a tie and goes to the first.
    table = raw_table([0.0, 10.0])
    for key in KEYS[:8]:
        tree = grow_comparison(table, [0, 1], None, key, ONE, True)
        first, _ = tree.nodes[0].pivots
        near_zero, near_ten = (1, 2) if first == 0 else (2, 1)
        leaves = apply_comparison(tree, table, np.array([[-3.0], [6.0], [5.0], [NAN]]))
        assert leaves.tolist() == [near_zero, near_ten, 1, 1]
        assert tree.nodes[near_zero].label == 0
        rows = apply_left(tree, 2, euclidean_left(table))
        assert rows.tolist() == [near_zero, near_ten]
