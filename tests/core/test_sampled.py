# SPDX-License-Identifier: BSD-3-Clause
"""Trees that some rows shape and all fill: the same as the twin's, node for node."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrforest import _core
from tests.core.tables import (
    NO_INTERRUPT,
    assert_same_tree,
    compiled_rule,
    compiled_table,
    tables,
)
from tests.naive import rules
from tests.naive.model import Table
from tests.naive.rng import tree_key
from tests.naive.sampled import (
    SampledParams,
    SampledTree,
    grow_sampled,
    held_out_points,
    leaf_of_point,
    prefix_says,
)

INF = math.inf
MAX_SAMPLES = [0.8, 0.63, 0.8, 0.5, 1.0, 0.9, 0.3, 0.01, 2, 40, 1000]
SIZES = [1, 2, 3, 5, 9, 20, 1000]
SEEDS = st.integers(0, 2**64)

# --- Tables and parameters ------------------------------------------------------------


@st.composite
def equality_tables(draw, **shape) -> Table:
    """Tables some of whose numeric features of 3 to 32 whole numbers offer equality."""
    classes = (2, 2, 3, 3, 5, 100, 1)
    table = draw(tables(classes=classes, **shape))
    if draw(st.booleans()) and draw(st.booleans()):
        return table
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    table.equal_values = []
    for f, n_bins in enumerate(table.n_bins):
        values: list[float] = []
        may = not table.is_categorical[f] and 3 <= n_bins <= 32
        if may and (draw(st.booleans()) or draw(st.booleans())):
            values = np.sort(rng.choice(1000, n_bins, replace=False)) - 500.0
            table.cuts[f] = (values[1:] + values[:-1]) / 2
        table.equal_values.append(values)
    return table


def few_rows(**kind) -> st.SearchStrategy[Table]:
    """Tables of any codes, one byte or two."""
    bins = (4, 10, 3, 32, 2, 1, 60, 300)
    return equality_tables(n_rows=50, n_features=6, bins=bins, **kind)


def many_rows(**kind) -> st.SearchStrategy[Table]:
    """Tables of more rows and features, but fewer codes: the twin is slow."""
    bins = (5, 8, 3, 4, 2, 1)
    return equality_tables(n_rows=300, n_features=12, bins=bins, **kind)


@st.composite
def some_params(draw, *, is_regression: bool = False) -> SampledParams:
    budget = st.sampled_from([0.0, 5.0, INF])
    few = st.sampled_from([0, 0, 1, 2, 3, 7])
    rule = st.one_of(
        st.builds(rules.Multinomial, budget, budget, few),
        st.builds(rules.Greedy, st.integers(1, 7)),
    )
    criterion = ["variance"] if is_regression else ["gini", "entropy"]
    return SampledParams(
        rule=draw(rule),
        min_samples_leaf=draw(st.sampled_from([1, 1, 1, 2, 5])),
        criterion=draw(st.sampled_from(criterion)),
        max_depth=draw(st.sampled_from([None] * 9 + [0, 1, 3])),
        min_weight_fraction=draw(st.sampled_from([0.0] * 6 + [0.02, 0.2])),
        min_side=draw(st.sampled_from([1] * 6 + [2, 4])),
        offers_equality=draw(st.integers(0, 3)) > 0,
        max_scored=draw(st.sampled_from([2, 3, 5, 8, 16, 32, 1000])),
        min_minority=draw(st.sampled_from([1, 2, 4, 9])),
    )


def limits_of(params: SampledParams) -> _core.Limits:
    return _core.Limits(
        min_leaf=params.min_samples_leaf,
        min_side=params.min_side,
        has_floor=False,
        max_depth=-1 if params.max_depth is None else params.max_depth,
        min_weight=params.min_weight_fraction,
        label_budget=params.label_budget,
        interrupt=NO_INTERRUPT,
    )


def grow_compiled(compiled, points, n_structure, key, params, idle=None) -> dict:
    return _core.grow_sampled_tree(
        compiled,
        np.array(points, dtype=np.int32),
        n_structure,
        key,
        limits_of(params),
        rule=compiled_rule(params.rule),
        offers_equality=params.offers_equality,
        max_scored=params.max_scored,
        min_minority=params.min_minority,
        idle=idle,
    )


def widths_of(table: Table) -> list[bool]:
    return [True] if max(table.n_bins) > 255 else [False, True]


def points_of(data, seed, n) -> tuple[list[int], list[int]]:
    tree = data.draw(st.integers(0, 9), label="tree")
    max_samples = data.draw(st.sampled_from(MAX_SAMPLES), label="max_samples")
    return held_out_points(seed, tree, n, max_samples)


def with_size(params: SampledParams, size: int) -> SampledParams:
    """Return the parameters of the prefix of a leaf size."""
    size = max(size, params.min_samples_leaf)
    return SampledParams(**{**vars(params), "min_samples_leaf": size})


# --- Trees ----------------------------------------------------------------------------


def assert_same(compiled: dict, twin: SampledTree, held: list[int]) -> None:
    assert_same_tree(compiled, twin.tree, labels=False)
    leaves = [leaf_of_point(twin, point) for point in held]
    assert compiled["held_leaf"].tolist() == leaves


def check(table, params, seed, data) -> None:
    structure, held = points_of(data, seed, len(table.y))
    key, points = tree_key(seed, 0), structure + held
    twin = grow_sampled(table, points, len(structure), key, params)
    for wide in widths_of(table):
        compiled = compiled_table(table, params.criterion, wide=wide)
        tree = grow_compiled(compiled, points, len(structure), key, params)
        assert_same(tree, twin, held)


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


def larger_table(
    n_bins: int,
    *,
    n_rows: int = 1500,
    n_features: int = 10,
    n_classes: int = 3,
    share_missing: float = 0.0,
    rare: bool = False,
    weighted: bool = False,
    is_regression: bool = False,
) -> Table:
    """Return a table; each fourth feature is categorical, two tell the class.

    In a table of rare classes fewer than one row in twenty are not of the first class.
    """
    rng = np.random.default_rng(n_bins + n_classes)
    codes = rng.integers(0, n_bins, (n_rows, n_features))
    y = (codes[:, 0] > n_bins // 2) * 2 + (codes[:, 1] == n_bins // 2)
    y = np.where(rng.random(n_rows) < 0.2, rng.integers(0, n_classes, n_rows), y)
    y %= n_classes
    if rare:
        y[rng.random(n_rows) < 0.95] = 0
    codes[rng.random(codes.shape) < share_missing] = n_bins
    mass = rng.integers(1, 2**30, n_rows) if weighted else None
    class_weight = moment = None
    if is_regression:
        moment = y * 2**40
        if not rare:
            moment = moment + rng.integers(-(2**38), 2**38, n_rows)
        y = np.unique(moment, return_inverse=True)[1]
    elif weighted:
        class_weight = rng.choice([0.3, 0.5, 0.9], n_classes)
    has_values = 3 <= n_bins <= 32
    kinds = [f % 4 == 3 for f in range(n_features)]
    values = [[] if kind or not has_values else np.arange(n_bins) for kind in kinds]
    cuts = [[] if kind else np.arange(n_bins - 1) + 0.5 for kind in kinds]
    n_bins = [n_bins] * n_features
    return Table(
        codes, n_bins, kinds, cuts, y, n_classes, mass, class_weight, moment, values
    )


@pytest.mark.parametrize(
    "rule",
    [rules.Multinomial(5.0, 5.0, 3), rules.Greedy(3), rules.Multinomial(INF, INF)],
    ids=["drawn", "some", "all"],
)
@pytest.mark.parametrize(
    ("criterion", "shape"),
    [
        ("gini", {"n_bins": 2, "n_classes": 2}),
        ("gini", {"n_bins": 3, "share_missing": 0.05}),
        ("gini", {"n_bins": 4, "n_classes": 2, "rare": True}),
        ("gini", {"n_bins": 8, "n_classes": 12}),
        ("gini", {"n_bins": 17, "n_classes": 100, "n_rows": 600}),
        ("gini", {"n_bins": 32, "weighted": True, "n_rows": 330, "n_features": 4}),
        ("gini", {"n_bins": 200, "n_classes": 2, "n_rows": 330, "n_features": 4}),
        (
            "gini",
            {"n_bins": 60_000, "share_missing": 0.05, "n_rows": 330, "n_features": 4},
        ),
        ("entropy", {"n_bins": 5}),
        ("entropy", {"n_bins": 12, "weighted": True, "n_rows": 400}),
        ("entropy", {"n_bins": 3, "rare": True}),
        ("variance", {"n_bins": 3, "rare": True}),
        ("variance", {"n_bins": 4, "share_missing": 0.05}),
        ("variance", {"n_bins": 20, "weighted": True, "n_rows": 330, "n_features": 4}),
        ("variance", {"n_bins": 60_000, "n_rows": 330, "n_features": 4}),
    ],
)
def test_same_tree_of_a_larger_table_as_the_twin(criterion, shape, rule):
    """With samples of the size that is used, and with smaller ones."""
    table = larger_table(**shape, is_regression=criterion == "variance")
    structure, held = held_out_points(7, 3, len(table.y), 0.8)
    points, key = structure + held, tree_key(7, 3)
    compiled = compiled_table(table, criterion, wide=shape["n_bins"] > 255)
    for max_scored, min_minority in [(256, 32), (40, 6)]:
        params = SampledParams(
            rule=rule,
            criterion=criterion,
            min_samples_leaf=20,
            max_scored=max_scored,
            min_minority=min_minority,
        )
        twin = grow_sampled(table, points, len(structure), key, params)
        assert len(twin.tree.nodes) > 10
        tree = grow_compiled(compiled, points, len(structure), key, params)
        assert_same(tree, twin, held)


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
                min_samples_leaf=number + 1,
                max_scored=max_scored,
                min_minority=max_scored // 8,
            )
            what = (compiled, structure + held, len(structure), tree_key(3, number))
            tree = grow_compiled(*what, params, idle=idle)
            assert len(idle) == 1  # it was taken, and put back
            assert_same_arrays(tree, grow_compiled(*what, params))


# --- Prefixes -------------------------------------------------------------------------


def some_sizes(data) -> np.ndarray:
    sizes = data.draw(st.sets(st.sampled_from(SIZES), min_size=1), label="sizes")
    return np.array(sorted(sizes), dtype=np.int64)


def places_of(held: list[int]) -> np.ndarray:
    """Return where each of the held points stands in an array; some stand nowhere."""
    places = np.arange(len(held))[::-1].astype(np.int64)
    places[1::4] = -1
    return places


def own_mass(table: Table, held: list[int]) -> np.ndarray:
    mass = np.ones(len(held)) if table.mass is None else table.mass[held].astype(float)
    if table.class_weight is not None:
        mass = mass * table.class_weight[table.y[held]]
    return mass


def check_what_prefixes_say(table, params, seed, data) -> None:
    structure, held = points_of(data, seed, len(table.y))
    what = (structure + held, len(structure), tree_key(seed, 0), params)
    twin = grow_sampled(table, *what)
    compiled = compiled_table(table, params.criterion, wide=widths_of(table)[0])
    tree = grow_compiled(compiled, *what)
    sizes, places = some_sizes(data), places_of(held)
    is_regression = table.moment is not None
    n_numbers = 1 if is_regression else table.n_classes
    rng = np.random.default_rng(0)
    before = np.zeros((len(sizes), len(held), n_numbers))
    if not is_regression:
        before += rng.random(before.shape)
    out, own = before.copy(), own_mass(table, held)
    prefixes = _core.Prefixes(tree, 0 if is_regression else table.n_classes)
    if is_regression:
        moment = table.moment[held].astype(float)
        prefixes.add_values(places, own, moment, sizes, out)
    else:
        classes = np.asarray(table.y[held], dtype=np.int32)
        prefixes.add_shares(places, classes, own, sizes, out)

    expected = before.copy()
    for s, size in enumerate(sizes.tolist()):
        for place, point in zip(places, held, strict=True):
            if place >= 0:
                expected[s, place] += prefix_says(table, twin, point, size)
    # What is small may be a difference of larger numbers.
    scale = np.abs(expected).max(initial=1.0)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12 * scale)


@settings(max_examples=2 * settings().max_examples)
@given(table=few_rows(), params=some_params(), seed=SEEDS, data=st.data())
def test_prefixes_say_the_same_as_the_twins(table, params, seed, data):
    table.mass = table.class_weight = None
    check_what_prefixes_say(table, params, seed, data)


@settings(max_examples=2 * settings().max_examples)
@given(table=few_rows(), params=some_params(), seed=SEEDS, data=st.data())
def test_prefixes_say_the_same_of_weighted_points_as_the_twins(
    table, params, seed, data
):
    """Masses and weights whose sums are exact even as float32."""
    if table.mass is not None:
        table.mass = table.mass % 999 + 1
    if table.mass is None or table.class_weight is not None:
        table.class_weight = np.resize([0.25, 0.875, 0.5], table.n_classes)
    check_what_prefixes_say(table, params, seed, data)


@settings(max_examples=2 * settings().max_examples)
@given(
    table=few_rows(is_regression=True),
    params=some_params(is_regression=True),
    seed=SEEDS,
    data=st.data(),
)
def test_prefixes_of_a_regression_say_the_same_as_the_twins(table, params, seed, data):
    check_what_prefixes_say(table, params, seed, data)


def masses_of(tree: dict, n_classes: int) -> np.ndarray:
    """Return the class masses of each leaf; in a regression moment and mass."""
    if n_classes == 0:
        return np.stack([tree["leaf_moment"], tree["leaf_mass"]], axis=1)
    masses = np.zeros((len(tree["leaf_points"]), n_classes))
    leaves = np.repeat(np.arange(len(masses)), np.diff(tree["mass_start"]))
    masses[leaves, tree["mass_class"]] = tree["mass"]
    return masses


def assert_pruned(tree: dict, small: dict, prefix: tuple, n_classes: int) -> None:
    """Compare a prefix of a tree with the small tree that it is."""
    nodes, leaf_points, leaf_of, kept = prefix
    np.testing.assert_array_equal(nodes, small["nodes"])
    np.testing.assert_array_equal(leaf_points, small["leaf_points"])
    np.testing.assert_array_equal(leaf_of[tree["held_leaf"]], small["held_leaf"])
    masses = masses_of(tree, n_classes)
    merged = np.zeros((len(leaf_points), masses.shape[1]), masses.dtype)
    np.add.at(merged, leaf_of, masses)
    # Whole numbers in a regression; class masses are rounded to float32 in each leaf.
    rtol = 1e-6 if n_classes else 0.0
    np.testing.assert_allclose(merged, masses_of(small, n_classes), rtol=rtol)
    is_split = nodes["child"] >= 0
    np.testing.assert_array_equal(
        tree["node_decrease"][kept][is_split], small["node_decrease"][is_split]
    )


def check_pruned(table, params, seed, data) -> None:
    structure, held = points_of(data, seed, len(table.y))
    what = (structure + held, len(structure), tree_key(seed, 0))
    wide = data.draw(st.sampled_from(widths_of(table)), label="wide")
    compiled = compiled_table(table, params.criterion, wide=wide)
    twin = grow_sampled(table, *what, params)
    tree = grow_compiled(compiled, *what, params)
    n_classes = 0 if table.moment is not None else table.n_classes
    prefixes = _core.Prefixes(tree, n_classes)
    assert prefixes.points.tolist() == [len(points) for points in twin.points]

    for size in some_sizes(data).tolist():
        of_size = with_size(params, size)
        small_twin = grow_sampled(table, *what, of_size)
        small = grow_compiled(compiled, *what, of_size)
        assert_same(small, small_twin, held)
        prefix = prefixes.prune(size)
        assert_pruned(tree, small, prefix, n_classes)
        _, _, leaf_of, kept = prefix
        assert [twin.points[number] for number in kept] == small_twin.points
        for point in range(len(table.y)):
            of_point = leaf_of[leaf_of_point(twin, point)]
            assert of_point == leaf_of_point(small_twin, point)


@given(table=few_rows(), params=some_params(), seed=SEEDS, data=st.data())
def test_a_prefix_is_the_tree_of_its_leaf_size(table, params, seed, data):
    check_pruned(table, params, seed, data)


@given(
    table=few_rows(is_regression=True),
    params=some_params(is_regression=True),
    seed=SEEDS,
    data=st.data(),
)
def test_a_prefix_is_the_regression_tree_of_its_leaf_size(table, params, seed, data):
    check_pruned(table, params, seed, data)
