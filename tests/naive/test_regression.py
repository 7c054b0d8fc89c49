# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the twin's regression: targets in fixed point, scores, trees and values."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.leaves import leaf_options
from tests.naive.cases import (
    GREEDY,
    INF,
    Given,
    random_rows,
    regression_table,
    table_of,
)
from tests.naive.grow import candidates, choose, grow
from tests.naive.importance import variance_importance
from tests.naive.model import Node, Params, Tree
from tests.naive.predict import apply, leaf_value, mean_values
from tests.naive.rng import tree_key
from tests.naive.rules import Greedy, Multinomial
from tests.naive.sample import partition
from tests.naive.score import moment_and_mass, variance_score, variance_tolerance
from tests.naive.target import fixed_point

KEY = tree_key(0, 0)
BEST = Params(**GREEDY, min_samples_split=2, criterion="variance")
SIX = np.array([[i + 1.0, 8.0, i % 2] for i in range(6)])
SIX_TARGETS = [0.0, 0.0, 0.0, 10.0, 10.0, 16.0]


def moment_table(X, moment, mass=None):
    """Return a table with given moments, whose targets all differ."""
    moment = np.array(moment, dtype=np.int64)
    return table_of(X, np.arange(len(moment)), mass=mass, moment=moment)


def test_fixed_point_by_hand():
    """Three targets need two bits and have a span of 1.5 < 2, so s is 58."""
    moment, centre, unit = fixed_point([0.0, 1.0, 3.0])
    assert moment.dtype == np.int64
    assert moment.tolist() == [-3 * 2**57, -(2**57), 3 * 2**57]
    assert (centre, unit) == (1.5, 2.0**-58)
    # Twelve points have four bits.
    moment, centre, unit = fixed_point([0.0, 1.0, 3.0], n_points=12)
    assert moment.tolist() == [-3 * 2**55, -(2**55), 3 * 2**55]
    assert (centre, unit) == (1.5, 2.0**-56)
    # A span of 1 has the exponent 1.
    assert fixed_point([0.0, 2.0])[0].tolist() == [-(2**58), 2**58]


def test_fixed_point_with_masses_by_hand():
    """The weights are 1/2, 1/4, 1/2 and s is 53."""
    mass = [2**50, 2**49, 2**50]
    moment, centre, unit = fixed_point([0.0, 1.0, 3.0], mass)
    assert moment.tolist() == [-3 * 2**51, -(2**50), 3 * 2**51]
    assert (centre, unit) == (1.5, 0.25)
    assert moment[1] / mass[1] * unit == -0.5


def test_fixed_point_of_equal_targets():
    """Without a span the exponent is 0 and all moments are 0."""
    moment, centre, unit = fixed_point([7.0, 7.0])
    assert moment.tolist() == [0, 0]
    assert (centre, unit) == (7.0, 2.0**-59)
    moment, centre, unit = fixed_point([7.0], [5])
    assert moment.tolist() == [0]
    assert (centre, unit) == (7.0, 0.125)


def test_fixed_point_rounds_to_even():
    """With four targets between -1 and 1 the step is 2**-57."""
    moment, _, unit = fixed_point([-1.0, 1.0, 2.0**-58, 3 * 2.0**-58])
    assert unit == 2.0**-57
    assert moment.tolist() == [-(2**57), 2**57, 0, 2]


@pytest.mark.parametrize("scale", [1e-290, 1e-5, 1.0, 1e6, 1e300])
@pytest.mark.parametrize("n", [1, 2, 7, 255, 256, 1000])
def test_fixed_point_holds_the_mean(scale, n):
    """No sum leaves 62 bits, and the mean is that of the targets."""
    rng = np.random.default_rng(n)
    skewed = np.r_[np.full(n - 1, 1.0), -1.0] * scale
    for y in (rng.normal(size=n) * scale, rng.exponential(size=n) * scale, skewed):
        moment, centre, unit = fixed_point(y)
        span = max(y.max() - centre, centre - y.min())
        total = sum(int(m) for m in moment)
        assert sum(abs(int(m)) for m in moment) < 2**61
        leaf = Node(0, n, n, moment=total, mass=n)
        error = abs(leaf_value(leaf, centre, unit) - y.mean())
        assert error <= 1e-12 * max(span, abs(centre))
        deviation = math.fsum(y - centre) / n
        assert abs(total / n * unit - deviation) <= 1e-12 * span


