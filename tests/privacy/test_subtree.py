# SPDX-License-Identifier: BSD-3-Clause
"""Weights of subtrees equal a sum over all subtrees; draws follow them exactly."""

import math
from collections import Counter
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from mrforest.privacy import sensitivity, subtree
from mrforest.privacy.exact import precise
from mrforest.privacy.grid import Grid, Numeric
from mrforest.privacy.randomness import RandomBits
from mrforest.privacy.scoring import MOST_EPSILON
from mrforest.privacy.subtree import (
    GUARD_DIGITS,
    Leaf,
    Scoring,
    SubtreeMechanism,
)
from tests.naive import subtree as naive

# Norms of class counts, and squares of classes that are numbers.
SCORES = [
    *((norm, False) for norm in (None, 1.5, 2.0, 3.0, math.inf)),
    (None, True),
    (math.inf, True),
]
FEATURE = st.one_of(
    st.integers(0, 3).map(lambda high: Numeric(0, high, is_whole=True)),
    st.integers(0, 2).map(lambda n: ["a", "b"][:n]),
)


@st.composite
def problems(draw, most_features=3, most_rows=9, most_classes=3):
    grid = Grid.of(draw(st.lists(FEATURE, min_size=1, max_size=most_features)))
    if draw(st.booleans()):
        # Some cuts are no candidates: what they part is counted together.
        left = draw(st.lists(st.booleans(), min_size=99, max_size=99))
        parts = np.split(grid.measure, grid.slot[1:-1])
        grid = grid.with_measures(
            {j: part * left[j : j + len(part)] for j, part in enumerate(parts)}
        )
    if weight := draw(st.sampled_from([0, 0, 1, 50])):
        grid = grid.with_stop(weight)
    n_classes = draw(st.integers(1, most_classes))
    n = draw(st.integers(0, most_rows))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return table(rng, grid, n, n_classes)


def table(rng, grid, n, n_classes):
    codes = rng.integers(grid.n_codes, size=(n, len(grid.n_codes))).astype(np.uint8)
    y = rng.integers(n_classes, size=n).astype(np.int32)
    return codes, y, n_classes, grid


def all_rows(mechanism):
    return np.arange(len(mechanism.y), dtype=np.int32)


def all_log_weights(mechanism, rows, depth, unit=None):
    """Every subtree and its log weight, by the twin."""
    scoring = mechanism.scoring
    found = naive.subtrees(
        mechanism.grid, mechanism.n_classes, depth, labels=scoring.norm is None
    )
    table = mechanism.codes[rows].tolist()
    y = mechanism.y[rows].tolist()
    unit = float(mechanism.unit) if unit is None else unit
    return {
        tree: naive.log_weight(
            mechanism.grid, mechanism.n_classes, tree, table, y, unit, scoring
        )
        for tree in found
    }


def key_of(tree):
    if isinstance(tree, Leaf):
        return ("leaf", tree.label)
    return ("split", tree.feature, tree.code, key_of(tree.left), key_of(tree.right))


def check_draws(mechanism, depth, log_weights, n=4000):
    """Subtrees come as often as their weights say, by a chi-square test."""
    rows, random = all_rows(mechanism), RandomBits.seeded(2)
    total = np.logaddexp.reduce(list(log_weights.values()))
    drawn = [mechanism.draw(rows, depth, random) for _ in range(n)]
    seen = Counter(key_of(tree) for tree in drawn)
    assert set(seen) <= set(log_weights)
    expected = np.array([n * math.exp(w - total) for w in log_weights.values()])
    observed = np.array([seen[tree] for tree in log_weights])
    distance = ((observed - expected) ** 2 / expected).sum()
    assert chi2.sf(distance, len(log_weights) - 1) > 1e-6
    for tree in drawn[:50]:
        assert mechanism.log_probability(tree, rows, depth) == pytest.approx(
            log_weights[key_of(tree)] - total, abs=1e-6
        )


@given(
    problem=problems(most_features=2, most_classes=2),
    score=st.sampled_from(SCORES),
    depth=st.sampled_from([1, 2]),
    epsilon=st.sampled_from([1e-3, 0.3, 2.0, 40.0]),
)
@settings(max_examples=80, deadline=None)
def test_sums_equal_those_over_all_subtrees(problem, score, depth, epsilon):
    mechanism = SubtreeMechanism(*problem, Scoring(epsilon, *score))
    if problem[-1].n_candidates == 0:
        return
    rows = all_rows(mechanism)[::2].copy()
    expected = np.logaddexp.reduce(
        list(all_log_weights(mechanism, rows, depth).values())
    )
    assert mechanism.log_sum(rows, depth) == pytest.approx(expected, rel=1e-9)


