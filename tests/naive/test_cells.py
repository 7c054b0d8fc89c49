# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the twin's trees whose cuts are in no list (docs/algorithm.md, §9)."""

import math

import numpy as np
import pytest
from scipy import stats

from tests.leaves import leaf_options
from tests.naive import cells, raw
from tests.naive.cells import grow_centered, grow_in_range, grow_purely_random
from tests.naive.predict import apply
from tests.naive.raw import Cut, Options, Script, floor_of, mixed_table, raw_table
from tests.naive.rng import Stream, child_path, tree_key

NAN, INF = math.nan, math.inf
KEYS = [tree_key(11, t) for t in range(400)]
ONE = Options(min_samples_split=2)


def tried(table, structure, estimation, script, options=ONE, feature=0):
    """Return the cut of a feature; every scripted number must have been used."""
    branch = raw.root_of(structure, estimation)
    cut = cells.try_feature(table, branch, feature, script, options)
    assert script.numbers == []
    return cut


def test_number_between():
    assert raw.number_between(2.0, 6.0, 0.25) == 3.0
    assert raw.number_between(2.0, 6.0, 0.0) == 2.0
    # Three quarters of the way to the next float round up to it; it is not below b.
    assert raw.number_between(1.0, np.nextafter(1.0, 2.0), 0.75) == 1.0


def test_numeric_cut_and_the_side_of_missing_values():
    table = raw_table([0.0, 1.0, 1.5, 4.0, NAN])
    # No structure point is missing: the cut at 2 has three of four on its left.
    cut = tried(table, [0, 1, 2, 3], [0, 4], Script(0.5))
    assert cut == Cut(0, 2.0, False, True)
    assert not tried(table, [0, 1, 2, 3], [0, 4], Script(0.125)).missing_left
    assert tried(table, [0, 1, 2, 3], [0, 4], Script(0.25)).missing_left
    # Mass counts, not points.
    table.mass = np.array([1, 1, 1, 5, 1])
    assert not tried(table, [0, 1, 2, 3], [0, 4], Script(0.5)).missing_left
    # With a missing structure point the coin comes first.
    assert tried(table, range(5), None, Script(0.49, 0.5)) == Cut(0, 2.0, False, True)
    assert tried(table, range(5), None, Script(0.5, 0.25)) == Cut(0, 1.0, False, False)


def test_interval_of_the_floor():
    table = raw_table([0.0, 10.0, 1.0, 2.0, 3.0, 7.0, 8.0, NAN, NAN, NAN])
    e = [2, 3, 4, 5, 6]
    # From the second smallest (2) to the second largest (7).
    assert tried(table, [0, 1], e, Script(0.5), floor_of(2)).threshold == 4.5
    # The third smallest is the third largest: nothing is drawn.
    assert tried(table, [0, 1], e, Script(), floor_of(3)) is None
    assert tried(table, [0, 1], e, Script(), floor_of(6)) is None
    # Without a coin missing values count on neither side.
    assert tried(table, [0, 1], [*e, 7, 8], Script(), floor_of(3)) is None
    # A coin to the left: two missing ones there, so a = the first (1), b = 3.
    cut = tried(table, [0, 1, 9], [*e, 7, 8], Script(0.0, 0.5), floor_of(3))
    assert cut == Cut(0, 2.0, False, True)
    # To the right: a = 3, b = the first largest (8).
    cut = tried(table, [0, 1, 9], [*e, 7, 8], Script(0.9, 0.5), floor_of(3))
    assert cut == Cut(0, 5.5, False, False)
    # Three missing ones on the left: a stays min V = 0, b is the third largest (3).
    cut = tried(table, [0, 1, 9], [*e, 7, 8, 9], Script(0.0, 0.5), floor_of(3))
    assert cut == Cut(0, 1.5, False, True)
    # Enough missing ones on one side, too few values for the other: only the coin.
    for u in (0.0, 0.9):
        assert tried(table, [0, 1, 9], [2, 3, 7, 8, 9], Script(u), floor_of(3)) is None
    # The estimation points would allow [-5, 9), the structure points only [2, 4).
    table = raw_table([2.0, 4.0, -5.0, 9.0])
    assert tried(table, [0, 1], [2, 3], Script(0.5), floor_of(1)).threshold == 3.0
    # The estimation points [8, 9) lie beside the structure points [2, 4).
    table = raw_table([2.0, 4.0, 8.0, 9.0])
    assert tried(table, [0, 1], [2, 3], Script(), floor_of(1)) is None