def test_fixed_point_far_from_zero():
    """A large offset is taken off before targets are rounded."""
    y = 1e9 + np.random.default_rng(0).random(500)
    moment, centre, unit = fixed_point(y)
    deviation = math.fsum(y - centre) / 500
    got = float(sum(int(m) for m in moment)) / 500 * unit
    assert abs(got - deviation) <= 1e-12 * (y.max() - centre)


def test_fixed_point_with_masses_holds_the_mean():
    """Masses of 2**51 in all keep the sum in 62 bits, and the mean is weighted."""
    rng = np.random.default_rng(3)
    y, weight = rng.normal(size=300), rng.exponential(size=300)
    mass = np.floor(weight / weight.sum() * 2**51).astype(np.int64) + 1
    moment, centre, unit = fixed_point(y, mass)
    total, whole = sum(int(m) for m in moment), sum(int(m) for m in mass)
    assert sum(abs(int(m)) for m in moment) < 2**61
    leaf = Node(0, 300, 300, moment=total, mass=whole)
    expected = np.average(y, weights=mass)
    assert leaf_value(leaf, centre, unit) == pytest.approx(expected, abs=1e-12)


def test_scores_by_hand():
    """The node's mean is taken off, its whole part first."""
    # M = 10, W = 4, mean 2.5: the sides have -3 - 2.5 and 13 - 7.5.
    assert variance_score((-3, 1), (13, 3)) == 5.5**2 + 5.5**2 / 3
    # M = -7, W = 3: the sides have -2/3 and 2/3.
    assert variance_score((-3, 1), (-4, 2)) == pytest.approx(2 / 3)
    # Masses 2 and 1: M = 13, W = 3: the sides have 4/3 and -4/3.
    assert variance_score((10, 2), (3, 1)) == pytest.approx(8 / 3)
    # A side without mass adds nothing, the other one has the mean.
    assert variance_score((7, 2), (0, 0)) == variance_score((0, 0), (7, 2)) == 0
    # Numbers of more than 53 bits become floats after the shift.
    assert variance_score((2**60 + 1, 1), (-(2**60), 1)) == 2.0**121
    assert variance_score((2**60 + 2, 1), (2**60, 1)) == 2.0


def test_scores_of_candidates():
    """Moments and masses of repeated rows are added."""
    table = moment_table([[0], [1], [2]], [-3, 1, 6], mass=np.array([2, 1, 3]))
    assert moment_and_mass(table, [0, 0, 2]) == (0, 7)
    assert moment_and_mass(table, []) == (0, 0)
    found = candidates(table, [0, 1, 2, 2], [], 0, BEST)
    # M = 10, W = 9: +-47/9 on masses 2 and 7, then +-48/9 on masses 3 and 6.
    expected = [(47 / 9) ** 2 * (1 / 2 + 1 / 7), (48 / 9) ** 2 * (1 / 3 + 1 / 6)]
    assert [c.score for c in found] == pytest.approx(expected)
    # The masses are 2 and 7, then 3 and 6: missing goes right.
    assert [c.missing_left for c in found] == [False, False]


def test_equal_scores():
    """Mirrored features tie; so do scores that differ by less than 1e-12 of them."""
    table, _, _ = regression_table([[0, 1], [0, 1], [1, 0], [1, 0]], [0.0, 0, 1, 1])
    for u, feature in [(0.49, 0), (0.51, 1)]:
        got = choose(table, range(4), range(4), Given(u, 0.5), BEST)
        assert (got.feature, got.code) == (feature, 0)
    # Moments -n, 0, n + 1: the scores are 1.5 n² + n + 0.5 and 1.5 n² + 2 n + 1, so
    # they differ by 2 / (3 n) of themselves.
    for n, cuts in [(10**12, [0, 1]), (10**11, [1, 1])]:
        table = moment_table([[0], [1], [2]], [-n, 0, n + 1])
        for u, cut in zip((0.49, 0.51), cuts, strict=True):
            got = choose(table, range(3), range(3), Given(0.5, u), BEST)
            assert got.code == cut


