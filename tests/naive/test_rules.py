# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the rules, of the order of their draws and of trees grown by them."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import poisson

from tests.leaves import leaf_options
from tests.naive.cases import (
    GREEDY,
    INF,
    NAN,
    Given,
    random_rows,
    regression_table,
    six_rows,
    table_of,
)
from tests.naive.grow import candidates, choose, grow
from tests.naive.model import Params
from tests.naive.predict import apply
from tests.naive.rng import Stream, tree_key
from tests.naive.rules import (
    Bernoulli,
    DataDriven,
    Denil,
    Greedy,
    Multinomial,
    Plan,
    Random,
    different_positions,
    draw_next_feature,
    poisson_number,
)
from tests.naive.sample import bootstrap, partition
from tests.naive.split import within_range

KEY = tree_key(0, 0)
RULES = [
    Multinomial(10, 10),
    Greedy(2),
    Denil(1.0, 10),
    Bernoulli(2, 0.3, 0.4),
    DataDriven(2, 0.5, 5, 5),
    Random(),
]


@pytest.mark.parametrize(
    ("rule", "numbers", "plan"),
    [
        (Multinomial(3, 4), [], Plan(5, 3, 4)),
        (Greedy(2), [], Plan(2, INF, INF)),
        (Greedy(9), [], Plan(5, INF, INF)),
        # Poisson sums with mean 1: 0.368, 0.736, 0.920, 0.981, 0.996, 0.9994.
        (Denil(1.0, 3), [0.36], Plan(1, INF, INF)),
        (Denil(1.0, 3), [0.37], Plan(2, INF, INF)),
        (Denil(1.0, 3), [0.95], Plan(4, INF, INF)),
        (Denil(1.0, 3), [0.9999], Plan(5, INF, INF)),
        # Two coins: one feature or more, then random or best.
        (Bernoulli(3, 0.25, 0.5), [0.24, 0.49], Plan(1, 0, 0)),
        (Bernoulli(3, 0.25, 0.5), [0.25, 0.49], Plan(3, 0, 0)),
        (Bernoulli(3, 0.25, 0.5), [0.24, 0.5], Plan(1, INF, INF)),
        (Bernoulli(9, 0.25, 0.5), [0.9, 0.9], Plan(5, INF, INF)),
        (DataDriven(2, 0.4, 3, 4), [0.39], Plan(2, 3, 4)),
        (DataDriven(9, 0.4, 3, 4), [0.4], Plan(5, INF, INF)),
        (Random(), [], Plan(1, 0, 0)),
    ],
)
def test_plans(rule, numbers, plan):
    """A rule of five features takes just these numbers and settles this."""
    stream = Given(*numbers)
    assert rule.plan(5, stream) == plan
    assert stream.left == []


@pytest.mark.parametrize("mean", [0.0, 0.3, 1.0, 4.5, 30.0])
def test_poisson_number(mean):
    """Inversion agrees with the quantiles of the Poisson distribution."""
    u = (np.arange(5000) + 0.5) / 5000
    got = [poisson_number(mean, 1000, x) for x in u]
    assert got == poisson.ppf(u, mean).astype(int).tolist()
    assert [poisson_number(mean, 3, x) for x in u] == np.minimum(got, 3).tolist()
    # A number that equals a sum belongs to the next one.
    assert poisson_number(mean, 9, math.exp(-mean)) == (1 if mean > 0 else 9)


def test_positions_by_hand():
    """Floyd's numbers: 8 / 2 = 4, then 4 again, so 8, then 8 again, so 9."""
    stream = Given(0.5, 0.5, 0.85)
    assert different_positions(10, 3, stream) == [4, 8, 9]
    assert stream.left == []
    # Few points: nothing is drawn. One more than that: all but one.
    assert Denil(1, 3).positions(3, Given()) is None
    assert Denil(1, 3).positions(4, Given(0.0, 0.0, 0.0)) == [0, 2, 3]
    for rule in (Multinomial(), Greedy(1), Bernoulli(1, 0, 0), Random()):
        assert rule.positions(100, Given()) is None


