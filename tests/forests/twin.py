# SPDX-License-Identifier: BSD-3-Clause
"""A whole forest grown by the twin, from a fitted one's parameters and row order."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.testing import assert_array_equal
from sklearn.base import is_regressor

from mrforest.data.training import as_mass
from tests.forests.frames import Columns
from tests.naive import predict as naive
from tests.naive import rules
from tests.naive.binning import cuts_of, encode
from tests.naive.cells import grow_centered, grow_in_range, grow_purely_random
from tests.naive.comparison import Left, apply_left, euclidean_left, grow_comparison
from tests.naive.grow import Params, Table, Tree, grow
from tests.naive.raw import Options, RawTable
from tests.naive.rng import tree_key
from tests.naive.sample import bootstrap, partition
from tests.naive.target import fixed_point

MOST_BINS = 65_535  # of max_bins="exact"

Sides = tuple[np.ndarray, np.ndarray | None]


@dataclass
class TwinForest:
    """Trees of the twin and what is needed to send rows through them.

    The rows of the table are the points, repeats included, and `numbers` are their raw
    values. `sides` are the structure and estimation points of each tree, None if they
    are the same.
    """

    columns: Columns
    numbers: np.ndarray
    table: Table | RawTable
    centre: float = 0.0
    unit: float = 1.0
    mass_unit: float = 1.0
    # In a comparison forest: what compares query rows with rows of the table, and what
    # a tree shows of the points that are pivots.
    left: Callable[[np.ndarray], Left] | None = None
    shown: np.ndarray | None = None
    trees: list[Tree] = field(default_factory=list)
    sides: list[Sides] = field(default_factory=list)

    @property
    def n_classes(self) -> int:
        return self.table.n_classes

    def leaves(self, X: pd.DataFrame) -> np.ndarray:
        """Return the node of each row (rows by trees)."""
        x = self.columns.numbers(X)
        if self.left is None:
            return np.stack([naive.apply(tree, x) for tree in self.trees], axis=1)
        left = self.left(x)
        return np.stack([apply_left(tree, len(x), left) for tree in self.trees], axis=1)

    def votes(self, X: pd.DataFrame) -> np.ndarray:
        """Return the trees that vote for each class."""
        out = np.zeros((len(X), self.n_classes), dtype=int)
        for row, leaves in enumerate(self.leaves(X)):
            for tree, leaf in zip(self.trees, leaves, strict=True):
                out[row, tree.nodes[leaf].label] += 1
        return out

    def shares(self, X: pd.DataFrame) -> np.ndarray:
        """Return the mean shares of the leaves; equal ones of a leaf without mass."""
        out = np.zeros((len(X), self.n_classes))
        for row, leaves in enumerate(self.leaves(X)):
            for tree, leaf in zip(self.trees, leaves, strict=True):
                masses = [float(mass) for mass in tree.nodes[leaf].masses]
                whole = 0.0
                for mass in masses:
                    whole = whole + mass
                for c, mass in enumerate(masses):
                    out[row, c] += mass / whole if whole > 0 else 1 / self.n_classes
        return out / len(self.trees)

    def means(self, X: pd.DataFrame) -> np.ndarray:
        """Return the mean values of the leaves."""
        x = self.columns.numbers(X)
        return naive.mean_values(self.trees, x, self.centre, self.unit)


# ---- what a forest's parameters mean ------------------------------------------------


def name_of(forest) -> str:
    """Return the name of a forest without what it tells."""
    return type(forest).__name__.split("Forest")[0]


def how_many(max_features, n_features: int) -> int:
    """Return the number of features that `max_features` means."""
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        return math.floor(math.sqrt(n_features))
    if max_features == "log2":
        return max(1, math.floor(math.log2(n_features)))
    if isinstance(max_features, int):
        return min(max_features, n_features)
    return max(1, math.floor(max_features * n_features))


def rule_of(forest, n_features: int) -> rules.Rule:
    """Return the twin's split rule."""
    some = how_many(getattr(forest, "max_features", None), n_features)
    name = name_of(forest)
    if name == "Multinomial":
        return rules.Multinomial(forest.feature_budget, forest.split_budget)
    if name == "Breiman":
        return rules.Greedy(some)
    if name == "Denil":
        mean = forest.mean_features
        mean = math.sqrt(n_features) if mean == "sqrt" else mean
        return rules.Denil(mean, forest.n_range_samples)
    if name == "Bernoulli":
        chances = (
            forest.random_feature_probability,
            forest.random_cut_probability,
        )
        return rules.Bernoulli(some, *chances)
    if name == "DataDrivenMultinomial":
        budgets = forest.feature_budget, forest.split_budget
        return rules.DataDriven(some, forest.multinomial_probability, *budgets)
    assert name == "CompletelyRandom"
    return rules.Random()


def is_honest(forest) -> bool:
    """Return whether one part of the points shapes a tree and the other fills it."""
    honest = getattr(forest, "honest", hasattr(forest, "honest_fraction"))
    return forest.cuts == "data" if honest == "auto" else honest


