# SPDX-License-Identifier: BSD-3-Clause
"""Checks by hand of how the twin of a forest that tunes itself chooses."""

import math

import numpy as np
import pytest

from tests.naive.cases import INF, regression_table, table_of
from tests.naive.losses import (
    Said,
    best_power,
    logarithmic_loss,
    loss_of_row,
    mean,
    powers_tried,
    sharpen,
    squared_error,
    unbounded_loss,
)
from tests.naive.model import Node, Tree
from tests.naive.sampled import SampledTree
from tests.naive.tuning import (
    Asked,
    leaf_sizes,
    levels,
    prefixes_say,
    try_setting,
    try_settings,
    tune,
    weights_of,
)

ASKED = Asked(seed=0, n_estimators=10)


def table_of_features(n_features: int, **more):
    table = table_of(np.arange(2 * n_features).reshape(2, -1), [0, 1])
    for name, value in more.items():
        setattr(table, name, value)
    return table


# --- Losses ---------------------------------------------------------------------------


def test_loss_of_a_larger_forest():
    """Halves of one tree: 1 and 0 for 0; both: 0.5. Of 8 trees there are two."""
    said, loss = Said(([[1.0]], [[0.0]])), squared_error([[0.0]])
    assert loss_of_row(said, 0, loss, 2) == 0.25
    assert loss_of_row(said, 0, loss, 1) == 0.25 + (0.5 - 0.25) * 1
    assert loss_of_row(said, 0, loss, 8) == 0.25 - 0.25 * 0.75


def test_mean_loss():
    """Rows of weights 1 and 3; one row has no tree in the second half."""
    said = [
        Said(([[1.0]], [[1.0]])),
        Said(([[5.0]], [])),
        Said(([[2.0], [2.0]], [[2.0]])),
    ]
    loss = squared_error([[0.0]] * 3)
    assert unbounded_loss(said, [1.0, 9.0, 3.0], loss, 7) == (1 + 3 * 4) / 4
    assert math.isnan(unbounded_loss(said[1:2], [1.0], loss, 7))
    assert mean([[1.0, 2.0], [3.0, 6.0]]) == [2.0, 4.0]


def test_sharpened_shares():
    assert sharpen([0.2, 0.4, 0.0], 2, 0.0) == pytest.approx([0.2, 0.8, 0.0])
    assert sharpen([0.2, 0.4, 0.0], 2, 0.3) == pytest.approx([0.24, 0.66, 0.1])
    assert sharpen([0.5, 0.5], 8, 0.1) == [0.5, 0.5]
    assert logarithmic_loss([1])([0.75, 0.25], 0) == math.log(4)


@pytest.mark.parametrize(
    ("n", "highest"),
    [(1, 8), (10, 8), (700, 8), (719, 8), (720, 6), (9999, 6), (10_001, 5), (10**9, 3)],
)
def test_powers_that_are_tried(n, highest):
    assert powers_tried(n)[0] == 0.5
    assert powers_tried(n)[-1] == highest


def test_power_of_the_smallest_loss():
    powers = [1.0, 2.0, 4.0, 8.0]
    assert best_power(powers, [0.0, 1.0, 2.0, 3.0]) == 1.0
    assert best_power(powers, [3.0, 2.0, 2.0, 1.0]) == 8.0
    # Equally far in the logarithm.
    assert best_power(powers, [3.0, 1.0, 3.0, 9.0]) == pytest.approx(2.0)
    assert best_power(powers, [3.0, 1.0, 1.0, 9.0]) == pytest.approx(math.sqrt(8))

    def parabola(a: float) -> float:
        return 3 + 2 * (math.log(a) - math.log(1.7)) ** 2

    uneven = [1.0, 1.25, 1.5, 2.0, 2.5]
    assert best_power(uneven, [parabola(a) for a in uneven]) == pytest.approx(1.7)


# --- What is tried --------------------------------------------------------------------


def test_levels():
    def of(n_features, **fixed):
        asked = Asked(seed=0, n_estimators=10, **fixed)
        found = levels(table_of_features(n_features), asked)
        return [(s.max_features, s.feature_budget, s.split_budget) for s in found]

    assert of(6) == [(2, 10, 10), (4, 20, 20), (6, 40, 40)]
    assert of(1) == [(1, 10, 10), (1, 20, 20), (1, 40, 40)]
    assert of(13) == [(4, 10, 10), (7, 20, 20), (13, 40, 40)]
    assert of(6, max_features=3) == [(3, 10, 10), (3, 20, 20), (3, 40, 40)]
    assert of(3, feature_budget=INF, split_budget=0.0) == [(2, INF, 0), (3, INF, 0)]
    assert of(1, feature_budget=5.0, split_budget=5.0) == [(1, 5, 5)]


def test_kinds_of_the_first_settings():
    table = table_of_features(4)
    assert {(s.equality_cuts, s.criterion) for s in levels(table, ASKED)} == {
        (False, "entropy")
    }
    fixed = Asked(seed=0, n_estimators=10, equality_cuts=True, criterion="gini")
    assert {(s.equality_cuts, s.criterion) for s in levels(table, fixed)} == {
        (True, "gini")
    }
    values, _, _ = regression_table([[0], [1]], [1.0, 2.0])
    assert {s.criterion for s in levels(values, ASKED)} == {"variance"}


