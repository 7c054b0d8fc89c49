# SPDX-License-Identifier: BSD-3-Clause
"""Candidates of a feature in a node and the range of a rule (docs/algorithm.md, §5)."""

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tests.naive.model import Candidate, Params, Table
from tests.naive.score import (
    class_counts,
    is_weighted,
    moment_and_mass,
    score_of,
    total,
    variance_score,
)


def goes_left(table: Table, candidate: Candidate, rows: NDArray) -> NDArray:
    """Tell which rows a candidate sends to the left."""
    codes = table.codes[rows, candidate.feature]
    is_missing = codes == table.n_bins[candidate.feature]
    if candidate.kind == "equals":
        return np.where(is_missing, candidate.missing_left, codes == candidate.code)
    return np.where(is_missing, candidate.missing_left, codes <= candidate.code)


def divide(
    table: Table, candidate: Candidate, rows: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Return the rows left and right of a candidate, each in their order."""
    rows = np.asarray(rows, dtype=np.intp)
    is_left = goes_left(table, candidate, rows)
    return rows[is_left].tolist(), rows[~is_left].tolist()


def _mass(table: Table, rows: Sequence[int]) -> int:
    """Return the number of points, or their mass."""
    return total([1 if table.mass is None else int(table.mass[row]) for row in rows])


def _questions(
    table: Table, feature: int, occurring: list[int], with_equality: bool
) -> list[Candidate]:
    """Return each cut between the codes that occur; where missing goes is open."""
    if table.is_categorical[feature]:
        if len(occurring) < 2:
            return []
        return [Candidate(feature, "equals", code, False) for code in occurring]
    found = [
        Candidate(feature, "cut", (low + high - 1) // 2, False, neighbours=(low, high))
        for low, high in itertools.pairwise(occurring)
    ]
    if with_equality:
        inner = occurring[1:-1]
        found += [Candidate(feature, "equals", code, False) for code in inner]
    return found


def _with_missing_side(question: Candidate, missing_left: bool) -> Candidate:
    return Candidate(
        question.feature,
        question.kind,
        question.code,
        missing_left,
        neighbours=question.neighbours,
    )


def _unscored(
    table: Table, structure: Sequence[int], feature: int, with_equality: bool
) -> list[Candidate]:
    """Return the candidates that the codes of the structure points make."""
    missing_code = int(table.n_bins[feature])
    codes = [int(table.codes[row, feature]) for row in structure]
    occurring = sorted({code for code in codes if code != missing_code})
    has_missing = missing_code in codes

    found = []
    for question in _questions(table, feature, occurring, with_equality):
        if has_missing:
            found.append(_with_missing_side(question, True))
            found.append(_with_missing_side(question, False))
        else:
            left, right = divide(table, question, structure)
            left_is_larger = _mass(table, left) >= _mass(table, right)
            found.append(_with_missing_side(question, left_is_larger))
    if has_missing and occurring:
        found.append(Candidate(feature, "missing", missing_code - 1, False))
    return found


def _score(table: Table, left: list[int], right: list[int], params: Params) -> float:
    if params.criterion == "variance":
        return variance_score(
            moment_and_mass(table, left), moment_and_mass(table, right)
        )
    return score_of(
        class_counts(table, left),
        class_counts(table, right),
        params.criterion,
        is_weighted(table),
    )


def candidates(
    table: Table,
    structure_rows: Sequence[int],
    estimation_rows: Sequence[int],
    feature: int,
    params: Params,
    with_equality: bool = False,
) -> list[Candidate]:
    """Return the scored candidates of a feature in a node, in their order.

    With `min_samples_leaf` those that leave too few estimation points on a side are
    left out. The range of a rule is not considered here. `with_equality` says whether
    a numeric feature is cut by equality, too (§11).
    """
    kept = []
    for candidate in _unscored(table, structure_rows, feature, with_equality):
        left, right = divide(table, candidate, structure_rows)
        e_left, e_right = divide(table, candidate, estimation_rows)
        candidate.n_structure = (len(left), len(right))
        candidate.n_estimation = (len(e_left), len(e_right))
        candidate.score = _score(table, left, right, params)
        smaller = min(len(e_left), len(e_right))
        if smaller >= (params.min_samples_leaf or 0):
            kept.append(candidate)
    return kept


def _is_in_range(candidate: Candidate, seen: set[int], has_missing: bool) -> bool:
    """Tell whether a range keeps a candidate; `seen` are its codes but missing."""
    if not seen:
        return False
    if candidate.kind == "missing":
        return has_missing
    if candidate.kind == "equals":
        return candidate.code in seen
    low, high = candidate.neighbours
    return min(seen) <= low and high <= max(seen)


def within_range(
    table: Table,
    structure_rows: Sequence[int],
    feature: int,
    positions: Sequence[int] | None,
    found: list[Candidate],
) -> list[Candidate]:
    """Return the candidates of a feature that the points at some positions keep.

    Without positions all of them are kept.
    """
    if positions is None:
        return found
    missing_code = int(table.n_bins[feature])
    codes = {int(table.codes[structure_rows[p], feature]) for p in positions}
    seen = codes - {missing_code}
    return [c for c in found if _is_in_range(c, seen, missing_code in codes)]
