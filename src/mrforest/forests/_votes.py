# SPDX-License-Identifier: BSD-3-Clause
"""Trees for votes alone, for many rows; made from the trees of a forest.

Only the label of a leaf counts, so a part of a tree whose leaves all have the same one
is a leaf here: many splits of an honest tree part points that vote alike. Small trees
are a sieve for sets of rows; down large ones rows walk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.forests._coded import coded_nodes
from mrforest.forests._nodes import EQUALITY

if TYPE_CHECKING:
    from mrforest.forests._flat_classes import ClassForest

# Rows that go through a sieve together: as many bits as a set has. Fewer walk unless
# they are more than half of them.
SET_ROWS = 1024
# Splits of a tree, on average, cuts of all trees, and classes: with more, rows walk
# sooner than a sieve lets them through.
MOST_SPLITS, MOST_CUTS, MOST_CLASSES = 2**12, 2**15, 2**6


class VoteTrees:
    """Trees of a forest of classes, as far as they say which class has a vote.

    Parameters
    ----------
    forest : ClassForest
    n_classes, n_features : int
    n_threads : int, default=1

    Attributes
    ----------
    nodes : ndarray of NODE_DTYPE
        The same nodes in the same places; some splits are leaves.
    labels : ndarray of uint16
        Label of each node that is a leaf.
    coded : CodedNodes or None
    sieve : Sieve or None
    """

    def __init__(
        self,
        forest: ClassForest,
        n_classes: int,
        n_features: int,
        n_threads: int = 1,
    ) -> None:
        tree_start = forest.tree_start
        labels = _core.common_labels(
            forest.nodes, tree_start, forest.leaf_offset, forest.leaf_label
        )
        is_leaf = labels >= 0
        self.nodes = forest.nodes.copy()
        self.nodes["child"][is_leaf] = -1
        self.tree_start = tree_start
        self.labels = labels.astype(np.uint16)
        is_equality = self.nodes["feature"] & EQUALITY != 0
        self.has_equality = bool((is_equality & ~is_leaf).any())
        self.coded = coded_nodes(
            self.nodes, tree_start, forest.lists, n_threads=n_threads, wide=True
        )
        self.sieve = None
        if self.coded is None:
            return
        n_splits = len(is_leaf) - np.count_nonzero(is_leaf)
        is_small = (
            n_splits <= MOST_SPLITS * (len(tree_start) - 1)
            and self.coded.n_values <= MOST_CUTS
            and n_classes <= MOST_CLASSES
        )
        if is_small and _core.plan.is_taken("bit_votes"):
            self.sieve = _core.Sieve(
                self.coded, tree_start, labels, n_classes, n_features
            )

    def count_votes(self, X: NDArray[np.float64], votes: NDArray[np.int32]) -> None:
        """Count the votes of a block of rows, rows x classes; they are 0 before."""
        done = 0
        while self.sieve is not None and len(X) - done > SET_ROWS // 2:
            done += self.sieve.count_votes(X[done:], votes[done:])
            # Rows with missing values walk: each node has its own way for them.
            some = slice(done, done + SET_ROWS)
            self._walk(X[some], votes[some], None)
            done = min(some.stop, len(X))
        self._walk(X[done:], votes[done:], self.coded)

    def _walk(
        self,
        X: NDArray[np.float64],
        votes: NDArray[np.int32],
        coded: _core.CodedNodes | None,
    ) -> None:
        if len(X):
            rows = _core.Rows(X, self.nodes, self.tree_start, self.has_equality, coded)
            _core.add_labels(rows, self.labels, votes)
