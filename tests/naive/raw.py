# SPDX-License-Identifier: BSD-3-Clause
"""What trees on raw values share: table, options, nodes under growth, leaves.

See docs/algorithm.md, §5 to §7, §9 and §10. A tree grows as branches that hold their
points; `finish` numbers them breadth first and makes the leaves.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.leaves import leaf_options
from tests.naive.draw import draw_label
from tests.naive.model import Node, Tree
from tests.naive.rng import LABEL, SPLIT, Stream, child_path
from tests.naive.score import class_counts, total, weight_of

GROWTH = 3  # the purpose of the stream that gives the order of growth


@dataclass
class RawTable:
    """Raw rows: category codes in categorical columns, NaN for missing values."""

    x: np.ndarray
    is_categorical: Sequence[bool]
    y: np.ndarray
    n_classes: int
    mass: np.ndarray | None = None
    class_weight: np.ndarray | None = None


@dataclass
class Options:
    """When growth stops, how splits are scored and how labels are drawn."""

    min_samples_split: int = 6
    min_samples_leaf: int | None = None
    criterion: str = "gini"
    max_depth: int | None = None
    min_weight_fraction: float = 0.0
    label_budget: float = math.inf


@dataclass
class Cut:
    """A question to one feature; the names are those of the fields of a node."""

    feature: int
    threshold: float
    is_equality: bool
    missing_left: bool


@dataclass
class Branch:
    """A node under growth.

    `counted` are the points whose class masses the node has as a leaf: its own
    estimation points or, if it has none, those of the nearest node above with some.
    """

    node: Node
    path: int
    structure: list[int]
    estimation: list[int]
    counted: list[int]
    children: list["Branch"] = field(default_factory=list)


def is_missing(value: float) -> bool:
    """Tell whether a value is NaN."""
    return value != value


def goes_left(cut: Cut | Node, x: Sequence[float]) -> bool:
    """Tell whether a cut (or the node that stores it) sends a raw row to the left."""
    value = float(x[cut.feature])
    if is_missing(value):
        return cut.missing_left
    if cut.is_equality:
        return value == cut.threshold
    return value <= cut.threshold


def number_between(a: float, b: float, u: float) -> float:
    """Return the number of [a, b) that the uniform number u stands for."""
    t = a * (1 - u) + b * u
    if a <= t < b:
        return t
    return a


def number_of(u: float, how_many: int) -> int:
    """Return the number out of 0 … how_many − 1 that u stands for."""
    return math.floor(u * how_many)


def coin_is_left(stream: Stream) -> bool:
    """Toss a coin."""
    return stream.uniform() < 0.5


def known_values(table: RawTable, rows: Sequence[int], feature: int) -> list[float]:
    """Return the values of a feature in these rows, in order, without missing ones."""
    values = [float(table.x[row, feature]) for row in rows]
    return [value for value in values if not is_missing(value)]


def divide(
    rows: Sequence[int], row_goes_left: Callable[[int], bool]
) -> tuple[list[int], list[int]]:
    """Return the rows that go left and those that go right, each in order."""
    left, right = [], []
    for row in rows:
        (left if row_goes_left(row) else right).append(row)
    return left, right


def divide_by_cut(
    table: RawTable, rows: Sequence[int], cut: Cut | Node
) -> tuple[list[int], list[int]]:
    """Return the rows that a cut sends left and right."""
    return divide(rows, lambda row: goes_left(cut, table.x[row]))


def mass_of(table: RawTable, rows: Sequence[int]) -> int:
    """Return the number of points, or their mass."""
    return total([1 if table.mass is None else int(table.mass[row]) for row in rows])


def root_of(
    structure: Sequence[int],
    estimation: Sequence[int] | None,
    node_type: type[Node] = Node,
) -> Branch:
    """Return the root; its estimation points are its structure points if None."""
    s_rows = [int(row) for row in structure]
    e_rows = s_rows if estimation is None else [int(row) for row in estimation]
    node = node_type(0, len(s_rows), len(e_rows))
    return Branch(node, 1, s_rows, e_rows, counted=e_rows)


def is_leaf_at_once(
    table: RawTable, branch: Branch, options: Options, one_class_is_leaf: bool
) -> bool:
    """Tell whether a node is a leaf before any split is looked for."""
    if options.max_depth is not None and branch.node.depth >= options.max_depth:
        return True
    if one_class_is_leaf and len({int(table.y[row]) for row in branch.structure}) == 1:
        return True
    fewest = max(options.min_samples_split, 2 * (options.min_samples_leaf or 0))
    return len(branch.estimation) < fewest


def split_stream(key: Sequence[int], branch: Branch) -> Stream:
    """Return the stream of a node's own draws."""
    return Stream(key, branch.path, SPLIT)


def add_children(branch: Branch, row_goes_left: Callable[[int], bool]) -> list[Branch]:
    """Split the points of a node among two new children, which are returned."""
    s_sides = divide(branch.structure, row_goes_left)
    e_sides = divide(branch.estimation, row_goes_left)
    for side in (0, 1):
        s_rows, e_rows = s_sides[side], e_sides[side]
        node = type(branch.node)(branch.node.depth + 1, len(s_rows), len(e_rows))
        path = child_path(branch.path, side)
        counted = e_rows if e_rows else branch.counted
        branch.children.append(Branch(node, path, s_rows, e_rows, counted))
    return branch.children


