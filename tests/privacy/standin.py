# SPDX-License-Identifier: BSD-3-Clause
"""One private tree, as plain as can be: what the audits ask of an estimator."""

from functools import cache

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from mrforest.privacy import Item, Ledger
from mrforest.privacy.grid import Grid, Numeric
from mrforest.privacy.randomness import RandomBits
from mrforest.privacy.subtree import Leaf, Scoring, Split, SubtreeMechanism


class PrivateTree(ClassifierMixin, BaseEstimator):
    """A subtree with labels, drawn in one go.

    With `spent` it spends more than the epsilon it claims.
    """

    def __init__(
        self, epsilon=1.0, *, bounds, classes, depth=1, spent=None, random_state=None
    ):
        self.epsilon = epsilon
        self.bounds = bounds
        self.classes = classes
        self.depth = depth
        self.spent = spent
        self.random_state = random_state

    def fit(self, X, y):
        self.classes_ = np.array(self.classes)
        mechanism, rows = self._mechanism(X, y)
        seed = self.random_state
        random = RandomBits.secure() if seed is None else RandomBits.seeded(seed)
        self.tree_ = plain(mechanism.draw(rows, self.depth, random))
        self.epsilon_ = self.epsilon
        self.ledger_ = Ledger(Item("tree", "exponential", self.epsilon))
        return self

    def log_probability(self, X, y):
        mechanism, rows = self._mechanism(X, y)
        return mechanism.log_probability(unplain(self.tree_), rows, self.depth)

    def predict(self, X):
        codes = self._codes(X)
        return self.classes_[[label_of(self.tree_, row) for row in codes]]

    def predict_proba(self, X):
        return (self.predict(X)[:, None] == self.classes_).astype(float)

    def _features(self, X):
        one_for_all = isinstance(self.bounds, tuple)
        bounds = [self.bounds] * X.shape[1] if one_for_all else self.bounds
        return [Numeric(*pair) for pair in bounds]

    def _codes(self, X):
        X = np.asarray(X, dtype=float)
        grid = Grid.of(self._features(X))
        cuts = np.split(grid.cuts, grid.cuts_start[1:-1])
        columns = [np.searchsorted(c, x) for c, x in zip(cuts, X.T, strict=True)]
        return np.stack(columns, axis=1).astype(np.uint8)

    def _mechanism(self, X, y):
        grid = Grid.of(self._features(np.asarray(X)))
        codes = np.searchsorted(self.classes_, np.asarray(y)).astype(np.int32)
        scoring = scoring_of(self.epsilon if self.spent is None else self.spent)
        mechanism = SubtreeMechanism(
            self._codes(X), codes, len(self.classes_), grid, scoring
        )
        return mechanism, np.arange(len(codes), dtype=np.int32)


@cache
def scoring_of(epsilon):
    """One of each, for its tables take long."""
    return Scoring(epsilon, None)


def plain(tree):
    """Without the rows, which are private."""
    if isinstance(tree, Leaf):
        return tree.label
    return (tree.feature, tree.code, plain(tree.left), plain(tree.right))


def unplain(tree):
    if not isinstance(tree, tuple):
        return Leaf(tree)
    feature, code, left, right = tree
    return Split(feature, code, unplain(left), unplain(right))


def label_of(tree, row):
    while isinstance(tree, tuple):
        feature, code, left, right = tree
        tree = left if row[feature] <= code else right
    return tree