def sides_of(forest, key, n_points: int) -> Sides:
    """Return structure and estimation points of the tree with this key."""
    if hasattr(forest, "oob_score"):
        return bootstrap(key, n_points), None
    if not is_honest(forest):
        return np.arange(n_points), None
    return partition(key, n_points, forest.honest_fraction)


def number_of_leaves(forest, n_points: int) -> int:
    """Return the number of cells, of so many points that fill them."""
    if forest.max_leaf_nodes == "auto":
        return math.ceil(n_points ** (3 / 4))
    return forest.max_leaf_nodes


def least_split(forest) -> int:
    """Return how many points a node has at least that is split."""
    given = getattr(forest, "min_samples_split", 2)
    if given is None:
        return 6 if forest.min_samples_leaf is None else 2
    return given


def limits_of(forest) -> dict:
    """Return what `Params` and `Options` have in common."""
    criterion = getattr(forest, "criterion", "gini")
    return {
        "label_budget": getattr(forest, "label_budget", math.inf),
        "min_samples_split": least_split(forest),
        "min_samples_leaf": getattr(forest, "min_samples_leaf", None),
        "criterion": "variance" if is_regressor(forest) else criterion,
        "max_depth": getattr(forest, "max_depth", None),
        "min_weight_fraction": getattr(forest, "min_weight_fraction_leaf", 0.0),
    }


def left_of(forest, table: RawTable, origin: np.ndarray) -> Callable:
    """Return what compares queries with rows of the table, as the forest does."""

    def by_vectors(x: np.ndarray) -> Left:
        return euclidean_left(table, x)

    def by_oracle(x: np.ndarray) -> Left:
        items = table.x[:, 0].astype(int)
        return lambda i, p, q: forest.oracle(int(x[i, 0]), items[p], items[q])

    def by_columns(x: np.ndarray) -> Left:
        return lambda i, p, q: x[i, origin[p]] <= x[i, origin[q]]

    def by_metric(x: np.ndarray) -> Left:
        def distance(i: int, p: int) -> float:
            return forest.metric(x[i], table.x[p], **(forest.metric_params or {}))

        return lambda i, p, q: distance(i, p) <= distance(i, q)

    if forest.oracle is not None:
        return by_oracle
    if forest.metric == "euclidean":
        return by_vectors
    return by_columns if forest.metric == "precomputed" else by_metric


# ---- growth -------------------------------------------------------------------------


def coded_table(numbers, columns: Columns, max_bins, target: dict) -> Table:
    """Return the coded points."""
    limit = MOST_BINS if max_bins == "exact" else max_bins
    cuts, codes, n_bins = [], [], []
    for column, known in zip(numbers.T, columns.categories, strict=True):
        if known is None:
            cuts.append(cuts_of(column, limit))
            n_bins.append(len(cuts[-1]) + 1)
            codes.append(encode(column, cuts[-1]))
        else:
            cuts.append([])
            n_bins.append(len(known))
            codes.append(np.where(np.isnan(column), len(known), column).astype(int))
    codes = np.stack(codes, axis=1)
    return Table(codes, n_bins, columns.is_categorical, cuts, **target)


def begin(forest, X, y, sample_weight, class_weight) -> TwinForest:
    """Return a twin without trees: the points in their order, and their targets."""
    origin = forest._batches[0].origin
    columns = Columns.of(X)
    mass, mass_unit = None, 1.0
    if sample_weight is not None and (sample_weight % 1).any():
        some = sample_weight > 0
        mass = np.zeros(len(y), dtype=np.int64)
        mass[some], mass_unit = as_mass(sample_weight[some])
        mass = mass[origin]
    classes, labels = np.unique(y, return_inverse=True)
    target = {"y": labels[origin], "n_classes": len(classes), "mass": mass}
    if class_weight is not None:
        class_weight = class_weight * 2.0 ** -math.frexp(class_weight.max())[1]
        target["class_weight"] = class_weight
    scale = (0.0, 1.0)
    if is_regressor(forest):
        target["moment"], *scale = fixed_point(y[origin], mass)
    numbers = columns.numbers(X)[origin]
    if hasattr(forest, "max_bins") and getattr(forest, "cuts", "data") == "data":
        table = coded_table(numbers, columns, forest.max_bins, target)
    else:
        table = RawTable(numbers, columns.is_categorical, **target)
    twin = TwinForest(columns, numbers, table, *scale, mass_unit)
    if name_of(forest) == "Comparison":
        twin.left = left_of(forest, table, origin)
        has_columns = forest.oracle is None and forest.metric == "precomputed"
        twin.shown = origin[:, None] if has_columns else numbers
    return twin


