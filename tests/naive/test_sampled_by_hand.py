# SPDX-License-Identifier: BSD-3-Clause
"""Checks by hand of trees that some rows shape and all rows fill."""

import numpy as np
import pytest

from tests.naive.cases import INF, NAN, Given, regression_table, table_of
from tests.naive.rng import SAMPLE, Stream, tree_key
from tests.naive.rules import Greedy, Multinomial
from tests.naive.sampled import (
    SampledParams,
    choose_sampled,
    edge,
    grow_sampled,
    held_out_points,
    prefix_says,
    scored_points,
)

# Seven points of the classes 0001000; of parts 0–1, 2–3, 4–6 or 0, …, 5–6.
SEVEN = table_of([[i] for i in range(7)], [0, 0, 0, 1, 0, 0, 0])


@pytest.mark.parametrize(
    ("max_scored", "min_minority", "numbers", "scored"),
    [
        (7, 5, [], [0, 1, 2, 3, 4, 5, 6]),
        (3, 1, [0.49, 0.5, 0.34], [0, 3, 5]),
        # The first point of the second part is 2: no other class, so six points.
        (3, 1, [0.5, 0.49, 0.67, 0, 0, 0, 0, 0, 0.5], [0, 1, 2, 3, 4, 6]),
        # Two points, four, and then all: there is one point of class 1.
        (2, 2, [0.4] * 6, [0, 1, 2, 3, 4, 5, 6]),
    ],
)
def test_scored_points(max_scored, min_minority, numbers, scored):
    stream = Given(*numbers)
    params = SampledParams(min_minority=min_minority)
    assert scored_points(SEVEN, list(range(7)), max_scored, stream, params) == scored
    assert stream.left == []


def test_others_in_a_regression_differ_from_the_first():
    """Targets 5, 1, 2 and 2: three differ from the first, two from the commonest."""
    table, _, _ = regression_table([[0]] * 8, [5, 5, 1, 1, 2, 2, 2, 2])
    params = SampledParams(criterion="variance", min_minority=3)
    stream = Given(*[0] * 4)
    assert scored_points(table, list(range(8)), 4, stream, params) == [0, 2, 4, 6]
    assert stream.left == []


@pytest.mark.parametrize(
    ("how_many", "numbers", "chosen"),
    [
        # Feature 1 has no candidate and does not count: 0, then 2 (of 2, 1).
        (2, [0.0, 0.0, 0.0, 0.0, 0.0], 0),
        (1, [0.4, 0.9, 0.0, 0.0], 2),
        (1, [0.4, 0.0, 0.0, 0.0], 0),
        (3, [0.0, 0.0], 0),
        (3, [0.9, 0.0], 2),
    ],
)
def test_features_with_a_candidate_count(how_many, numbers, chosen):
    table = table_of([[0, 7, 0], [1, 7, 1]], [0, 1])
    stream = Given(*numbers)
    params = SampledParams(rule=Multinomial(0, 0, how_many))
    assert choose_sampled(table, [0, 1], stream, params).feature == chosen
    assert stream.left == []


def test_a_sample_without_a_candidate_is_doubled():
    """Samples are drawn, then features, then again from the natural order on."""
    table = table_of([[0, 0]] * 7 + [[1, 0]], [0, 1] * 4)
    params = SampledParams(rule=Greedy(1), max_scored=2, min_minority=1)
    # Of 2 points: 0 and 7 would have a candidate, 0 and 5 have none.
    two = [0.0, 0.49]
    # Feature 1, then 0.
    features = [0.9, 0.0]
    # Of 4 points 0, 3, 5 and 6 have none; of all, feature 0 comes at once; then the
    # draws of the feature and of its cut.
    four = [0.0, 0.5, 0.5, 0.0]
    stream = Given(*two, *features, *four, *features, 0.0, 0.0, 0.0)
    got = choose_sampled(table, list(range(8)), stream, params)
    assert (got.feature, got.code) == (0, 0)
    assert stream.left == []
    # A sample of four that has a candidate: 0, 3, 5 and 7.
    stream = Given(*two, *features, 0.0, 0.5, 0.5, 0.5, 0.0, 0.0, 0.0)
    got = choose_sampled(table, list(range(8)), stream, params)
    assert (got.feature, got.code) == (0, 0)
    assert stream.left == []


