# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the twin itself against cases worked out by hand."""

import math

import numpy as np
import pytest

from tests.leaves import leaf_options
from tests.naive.binning import cuts_of, encode, midpoint
from tests.naive.cases import GREEDY, INF, NAN, six_rows, table_of
from tests.naive.draw import draw, draw_label, draw_probabilities
from tests.naive.grow import Params, candidates, grow
from tests.naive.importance import estimation_importance
from tests.naive.predict import apply, votes
from tests.naive.rng import MASK, Stream, child_path, mix, philox_block, tree_key
from tests.naive.sample import partition
from tests.naive.score import score_of


def summary(found) -> list:
    """Return the candidates without their scores and counts."""
    return [(c.kind, c.code, c.missing_left) for c in found]


def test_philox_known_answer():
    """The zero block is the one published with Random123."""
    known = (
        0x16554D9ECA36314C,
        0xDB20FE9D672D0FDC,
        0xD7E772CEE186176B,
        0x7E68B68AEC7BA23B,
    )
    assert philox_block((0, 0), (0, 0, 0, 0)) == known


@pytest.mark.parametrize("path", [0, 1, 2**63 + 5, MASK])
def test_philox_agrees_with_numpy(path):
    """A stream is the blocks 1, 2, … of its key, path and purpose."""
    for purpose in (0, 1, 2):
        key = tree_key(7, purpose)
        stream = Stream(key, path, purpose)
        words = [stream.word() for _ in range(12)]
        blocks = [philox_block(key, (i, path, purpose, 0)) for i in (1, 2, 3)]
        assert words == [word for block in blocks for word in block]
        assert Stream(key, path, purpose).uniform() == (words[0] >> 11) / 2**53


def test_paths():
    """Paths follow splitmix64, whose first output from state 0 is well known."""
    assert mix(0x9E3779B97F4A7C15) == 0xE220A8397B1DCDAF
    assert child_path(0, 0) == 0xE220A8397B1DCDAF
    assert child_path(0, 1) == 0x6E789E6AA1B965F4
    assert child_path(1, 0) == mix(0x9E3779B97F4A7C14)


def test_cuts():
    """Midpoints, or midpoints at quantiles of the counted values."""
    assert cuts_of([3, 1, NAN, 1, 2], 3).tolist() == [1.5, 2.5]
    assert cuts_of([NAN, 4, 4], 3).tolist() == []
    # Eight values in four bins: two values a bin.
    assert cuts_of(range(8), 4).tolist() == [1.5, 3.5, 5.5]
    # Five values in three bins: C_i * 3 >= 5, 10, so i = 1, 3.
    assert cuts_of(range(5), 3).tolist() == [1.5, 3.5]
    # Counts 7, 1, 1, 1, 1: quarters at 2.75, 5.5 and 8.25 of 11; two agree.
    assert cuts_of([0] * 7 + [1, 2, 3, 4], 4).tolist() == [0.5, 2.5]
    # The last value holds all quantiles: no cut.
    assert cuts_of([0, 1, 2], 2, [1, 1, 9]).tolist() == []
    # The value 1 has weight 0, so it is not there.
    assert cuts_of([0, 1, 2, 3], 2, [1, 0, 1, 2]).tolist() == [2.5]


def test_midpoint_separates():
    """A midpoint is at least the lower and below the upper neighbour."""
    up = np.nextafter(1.0, 2.0)
    for a, b in [(1.0, up), (up, np.nextafter(up, 2)), (1e308, 1.7e308), (0.0, 5e-324)]:
        assert a <= midpoint(a, b) < b
    assert midpoint(1.0, INF) == 1.0
    assert midpoint(-INF, INF) == midpoint(-INF, 1.0) == -INF


def test_codes():
    """A code is the number of cuts strictly below."""
    assert encode([0, 1.5, 1.6, 9, NAN], [1.5, 2.5]).tolist() == [0, 0, 1, 2, 3]