@pytest.mark.parametrize(("n", "p"), [(5, 1), (5, 2), (5, 3), (5, 4), (6, 3)])
def test_positions_are_uniform_subsets(n, p):
    """All numbers alike, each subset comes out equally often."""
    choices = [[(t + 0.5) / (j + 1) for t in range(j + 1)] for j in range(n - p, n)]
    hits = Counter(
        tuple(sorted(different_positions(n, p, Given(*numbers))))
        for numbers in itertools.product(*choices)
    )
    assert set(hits) == set(itertools.combinations(range(n), p))
    assert len(set(hits.values())) == 1


@pytest.mark.parametrize(("n", "m"), [(4, 1), (4, 2), (4, 4), (5, 3)])
def test_features_are_uniform_arrangements(n, m):
    """All numbers alike, each arrangement of m features comes out once."""
    choices = [[(t + 0.5) / (n - i) for t in range(n - i)] for i in range(m)]
    seen = []
    for numbers in itertools.product(*choices):
        order, stream = list(range(n)), Given(*numbers)
        seen.append(tuple(draw_next_feature(order, i, stream) for i in range(m)))
        assert tuple(order[:m]) == seen[-1]
        assert sorted(order) == list(range(n))
    assert sorted(seen) == sorted(itertools.permutations(range(n), m))


# Six rows, the classes 000112. Feature 0 has the codes 0 … 5 and the Gini scores 2.8,
# 3.5, 14/3, 3.5, 3.6; feature 1 is constant; feature 2 has the codes 010101 and the
# score 5/3 + 1.
CHOICES = [
    # Features 2 (third of three) and 0 (second of 1, 0); the best of them is 0.
    (Greedy(2), [0.7, 0.5, 0.0, 0.0], (0, 2)),
    # Features 1 and 0.
    (Greedy(2), [0.4, 0.0, 0.0, 0.9], (0, 2)),
    # Features 2 and 1: 0 is not looked at.
    (Greedy(2), [0.7, 0.0, 0.9, 0.9], (2, 0)),
    # Feature 1 has no cut, so the next is drawn: second of 0, 2, or first.
    (Greedy(1), [0.4, 0.9, 0.0, 0.0], (2, 0)),
    (Greedy(1), [0.4, 0.1, 0.0, 0.0], (0, 2)),
    # All features: no draw but for feature and cut.
    (Greedy(3), [0.9, 0.9], (0, 2)),
    (Multinomial(0, 0), [0.49, 0.79], (0, 3)),
    (Multinomial(0, 0), [0.5, 0.99], (2, 0)),
    # One feature, then any of its five cuts.
    (Random(), [0.3, 0.99, 0.79], (0, 3)),
    (Random(), [0.4, 0.9, 0.5, 0.5], (2, 0)),
    # Two coins, then one feature and its best or a random cut.
    (Bernoulli(3, 0.3, 0.6), [0.1, 0.9, 0.0, 0.9, 0.9], (0, 2)),
    (Bernoulli(3, 0.3, 0.6), [0.1, 0.1, 0.0, 0.9, 0.9], (0, 4)),
    # All features: the first or second of those with cuts, and a random cut.
    (Bernoulli(3, 0.3, 0.6), [0.3, 0.1, 0.4, 0.3], (0, 1)),
    (Bernoulli(3, 0.3, 0.6), [0.3, 0.1, 0.6, 0.3], (2, 0)),
    # A coin, one feature, and weights exp(2 (s - 1)) of the scores s in [0, 1]. Their
    # running sums are 0.135, 0.422, 1.422, 1.708 and 2.027.
    (DataDriven(1, 0.5, 7, 4), [0.1, 0.0, 0.5, 0.05], (0, 0)),
    (DataDriven(1, 0.5, 7, 4), [0.1, 0.0, 0.5, 0.1], (0, 1)),
    (DataDriven(1, 0.5, 7, 4), [0.1, 0.0, 0.5, 0.5], (0, 2)),
    (DataDriven(1, 0.5, 7, 4), [0.1, 0.0, 0.5, 0.75], (0, 3)),
    (DataDriven(1, 0.5, 7, 4), [0.1, 0.0, 0.5, 0.9], (0, 4)),
    (DataDriven(1, 0.5, 7, 4), [0.5, 0.0, 0.5, 0.9], (0, 2)),
    # N = 0, feature 0, points 3 (of 0 … 4) and 4 (of 0 … 5): one cut between them.
    (Denil(1.0, 2), [0.3, 0.2, 0.7, 0.7, 0.5, 0.5], (0, 3)),
    # N = 1: features 0 and 2 first, then points 3, 4 for the one (score 3.5) and 0, 1
    # for the other.
    (Denil(1.0, 2), [0.5, 0.2, 0.9, 0.7, 0.7, 0.0, 0.2, 0.5, 0.5], (0, 3)),
    # Points 4, 5 for the one (score 3.6); points 0, 2 leave the other without a cut.
    (Denil(1.0, 2), [0.5, 0.2, 0.9, 0.9, 0.9, 0.0, 0.4, 0.5, 0.5], (0, 4)),
    # Feature 2 with points 0 and 2, both of code 0; then feature 1 with points 0 and 5;
    # then feature 0, the only one left, with points 3 and 4.
    (
        Denil(1.0, 2),
        [0.3, 0.9, 0.0, 0.4, 0.0, 0.0, 0.0, 0.99, 0.7, 0.7, 0.5, 0.5],
        (0, 3),
    ),
    # As many points as the node has: no range.
    (Denil(1.0, 6), [0.3, 0.2, 0.5, 0.5], (0, 2)),
]


