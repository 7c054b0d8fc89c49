# SPDX-License-Identifier: BSD-3-Clause
"""Losses of a forest, told from points that it holds out (docs/algorithm.md, §11)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.naive.score import total

POWERS = [0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8]

Numbers = Sequence[float]
# What a prediction costs: its numbers, and the row of which they are said
Loss = Callable[[Numbers, int], float]


@dataclass
class Said:
    """What trees say of a row that they hold out: those of even and of odd groups."""

    halves: tuple[list[Numbers], list[Numbers]] = field(
        default_factory=lambda: ([], [])
    )

    @property
    def everything(self) -> list[Numbers]:
        """What all trees say."""
        return [*self.halves[0], *self.halves[1]]

    @property
    def counts(self) -> bool:
        """Whether the row has a tree in both halves."""
        return bool(self.halves[0]) and bool(self.halves[1])


def mean(of_trees: Sequence[Numbers]) -> list[float]:
    """Return the mean of what trees say."""
    columns = zip(*of_trees, strict=True)
    return [total(column) / len(of_trees) for column in columns]


def loss_of_row(said: Said, row: int, loss: Loss, n_trees: int) -> float:
    """Return what the loss of a row would be in a forest of so many trees."""
    first, second = (loss(mean(half), row) for half in said.halves)
    together = loss(mean(said.everything), row)
    share = len(said.everything) / n_trees
    return together + ((first + second) / 2 - together) * (share - 1)


def unbounded_loss(
    said: Sequence[Said], weights: Numbers, loss: Loss, n_trees: int
) -> float:
    """Return the mean loss of rows, which may be below 0; NaN if no row counts."""
    rows = [row for row, of_row in enumerate(said) if of_row.counts]
    whole = total([weights[row] for row in rows])
    if whole == 0:
        return math.nan
    losses = [weights[row] * loss_of_row(said[row], row, loss, n_trees) for row in rows]
    return total(losses) / whole


def raised(loss: float) -> float:
    """Return a loss, 0 if it is below, or if no row counts."""
    return loss if loss > 0 else 0.0


# --- Losses of single rows ------------------------------------------------------------


def squared_error(truth: Sequence[Numbers]) -> Loss:
    """Return the squared distance of a prediction from the truth."""

    def loss(said: Numbers, row: int) -> float:
        pairs = zip(said, truth[row], strict=True)
        return total([(number - true) ** 2 for number, true in pairs])

    return loss


def sharpen(shares: Numbers, power: float, floor: float) -> list[float]:
    """Return sharpened probabilities; `floor` is the share of the uniform ones."""
    highest = max(shares)
    powers = [(share / highest) ** power for share in shares]
    whole = total(powers)
    return [(1 - floor) * each / whole + floor / len(shares) for each in powers]


def sharpened(loss: Loss, power: float, floor: float) -> Loss:
    """Return the loss of probabilities that are sharpened first."""
    return lambda said, row: loss(sharpen(said, power, floor), row)


def logarithmic_loss(classes: Sequence[int]) -> Loss:
    """Return the negative logarithm of the probability of the true class."""
    return lambda said, row: -math.log(said[classes[row]])


# --- Powers ---------------------------------------------------------------------------


def powers_tried(n: int) -> list[float]:
    """Return the powers that are tried with n points."""
    highest = 1 + 20 / math.log10(max(n, 10))
    return [a for a in POWERS if a <= highest and 1 / a <= highest]


def best_power(powers: Numbers, losses: Numbers) -> float:
    """Return the power of the smallest loss, made finer by a parabola in log a."""
    best = list(losses).index(min(losses))
    if best in (0, len(powers) - 1):
        return powers[best]
    around = range(best - 1, best + 2)
    x0, x1, x2 = (math.log(powers[i]) for i in around)
    y0, y1, y2 = (losses[i] for i in around)
    # Newton's form: y0 + slope (x - x0) + bend (x - x0) (x - x1)
    slope = (y1 - y0) / (x1 - x0)
    bend = ((y2 - y1) / (x2 - x1) - slope) / (x2 - x0)
    if bend <= 0:
        return powers[best]
    return math.exp((x0 + x1) / 2 - slope / (2 * bend))
