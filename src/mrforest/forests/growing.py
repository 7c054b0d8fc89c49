# SPDX-License-Identifier: BSD-3-Clause
"""Trees of a forest, in threads or by whatever joblib backend was chosen."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from mrforest import _core
from mrforest._threads import in_parallel, in_parts
from mrforest.data.training import TrainingSet
from mrforest.forests.sampling import Sampler, tree_key
from mrforest.model.arrays import sizes_of
from mrforest.model.codec import pack

# (table, structure, estimation, key, limits) -> arrays of a tree
Grower = Callable[..., dict[str, NDArray[Any]]]

Tree = TypeVar("Tree")

# Codes of a table whose trees grow in about a millisecond
SMALL_TABLE = 1 << 20


def add_views(
    table: _core.TrainingTable, rule: _core.SplitRule, n_threads: int
) -> None:
    """Let a table have its codes in the other ways that serve a rule."""
    if table.wants_columns(rule.looks_at_all):
        table.add_columns()
    table.add_cut_bits(in_parts=partial(in_parts, n_threads=n_threads))


def grow_all(
    grow: Callable[[int], Tree],
    numbers: range,
    training: TrainingSet,
    interrupt: NDArray[np.uint8],
    n_jobs: int | None,
) -> Generator[Tree, None, None]:
    """Yield the trees of these numbers, in their order; any backend gives the same.

    Parameters
    ----------
    grow : callable
        Grows a tree from its number, and stops when `interrupt` is 1.
    numbers : range
    training : TrainingSet
    interrupt : ndarray of shape (1,), dtype=uint8
    n_jobs : int or None
    """
    at_once = 1
    if training.n_points * training.n_features <= SMALL_TABLE:
        # A tree takes no longer than handing out a task.
        at_once = min(max(len(numbers) // (8 * effective_n_jobs(n_jobs)), 1), 4)
    tasks = [numbers[i : i + at_once] for i in range(0, len(numbers), at_once)]
    try:
        for trees in in_parallel(partial(grow_some, grow), tasks, n_jobs):
            yield from trees
    except BaseException:  # Ctrl-C, or nobody wants the rest
        interrupt[0] = 1  # threads look at it before every node
        raise


def grow_some(grow: Callable[[int], Tree], numbers: range) -> list[Tree]:
    """Trees, from their numbers."""
    return [grow(number) for number in numbers]


def grow_one(
    number: int,
    *,
    seed: int,
    training: TrainingSet,
    sampler: Sampler,
    grower: Grower,
    fill: Callable[[dict[str, NDArray[Any]], TrainingSet], None],
    limits: _core.Limits,
) -> dict[str, NDArray[Any]]:
    """One tree, from its number; packed if its thresholds come from lists."""
    key = tree_key(seed, number)
    structure, estimation = sampler(key, training.n_points)
    tree = grower(
        training.table,
        training.rows_of(structure),
        None if estimation is None else training.rows_of(estimation),
        key,
        limits,
    )
    fill(tree, training)
    tree |= sizes_of(tree)
    return tree if training.lists is None else pack(tree, training.lists)
