# SPDX-License-Identifier: BSD-3-Clause
"""Trees that some rows shape and all rows fill, and rows that are held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.data.training import TrainingSet
from mrforest.forests._sampling import HeldOutGroups, tree_key
from mrforest.forests._tuning import Setting

# A node of more points is scored on so many of them, more of them in regression ...
MAX_SCORED, MAX_SCORED_NUMBERS = 128, 256
# ... unless fewer than this are not of the largest class, or have another target.
MIN_MINORITY = 16


@dataclass
class HeldTree:
    """A tree, and the rows that are held out of it.

    Attributes
    ----------
    tree : dict of arrays
        As `_core.grow_sampled_tree` returns it.
    held : ndarray of int32
        Rows that did not shape it, ascending.
    group : int
    decrease : ndarray of shape (n_features,)
        Decrease of the impurity on the rows that are held out.
    """

    tree: dict[str, NDArray[Any]]
    held: NDArray[np.int32]
    group: int
    decrease: NDArray[np.float64]


def grow_some(numbers: range, **arguments: Any) -> list[HeldTree]:
    """Trees, from their numbers."""
    return [grow_one(number, **arguments) for number in numbers]


def grow_one(
    number: int,
    *,
    seed: int,
    training: TrainingSet,
    sampler: HeldOutGroups,
    setting: Setting,
    rule: _core.SplitRule,
    limits: _core.Limits,
    n_asked: int,
    idle: list[Any],
) -> HeldTree:
    """One tree, from its number."""
    n = training.n_points
    points, n_structure = sampler.points(seed, number, n)
    held = points[n_structure:].copy()
    is_regression = setting.criterion == "variance"
    tree = _core.grow_sampled_tree(
        training.table,
        points,
        n_structure,
        tree_key(seed, number),
        limits,
        rule=rule,
        offers_equality=setting.equality,
        max_scored=MAX_SCORED_NUMBERS if is_regression else MAX_SCORED,
        min_minority=MIN_MINORITY,
        n_asked=n_asked,
        idle=idle,
    )
    decrease = np.zeros(0)
    if n_asked < 0:
        decrease = _core.held_decrease(training.table, tree, held)
    return HeldTree(tree, held, sampler.group_of(number, n), decrease)