def test_categories():
    table = raw_table([5, 1, 3, 3, 1, 2, NAN], categorical=[0])
    # The categories of the structure points are 1, 3, 5.
    cut = tried(table, [0, 1, 2, 3], [0], Script(0.4))
    assert cut == Cut(0, 3.0, True, True)
    assert tried(table, [0, 1, 2, 3], [0], Script(0.99)).threshold == 5.0
    assert not tried(table, [0, 1, 2, 3], [0], Script(0.99)).missing_left
    # Floor 2: 3 has two points against three, 1 two against three, 5 only one.
    e = [0, 1, 2, 3, 4]
    assert tried(table, [0, 1, 2], e, Script(0.49), floor_of(2)).threshold == 1.0
    assert tried(table, [0, 1, 2], e, Script(0.5), floor_of(2)).threshold == 3.0
    assert tried(table, [0, 1, 2], e, Script(), floor_of(3)) is None
    # A missing one on the left raises each category by one.
    e = [*e, 6]
    cut = tried(table, [0, 1, 2, 6], e, Script(0.1, 0.99), floor_of(2))
    assert cut == Cut(0, 5.0, True, True)
    cut = tried(table, [0, 1, 2, 6], e, Script(0.1, 0.99), floor_of(3))
    assert cut == Cut(0, 3.0, True, True)
    assert tried(table, [0, 1, 2, 6], e, Script(0.9), floor_of(3)) is None


def test_one_value():
    table = raw_table([3.0, 3.0, NAN, NAN, NAN])
    assert tried(table, [0, 1], [2], Script()) is None
    assert tried(table, [2, 3], [0], Script()) is None
    for coin in (0.1, 0.9):
        cut = tried(table, [0, 2], [1, 3, 4], Script(coin))
        assert cut == Cut(0, INF, False, False)
        assert tried(table, [0, 2], [0, 1, 3, 4], Script(coin), floor_of(2)) == cut
        assert tried(table, [0, 2], [1, 3, 4], Script(coin), floor_of(2)) is None
    categories = raw_table([3, 3, NAN], categorical=[0])
    assert tried(categories, [0, 2], [1], Script(0.1)) == cut


def test_features_are_tried_in_random_order():
    # Feature 0 cannot be cut but has a missing value under floor 2 (one coin);
    # feature 1 is constant (no draw); feature 2 can be cut.
    table = raw_table([[1, 0, 0], [1, 0, 8], [NAN, 0, 8], [1, 0, 0]])
    branch = raw.root_of(range(4), None)
    cut = Cut(2, 2.0, False, True)
    for k, expected, script in (
        # i = 0: j = 0; coin; i = 1: j = 1 + floor(0.5 * 2) = 2; u of the cut.
        (2, cut, Script(0.0, 0.3, 0.5, 0.25)),
        # i = 0: j = 1, order 1 0 2; i = 1: j = 2, order 1 2 0.
        (2, cut, Script(0.34, 0.5, 0.25)),
        # All three fail: 2 (its interval is empty), 0 with its coin, 1.
        (3, None, Script(0.99, 0.99, 0.4, 0.99)),
    ):
        assert cells.first_cut(table, branch, script, floor_of(k)) == expected
        assert script.numbers == []


def test_leaf_tests_in_range():
    table = raw_table([0, 1, 2, 3, 4, 5], [0, 0, 0, 1, 1, 1])

    def size(structure, estimation, options):
        return len(grow_in_range(table, structure, estimation, KEYS[0], options).nodes)

    assert size(range(6), None, Options(min_samples_split=7)) == 1
    assert size(range(6), None, Options(min_samples_split=2, max_depth=0)) == 1
    assert size(range(6), None, Options(min_samples_split=2, max_depth=1)) == 3
    assert size([0, 1, 2], range(6), ONE) == 1
    assert size([], range(6), ONE) == 1
    # Under the floor one class is a leaf only if E is S.
    assert size([0, 1, 2], None, floor_of(1)) == 1
    assert size([0, 1, 2], range(6), floor_of(1)) > 1
    assert [size(range(6), None, floor_of(k)) for k in (3, 4)] == [3, 1]
    # A refused split: both estimation points stand above every cut.
    assert size([0, 3], [4, 5], ONE) == 1


