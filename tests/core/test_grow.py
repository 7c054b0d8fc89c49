# SPDX-License-Identifier: BSD-3-Clause
"""The compiled engine grows the same trees as the twin, node for node."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrforest import _core
from tests.core.tables import (
    assert_same_tree,
    compiled_rule,
    compiled_table,
    grow_compiled,
    parameters,
    samples,
    tables,
)
from tests.leaves import leaf_options
from tests.naive import grow as naive
from tests.naive import rules
from tests.naive.rng import tree_key
from tests.naive.sample import bootstrap, partition

RULES = [
    rules.Multinomial(10.0, 10.0),
    rules.Greedy(2),
    rules.Denil(1.5, 40),
    rules.Bernoulli(2, 0.2, 0.2),
    rules.DataDriven(2, 0.3, 10.0, 10.0),
    rules.Random(),
]


def check(table, params, seed, data):
    key = tree_key(seed, 0)
    structure, estimation = samples(data.draw, key, len(table.y))
    twin = naive.grow(table, structure, estimation, key, params)
    for wide in [True] if max(table.n_bins) > 255 else [False, True]:
        for sliced in [False, True]:
            compiled = grow_compiled(
                table, structure, estimation, key, params, wide=wide, sliced=sliced
            )
            assert_same_tree(compiled, twin)


@settings(max_examples=6 * settings().max_examples)
@given(table=tables(), params=parameters(), seed=st.integers(0, 2**64), data=st.data())
def test_same_tree_as_the_twin(table, params, seed, data):
    check(table, params, seed, data)


@settings(max_examples=4 * settings().max_examples)
@given(
    table=tables(is_regression=True),
    params=parameters(is_regression=True),
    seed=st.integers(0, 2**64),
    data=st.data(),
)
def test_same_regression_tree_as_the_twin(table, params, seed, data):
    check(table, params, seed, data)


def larger_table(
    n_bins: int,
    *,
    n_classes: int = 3,
    share_missing: float = 0.05,
    weighted: bool = False,
    is_regression: bool = False,
    n_rows: int | None = None,
) -> naive.Table:
    """Large enough for nodes that are counted, subtracted, and then in blocks."""
    rng = np.random.default_rng(n_bins)
    n_rows, n_features = n_rows or (1200 if n_bins < 100 else 500), 5
    codes = rng.integers(0, n_bins, (n_rows, n_features))
    codes[rng.random(codes.shape) < share_missing] = n_bins
    y = (codes[:, 0] > n_bins // 2) * 2 + (codes[:, 1] > n_bins // 3)
    y = np.where(rng.random(n_rows) < 0.1, rng.integers(0, n_classes, n_rows), y)
    y %= n_classes
    mass = rng.integers(1, 2**30, n_rows) if weighted else None
    moment = None
    if is_regression:
        moment = y * 2**40 + rng.integers(-(2**38), 2**38, n_rows)
        y = np.unique(moment, return_inverse=True)[1]
    cuts = [np.arange(n_bins - 1.0)] * n_features
    kinds = [False, False, False, False, n_bins < 10]
    return naive.Table(
        codes, [n_bins] * n_features, kinds, cuts, y, n_classes, mass, None, moment
    )


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize(
    ("criterion", "leaf_rule", "shape"),
    [
        ("gini", "stop", {"n_bins": 3}),
        ("gini", "stop", {"n_bins": 3, "share_missing": 0.0}),
        ("gini", "stop", {"n_bins": 3, "n_classes": 12, "share_missing": 0.0}),
        ("gini", "stop", {"n_bins": 40, "n_classes": 2, "share_missing": 0.0}),
        ("gini", "stop", {"n_bins": 40, "n_classes": 12, "share_missing": 0.0}),
        ("gini", "stop", {"n_bins": 40, "n_classes": 60, "share_missing": 0.0}),
        ("gini", "floor", {"n_bins": 200, "weighted": True}),
        ("gini", "stop", {"n_bins": 60_000}),
        ("gini", "stop", {"n_bins": 60_000, "n_classes": 2, "share_missing": 0.0}),
        ("entropy", "floor", {"n_bins": 3, "weighted": True}),
        ("entropy", "stop", {"n_bins": 200}),
        ("variance", "floor", {"n_bins": 3}),
        ("variance", "stop", {"n_bins": 200, "weighted": True}),
        ("variance", "floor", {"n_bins": 60_000}),
    ],
)
def test_same_tree_as_the_twin_on_larger_tables(rule, criterion, leaf_rule, shape):
    table = larger_table(**shape, is_regression=criterion == "variance")
    params = naive.Params(rule=rule, **leaf_options(leaf_rule, 3), criterion=criterion)
    key = tree_key(7, 3)
    structure, estimation = partition(key, len(table.y), 0.5)
    twin = naive.grow(table, structure, estimation, key, params)
    # Missing against the rest is one of many candidates that end a random tree soon.
    assert len(twin.nodes) > 15
    for sliced in [False, True]:
        compiled = grow_compiled(
            table,
            structure,
            estimation,
            key,
            params,
            wide=shape["n_bins"] > 255,
            sliced=sliced,
        )
        assert_same_tree(compiled, twin)


@pytest.mark.parametrize("rule", RULES[:2], ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("n_bins", "n_rows"), [(17, 9_000), (400, 1_200)])
def test_same_tree_as_the_twin_where_nodes_are_counted(rule, n_classes, n_bins, n_rows):
    table = larger_table(n_bins, n_classes=n_classes, share_missing=0.0, n_rows=n_rows)
    params = naive.Params(rule=rule, min_samples_split=4, max_depth=1)
    key = tree_key(7, 3)
    structure, estimation = partition(key, len(table.y), 0.5)
    twin = naive.grow(table, structure, estimation, key, params)
    compiled = grow_compiled(
        table, structure, estimation, key, params, wide=n_bins > 255
    )
    assert_same_tree(compiled, twin)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("leaf_rule", ["stop", "floor"])
@pytest.mark.parametrize("sample", ["halves", "bag", "repeated halves"])
@pytest.mark.parametrize(
    ("n_bins", "n_classes", "is_mixed"), [(2, 2, False), (8, 3, True), (3, 8, True)]
)
def test_same_tree_as_the_twin_where_nodes_are_masks(
    rule, leaf_rule, sample, n_bins, n_classes, is_mixed
):
    table = larger_table(n_bins, n_classes=n_classes, share_missing=0.0)
    if is_mixed:
        # A feature of many codes, a feature with missing values, a gap between codes.
        table.codes[:, 2] = np.random.default_rng(0).integers(0, 41, len(table.y))
        table.n_bins[2] = 40
        table.cuts[2] = np.arange(39.0)
        table.codes[::7, 3] = n_bins
        table.codes[:, 1][table.codes[:, 1] == 1] = 0
    params = naive.Params(rule=rule, **leaf_options(leaf_rule, 3))
    key = tree_key(7, 3)
    points = np.arange(len(table.y))
    if sample == "repeated halves":
        points = np.repeat(points, 1 + points % 2)
    structure, estimation = partition(key, len(points), 0.5)
    sides = points[structure], points[estimation]
    if sample == "bag":
        sides = bootstrap(key, len(points)), None
    assert compiled_table(table, "gini", wide=False, sliced=True).has_cut_bits
    compiled = grow_compiled(table, *sides, key, params, wide=False, sliced=True)
    twin = naive.grow(table, *sides, key, params)
    assert len(twin.nodes) > 15
    assert_same_tree(compiled, twin)


@pytest.mark.parametrize(
    ("n_bins", "n_classes", "n_missing", "has_cut_bits"),
    [
        ([2] * 16, 2, 0, True),
        ([2, 40] + [8] * 14, 8, 1, True),
        ([2, 40, 300] + [8] * 13, 8, 0, True),
        ([2, 40, 300] + [8] * 13, 8, 1, False),
        ([2] * 16, 9, 0, False),
        ([9] * 16, 2, 0, False),
        ([1] * 16, 2, 0, False),
    ],
)
def test_slices_are_made_where_nearly_all_features_have_few_codes(
    n_bins, n_classes, n_missing, has_cut_bits
):
    n_rows = 70
    codes = np.arange(n_rows)[:, None] % np.array(n_bins)
    codes[0, -n_missing - 1 : -1] = np.array(n_bins)[-n_missing - 1 : -1]
    cuts = [np.arange(n - 1.0) for n in n_bins]
    y = np.arange(n_rows) % n_classes
    kinds = [False] * len(n_bins)
    table = compiled_table(
        naive.Table(codes, n_bins, kinds, cuts, y, n_classes, None, None),
        "gini",
        wide=True,
    )
    table.add_cut_bits()
    assert table.has_cut_bits == has_cut_bits
    assert pickle.loads(pickle.dumps(table)).has_cut_bits == has_cut_bits


@pytest.mark.parametrize("sliced", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("most_copies", [1, 3, 30])
@pytest.mark.parametrize("in_order", [False, True])
def test_same_tree_as_the_twin_where_rows_stand_often(
    sliced, n_classes, most_copies, in_order
):
    table = larger_table(4, n_classes=n_classes, share_missing=0.0)
    params = naive.Params(rule=rules.Greedy(2), **leaf_options("floor", 1))
    key = tree_key(2, most_copies)
    rng = np.random.default_rng(most_copies)
    points = np.arange(0, len(table.y), 3)
    points = np.repeat(points, rng.integers(0, most_copies, len(points), endpoint=True))
    if not in_order:
        points = rng.permutation(points)
    twin = naive.grow(table, points, None, key, params)
    compiled = grow_compiled(
        table, points, None, key, params, wide=False, sliced=sliced
    )
    assert len(twin.nodes) > 15
    assert_same_tree(compiled, twin)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_a_rule_survives_pickling(rule):
    compiled = compiled_rule(rule)
    again = pickle.loads(pickle.dumps(compiled))
    assert type(again) is type(compiled)
    for name in vars(rule):
        if hasattr(compiled, name):
            assert getattr(again, name) == getattr(compiled, name)


def test_interrupt_ends_growth():
    table = naive.Table(
        np.arange(20)[:, None] % 10,
        [10],
        [False],
        [np.arange(9.0)],
        np.arange(20) % 2,
        2,
        None,
        None,
    )
    limits = _core.Limits(
        min_split=2,
        min_leaf=0,
        max_depth=-1,
        min_weight=0.0,
        label_budget=np.inf,
        interrupt=np.ones(1, dtype=np.uint8),
    )
    rows = np.arange(20, dtype=np.int32)
    with pytest.raises(KeyboardInterrupt):
        _core.grow_tree(
            compiled_table(table, "gini", wide=False),
            rows,
            rows.copy(),
            tree_key(0, 0),
            limits,
            rule=_core.Multinomial(10.0, 10.0),
        )
