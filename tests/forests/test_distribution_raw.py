# SPDX-License-Identifier: BSD-3-Clause
"""How often forests that cut values, cells or rows draw what; how bags are drawn."""

from collections import Counter
from itertools import combinations, permutations, product

import numpy as np
import pytest
from scipy.stats import binom, kstest

from mrforest import (
    CenteredForestClassifier,
    CompletelyRandomForestClassifier,
    PurelyRandomForestClassifier,
    _core,
)
from tests.forests.distributions import (
    INF,
    P_VALUE,
    assert_fits,
    choice,
    decrease,
    keys,
    limits,
    roots_of,
)

N_TREES = 1500
# Numbers, numbers with gaps, categories, a constant.
X = np.array(
    [
        [0.0, 10.0, 0.0, 7.0],
        [0.1, 20.0, 1.0, 7.0],
        [0.5, np.nan, 2.0, 7.0],
        [3.0, 40.0, 2.0, 7.0],
        [3.5, 30.0, 2.0, 7.0],
        [4.0, np.nan, 1.0, 7.0],
    ]
)
Y = np.array([0, 1, 0, 1, 1, 0])


def stumps(forest):
    forest.set_params(
        n_estimators=N_TREES, categorical_features=[2], random_state=0
    ).fit(X, Y)
    return roots_of(forest)


def assert_roots(roots, *, gap_is_a_coin_everywhere: bool) -> None:
    """Check features, thresholds, categories and coins, each for itself."""
    assert_fits(Counter(root[0] for root in roots), dict.fromkeys(range(3), 1 / 3))
    of = {f: [root for root in roots if root[0] == f] for f in range(3)}
    low, high = {0: 0.0, 1: 10.0}, {0: 4.0, 1: 40.0}
    for f in (0, 1):
        thresholds = np.array([root[1] for root in of[f]])
        scaled = (thresholds - low[f]) / (high[f] - low[f])
        assert kstest(scaled, "uniform").pvalue > P_VALUE
        assert len(set(thresholds)) == len(thresholds)
        assert not any(root[2] for root in of[f])
    categories = Counter(root[1] for root in of[2])
    assert_fits(categories, dict.fromkeys([0.0, 1.0, 2.0], 1 / 3))
    assert all(root[2] for root in of[2])
    coins = {True: 1 / 2, False: 1 / 2}
    with_coin = (0, 1, 2) if gap_is_a_coin_everywhere else (1,)
    for f in with_coin:
        assert_fits(Counter(root[3] for root in of[f]), coins)
    if not gap_is_a_coin_everywhere:
        # Without a gap: to the side with more points, left if equal.
        for f, threshold, is_equality, missing_left in of[0] + of[2]:
            column = X[:, f]
            left = column == threshold if is_equality else column <= threshold
            assert missing_left == (left.sum() >= 3)


def test_cuts_in_the_range_are_uniform():
    roots = stumps(
        CompletelyRandomForestClassifier(cuts="range", min_samples_split=2, max_depth=1)
    )
    assert_roots(roots, gap_is_a_coin_everywhere=False)


def test_cuts_of_a_purely_random_root_are_uniform():
    roots = stumps(PurelyRandomForestClassifier(max_leaf_nodes=2))
    assert_roots(roots, gap_is_a_coin_everywhere=True)


def test_purely_random_trees_cut_any_leaf():
    """Third and fourth leaves come from any of those that are there."""
    forest = PurelyRandomForestClassifier(N_TREES, max_leaf_nodes=4, random_state=1)
    flat = forest.fit(X[:, :1], Y)._forest
    shapes = Counter()
    for first in flat.tree_start[:-1]:
        children = flat.nodes["child"][first : first + 7] >= 0
        shapes["".join("*" if inner else "." for inner in children)] += 1
    # Nodes breadth first; * is cut. A leaf is picked with 1/2, then with 1/3.
    expected = {
        "***....": 1 / 3,  # both children, in either order
        "**.*...": 1 / 6,
        "**..*..": 1 / 6,
        "*.**...": 1 / 6,
        "*.*.*..": 1 / 6,
    }
    assert_fits(shapes, expected)


