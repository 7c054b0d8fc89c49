# SPDX-License-Identifier: BSD-3-Clause
"""What trees and their prefixes say of points that they hold out: as the twins say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrforest import _core
from tests.core.sampled import (
    SEEDS,
    assert_same,
    few_rows,
    grow_compiled,
    larger_table,
    points_of,
    some_params,
    widths_of,
    with_size,
)
from tests.core.tables import compiled_table
from tests.naive import rules
from tests.naive.importance import held_importance
from tests.naive.model import Table
from tests.naive.rng import tree_key
from tests.naive.sampled import (
    SampledParams,
    grow_sampled,
    held_out_points,
    prefix_says,
)

SIZES = [1, 2, 3, 5, 9, 20, 1000]
few_classes = given(table=few_rows(), params=some_params(), seed=SEEDS, data=st.data())
few_values = given(
    table=few_rows(is_regression=True),
    params=some_params(is_regression=True),
    seed=SEEDS,
    data=st.data(),
)
more = settings(max_examples=2 * settings().max_examples)


def some_sizes(data) -> np.ndarray:
    sizes = data.draw(st.sets(st.sampled_from(SIZES), min_size=1), label="sizes")
    return np.array(sorted(sizes), dtype=np.int64)


def n_numbers(table: Table) -> int:
    """Return how many numbers are said of a point."""
    return 1 if table.moment is not None else table.n_classes


def rows_of(held: list[int]) -> np.ndarray:
    return np.array(held, dtype=np.int32)


def prefixes_say(compiled, table, tree, held, sizes, n_out=None) -> np.ndarray:
    """Return what the prefixes say, NaN of points of which they say nothing."""
    n_out = len(table.y) if n_out is None else n_out
    out = np.full((n_out, len(sizes), n_numbers(table)), np.nan)
    asked = [point for point in held if point < n_out]
    out[asked] = 0
    _core.add_prefixes(compiled, tree, rows_of(held), sizes, out)
    return out


def twins_say(table, twin, held, sizes, n_out=None) -> np.ndarray:
    """Return the same of the twin."""
    n_out = len(table.y) if n_out is None else n_out
    out = np.full((n_out, len(sizes), n_numbers(table)), np.nan)
    for point in held:
        for s, size in enumerate(sizes.tolist()):
            if point < n_out:
                out[point, s] = prefix_says(table, twin, point, size)
    return out


def check_prefixes(table, params, seed, data) -> None:
    structure, held = points_of(data, seed, len(table.y))
    what = (structure + held, len(structure), tree_key(seed, 0), params)
    twin = grow_sampled(table, *what)
    wide = data.draw(st.sampled_from(widths_of(table)), label="wide")
    compiled = compiled_table(table, params.criterion, wide=wide)
    tree = grow_compiled(compiled, *what)
    sizes = some_sizes(data)
    n_out = data.draw(st.integers(0, len(table.y)), label="points asked")
    said = prefixes_say(compiled, table, tree, held, sizes, n_out)
    expected = twins_say(table, twin, held, sizes, n_out)
    np.testing.assert_allclose(said, expected, rtol=1e-14)
    # Who has a tree alone finds the same leaves.
    leaves = _core.find_leaves(compiled, tree, rows_of(held))
    np.testing.assert_array_equal(leaves, tree["held_leaf"])


@more
@few_classes
def test_prefixes_say_the_same_as_the_twins(table, params, seed, data):
    check_prefixes(table, params, seed, data)


@more
@few_values
def test_prefixes_of_a_regression_say_the_same_as_the_twins(table, params, seed, data):
    check_prefixes(table, params, seed, data)


def check_added(table, params, seed, data) -> None:
    structure, held = points_of(data, seed, len(table.y))
    compiled = compiled_table(table, params.criterion, wide=widths_of(table)[0])
    what = (structure + held, len(structure), tree_key(seed, 0), params)
    tree = grow_compiled(compiled, *what)
    sizes = some_sizes(data)
    said = prefixes_say(compiled, table, tree, held, sizes)
    leaves = prefixes_say(compiled, table, tree, held, np.array([1]))[:, 0]
    before = np.random.default_rng(0).random(said.shape)
    out, of_leaves = before.copy(), before[:, 0].copy()
    _core.add_prefixes(compiled, tree, rows_of(held), sizes, out)
    _core.add_leaves(compiled, tree, rows_of(held), of_leaves)
    np.testing.assert_array_equal(out, before + np.nan_to_num(said))
    np.testing.assert_array_equal(of_leaves, before[:, 0] + np.nan_to_num(leaves))


@few_classes
def test_what_is_said_is_added(table, params, seed, data):
    """Nothing is added of points that are not held out."""
    check_added(table, params, seed, data)


@few_values
def test_what_is_said_of_values_is_added(table, params, seed, data):
    check_added(table, params, seed, data)


def check_grown(table, params, seed, data) -> None:
    structure, held = points_of(data, seed, len(table.y))
    what = (structure + held, len(structure), tree_key(seed, 0))
    compiled = compiled_table(table, params.criterion, wide=widths_of(table)[0])
    tree = grow_compiled(compiled, *what, params)
    for size in some_sizes(data).tolist():
        of_size = with_size(params, size)
        small_twin = grow_sampled(table, *what, of_size)
        small = grow_compiled(compiled, *what, of_size)
        assert_same(small, table, small_twin, held)
        leaves = np.full((len(table.y), n_numbers(table)), np.nan)
        leaves[held] = 0
        _core.add_leaves(compiled, small, rows_of(held), leaves)
        prefix = prefixes_say(compiled, table, tree, held, np.array([size]))
        np.testing.assert_array_equal(prefix[:, 0], leaves)


@few_classes
def test_a_prefix_is_the_tree_of_its_leaf_size(table, params, seed, data):
    check_grown(table, params, seed, data)


@few_values
def test_a_prefix_is_the_regression_tree_of_its_leaf_size(table, params, seed, data):
    check_grown(table, params, seed, data)


# --- Some of the points are asked about -----------------------------------------------


def check_asked(table, params, seed, data) -> None:
    structure, held = points_of(data, seed, len(table.y))
    what = (structure + held, len(structure), tree_key(seed, 0), params)
    compiled = compiled_table(table, params.criterion, wide=widths_of(table)[0])
    whole = grow_compiled(compiled, *what)
    n_asked = data.draw(st.integers(0, len(table.y) + 1), label="asked")
    tree = grow_compiled(compiled, *what, n_asked=n_asked)
    n_out = min(n_asked, len(table.y))
    said, expected = (
        prefixes_say(compiled, table, grown, held, np.array(SIZES), n_out)
        for grown in (tree, whole)
    )
    np.testing.assert_array_equal(said, expected)
    # Each split of the tree has such a point below it.
    asked = [point for point in held if point < n_asked]
    twin = grow_sampled(table, *what)
    splits = [
        points
        for node, points in zip(twin.tree.nodes, twin.points, strict=True)
        if node.feature is not None and set(points) & set(asked)
    ]
    assert len(tree["nodes"]) == 2 * len(splits) + 1


@few_classes
def test_nodes_without_a_point_asked_about_are_leaves(table, params, seed, data):
    check_asked(table, params, seed, data)


@few_values
def test_nodes_without_a_value_asked_about_are_leaves(table, params, seed, data):
    check_asked(table, params, seed, data)


# --- Importances ----------------------------------------------------------------------


def check_decrease(table, params, seed, data) -> None:
    structure, held = points_of(data, seed, len(table.y))
    what = (structure + held, len(structure), tree_key(seed, 0), params)
    twin = grow_sampled(table, *what)
    compiled = compiled_table(table, params.criterion, wide=widths_of(table)[0])
    tree = grow_compiled(compiled, *what)
    decrease = _core.held_decrease(compiled, tree, rows_of(held))
    expected = held_importance(table, twin, held)
    # What is small may be a difference of larger numbers.
    size = 1.0 if table.moment is None else np.abs(table.moment).max() ** 2.0
    np.testing.assert_allclose(decrease, expected, rtol=1e-9, atol=1e-11 * size)


@few_classes
def test_decrease_on_held_points_of_the_twin(table, params, seed, data):
    check_decrease(table, params, seed, data)


@few_values
def test_decrease_of_the_variance_on_held_points_of_the_twin(table, params, seed, data):
    check_decrease(table, params, seed, data)


# --- A larger table -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("criterion", "shape"),
    [
        ("gini", {"n_bins": 8, "n_classes": 12}),
        ("gini", {"n_bins": 12, "weighted": True}),
        ("entropy", {"n_bins": 20, "n_classes": 300, "n_features": 3}),
        ("entropy", {"n_bins": 300, "share_missing": 0.05}),
        ("variance", {"n_bins": 8}),
        ("variance", {"n_bins": 8, "weighted": True}),
    ],
    ids=str,
)
def test_prefixes_of_a_larger_table_say_the_same_as_the_twins(criterion, shape):
    """With the rows of a table that is filled by all of them, and all leaf sizes."""
    table = larger_table(**shape, n_rows=400, is_regression=criterion == "variance")
    structure, held = held_out_points(7, 3, len(table.y), 0.5)
    params = SampledParams(
        rule=rules.Multinomial(10.0, 10.0, 2), criterion=criterion, min_samples_split=3
    )
    what = (structure + held, len(structure), tree_key(7, 3), params)
    twin = grow_sampled(table, *what)
    compiled = compiled_table(table, criterion, wide=shape["n_bins"] > 255)
    tree = grow_compiled(compiled, *what)
    sizes = np.array([2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64])
    said = prefixes_say(compiled, table, tree, held, sizes)
    expected = twins_say(table, twin, held, sizes)
    np.testing.assert_allclose(said, expected, rtol=1e-14)
    different = {said[held, s].tobytes() for s in range(len(sizes))}
    assert len(different) > 7
