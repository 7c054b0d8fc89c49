# SPDX-License-Identifier: BSD-3-Clause
"""The records the twin works with: parameters, table, candidate, node and tree."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.naive.rules import Multinomial, Rule


@dataclass
class Params:
    """How a tree is grown; the criterion "variance" makes it a regression tree."""

    rule: Rule = field(default_factory=Multinomial)
    label_budget: float = math.inf
    min_samples_split: int = 6
    min_samples_leaf: int | None = None
    criterion: str = "gini"
    max_depth: int | None = None
    min_weight_fraction: float = 0.0


@dataclass
class Table:
    """The coded rows; the missing code of feature f is `n_bins[f]`.

    In regression `moment` holds the targets as whole numbers and `y` their ranks, which
    only tell whether two targets are the same. `equal_values` are the values of the
    codes of each numeric feature that offers equality, nothing for the others (§11).
    """

    codes: np.ndarray
    n_bins: Sequence[int]
    is_categorical: Sequence[bool]
    cuts: Sequence[Sequence[float]]
    y: np.ndarray
    n_classes: int
    mass: np.ndarray | None = None
    class_weight: np.ndarray | None = None
    moment: np.ndarray | None = None
    equal_values: Sequence[Sequence[float]] | None = None


@dataclass
class Candidate:
    """One way to split a node.

    The kind is "cut" (codes up to `code` go left), "equals" (`code` goes left) or
    "missing" (every code but missing goes left; `code` is the largest of them). The
    neighbours of a cut are the codes of the node between which it lies.
    """

    feature: int
    kind: str
    code: int
    missing_left: bool
    score: float = math.nan
    n_structure: tuple[int, int] = (0, 0)
    n_estimation: tuple[int, int] = (0, 0)
    neighbours: tuple[int, int] | None = None


@dataclass
class Node:
    """A node of a tree; `feature` is None for a leaf.

    A leaf of a classification tree has `masses` and a `label`, one of a regression tree
    the sums `moment` and `mass` of its estimation points.
    """

    depth: int
    n_structure: int
    n_estimation: int
    feature: int | None = None
    threshold: float = math.nan
    is_equality: bool = False
    missing_left: bool = False
    left: int = -1
    leaf: int = -1
    label: int = -1
    masses: np.ndarray | None = None
    moment: int = 0
    mass: int = 0


@dataclass
class Tree:
    """Nodes in breadth-first order; the right child stands after the left one."""

    nodes: list[Node] = field(default_factory=list)
