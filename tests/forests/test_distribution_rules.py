# SPDX-License-Identifier: BSD-3-Clause
"""How often the rules of the other forests draw a split, against exact probabilities.

Features that cannot be cut are among the columns, so that further ones are drawn.
"""

from collections import Counter
from itertools import combinations, permutations, product

import numpy as np
import pytest
from scipy.stats import poisson

from mrforest import (
    CompletelyRandomForestClassifier,
    MultinomialForestClassifier,
    _core,
)
from tests.forests.distributions import (
    INF,
    LEAF,
    Question,
    after_drawing_features,
    all_questions,
    assert_alike,
    assert_fits,
    choice,
    coded,
    decrease,
    draw_roots,
    keys,
    mixture,
    question,
    roots_of,
)
from tests.leaves import leaf_options

KEYS = keys(6_000)
# Numbers with ties, a constant, numbers with gaps (code 3), categories, a constant.
N_BINS = [4, 1, 3, 3, 2]
IS_CATEGORICAL = [False, False, False, True, False]
CODES = np.array(
    [
        [0, 0, 0, 0, 1],
        [1, 0, 1, 0, 1],
        [1, 0, 3, 1, 1],
        [2, 0, 2, 1, 1],
        [2, 0, 0, 2, 1],
        [3, 0, 1, 2, 1],
        [3, 0, 3, 2, 1],
        [3, 0, 2, 0, 1],
    ]
)
TARGETS = {
    "gini": np.array([0, 0, 1, 0, 1, 1, 2, 2]),
    "entropy": np.array([0, 0, 1, 0, 1, 1, 2, 2]),
    "variance": np.array([9, 3, -40, 2, 0, 17, 60, 61]),
}
CRITERIA = list(TARGETS)
QUESTIONS = all_questions(CODES, N_BINS, IS_CATEGORICAL)


def scores_of(criterion: str) -> list[dict[Question, float]]:
    y = TARGETS[criterion]
    return [
        {name: decrease(y, left, criterion) for name, left in asked.items()}
        for asked in QUESTIONS
    ]


def observed(rule: _core.SplitRule, criterion: str) -> Counter:
    table = coded(CODES, TARGETS[criterion], N_BINS, IS_CATEGORICAL, criterion)
    trees = draw_roots(table, len(CODES), KEYS, rule)
    return Counter(map(question, trees))


def test_the_table_tells_rules_apart():
    """Three features can be cut, and each is the best of some choice of features."""
    assert [len(asked) for asked in QUESTIONS] == [3, 0, 5, 3, 0]
    scores = scores_of("gini")
    best = [max(of_cuts.values(), default=-1) for of_cuts in scores]
    assert len({round(score, 9) for score in best if score >= 0}) == 3
    chances = [after_drawing_features(scores, m, INF, INF) for m in range(1, 6)]
    # Ever fewer features have a chance, the more are looked at.
    features = [{name[0] for name, p in found.items() if p > 0} for found in chances]
    assert [len(found) for found in features] == [3, 3, 3, 2, 1]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("m", [1, 2, 4, 9])
def test_greedy(criterion, m):
    expected = after_drawing_features(scores_of(criterion), min(m, 5), INF, INF)
    assert_fits(observed(_core.Greedy(m), criterion), expected)


@pytest.mark.parametrize("criterion", ["gini", "variance"])
@pytest.mark.parametrize(("m", "p1", "p2"), [(3, 0.3, 0.6), (9, 0.5, 0.1), (2, 0, 1)])
def test_bernoulli(criterion, m, p1, p2):
    """Four cases: one feature or m, any cut or the best."""
    scores = scores_of(criterion)
    cases = []
    for (n, p), (budget, q) in product(
        [(1, p1), (min(m, 5), 1 - p1)], [(0, p2), (INF, 1 - p2)]
    ):
        cases.append((p * q, after_drawing_features(scores, n, budget, budget)))
    assert_fits(observed(_core.Bernoulli(m, p1, p2), criterion), mixture(cases))


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize(
    ("m", "p", "b1", "b2"), [(3, 0.4, 6.0, 3.0), (9, 0.7, 0.0, 8.0), (1, 1.0, 5.0, 0.0)]
)
def test_data_driven(criterion, m, p, b1, b2):
    """Two cases: drawn with budgets, or the best, of the same number of features."""
    scores, n = scores_of(criterion), min(m, 5)
    drawn = after_drawing_features(scores, n, b1, b2)
    best = after_drawing_features(scores, n, INF, INF)
    expected = mixture([(p, drawn), (1 - p, best)])
    assert_fits(observed(_core.DataDriven(m, p, b1, b2), criterion), expected)