@given(
    problem=problems(most_classes=4),
    score=st.sampled_from(SCORES),
    depth=st.integers(1, 2),
)
@settings(max_examples=80, deadline=None)
def test_decimals_agree_with_the_kernel(problem, score, depth):
    """To the bound that is claimed, choice by choice, and all splits are in one."""
    mechanism = SubtreeMechanism(*problem, Scoring(0.7, *score))
    if problem[-1].n_candidates == 0:
        return
    rows = all_rows(mechanism)
    choices = mechanism.choices(rows, depth)
    weights, highest = choices.float_weights(mechanism.tables)
    with localcontext(prec=50):
        exact = mechanism.exact_weights(rows, depth)
        scale = mechanism.exact_power(highest)
        for found, true in zip(weights.tolist(), exact, strict=True):
            true /= scale
            assert abs(Decimal(found) - true) <= true * Decimal(
                mechanism.relative_error(depth)
            )
    everything = [m for *_, m in naive.candidates(problem[-1])]
    assert sum(choices.exact_measures()) == sum(everything)


@pytest.mark.parametrize("score", SCORES)
def test_three_levels(score):
    rng = np.random.default_rng(0)
    grid = Grid.of([Numeric(0, 1, is_whole=True), ["a"]])
    mechanism = SubtreeMechanism(*table(rng, grid, 12, 2), Scoring(0.4, *score))
    rows = all_rows(mechanism)
    with localcontext(prec=50):
        expected = float(mechanism.exact_sum(rows, 3).ln())
    assert mechanism.log_sum(rows, 3) == pytest.approx(expected, rel=1e-12)
    if score[0] is not None:
        weights = list(all_log_weights(mechanism, rows, 3).values())
        assert expected == pytest.approx(np.logaddexp.reduce(weights), rel=1e-9)


@pytest.mark.parametrize(
    ("score", "depth"),
    [
        ((None, False), 1),
        ((2.0, False), 1),
        ((1.5, False), 2),
        ((None, True), 1),
        ((math.inf, True), 2),
    ],
)
@pytest.mark.parametrize("n_rows", [0, 10])
def test_draws_follow_the_weights(score, depth, n_rows):
    rng = np.random.default_rng(1)
    grid = Grid.of([Numeric(0, 2, is_whole=True), ["a"]]).with_stop(3 - depth)
    mechanism = SubtreeMechanism(*table(rng, grid, n_rows, 3), Scoring(0.5, *score))
    weights = all_log_weights(mechanism, all_rows(mechanism), depth)
    check_draws(mechanism, depth, weights)


@pytest.mark.parametrize("score", SCORES)
def test_the_largest_budget_draws_among_the_best(score):
    """By base measure, in floats and in decimals; all other weights underflow."""
    depth = 1 if score[0] is None else 2
    grid = Grid.of([Numeric(0, 3, is_whole=True), ["a"]])
    codes = np.array([[0, 0], [0, 0], [1, 0], [2, 1], [3, 1], [3, 1]], dtype=np.uint8)
    y = np.array([0, 0, 1, 2, 2, 1], dtype=np.int32)
    mechanism = SubtreeMechanism(codes, y, 3, grid, Scoring(MOST_EPSILON, *score))
    rows = all_rows(mechanism)
    measures = all_log_weights(mechanism, rows, depth, unit=0)
    scores = all_log_weights(mechanism, rows, depth, unit=1)
    scores = {tree: round(scores[tree] - measures[tree]) for tree in scores}
    best = max(scores.values())
    best_ones = {t: measures[t] for t in scores if scores[t] == best}
    assert 1 < len(best_ones) < len(scores)
    check_draws(mechanism, depth, best_ones, n=1000)
    with localcontext(precise(60)):
        total = mechanism.exact_sum(rows, depth) / mechanism.exact_power(best)
    expected = sum(math.exp(measure) for measure in best_ones.values())
    assert float(total) == pytest.approx(expected, rel=1e-5)


def test_decimals_of_the_largest_budget_and_the_most_points():
    grid = Grid.of([Numeric(0, 1)])
    empty = table(np.random.default_rng(), grid, 0, 7)
    mechanism = SubtreeMechanism(*empty, Scoring(MOST_EPSILON, None, squares=True))
    score = 2**31 * 36
    with localcontext(precise(200)):
        true = mechanism.exact_power(score)
    with localcontext(precise(40 + GUARD_DIGITS)):
        found = mechanism.exact_power(score)
        assert found.is_finite()
        # Sums of 10^12 such terms are still right to 40 digits.
        assert abs(found / true - 1) < Decimal("1e-53")


