# SPDX-License-Identifier: BSD-3-Clause
"""Growth of one tree: candidates, splits, leaves (docs/algorithm.md, §5 to §7)."""

import itertools
import math
from collections.abc import Sequence

import numpy as np

from tests.naive.draw import draw, draw_label, draw_probabilities
from tests.naive.model import Candidate, Node, Params, Table, Tree
from tests.naive.rng import LABEL, SPLIT, Stream, child_path
from tests.naive.score import class_counts, is_weighted, score_of, tolerance_of, total

__all__ = [
    "Candidate",
    "Node",
    "Params",
    "Table",
    "Tree",
    "candidates",
    "draw",
    "draw_label",
    "draw_probabilities",
    "goes_left",
    "grow",
]


def goes_left(table: Table, candidate: Candidate, row: int) -> bool:
    """Tell whether a candidate sends a row to the left."""
    code = int(table.codes[row, candidate.feature])
    if code == table.n_bins[candidate.feature]:
        return candidate.missing_left
    if candidate.kind == "equals":
        return code == candidate.code
    return code <= candidate.code


def _divide(
    table: Table, candidate: Candidate, rows: Sequence[int]
) -> tuple[list[int], list[int]]:
    left = [int(row) for row in rows if goes_left(table, candidate, row)]
    right = [int(row) for row in rows if not goes_left(table, candidate, row)]
    return left, right


def _mass(table: Table, rows: Sequence[int]) -> int:
    """Return the number of points, or their mass."""
    return total([1 if table.mass is None else int(table.mass[row]) for row in rows])


def _questions(table: Table, feature: int, occurring: list[int]) -> list:
    """Return (kind, code) for each cut between the codes that occur."""
    if table.is_categorical[feature]:
        if len(occurring) < 2:
            return []
        return [("equals", code) for code in occurring]
    pairs = itertools.pairwise(occurring)
    return [("cut", (low + high - 1) // 2) for low, high in pairs]


def candidates(
    table: Table,
    structure_rows: Sequence[int],
    estimation_rows: Sequence[int],
    feature: int,
    params: Params,
) -> list[Candidate]:
    """Return the scored candidates of a feature in a node, in their order."""
    missing_code = int(table.n_bins[feature])
    codes = [int(table.codes[row, feature]) for row in structure_rows]
    occurring = sorted({code for code in codes if code != missing_code})
    has_missing = missing_code in codes

    found = []
    for kind, code in _questions(table, feature, occurring):
        if has_missing:
            found.append(Candidate(feature, kind, code, missing_left=True))
            found.append(Candidate(feature, kind, code, missing_left=False))
        else:
            candidate = Candidate(feature, kind, code, missing_left=False)
            left, right = _divide(table, candidate, structure_rows)
            candidate.missing_left = _mass(table, left) >= _mass(table, right)
            found.append(candidate)
    if has_missing and occurring:
        found.append(Candidate(feature, "missing", missing_code - 1, False))

    kept = []
    for candidate in found:
        left, right = _divide(table, candidate, structure_rows)
        e_left, e_right = _divide(table, candidate, estimation_rows)
        candidate.n_structure = (len(left), len(right))
        candidate.n_estimation = (len(e_left), len(e_right))
        candidate.score = score_of(
            class_counts(table, left),
            class_counts(table, right),
            params.criterion,
            is_weighted(table),
        )
        smaller = min(len(e_left), len(e_right))
        if params.leaf_rule == "stop" or smaller >= params.min_samples_leaf:
            kept.append(candidate)
    return kept


def _is_leaf_at_once(
    table: Table, structure: list[int], n_estimation: int, depth: int, params: Params
) -> bool:
    k = params.min_samples_leaf
    if params.max_depth is not None and depth >= params.max_depth:
        return True
    if params.leaf_rule == "stop":
        classes = {int(table.y[row]) for row in structure}
        return n_estimation <= k or len(classes) == 1
    if params.leaf_rule == "floor":
        return n_estimation < 2 * k
    raise ValueError(f"unknown leaf_rule {params.leaf_rule!r}")


def _choose(
    table: Table,
    structure: list[int],
    estimation: list[int],
    stream: Stream,
    params: Params,
) -> Candidate | None:
    """Draw a feature, then one of its candidates; None if there is none."""
    of_features = []
    for feature in range(table.codes.shape[1]):
        found = candidates(table, structure, estimation, feature, params)
        if found:
            of_features.append(found)
    if not of_features:
        return None
    tolerance = tolerance_of(table, structure, params)
    best = [max(c.score for c in found) for found in of_features]
    drawn = draw(best, params.feature_budget, stream.uniform(), tolerance)
    found = of_features[drawn]
    scores = [candidate.score for candidate in found]
    return found[draw(scores, params.split_budget, stream.uniform(), tolerance)]


def _threshold(table: Table, candidate: Candidate) -> float:
    if candidate.kind == "missing":
        return math.inf
    if candidate.kind == "equals":
        return float(candidate.code)
    return float(table.cuts[candidate.feature][candidate.code])


def _make_leaf(
    table: Table, node: Node, estimation: list[int], stream: Stream, params: Params
) -> None:
    masses = [float(count) for count in class_counts(table, estimation)]
    whole = total(masses)
    shares = [mass / whole if whole > 0 else 0.0 for mass in masses]
    node.label = draw_label(shares, params.label_budget, stream.uniform())
    node.masses = np.array(masses, dtype=np.float32)


def grow(
    table: Table,
    structure: Sequence[int],
    estimation: Sequence[int],
    key: Sequence[int],
    params: Params,
) -> Tree:
    """Grow a tree from structure and estimation rows, which may hold repeats."""
    structure = [int(row) for row in structure]
    estimation = [int(row) for row in estimation]
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
        if not _is_leaf_at_once(table, s_rows, len(e_rows), node.depth, params):
            stream = Stream(key, path, SPLIT)
            chosen = _choose(table, s_rows, e_rows, stream, params)
        # Only the rule "stop" lets such a candidate come this far.
        if chosen is not None and min(chosen.n_estimation) == 0:
            chosen = None

        if chosen is None:
            _make_leaf(table, node, e_rows, Stream(key, path, LABEL), params)
            node.leaf = n_leaves
            n_leaves += 1
            continue

        node.feature = chosen.feature
        node.threshold = _threshold(table, chosen)
        node.is_equality = chosen.kind == "equals"
        node.missing_left = chosen.missing_left
        node.left = len(tree.nodes)
        s_sides = _divide(table, chosen, s_rows)
        e_sides = _divide(table, chosen, e_rows)
        for side in (0, 1):
            s_side, e_side = s_sides[side], e_sides[side]
            tree.nodes.append(Node(node.depth + 1, len(s_side), len(e_side)))
            contents.append((s_side, e_side, child_path(path, side)))
    return tree