def test_random():
    """Any feature that can be cut, then any cut of it."""
    able = [asked for asked in QUESTIONS if asked]
    expected = {name: 1 / len(able) / len(asked) for asked in able for name in asked}
    assert_fits(observed(_core.Random(), "gini"), expected)
    # So does the multinomial rule without budgets.
    assert choice(scores_of("gini"), 0, 0) == pytest.approx(expected)


@pytest.mark.parametrize("leaf_rule", ["stop", "floor"])
def test_random_forest_is_the_multinomial_one_without_budgets(leaf_rule):
    """Two forests of stumps with other seeds: structure points differ, too."""
    X = np.where(CODES == 3, np.nan, CODES).repeat(2, axis=0)
    y = TARGETS["gini"].repeat(2)
    params = {
        "max_depth": 1,
        **leaf_options(leaf_rule, 2),
        "categorical_features": [3],
    }
    forests = (
        CompletelyRandomForestClassifier(2000, random_state=1, **params),
        MultinomialForestClassifier(
            2000, feature_budget=0, split_budget=0, random_state=2, **params
        ),
    )
    one, other = (Counter(roots_of(forest.fit(X, y))) for forest in forests)
    assert len(one) > 10
    assert_alike(one, other)


# ---- Denil --------------------------------------------------------------------------


def kept(feature: int, points: tuple[int, ...]) -> frozenset:
    """Return the questions in the range of some points.

    A cut must have seen values on both sides, a category must be among them, and
    "missing or not" needs both.
    """
    column = CODES[list(points), feature]
    missing = column == N_BINS[feature]
    seen = column[~missing]
    names = set()
    for name in QUESTIONS[feature]:
        _, threshold, is_equality, _ = name
        if threshold == INF:
            keep = len(seen) > 0 and missing.any()
        elif is_equality:
            keep = threshold in seen
        else:
            keep = len(seen) > 0 and seen.min() < threshold < seen.max()
        if keep:
            names.add(name)
    return frozenset(names)


def ranges(feature: int, n_points: int) -> dict[frozenset, float]:
    """Return the probability of each set of questions that a range may keep."""
    subsets = list(combinations(range(len(CODES)), n_points))
    counts = Counter(kept(feature, points) for points in subsets)
    return {names: count / len(subsets) for names, count in counts.items()}


def denil_probabilities(criterion: str, mean: float, n_points: int) -> dict:
    """Enumerate orders of features, their number, and what their ranges keep."""
    scores, n_features = scores_of(criterion), len(N_BINS)
    of_feature = [ranges(f, n_points) for f in range(n_features)]
    number = [poisson.pmf(m - 1, mean) for m in range(1, n_features)]
    number.append(1 - sum(number))
    known = {}

    def best(looked_at: list[dict]) -> dict:
        names = frozenset(name for found in looked_at for name in found)
        if names not in known:
            known[names] = choice(looked_at, INF, INF)
        return known[names]

    def from_here(order, m, looked_at: list[dict], chance: float) -> list:
        """Look at the next feature, unless enough have been looked at."""
        if len(looked_at) >= m and any(looked_at):
            return [(chance, best(looked_at))]
        if len(looked_at) == n_features:
            return [(chance, {LEAF: 1.0})]
        feature = order[len(looked_at)]
        parts = []
        for names, p in of_feature[feature].items():
            found = {name: scores[feature][name] for name in names}
            parts += from_here(order, m, [*looked_at, found], chance * p)
        return parts

    orders = list(permutations(range(n_features)))
    parts = []
    for m, p in enumerate(number, start=1):
        if p < 1e-12:
            continue
        for order in orders:
            parts += from_here(order, m, [], p / len(orders))
    return mixture(parts)


@pytest.mark.parametrize(
    ("criterion", "mean", "n_points"),
    [
        ("gini", 0.0, 2),
        ("gini", 1.2, 2),
        ("variance", 0.7, 3),
        ("entropy", 2.5, 6),
        ("gini", 1.2, 1),
    ],
)
def test_denil(criterion, mean, n_points):
    """Poisson weights for the number of features, subsets of points for the ranges."""
    expected = denil_probabilities(criterion, mean, n_points)
    assert len(expected) >= 3
    assert_fits(observed(_core.Denil(mean, n_points), criterion), expected)


@pytest.mark.parametrize("n_points", [8, 9, 10**6])
def test_denil_with_few_points(n_points):
    """As many points as the node has, or more: no range."""
    scores = scores_of("gini")
    number = [poisson.pmf(m - 1, 1.2) for m in range(1, 5)]
    number.append(1 - sum(number))
    expected = mixture(
        (p, after_drawing_features(scores, m, INF, INF))
        for m, p in enumerate(number, start=1)
    )
    assert_fits(observed(_core.Denil(1.2, n_points), "gini"), expected)
