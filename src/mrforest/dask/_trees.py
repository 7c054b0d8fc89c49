# SPDX-License-Identifier: BSD-3-Clause
"""What the driver knows of trees that grow."""

from __future__ import annotations

from dataclasses import dataclass, field

from mrforest.dask._problem import Tree
from mrforest.dask._sampled_problem import SampledTree
from mrforest.dask._subtrees import Top


@dataclass(frozen=True)
class Level:
    """What one step of the loop did, for those who watch.

    Attributes
    ----------
    depth : int
    n_nodes : int
        Nodes that were asked for a split.
    n_counted : int
        Nodes that were counted for them: of two children the smaller one.
    n_points : int
        Their structure points.
    seconds : float
    """

    depth: int
    n_nodes: int
    n_counted: int
    n_points: int
    seconds: float


@dataclass
class GrowingTree:
    """A tree as the driver knows it."""

    tree: Tree | SampledTree
    root_weight: float
    min_weight: float
    nodes: dict[int, Top] = field(default_factory=dict)
    leaves: list[int] = field(default_factory=list)
    small: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Waiting:
    """A node that waits for its split; its sibling may be counted instead of it."""

    owner: GrowingTree
    number: int
    parent: int | None
    counted: int  # itself or its sibling
