# SPDX-License-Identifier: BSD-3-Clause
"""Why a forest with budgets is not differentially private."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from textwrap import fill

from mrforest.privacy._floats import round_up
from mrforest.privacy.allocation import Budgets

WIDTH = 88


@dataclass(frozen=True)
class Leak:
    """Something that a fitted forest tells of its rows, whatever its budgets.

    Attributes
    ----------
    what : str
        What is told.
    why : str
        How it comes from the rows.

    Examples
    --------
    >>> from mrforest import MultinomialForestClassifier
    >>> for leak in MultinomialForestClassifier().privacy_report().items[:2]:
    ...     print(leak.what)
    values
    categories
    """

    what: str
    why: str


@dataclass(frozen=True)
class PrivacyReport:
    """What a fit tells of its rows, and what its budgets would be worth otherwise.

    Attributes
    ----------
    items : tuple of Leak
        What is told besides the draws that the budgets are for.
    budgets : dict
        `feature_budget` (B1), `split_budget` (B2) and `label_budget` (B3).
    n_estimators : int
        t, the number of trees.
    depth : int or None
        d, the depth of the deepest tree; None if it has no bound.

    Examples
    --------
    >>> from mrforest import MultinomialForestClassifier
    >>> report = MultinomialForestClassifier().privacy_report()
    >>> report.epsilon
    inf
    >>> report.items[0].what
    'values'
    """

    items: tuple[Leak, ...]
    budgets: Budgets
    n_estimators: int
    depth: int | None

    @property
    def epsilon(self) -> float:
        """What mrforest claims: inf, which is nothing."""
        return math.inf

    @property
    def theorem_epsilon(self) -> float:
        """ε by the paper's Theorem 2: t · max(d (B1 + B2), B3), rounded up.

        It would hold if every item were mended.
        """
        return self._forest_cost(max)

    @property
    def sequential_epsilon(self) -> float:
        """ε without halves that compose in parallel: t · (d (B1 + B2) + B3).

        It would hold if every item were mended, and all rows shaped and filled trees.
        Rounded up.
        """
        return self._forest_cost(lambda shape, label: shape + label)

    def _forest_cost(
        self, of_a_tree: Callable[[Fraction, Fraction], Fraction]
    ) -> float:
        feature, split, label = self._budgets()
        if self.depth == 0:  # nothing was drawn but labels
            feature = split = 0.0
        if self.depth is None or math.inf in (feature, split, label):
            return math.inf
        shape = self.depth * (Fraction(feature) + Fraction(split))
        return round_up(self.n_estimators * of_a_tree(shape, Fraction(label)))

    def _budgets(self) -> tuple[float, float, float]:
        given = self.budgets
        return given["feature_budget"], given["split_budget"], given["label_budget"]

    def __str__(self) -> str:
        return "\n".join(
            [
                "Not differentially private: no ε is claimed. A fit tells",
                *map(_bullet, (f"{item.what}: {item.why}" for item in self.items)),
                "If all of that were mended, the budgets would be worth",
                *map(_bullet, self._worth()),
                "For an ε that holds take PrivateForestClassifier.",
            ]
        )

    def _worth(self) -> list[str]:
        feature, split, label = self._budgets()
        depth = "∞" if self.depth is None else self.depth
        shape = f"{depth} ({feature:g} + {split:g})"
        return [
            f"ε = t max(d (B1 + B2), B3) = {self.n_estimators} max({shape}, {label:g}) "
            f"= {self.theorem_epsilon:g} by Theorem 2 of the paper,",
            f"ε = t (d (B1 + B2) + B3) = {self.n_estimators} ({shape} + {label:g}) "
            f"= {self.sequential_epsilon:g} if all rows shape and fill trees.",
        ]


def _bullet(text: str) -> str:
    return fill(text, WIDTH, initial_indent="- ", subsequent_indent="  ")