def test_a_large_budget_takes_the_best():
    """Two cuts tell the classes apart without error, and one tree has them."""
    codes = np.array([[0], [0], [1], [1], [2]], dtype=np.uint8)
    y = np.array([0, 0, 1, 1, 0], dtype=np.int32)
    grid = Grid.of([Numeric(0, 2, is_whole=True)])
    mechanism = SubtreeMechanism(codes, y, 2, grid, Scoring(1000.0, None))
    rows = np.arange(5, dtype=np.int32)
    random = RandomBits.seeded(0)
    for _ in range(20):
        waiting, right = [(mechanism.draw(rows, 2, random), rows)], 0
        while waiting:
            tree, part = waiting.pop()
            if isinstance(tree, Leaf):
                right += int((y[part] == tree.label).sum())
            else:
                parts = mechanism.part(part, tree.feature, tree.code)
                waiting += zip((tree.left, tree.right), parts, strict=True)
        assert right == 5


@pytest.mark.parametrize(
    ("score", "depth"),
    [((None, False), 1), ((3.0, False), 1), ((None, True), 1), ((None, True), 0)],
)
def test_the_slow_path_draws_the_same(monkeypatch, score, depth):
    """Floats and decimals decide alike from the same bits."""
    rng = np.random.default_rng(4)
    grid = Grid.of([Numeric(0, 3, is_whole=True), ["a", "b"], Numeric(0, 1)])
    mechanism = SubtreeMechanism(*table(rng, grid, 40, 12), Scoring(0.8, *score))
    rows = all_rows(mechanism)
    chosen = []

    settle = SubtreeMechanism.settle

    def recorded(*arguments):
        chosen.append(settle(*arguments))
        return chosen[-1]

    monkeypatch.setattr(SubtreeMechanism, "settle", recorded)
    # What is drawn first is drawn from the same bits; floats that may err by 12 % never
    # decide.
    first = []
    for error in (mechanism.relative_error(depth), 0.12):
        monkeypatch.setattr(SubtreeMechanism, "relative_error", lambda *_, e=error: e)
        for seed in range(60):
            chosen.clear()
            mechanism.draw(rows, depth, RandomBits.seeded(seed))
            first.append(chosen[:1])
    assert first[:60] == first[60:]
    assert len(set(map(tuple, first))) > 2


@pytest.mark.parametrize("score", SCORES)
def test_the_slow_path_draws_the_same_bins(monkeypatch, score):
    """As above, if floats tell the feature in both."""
    rng = np.random.default_rng(4)
    grid = Grid.of([Numeric(0, 3, is_whole=True), ["a", "b"], Numeric(0, 1)])
    mechanism = SubtreeMechanism(*table(rng, grid, 40, 12), Scoring(0.8, *score))
    rows = all_rows(mechanism)
    settle = SubtreeMechanism.settle
    chosen = []
    found = []

    for by_decimals in (False, True):

        def recorded(self, choose, *arguments, slow=by_decimals):
            if slow and len(chosen) == 1:
                choose = never
            chosen.append(settle(self, choose, *arguments))
            return chosen[-1]

        monkeypatch.setattr(SubtreeMechanism, "settle", recorded)
        for seed in range(60):
            chosen.clear()
            mechanism.draw_split(rows, 1, RandomBits.seeded(seed))
            found.append(tuple(chosen))
    assert found[:60] == found[60:]
    assert len(set(found)) > 5


def never(u, margin):
    """A choice that floats cannot tell."""
    return -1


@given(
    counts=st.lists(st.integers(0, 10**6), min_size=1, max_size=6),
    score=st.sampled_from([score for score in SCORES if score[0] is not None]),
)
def test_scores_are_those_whose_range_is_proved(counts, score):
    grid = Grid.of([Numeric(0, 1)])
    empty = table(np.random.default_rng(), grid, 0, len(counts))
    mechanism = SubtreeMechanism(*empty, Scoring(1.0, *score))
    norm, is_squares = score
    counts = np.array(counts, dtype=np.int64)
    if is_squares:
        expected = sensitivity.squares(counts, np.arange(len(counts))).max()
    else:
        expected = sensitivity.norm(counts, norm)
    assert mechanism.kernel.score(counts) == expected


