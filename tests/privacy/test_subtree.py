# SPDX-License-Identifier: BSD-3-Clause
"""Weights of subtrees equal a sum over all subtrees; draws follow them exactly."""

import math
from collections import Counter
from decimal import localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from mrforest.privacy import exact, sensitivity, subtree
from mrforest.privacy.grid import Grid, Numeric
from mrforest.privacy.randomness import RandomBits
from mrforest.privacy.subtree import Leaf, Scoring, SubtreeMechanism
from tests.naive import subtree as naive

NORMS = [None, 1.5, 2.0, 3.0, math.inf]
FEATURE = st.one_of(
    st.integers(0, 3).map(lambda high: Numeric(0, high, is_whole=True)),
    st.integers(0, 2).map(lambda n: ["a", "b"][:n]),
)


@st.composite
def problems(draw, most_features=3, most_rows=9, most_classes=3):
    grid = Grid.of(draw(st.lists(FEATURE, min_size=1, max_size=most_features)))
    n_classes = draw(st.integers(1, most_classes))
    n = draw(st.integers(0, most_rows))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    codes = rng.integers(grid.n_codes, size=(n, len(grid.n_codes))).astype(np.uint8)
    y = rng.integers(n_classes, size=n).astype(np.int32)
    return codes, y, n_classes, grid


def all_log_weights(mechanism, rows, depth):
    """Every subtree and its log weight, by the twin."""
    scoring = mechanism.scoring
    found = naive.subtrees(
        mechanism.grid, mechanism.n_classes, depth, labels=scoring.norm is None
    )
    table = mechanism.codes[rows].tolist()
    y = mechanism.y[rows].tolist()
    unit = float(scoring.unit)
    return {
        tree: naive.log_weight(
            mechanism.grid, mechanism.n_classes, tree, table, y, unit, scoring.norm
        )
        for tree in found
    }


def key_of(tree):
    if isinstance(tree, Leaf):
        return ("leaf", tree.label)
    return ("split", tree.feature, tree.code, key_of(tree.left), key_of(tree.right))


@given(
    problem=problems(most_features=2, most_classes=2),
    norm=st.sampled_from(NORMS),
    depth=st.sampled_from([1, 2]),
    epsilon=st.sampled_from([1e-3, 0.3, 2.0, 40.0]),
)
@settings(max_examples=60, deadline=None)
def test_sums_equal_those_over_all_subtrees(problem, norm, depth, epsilon):
    mechanism = SubtreeMechanism(*problem, Scoring(epsilon, norm))
    if problem[-1].n_candidates == 0:
        return
    rows = np.arange(len(problem[0]), dtype=np.int32)[::2].copy()
    expected = np.logaddexp.reduce(
        list(all_log_weights(mechanism, rows, depth).values())
    )
    assert mechanism.log_sum(rows, depth) == pytest.approx(expected, rel=1e-9)


@given(problem=problems(), norm=st.sampled_from(NORMS), depth=st.integers(0, 2))
@settings(max_examples=60, deadline=None)
def test_decimals_agree_with_the_kernel(problem, norm, depth):
    """To the bound that is claimed, and the choices add up to the sum."""
    mechanism = SubtreeMechanism(*problem, Scoring(0.7, norm))
    if problem[-1].n_candidates == 0:
        return
    rows = np.arange(len(problem[0]), dtype=np.int32)
    with localcontext() as context:
        context.prec = 50
        exact = mechanism.exact_sum(rows, depth)
        exponent, mantissa = mechanism.kernel.total(rows, depth)
        unit = mechanism.scoring.unit
        step = (-context.divide(unit.numerator, unit.denominator) * exponent).exp()
        error = abs(float(exact * step) / mantissa - 1)
        assert error <= mechanism.relative_error(depth)
        if depth > 0:
            weights = mechanism.exact_weights(rows, depth)
            assert sum(mechanism.measures(mechanism.choices(rows, depth))) == sum(
                mechanism.feature_measure > 0
            )
            assert float(sum(weights) / exact) == pytest.approx(1, abs=1e-15)


def test_three_levels():
    rng = np.random.default_rng(0)
    grid = Grid.of([Numeric(0, 2, is_whole=True), ["a"]])
    codes = rng.integers(grid.n_codes, size=(12, 2)).astype(np.uint8)
    y = rng.integers(2, size=12).astype(np.int32)
    rows = np.arange(12, dtype=np.int32)
    mechanism = SubtreeMechanism(codes, y, 2, grid, Scoring(0.4, math.inf))
    expected = np.logaddexp.reduce(list(all_log_weights(mechanism, rows, 3).values()))
    assert mechanism.log_sum(rows, 3) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("norm", "depth"), [(None, 1), (2.0, 1), (1.5, 2)])
