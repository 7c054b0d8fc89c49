# SPDX-License-Identifier: BSD-3-Clause
"""Trees that look at values, not at codes, equal their twins node for node."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrforest import _core
from tests.core.tables import (
    BUDGETS,
    assert_same_tree,
    compiled_target,
    limits_of,
    rows_of,
    samples,
)
from tests.naive.cells import grow_centered, grow_in_range, grow_purely_random
from tests.naive.comparison import grow_comparison
from tests.naive.raw import Options, RawTable
from tests.naive.rng import tree_key
from tests.naive.sample import partition


@st.composite
def raw_tables(draw) -> RawTable:
    """Values with ties, constants, duplicates, gaps and categories."""
    n_rows = draw(st.integers(1, 50))
    n_features = draw(st.integers(1, 5))
    n_classes = draw(st.sampled_from([1, 2, 3, 20]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    columns, is_categorical = [], []
    kinds = ["numbers", "few", "one", "categories", "huge"]
    if draw(st.booleans()):
        kinds = ["categories"]
        n_features = draw(st.integers(1, 18))
    for _ in range(n_features):
        kind = draw(st.sampled_from(kinds))
        column = {
            "numbers": rng.normal(size=n_rows),
            "few": rng.integers(0, 4, n_rows) / 4,
            "one": np.full(n_rows, 3.0),
            "categories": rng.choice([0.0, 1, 2, 127, 128, 255], n_rows),
            "huge": rng.choice([-1e300, 0.0, 1e-300, 1.7e308], n_rows),
        }[kind]
        gaps = draw(st.sampled_from([0.0, 0.0, 0.2, 1.0]))
        column[rng.random(n_rows) < gaps] = np.nan
        columns.append(column)
        is_categorical.append(kind == "categories")
    x = np.stack(columns, axis=1)
    if draw(st.booleans()):
        x = x[rng.integers(0, max(n_rows // 4, 1), n_rows)]  # many duplicates
    y = rng.integers(0, n_classes, n_rows)
    mass = class_weight = None
    if draw(st.booleans()) and draw(st.booleans()):
        mass = rng.integers(1, 2**40, n_rows)
    if draw(st.booleans()) and draw(st.booleans()):
        class_weight = rng.choice([0.0, 0.5, 1.0, 3.7], n_classes)
    return RawTable(x, is_categorical, y, n_classes, mass, class_weight)


def some_options() -> st.SearchStrategy[Options]:
    return st.builds(
        Options,
        min_samples_split=st.integers(2, 7),
        min_samples_leaf=st.sampled_from([None] * 5 + [1, 2, 3, 4, 6]),
        criterion=st.sampled_from(["gini", "entropy"]),
        max_depth=st.sampled_from([None, None, 1, 3]),
        label_budget=st.sampled_from(BUDGETS),
        min_weight_fraction=st.sampled_from([0.0, 0.0, 0.1, 0.5]),
    )


def compiled_table(table: RawTable, options: Options) -> _core.TrainingTable:
    return _core.TrainingTable(
        compiled_target(table, options.criterion),
        np.asarray(table.is_categorical, dtype=bool),
        values=np.ascontiguousarray(table.x),
    )


def grow_compiled(grow, table, structure, estimation, key, options, **arguments):
    return grow(
        compiled_table(table, options),
        rows_of(structure),
        rows_of(estimation),
        key,
        limits_of(options),
        **arguments,
    )


def box_of(table: RawTable, *, in_the_middle: bool) -> _core.Box:
    return _core.Box(table.x, np.asarray(table.is_categorical), in_the_middle)


CASES = {
    "table": raw_tables(),
    "options": some_options(),
    "seed": st.integers(0, 2**64),
    "data": st.data(),
}
MANY = settings(max_examples=3 * settings().max_examples)


@MANY
@given(**CASES)
def test_cuts_in_the_range(table, options, seed, data):
    key = tree_key(seed, 0)
    sides = samples(data.draw, key, len(table.y))
    twin = grow_in_range(table, *sides, key, options)
    tree = grow_compiled(_core.grow_in_range, table, *sides, key, options)
    assert_same_tree(tree, twin)


@MANY
@given(**CASES)
def test_purely_random(table, options, seed, data):
    key = tree_key(seed, 0)
    n_leaves = data.draw(st.integers(1, 40), label="n_leaves")
    points = np.arange(len(table.y))
    twin = grow_purely_random(table, points, key, n_leaves, options)
    options.min_weight_fraction = 0.0
    tree = grow_compiled(
        _core.grow_purely_random,
        table,
        points,
        None,
        key,
        options,
        box=box_of(table, in_the_middle=False),
        n_leaves=n_leaves,
    )
    assert_same_tree(tree, twin)


@MANY
@given(**CASES)
def test_centered(table, options, seed, data):
    key = tree_key(seed, 0)
    depth = data.draw(st.integers(0, 7), label="depth")
    n_tries = data.draw(st.integers(1, 5), label="tries")
    fraction = data.draw(st.sampled_from([0.75, 0.5, 0.3]), label="honest fraction")
    structure, estimation = partition(key, len(table.y), fraction)
    twin = grow_centered(table, structure, estimation, key, depth, n_tries, options)
    tree = grow_compiled(
        _core.grow_centered,
        table,
        structure,
        estimation,
        key,
        options,
        box=box_of(table, in_the_middle=True),
        depth=depth,
        n_tries=n_tries,
    )
    assert_same_tree(tree, twin)


def comparer_of(kind: str, table: RawTable) -> _core.Comparer:
    """Return the Euclidean comparer, or another that must give the same answers."""
    x = np.ascontiguousarray(table.x)
    kinds = np.asarray(table.is_categorical, dtype=bool)
    if kind == "vectors":
        return _core.VectorComparer(x, kinds)
    difference = np.abs(x[:, None, :] - x[None, :, :])
    difference = np.where(kinds & (difference > 0), 1.0, difference)
    # One sum after the other: NumPy adds in pairs.
    distances = np.zeros(difference.shape[:2])
    for f in range(x.shape[1]):
        distances = distances + difference[:, :, f] ** 2
    if kind == "matrix":
        return _core.MatrixComparer(distances, np.arange(len(x), dtype=np.int32))
    return _core.PythonComparer(
        lambda rows, p, q: distances[rows, p] <= distances[rows, q]
    )


@MANY
@given(**CASES)
@pytest.mark.filterwarnings("ignore:overflow")
def test_comparisons(table, options, seed, data):
    key = tree_key(seed, 0)
    supervised = data.draw(st.booleans(), label="supervised")
    if supervised:
        sides = np.arange(len(table.y)), None
    else:
        sides = samples(data.draw, key, len(table.y))
    twin = grow_comparison(table, *sides, key, options, supervised)
    # Gaps leave out features for one comparison, which no matrix can.
    kinds = ["vectors"] if np.isnan(table.x).any() else ["vectors", "matrix", "ask"]
    for kind in kinds:
        tree = grow_compiled(
            _core.grow_by_comparisons,
            table,
            *sides,
            key,
            options,
            comparer=comparer_of(kind, table),
            supervised=supervised,
        )
        assert_same_tree(tree, twin)