def test_partition():
    """Sizes are rounded and clipped; the smallest words are the structure."""
    key = tree_key(3, 1)
    for n, fraction, size in [
        *[(1, 0.5, 0), (2, 0.1, 1), (5, 0.5, 3)],
        *[(10, 0.99, 1), (9, 2 / 3, 3), (5, 0.7, 2)],
    ]:
        s, e = partition(key, n, fraction)
        assert len(s) == size
        assert sorted([*s, *e]) == list(range(n))
    stream = Stream(key, 0, 0)
    words = np.array([stream.word() for _ in range(20)])
    s, e = partition(key, 20, 0.5)
    assert words[s].max() < words[e].min()
    assert len(s) == 10


def test_scores():
    """Gini and entropy scores of counts (3, 1) and (0, 2)."""
    assert score_of([3, 1], [0, 2], "gini", False) == 2.5 + 2.0
    expected = 3 * math.log(3) - 4 * math.log(4)
    assert score_of([3, 1], [0, 2], "entropy", False) == pytest.approx(expected, 1e-9)
    assert score_of([3.0, 1.0], [0.0, 2.0], "entropy", True) == expected
    fixed = score_of([3, 1], [0, 2], "entropy", False) * 2**26
    assert fixed == int(fixed)


def test_draw_probabilities():
    """Budget 0 is uniform, infinity is greedy, 10 is a softmax with exponent 5."""
    scores = [1.0, 3.0, 2.0, 3.0]
    assert draw_probabilities(scores, 0, 0).tolist() == [0.25] * 4
    assert draw_probabilities(scores, INF, 0).tolist() == [0, 0.5, 0, 0.5]
    assert draw_probabilities([2, 2 + 1e-9], 10, 1e-8).tolist() == [0.5, 0.5]
    weights = np.array([math.exp(-5), 1, math.exp(-2.5), 1])
    got = draw_probabilities(scores, 10, 0)
    assert got == pytest.approx(weights / weights.sum(), rel=1e-14)


@pytest.mark.parametrize("budget", [0, 0.7, 10, 1e6, INF])
def test_draw_follows_its_probabilities(budget):
    """Evenly spread uniform numbers hit each index as often as it is probable."""
    scores = [5.0, 1.0, 4.0, 5.0, 3.0]
    n = 20000
    hits = np.zeros(5)
    for i in range(n):
        hits[draw(scores, budget, (i + 0.5) / n, 1e-12)] += 1
    expected = draw_probabilities(scores, budget, 1e-12)
    assert np.abs(hits / n - expected).max() < 2 / n
    assert draw(scores, budget, 1 - 2.0**-53, 1e-12) == (4 if budget < 20 else 3)


def test_draw_label():
    """A label is drawn among all classes, without normalisation of the shares."""
    shares = [0.25, 0.75, 0.0]
    assert [draw_label(shares, 0, u) for u in (0.3, 0.6, 0.9)] == [0, 1, 2]
    assert [draw_label(shares, INF, u) for u in (0.0, 0.999)] == [1, 1]
    assert draw_label([0.5, 0.0, 0.5], INF, 0.5) == 2
    first = math.exp(-1) / (1 + math.exp(-1) + math.exp(-1.5))
    assert draw_label(shares, 4, first - 1e-9) == 0
    assert draw_label(shares, 4, first + 1e-9) == 1


def test_candidates_without_missing():
    """Cuts lie between the codes of the node; missing goes with the larger side."""
    table = table_of([[0], [1], [2], [3], [4], [NAN]], [0, 1, 0, 1, 0, 1])
    found = candidates(table, [0, 1, 4], [5, 2], 0, Params())
    assert summary(found) == [("cut", 0, False), ("cut", 2, True)]
    assert [c.n_estimation for c in found] == [(0, 2), (2, 0)]
    assert found[0].score == 1 + 1.0
    assert found[1].score == 1.0 + 1
    tie = candidates(table, [0, 1, 3, 4], [5], 0, Params())[1]
    assert tie.missing_left
    assert tie.code == 1
    assert candidates(table, [2, 2], [0], 0, Params()) == []