def test_features_without_effect():
    """Scores of 0, or what rounding makes of it, are equal."""
    assert variance_tolerance([0.0, 0.0], 6) == 6 * 2.0**-98
    table, _, _ = regression_table([[0], [0], [1], [1], [2], [2]], [0.0, 1] * 3)
    for u, cut in [(0.49, 0), (0.51, 1)]:
        params = Params(Multinomial(10, 10), criterion="variance")
        got = choose(table, range(6), range(6), Given(0.5, u), params)
        assert (got.score, got.code) == (0.0, cut)


def test_tolerance_is_that_of_the_features_looked_at():
    """The scores 4/3 and 25/12 of a feature are equal beside one of 6e12."""
    b = 10**6
    X = [[1, 0], [0, 0], [1, 1], [0, 1], [1, 2], [0, 2]]
    table = moment_table(X, [b, -b, b, -b + 1, b + 3, -b])
    found = candidates(table, range(6), [], 1, BEST)
    assert [c.score for c in found] == pytest.approx([4 / 3, 25 / 12])
    both = Params(Multinomial(0, INF), criterion="variance")
    got = choose(table, range(6), range(6), Given(0.9, 0.1), both)
    assert (got.feature, got.code) == (1, 0)
    alone = Params(Greedy(1), criterion="variance")
    got = choose(table, range(6), range(6), Given(0.9, 0.5, 0.1), alone)
    assert (got.feature, got.code) == (1, 1)


@pytest.mark.parametrize("leaf_rule", ["stop", "floor"])
def test_tree_by_hand(leaf_rule):
    """Squared errors of the first cuts: 3.5 leaves 24, 4.5 leaves 93, 5.5 leaves 120.

    Then 10, 10 | 16, and no further because both leaves have one target value.
    """
    table, centre, unit = regression_table(SIX, SIX_TARGETS)
    assert (centre, unit) == (8.0, 2.0**-54)
    params = replace(BEST, **leaf_options(leaf_rule, 1))
    tree = grow(table, range(6), None, KEY, params)
    nodes = tree.nodes
    assert [node.feature for node in nodes] == [0, None, 0, None, None]
    assert (nodes[0].threshold, nodes[2].threshold) == (3.5, 5.5)
    assert [node.leaf for node in nodes] == [-1, 0, -1, 1, 2]
    assert [node.label for node in nodes] == [-1] * 5
    assert all(node.masses is None for node in nodes)
    assert [node.mass for node in nodes] == [0, 3, 0, 2, 1]
    assert [node.moment for node in nodes] == [
        0,
        -24 * 2**54,
        0,
        4 * 2**54,
        8 * 2**54,
    ]
    assert mean_values([tree, tree], SIX, centre, unit).tolist() == SIX_TARGETS
    # V: root 6/5 * 240/6 = 48, right 3/2 * 24/3 = 12, its single child 12 too.
    expected = (6 * 48 - 3 * 0 - 3 * 12) + (3 * 12 - 2 * 0 - 1 * 12)
    got = variance_importance(tree, SIX, range(6), table, unit)
    assert got == pytest.approx([expected / 6, 0, 0])


def test_honest_tree_by_hand():
    """Leaf sums come from the estimation points alone; equal targets are split on."""
    table, centre, unit = regression_table(SIX, SIX_TARGETS)
    tree = grow(table, [0, 2, 3, 5], [1, 1, 3, 3], KEY, BEST)
    # Structure 0, 0 | 10, 16 at 3.5; then 10 | 16 would leave no point on the right.
    assert [node.n_estimation for node in tree.nodes] == [4, 2, 2]
    assert mean_values([tree], SIX[[0, 5]], centre, unit).tolist() == [0.0, 10.0]
    # Equal structure targets stop the one leaf rule, not the other.
    assert len(grow(table, [0, 1, 2], range(6), KEY, BEST).nodes) == 1
    floor = replace(BEST, **leaf_options("floor", 1))
    assert len(grow(table, [0, 1, 2], range(6), KEY, floor).nodes) > 1
    assert len(grow(table, [0, 1, 2], None, KEY, floor).nodes) == 1


