# SPDX-License-Identifier: BSD-3-Clause
"""How often the root asks a question: observed, and by the formulas of the papers.

The probabilities are computed here apart from the twin. Keys are fixed, so a test that
passes once passes always.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chi2_contingency, chisquare

from mrforest import _core
from mrforest.model.nodes import EQUALITY, FEATURE_MASK, MISSING_LEFT
from tests.core.tables import compiled_table
from tests.naive.grow import Table

INF = math.inf
# 1 in 10,000 by chance; the keys are fixed, so chance has been taken once.
P_VALUE = 1e-4
NOT_INTERRUPTED = np.zeros(1, dtype=np.uint8)

# Feature, threshold, "is it equal?", "missing left?"
Question = tuple[int, float, bool, bool]
LEAF = (-1, math.nan, False, False)
# Feature by feature, what may be asked and who goes left
Questions = list[dict[Question, np.ndarray]]


def keys(n: int) -> np.ndarray:
    """Return n keys; neighbouring ones are as good as any."""
    return np.stack([np.full(n, 2024), np.arange(n)], axis=1).astype(np.uint64)


def coded(codes, y, n_bins, is_categorical, criterion="gini", n_classes=None):
    """Return the table whose cut number c lies at c + 0.5; y may hold numbers."""
    moment = None
    if criterion == "variance":
        moment = np.asarray(y, dtype=np.int64)
        y = np.unique(moment, return_inverse=True)[1]
    cuts = [
        np.arange(0 if categorical else bins - 1) + 0.5
        for bins, categorical in zip(n_bins, is_categorical, strict=True)
    ]
    n_classes = int(np.max(y)) + 1 if n_classes is None else n_classes
    table = Table(
        np.asarray(codes), n_bins, is_categorical, cuts, y, n_classes, moment=moment
    )
    return compiled_table(table, criterion, wide=False)


def limits(max_depth: int = 1, label_budget: float = INF) -> _core.Limits:
    """Return limits that let the root be split."""
    return _core.Limits(
        min_split=2,
        min_leaf=0,
        max_depth=max_depth,
        min_weight=0.0,
        label_budget=label_budget,
        interrupt=NOT_INTERRUPTED,
    )


def draw_roots(table, n_rows: int, keys, rule, **params) -> Iterator[dict]:
    """Grow the root only, once for each key, from all rows."""
    rows, of_root = np.arange(n_rows, dtype=np.int32), limits(**params)
    for key in keys:
        yield _core.grow_tree(table, rows.copy(), rows.copy(), key, of_root, rule=rule)


def question(tree: dict) -> Question:
    """Return what the root of a tree asks."""
    return asked_by(tree["nodes"][0])


def roots_of(forest) -> list[Question]:
    """Return what the roots of a fitted forest ask."""
    flat = forest._forest
    return [asked_by(root) for root in flat.nodes[flat.tree_start[:-1]]]


def asked_by(root: np.void) -> Question:
    if root["child"] < 0:
        return LEAF
    flags = root["feature"]
    number = int(flags & FEATURE_MASK)
    equality, missing = bool(flags & EQUALITY), bool(flags & MISSING_LEFT)
    return number, float(root["threshold"]), equality, missing


# ---- by the papers ------------------------------------------------------------------


def impurity(y: np.ndarray, criterion: str) -> float:
    if criterion == "variance":
        return float(np.var(y))
    shares = np.bincount(y) / len(y)
    if criterion == "gini":
        return 1 - float((shares**2).sum())
    return -sum(share * math.log(share) for share in shares if share > 0)


def decrease(y: np.ndarray, left: np.ndarray, criterion: str) -> float:
    """Impurity decrease of a split."""
    after = left.mean() * impurity(y[left], criterion)
    return (
        impurity(y, criterion) - after - (~left).mean() * impurity(y[~left], criterion)
    )


def all_questions(codes, n_bins, is_categorical) -> Questions:
    """Return for each feature what may be asked, and who goes left."""
    out = []
    for feature, column in enumerate(codes.T):
        missing = column == n_bins[feature]
        present = np.unique(column[~missing])
        asked = {}
        for i, value in enumerate(present):
            if is_categorical[feature] and len(present) > 1:
                left, threshold = column == value, float(value)
            elif i + 1 < len(present):
                middle = (value + present[i + 1] - 1) // 2
                left, threshold = column <= value, float(middle) + 0.5
            else:
                continue
            name = (feature, threshold, bool(is_categorical[feature]))
            if missing.any():
                asked[(*name, True)] = left | missing
                asked[(*name, False)] = left & ~missing
            else:
                asked[(*name, bool(left.sum() >= (~left).sum()))] = left
        if missing.any() and len(present):
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


def choice(scores: list[dict[Question, float]], b1: float, b2: float) -> dict:
    """Return the probability of each question: of its feature, times of its cut.

    Given are the decreases of the questions of each feature that is looked at.
    """
    scores = [of_cuts for of_cuts in scores if of_cuts]
    out = {}
    of_feature = softmax([max(of_cuts.values()) for of_cuts in scores], b1)
    for of_cuts, p in zip(scores, of_feature, strict=True):
        chances = p * softmax(list(of_cuts.values()), b2)
        out.update(zip(of_cuts, chances, strict=True))
    return out


def after_drawing_features(scores: list[dict], m: int, b1: float, b2: float) -> dict:
    """Return the probability of each question if m features are looked at.

    If none of them can be cut, further ones are drawn up to the first that can.
    """
    orders = list(permutations(range(len(scores))))
    out = Counter()
    for order in orders:
        n = next(
            n for n in range(m, len(order) + 1) if any(scores[f] for f in order[:n])
        )
        for name, p in choice([scores[f] for f in order[:n]], b1, b2).items():
            out[name] += p / len(orders)
    return dict(out)


def mixture(parts: Iterable[tuple[float, dict]]) -> dict:
    """Return the probabilities if one of several cases is drawn first."""
    out = Counter()
    for weight, chances in parts:
        for name, p in chances.items():
            out[name] += weight * p
    return dict(out)


# ---- tests --------------------------------------------------------------------------


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


def assert_alike(one: Counter, other: Counter) -> None:
    """Chi-square test of two samples."""
    names = sorted(set(one) | set(other))
    counts = np.array([[sample[name] for name in names] for sample in (one, other)])
    common = counts.sum(axis=0) >= 10
    rest = counts[:, ~common].sum(axis=1, keepdims=True)
    counts = np.hstack([counts[:, common], rest]) if rest.any() else counts
    assert counts.shape[1] > 1
    assert chi2_contingency(counts).pvalue > P_VALUE