def test_candidates_with_missing():
    """Each cut stands twice, left first, and "missing alone" stands last."""
    table = table_of([[0], [1], [2], [NAN]], [0, 1, 0, 1])
    found = candidates(table, [0, 1, 2, 3], [], 0, Params())
    cuts = [("cut", c, left) for c in (0, 1) for left in (True, False)]
    assert summary(found) == [*cuts, ("missing", 2, False)]
    assert summary(candidates(table, [1, 3], [], 0, Params())) == [
        ("missing", 2, False)
    ]
    assert candidates(table, [3, 3], [], 0, Params()) == []


def test_candidates_of_categories():
    """Equality with each category of the node, if there are at least two."""
    table = table_of([[0], [1], [2], [NAN]], [0, 1, 0, 1], categorical=[0])
    found = candidates(table, [0, 2, 2], [], 0, Params())
    assert summary(found) == [("equals", 0, False), ("equals", 2, True)]
    assert candidates(table, [2, 2], [], 0, Params()) == []
    found = candidates(table, [0, 2, 3], [], 0, Params())
    cuts = [("equals", c, left) for c in (0, 2) for left in (True, False)]
    assert summary(found) == [*cuts, ("missing", 2, False)]


def test_floor_keeps_points_on_both_sides():
    """With the floor rule a candidate leaves k estimation points on each side."""
    table = table_of([[i] for i in range(6)], [0, 1, 0, 1, 0, 1])
    rows = range(6)
    params = Params(**leaf_options("floor", 2))
    assert [c.code for c in candidates(table, rows, rows, 0, params)] == [1, 2, 3]
    params = Params(min_samples_split=3)
    assert len(candidates(table, rows, rows, 0, params)) == 5


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_tree_by_hand(criterion):
    """Classes 000112 split at 3.5 and then at 5.5, whichever the criterion.

    Gini scores of the five cuts are 2.8, 3.5, 14/3, 3.5, 3.6; then 2 and 3.
    """
    X, table = six_rows()
    params = Params(**GREEDY, min_samples_split=2, criterion=criterion)
    if criterion == "gini":
        scores = [c.score for c in candidates(table, range(6), range(6), 0, params)]
        assert scores == pytest.approx([2.8, 3.5, 14 / 3, 3.5, 3.6])
    tree = grow(table, range(6), range(6), tree_key(0, 0), params)
    nodes = tree.nodes
    assert [node.feature for node in nodes] == [0, None, 0, None, None]
    assert (nodes[0].threshold, nodes[2].threshold) == (3.5, 5.5)
    assert [node.depth for node in nodes] == [0, 1, 1, 2, 2]
    assert (nodes[0].left, nodes[2].left) == (1, 3)
    assert [node.leaf for node in nodes] == [-1, 0, -1, 1, 2]
    assert [node.label for node in nodes] == [-1, 0, -1, 1, 2]
    assert [node.n_estimation for node in nodes] == [6, 3, 3, 2, 1]
    assert nodes[3].masses.tolist() == [0, 2, 0]
    assert nodes[3].masses.dtype == np.float32
    assert nodes[0].missing_left
    assert nodes[2].missing_left
    assert apply(tree, X).tolist() == [1, 1, 1, 3, 3, 4]
    assert votes([tree, tree], X[3:4], 3).tolist() == [[0, 2, 0]]
    # G: root 6/5 * 22/36 = 11/15, right 3/2 * 4/9 = 2/3, its single child 2/3 too.
    expected = (6 * 11 / 15 - 3 * 0 - 3 * 2 / 3) + (3 * 2 / 3 - 0 - 1 * 2 / 3)
    assert estimation_importance(tree, 3, 3) == pytest.approx([expected / 6, 0, 0])
