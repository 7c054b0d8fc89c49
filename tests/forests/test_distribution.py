# SPDX-License-Identifier: BSD-3-Clause
"""How often the multinomial rule draws a split, and how often a label is drawn."""

import math
from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.tree import DecisionTreeClassifier

from mrforest import MultinomialForestClassifier, _core
from mrforest.forests.sampling import tree_key
from tests.forests.distributions import (
    INF,
    all_questions,
    assert_fits,
    choice,
    coded,
    decrease,
    draw_roots,
    keys,
    question,
)
from tests.naive.cases import random_rows, table_of
from tests.naive.draw import draw_probabilities
from tests.naive.grow import Params, candidates
from tests.naive.score import tolerance_of

KEYS = keys(6_000)
BUDGETS = [(0.0, 0.0), (10.0, 10.0), (2.0, 7.0), (INF, INF)]

# Codes are the values themselves. Columns: numbers, numbers with gaps, categories, and
# the first column backwards, so that it ties with it. A code of n_bins is missing.
N_BINS = [5, 3, 3, 5]
IS_CATEGORICAL = [False, False, True, False]
CODES = np.array(
    [
        [0, 0, 0, 4],
        [0, 3, 1, 4],
        [1, 1, 2, 3],
        [1, 2, 2, 3],
        [2, 2, 0, 2],
        [2, 3, 1, 2],
        [3, 1, 2, 1],
        [3, 0, 2, 1],
        [4, 2, 0, 0],
        [4, 3, 1, 0],
    ],
)
# Mirrored, so the first and the last cut of columns 0 and 3 tie.
Y = np.array([0, 0, 1, 1, 1, 1, 1, 1, 2, 2])
TARGETS = {"gini": Y, "entropy": Y, "variance": 1000 * Y}
CRITERIA = list(TARGETS)


def exact_probabilities(criterion: str, b1: float, b2: float) -> dict:
    questions = all_questions(CODES, N_BINS, IS_CATEGORICAL)
    scores = [
        {
            name: decrease(TARGETS[criterion], left, criterion)
            for name, left in q.items()
        }
        for q in questions
    ]
    return choice(scores, b1, b2)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(("b1", "b2"), BUDGETS)
def test_splits_are_drawn_as_often_as_the_paper_says(criterion, b1, b2):
    table = coded(CODES, TARGETS[criterion], N_BINS, IS_CATEGORICAL, criterion)
    trees = draw_roots(table, len(Y), KEYS, _core.Multinomial(b1, b2))
    observed = Counter(map(question, trees))
    assert_fits(observed, exact_probabilities(criterion, b1, b2))

    # Lemma 3: no feature is starved. Five sigma for the observed shares.
    drawn = Counter()
    for (feature, *_), count in observed.items():
        drawn[feature] += count / len(KEYS)
    if b1 < INF:
        bound = 1 / (1 + (len(N_BINS) - 1) * math.exp(b1))
        margin = 5 * math.sqrt(bound * (1 - bound) / len(KEYS))
        assert set(drawn) == set(range(len(N_BINS)))
        assert min(drawn.values()) >= bound - margin


@pytest.mark.parametrize("criterion", CRITERIA)
def test_there_is_something_to_tell_apart(criterion):
    """The table above has ties between features and between cuts, and no other."""
    greedy = [p for p in exact_probabilities(criterion, INF, INF).values() if p > 0]
    assert greedy == pytest.approx([1 / 4] * 4)
    uniform = exact_probabilities(criterion, 0, 0)
    assert len(uniform) == 4 + 5 + 3 + 4
    assert uniform[0, 0.5, False, False] == pytest.approx(1 / 4 / 4)
    assert uniform[1, INF, False, False] == pytest.approx(1 / 4 / 5)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("budget", [0.0, 0.7, 2.0, 10.0])
