# SPDX-License-Identifier: BSD-3-Clause
"""Trees whose cuts are in no list: in the range of a node, or of cells.

See docs/algorithm.md, §9. The trees store plain cuts, so `predict.apply` serves them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tests.naive.draw import draw
from tests.naive.model import Node, Tree
from tests.naive.raw import (
    GROWTH,
    Branch,
    Cut,
    Options,
    RawTable,
    coin_is_left,
    divide_by_cut,
    finish,
    goes_left,
    is_leaf_at_once,
    is_refused,
    is_too_light,
    known_values,
    mass_of,
    number_between,
    number_of,
    root_of,
    split_by_cut,
    split_stream,
)
from tests.naive.rng import Stream
from tests.naive.score import class_counts, is_weighted, score_of, tolerance_of

# --- Completely random: cuts in the range of the node ---------------------------------


@dataclass
class Feature:
    """A feature in a node: its known values and where missing ones are sent.

    `coin` says whether the missing values of structure points go left; it is None if
    there are none, and then the missing estimation points count on neither side.
    """

    number: int
    known_s: list[float]
    known_e: list[float]
    n_missing_e: int
    coin: bool | None

    def certain_left(self) -> int:
        """Return how many missing estimation points count on the left."""
        return self.n_missing_e if self.coin is True else 0

    def certain_right(self) -> int:
        """Return how many missing estimation points count on the right."""
        return self.n_missing_e if self.coin is False else 0


def _floor_interval(feature: Feature, k: int) -> tuple[float, float] | None:
    """Return the cuts [a, b) that leave k estimation points on both sides."""
    a, b = min(feature.known_s), max(feature.known_s)
    k_left = max(k - feature.certain_left(), 0)
    k_right = max(k - feature.certain_right(), 0)
    ascending = sorted(feature.known_e)
    if len(ascending) < k_left or len(ascending) < k_right:
        return None
    if k_left > 0:
        a = max(a, ascending[k_left - 1])
    if k_right > 0:
        b = min(b, ascending[len(ascending) - k_right])
    return (a, b) if a < b else None


def _numeric_threshold(
    feature: Feature, stream: Stream, options: Options
) -> float | None:
    interval = (min(feature.known_s), max(feature.known_s))
    if options.min_samples_leaf is not None:
        interval = _floor_interval(feature, options.min_samples_leaf)
    if interval is None:
        return None
    return number_between(*interval, stream.uniform())


def _leaves_enough(feature: Feature, category: float, options: Options) -> bool:
    """Tell whether equality with a category keeps the floor on both sides."""
    if options.min_samples_leaf is None:
        return True
    equal = len([value for value in feature.known_e if value == category])
    n_left = equal + feature.certain_left()
    n_right = len(feature.known_e) - equal + feature.certain_right()
    return min(n_left, n_right) >= options.min_samples_leaf


def _category(feature: Feature, stream: Stream, options: Options) -> float | None:
    categories = sorted(set(feature.known_s))
    kept = [c for c in categories if _leaves_enough(feature, c, options)]
    if not kept:
        return None
    return kept[number_of(stream.uniform(), len(kept))]


def _missing_against_rest(feature: Feature, options: Options) -> Cut | None:
    if feature.coin is None:
        return None
    smaller = min(len(feature.known_e), feature.n_missing_e)
    if options.min_samples_leaf is not None and smaller < options.min_samples_leaf:
        return None
    return Cut(feature.number, math.inf, is_equality=False, missing_left=False)


def _side_of_missing(table: RawTable, branch: Branch, cut: Cut) -> bool:
    """Tell whether structure points without missing values are more on the left."""
    left, right = divide_by_cut(table, branch.structure, cut)
    return mass_of(table, left) >= mass_of(table, right)


def try_feature(
    table: RawTable, branch: Branch, number: int, stream: Stream, options: Options
) -> Cut | None:
    """Return a random cut of a feature in the range of a node, None if it has none."""
    known_s = known_values(table, branch.structure, number)
    known_e = known_values(table, branch.estimation, number)
    if not known_s:
        return None
    has_missing = len(known_s) < len(branch.structure)
    coin = coin_is_left(stream) if has_missing else None
    n_missing_e = len(branch.estimation) - len(known_e)
    feature = Feature(number, known_s, known_e, n_missing_e, coin)

    if len(set(known_s)) == 1:
        return _missing_against_rest(feature, options)
    is_equality = bool(table.is_categorical[number])
    choose = _category if is_equality else _numeric_threshold
    threshold = choose(feature, stream, options)
    if threshold is None:
        return None
    cut = Cut(number, threshold, is_equality, missing_left=coin is True)
    if coin is None:
        cut.missing_left = _side_of_missing(table, branch, cut)
    return cut


def first_cut(
    table: RawTable, branch: Branch, stream: Stream, options: Options
) -> Cut | None:
    """Try the features in random order up to the first that can be cut."""
    n_features = table.x.shape[1]
    order = list(range(n_features))
    for i in range(n_features):
        j = i + number_of(stream.uniform(), n_features - i)
        order[i], order[j] = order[j], order[i]
        cut = try_feature(table, branch, order[i], stream, options)
        if cut is not None:
            return cut
    return None


def grow_in_range(
    table: RawTable,
    structure: Sequence[int],
    estimation: Sequence[int] | None,
    key: Sequence[int],
    options: Options,
) -> Tree:
    """Grow a completely random tree with cuts in the range of each node.

    Without a list of estimation points they are the structure points.
    """
    one_class_is_leaf = options.min_samples_leaf is None or estimation is None
    root = root_of(structure, estimation)
    waiting = [root]
    while waiting:
        branch = waiting.pop()
        if is_leaf_at_once(table, branch, options, one_class_is_leaf):
            continue
        cut = first_cut(table, branch, split_stream(key, branch), options)
        if cut is None:
            continue

        def row_goes_left(row: int, cut: Cut = cut) -> bool:
            return goes_left(cut, table.x[row])

        if is_refused(table, branch, row_goes_left, options, root.estimation):
            continue
        waiting.extend(split_by_cut(table, branch, cut))
    return finish(table, root, key, options)


# --- Cells ----------------------------------------------------------------------------

# A cell has one side for each feature: (lo, hi) of a numeric one, None if all its
# values are missing; the ascending list of categories of a categorical one.
Side = tuple[float, float] | list[float] | None
Cell = list[Side]


def cell_of(table: RawTable, rows: Sequence[int]) -> Cell:
    """Return the smallest cell around the rows."""
    cell: Cell = []
    for feature in range(table.x.shape[1]):
        known = known_values(table, rows, feature)
        if table.is_categorical[feature]:
            cell.append(sorted(set(known)))
        else:
            cell.append((min(known), max(known)) if known else None)
    return cell


def middle_of(side: tuple[float, float]) -> float:
    """Return the middle of a numeric side."""
    return side[0] / 2 + side[1] / 2


def can_be_cut(side: Side, in_the_middle: bool) -> bool:
    """Tell whether a side can be cut anywhere, or in its middle."""
    if side is None:
        return False
    if isinstance(side, list):
        return len(side) >= 2
    if in_the_middle:
        return side[0] < middle_of(side) < side[1]
    return side[0] < side[1]


def cells_of_children(cell: Cell, cut: Cut | Node) -> tuple[Cell, Cell]:
    """Return the left and the right part of a cell."""
    left, right = list(cell), list(cell)
    side = cell[cut.feature]
    if cut.is_equality:
        left[cut.feature] = [cut.threshold]
        right[cut.feature] = [c for c in side if c != cut.threshold]
    else:
        left[cut.feature] = (side[0], cut.threshold)
        right[cut.feature] = (cut.threshold, side[1])
    return left, right


def cells_of_nodes(tree: Tree, table: RawTable, rows: Sequence[int]) -> dict[int, Cell]:
    """Return the cell of each node if the root's is the smallest around the rows."""
    cells = {0: cell_of(table, rows)}
    for number, node in enumerate(tree.nodes):
        if node.feature is not None:
            parts = cells_of_children(cells[number], node)
            cells[node.left], cells[node.left + 1] = parts
    return cells