@pytest.mark.parametrize("rule", ["stop", "floor"])
@pytest.mark.parametrize("seed", range(4))
def test_cuts_in_range_on_mixed_tables(rule, seed):
    table = mixed_table(seed)
    options = Options(**leaf_options(rule, 2))
    structure, estimation = range(0, 60, 2), range(1, 60, 2)
    tree = grow_in_range(table, structure, estimation, KEYS[seed], options)
    assert raw.is_numbered_breadth_first(tree)
    assert len(tree.nodes) > 3
    s_rows = raw.rows_of_nodes(tree, table, structure)
    leaves = apply(tree, table.x[1::2])
    for number, node in enumerate(tree.nodes):
        assert node.n_structure == len(s_rows[number])
        assert node.n_estimation >= (2 if rule == "floor" else 1)
        if node.feature is None:
            n_here = (leaves == number).sum()
            assert node.masses.sum() == node.n_estimation == n_here
            continue
        values = table.x[s_rows[number], node.feature]
        known = values[~np.isnan(values)]
        if node.threshold == INF:
            assert len(set(known)) == 1
            assert len(known) < len(values)
            assert not node.missing_left
        elif node.is_equality:
            assert node.feature == 2
            assert node.threshold in known
        else:
            assert known.min() <= node.threshold < known.max()


def test_cuts_in_range_are_uniform():
    table = raw_table([2.0, 3.0])
    thresholds = []
    for key in KEYS:
        nodes = grow_in_range(table, [0, 1], None, key, ONE).nodes
        stream = Stream(key, 1, 1)
        stream.uniform()  # the order of the features
        assert nodes[0].threshold == raw.number_between(2.0, 3.0, stream.uniform())
        assert [node.label for node in nodes] == [-1, 0, 1]
        thresholds.append(nodes[0].threshold)
    assert stats.kstest(thresholds, stats.uniform(2, 1).cdf).pvalue > 0.01

    table = raw_table(np.random.default_rng(0).normal(size=(8, 4)))
    roots = [grow_in_range(table, range(8), None, k, ONE).nodes[0] for k in KEYS]
    counts = np.bincount([node.feature for node in roots], minlength=4)
    assert stats.chisquare(counts).pvalue > 0.01


def test_cell_of_points_and_its_parts():
    table = raw_table([[1, 2, NAN], [NAN, 0, NAN], [5, 2, NAN]], categorical=[1])
    cell = cells.cell_of(table, range(3))
    assert cell == [(1.0, 5.0), [0.0, 2.0], None]
    left, right = cells.cells_of_children(cell, Cut(0, 3.0, False, True))
    assert left == [(1.0, 3.0), [0.0, 2.0], None]
    assert right == [(3.0, 5.0), [0.0, 2.0], None]
    left, right = cells.cells_of_children(cell, Cut(1, 0.0, True, True))
    assert left == [(1.0, 5.0), [0.0], None]
    assert right == [(1.0, 5.0), [2.0], None]
    assert [cells.can_be_cut(side, False) for side in cell] == [True, True, False]
    assert [cells.can_be_cut(side, True) for side in left] == [True, False, False]
    # Neighbouring floats have no middle.
    side = (1.0, float(np.nextafter(1.0, 2.0)))
    assert cells.can_be_cut(side, in_the_middle=False)
    assert not cells.can_be_cut(side, in_the_middle=True)
    assert not cells.can_be_cut((1.0, 1.0), in_the_middle=False)


def test_draws_of_a_cut_of_a_cell():
    # Features 1 and 2 can be cut.
    cell = [(0.0, 0.0), (2.0, 6.0), [1.0, 4.0, 7.0]]
    for in_the_middle, expected, script in (
        (False, Cut(1, 3.0, False, True), Script(0.49, 0.25, 0.1)),
        (False, Cut(2, 4.0, True, False), Script(0.5, 0.34, 0.5)),
        # The middle takes no number of its own, a category does.
        (True, Cut(1, 4.0, False, False), Script(0.4, 0.9)),
        (True, Cut(2, 7.0, True, True), Script(0.6, 0.9, 0.4)),
    ):
        assert cells.draw_cut(cell, script, in_the_middle) == expected
        assert script.numbers == []
    assert cells.draw_cut([(1.0, 1.0), [3.0], None], Script(), False) is None


