# SPDX-License-Identifier: BSD-3-Clause
"""Tables, parameters and points of trees that some rows shape and all fill."""

import math

import numpy as np
from hypothesis import strategies as st

from mrforest import _core
from tests.core.tables import (
    NO_INTERRUPT,
    assert_same_tree,
    compiled_rule,
    tables,
)
from tests.naive import rules
from tests.naive.model import Table
from tests.naive.sampled import (
    SampledParams,
    SampledTree,
    held_out_points,
    leaf_of_point,
)

INF = math.inf
MAX_SAMPLES = [0.8, 0.63, 0.8, 0.5, 1.0, 0.9, 0.3, 0.01, 2, 40, 1000]
SEEDS = st.integers(0, 2**64)


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
        min_samples_split=draw(st.sampled_from([2, 2, 2, 3, 6])),
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
        min_split=params.min_samples_split,
        min_leaf=0,
        min_side=params.min_side,
        max_depth=-1 if params.max_depth is None else params.max_depth,
        min_weight=params.min_weight_fraction,
        label_budget=params.label_budget,
        interrupt=NO_INTERRUPT,
    )


def grow_compiled(
    compiled, points, n_structure, key, params, idle=None, n_asked=-1
) -> dict:
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
        n_asked=n_asked,
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
    split = max(size + 1, params.min_samples_split)
    return SampledParams(**{**vars(params), "min_samples_split": split})


def counts_of(compiled: dict, n_classes: int) -> np.ndarray:
    """Return what the points of each leaf add to each class, class weights left out."""
    counts = np.zeros((len(compiled["leaf_points"]), n_classes), dtype=np.int64)
    leaves = np.repeat(np.arange(len(counts)), np.diff(compiled["mass_start"]))
    counts[leaves, compiled["mass_class"]] = compiled["count"]
    return counts


def assert_same(
    compiled: dict, table: Table, twin: SampledTree, held: list[int]
) -> None:
    """Compare nodes, leaves and the leaves of points that are held out."""
    # Labels of these trees are not used: a forest takes the class of largest mass.
    assert_same_tree(compiled, twin.tree, labels=False)
    leaves = [leaf_of_point(twin, point) for point in held]
    assert compiled["held_leaf"].tolist() == leaves
    if table.moment is not None:
        return
    assert compiled["count"].dtype == np.int64
    expected = np.zeros((len(compiled["leaf_points"]), table.n_classes), dtype=np.int64)
    for node, points in zip(twin.tree.nodes, twin.points, strict=True):
        if node.feature is None:
            mass = 1 if table.mass is None else table.mass[points]
            np.add.at(expected[node.leaf], table.y[points], mass)
    np.testing.assert_array_equal(counts_of(compiled, table.n_classes), expected)


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
    all_categorical: bool = False,
) -> Table:
    """Return a table; each fourth feature is categorical, two tell the class.

    In a table of rare classes fewer than one row in twenty are not of the first class.
    """
    rng = np.random.default_rng(n_bins + n_classes)
    codes = rng.integers(0, n_bins, (n_rows, n_features))
    y = (codes[:, 0] > n_bins // 2) * 2 + (codes[:, -1] == n_bins // 2)
    if n_classes > 100:
        y = y + codes[:, 0]
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
    kinds = [all_categorical or f % 4 == 3 for f in range(n_features)]
    values = [[] if kind or not has_values else np.arange(n_bins) for kind in kinds]
    cuts = [[] if kind else np.arange(n_bins - 1) + 0.5 for kind in kinds]
    n_bins = [n_bins] * n_features
    return Table(
        codes, n_bins, kinds, cuts, y, n_classes, mass, class_weight, moment, values
    )