def test_equality_of_a_numeric_feature():
    """After the cuts, with the codes between the smallest and the largest."""
    table = table_of([[3], [5], [9], [11], [NAN]], [0, 1, 0, 0, 0])
    table.equal_values = [[3, 5, 9, 11]]
    params = SampledParams(rule=Multinomial(INF, 0))

    def kind_and_code(rows, n, i):
        stream = Given(0.0, (i + 0.5) / n)
        got = choose_sampled(table, rows, stream, params)
        return got.kind, got.code, got.missing_left

    of_four = [kind_and_code([0, 1, 2, 3], 5, i) for i in range(5)]
    assert of_four == [
        ("cut", 0, False),
        ("cut", 1, True),
        ("cut", 2, True),
        ("equals", 1, False),
        ("equals", 2, False),
    ]
    with_missing = [kind_and_code([0, 1, 3, 4], 7, i) for i in range(7)]
    assert with_missing[4:] == [
        ("equals", 1, True),
        ("equals", 1, False),
        ("missing", 3, False),
    ]
    # The best of all is equality with 5, and its threshold is the value.
    best = SampledParams(rule=Multinomial(INF, INF), min_samples_split=2)
    grown = grow_sampled(table, [0, 1, 2, 3, 4], 4, tree_key(0, 0), best)
    root = grown.tree.nodes[0]
    assert (root.is_equality, root.threshold, root.missing_left) == (True, 5.0, False)
    assert grown.points[1:] == [[1], [0, 2, 3, 4]]


def test_what_prefixes_say():
    """Of points 3 and 7, in a tree that cuts eight points into halves of one class."""
    table = table_of([[i] for i in range(8)], [0, 0, 0, 1, 1, 1, 1, 0])
    table.mass = np.array([1, 2, 3, 4, 5, 6, 7, 8])
    params = SampledParams(rule=Multinomial(INF, INF), min_samples_split=2)
    points = [0, 1, 2, 4, 5, 6, 3, 7]
    grown = grow_sampled(table, points, 6, tree_key(0, 0), params)
    assert grown.points[1:] == [[0, 1, 2], [3, 4, 5, 6, 7]]
    assert prefix_says(table, grown, 3, 1) == [8 / 26, 18 / 26]
    assert prefix_says(table, grown, 7, 5) == [0.0, 1.0]
    assert prefix_says(table, grown, 7, 8) == [6 / 28, 22 / 28]


def test_shares_without_any_weight_are_alike():
    """Points 2 and 3 are held out; the class of the others has the weight 0."""
    table = table_of([[0], [1], [2], [3]], [0, 0, 1, 1])
    table.class_weight = np.array([0.0, 0.5])
    params = SampledParams(rule=Multinomial(INF, INF), min_samples_split=2)
    grown = grow_sampled(table, [0, 1, 2, 3], 2, tree_key(0, 0), params)
    assert grown.points == [[0, 1, 2, 3]]
    assert prefix_says(table, grown, 3, 1) == [0.0, 1.0]
    table.class_weight = np.array([0.0, 0.0])
    assert prefix_says(table, grown, 3, 1) == [0.5, 0.5]
    # The first class of equal masses is the label.
    alone = grow_sampled(table, [0, 1, 2], 2, tree_key(0, 0), params)
    assert alone.tree.nodes[0].label == 0


def test_points_of_groups():
    """A share of 0.3 is held out: groups of three trees, a tenth is never out."""
    n = 30
    sequence = np.random.SeedSequence(0, spawn_key=(1, 0))
    stream = Stream(sequence.generate_state(2, np.uint64), 0, SAMPLE)
    numbers = np.array([stream.uniform() for _ in range(n)])
    parts = np.minimum(np.floor(numbers / 0.3), 3)
    assert len(set(parts)) == 4
    for place in range(3):
        structure, held = held_out_points(0, 3 + place, n, 0.7)
        assert held == np.flatnonzero(parts == place).tolist()
        assert structure == np.flatnonzero(parts != place).tolist()
    assert held_out_points(0, 0, n, 0.7) != held_out_points(0, 3, n, 0.7)


def test_whole_numbers_of_rows():
    """27 of 30 shape a tree on average: the same as a share of 0.9."""
    for tree in (0, 9, 10):
        assert held_out_points(0, tree, 30, 27) == held_out_points(0, tree, 30, 0.9)
    everyone = (list(range(30)), [])
    assert held_out_points(0, 4, 30, 1.0) == everyone
    assert held_out_points(0, 4, 30, 30) == everyone
    assert held_out_points(0, 4, 30, 99) == everyone


def test_edges_of_shares_that_add_up_to_one():
    """Rounding leaves no number out: five times 1 - 0.8 is less than 1."""
    share = 1 - 0.8
    assert 5 * share < 1
    assert edge(5, share) == 1.0
    assert edge(4, share) == 4 * share


def test_all_points_shape_a_tree_that_would_hold_out_all():
    """A single point is held out of no tree, whatever the share."""
    assert held_out_points(0, 0, 1, 0.01) == ([0], [])
    trees = [held_out_points(0, tree, 2, 0.5) for tree in range(40)]
    assert all(structure for structure, _ in trees)
    assert ([0, 1], []) in trees