def draw_cut(cell: Cell, stream: Stream, in_the_middle: bool) -> Cut | None:
    """Draw a cut of a cell, None (and no draw) if no feature can be cut."""
    features = [f for f, side in enumerate(cell) if can_be_cut(side, in_the_middle)]
    if not features:
        return None
    feature = features[number_of(stream.uniform(), len(features))]
    side = cell[feature]
    is_equality = isinstance(side, list)
    if is_equality:
        threshold = side[number_of(stream.uniform(), len(side))]
    elif in_the_middle:
        threshold = middle_of(side)
    else:
        threshold = number_between(*side, stream.uniform())
    return Cut(feature, threshold, is_equality, missing_left=coin_is_left(stream))


def grow_purely_random(
    table: RawTable,
    points: Sequence[int],
    key: Sequence[int],
    n_leaves: int,
    options: Options,
) -> Tree:
    """Grow a purely random tree by cutting a random leaf `n_leaves − 1` times."""
    root = root_of(points, None)
    leaves = [(root, cell_of(table, root.structure))]
    picks = Stream(key, 0, GROWTH)
    for _ in range(n_leaves - 1):
        picked = number_of(picks.uniform(), len(leaves))
        branch, cell = leaves[picked]
        cut = draw_cut(cell, split_stream(key, branch), in_the_middle=False)
        if cut is None:
            continue
        left, right = split_by_cut(table, branch, cut)
        left_cell, right_cell = cells_of_children(cell, cut)
        leaves[picked] = (left, left_cell)
        leaves.append((right, right_cell))
    return finish(table, root, key, options)


