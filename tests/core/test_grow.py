# SPDX-License-Identifier: BSD-3-Clause
"""The compiled engine grows the same trees as the twin, node for node."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrforest import _core
from mrforest.forests._flat import EQUALITY, FEATURE_MASK, MISSING_LEFT
from tests.naive import grow as naive
from tests.naive.rng import tree_key
from tests.naive.sample import partition

BUDGETS = [0.0, 0.5, 10.0, 1000.0, math.inf]
NO_INTERRUPT = np.zeros(1, dtype=np.uint8)


@st.composite
def tables(draw) -> naive.Table:
    """Tables with ties, constants, missing values, categories and many classes."""
    n_rows = draw(st.integers(1, 60))
    n_features = draw(st.integers(1, 6))
    n_classes = draw(st.sampled_from([1, 2, 3, 5, 100]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    codes, n_bins, is_categorical, cuts = [], [], [], []
    for _ in range(n_features):
        # 1 is a constant feature; 300 does not fit a byte
        bins = draw(st.sampled_from([1, 2, 3, 10, 200, 300]))
        missing = draw(st.sampled_from([0.0, 0.0, 0.3, 1.0]))
        column = rng.integers(0, bins, n_rows)
        column[rng.random(n_rows) < missing] = bins
        codes.append(column)
        n_bins.append(bins)
        is_categorical.append(draw(st.booleans()))
        cuts.append([] if is_categorical[-1] else np.arange(bins - 1) + 0.5)
    codes = np.stack(codes, axis=1)
    if draw(st.booleans()):
        # Classes that depend on the first feature make deep, uneven trees.
        y = (codes[:, 0] + rng.integers(0, 2, n_rows)) % n_classes
    else:
        y = rng.integers(0, n_classes, n_rows)
    mass = class_weight = None
    if draw(st.booleans()) and draw(st.booleans()):
        mass = rng.integers(1, 2**40, n_rows)
    if draw(st.booleans()) and draw(st.booleans()):
        class_weight = rng.choice([0.0, 0.5, 1.0, 3.7], n_classes)
    return naive.Table(
        codes, n_bins, is_categorical, cuts, y, n_classes, mass, class_weight
    )


@st.composite
def parameters(draw) -> naive.Params:
    return naive.Params(
        feature_budget=draw(st.sampled_from(BUDGETS)),
        split_budget=draw(st.sampled_from(BUDGETS)),
        label_budget=draw(st.sampled_from(BUDGETS)),
        min_samples_leaf=draw(st.integers(1, 6)),
        leaf_rule=draw(st.sampled_from(["stop", "floor"])),
        criterion=draw(st.sampled_from(["gini", "entropy"])),
        max_depth=draw(st.sampled_from([None, None, 1, 3])),
    )


def compiled_table(table: naive.Table, criterion: str, *, wide: bool):
    lengths = [len(cuts) for cuts in table.cuts]
    return _core.TrainingTable(
        np.ascontiguousarray(table.codes, dtype=np.uint16 if wide else np.uint8),
        np.asarray(table.y, dtype=np.int32),
        table.n_classes,
        np.asarray(table.n_bins, dtype=np.int32),
        np.asarray(table.is_categorical, dtype=bool),
        np.concatenate([np.asarray(cuts, dtype=float) for cuts in table.cuts]),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        table.mass,
        table.class_weight,
        criterion,
    )


def grow_compiled(table, structure, estimation, key, params, *, wide):
    return _core.grow_tree(
        compiled_table(table, params.criterion, wide=wide),
        _core.Multinomial(params.feature_budget, params.split_budget),
        np.array(structure, dtype=np.int32),
        np.array(estimation, dtype=np.int32),
        key,
        min_leaf=params.min_samples_leaf,
        has_floor=params.leaf_rule == "floor",
        max_depth=-1 if params.max_depth is None else params.max_depth,
        label_budget=params.label_budget,
        interrupt=NO_INTERRUPT,
    )


def assert_same_tree(compiled: dict, twin: naive.Tree) -> None:
    nodes = compiled["nodes"]
    assert len(nodes) == len(twin.nodes)
    for node, expected in zip(nodes, twin.nodes, strict=True):
        if expected.feature is None:
            assert node["child"] == -1 - expected.leaf
            leaf = expected.leaf
            first, last = compiled["leaf_start"][leaf : leaf + 2]
            masses = np.zeros_like(expected.masses)
            masses[compiled["mass_class"][first:last]] = compiled["mass"][first:last]
            np.testing.assert_array_equal(masses, expected.masses)
            assert compiled["leaf_label"][leaf] == expected.label
            assert compiled["leaf_points"][leaf] == expected.n_estimation
        else:
            assert node["child"] == expected.left
            assert node["feature"] & FEATURE_MASK == expected.feature
            assert node["threshold"] == expected.threshold
            assert bool(node["feature"] & EQUALITY) == expected.is_equality
            assert bool(node["feature"] & MISSING_LEFT) == expected.missing_left


@settings(max_examples=4 * settings().max_examples)
@given(table=tables(), params=parameters(), seed=st.integers(0, 2**64), data=st.data())
def test_same_tree_as_the_twin(table, params, seed, data):
    key = tree_key(seed, 0)
    n_rows = len(table.y)
    if data.draw(st.booleans(), label="repeat rows"):
        points = np.repeat(np.arange(n_rows), 1 + np.arange(n_rows) % 3)
    else:
        points = np.arange(n_rows)
    rate = data.draw(st.sampled_from([0.3, 1.0, 2.5]), label="rate")
    structure, estimation = (points[side] for side in partition(key, len(points), rate))
    twin = naive.grow(table, structure, estimation, key, params)
    for wide in [True] if max(table.n_bins) > 255 else [False, True]:
        compiled = grow_compiled(table, structure, estimation, key, params, wide=wide)
        assert_same_tree(compiled, twin)


@pytest.mark.parametrize("leaf_rule", ["stop", "floor"])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("n_bins", [3, 200, 60_000])
@pytest.mark.parametrize("weighted", [False, True])
def test_same_tree_as_the_twin_on_larger_tables(leaf_rule, criterion, n_bins, weighted):
    """Large enough for counted nodes, subtraction and the counting sort."""
    rng = np.random.default_rng(n_bins)
    n_rows, n_features = 700, 4
    codes = rng.integers(0, n_bins, (n_rows, n_features))
    codes[rng.random(codes.shape) < 0.05] = n_bins
    y = ((codes[:, 0] > n_bins // 2) * 2 + (codes[:, 1] > n_bins // 3)) % 3
    y = np.where(rng.random(n_rows) < 0.1, rng.integers(0, 3, n_rows), y)
    cuts = [np.arange(n_bins - 1.0)] * n_features
    mass = rng.integers(1, 2**30, n_rows) if weighted else None
    table = naive.Table(
        codes, [n_bins] * n_features, [False] * n_features, cuts, y, 3, mass, None
    )
    params = naive.Params(leaf_rule=leaf_rule, criterion=criterion, min_samples_leaf=3)
    key = tree_key(7, 3)
    structure, estimation = partition(key, n_rows, 1.0)
    twin = naive.grow(table, structure, estimation, key, params)
    assert len(twin.nodes) > 50
    compiled = grow_compiled(
        table, structure, estimation, key, params, wide=n_bins > 255
    )
    assert_same_tree(compiled, twin)


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
    with pytest.raises(KeyboardInterrupt):
        _core.grow_tree(
            compiled_table(table, "gini", wide=False),
            _core.Multinomial(10.0, 10.0),
            np.arange(20, dtype=np.int32),
            np.arange(20, dtype=np.int32),
            tree_key(0, 0),
            min_leaf=1,
            has_floor=False,
            max_depth=-1,
            label_budget=math.inf,
            interrupt=np.ones(1, dtype=np.uint8),
        )
