# SPDX-License-Identifier: BSD-3-Clause
r"""What a private fit will draw and with which budgets, from public numbers alone.

A tree is drawn in blocks from the root down. A block is one draw of all its levels, in
every region that the blocks above leave:

    block 0        o           splits
                 /   \
                o     o
               / \   / \
    block 1   o   o o   o      splits and labels
                  ...

Regions share no row, so a block costs its budget once. More blocks make a finer tree of
weaker draws; how many pay depends on rows x budget, the *signal* of a tree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Literal

from mrforest.privacy._floats import round_down
from mrforest.privacy.release import Item, Parallel, Release, Sequential

# Share of the budget that the number of rows costs, if it is not public
ROWS_SHARE = Fraction(3, 100)
# A block has this many times the budget of the one above: what is left to say of a
# region is said of fewer rows.
GROWTH = 3
# Share of a tree's budget that noisy counts of the leaves get, if there are any
COUNTS_SHARE = Fraction(1, 4)
# Signals from which on a tree has 2, 3, 4, ... blocks of two levels; in the end one
# more for each fourfold signal, as there are four times as many leaves then
SIGNALS: tuple[int, ...] = (150, 1200, *(6000 * 4**i for i in range(7)))
# Rows that a split of the last block must tell right to be worth it, if there is budget
# to see them: of two classes, of more
STOP_ROWS = (4, 1)
# Logarithm of the largest weight that this gives to not splitting
MOST_STOP = 20.0
# Rows that a leaf has on average, at least: of two classes, of more
ROWS_A_LEAF = (9, 5)
# Trees of a forest whose budgets add up slowly (zCDP), and the signal that each needs
MOST_TREES = 20
SIGNAL_A_TREE = 1000
# Candidates^2 x classes, or features, beyond which levels are drawn one by one
MOST_PAIRS = 2**32
MOST_FEATURES = 512
# Steps of a draw of three levels that are worth a better last block: some tenths of a
# second
MOST_STEPS = 5 * 10**7
# Signal from which on three levels are better than two: of two classes, of more
SIGNAL_OF_THREE = (500, 0)


@dataclass(frozen=True)
class Size:
    """Public sizes of a problem."""

    n_features: int
    n_candidates: int
    n_classes: int

    @property
    def is_joint(self) -> bool:
        """Whether two levels can be drawn at once in reasonable time."""
        n_pairs = self.n_candidates**2 * self.n_classes
        return n_pairs <= MOST_PAIRS and self.n_features <= MOST_FEATURES

    def affords_three(self, n_rows: int) -> bool:
        """Whether three levels can be drawn at once in reasonable time.

        For each candidate of the first level: count all pairs of features, and weigh
        all pairs of candidates.
        """
        steps = n_rows * self.n_features**2 + self.n_candidates**2 * self.n_classes
        return self.n_candidates * steps <= MOST_STEPS


@dataclass(frozen=True)
class Budget:
    """What may be spent if a row comes or goes: by either of two ways to add up.

    Attributes
    ----------
    epsilon : float
        Sum of pure budgets.
    rho : float, default=0.0
        Sum in zCDP; 0: only pure budgets count.
    """

    epsilon: float
    rho: float = 0.0

    def share(self, share: Fraction) -> float:
        """Return a share of the pure budget."""
        if math.isinf(self.epsilon):
            return math.inf
        return round_down(Fraction(self.epsilon) * share)

    def without(self, epsilon: float) -> Budget:
        """Return what is left after a pure release."""
        if math.isinf(self.epsilon):
            return self
        spent = Fraction(epsilon)
        rho = max(Fraction(self.rho) - spent**2 / 2, Fraction(0))
        return Budget(round_down(Fraction(self.epsilon) - spent), round_down(rho))

    def split(self, *groups: Sequence[Draw]) -> list[list[float]]:
        """Return budgets of draws, in proportion to their weights, rounded down.

        Groups look at different rows, and each has the whole budget. Costs are added up
        in one way for all of them: in that which allows the first group more.
        """
        if math.isinf(self.epsilon):
            return [[math.inf for _ in draws] for draws in groups]
        is_pure = self.pure_scale(groups[0]) >= self.zcdp_scale(groups[0])
        scale_of = self.pure_scale if is_pure else self.zcdp_scale
        return [
            [round_down(scale * draw.weight) for draw in draws]
            for draws, scale in zip(groups, map(scale_of, groups), strict=True)
        ]

    def pure_scale(self, draws: Sequence[Draw]) -> Fraction:
        """Return the budget of a weight of 1, if pure budgets are added up."""
        return Fraction(self.epsilon) / sum(draw.weight for draw in draws)

    def zcdp_scale(self, draws: Sequence[Draw]) -> Fraction:
        """Return the budget of a weight of 1, if zCDP is added up."""
        squares = sum(
            draw.weight**2 / (8 if draw.is_exponential else 2) for draw in draws
        )
        # A root rounded down by more than its error: its square is not above rho.
        return Fraction(math.sqrt(Fraction(self.rho) / squares) * (1 - 2.0**-40))


@dataclass(frozen=True)
class Draw:
    """A draw that is to get a budget."""

    weight: Fraction
    is_exponential: bool


@dataclass(frozen=True)
class Block:
    """Levels that are drawn at once.

    Attributes
    ----------
    depth : int
    epsilon : float
    stop : int
        Base measure of not splitting, beside 1 for each feature.
    """

    depth: int
    epsilon: float
    stop: int = 0


@dataclass(frozen=True)
class Plan:
    """What will be drawn.

    Attributes
    ----------
    rows_epsilon : float
        Budget of the number of rows; 0: it is public, or not needed.
    n_trees : int
    n_features : int
        That each tree looks at.
    blocks : tuple of Block
        Of each tree, from the root down.
    leaf : {"joint", "label", "counts"}
        What is told of the leaves: labels as part of the last block, labels by draws of
        their own, or counts.
    leaf_epsilon : float
        Budget of the leaves; 0 if "joint".
    honest : bool
        Whether one half of the rows is for the blocks, the other for the leaves.
    """

    rows_epsilon: float
    n_trees: int
    n_features: int
    blocks: tuple[Block, ...]
    leaf: Literal["joint", "label", "counts"]
    leaf_epsilon: float
    honest: bool

    @property
    def depth(self) -> int:
        """Levels of a tree."""
        return sum(block.depth for block in self.blocks)

    @property
    def n_regions(self) -> int:
        """Regions of a tree in which a block is drawn."""
        depths = accumulate((block.depth for block in self.blocks), initial=0)
        return sum(2**depth for depth, _ in zip(depths, self.blocks, strict=False))

    @property
    def release(self) -> Release:
        """What the fit tells, with its costs."""
        if not self.rows_epsilon:
            return self.forest
        return Sequential((rows_item(self.rows_epsilon), self.forest))

    @property
    def forest(self) -> Release:
        """What the trees tell."""
        trees = tuple(self._tree(tree) for tree in range(self.n_trees))
        return trees[0] if self.n_trees == 1 else Sequential(trees, over="trees")

    def _tree(self, tree: int) -> Release:
        last = len(self.blocks) - 1
        parts: list[Release] = [
            regions(
                "splits and labels"
                if self.leaf == "joint" and number == last
                else "splits",
                "exponential",
                block.epsilon,
                tree,
                number,
            )
            for number, block in enumerate(self.blocks)
        ]
        if self.leaf == "joint":
            return Sequential(tuple(parts), over="blocks")
        name = "geometric" if self.leaf == "counts" else "permute-and-flip"
        told = "counts" if self.leaf == "counts" else "labels"
        leaves = regions(told, name, self.leaf_epsilon, tree, None)
        if self.honest:
            splits = Sequential(tuple(parts), over="blocks")
            return Parallel((splits, leaves), over="halves")
        return Sequential((*parts, leaves), over="blocks")


def rows_item(epsilon: float) -> Item:
    """Return the release of a noisy number of rows."""
    return Item("number of rows", "geometric", epsilon)


def regions(
    what: str, mechanism: str, epsilon: float, tree: int, block: int | None
) -> Parallel:
    """Return the release of one draw in each of several regions."""
    is_exponential = mechanism == "exponential"
    item = Item(what, mechanism, epsilon, tree, block, bounded_range=is_exponential)
    return Parallel((item,), over="regions")


def make_plan(
    budget: Budget,
    size: Size,
    n_rows: int | None,
    *,
    rows_epsilon: float = 0.0,
    leaf: Literal["label", "counts"],
    honest: bool,
    n_trees: int | Literal["auto"],
    depth: int | Literal["auto"],
) -> Plan:
    """Choose trees, blocks and budgets.

    Parameters
    ----------
    budget : Budget
    size : Size
    n_rows : int or None
        Public or noisy; None only if nothing is "auto".
    rows_epsilon : float, default=0.0
        What it cost.
    leaf : {"label", "counts"}
    honest : bool
    n_trees, depth : int or "auto"

    Examples
    --------
    >>> plan = make_plan(
    ...     Budget(1.0),
    ...     Size(n_features=10, n_candidates=400, n_classes=2),
    ...     n_rows=5_000,
    ...     leaf="label",
    ...     honest=False,
    ...     n_trees="auto",
    ...     depth="auto",
    ... )
    >>> [(block.depth, round(block.epsilon, 3)) for block in plan.blocks]
    [(2, 0.077), (2, 0.231), (2, 0.692)]
    """
    budget = budget.without(rows_epsilon)
    n_rows = max(n_rows or 1, 1)  # noise may make it negative
    if n_trees == "auto":
        n_trees = count_trees(budget, n_rows) if leaf == "counts" else 1
    told: Literal["joint", "label", "counts"] = leaf
    if leaf == "label" and not honest:
        told = "joint"
    if size.n_candidates == 0:
        depths = [0]
    elif depth == "auto":
        signal = n_rows * tree_budget(budget, n_trees)
        most_leaves = n_rows / ROWS_A_LEAF[size.n_classes > 2]
        n_blocks = count_blocks(signal, most_leaves)
        depths = block_depths(2 * n_blocks, is_joint=size.is_joint)
        is_finer = n_blocks == 1 or 2 * 4**n_blocks <= most_leaves
        is_finer &= signal >= SIGNAL_OF_THREE[size.n_classes > 2]
        if told == "joint" and is_finer and size.affords_three(n_rows):
            depths[-1] = 3
    else:
        depths = block_depths(depth, is_joint=size.is_joint)
    epsilons, leaf_epsilon = split_tree(budget, n_trees, len(depths), told, honest)
    stops = [0] * len(depths)
    if told == "joint":
        stops[-1] = stop_weight(size.n_classes, epsilons[-1])
    return Plan(
        rows_epsilon=rows_epsilon,
        n_trees=n_trees,
        n_features=features_of(size.n_features, 1 if honest else n_trees),
        blocks=tuple(map(Block, depths, epsilons, stops)),
        leaf=told,
        leaf_epsilon=leaf_epsilon,
        honest=honest,
    )


def split_tree(
    budget: Budget, n_trees: int, n_blocks: int, leaf: str, honest: bool
) -> tuple[list[float], float]:
    """Return the budgets of the blocks and of the leaves of each tree."""
    shares = [Fraction(GROWTH**block) for block in range(n_blocks)]
    whole = sum(shares, Fraction(0)) / (
        1 if leaf == "joint" or honest else 1 - COUNTS_SHARE
    )
    blocks = [Draw(share / whole, is_exponential=True) for share in shares]
    leaves = Draw(COUNTS_SHARE, is_exponential=False)
    if leaf == "joint":
        (epsilons,) = budget.split(n_trees * blocks)
        return epsilons[:n_blocks], 0.0
    if honest:  # no row is looked at by both
        epsilons, leaf_epsilons = budget.split(n_trees * blocks, n_trees * [leaves])
        return epsilons[:n_blocks], leaf_epsilons[0]
    (epsilons,) = budget.split(n_trees * [*blocks, leaves])
    return epsilons[:n_blocks], epsilons[n_blocks]


def stop_weight(n_classes: int, epsilon: float) -> int:
    """Return the base measure of not splitting in the last block.

    With a large budget a split is drawn for the sake of a single row, which is chance.
    With a small one there is nothing to hold back, and the weight is 0.
    """
    exponent = STOP_ROWS[n_classes > 2] * max(epsilon - 1.0, 0.0)
    return round(math.exp(min(exponent, MOST_STOP))) - 1


def tree_budget(budget: Budget, n_trees: int) -> float:
    """Return the budget of a tree that is a single draw."""
    one = Draw(Fraction(1), is_exponential=True)
    return budget.split(n_trees * [one])[0][0]


def count_trees(budget: Budget, n_rows: int) -> int:
    """Return how many trees rank best.

    Pure budgets add up as fast as errors average out: one tree. Budgets in zCDP add up
    as slowly as errors average out, so there may be as many as still see something. A
    single tree of labels is more accurate, though.
    """
    n_trees = MOST_TREES if budget.rho else 1
    while n_trees > 1 and n_rows * tree_budget(budget, n_trees) < SIGNAL_A_TREE:
        n_trees -= 1
    return n_trees


def count_blocks(signal: float, most_leaves: float) -> int:
    """Return how many blocks of two levels pay; at least one."""
    wanted = 1 + sum(signal >= least for least in SIGNALS)
    while wanted > 1 and 4**wanted > most_leaves:
        wanted -= 1
    return wanted


def block_depths(depth: int, *, is_joint: bool) -> list[int]:
    """Cut levels into blocks of two, or one by one."""
    if not is_joint:
        return [1] * depth
    return [1] * (depth % 2) + [2] * (depth // 2)


def features_of(n_features: int, n_trees: int) -> int:
    """Features of a tree: all, or half of them so that trees differ.

    Honest trees have all, without which they would not be consistent.
    """
    if n_trees == 1:
        return n_features
    return max(min(n_features, 4), math.ceil(n_features / 2))