@pytest.mark.parametrize("n_tries", [1, 2, 3])
def test_centered_cuts_are_the_best_of_some_tries(n_tries):
    """A feature, a middle or a category, and a coin, drawn with replacement.

    A fraction so low that all rows but one shape the tree makes structure points nearly
    fixed: the left-out row is uniform.
    """
    forest = CenteredForestClassifier(
        max_leaf_nodes=2, max_features=n_tries, honest_fraction=1e-9
    )
    roots = Counter(stumps(forest))
    tries = {}  # what may be tried, and its probability
    for missing_left in (False, True):
        tries[0, 2.0, False, missing_left] = 1 / 6
        tries[1, 25.0, False, missing_left] = 1 / 6
        for category in (0.0, 1.0, 2.0):
            tries[2, category, True, missing_left] = 1 / 18
    expected = Counter()
    for left_out in range(6):
        rows = np.arange(6) != left_out
        scores = {}
        for name in tries:
            column = X[rows, name[0]]
            left = column == name[1] if name[2] else column <= name[1]
            left = np.where(np.isnan(column), name[3], left)
            both = left.any() and not left.all()
            scores[name] = decrease(Y[rows], left, "gini") if both else 0.0
        for drawn in product(tries, repeat=n_tries):
            chance = np.prod([tries[name] for name in drawn]) / 6
            # Each try is a feature of its own: the best of them, ties evenly.
            alternatives = [{(i, name): scores[name]} for i, name in enumerate(drawn)]
            for (_, name), p in choice(alternatives, INF, INF).items():
                expected[name] += chance * p
    assert_fits(roots, dict(expected))


# ---- comparisons --------------------------------------------------------------------

POINTS = np.array([[0.0], [1.0], [3.0], [7.0], [7.0]])
LABELS = np.array([0, 1, 1, 0, 1])


def pair_probabilities(is_good: dict) -> dict:
    """Return the probability of each ordered pair: 16 tries, then a search."""
    n = len(POINTS)
    good = [pair for pair, fine in is_good.items() if fine]
    fails = (1 - len(good) / (n * (n - 1))) ** 16
    out = {}
    for p, q in good:
        partners = sum(first == p for first, _ in good)
        out[p, q] = (1 - fails) / len(good) + fails / n / partners
    return out


@pytest.mark.parametrize("supervised", [False, True])
def test_pivots_are_uniform_over_good_pairs(supervised):
    """Rows that can be told apart, of different classes if asked for."""
    distances = np.abs(POINTS - POINTS.T)
    is_good = {
        (p, q): distances[p, q] > 0 and (LABELS[p] != LABELS[q] or not supervised)
        for p, q in permutations(range(len(POINTS)), 2)
    }
    expected = pair_probabilities(is_good)
    assert len(expected) == (10 if supervised else 18)
    assert_fits(roots_by_comparison(distances, supervised), expected)


def roots_by_comparison(distances: np.ndarray, supervised: bool) -> Counter:
    """Grow roots with all rows as structure and estimation points."""
    target = _core.Target(LABELS.astype(np.int32), 2, None, None, None, "gini")
    table = _core.TrainingTable(target, np.zeros(5, dtype=bool), values=distances)
    rows = np.arange(len(LABELS), dtype=np.int32)
    comparer = _core.MatrixComparer(distances, rows)
    drawn = Counter()
    for key in keys(4000):
        tree = _core.grow_by_comparisons(
            table,
            rows.copy(),
            None if supervised else rows.copy(),
            key,
            limits(),
            comparer=comparer,
            supervised=supervised,
        )
        p, q = tree["pivots"][0]
        drawn[int(p), int(q)] += 1
    return drawn


# ---- points of a tree ---------------------------------------------------------------


def test_points_of_a_bag():
    """Every point is as likely, and its multiplicity is binomial."""
    n, n_bags = 8, 4000
    bags = np.stack([_core.bootstrap_points(key, n) for key in keys(n_bags)])
    assert bags.shape == (n_bags, n)
    assert (np.diff(bags, axis=1) >= 0).all()
    counts = np.stack([(bags == point).sum(axis=1) for point in range(n)], axis=1)
    assert_fits(Counter(bags.ravel().tolist()), dict.fromkeys(range(n), 1 / n))
    for point in (0, n - 1):
        expected = dict(enumerate(binom.pmf(np.arange(n + 1), n, 1 / n)))
        assert_fits(Counter(counts[:, point].tolist()), expected)
    # Two points together: the draws are independent.
    both = Counter((counts[:, [1, 5]] > 0).all(axis=1).tolist())
    p = 1 - 2 * (1 - 1 / n) ** n + (1 - 2 / n) ** n
    assert_fits(both, {True: p, False: 1 - p})


@pytest.mark.parametrize("n_structure", [1, 2, 3])
def test_points_of_a_partition(n_structure):
    """All subsets of a size are as likely; the rest fills the tree."""
    n = 5
    drawn = Counter()
    for key in keys(4000):
        structure, estimation = _core.partition_points(key, n, n_structure)
        assert sorted([*structure, *estimation]) == list(range(n))
        drawn[tuple(structure.tolist())] += 1
    subsets = list(combinations(range(n), n_structure))
    assert_fits(drawn, dict.fromkeys(subsets, 1 / len(subsets)))
