# SPDX-License-Identifier: BSD-3-Clause
"""The twin of a forest that tunes itself, from its parameters and row order."""

import math

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import is_regressor
from sklearn.metrics import accuracy_score, r2_score

from mrforest import _core
from mrforest.data.training import as_mass
from mrforest.model.nodes import EQUALITY, FEATURE_MASK, MISSING_LEFT
from tests.core.sampled import grow_compiled
from tests.core.tables import compiled_table
from tests.forests.frames import Columns
from tests.forests.twin import TwinForest, assert_same_trees, coded_table, how_many
from tests.naive.losses import Said, sharpen
from tests.naive.model import Node, Table, Tree
from tests.naive.sampled import SampledParams, SampledTree, grow_sampled
from tests.naive.target import fixed_point
from tests.naive.tuning import Asked, Trial, Tuned, tune

MOST_EQUAL_VALUES = 32


def values_of_codes(column: np.ndarray, n_bins: int) -> np.ndarray:
    """Return the values of a numeric feature that offers equality, else none."""
    values = np.unique(column[~np.isnan(column)])
    is_whole = (values == np.floor(values)).all()
    if n_bins == len(values) and 3 <= len(values) <= MOST_EQUAL_VALUES and is_whole:
        return values
    return values[:0]


def begin(forest, X: pd.DataFrame, y, sample_weight=None, class_weight=None):
    """Return a twin without trees: the points in their order, and their targets.

    Class weights are given by class, in the order of the classes.
    """
    origin, columns = forest._batches[0].origin, Columns.of(X)
    mass, mass_unit = None, 1.0
    if sample_weight is not None:
        weight = sample_weight[origin]
        if (weight != weight[0]).any():
            mass, mass_unit = as_mass(weight)
    classes, labels = np.unique(y, return_inverse=True)
    target = {"y": labels[origin], "n_classes": len(classes), "mass": mass}
    if class_weight is not None:
        target["class_weight"] = (
            class_weight * 2.0 ** -math.frexp(class_weight.max())[1]
        )
    scale = (0.0, 1.0)
    if is_regressor(forest):
        target["moment"], *scale = fixed_point(y[origin], mass)
        target["y"] = np.unique(y[origin], return_inverse=True)[1]
    numbers = columns.numbers(X)[origin]
    table = coded_table(numbers, columns, forest.max_bins, target)
    table.equal_values = [
        [] if known is not None else values_of_codes(column, n_bins)
        for column, known, n_bins in zip(
            numbers.T, columns.categories, table.n_bins, strict=True
        )
    ]
    return TwinForest(columns, numbers, table, *scale, mass_unit)


def asked_of(forest, n_features: int) -> Asked:
    """Return what the parameters of a forest fix."""

    def fixed(name: str):
        value = getattr(forest, name, "auto")
        return None if isinstance(value, str) and value == "auto" else value

    some = forest.max_features
    split, side = fixed("min_samples_split"), fixed("min_samples_leaf")
    return Asked(
        seed=forest.random_state,
        n_estimators=forest.n_estimators,
        max_samples=forest.max_samples,
        max_features=None if some == "auto" else how_many(some, n_features),
        feature_budget=fixed("feature_budget"),
        split_budget=fixed("split_budget"),
        equality_cuts=fixed("equality_cuts"),
        criterion=fixed("criterion"),
        leaf_size=None if split is None else split - 1,
        min_side=1 if side is None else side,
        min_weight_fraction=forest.min_weight_fraction_leaf,
        max_depth=forest.max_depth,
        calibrate=getattr(forest, "calibrate", True),
    )


# ---- trees of trials, grown fast ----------------------------------------------------


def divided(table: Table, node: np.void, rows: np.ndarray) -> tuple:
    """Return the rows left and right of a compiled node."""
    feature = int(node["feature"] & FEATURE_MASK)
    codes = table.codes[rows, feature]
    is_missing = codes == table.n_bins[feature]
    is_equality = bool(node["feature"] & EQUALITY)
    if node["threshold"] == np.inf:
        is_left = ~is_missing
    elif is_equality and table.is_categorical[feature]:
        is_left = codes == node["threshold"]
    elif is_equality:
        is_left = codes == list(table.equal_values[feature]).index(node["threshold"])
    else:
        is_left = codes <= np.searchsorted(table.cuts[feature], node["threshold"])
    is_left = np.where(is_missing, bool(node["feature"] & MISSING_LEFT), is_left)
    return rows[is_left], rows[~is_left]