def twin_tree(forest, twin: TwinForest, sides: Sides, key) -> Tree:
    """Grow one tree."""
    table, limits = twin.table, limits_of(forest)
    if isinstance(table, Table):
        rule = rule_of(forest, table.codes.shape[1])
        return grow(table, *sides, key, Params(rule, **limits))
    name, options = name_of(forest), Options(**limits)
    if name == "CompletelyRandom":
        return grow_in_range(table, *sides, key, options)
    if name == "PurelyRandom":
        n_leaves = number_of_leaves(forest, len(sides[0]))
        return grow_purely_random(table, sides[0], key, n_leaves, options)
    if name == "Centered":
        depth = math.ceil(math.log2(number_of_leaves(forest, len(sides[1]))))
        n_tries = how_many(forest.max_features, table.x.shape[1])
        return grow_centered(table, *sides, key, depth, n_tries, options)
    assert name == "Comparison"
    left = twin.left(table.x)
    return grow_comparison(table, *sides, key, options, not forest.honest, left)


def twin_of(
    forest,
    X: pd.DataFrame,
    y: np.ndarray,
    sample_weight: np.ndarray | None = None,
    class_weight: np.ndarray | None = None,
) -> TwinForest:
    """Grow every tree of a fitted forest again, the slow way.

    Only the order of the points is taken from the forest. Class weights are given by
    class, in the order of the classes.
    """
    twin = begin(forest, X, np.asarray(y), sample_weight, class_weight)
    for number in range(forest.n_estimators):
        key = tree_key(forest.random_state, number)
        sides = sides_of(forest, key, len(twin.table.y))
        tree = twin_tree(forest, twin, sides, key)
        for node in tree.nodes:
            if node.masses is not None:
                node.masses = node.masses * np.float32(twin.mass_unit)
        twin.trees.append(tree)
        twin.sides.append(sides)
    return twin


# ---- comparison ---------------------------------------------------------------------


def assert_same_trees(forest, twin: TwinForest, *, labels: bool = True) -> None:
    """Compare every node of every tree with the twin's."""
    assert len(forest.estimators_) == len(twin.trees)
    for tree, expected in zip(forest.estimators_, twin.trees, strict=True):
        nodes = expected.nodes
        right = [node.left + 1 if node.left >= 0 else -1 for node in nodes]
        assert_array_equal(tree.children_left, [node.left for node in nodes])
        assert_array_equal(tree.children_right, right)
        assert_same_questions(tree, nodes, twin)
        leaves = [node for node in nodes if node.left < 0]
        assert_array_equal(
            tree._flat.leaf_points, [leaf.n_estimation for leaf in leaves]
        )
        assert_same_leaves(tree._flat, leaves, twin, labels=labels)
        assert tree.get_n_leaves() == len(leaves)
        assert tree.get_depth() == max(node.depth for node in nodes)


def assert_same_questions(tree, nodes: list, twin: TwinForest) -> None:
    """Compare cuts, or the rows that are pivots."""
    inner = [node.left >= 0 for node in nodes]
    if twin.left is not None:
        expected = np.full((len(nodes), 2, twin.shown.shape[1]), np.nan)
        for number, node in enumerate(nodes):
            if node.left >= 0:
                expected[number] = twin.shown[list(node.pivots)]
        assert_array_equal(tree.pivots, expected)
        return
    feature = [-1 if node.feature is None else node.feature for node in nodes]
    assert_array_equal(tree.feature, feature)
    assert_array_equal(tree.threshold, [node.threshold for node in nodes])
    for name in ("is_equality", "missing_left"):
        wanted = np.array([getattr(node, name) for node in nodes])
        assert_array_equal(getattr(tree, name)[inner], wanted[inner])


def assert_same_leaves(flat, leaves: list, twin: TwinForest, *, labels: bool) -> None:
    """Compare class masses and labels, or values and masses."""
    if leaves[0].masses is None:
        values = [naive.leaf_value(leaf, twin.centre, twin.unit) for leaf in leaves]
        assert_array_equal(flat.leaf_value, values)
        assert_array_equal(
            flat.leaf_mass, [leaf.mass * twin.mass_unit for leaf in leaves]
        )
        return
    if labels:
        assert_array_equal(flat.leaf_label, [leaf.label for leaf in leaves])
    masses = np.zeros((len(leaves), twin.n_classes), dtype=np.float32)
    of_leaf = np.repeat(np.arange(len(leaves)), np.diff(flat.mass_start))
    masses[of_leaf, flat.mass_class] = flat.mass
    assert_array_equal(masses, [leaf.masses for leaf in leaves])


def assert_same_predictions(forest, twin: TwinForest, X: pd.DataFrame) -> None:
    """Compare leaves, and votes, shares or means, to the bit."""
    assert_array_equal(forest.apply(X), twin.leaves(X))
    if is_regressor(forest):
        assert_array_equal(forest.predict(X), twin.means(X))
        return
    votes = twin.votes(X)
    forest.set_params(voting="hard")
    assert_array_equal(forest.predict_proba(X), votes / len(twin.trees))
    assert_array_equal(forest.predict(X), forest.classes_[votes.argmax(axis=1)])
    shares = twin.shares(X)
    forest.set_params(voting="soft")
    assert_array_equal(forest.predict_proba(X), shares)
    assert_array_equal(forest.predict(X), forest.classes_[shares.argmax(axis=1)])