def test_draws_follow_the_weights(norm, depth):
    rng = np.random.default_rng(1)
    grid = Grid.of([Numeric(0, 2, is_whole=True), ["a"]])
    codes = rng.integers(grid.n_codes, size=(10, 2)).astype(np.uint8)
    y = rng.integers(3, size=10).astype(np.int32)
    rows = np.arange(10, dtype=np.int32)
    mechanism = SubtreeMechanism(codes, y, 3, grid, Scoring(0.5, norm))
    weights = all_log_weights(mechanism, rows, depth)
    total = np.logaddexp.reduce(list(weights.values()))
    n, random = 6000, RandomBits.seeded(2)
    drawn = [mechanism.draw(rows, depth, random) for _ in range(n)]
    seen = Counter(key_of(tree) for tree in drawn)
    assert set(seen) <= set(weights)
    expected = np.array([n * math.exp(w - total) for w in weights.values()])
    observed = np.array([seen[tree] for tree in weights])
    distance = ((observed - expected) ** 2 / expected).sum()
    assert chi2.sf(distance, len(weights) - 1) > 1e-6
    for tree in drawn[:50]:
        assert mechanism.log_probability(tree, rows, depth) == pytest.approx(
            weights[key_of(tree)] - total, abs=1e-9
        )


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


@pytest.mark.parametrize("norm", [None, 3.0])
def test_the_slow_path_draws_the_same(monkeypatch, norm):
    """Floats and decimals decide alike from the same bits."""
    rng = np.random.default_rng(4)
    grid = Grid.of([Numeric(0, 3, is_whole=True), ["a", "b"], Numeric(0, 1)])
    codes = rng.integers(grid.n_codes, size=(40, 3)).astype(np.uint8)
    y = rng.integers(3, size=40).astype(np.int32)
    rows = np.arange(40, dtype=np.int32)
    mechanism = SubtreeMechanism(codes, y, 3, grid, Scoring(0.8, norm))
    chosen = []

    def recorded(*arguments):
        chosen.append(exact.draw_index(*arguments))
        return chosen[-1]

    monkeypatch.setattr(subtree, "draw_index", recorded)
    # What is drawn first is drawn from the same bits; floats that may err by 12 % never
    # decide.
    first = []
    for error in (mechanism.relative_error(1), 0.12):
        monkeypatch.setattr(SubtreeMechanism, "relative_error", lambda *_, e=error: e)
        for seed in range(60):
            chosen.clear()
            mechanism.draw(rows, 1, RandomBits.seeded(seed))
            first.append(chosen[0])
    assert first[:60] == first[60:]
    assert len(set(first)) > 10


@given(
    counts=st.lists(st.integers(0, 10**6), min_size=1, max_size=6),
    p=st.sampled_from([1.5, 2.0, 3.0, math.inf]),
)
def test_scores_are_the_norms_whose_range_is_proved(counts, p):
    grid = Grid.of([Numeric(0, 1)])
    empty = np.zeros((0, 1), dtype=np.uint8)
    mechanism = SubtreeMechanism(
        empty, np.zeros(0, dtype=np.int32), len(counts), grid, Scoring(1.0, p)
    )
    expected = sensitivity.norm(np.array(counts, dtype=np.int64), p)
    assert mechanism.kernel.score(np.array(counts, dtype=np.int32)) == expected


def test_one_record_moves_every_subtree_by_at_most_epsilon():
    """And some of them by nearly all of it, in the same direction."""
    rng = np.random.default_rng(3)
    grid = Grid.of([Numeric(0, 2, is_whole=True), ["a"]])
    largest = 0.0
    for _ in range(30):
        codes = rng.integers(grid.n_codes, size=(6, 2)).astype(np.uint8)
        y = rng.integers(2, size=6).astype(np.int32)
        mechanism = SubtreeMechanism(codes, y, 2, grid, Scoring(1.0, None))
        more = all_log_weights(mechanism, np.arange(6, dtype=np.int32), 1)
        less = all_log_weights(mechanism, np.arange(5, dtype=np.int32), 1)
        totals = [np.logaddexp.reduce(list(w.values())) for w in (more, less)]
        losses = [more[t] - totals[0] - (less[t] - totals[1]) for t in more]
        largest = max(largest, *np.abs(losses))
    assert 0.5 < largest <= 1.0
