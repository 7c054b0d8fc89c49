# SPDX-License-Identifier: BSD-3-Clause
"""Trees that some rows shape and all fill: the same as the twin's, node for node."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.sampled import (
    INF,
    SEEDS,
    assert_same,
    few_rows,
    grow_compiled,
    larger_table,
    many_rows,
    points_of,
    some_params,
    widths_of,
)
from tests.core.tables import compiled_table
from tests.naive import rules
from tests.naive.rng import tree_key
from tests.naive.sampled import SampledParams, grow_sampled, held_out_points

# Many codes make the twin slow.
FEW = {"n_features": 4}


def check(table, params, seed, data) -> None:
    structure, held = points_of(data, seed, len(table.y))
    key, points = tree_key(seed, 0), structure + held
    twin = grow_sampled(table, points, len(structure), key, params)
    for wide in widths_of(table):
        compiled = compiled_table(table, params.criterion, wide=wide)
        tree = grow_compiled(compiled, points, len(structure), key, params)
        assert_same(tree, table, twin, held)


@settings(max_examples=5 * settings().max_examples)
@given(table=few_rows(), params=some_params(), seed=SEEDS, data=st.data())
def test_same_tree_as_the_twin(table, params, seed, data):
    check(table, params, seed, data)


@settings(max_examples=5 * settings().max_examples)
@given(
    table=few_rows(is_regression=True),
    params=some_params(is_regression=True),
    seed=SEEDS,
    data=st.data(),
)
def test_same_regression_tree_as_the_twin(table, params, seed, data):
    check(table, params, seed, data)


@given(table=many_rows(), params=some_params(), seed=SEEDS, data=st.data())
def test_same_tree_of_more_rows_as_the_twin(table, params, seed, data):
    check(table, params, seed, data)


@given(
    table=many_rows(is_regression=True),
    params=some_params(is_regression=True),
    seed=SEEDS,
    data=st.data(),
)
def test_same_regression_tree_of_more_rows_as_the_twin(table, params, seed, data):
    check(table, params, seed, data)


@pytest.mark.parametrize(
    "rule",
    [rules.Multinomial(5.0, 5.0, 3), rules.Greedy(3), rules.Multinomial(INF, INF)],
    ids=["drawn", "some", "all"],
)
@pytest.mark.parametrize(
    ("criterion", "shape"),
    [
        ("gini", {"n_bins": 2, "n_classes": 2}),
        ("gini", {"n_bins": 3, "share_missing": 0.05, "n_features": 7}),
        ("gini", {"n_bins": 3, "share_missing": 0.01, "n_features": 33}),
        ("gini", {"n_bins": 4, "n_classes": 20, "n_rows": 800}),
        ("gini", {"n_bins": 4, "n_classes": 2, "rare": True}),
        ("gini", {"n_bins": 8, "n_classes": 12}),
        ("gini", {"n_bins": 9, "n_rows": 700, "n_features": 43}),
        ("gini", {"n_bins": 17, "n_classes": 100, "n_rows": 600}),
        ("gini", {"n_bins": 12, "n_classes": 300, "n_rows": 600, "n_features": 3}),
        ("gini", {"n_bins": 32, "weighted": True, "n_rows": 330, "n_features": 4}),
        ("gini", {"n_bins": 200, "n_classes": 2, "n_rows": 330, "n_features": 4}),
        ("gini", {"n_bins": 150, "all_categorical": True, "n_rows": 330} | FEW),
        ("gini", {"n_bins": 60_000, "share_missing": 0.05, "n_rows": 330} | FEW),
        ("entropy", {"n_bins": 5}),
        ("entropy", {"n_bins": 2, "n_classes": 2, "share_missing": 0.01}),
        ("entropy", {"n_bins": 7, "n_features": 1}),
        ("entropy", {"n_bins": 12, "weighted": True, "n_rows": 400}),
        ("entropy", {"n_bins": 6, "n_rows": 600, "n_features": 40}),
        ("entropy", {"n_bins": 10, "n_classes": 300, "n_rows": 500, "n_features": 5}),
        ("entropy", {"n_bins": 3, "rare": True}),
        ("entropy", {"n_bins": 200, "n_rows": 400} | FEW),
        ("entropy", {"n_bins": 200, "share_missing": 0.05, "n_rows": 400} | FEW),
        ("entropy", {"n_bins": 180, "all_categorical": True, "n_rows": 400} | FEW),
        ("entropy", {"n_bins": 300, "all_categorical": True, "n_rows": 400} | FEW),
        ("entropy", {"n_bins": 5000, "n_rows": 400} | FEW),
        ("variance", {"n_bins": 3, "rare": True}),
        ("variance", {"n_bins": 4, "share_missing": 0.05, "n_features": 6}),
        ("variance", {"n_bins": 9, "n_rows": 500, "n_features": 41}),
        ("variance", {"n_bins": 20, "weighted": True, "n_rows": 330, "n_features": 4}),
        ("variance", {"n_bins": 150, "all_categorical": True, "n_rows": 330} | FEW),
        ("variance", {"n_bins": 60_000, "n_rows": 330, "n_features": 4}),
    ],
    ids=str,
)
def test_same_tree_of_a_larger_table_as_the_twin(criterion, shape, rule):
    """With samples of the size that is used, with smaller ones, and without."""
    table = larger_table(**shape, is_regression=criterion == "variance")
    structure, held = held_out_points(7, 3, len(table.y), 0.8)
    points, key = structure + held, tree_key(7, 3)
    compiled = compiled_table(table, criterion, wide=shape["n_bins"] > 255)
    sizes = [(128, 16), (40, 6), (2000, 1)]
    # With all features the twin is slow.
    n_sizes = 3 if rule.n_features else 1
    for max_scored, min_minority in sizes[:n_sizes]:
        params = SampledParams(
            rule=rule,
            criterion=criterion,
            min_samples_split=31,
            max_depth=6,  # equality makes long chains
            max_scored=max_scored,
            min_minority=min_minority,
        )
        twin = grow_sampled(table, points, len(structure), key, params)
        assert len(twin.tree.nodes) > 6
        tree = grow_compiled(compiled, points, len(structure), key, params)
        assert_same(tree, table, twin, held)


def assert_same_arrays(tree: dict, expected: dict) -> None:
    assert tree.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(tree[name], array, err_msg=name)


@pytest.mark.parametrize(
    "rule", [rules.Greedy(2), rules.Multinomial(5.0, 5.0)], ids=["some", "all"]
)
@pytest.mark.parametrize("criterion", ["gini", "entropy", "variance"])
def test_work_space_of_other_trees_leaves_no_trace(criterion, rule):
    """Trees of other sizes, tables and limits share it."""
    shapes = [(4, 3, 700), (200, 7, 300), (4, 3, 700), (2, 2, 1)]
    idle: list = []
    for number, (n_bins, n_classes, n_rows) in enumerate(shapes):
        table = larger_table(
            n_bins,
            n_classes=n_classes,
            n_rows=n_rows,
            share_missing=0.1,
            is_regression=criterion == "variance",
        )
        compiled = compiled_table(table, criterion, wide=False)
        for max_samples, max_scored in [(0.8, 40), (0.1, 20), (1.0, 8), (0.8, 40)]:
            structure, held = held_out_points(3, number, n_rows, max_samples)
            params = SampledParams(
                rule=rule,
                criterion=criterion,
                min_samples_split=number + 2,
                max_scored=max_scored,
                min_minority=max_scored // 8,
            )
            what = (compiled, structure + held, len(structure), tree_key(3, number))
            tree = grow_compiled(*what, params, idle=idle)
            assert len(idle) == 1  # it was taken, and put back
            assert_same_arrays(tree, grow_compiled(*what, params))
