# SPDX-License-Identifier: BSD-3-Clause
"""Trees that some of the rows shape and all rows fill (docs/algorithm.md, §11)."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from tests.naive.grow import choose_among, threshold_of
from tests.naive.model import Candidate, Node, Params, Table, Tree
from tests.naive.rng import SAMPLE, SPLIT, Stream, child_path
from tests.naive.rules import Uniform, draw_next_feature
from tests.naive.score import class_counts, moment_and_mass, total, weight_of
from tests.naive.split import candidates, divide


@dataclass
class SampledParams(Params):
    """How such a tree is grown.

    A split that leaves a child fewer than `min_side` points is refused: this is what
    forests that tune themselves call `min_samples_leaf`. The rule is `Multinomial` or
    `Greedy`.
    """

    min_side: int = 1
    offers_equality: bool = True
    max_scored: int = 128
    min_minority: int = 16


@dataclass
class SampledTree:
    """A tree and, for each of its nodes, the points in it, ascending."""

    tree: Tree
    points: list[list[int]]


# --- The points of a tree -------------------------------------------------------------


def share_held_out(n: int, max_samples: float) -> float:
    """Return the share of n points that are held out of a tree."""
    if isinstance(max_samples, Integral):
        return max(1 - int(max_samples) / n, 0.0)
    return 1 - max_samples


def trees_of_group(n: int, max_samples: float) -> int:
    """Return how many trees are a group."""
    share = share_held_out(n, max_samples)
    return 1 if share == 0 else math.floor(1 / share + 1e-9)


def edge(place: int, share: float) -> float:
    """Return the number from which on the tree at a place of its group holds out."""
    return 1.0 if place * share > 1 - 1e-9 else place * share


def held_out_points(
    seed: int, tree: int, n: int, max_samples: float
) -> tuple[list[int], list[int]]:
    """Return the points that shape a tree and those held out, each ascending."""
    group, place = divmod(tree, trees_of_group(n, max_samples))
    share = share_held_out(n, max_samples)
    low, high = edge(place, share), edge(place + 1, share)
    sequence = np.random.SeedSequence(seed, spawn_key=(group, 0))
    stream = Stream(sequence.generate_state(2, np.uint64), 0, SAMPLE)
    held = [i for i in range(n) if low <= stream.uniform() < high]
    if len(held) == n:
        return list(range(n)), []
    out = set(held)
    return [i for i in range(n) if i not in out], held


# --- A node ---------------------------------------------------------------------------


def _n_others(table: Table, scored: list[int], params: SampledParams) -> int:
    """Return how many points are not of the largest class, or of the first target."""
    classes = [int(table.y[row]) for row in scored]
    if params.criterion == "variance":
        return len([rank for rank in classes if rank != classes[0]])
    return len(classes) - max(Counter(classes).values())


def scored_points(
    table: Table,
    structure: list[int],
    m: int,
    stream: Uniform,
    params: SampledParams,
) -> list[int]:
    """Return the points that score a node: m of them or more, or all."""
    n = len(structure)
    while m < n:
        scored = []
        for i in range(m):
            first, end = i * n // m, (i + 1) * n // m
            position = first + math.floor(stream.uniform() * (end - first))
            scored.append(structure[position])
        if _n_others(table, scored, params) >= params.min_minority:
            return scored
        m = 2 * m
    return structure


def _candidates(
    table: Table, scored: list[int], feature: int, params: SampledParams
) -> list[Candidate]:
    offers = (
        params.offers_equality
        and table.equal_values is not None
        and len(table.equal_values[feature]) > 0
    )
    return candidates(table, scored, [], feature, params, with_equality=offers)


def look_at_features(
    table: Table,
    scored: list[int],
    how_many: int,
    stream: Uniform,
    params: SampledParams,
) -> list[list[Candidate]]:
    """Return the candidates of up to so many features that have one."""
    order = list(range(table.codes.shape[1]))
    if how_many >= len(order):
        found = [_candidates(table, scored, feature, params) for feature in order]
        return [of_feature for of_feature in found if of_feature]

    of_features: list[list[Candidate]] = []
    i = 0
    while len(of_features) < how_many and i < len(order):
        n_next = min(how_many - len(of_features), len(order) - i)
        drawn = [draw_next_feature(order, i + step, stream) for step in range(n_next)]
        i += n_next
        for feature in drawn:
            found = _candidates(table, scored, feature, params)
            if found:
                of_features.append(found)
    return of_features


def choose_sampled(
    table: Table, structure: list[int], stream: Uniform, params: SampledParams
) -> Candidate | None:
    """Draw the split of a node; None if no feature has a candidate."""
    plan = params.rule.plan(table.codes.shape[1], stream)
    m, found, scored = params.max_scored, [], []
    while not found and scored is not structure:
        scored = scored_points(table, structure, m, stream, params)
        found = look_at_features(table, scored, plan.how_many, stream, params)
        m = 2 * len(scored)
    if not found:
        return None
    return choose_among(table, scored, found, plan, stream, params)


def _is_leaf_at_once(
    table: Table, structure: list[int], n_points: int, depth: int, params: SampledParams
) -> bool:
    if params.max_depth is not None and depth >= params.max_depth:
        return True
    if n_points < params.min_samples_split or len(structure) < 2:
        return True
    return len({int(table.y[row]) for row in structure}) == 1


def _is_refused(
    table: Table, sides: tuple[list[int], list[int]], weight: float, params
) -> bool:
    """Tell whether a child has too few points, or too little of the whole weight."""
    if min(len(side) for side in sides) < params.min_side:
        return True
    if params.min_weight_fraction <= 0:
        return False
    least = params.min_weight_fraction * weight
    return min(weight_of(table, side) for side in sides) < least


def make_sampled_leaf(
    table: Table, node: Node, rows: list[int], params: SampledParams
) -> None:
    """Give a node masses and the class of the largest one, or moment and mass."""
    if params.criterion == "variance":
        node.moment, node.mass = moment_and_mass(table, rows)
        return
    masses = [float(count) for count in class_counts(table, rows)]
    node.label = masses.index(max(masses))
    node.masses = np.array(masses, dtype=np.float32)


def grow_sampled(
    table: Table,
    points: Sequence[int],
    n_structure: int,
    key: Sequence[int],
    params: SampledParams,
) -> SampledTree:
    """Grow a tree from all points: those that shape it, then the others."""
    shapes = {int(point) for point in points[:n_structure]}
    everyone = sorted(int(point) for point in points)
    weight = weight_of(table, everyone)
    tree = Tree([Node(0, len(shapes), len(everyone))])
    contents, paths = [everyone], [1]
    n_leaves = 0
    number = 0
    while number < len(tree.nodes):
        node, rows, path = tree.nodes[number], contents[number], paths[number]
        number += 1

        structure = [row for row in rows if row in shapes]
        chosen = None
        if not _is_leaf_at_once(table, structure, len(rows), node.depth, params):
            stream = Stream(key, path, SPLIT)
            chosen = choose_sampled(table, structure, stream, params)
        if chosen is not None:
            sides = divide(table, chosen, rows)
            if _is_refused(table, sides, weight, params):
                chosen = None

        if chosen is None:
            make_sampled_leaf(table, node, rows, params)
            node.leaf = n_leaves
            n_leaves += 1
            continue

        node.feature = chosen.feature
        node.threshold = threshold_of(table, chosen)
        node.is_equality = chosen.kind == "equals"
        node.missing_left = chosen.missing_left
        node.left = len(tree.nodes)
        for side in (0, 1):
            n_shaping = len([row for row in sides[side] if row in shapes])
            tree.nodes.append(Node(node.depth + 1, n_shaping, len(sides[side])))
            contents.append(sides[side])
            paths.append(child_path(path, side))
    return SampledTree(tree, contents)


# --- Prefixes -------------------------------------------------------------------------


def way_of(grown: SampledTree, point: int, size: int = 0) -> list[int]:
    """Return the nodes of a point, root to leaf, in the prefix of a leaf size."""
    way = [0]
    while True:
        node = grown.tree.nodes[way[-1]]
        if node.feature is None or len(grown.points[way[-1]]) <= size:
            return way
        is_right = point in grown.points[node.left + 1]
        way.append(node.left + is_right)


def leaf_of_point(grown: SampledTree, point: int) -> int:
    """Return the number of the leaf that a point falls into."""
    return grown.tree.nodes[way_of(grown, point)[-1]].leaf


def says(table: Table, others: list[int]) -> list[float] | float:
    """Return what points say of another one that is in their leaf.

    Shares of the classes; in a regression the moment over the mass.
    """
    if table.moment is not None:
        moment, mass = moment_and_mass(table, others)
        return float(moment) / float(mass)
    masses = class_counts(table, others)
    whole = total(masses)
    if whole == 0:
        return [1 / table.n_classes] * table.n_classes
    return [mass / whole for mass in masses]


def prefix_says(
    table: Table, grown: SampledTree, point: int, size: int
) -> list[float] | float:
    """Return what the prefix of a leaf size says of a point that is held out."""
    leaf = way_of(grown, point, size)[-1]
    return says(table, [row for row in grown.points[leaf] if row != point])
