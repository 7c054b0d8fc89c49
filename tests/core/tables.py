# SPDX-License-Identifier: BSD-3-Clause
"""Random tables for the engine and its twin, and how each grows a tree from them."""

import math
from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from mrforest import _core
from mrforest.model.nodes import EQUALITY, FEATURE_MASK, MISSING_LEFT
from tests.naive import grow as naive
from tests.naive import rules
from tests.naive.sample import bootstrap, partition

BUDGETS = [0.0, 0.5, 10.0, 1000.0, math.inf]
NO_INTERRUPT = np.zeros(1, dtype=np.uint8)


@st.composite
def tables(
    draw,
    *,
    is_regression: bool = False,
    n_rows: int = 60,
    n_features: int = 6,
    bins: Sequence[int] = (1, 2, 3, 10, 200, 300),
    classes: Sequence[int] = (1, 2, 3, 5, 100),
) -> naive.Table:
    """Tables with ties, constants, missing values, categories and many classes.

    There are up to so many rows and features. Of the numbers of codes of a feature 1
    makes it constant, and 300 does not fit a byte.
    """
    n_rows = draw(st.integers(1, n_rows))
    n_features = draw(st.integers(1, n_features))
    n_classes = draw(st.sampled_from(classes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    codes, n_bins, is_categorical, cuts = [], [], [], []
    for _ in range(n_features):
        n_codes = draw(st.sampled_from(bins))
        missing = draw(st.sampled_from([0.0, 0.0, 0.3, 1.0]))
        column = rng.integers(0, n_codes, n_rows)
        column[rng.random(n_rows) < missing] = n_codes
        codes.append(column)
        n_bins.append(n_codes)
        is_categorical.append(draw(st.booleans()))
        cuts.append([] if is_categorical[-1] else np.arange(n_codes - 1) + 0.5)
    codes = np.stack(codes, axis=1)
    if draw(st.booleans()):
        # Classes that depend on the first feature make deep, uneven trees.
        y = (codes[:, 0] + rng.integers(0, 2, n_rows)) % n_classes
    else:
        y = rng.integers(0, n_classes, n_rows)
    mass = class_weight = moment = None
    if draw(st.booleans()) and draw(st.booleans()):
        mass = rng.integers(1, 2**40, n_rows)
    if is_regression:
        # Few targets make ties, many make none.
        moment = y * draw(st.sampled_from([1, 10**6, 2**45])) - 7
        if draw(st.booleans()):
            moment = moment + rng.integers(-(2**30), 2**30, n_rows)
        if mass is not None:
            moment = moment // 2**8 * (mass // 2**30 + 1)
        y = np.unique(moment, return_inverse=True)[1]
    elif draw(st.booleans()) and draw(st.booleans()):
        class_weight = rng.choice([0.0, 0.5, 1.0, 3.7], n_classes)
    return naive.Table(
        codes, n_bins, is_categorical, cuts, y, n_classes, mass, class_weight, moment
    )


def some_rules() -> st.SearchStrategy:
    """Every rule, with limits among its parameters."""
    budget = st.sampled_from(BUDGETS)
    few = st.integers(1, 7)
    chance = st.sampled_from([0.0, 0.3, 1.0])
    return st.one_of(
        st.builds(rules.Multinomial, budget, budget),
        st.builds(rules.Greedy, few),
        st.builds(rules.Denil, st.sampled_from([0.0, 1.5, 40.0]), st.integers(1, 30)),
        st.builds(rules.Bernoulli, few, chance, chance),
        st.builds(rules.DataDriven, few, chance, budget, budget),
        st.builds(rules.Random),
    )


@st.composite
def parameters(draw, *, is_regression: bool = False) -> naive.Params:
    criterion = st.just("variance") if is_regression else ["gini", "entropy"]
    return naive.Params(
        rule=draw(some_rules()),
        label_budget=draw(st.sampled_from(BUDGETS)),
        min_samples_split=draw(st.integers(2, 7)),
        min_samples_leaf=draw(st.sampled_from([None] * 5 + [1, 2, 3, 4, 6])),
        criterion=draw(
            criterion if is_regression else st.sampled_from(["gini", "entropy"])
        ),
        max_depth=draw(st.sampled_from([None, None, 1, 3])),
        min_weight_fraction=draw(st.sampled_from([0.0, 0.0, 0.1, 0.5])),
    )


def compiled_rule(rule) -> _core.SplitRule:
    """Return the engine's rule of the same name and parameters."""
    return getattr(_core, type(rule).__name__)(*vars(rule).values())


def compiled_target(table, criterion: str) -> _core.Target:
    return _core.Target(
        np.asarray(table.y, dtype=np.int32),
        table.n_classes,
        table.mass,
        table.class_weight,
        getattr(table, "moment", None),
        criterion,
    )


def one_after_the_other(lists) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of all lists, and where those of each list begin."""
    lengths = [len(numbers) for numbers in lists]
    numbers = np.concatenate([np.asarray(numbers, dtype=float) for numbers in lists])
    return numbers, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def compiled_table(
    table: naive.Table, criterion: str, *, wide: bool, sliced: bool = False
):
    cuts, cuts_start = one_after_the_other(table.cuts)
    equal_values = equal_start = None
    if table.equal_values is not None:
        equal_values, equal_start = one_after_the_other(table.equal_values)
    compiled = _core.TrainingTable(
        compiled_target(table, criterion),
        np.asarray(table.is_categorical, dtype=bool),
        codes=np.ascontiguousarray(table.codes, dtype=np.uint16 if wide else np.uint8),
        n_bins=np.asarray(table.n_bins, dtype=np.int32),
        cuts=cuts,
        cuts_start=cuts_start,
        equal_values=equal_values,
        equal_start=equal_start,
    )
    if table.codes.shape[1] % 2:
        compiled.add_columns()
    if sliced:
        compiled.add_cut_bits(most_others=1)
    # A few rows: so that subtrees of such small tables grow in excerpts, too.
    compiled.row_cache_bytes = len(table.codes) % 5 * table.codes.shape[1]
    return compiled


def limits_of(params) -> _core.Limits:
    """Return the limits of the twin's parameters or options."""
    return _core.Limits(
        min_split=params.min_samples_split,
        min_leaf=params.min_samples_leaf or 0,
        max_depth=-1 if params.max_depth is None else params.max_depth,
        min_weight=params.min_weight_fraction,
        label_budget=params.label_budget,
        interrupt=NO_INTERRUPT,
    )


def rows_of(points) -> np.ndarray | None:
    return None if points is None else np.array(points, dtype=np.int32)


def samples(draw, key, n_rows: int):
    """Draw structure and estimation rows in one of the three ways, perhaps repeated."""
    points = np.arange(n_rows)
    if draw(st.booleans(), label="repeat rows"):
        points = np.repeat(points, 1 + points % 3)
    way = draw(st.sampled_from([0.75, 0.5, 0.3, "bag", "all"]), label="sample")
    if way == "bag":
        return points[bootstrap(key, len(points))], None
    if way == "all":
        return points, None
    return tuple(points[side] for side in partition(key, len(points), way))


def grow_compiled(table, structure, estimation, key, params, *, wide, sliced=False):
    return _core.grow_tree(
        compiled_table(table, params.criterion, wide=wide, sliced=sliced),
        rows_of(structure),
        rows_of(estimation),
        key,
        limits_of(params),
        rule=compiled_rule(params.rule),
    )


def assert_same_leaf(compiled: dict, expected, *, labels: bool) -> None:
    leaf = expected.leaf
    assert compiled["leaf_points"][leaf] == expected.n_estimation
    if expected.masses is None:
        assert compiled["leaf_mass"][leaf] == expected.mass
        assert compiled["leaf_moment"][leaf] == expected.moment
        return
    first, last = compiled["mass_start"][leaf : leaf + 2]
    masses = np.zeros_like(expected.masses)
    masses[compiled["mass_class"][first:last]] = compiled["mass"][first:last]
    np.testing.assert_array_equal(masses, expected.masses)
    if labels:
        assert compiled["leaf_label"][leaf] == expected.label


def assert_same_tree(compiled: dict, twin: naive.Tree, *, labels: bool = True) -> None:
    """Compare node by node, and the leaves."""
    nodes = compiled["nodes"]
    assert len(nodes) == len(twin.nodes)
    for i, (node, expected) in enumerate(zip(nodes, twin.nodes, strict=True)):
        if expected.left < 0:
            assert node["child"] == -1 - expected.leaf
            assert_same_leaf(compiled, expected, labels=labels)
            continue
        assert node["child"] == expected.left
        if "pivots" in compiled:
            assert tuple(compiled["pivots"][i]) == expected.pivots
            continue
        assert node["feature"] & FEATURE_MASK == expected.feature
        assert node["threshold"] == expected.threshold
        assert bool(node["feature"] & EQUALITY) == expected.is_equality
        assert bool(node["feature"] & MISSING_LEFT) == expected.missing_left