class Compiled:
    """Grows the trees of a table with the engine, for the twin."""

    def __init__(self, table: Table) -> None:
        self.tables: dict[str, _core.TrainingTable] = {}
        self.wide = max(table.n_bins) > 255

    def __call__(
        self, table: Table, points, n_structure: int, key, params: SampledParams
    ) -> SampledTree:
        criterion = params.criterion
        if criterion not in self.tables:
            self.tables[criterion] = compiled_table(table, criterion, wide=self.wide)
        compiled = self.tables[criterion]
        grown = grow_compiled(compiled, points, n_structure, key, params)
        contents = [np.sort(points)]
        nodes = []
        for node in grown["nodes"]:
            rows = contents[len(nodes)]
            nodes.append(Node(0, 0, len(rows)))
            if node["child"] >= 0:
                nodes[-1].feature = int(node["feature"] & FEATURE_MASK)
                nodes[-1].left = int(node["child"])
                contents += divided(table, node, rows)
        return SampledTree(Tree(nodes), [rows.tolist() for rows in contents])


# ---- comparison ---------------------------------------------------------------------


def assert_same_trials(trials: list, twins: list[Trial]) -> None:
    """Compare settings, leaf sizes, powers and, but for their unit, losses."""
    assert len(trials) == len(twins)
    for trial, twin in zip(trials, twins, strict=True):
        for name, value in vars(twin.setting).items():
            assert getattr(trial, name) == value, name
        assert_array_equal(trial.leaf_sizes, twin.leaf_sizes)
        assert trial.leaf_size == twin.leaf_size
        if twin.powers:
            assert_allclose(trial.power, twin.power, rtol=1e-6)
    losses, expected = (
        np.concatenate([[*each.losses, each.loss] for each in of] or [[]])
        for of in (trials, twins)
    )
    if len(losses) and expected.max() > 0:
        scale = losses.max() / expected.max()
        assert_allclose(losses, expected * scale, rtol=1e-9, atol=1e-12 * scale)


def assert_same_choices(forest, tuned: Tuned, asked: Asked) -> None:
    """Compare what was tried and chosen."""
    assert_same_trials(forest.tuning_, tuned.trials)
    for name, value in vars(tuned.setting).items():
        assert getattr(forest, f"{name}_") == value, name
    assert forest.min_samples_split_ == tuned.leaf_size + 1
    assert forest.min_samples_leaf_ == asked.min_side
    if not is_regressor(forest):
        assert_allclose(forest.power_, tuned.power, rtol=1e-6)


def out_of_bag_of(forest, twin: TwinForest, tuned: Tuned, n_rows: int) -> np.ndarray:
    """Return the twin's out-of-bag estimates of the user's rows."""
    n_columns = 1 if is_regressor(forest) else twin.n_classes
    out = np.full((n_rows, n_columns), np.nan)
    origin = forest._batches[0].origin
    for row, numbers in zip(origin, tuned.out_of_bag, strict=True):
        if numbers is not None:
            out[row] = numbers
    return twin.centre + out * twin.unit if is_regressor(forest) else out


def is_decided(shares: np.ndarray) -> np.ndarray:
    """Tell which rows have a class of largest share whatever the rounding."""
    ordered = np.sort(shares, axis=1)
    return (ordered[:, -1:] > ordered[:, :-1] + 1e-9).all(axis=1)


def assert_same_out_of_bag(
    forest, twin: TwinForest, tuned: Tuned, y, sample_weight
) -> None:
    """Compare estimates, and the score of those rows that have one."""
    expected = out_of_bag_of(forest, twin, tuned, len(y))
    is_there = ~np.isnan(expected[:, 0])
    weight = None if sample_weight is None else sample_weight[is_there]
    if is_regressor(forest):
        said, truth = forest.oob_prediction_, y[is_there]
        expected = expected[:, 0]
    else:
        said, truth = forest.oob_decision_function_, y[is_there]
    assert_allclose(said, expected, rtol=1e-6, atol=1e-9)
    if not is_there.any():
        assert np.isnan(forest.oob_score_)
        return
    said = said[is_there]
    if is_regressor(forest):
        if len(set(truth)) > 1:
            score = r2_score(truth, said, sample_weight=weight)
            assert_allclose(forest.oob_score_, score, rtol=1e-6)
        return
    if is_decided(said).all():
        labels = forest.classes_[said.argmax(axis=1)]
        score = accuracy_score(truth, labels, sample_weight=weight)
        assert_allclose(forest.oob_score_, score, rtol=1e-9)


