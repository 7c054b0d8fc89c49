# SPDX-License-Identifier: BSD-3-Clause
"""How often a split or a label is drawn: exact probabilities, limits, bounds.

The probabilities are computed here from the paper's formulas, apart from the twin. Keys
are fixed, so a test that passes once passes always.
"""

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import chisquare
from sklearn.tree import DecisionTreeClassifier

from mrforest import MultinomialForestClassifier, _core
from mrforest.forests._flat import EQUALITY, FEATURE_MASK, MISSING_LEFT
from mrforest.forests._sampling import tree_key
from tests.naive.cases import random_rows, table_of
from tests.naive.draw import draw_probabilities
from tests.naive.grow import Params, candidates
from tests.naive.score import tolerance_of

INF = math.inf
N_DRAWS = 50_000
# 1 in 10,000 by chance; the keys are fixed, so chance has been taken once.
P_VALUE = 1e-4
# Neighbouring keys are as good as any.
KEYS = np.stack([np.full(N_DRAWS, 2024), np.arange(N_DRAWS)], axis=1).astype(np.uint64)
NOT_INTERRUPTED = np.zeros(1, dtype=np.uint8)
BUDGETS = [(0.0, 0.0), (10.0, 10.0), (2.0, 7.0), (INF, INF)]

# Codes are the values themselves. Columns: numbers, numbers with gaps, categories, and
# the first column backwards, so that it ties with it. A code of n_bins is missing.
N_BINS = np.array([5, 3, 3, 5], dtype=np.int32)
IS_CATEGORICAL = np.array([False, False, True, False])
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
    dtype=np.uint8,
)
# Mirrored, so the first and the last cut of columns 0 and 3 tie.
Y = np.array([0, 0, 1, 1, 1, 1, 1, 1, 2, 2], dtype=np.int32)


def compiled(codes, y, n_bins, is_categorical, n_classes, criterion):
    """Return the table whose cut number c lies at c + 0.5."""
    lengths = np.where(is_categorical, 0, np.asarray(n_bins) - 1)
    return _core.TrainingTable(
        np.ascontiguousarray(codes, dtype=np.uint8),
        np.asarray(y, dtype=np.int32),
        n_classes,
        np.asarray(n_bins, dtype=np.int32),
        np.asarray(is_categorical, dtype=bool),
        np.concatenate([np.arange(length) + 0.5 for length in lengths]),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        None,
        None,
        criterion,
    )


def draw_roots(table, n_rows, keys, budgets, depth=1, label_budget=INF) -> Iterator:
    """Grow the root only, once for each key."""
    rule = _core.Multinomial(*budgets)
    rows = np.arange(n_rows, dtype=np.int32)
    for key in keys:
        yield _core.grow_tree(
            table,
            rule,
            rows.copy(),
            rows.copy(),
            key,
            min_leaf=1,
            has_floor=False,
            max_depth=depth,
            label_budget=label_budget,
            interrupt=NOT_INTERRUPTED,
        )


def question(root) -> tuple[int, float, bool, bool]:
    """Return what a root asks: feature, threshold, "is it equal?", "missing left?"."""
    flags = root["feature"]
    number = int(flags & FEATURE_MASK)
    equality, missing = bool(flags & EQUALITY), bool(flags & MISSING_LEFT)
    return number, float(root["threshold"]), equality, missing


def impurity(y: np.ndarray, criterion: str) -> float:
    shares = np.bincount(y) / len(y)
    if criterion == "gini":
        return 1 - float((shares**2).sum())
    return -sum(share * math.log(share) for share in shares if share > 0)


def decrease(y: np.ndarray, left: np.ndarray, criterion: str) -> float:
    """Impurity decrease of a split, as in the paper."""
    after = left.mean() * impurity(y[left], criterion)
    return (
        impurity(y, criterion) - after - (~left).mean() * impurity(y[~left], criterion)
    )


def all_questions(codes, n_bins, is_categorical) -> list[dict]:
    """Return for each feature what may be asked, and who goes left."""
    out = []
    for feature, column in enumerate(codes.T):
        missing = column == n_bins[feature]
        present = np.unique(column[~missing])
        asked = {}
        for i, value in enumerate(present):
            if is_categorical[feature]:
                left, threshold = column == value, float(value)
            elif i + 1 < len(present):
                left, threshold = column <= value, float(value) + 0.5
            else:
                continue
            name = (feature, threshold, bool(is_categorical[feature]))
            if missing.any():
                asked[(*name, True)] = left | missing
                asked[(*name, False)] = left & ~missing
            else:
                asked[(*name, bool(left.sum() >= (~left).sum()))] = left
        if missing.any():
            asked[(feature, INF, False, False)] = ~missing
        out.append(asked)
    return out