@pytest.mark.parametrize("score", [(None, False), (None, True), (math.inf, True)])
def test_one_record_moves_every_subtree_by_at_most_epsilon(score):
    """And some of them by nearly all of it, in the same direction."""
    rng = np.random.default_rng(3)
    grid = Grid.of([Numeric(0, 2, is_whole=True), ["a"]])
    largest = 0.0
    for _ in range(30):
        mechanism = SubtreeMechanism(*table(rng, grid, 6, 3), Scoring(1.0, *score))
        more = all_log_weights(mechanism, np.arange(6, dtype=np.int32), 1)
        less = all_log_weights(mechanism, np.arange(5, dtype=np.int32), 1)
        totals = [np.logaddexp.reduce(list(w.values())) for w in (more, less)]
        losses = [more[t] - totals[0] - (less[t] - totals[1]) for t in more]
        largest = max(largest, *np.abs(losses))
    assert 0.25 < largest <= 1.0


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("score", [(None, False), (2.0, False), (None, True)])
def test_the_same_draws_for_any_number_of_threads(monkeypatch, score, depth):
    """Sums are added up in another order; what is drawn does not depend on rounding."""
    monkeypatch.setattr(subtree, "SERIAL_WORK", 0)
    rng = np.random.default_rng(5)
    grid = Grid.of([Numeric(0, 4, is_whole=True), ["a", "b"], ["a"], Numeric(0, 1)])
    problem = table(rng, grid, 200, 3)
    rows = np.arange(200, dtype=np.int32)
    mechanisms = [
        SubtreeMechanism(*problem, Scoring(0.5, *score), n_jobs=n_jobs)
        for n_jobs in (None, 2, 3, 7)
    ]
    first, *others = (m.weighed(rows, depth).weights for m in mechanisms)
    for other in others:
        np.testing.assert_array_equal(first["exponent"], other["exponent"])
        np.testing.assert_allclose(first["mantissa"], other["mantissa"], rtol=1e-13)
    drawn = [
        [m.draw(rows, depth, RandomBits.seeded(i)) for i in range(20)]
        for m in mechanisms
    ]
    assert drawn[0] == drawn[1] == drawn[2] == drawn[3]


@pytest.mark.parametrize("score", [(None, False), (None, True), (math.inf, True)])
def test_features_that_are_counted_together(score):
    """Many points of few codes are weighed as the same points once, each for more."""
    rng = np.random.default_rng(8)
    grid = Grid.of([["a"], ["a", "b"], Numeric(0, 2, is_whole=True), ["a"]] * 3)
    codes, y, n_classes, _ = table(rng, grid, 30, 3)
    few = SubtreeMechanism(codes, y, n_classes, grid, Scoring(2.0**-3, *score))
    codes, y = np.repeat(codes, 128, axis=0), np.repeat(y, 128)
    many = SubtreeMechanism(codes, y, n_classes, grid, Scoring(2.0**-10, *score))
    a, b = (m.choices(all_rows(m), 2) for m in (few, many))
    np.testing.assert_array_equal(b.exponent, 128 * a.exponent)
    np.testing.assert_allclose(b.mantissa, a.mantissa, rtol=1e-12)


def test_a_grid_without_candidates_has_a_leaf():
    codes, y = np.zeros((4, 1), dtype=np.uint8), np.array([0, 1, 1, 1], dtype=np.int32)
    grid = Grid.of([Numeric(1, 1)])
    mechanism = SubtreeMechanism(codes, y, 2, grid, Scoring(1.0, None))
    rows = all_rows(mechanism)
    tree = mechanism.draw(rows, 2, RandomBits.seeded(0))
    odds = math.exp([1.0, 3.0][tree.label]) / (math.e + math.exp(3))
    assert math.exp(mechanism.log_probability(tree, rows, 2)) == pytest.approx(odds)


def test_what_could_matter_is_not_left_out():
    """Of many levels, mantissas may differ by more than floats can leave out."""
    grid = Grid.of([Numeric(0, 1)] * 2).with_stop(10**6)
    mechanism = SubtreeMechanism(
        *table(np.random.default_rng(0), grid, 5, 200), Scoring(0.5, None)
    )
    spreads = [mechanism.log_spread(depth) for depth in range(6)]
    assert spreads == sorted(spreads)
    assert spreads[0] == pytest.approx(math.log(200))
    assert spreads[3] < 318 < spreads[4]
    assert mechanism.relative_error(3) < 1e-9
    assert mechanism.relative_error(4) == math.inf
