# SPDX-License-Identifier: BSD-3-Clause
"""A whole forest grown by the twin, from a fitted one's parameters and row order."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.testing import assert_array_equal

from mrforest import MultinomialForestClassifier
from mrforest.data.training import as_mass
from tests.naive.binning import cuts_of, encode
from tests.naive.grow import Params, Table, Tree, grow
from tests.naive.rng import tree_key
from tests.naive.sample import partition

MOST_BINS = 65_535  # of max_bins="exact"


def mixed_frame(seed: int, n_rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return numbers, ties, a constant, strings, ordered categories; all with gaps."""
    rng = np.random.default_rng(seed)
    number = rng.normal(size=n_rows)
    grade = rng.integers(0, 5, n_rows)
    town = rng.choice(["Ulm", "Bonn", "Kiel", "Trier"], n_rows)
    size = rng.choice(["small", "large"], n_rows)
    y = (number > 0) + 2 * (town == "Kiel") + (rng.random(n_rows) < 0.15)
    town = pd.Categorical(np.where(rng.random(n_rows) < 0.1, None, town))
    X = pd.DataFrame(
        {
            "number": np.where(rng.random(n_rows) < 0.1, np.nan, number),
            "grade": np.where(rng.random(n_rows) < 0.2, np.nan, grade),
            "constant": 7.0,
            "town": town,
            # The order of the categories is not that of the alphabet.
            "size": pd.Categorical(size, categories=["small", "large"], ordered=True),
            "noise": rng.random(n_rows),
        }
    )
    return X, np.array(["none", "some", "many", "most"])[np.minimum(y, 3)]


def categories_of(column: pd.Series) -> list | None:
    """Return the categories that occur, in the order of their codes."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return None
    seen = set(column.dropna())
    values = column.cat.categories
    return [v for v in (values if column.cat.ordered else sorted(values)) if v in seen]


@dataclass
class Columns:
    """The categories of the training table; turns tables into plain numbers."""

    categories: list

    def numbers(self, X: pd.DataFrame) -> np.ndarray:
        out = np.full(X.shape, np.nan)
        for j, known in enumerate(self.categories):
            for i, value in enumerate(X.iloc[:, j]):
                if known is None:
                    out[i, j] = value
                elif value in known:
                    out[i, j] = known.index(value)
        return out


@dataclass
class TwinForest:
    """Trees of the twin and what is needed to send rows through them."""

    trees: list[Tree]
    columns: Columns
    n_classes: int


def coded_table(X, y, columns, origin, max_bins, mass=None, class_weight=None) -> Table:
    """Return the coded points in canonical order: one row each, repeats included."""
    numbers = columns.numbers(X)[origin]
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
    classes, labels = np.unique(y, return_inverse=True)
    is_categorical = [known is not None for known in columns.categories]
    return Table(
        np.stack(codes, axis=1),
        n_bins,
        is_categorical,
        cuts,
        labels[origin],
        len(classes),
        None if mass is None else mass[origin],
        class_weight,
    )


def twin_of(
    forest: MultinomialForestClassifier,
    X: pd.DataFrame,
    y: np.ndarray,
    sample_weight: np.ndarray | None = None,
    class_weight: np.ndarray | None = None,
) -> TwinForest:
    """Grow every tree of a fitted forest again, the slow way.

    Only the order of the points is taken from the forest.
    """
    origin = forest._batches[0].origin
    if class_weight is not None:
        class_weight = class_weight * 2.0 ** -math.frexp(class_weight.max())[1]
    mass, unit = None, 1.0
    if sample_weight is not None and (sample_weight % 1).any():
        mass, unit = as_mass(sample_weight)
    columns = Columns([categories_of(X[name]) for name in X.columns])
    table = coded_table(X, y, columns, origin, forest.max_bins, mass, class_weight)
    params = Params(
        forest.feature_budget,
        forest.split_budget,
        forest.label_budget,
        forest.min_samples_leaf,
        forest.leaf_rule,
        forest.criterion,
        forest.max_depth,
    )
    trees = []
    for number in range(forest.n_estimators):
        key = tree_key(forest.random_state, number)
        sides = partition(key, len(origin), forest.partition_rate)
        trees.append(grow(table, *sides, key, params))
        for node in trees[-1].nodes:
            if node.masses is not None:
                node.masses = node.masses * np.float32(unit)
    return TwinForest(trees, columns, table.n_classes)


def assert_same_trees(forest: MultinomialForestClassifier, twin: TwinForest) -> None:
    """Compare every node of every tree with the twin's."""
    assert len(forest.estimators_) == len(twin.trees)
    for tree, expected in zip(forest.estimators_, twin.trees, strict=True):
        nodes = expected.nodes
        inner = [node.feature is not None for node in nodes]
        feature = [-1 if node.feature is None else node.feature for node in nodes]
        right = [node.left + 1 if node.left >= 0 else -1 for node in nodes]
        assert_array_equal(tree.feature, feature)
        assert_array_equal(tree.threshold, [node.threshold for node in nodes])
        assert_array_equal(tree.children_left, [node.left for node in nodes])
        assert_array_equal(tree.children_right, right)
        for name in ("is_equality", "missing_left"):
            wanted = np.array([getattr(node, name) for node in nodes])
            assert_array_equal(getattr(tree, name)[inner], wanted[inner])
        leaves = [node for node in nodes if node.feature is None]
        flat = tree._flat
        assert_array_equal(flat.leaf_label, [leaf.label for leaf in leaves])
        assert_array_equal(flat.leaf_points, [leaf.n_estimation for leaf in leaves])
        masses = np.zeros((len(leaves), twin.n_classes), dtype=np.float32)
        of_leaf = np.repeat(np.arange(len(leaves)), np.diff(flat.mass_start))
        masses[of_leaf, flat.mass_class] = flat.mass
        assert_array_equal(masses, [leaf.masses for leaf in leaves])
        assert tree.get_n_leaves() == len(leaves)
        assert tree.get_depth() == max(node.depth for node in nodes)


def structure_decreases(
    twin: TwinForest, forest: MultinomialForestClassifier, X: pd.DataFrame, y
) -> np.ndarray:
    """Sum over trees and splits: n times impurity less that of both children.

    Walks the structure rows down the trees; for unweighted rows.
    """

    def impurity(labels: np.ndarray) -> float:
        counts = np.unique(labels, return_counts=True)[1]
        shares = counts / len(labels)
        if forest.criterion == "gini":
            return len(labels) * (1 - (shares**2).sum())
        return -len(labels) * sum(share * math.log(share) for share in shares)

    numbers = twin.columns.numbers(X)
    y = np.asarray(y)
    out = np.zeros(X.shape[1])
    for number, tree in enumerate(twin.trees):
        rows_of = {0: forest.structure_samples(number)}
        for index, node in enumerate(tree.nodes):
            if node.feature is None:
                continue
            rows = rows_of[index]
            value = numbers[rows, node.feature]
            below = value == node.threshold if node.is_equality else None
            left = value <= node.threshold if below is None else below
            left = np.where(np.isnan(value), node.missing_left, left)
            sides = rows[left], rows[~left]
            rows_of[node.left], rows_of[node.left + 1] = sides
            out[node.feature] += impurity(y[rows]) - sum(impurity(y[s]) for s in sides)
    return out