def softmax(scores: list[float], budget: float) -> np.ndarray:
    """Return probabilities: scores stretched to 0..1, times B / 2, exponentials."""
    scores = np.array(scores)
    span = scores.max() - scores.min()
    stretched = (scores - scores.min()) / span if span > 1e-9 else np.zeros(len(scores))
    if budget == INF:
        best = stretched >= stretched.max() - 1e-9
        return best / best.sum()
    weights = np.exp(budget / 2 * stretched)
    return weights / weights.sum()


def exact_probabilities(criterion: str, b1: float, b2: float) -> dict:
    """Return the probability of each question: of its feature, times of its cut."""
    questions = all_questions(CODES, N_BINS, IS_CATEGORICAL)
    scores = [
        [decrease(Y, left, criterion) for left in asked.values()] for asked in questions
    ]
    out = {}
    of_feature = softmax([max(of_cuts) for of_cuts in scores], b1)
    for asked, of_cuts, p in zip(questions, scores, of_feature, strict=True):
        out.update(zip(asked, p * softmax(of_cuts, b2), strict=True))
    return out


def assert_fits(observed: Counter, expected: dict) -> None:
    """Chi-square test; what is rarer than 5 in all draws is counted together."""
    n = sum(observed.values())
    assert sum(expected.values()) == pytest.approx(1)
    possible = {name for name, p in expected.items() if p > 0}
    assert set(observed) <= possible
    common = [name for name in possible if expected[name] * n >= 5]
    counts = [observed[name] for name in common]
    wanted = [expected[name] * n for name in common]
    if len(common) < len(possible):
        counts.append(n - sum(counts))
        wanted.append(n - sum(wanted))
    if len(counts) > 1:
        assert chisquare(counts, wanted, sum_check=False).pvalue > P_VALUE


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize(("b1", "b2"), BUDGETS)
def test_splits_are_drawn_as_often_as_the_paper_says(criterion, b1, b2):
    table = compiled(CODES, Y, N_BINS, IS_CATEGORICAL, 3, criterion)
    trees = draw_roots(table, len(Y), KEYS, (b1, b2))
    observed = Counter(question(tree["nodes"][0]) for tree in trees)
    expected = exact_probabilities(criterion, b1, b2)
    assert_fits(observed, expected)

    # Lemma 3: no feature is starved. Five sigma for the observed shares.
    drawn = Counter()
    for (feature, *_), count in observed.items():
        drawn[feature] += count / N_DRAWS
    if b1 < INF:
        bound = 1 / (1 + (len(N_BINS) - 1) * math.exp(b1))
        margin = 5 * math.sqrt(bound * (1 - bound) / N_DRAWS)
        assert set(drawn) == set(range(len(N_BINS)))
        assert min(drawn.values()) >= bound - margin


def test_there_is_something_to_tell_apart():
    """The table above has ties between features and between cuts, and no other."""
    greedy = [p for p in exact_probabilities("gini", INF, INF).values() if p > 0]
    assert greedy == pytest.approx([1 / 4] * 4)
    uniform = exact_probabilities("gini", 0, 0)
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
        table = compiled(codes, y, [60] * 4, [False] * 4, 2, criterion)
        (tree,) = draw_roots(table, 60, [tree_key(0, number)], (INF, INF))
        scores = {
            name[:2]: decrease(y, left, criterion)
            for asked in all_questions(codes, [60] * 4, [False] * 4)
            for name, left in asked.items()
        }
        best = max(scores.values())
        drawn = question(tree["nodes"][0])[:2]
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


LABELS = np.array([0] * 2 + [1] * 5 + [3] * 2 + [4] * 5, dtype=np.int32)
SHARES = np.bincount(LABELS, minlength=6) / len(LABELS)  # classes 2 and 5 are absent


@pytest.mark.parametrize("budget", [0.0, 1.0, 7.0, 40.0, INF])
def test_labels_are_drawn_among_all_classes(budget):
    codes = np.zeros((len(LABELS), 1))
    table = compiled(codes, LABELS, [1], [False], 6, "gini")
    trees = draw_roots(table, len(LABELS), KEYS, (1.0, 1.0), 0, label_budget=budget)
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