@pytest.mark.parametrize("seed", range(4))
def test_purely_random_trees_cut_their_cells(seed):
    table = mixed_table(seed)
    tree = grow_purely_random(table, range(60), KEYS[seed], 25, Options())
    assert raw.is_numbered_breadth_first(tree)
    cell_of = cells.cells_of_nodes(tree, table, range(60))
    rows = raw.rows_of_nodes(tree, table, range(60))
    for number, node in enumerate(tree.nodes):
        assert node.n_structure == node.n_estimation == len(rows[number])
        side = None if node.feature is None else cell_of[number][node.feature]
        if node.is_equality:
            assert len(side) >= 2
            assert node.threshold in side
        elif side is not None:
            assert side[0] <= node.threshold < side[1]


def test_number_of_leaves():
    table = raw_table(np.random.default_rng(0).normal(size=(10, 2)))
    for n_leaves in (1, 2, 7, 40):
        tree = grow_purely_random(table, range(10), KEYS[1], n_leaves, Options())
        assert len(tree.nodes) == 2 * n_leaves - 1
    # Nothing, or two categories only, can be cut.
    for table, n_nodes in ((raw_table([4, 4]), 1), (raw_table([4, 1], None, [0]), 3)):
        assert len(grow_purely_random(table, [0, 1], KEYS[1], 9, ONE).nodes) == n_nodes
        tree = grow_centered(table, [0, 1], None, KEYS[1], 4, 2, ONE)
        assert len(tree.nodes) == n_nodes
        assert len(grow_centered(table, [0, 1], None, KEYS[1], 0, 2, ONE).nodes) == 1


def test_a_pick_that_cannot_be_cut_is_lost():
    # Three categories: the list becomes [one, two others], and only the second can be
    # cut. Two leaves stay if the second pick is the first of the list.
    table = raw_table([1, 2, 3], categorical=[0])
    seen = set()
    for key in KEYS[:30]:
        picks = Stream(key, 0, raw.GROWTH)
        picks.uniform()
        expected = 3 if picks.uniform() < 0.5 else 5
        assert len(grow_purely_random(table, range(3), key, 3, ONE).nodes) == expected
        seen.add(expected)
    assert seen == {3, 5}


def test_order_of_the_list_of_leaves():
    """After two cuts the list is [LL, R, LR] or [L, RL, RR]."""
    table = raw_table([0.0, 1.0])
    lists = [["LL", "R", "LR"], ["L", "RL", "RR"]]
    counts = np.zeros((2, 3), int)
    for key in KEYS:
        picks = Stream(key, 0, raw.GROWTH)
        _, second, third = (math.floor(picks.uniform() * n) for n in (1, 2, 3))
        counts[second, third] += 1
        nodes = grow_purely_random(table, [0, 1], key, 4, ONE).nodes
        name = {0: ""}
        cut = [number for number, node in enumerate(nodes) if node.feature is not None]
        for number in cut:
            name[nodes[number].left] = name[number] + "L"
            name[nodes[number].left + 1] = name[number] + "R"
        expected = {"", "LR"[second], lists[second][third]}
        assert {name[number] for number in cut} == expected
    assert stats.chisquare(counts.ravel()).pvalue > 0.01


def test_cuts_of_cells_are_uniform():
    table = raw_table([2.0, 6.0])
    first, second = [], []
    for key in KEYS:
        nodes = grow_purely_random(table, [0, 1], key, 3, ONE).nodes
        t = nodes[0].threshold
        side = 0 if nodes[1].feature is not None else 1
        child = nodes[1 + side]
        lo, hi = [(2.0, t), (t, 6.0)][side]
        # The draws of the child are its own.
        stream = Stream(key, child_path(1, side), 1)
        _, u, coin = (stream.uniform() for _ in range(3))
        assert child.threshold == raw.number_between(lo, hi, u)
        assert child.missing_left == (coin < 0.5)
        first.append((t - 2) / 4)
        second.append((child.threshold - lo) / (hi - lo))
    assert stats.kstest(first, "uniform").pvalue > 0.01
    assert stats.kstest(second, "uniform").pvalue > 0.01


