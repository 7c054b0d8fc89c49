# SPDX-License-Identifier: BSD-3-Clause
"""The budgets that the multinomial forest's paper allocates in its privacy theorem."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Integral
from typing import TypedDict

from mrforest.privacy._floats import as_cost, round_down


class Budgets(TypedDict):
    """Budgets by the names that `MultinomialForestClassifier` has for them.

    Examples
    --------
    >>> from mrforest.privacy import allocate
    >>> sorted(allocate(1.0, n_estimators=10, depth=5))
    ['feature_budget', 'label_budget', 'split_budget']
    """

    feature_budget: float
    split_budget: float
    label_budget: float


def allocate(epsilon: float, n_estimators: int, depth: int) -> Budgets:
    """Return the budgets of the paper's Theorem 2 for `MultinomialForestClassifier`.

    With t trees of depth d they are B1 = B2 = ε/(2dt) and B3 = ε/t. **mrforest claims
    no ε for a forest with these budgets**, because what the theorem takes for granted
    is not so:

    - All tables must offer the same features and cuts. The forest's cuts are midpoints
      between values of its training rows, and a feature that cannot be cut in a node is
      not in the draw.
    - The shape of a tree must not depend on estimation points. Growth stops by their
      exact number, so the two halves of the rows do not compose in parallel.
    - A row must come into its half by itself. The halves have sizes that the number of
      rows fixes.
    - Classes, categories, t and d must be known beforehand. Classes and categories are
      read from the table; in the paper d is 10 because no tree was seen to be deeper.
    - Nothing else may be told. The forest keeps its seed, its counts and importances.

    `MultinomialForestClassifier.privacy_report` lists this for a forest;
    `PrivateForestClassifier` is the one that mends it. The budgets are also poor ones:
    with 100 trees and ε = 1, a leaf of one class tells that class, of two, with
    probability 0.50125.

    Parameters
    ----------
    epsilon : float
        ε of the theorem; at least 0, or inf.
    n_estimators : int
        t, at least 1.
    depth : int
        d, at least 1: the forest's `max_depth`.

    Returns
    -------
    dict
        `feature_budget` (B1), `split_budget` (B2) and `label_budget` (B3), each rounded
        down: added up exactly, they do not exceed ε.

    References
    ----------
    J. Bai, Y. Li, J. Li, X. Yang, Y. Jiang, S.-T. Xia. Multinomial random forest.
    Pattern Recognition 122, 108331 (2022). Preprint: arXiv:1903.04003.

    Examples
    --------
    >>> from mrforest import MultinomialForestClassifier
    >>> budgets = allocate(epsilon=16, n_estimators=4, depth=2)
    >>> budgets
    {'feature_budget': 1.0, 'split_budget': 1.0, 'label_budget': 4.0}
    >>> forest = MultinomialForestClassifier(n_estimators=4, max_depth=2, **budgets)
    >>> report = forest.privacy_report()
    >>> report.theorem_epsilon, report.epsilon
    (16.0, inf)
    """
    epsilon = as_cost("epsilon", epsilon)
    n_trees = _as_count("n_estimators", n_estimators)
    n_levels = _as_count("depth", depth)
    if epsilon == math.inf:
        label = draw = epsilon
    else:
        label = round_down(Fraction(epsilon) / n_trees)
        draw = round_down(Fraction(epsilon) / (2 * n_levels * n_trees))
    return Budgets(feature_budget=draw, split_budget=draw, label_budget=label)


def _as_count(name: str, value: object) -> int:
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1:
        return int(value)
    raise ValueError(f"{name} must be an int, at least 1; got {value!r}")