@pytest.mark.parametrize(("rule", "numbers", "chosen"), CHOICES)
def test_choices_by_hand(rule, numbers, chosen):
    """These numbers, and no more, choose this feature and this cut."""
    _, table = six_rows()
    stream = Given(*numbers)
    got = choose(table, range(6), range(6), stream, Params(rule))
    assert (got.feature, got.code) == chosen
    assert stream.left == []


def test_no_candidate_at_all():
    """Every feature is looked at before a node gives up."""
    table = table_of(np.ones((8, 3)), [0, 1] * 4)
    stream = Given(0.5, 0.5, 0.5)
    assert choose(table, range(8), range(8), stream, Params(Random())) is None
    assert stream.left == []
    assert choose(table, range(8), range(8), Given(), Params(Greedy(3))) is None


def test_range_of_a_numeric_feature():
    """Cuts inside the codes seen; missing alone if missing and another were seen."""
    table = table_of([[0], [1], [2], [3], [NAN]], [0, 1, 0, 1, 0])
    rows = range(5)
    found = candidates(table, rows, rows, 0, Params())
    assert len(found) == 7

    def kept(*positions):
        of_range = within_range(table, rows, 0, positions, found)
        return [(c.kind, c.code) for c in of_range]

    assert within_range(table, rows, 0, None, found) == found
    assert kept(0, 2) == [("cut", 0), ("cut", 0), ("cut", 1), ("cut", 1)]
    assert kept(2, 4, 1) == [("cut", 1), ("cut", 1), ("missing", 3)]
    assert kept(1, 4) == [("missing", 3)]
    assert kept(3) == []
    assert kept(4) == []


def test_range_of_categories():
    """Equality with the categories seen."""
    table = table_of([[0], [1], [2], [3], [NAN]], [0, 1, 0, 1, 0], categorical=[0])
    rows = range(5)
    found = candidates(table, rows, rows, 0, Params())

    def kept(*positions):
        of_range = within_range(table, rows, 0, positions, found)
        return [(c.kind, c.code, c.missing_left) for c in of_range]

    assert kept(3, 1) == [
        ("equals", 1, True),
        ("equals", 1, False),
        ("equals", 3, True),
        ("equals", 3, False),
    ]
    assert kept(2, 4)[1:] == [("equals", 2, False), ("missing", 3, False)]
    assert kept(4) == []


def test_positions_are_those_of_the_node():
    """Positions count the points of the node, and cuts lie between its codes."""
    table = table_of([[i] for i in range(10)], [0, 1] * 5)
    rows = [0, 4, 4, 9]
    found = candidates(table, rows, rows, 0, Params())
    assert [(c.code, c.neighbours) for c in found] == [(1, (0, 4)), (6, (4, 9))]
    assert [c.code for c in within_range(table, rows, 0, [2, 3], found)] == [6]
    assert [c.code for c in within_range(table, rows, 0, [0, 3], found)] == [1, 6]
    assert within_range(table, rows, 0, [1, 2], found) == []