def test_empty_leaves_take_masses_from_above():
    """Points at 0 (class 0) and 1 (twice class 1, once class 0), cells in between."""
    table = raw_table([0.0, 1.0, 1.0, 1.0], [0, 1, 1, 0])
    n_deep = 0
    for key in KEYS[:40]:
        nodes = grow_purely_random(table, range(4), key, 8, ONE).nodes
        above = {}
        for number, node in enumerate(nodes):
            if node.n_estimation > 0:
                above[number] = node.n_estimation
            if node.feature is not None:
                above[node.left] = above[node.left + 1] = above[number]
                n_deep += node.n_estimation == 0
                continue
            # A node of one point holds 0 only, of three 1 only, of four all.
            expected = {1: [1, 0], 3: [1, 2], 4: [2, 2]}[above[number]]
            assert node.masses.tolist() == expected
            assert node.label in {1: [0], 3: [1], 4: [0, 1]}[above[number]]
    assert n_deep > 0


def test_best_try_is_taken():
    # Feature 0 separates the classes at its middle, feature 1 does not.
    table = raw_table([[0, 0], [0, 4], [8, 0], [8, 4]], [0, 0, 1, 1])
    cell = cells.cell_of(table, range(4))
    for expected, n_tries, script in (
        # Each try: feature, coin; then one number for the draw among the best.
        (Cut(0, 4.0, False, True), 3, Script(0.9, 0.1, 0.9, 0.9, 0.1, 0.1, 0.99)),
        # Equal tries: the last number decides.
        (Cut(1, 2.0, False, True), 2, Script(0.9, 0.1, 0.9, 0.9, 0.49)),
        (Cut(1, 2.0, False, False), 2, Script(0.9, 0.1, 0.9, 0.9, 0.5)),
    ):
        assert cells.best_try(table, range(4), cell, script, n_tries, ONE) == expected
        assert script.numbers == []
    # Missing structure points count where the coin sends them: left is pure.
    table.x[1, 0] = NAN
    script = Script(0.1, 0.1, 0.1, 0.9, 0.99)
    assert cells.best_try(table, range(4), cell, script, 2, ONE).missing_left


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_ties_of_centered_tries_are_random(criterion):
    table = raw_table([[0, 0], [0, 0], [8, 8], [8, 8]], [0, 0, 1, 1])
    options = Options(criterion=criterion)
    trees = [grow_centered(table, range(4), None, k, 1, 4, options) for k in KEYS]
    n_first = sum(tree.nodes[0].feature == 0 for tree in trees)
    assert stats.binomtest(n_first, len(KEYS)).pvalue > 0.01


@pytest.mark.parametrize("n_tries", [1, 3])
def test_centered_cells_and_depth(n_tries):
    table = raw_table(np.random.default_rng(3).random((64, 2)))
    s_rows, e_rows = range(0, 64, 2), range(1, 64, 2)
    tree = grow_centered(table, s_rows, e_rows, KEYS[0], 4, n_tries, ONE)
    assert raw.is_numbered_breadth_first(tree)
    cell_of = cells.cells_of_nodes(tree, table, range(64))
    area = {i: math.prod(hi - lo for lo, hi in cell) for i, cell in cell_of.items()}
    for number, node in enumerate(tree.nodes):
        assert area[number] == pytest.approx(area[0] * 0.5**node.depth)
        if node.feature is None:
            assert node.depth == 4 or node.n_estimation == 0
        else:
            lo, hi = cell_of[number][node.feature]
            assert node.threshold == lo / 2 + hi / 2
            assert node.n_estimation > 0


def test_centered_leaf_without_points():
    # Structure points 2, 8 and estimation points 0, 1, 1: the middle of all is 4. The
    # right child has no estimation point and takes the masses of the root.
    table = raw_table([2.0, 8.0, 0.0, 1.0, 1.0], [0, 1, 0, 1, 1])
    tree = grow_centered(table, [0, 1], [2, 3, 4], KEYS[0], 3, 2, ONE)
    root, left, right = tree.nodes[:3]
    assert (root.threshold, left.threshold) == (4.0, 2.0)
    assert (right.feature, right.n_estimation, right.n_structure) == (None, 0, 1)
    assert right.masses.tolist() == [1, 2]
    assert right.label == 1
    # [0, 2] is cut at 1, where all are left again; [1, 2] takes the masses above.
    assert [node.n_estimation for node in tree.nodes] == [3, 3, 0, 3, 0, 3, 0]
    assert [node.n_structure for node in tree.nodes] == [2, 1, 1, 1, 0, 0, 1]
    assert tree.nodes[6].masses.tolist() == [1, 2]
