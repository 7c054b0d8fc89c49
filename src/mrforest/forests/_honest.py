# SPDX-License-Identifier: BSD-3-Clause
"""What honest forests add: which rows shaped a tree and which filled it."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mrforest.forests._sampling import tree_key


class HonestForestMixin:
    """For forests that shape a tree by one part of the rows and fill it by the rest.

    The two parts are not stored; they are drawn again from the key of the tree.
    """

    def structure_samples(self, tree: int) -> NDArray[np.int32]:
        """Rows of the training table that shaped a tree.

        Parameters
        ----------
        tree : int
            Number of the tree.

        Returns
        -------
        ndarray of int32
            Row numbers, ascending; repeated as whole-number sample weights say.
        """
        return samples(self, tree, side=0)

    def estimation_samples(self, tree: int) -> NDArray[np.int32]:
        """Rows of the training table that filled the leaves of a tree.

        Parameters
        ----------
        tree : int
            Number of the tree.

        Returns
        -------
        ndarray of int32
            Row numbers, ascending; repeated as whole-number sample weights say.
        """
        return samples(self, tree, side=1)


def samples(forest: Any, tree: int, side: int) -> NDArray[np.int32]:
    """Draw the points of a tree again and name the user's rows."""
    check_is_fitted(forest)
    tree = operator.index(tree)
    n_trees = len(forest._forest)
    if not 0 <= tree < n_trees:
        raise IndexError(f"tree={tree}: the forest has trees 0 to {n_trees - 1}")
    batch = next(b for b in reversed(forest._batches) if b.first <= tree)
    sides = batch.sampler(tree_key(forest._seed, tree), len(batch.origin))
    # Where all points shape and fill a tree there is one side only.
    points = sides[0] if sides[side] is None else sides[side]
    rows: NDArray[np.int32] = np.sort(batch.origin[points])
    return rows