def test_no_feature_is_starved(criterion, budget):
    """Lemma 3, and the bound without the paper's factor of 2 in the exponent."""
    for seed in range(15):
        table = table_of(*random_rows(seed, n=40), categorical=[2])
        rows, params = range(40), Params(criterion=criterion)
        found = [candidates(table, rows, rows, feature, params) for feature in range(3)]
        best = [max(c.score for c in of_feature) for of_feature in found]
        tolerance = tolerance_of(table, rows, params)
        lowest = draw_probabilities(best, budget, tolerance).min()
        assert lowest >= 1 / (1 + 2 * math.exp(budget))
        assert lowest >= 1 / (1 + 2 * math.exp(budget / 2)) * (1 - 1e-12)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_infinite_budgets_find_the_best_split(criterion):
    """Brute force over all splits and, where there is no tie, scikit-learn's tree."""
    n_compared = 0
    for number in range(40):
        rng = np.random.default_rng(number)
        codes = np.stack([rng.permutation(60) for _ in range(4)], axis=1)
        y = ((codes[:, number % 4] > rng.integers(10, 50)) ^ (rng.random(60) < 0.2)) * 1
        table = coded(codes, y, [60] * 4, [False] * 4, criterion)
        rule = _core.Multinomial(INF, INF)
        (tree,) = draw_roots(table, 60, [tree_key(0, number)], rule)
        scores = {
            name[:2]: decrease(y, left, criterion)
            for asked in all_questions(codes, [60] * 4, [False] * 4)
            for name, left in asked.items()
        }
        best = max(scores.values())
        drawn = question(tree)[:2]
        assert scores[drawn] == pytest.approx(best, abs=1e-12)
        if sum(score > best - 1e-9 for score in scores.values()) == 1:
            cart = DecisionTreeClassifier(criterion=criterion, max_depth=1)
            root = cart.fit(codes, y).tree_
            assert drawn == (root.feature[0], root.threshold[0])
            n_compared += 1
    assert n_compared > 20


def test_infinite_budgets_split_structure_points_as_cart_does():
    """Through the estimator: every tree is greedy on its own structure points."""
    rng = np.random.default_rng(8)
    X = rng.permutation(200 * 3).reshape(200, 3).astype(float)
    y = (X[:, 1] > 310) ^ (rng.random(200) < 0.1)
    forest = MultinomialForestClassifier(
        20, feature_budget=INF, split_budget=INF, max_depth=1, random_state=0
    ).fit(X, y)
    for number, tree in enumerate(forest.estimators_):
        rows = forest.structure_samples(number)
        cart = DecisionTreeClassifier(max_depth=1).fit(X[rows], y[rows]).tree_
        assert tree.feature[0] == cart.feature[0]
        ours = X[rows, tree.feature[0]] <= tree.threshold[0]
        assert_array_equal(ours, X[rows, cart.feature[0]] <= cart.threshold[0])


# ---- labels -------------------------------------------------------------------------

LABELS = np.array([0] * 2 + [1] * 5 + [3] * 2 + [4] * 5)
SHARES = np.bincount(LABELS, minlength=6) / len(LABELS)  # classes 2 and 5 are absent


@pytest.mark.parametrize("budget", [0.0, 1.0, 7.0, 40.0, INF])
def test_labels_are_drawn_among_all_classes(budget):
    codes = np.zeros((len(LABELS), 1), dtype=int)
    table = coded(codes, LABELS, [1], [False], n_classes=6)
    trees = draw_roots(
        table,
        len(LABELS),
        KEYS,
        _core.Multinomial(1.0, 1.0),
        max_depth=0,
        label_budget=budget,
    )
    observed = Counter(int(tree["leaf_label"][0]) for tree in trees)
    if budget == INF:
        weights = np.isclose(SHARES, SHARES.max()) * 1.0
    else:
        weights = np.exp(budget / 2 * SHARES)
    assert_fits(observed, dict(enumerate(weights / weights.sum())))


def test_a_label_is_drawn_once():
    """Calls of predict do not draw again, nor do the trees taken alone."""
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 2)), rng.integers(0, 3, 60)
    forest = MultinomialForestClassifier(50, label_budget=0.0, random_state=0).fit(X, y)
    votes = forest.predict_proba(X)
    assert ((votes > 0).sum(axis=1) > 1).all()
    for _ in range(3):
        assert_array_equal(forest.predict_proba(X), votes)
    alone = np.mean([tree.predict_proba(X) for tree in forest.estimators_], axis=0)
    np.testing.assert_allclose(alone, votes)
