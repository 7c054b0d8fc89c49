# SPDX-License-Identifier: BSD-3-Clause
"""Choices by rows that did not shape a tree: leaf size, split setting, sharpness.

Each row is held out of some trees of a forest. What these predict for it, its own label
left out, is what a smaller forest would predict for a new row. The loss of the whole
forest follows from it by extrapolation in the number of trees (`_core.squared_losses`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.forests.held_out import HeldOut, Setting

# Rows by whose losses leaf sizes, settings and powers are compared
MOST_ROWS = 4096


class Trial(NamedTuple):
    """A setting that a forest tried, and the losses of its leaf sizes.

    `ForestClassifier` and `ForestRegressor` keep a list of these in `tuning_`, in the
    order in which they were tried. The parameters of the setting have the names that
    they have in the forest.

    Attributes
    ----------
    max_features : int
        Features that a node looks at.
    feature_budget, split_budget : float
        B1 and B2: how greedily the feature and the cut are drawn.
    equality_cuts : bool
        Whether numeric features of few values are cut by equality, too.
    criterion : {"gini", "entropy", "variance"}
        Impurity whose decrease is the score of a cut.
    leaf_sizes : ndarray of shape (n_sizes,), dtype=int64
        Leaf sizes that were tried: a node of at most so many rows is a leaf.
    losses : ndarray of shape (n_sizes,), dtype=float64
        Estimated loss of the whole forest with each leaf size, by rows that did not
        shape the trees. In classification it is the Brier score of mean class shares,
        from 0 to 2. In regression it is the squared error divided by the variance of
        the target, so that 1 less the loss is like R².
    leaf_size : int
        The leaf size of the smallest loss; of equal ones the smallest.
    loss : float
        By which settings are compared: the loss of this leaf size, in classification
        after sharpening.
    power : float
        The power that sharpens probabilities best then; 1 in regression.

    See Also
    --------
    mrforest.inspection.plot_tuning : A picture of all trials.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mrforest import ForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> first = ForestRegressor(random_state=0).fit(X, y).tuning_[0]
    >>> first.max_features, first.leaf_sizes[:5].tolist()
    (3, [1, 2, 3, 4, 6])
    >>> bool(first.loss == first.losses.min() < 1)
    True
    """

    max_features: int
    feature_budget: float
    split_budget: float
    equality_cuts: bool
    criterion: str
    leaf_sizes: NDArray[np.int64]
    losses: NDArray[np.float64]
    leaf_size: int
    loss: float
    power: float

    @property
    def setting(self) -> Setting:
        """The first five fields: what was tried."""
        return Setting(*self[:5])


def least_leaf_size(n_points: int) -> int:
    """Return the size that no leaf is below: 1, from a million rows on 2, and so on.

    It grows without bound, which the proof of consistency needs, and so slowly that it
    costs nothing.

    Examples
    --------
    >>> least_leaf_size(100), least_leaf_size(10**6), least_leaf_size(10**9)
    (1, 2, 3)
    """
    return max(1, (len(str(n_points)) - 1) // 3)


def leaf_sizes(n_points: int) -> NDArray[np.int64]:
    """Leaf sizes that are tried: about one and a half times as large each time.

    The largest is at most the number of points to the power of 3/4.

    Examples
    --------
    >>> leaf_sizes(100)
    array([ 1,  2,  3,  4,  6,  8, 12, 16, 24])
    """
    most = max(1.0, n_points**0.75)
    powers = 2 ** np.arange(40, dtype=np.int64)
    sizes = np.unique(np.concatenate([powers, 3 * powers[:-1]]))
    tried: NDArray[np.int64] = sizes[sizes <= most]
    return tried


def largest_power(n_points: int) -> float:
    """Return the largest power of probabilities; the smallest is one over it.

    It tends to 1 as the table grows, which the proof that probabilities are consistent
    needs, and so slowly that it seldom matters.

    Examples
    --------
    >>> largest_power(100), largest_power(10**4), largest_power(10**10)
    (11.0, 6.0, 3.0)
    """
    return 1 + 20 / math.log10(max(n_points, 10))


def sharpen(
    shares: NDArray[np.float64], power: float, floor: float
) -> NDArray[np.float64]:
    """Raise class shares to a power, and mix in a little of the uniform distribution.

    Parameters
    ----------
    shares : ndarray of shape (n_rows, n_classes)
    power : float
    floor : float
        Weight of the uniform distribution.

    Examples
    --------
    >>> import numpy as np
    >>> sharpen(np.array([[0.8, 0.2]]), 2.0, 0.0).round(3)
    array([[0.941, 0.059]])
    """
    top = shares.max(axis=1, keepdims=True)
    sharp = (shares / np.where(top > 0, top, 1.0)) ** power
    total = sharp.sum(axis=1, keepdims=True)
    n_classes = shares.shape[1]
    sharp = np.where(total > 0, sharp / np.where(total > 0, total, 1.0), 1 / n_classes)
    mixed: NDArray[np.float64] = (1 - floor) * sharp + floor / n_classes
    return mixed


class Sharpness(NamedTuple):
    """How good sharpened probabilities are.

    Attributes
    ----------
    brier_score : float
        The smallest one of all powers.
    power : float
        That of the smallest logarithmic loss.
    """

    brier_score: float
    power: float


def find_sharpness(
    held: HeldOut,
    classes: NDArray[np.int32],
    weights: NDArray[np.float64],
    n_trees: int,
    floor: float,
    largest: float,
) -> Sharpness:
    """Raise probabilities to powers, and look at their losses.

    Parameters
    ----------
    held : HeldOut
        Of one leaf size.
    classes : ndarray of shape (n_rows,), dtype=int32
    weights : ndarray of shape (n_rows,)
    n_trees : int
        Of the whole forest.
    floor : float
        See `sharpen`.
    largest : float
        The largest power; the smallest is one over it.
    """
    if not held.has_halves.any():
        return Sharpness(0.0, 1.0)
    losses = _core.sharpened_losses(
        np.ascontiguousarray(held.sums[:, :, 0]),
        held.counts,
        classes,
        held.shares(weights),
        n_trees,
        floor,
    )
    outside = np.maximum(_core.POWERS, 1 / _core.POWERS) > largest
    brier, logarithmic = np.where(outside, np.inf, np.maximum(losses, 0.0))
    return Sharpness(float(brier.min()), lowest_point(_core.POWERS, logarithmic))


def lowest_point(powers: NDArray[np.float64], losses: NDArray[np.float64]) -> float:
    """Return where a parabola through the smallest loss and its neighbours is lowest.

    The parabola is one in the logarithm of the power.

    Examples
    --------
    >>> import numpy as np
    >>> powers = np.array([1.0, 2.0, 4.0, 8.0])
    >>> round(lowest_point(powers, (np.log(powers) - np.log(3.0)) ** 2), 6)
    3.0
    >>> lowest_point(powers, np.array([1.0, 2.0, 3.0, np.inf]))
    1.0
    """
    best = int(losses.argmin())
    around = slice(best - 1, best + 2)
    if best in (0, len(losses) - 1) or not np.isfinite(losses[around]).all():
        return float(powers[best])
    low, middle, high = np.log(powers[around])
    below = (losses[best - 1] - losses[best]) / (low - middle)
    above = (losses[best + 1] - losses[best]) / (high - middle)
    bend = (above - below) / (high - low)
    if not bend > 0:
        return float(powers[best])
    # Its slope at the middle is `below` plus what it bends until there.
    return float(np.exp(middle - (below + bend * (middle - low)) / (2 * bend)))
