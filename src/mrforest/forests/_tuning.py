# SPDX-License-Identifier: BSD-3-Clause
"""Choices by rows that did not shape a tree: leaf size, split setting, sharpness.

Each row is held out of some trees of a forest. What these say of it, its own label left
out, is what a smaller forest would say of a new row. The loss of the whole forest is
found by extrapolation: with half of these trees, and with all of them, the loss differs
by a term that is inversely proportional to their number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Rows by whose losses leaf sizes and settings are compared
MOST_ROWS = 4096
# Powers of probabilities: a step is a fifth more
POWERS = 1.2 ** np.arange(-4, 11)
PLAIN = 4  # the place of 1


class Setting(NamedTuple):
    """How the nodes of a tree are split.

    Attributes
    ----------
    n_features : int
        Features that a node looks at.
    feature_budget, split_budget : float
    equality : bool
        Whether numeric features of few values are cut by equality, too.
    """

    n_features: int
    feature_budget: float
    split_budget: float
    equality: bool


class Trial(NamedTuple):
    """A setting that a forest tried, and the losses of its leaf sizes.

    Attributes
    ----------
    max_features : int
    feature_budget, split_budget : float
    equality_cuts : bool
    leaf_sizes : ndarray of int64
        A node of at most so many rows is a leaf.
    losses : ndarray of float64
        Estimated losses of the whole forest, by rows that did not shape the trees: the
        Brier score of its probabilities, or the squared error.
    powers : ndarray of float64
        Powers of the probabilities that belong to these losses; 1 in regression.
    """

    max_features: int
    feature_budget: float
    split_budget: float
    equality_cuts: bool
    leaf_sizes: NDArray[np.int64]
    losses: NDArray[np.float64]
    powers: NDArray[np.float64]


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


@dataclass
class HeldOut:
    """Sums of what trees say of rows that did not shape them.

    Attributes
    ----------
    sizes : ndarray of int64
        Leaf sizes.
    sums : ndarray of shape (2, n_sizes, n_rows, n_columns)
        Even groups of trees, and odd ones.
    counts : ndarray of shape (2, n_rows), dtype=int64
        How many trees these are.
    """

    sizes: NDArray[np.int64]
    sums: NDArray[np.float64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, sizes: NDArray[np.int64], n_rows: int, n_columns: int) -> HeldOut:
        """Return empty sums."""
        return cls(
            sizes,
            np.zeros((2, len(sizes), n_rows, n_columns)),
            np.zeros((2, n_rows), dtype=np.int64),
        )


class Curve(NamedTuple):
    """Losses of the leaf sizes of one setting.

    Attributes
    ----------
    sizes : ndarray of int64
    losses : ndarray of float64
        Brier score of the sharpened probabilities, or squared error; of the whole
        forest.
    powers : ndarray of float64
        That sharpen the probabilities of each size best; 1 in regression.
    """

    sizes: NDArray[np.int64]
    losses: NDArray[np.float64]
    powers: NDArray[np.float64]

    @property
    def best(self) -> int:
        """Place of the best size; of equal ones the smallest."""
        return int(self.losses.argmin())


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


class ClassLoss:
    """Losses of probabilities, extrapolated to a whole forest.

    Parameters
    ----------
    held : HeldOut
    classes : ndarray of shape (n_rows,), dtype=int32
    weights : ndarray of shape (n_rows,), dtype=float64
        Of the rows in the mean loss.
    n_trees : int
        Of the whole forest.
    floor : float
        See `sharpen`.
    """

    def __init__(
        self,
        held: HeldOut,
        classes: NDArray[np.int32],
        weights: NDArray[np.float64],
        n_trees: int,
        floor: float,
    ) -> None:
        known = (held.counts > 0).all(axis=0)
        self.has_halves = bool(known.any())
        if not self.has_halves:
            known = held.counts.sum(axis=0) > 0
        self.sums = held.sums[:, :, known]
        self.counts = held.counts[:, known]
        self.classes = classes[known]
        self.weights = weights[known] / max(weights[known].sum(), 1e-300)
        self.floor = floor
        self.n_classes = held.sums.shape[3]
        n_held = self.counts.sum(axis=0)
        self.beyond = np.maximum(1 - n_held / n_trees, 0.0)

    def _logs(self, size: int) -> list[NDArray[np.float32]]:
        """Logarithms of shares, less the largest of a row: of all trees, of halves."""
        sums, counts = self.sums[:, size], self.counts[:, :, None]
        parts = [sums.sum(axis=0) / counts.sum(axis=0)]
        if self.has_halves:
            parts += [sums[half] / counts[half] for half in (0, 1)]
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = [np.log(part.astype(np.float32)) for part in parts]
        return [log - log.max(axis=1, keepdims=True) for log in logs]

    def _rows(
        self, log: NDArray[np.float32], power: float, *, is_log: bool
    ) -> NDArray[np.float64]:
        """Loss of each row."""
        sharp = np.exp(log * np.float32(power))
        total = sharp.sum(axis=1, dtype=np.float64)
        own = sharp[np.arange(len(sharp)), self.classes] / total
        rest = self.floor / self.n_classes
        share: NDArray[np.float64] = (1 - self.floor) * own + rest
        if is_log:
            return np.asarray(-np.log(share))
        # The squares of all classes, mixed with the uniform distribution
        squares = np.einsum("ij,ij->i", sharp, sharp, dtype=np.float64) / total**2
        keep = 1 - self.floor
        mixed = keep**2 * squares + 2 * keep * rest + rest * self.floor
        return np.asarray(mixed + 1 - 2 * share)

    def loss(
        self, logs: list[NDArray[np.float32]], power: float, *, is_log: bool = False
    ) -> float:
        """Mean loss of the whole forest."""
        rows = self._rows(logs[0], power, is_log=is_log)
        if self.has_halves:
            halves = [self._rows(log, power, is_log=is_log) for log in logs[1:]]
            rows = rows - ((halves[0] + halves[1]) / 2 - rows) * self.beyond
        # Extrapolation may end below 0, where no loss is.
        return max(float(self.weights @ rows), 0.0)

    def best_power(
        self, logs: list[NDArray[np.float32]], start: int, *, is_log: bool = False
    ) -> tuple[int, float]:
        """Descend from one power to its neighbours; return place and loss."""
        known: dict[int, float] = {}

        def at(place: int) -> float:
            if not 0 <= place < len(POWERS):
                return np.inf
            if place not in known:
                known[place] = self.loss(logs, POWERS[place], is_log=is_log)
            return known[place]

        place = start
        while True:
            lower = min((place - 1, place + 1), key=at)
            if not at(lower) < at(place):
                return place, at(place)
            place = lower

    def curve(self, sizes: NDArray[np.int64]) -> Curve:
        """Losses of all leaf sizes, each with its best power."""
        losses, powers, place = [], [], PLAIN
        for size in range(len(sizes)):
            place, loss = self.best_power(self._logs(size), place)
            losses.append(loss)
            powers.append(POWERS[place])
        return Curve(sizes, np.array(losses), np.array(powers))

    def power(self, size: int) -> float:
        """Return the power with the smallest logarithmic loss, finer than the grid."""
        logs = self._logs(size)
        place, middle = self.best_power(logs, PLAIN, is_log=True)
        if place in (0, len(POWERS) - 1):
            return float(POWERS[place])
        low, high = (
            self.loss(logs, POWERS[place + step], is_log=True) for step in (-1, 1)
        )
        # The lowest point of a parabola through the three
        bend = low - 2 * middle + high
        step = 0.5 * (low - high) / bend if bend > 0 else 0.0
        return float(POWERS[place] * 1.2**step)


class ValueLoss:
    """Squared errors, extrapolated to a whole forest.

    Parameters
    ----------
    held : HeldOut
    values : ndarray of shape (n_rows,), dtype=float64
        Targets, in the unit of the sums.
    weights : ndarray of shape (n_rows,), dtype=float64
    n_trees : int
    """

    def __init__(
        self,
        held: HeldOut,
        values: NDArray[np.float64],
        weights: NDArray[np.float64],
        n_trees: int,
    ) -> None:
        known = (held.counts > 0).all(axis=0)
        has_halves = bool(known.any())
        if not has_halves:
            known = held.counts.sum(axis=0) > 0
        counts = held.counts[:, known]
        sums = held.sums[:, :, known, 0]
        truth, weights = (
            values[known],
            weights[known] / max(weights[known].sum(), 1e-300),
        )
        rows = (sums.sum(axis=0) / counts.sum(axis=0) - truth) ** 2
        if has_halves:
            beyond = np.maximum(1 - counts.sum(axis=0) / n_trees, 0.0)
            halves = [(sums[half] / counts[half] - truth) ** 2 for half in (0, 1)]
            rows = rows - ((halves[0] + halves[1]) / 2 - rows) * beyond
        self.losses: NDArray[np.float64] = np.maximum(rows @ weights, 0.0)

    def curve(self, sizes: NDArray[np.int64]) -> Curve:
        """Losses of all leaf sizes."""
        return Curve(sizes, self.losses, np.ones(len(sizes)))