def assert_same_told(forest, twin: TwinForest, X: pd.DataFrame) -> None:
    """Compare leaves and predictions."""
    assert_array_equal(forest.apply(X), twin.leaves(X))
    if is_regressor(forest):
        assert_allclose(forest.predict(X), twin.means(X), rtol=1e-12)
        return
    shares = twin.shares(X)
    if forest.calibrate:
        floor = 1 / (len(twin.table.y) + 1)
        shares = np.array([sharpen(row, forest.power_, floor) for row in shares])
    assert_allclose(forest.predict_proba(X), shares, rtol=1e-9)
    labels, is_sure = forest.classes_[shares.argmax(axis=1)], is_decided(shares)
    assert_array_equal(forest.predict(X)[is_sure], labels[is_sure])


def check(
    forest, X, y, sample_weight=None, class_weight=None, *, all_by_the_twin=False
) -> bool:
    """Compare a fitted forest with its twin; False if a choice hangs on rounding.

    The engine grows the trees of trials, the twin those of the forest, or all.
    """
    twin = begin(forest, X, y, sample_weight, class_weight)
    asked = asked_of(forest, X.shape[1])
    grow_trials = grow_sampled if all_by_the_twin else Compiled(twin.table)
    tuned = tune(twin.table, asked, grow_trials=grow_trials)
    if not is_beyond_doubt(tuned):
        return False
    assert_same_choices(forest, tuned, asked)
    for grown in tuned.trees:
        for node in grown.tree.nodes:
            if node.masses is not None:
                node.masses = node.masses * np.float32(twin.mass_unit)
        twin.trees.append(grown.tree)
    assert_same_trees(forest, twin, labels=False)
    assert_same_out_of_bag(forest, twin, tuned, y, sample_weight)
    assert_same_told(forest, twin, X)
    return True


def check_choices(forest, X, y, sample_weight=None) -> Tuned:
    """Compare choices and estimates; the engine grows all trees."""
    twin = begin(forest, X, y, sample_weight)
    asked, grow = asked_of(forest, X.shape[1]), Compiled(twin.table)
    tuned = tune(twin.table, asked, grow, grow)
    assert is_beyond_doubt(tuned)
    assert_same_choices(forest, tuned, asked)
    assert_same_out_of_bag(forest, twin, tuned, y, sample_weight)
    return tuned


# ---- near ties -----------------------------------------------------------------------


def same(one: list[Said], other: list[Said]) -> bool:
    return [said.halves for said in one] == [said.halves for said in other]


def is_near(one: float, other: float) -> bool:
    """Tell whether rounding may decide which of two losses is smaller.

    Losses below 0 are raised to 0, and so are the same.
    """
    if max(one, other) < -1e-9:
        return False
    return abs(one - other) <= 1e-9 * max(abs(one), abs(other), 1e-3)


def is_clear(losses: list[float]) -> bool:
    """Tell whether the smallest of some losses is so whatever their rounding."""
    if not losses or math.isnan(losses[0]):  # no row counts
        return True
    best = losses.index(min(losses))
    if min(losses) < -1e-9:
        best = next(i for i, loss in enumerate(losses) if loss < 0)
    others = [loss for i, loss in enumerate(losses) if i != best]
    return not any(is_near(losses[best], loss) for loss in others)


def is_clear_trial(trial: Trial) -> bool:
    """Tell whether the leaf size and the power of a trial are beyond doubt.

    Leaf sizes of the same trees have the same loss, to the bit.
    """
    different: list[int] = []
    for s, said in enumerate(trial.said):
        if not any(same(said, trial.said[other]) for other in different):
            different.append(s)
    sizes = [trial.unbounded[s] for s in different]
    return is_clear(sizes) and is_clear(trial.powers)


def is_clear_choice(trials: list[Trial]) -> bool:
    """Tell whether each trial is better than the best one before, or not."""
    if not trials:
        return True
    best = trials[0]
    for trial in trials[1:]:
        if not same(trial.best, best.best) and is_near(trial.loss, best.loss):
            return False
        if trial.loss < best.loss:
            best = trial
    return True


def is_beyond_doubt(tuned: Tuned) -> bool:
    """Tell whether no choice of the twin hangs on rounding."""
    if not is_clear(tuned.powers) or not is_clear_choice(tuned.trials):
        return False
    return all(is_clear_trial(trial) for trial in tuned.trials)