def store_cut(node: Node, cut: Cut) -> None:
    """Write a cut into the node that it splits."""
    node.feature = cut.feature
    node.threshold = cut.threshold
    node.is_equality = cut.is_equality
    node.missing_left = cut.missing_left


def split_by_cut(table: RawTable, branch: Branch, cut: Cut) -> list[Branch]:
    """Split a node by a cut and return its two children."""
    store_cut(branch.node, cut)
    return add_children(branch, lambda row: goes_left(cut, table.x[row]))


def is_too_light(
    table: RawTable,
    branch: Branch,
    row_goes_left: Callable[[int], bool],
    options: Options,
    whole: Sequence[int],
) -> bool:
    """Tell whether a child has too little of the weight of all estimation points."""
    least = options.min_weight_fraction * weight_of(table, whole)
    sides = divide(branch.estimation, row_goes_left)
    return least > 0 and min(weight_of(table, side) for side in sides) < least


def is_refused(
    table: RawTable,
    branch: Branch,
    row_goes_left: Callable[[int], bool],
    options: Options,
    whole: Sequence[int],
) -> bool:
    """Tell whether a split leaves a child too few estimation points, or too light."""
    left, right = divide(branch.estimation, row_goes_left)
    if not left or not right:
        return True
    return is_too_light(table, branch, row_goes_left, options, whole)


def make_leaf(
    table: RawTable, branch: Branch, key: Sequence[int], options: Options
) -> None:
    """Give a leaf its class masses and draw its label."""
    masses = [float(count) for count in class_counts(table, branch.counted)]
    whole = total(masses)
    shares = [mass / whole if whole > 0 else 0.0 for mass in masses]
    u = Stream(key, branch.path, LABEL).uniform()
    branch.node.label = draw_label(shares, options.label_budget, u)
    branch.node.masses = np.array(masses, dtype=np.float32)


def finish(table: RawTable, root: Branch, key: Sequence[int], options: Options) -> Tree:
    """Number the nodes breadth first, make the leaves and return the tree."""
    branches = [root]
    n_leaves = 0
    number = 0
    while number < len(branches):
        branch = branches[number]
        number += 1
        if branch.children:
            branch.node.left = len(branches)
            branches.extend(branch.children)
        else:
            make_leaf(table, branch, key, options)
            branch.node.leaf = n_leaves
            n_leaves += 1
    return Tree([branch.node for branch in branches])


# --- For checks -----------------------------------------------------------------------


class Script:
    """A stream that gives the uniform numbers it was told."""

    def __init__(self, *numbers: float) -> None:
        self.numbers = list(numbers)

    def uniform(self) -> float:
        """Return the next of the numbers."""
        return self.numbers.pop(0)


def raw_table(x, y=None, categorical=(), **weights) -> RawTable:
    """Return the table of rows or of one feature; classes alternate if not given."""
    x = np.asarray(x, dtype=float)
    x = x[:, None] if x.ndim == 1 else x
    y = np.arange(len(x)) % 2 if y is None else np.asarray(y)
    is_categorical = [f in categorical for f in range(x.shape[1])]
    return RawTable(x, is_categorical, y, int(y.max()) + 1, **weights)


def mixed_table(seed: int, n: int = 60) -> RawTable:
    """Return rows with numbers, ties, categories (column 2) and missing values."""
    rng = np.random.default_rng(seed)
    x = np.stack([rng.normal(size=n), rng.integers(0, 4, n), rng.integers(0, 5, n)], 1)
    y = (x[:, 0] > 0).astype(int) + (x[:, 2] == 1)
    x[rng.random(x.shape) < 0.15] = math.nan
    return raw_table(x, y, categorical=[2])


def floor_of(k: int) -> Options:
    """Return the options for leaves of at least k points."""
    return Options(**leaf_options("floor", k))


def rows_of_nodes(tree: Tree, table: RawTable, rows: Sequence[int]) -> list[list[int]]:
    """Return for each node of a tree of cuts the rows that reach it."""
    reached: list[list[int]] = [[] for _ in tree.nodes]
    reached[0] = list(rows)
    for number, node in enumerate(tree.nodes):
        if node.feature is not None:
            sides = divide_by_cut(table, reached[number], node)
            reached[node.left], reached[node.left + 1] = sides
    return reached


def is_numbered_breadth_first(tree: Tree) -> bool:
    """Tell whether children and leaves have the numbers that §7 gives them."""
    inner = [node for node in tree.nodes if node.left >= 0]
    leaves = [node for node in tree.nodes if node.left < 0]
    return (
        [node.left for node in inner] == list(range(1, len(tree.nodes), 2))
        and [node.leaf for node in leaves] == list(range(len(leaves)))
        and all(node.leaf == -1 for node in inner)
    )