def best_try(
    table: RawTable,
    structure: Sequence[int],
    cell: Cell,
    stream: Stream,
    n_tries: int,
    options: Options,
) -> Cut | None:
    """Draw cuts in the middle of a cell's sides and take one of the best."""
    cuts, scores = [], []
    for _ in range(n_tries):
        cut = draw_cut(cell, stream, in_the_middle=True)
        if cut is None:
            return None
        left, right = divide_by_cut(table, structure, cut)
        counts = class_counts(table, left), class_counts(table, right)
        cuts.append(cut)
        scores.append(score_of(*counts, options.criterion, is_weighted(table)))
    tolerance = tolerance_of(table, structure, options)
    return cuts[draw(scores, math.inf, stream.uniform(), tolerance)]


def grow_centered(
    table: RawTable,
    structure: Sequence[int],
    estimation: Sequence[int] | None,
    key: Sequence[int],
    depth: int,
    n_tries: int,
    options: Options,
) -> Tree:
    """Grow a tree that cuts cells in the middle down to a depth.

    Without a list of estimation points they are the structure points.
    """
    root = root_of(structure, estimation)
    waiting = [(root, cell_of(table, root.structure + root.estimation))]
    while waiting:
        branch, cell = waiting.pop()
        if branch.node.depth >= depth or not branch.estimation:
            continue
        stream = split_stream(key, branch)
        cut = best_try(table, branch.structure, cell, stream, n_tries, options)
        if cut is None:
            continue

        def row_goes_left(row: int, cut: Cut = cut) -> bool:
            return goes_left(cut, table.x[row])

        if is_too_light(table, branch, row_goes_left, options, root.estimation):
            continue
        children = split_by_cut(table, branch, cut)
        waiting.extend(zip(children, cells_of_children(cell, cut), strict=True))
    return finish(table, root, key, options)