def test_leaf_sizes():
    assert leaf_sizes(1, ASKED) == [1]
    assert leaf_sizes(2, ASKED) == [1]
    assert leaf_sizes(3, ASKED) == [1, 2]
    assert leaf_sizes(16, ASKED) == [1, 2, 3, 4, 6, 8]
    assert leaf_sizes(256, ASKED) == [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64]
    fixed = Asked(seed=0, n_estimators=10, leaf_size=5)
    assert leaf_sizes(256, fixed) == [5]


def test_weights_of_points():
    table = table_of([[0], [1]], [0, 1])
    assert weights_of(table) == [1.0, 1.0]
    table.mass = np.array([3, 5])
    assert weights_of(table) == [3.0, 5.0]
    table.class_weight = np.array([0.5, 0.25])
    assert weights_of(table) == [1.5, 1.25]


def test_prefixes_of_a_point():
    """Eight points, four of them left, of which two left: point 0 in each."""
    table = table_of([[i] for i in range(8)], [0, 1, 0, 1, 1, 1, 1, 0])
    nodes = [Node(0, 0, 8, feature=0, left=1), Node(1, 0, 4, feature=0, left=3)]
    nodes += [Node(1, 0, 4), Node(2, 0, 2), Node(2, 0, 2)]
    points = [list(range(8)), [0, 1, 2, 3], [4, 5, 6, 7], [0, 1], [2, 3]]
    said = prefixes_say(table, SampledTree(Tree(nodes), points), 0, [1, 2, 4, 7, 8])
    assert said == [[0, 1], [0, 1], [1 / 3, 2 / 3], [1 / 3, 2 / 3], [2 / 7, 5 / 7]]


# --- Trials by trees that are made up -------------------------------------------------


def stump(table, points, n_structure, key, params) -> SampledTree:
    """Cut at the middle, as long as the node is larger than a leaf."""
    everyone = sorted(points)
    half = len(everyone) // 2
    if len(everyone) < params.min_samples_split:
        return SampledTree(Tree([Node(0, 0, len(everyone))]), [everyone])
    nodes = [Node(0, 0, len(everyone), feature=0, left=1), Node(1, 0, half)]
    nodes.append(Node(1, 0, len(everyone) - half))
    return SampledTree(Tree(nodes), [everyone, everyone[:half], everyone[half:]])


def test_a_trial_of_stumps():
    """Classes are halves: a leaf without its own point is pure, of any size below 8."""
    table = table_of([[i] for i in range(8)], [0] * 4 + [1] * 4)
    setting = levels(table, ASKED)[0]
    trial = try_setting(table, setting, [1, 4, 7, 8], ASKED, stump)
    assert trial.losses[:3] == [0.0, 0.0, 0.0]
    # Of the other seven points three are of the same class: 2 (4 / 7)².
    assert trial.losses[3] == pytest.approx(2 * (4 / 7) ** 2)
    assert trial.leaf_size == 1
    assert trial.loss == pytest.approx(2 * (1 / 18) ** 2)  # what is mixed in
    # 50 pairs of trees, each point is held out of one of each pair (or of none, if a
    # tree would hold out all).
    counts = {len(said.everything) for said in trial.best}
    assert len(counts) == 1
    assert counts <= set(range(45, 51))


def test_nothing_is_tried_if_all_is_fixed():
    table = table_of([[i] for i in range(8)], [0] * 4 + [1] * 4)
    fixed = Asked(
        seed=0,
        n_estimators=4,
        max_samples=1.0,
        feature_budget=1.0,
        split_budget=1.0,
        criterion="gini",
        leaf_size=3,
    )
    tuned = tune(table, fixed)
    assert tuned.trials == []
    assert (tuned.leaf_size, tuned.power) == (3, 1.0)
    assert tuned.out_of_bag == [None] * 8
    assert tuned.powers == []


def test_order_of_trials():
    """Equal losses: the second level is not better, and equality and Gini are not."""
    table = table_of([[i, i] for i in range(8)], [0] * 4 + [1] * 4)
    table.equal_values = [list(range(8)), list(range(8))]
    trials = try_settings(table, ASKED, stump)
    found = [
        (t.setting.max_features, t.setting.equality_cuts, t.setting.criterion)
        for t in trials
    ]
    assert found == [
        (1, False, "entropy"),
        (2, False, "entropy"),
        (1, True, "entropy"),
        (1, False, "gini"),
    ]


def best_at_sixteen(table, points, n_structure, key, params) -> SampledTree:
    """Cut 64 points into four leaves; each is cut again, into leaves that err."""
    everyone = sorted(points)
    contents = [everyone, everyone[:32], everyone[32:]]
    contents += [everyone[16 * i : 16 * (i + 1)] for i in range(4)]
    nodes = [Node(0, 0, 64, feature=0, left=1)]
    nodes += [Node(1, 0, 32, feature=0, left=3), Node(1, 0, 32, feature=0, left=5)]
    for i in range(4):
        nodes.append(Node(2, 0, 16, feature=0, left=7 + 2 * i))
        contents += [[], everyone]
    nodes += [Node(3, 0, len(rows)) for rows in contents[7:]]
    return SampledTree(Tree(nodes), contents)


def test_leaf_sizes_of_later_trials():
    """From a quarter of the best one on."""
    table = table_of([[i] for i in range(64)], [0] * 32 + [1] * 32)
    first, *others = try_settings(table, ASKED, best_at_sixteen)
    assert first.leaf_sizes == [1, 2, 3, 4, 6, 8, 12, 16]
    assert first.leaf_size == 16
    assert len(others) == 2
    assert [trial.leaf_sizes for trial in others] == [[4, 6, 8, 12, 16]] * 2
