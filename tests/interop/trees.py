# SPDX-License-Identifier: BSD-3-Clause
"""Random trees, and rows that come to all their leaves."""

import itertools

import numpy as np

from mrforest import ForestClassifier, _core
from mrforest.model.arrays import FlatForest
from mrforest.model.leaves import ClassForest
from mrforest.model.nodes import EQUALITY, FEATURE_MASK, MISSING_LEFT

N_FEATURES = 3


def random_tree(random, n_splits, n_values):
    """Return a tree of cuts of all kinds, whether they make sense or not."""
    nodes = np.zeros(2 * n_splits + 1, dtype=_core.NODE_DTYPE)
    child = [-1]
    for _ in range(n_splits):
        leaves = [i for i, below in enumerate(child) if below < 0]
        child[leaves[random.integers(len(leaves))]] = len(child)
        child += [-1, -1]
    n_leaves = 0
    for i, below in enumerate(child):
        nodes["child"][i] = below if below >= 0 else -1 - n_leaves
        n_leaves += below < 0
        flags = [0, MISSING_LEFT, EQUALITY, EQUALITY | MISSING_LEFT]
        if below >= 0:
            kind = flags[random.integers(4)]
            nodes["feature"][i] = random.integers(N_FEATURES) | kind
            threshold = float(random.integers(n_values))
            if not kind & EQUALITY:
                threshold = random.choice([threshold, threshold + 0.5, np.inf])
            nodes["threshold"][i] = threshold
    points = random.integers(0, 9, n_leaves).astype(np.uint32)
    starts = np.array([0, len(nodes)]), np.array([0, n_leaves])
    return FlatForest(nodes, *starts, points)


def random_forest(seed, n_trees=2, most_splits=9, n_values=4):
    """Return trees of any size up to a largest."""
    random = np.random.default_rng(seed)
    trees = [
        random_tree(random, random.integers(most_splits + 1), n_values)
        for _ in range(n_trees)
    ]
    return FlatForest.join(trees)


def leaves_of(flat, X):
    """Return the leaf of each row in each tree, counted in the forest."""
    node = flat.find_nodes(X, 1) + flat.tree_start[:-1]
    return flat.leaf_offset[:-1] - 1 - flat.nodes["child"][node]


def grid(flat):
    """Return rows with a number between any two thresholds, and missing values."""
    inner = flat.nodes[flat.nodes["child"] >= 0]
    columns = []
    for feature in range(N_FEATURES):
        own = inner["threshold"][(inner["feature"] & FEATURE_MASK) == feature]
        columns.append([*np.unique(own[np.isfinite(own)]), 1000.0, np.nan])
    return np.array(list(itertools.product(*columns)))


def classifier_of(flat, seed, n_classes=3):
    """Return a forest of these trees, whose leaves hold any classes."""
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(30, N_FEATURES)), np.arange(30) % n_classes
    forest = ForestClassifier(1, random_state=0).fit(X, y)
    n_leaves = len(flat.leaf_points)
    n_masses = random.integers(1, n_classes + 1, n_leaves)
    classes = [np.sort(random.permutation(n_classes)[:n]) for n in n_masses]
    forest._forest = ClassForest(
        flat.nodes,
        flat.tree_start,
        flat.leaf_offset,
        flat.leaf_points,
        leaf_label=np.zeros(n_leaves, dtype=np.uint16),
        mass_start=np.concatenate([[0], np.cumsum(n_masses)]),
        mass_class=np.concatenate(classes).astype(np.uint16),
        mass=random.integers(1, 9, n_masses.sum()).astype(np.float32),
    )
    return forest