def test_range_and_floor():
    """A candidate must pass both."""
    _, table = six_rows()
    params = Params(Denil(0.0, 2), **leaf_options("floor", 3))
    # N = 0 for any number. Feature 0 has the one cut 2 with three points on each side;
    # the points 3 and 4 leave it out. Feature 1 has none. Feature 2 has one, and the
    # points 0 and 5 keep it.
    numbers = [0.9, 0.2, 0.7, 0.7, 0.2, 0.5, 0.5, 0.0, 0.0, 0.0, 0.5, 0.5]
    stream = Given(*numbers)
    got = choose(table, range(6), range(6), stream, params)
    assert (got.feature, got.code) == (2, 0)
    assert stream.left == []


def test_bootstrap():
    """Points by the numbers of the sample stream, ascending."""
    assert bootstrap(KEY, 1) == [0]
    stream = Stream(KEY, 0, 0)
    expected = [int(stream.uniform() * 50) for _ in range(50)]
    assert bootstrap(KEY, 50) == sorted(expected)
    shares = [len(set(bootstrap(tree_key(1, t), 200))) / 200 for t in range(20)]
    assert np.mean(shares) == pytest.approx(1 - math.exp(-1), abs=0.02)


def test_one_list_of_points():
    """If the lists are one, the floor rule stops in a node of one class, too."""
    _, table = six_rows()
    params = Params(**GREEDY, **leaf_options("floor", 1))
    tree = grow(table, range(6), None, KEY, params)
    assert [node.threshold for node in tree.nodes if node.feature == 0] == [3.5, 5.5]
    assert [node.n_estimation for node in tree.nodes] == [6, 3, 3, 2, 1]
    assert [node.n_structure for node in tree.nodes] == [6, 3, 3, 2, 1]
    # Two equal lists are not one list: every point ends alone.
    assert len(grow(table, range(6), range(6), KEY, params).nodes) == 11
    # The stop rule does not care.
    params = Params(**GREEDY, min_samples_split=2)
    one = grow(table, range(6), None, KEY, params)
    assert str(one) == str(grow(table, range(6), range(6), KEY, params))


def lists_of(how: str, key, n: int):
    """Return structure and estimation points of a tree."""
    if how == "partition":
        return partition(key, n, 0.5)
    return (bootstrap(key, n) if how == "bootstrap" else range(n)), None


@pytest.mark.parametrize("how", ["partition", "bootstrap", "all"])
@pytest.mark.parametrize("leaf_rule", ["stop", "floor"])
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("criterion", ["gini", "variance"])
def test_trees_of_all_rules(criterion, rule, leaf_rule, how):
    """Raw rows reach the leaves they make, whatever the rule; the root is choose's."""
    X, y = random_rows(7, 60)
    if criterion == "variance":
        table, _, _ = regression_table(X, np.sin(np.arange(60.0)) + y, [2])
    else:
        table = table_of(X, y, [2])
    params = Params(rule, INF, **leaf_options(leaf_rule, 3), criterion=criterion)
    key = tree_key(5, 3)
    s, e = lists_of(how, key, 60)
    tree = grow(table, s, e, key, params)
    e = s if e is None else e
    leaves = apply(tree, X)
    assert len(tree.nodes) > 5
    for number, node in enumerate(tree.nodes):
        if node.feature is not None:
            continue
        rows = [row for row in e if leaves[row] == number]
        assert node.n_structure == sum(leaves[row] == number for row in s)
        assert node.n_estimation == len(rows) >= (3 if leaf_rule == "floor" else 1)
        if criterion == "variance":
            assert node.moment == sum(int(table.moment[row]) for row in rows)
            assert (node.mass, node.label, node.masses) == (len(rows), -1, None)
        else:
            counts = np.bincount(y[rows], minlength=table.n_classes)
            assert node.masses.tolist() == counts.tolist()
    root = choose(table, s, e, Stream(key, 1, 1), params)
    assert (root.feature, root.missing_left) == (
        tree.nodes[0].feature,
        tree.nodes[0].missing_left,
    )
    assert root.n_estimation == tuple(n.n_estimation for n in tree.nodes[1:3])
