# SPDX-License-Identifier: BSD-3-Clause
"""Growth of one tree: splits and leaves (docs/algorithm.md, §5 to §8)."""

import math
from collections.abc import Sequence

import numpy as np

from tests.naive.draw import draw, draw_label, draw_probabilities
from tests.naive.model import Candidate, Node, Params, Table, Tree
from tests.naive.rng import LABEL, SPLIT, Stream, child_path
from tests.naive.rules import Plan, Uniform, draw_next_feature
from tests.naive.score import (
    class_counts,
    moment_and_mass,
    tolerance_of,
    total,
    variance_tolerance,
    weight_of,
)
from tests.naive.split import candidates, divide, within_range

__all__ = [
    "Candidate",
    "Node",
    "Params",
    "Table",
    "Tree",
    "candidates",
    "choose",
    "choose_among",
    "draw",
    "draw_label",
    "draw_probabilities",
    "grow",
    "make_leaf",
    "threshold_of",
]


def _is_leaf_at_once(
    table: Table,
    structure: list[int],
    n_estimation: int,
    depth: int,
    params: Params,
    e_is_s: bool,
) -> bool:
    if params.max_depth is not None and depth >= params.max_depth:
        return True
    # Classes, or the ranks of the targets in regression.
    is_pure = len({int(table.y[row]) for row in structure}) == 1
    if n_estimation < params.min_samples_split:
        return True
    if params.min_samples_leaf is None:
        return is_pure
    return n_estimation < 2 * params.min_samples_leaf or (e_is_s and is_pure)


def look_at_features(
    table: Table,
    structure: list[int],
    estimation: list[int],
    how_many: int,
    stream: Uniform,
    params: Params,
) -> list[list[Candidate]]:
    """Return the candidates of the features looked at, without those that have none.

    These are steps 2 to 4 of the order of draws: which features, the range of each,
    and further features as long as there is no candidate.
    """
    order = list(range(table.codes.shape[1]))

    def look_at(feature: int) -> list[Candidate]:
        positions = params.rule.positions(len(structure), stream)
        found = candidates(table, structure, estimation, feature, params)
        return within_range(table, structure, feature, positions, found)

    if how_many >= len(order):
        chosen = list(order)
    else:
        chosen = [draw_next_feature(order, i, stream) for i in range(how_many)]
    of_features = [look_at(feature) for feature in chosen]
    for i in range(how_many, len(order)):
        if any(of_features):
            break
        of_features.append(look_at(draw_next_feature(order, i, stream)))
    return [found for found in of_features if found]


def _tolerance(
    table: Table,
    structure: list[int],
    of_features: list[list[Candidate]],
    params: Params,
) -> float:
    if params.criterion == "variance":
        scores = [c.score for found in of_features for c in found]
        return variance_tolerance(scores, moment_and_mass(table, structure)[1])
    return tolerance_of(table, structure, params)


def choose(
    table: Table,
    structure: list[int],
    estimation: list[int],
    stream: Uniform,
    params: Params,
) -> Candidate | None:
    """Draw a feature, then one of its candidates; None if there is none."""
    plan = params.rule.plan(table.codes.shape[1], stream)
    of_features = look_at_features(
        table, structure, estimation, plan.how_many, stream, params
    )
    if not of_features:
        return None
    return choose_among(table, structure, of_features, plan, stream, params)


def choose_among(
    table: Table,
    structure: list[int],
    of_features: list[list[Candidate]],
    plan: Plan,
    stream: Uniform,
    params: Params,
) -> Candidate:
    """Draw one of the features that have candidates, then one of its candidates."""
    tolerance = _tolerance(table, structure, of_features, params)
    best = [max(c.score for c in found) for found in of_features]
    found = of_features[draw(best, plan.feature_budget, stream.uniform(), tolerance)]
    scores = [candidate.score for candidate in found]
    return found[draw(scores, plan.split_budget, stream.uniform(), tolerance)]


def threshold_of(table: Table, candidate: Candidate) -> float:
    """Return the number that a split by a candidate stores."""
    if candidate.kind == "missing":
        return math.inf
    if candidate.kind == "equals" and not table.is_categorical[candidate.feature]:
        return float(table.equal_values[candidate.feature][candidate.code])
    if candidate.kind == "equals":
        return float(candidate.code)
    return float(table.cuts[candidate.feature][candidate.code])


def make_leaf(
    table: Table, node: Node, estimation: list[int], stream: Stream, params: Params
) -> None:
    """Give a node what a leaf has: masses and a label, or moment and mass."""
    if params.criterion == "variance":
        node.moment, node.mass = moment_and_mass(table, estimation)
        return
    masses = [float(count) for count in class_counts(table, estimation)]
    whole = total(masses)
    shares = [mass / whole if whole > 0 else 0.0 for mass in masses]
    node.label = draw_label(shares, params.label_budget, stream.uniform())
    node.masses = np.array(masses, dtype=np.float32)


def grow(
    table: Table,
    structure: Sequence[int],
    estimation: Sequence[int] | None,
    key: Sequence[int],
    params: Params,
) -> Tree:
    """Grow a tree from structure and estimation rows, which may hold repeats.

    Without estimation rows the structure rows are the estimation rows as well.
    """
    e_is_s = estimation is None
    structure = [int(row) for row in structure]
    estimation = structure if e_is_s else [int(row) for row in estimation]
    tree = Tree([Node(0, len(structure), len(estimation))])
    # What is known of a node beside the node itself: its points and its path.
    contents = [(structure, estimation, 1)]
    n_leaves = 0
    number = 0
    while number < len(tree.nodes):
        node = tree.nodes[number]
        s_rows, e_rows, path = contents[number]
        number += 1

        chosen = None
        if not _is_leaf_at_once(table, s_rows, len(e_rows), node.depth, params, e_is_s):
            stream = Stream(key, path, SPLIT)
            chosen = choose(table, s_rows, e_rows, stream, params)
        # Only the rule "stop" lets such a candidate come this far.
        if chosen is not None and min(chosen.n_estimation) == 0:
            chosen = None
        if chosen is not None:
            least = params.min_weight_fraction * weight_of(table, contents[0][1])
            sides = divide(table, chosen, e_rows)
            if least > 0 and min(weight_of(table, side) for side in sides) < least:
                chosen = None

        if chosen is None:
            make_leaf(table, node, e_rows, Stream(key, path, LABEL), params)
            node.leaf = n_leaves
            n_leaves += 1
            continue

        node.feature = chosen.feature
        node.threshold = threshold_of(table, chosen)
        node.is_equality = chosen.kind == "equals"
        node.missing_left = chosen.missing_left
        node.left = len(tree.nodes)
        s_sides = divide(table, chosen, s_rows)
        e_sides = divide(table, chosen, e_rows)
        for side in (0, 1):
            s_side, e_side = s_sides[side], e_sides[side]
            tree.nodes.append(Node(node.depth + 1, len(s_side), len(e_side)))
            contents.append((s_side, e_side, child_path(path, side)))
    return tree