def test_equal_targets_are_told_by_their_ranks():
    """Targets that share a moment are still different targets."""
    table = moment_table([[0], [1]], [0, 0])
    assert len(grow(table, range(2), None, KEY, BEST).nodes) == 3
    table.y = np.array([0, 0])
    assert len(grow(table, range(2), None, KEY, BEST).nodes) == 1


def test_importance_with_masses_by_hand():
    """Targets 0, 3, 6 of masses 2, 1, 2, cut before the last.

    V: root 3/2 * 36/5 = 10.8, left 2/1 * 6/3 = 4, right has one point.
    """
    X = np.array([[0.0], [0.0], [1.0]])
    table = moment_table(X, [0, 3, 12], mass=np.array([2, 1, 2]))
    tree = grow(table, range(3), None, KEY, BEST)
    assert [node.n_estimation for node in tree.nodes] == [3, 2, 1]
    expected = (3 * 10.8 - 2 * 4 - 1 * 10.8) / 3
    assert variance_importance(tree, X, range(3), table, 1.0) == pytest.approx(expected)
    # A unit of 2 makes squares four times as large.
    got = variance_importance(tree, X, range(3), table, 2.0)
    assert got == pytest.approx(4 * expected)
    # A child without points has no variance, and the other one that of the root.
    root = Node(0, 3, 2, feature=0, threshold=0.5, left=1)
    lopsided = Tree([root, Node(1, 2, 2), Node(1, 1, 0)])
    assert variance_importance(lopsided, X, [0, 1], table, 1.0) == pytest.approx(0.0)


def test_mean_values_by_hand():
    """10 + 3/2 * 0.5 and 10 - 8/4 * 0.5 have the mean 9.875."""
    first = Tree([Node(0, 1, 2, moment=3, mass=2)])
    second = Tree([Node(0, 1, 4, moment=-8, mass=4)])
    got = mean_values([first, second], np.zeros((2, 1)), 10.0, 0.5)
    assert got.tolist() == [9.875, 9.875]
    assert math.isnan(leaf_value(Node(0, 1, 0), 10.0, 0.5))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weighted", [False, True])
def test_best_split_has_the_least_squared_error(seed, weighted):
    """The score orders splits as the squared error of the two means does."""
    X, classes = random_rows(seed, 60)
    rng = np.random.default_rng(seed)
    y = classes + rng.normal(size=60)
    mass = None
    if weighted:
        mass = np.floor(rng.exponential(size=60) * 2**44).astype(np.int64) + 1
    weight = np.ones(60) if mass is None else mass / 2.0**44
    table, centre, unit = regression_table(X, y, [2], mass)
    tree = grow(table, range(60), None, KEY, replace(BEST, max_depth=1))

    def squared_error(left):
        sides = [s for s in (left, ~left) if s.any()]
        means = [np.average(y[s], weights=weight[s]) for s in sides]
        pairs = zip(sides, means, strict=True)
        return sum((weight[s] * (y[s] - mean) ** 2).sum() for s, mean in pairs)

    errors = []
    for f in range(3):
        x = X[:, f]
        for value in np.unique(x[~np.isnan(x)]):
            below = x == value if f == 2 else x <= value
            errors.extend(squared_error(below | m) for m in (np.isnan(x), False))
    got = squared_error(apply(tree, X) == 1)
    assert got == pytest.approx(min(errors), rel=1e-9)
    left = apply(tree, X) == 1
    value = mean_values([tree], X[left][:1], centre, unit)[0]
    assert value == pytest.approx(np.average(y[left], weights=weight[left]), rel=1e-9)


def test_importance_adds_up():
    """Decreases telescope: their sum is the root's n V less the leaves'."""
    X, classes = random_rows(2)
    y = classes + np.random.default_rng(2).normal(size=len(classes))
    table, _, unit = regression_table(X, y, [2])
    s, e = partition(KEY, len(y), 0.5)
    params = Params(**leaf_options("floor", 2), criterion="variance")
    tree = grow(table, s, e, KEY, params)
    leaves = apply(tree, X)[e]
    expected = len(e) * np.var(y[e], ddof=1)
    for leaf in set(leaves):
        of_leaf = y[e][leaves == leaf]
        expected -= len(of_leaf) * np.var(of_leaf, ddof=1)
    got = variance_importance(tree, X, e, table, unit)
    assert got.sum() * len(e) == pytest.approx(expected)
