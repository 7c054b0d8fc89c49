# SPDX-License-Identifier: BSD-3-Clause
"""What a private fit costs.

All costs are exact sums of the floats that mechanisms were given; a float that is shown
for one is never smaller.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from html import escape
from itertools import islice
from typing import Literal

from mrforest.privacy import _files
from mrforest.privacy._floats import as_cost, as_delta, exact_sum, round_down, round_up
from mrforest.privacy.conversion import zcdp_to_epsilon
from mrforest.privacy.release import (
    Item,
    Release,
    check_release,
    composed,
    doubled,
    from_plain,
    to_plain,
    walk,
)

SCHEMA = "mrforest privacy ledger"
NEIGHBOURS = ("add-remove", "replace-one")
HEADER = ("tree", "block", "what", "mechanism", "epsilon", "composed")
MAX_LINES = 40


@dataclass(frozen=True)
class Ledger:
    """The costs of a fit.

    Attributes
    ----------
    release : Item, Sequential or Parallel
        All that was told of the rows.
    reasons : tuple of str
        Why the fit is not private, whatever the items say: "random_state was given",
        "bounds were read from the data". Then `epsilon` is inf.
    neighbours : {"add-remove", "replace-one"}
        Tables that are to look alike: with one row more or less, or one row changed.
    delta : float
        Probability that the total may fail with; it is then also added up in zCDP.

    Examples
    --------
    Rows are dealt to two trees, of each tree half shape it and half fill its leaves:

    >>> from mrforest.privacy import Parallel
    >>> halves = [
    ...     Parallel(
    ...         [
    ...             Item("splits", "exponential", 0.5, tree, bounded_range=True),
    ...             Item("counts", "geometric", 0.4, tree),
    ...         ],
    ...         over="halves",
    ...     )
    ...     for tree in range(2)
    ... ]
    >>> ledger = Ledger(Parallel(halves, over="trees"))
    >>> print(ledger)
    tree  block  what    mechanism    epsilon  composed
    0     -      splits  exponential  0.5      parallel over trees, parallel over halves
    0     -      counts  geometric    0.4      parallel over trees, parallel over halves
    1     -      splits  exponential  0.5      parallel over trees, parallel over halves
    1     -      counts  geometric    0.4      parallel over trees, parallel over halves
    total: epsilon = 0.5 for add-remove neighbours
    >>> ledger.replace_one.epsilon
    1.0
    """

    release: Release
    reasons: tuple[str, ...] = ()
    neighbours: Literal["add-remove", "replace-one"] = "add-remove"
    delta: float = 0.0
    items: tuple[Item, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_release("release", self.release)
        reasons = tuple(self.reasons)
        if isinstance(self.reasons, str) or {type(r) for r in reasons} - {str}:
            raise ValueError(f"reasons must be a tuple of str; got {self.reasons!r}")
        if self.neighbours not in NEIGHBOURS:
            raise ValueError(
                f"neighbours must be one of {NEIGHBOURS}; got {self.neighbours!r}"
            )
        object.__setattr__(self, "delta", as_delta("delta", self.delta))
        items = tuple(item for item, _ in walk(self.release))
        unbounded = (
            f"{item.what}: epsilon is inf" for item in items if item.epsilon == math.inf
        )
        object.__setattr__(self, "items", items)
        object.__setattr__(
            self, "reasons", tuple(dict.fromkeys([*reasons, *unbounded]))
        )

    @property
    def is_private(self) -> bool:
        """Whether the costs are all that the fit tells."""
        return not self.reasons

    @property
    def exact(self) -> Fraction:
        """Pure epsilon, exactly."""
        return self._total(lambda item: Fraction(item.epsilon))

    @property
    def exact_rho(self) -> Fraction:
        """Cost in zCDP, exactly."""
        return self._total(lambda item: item.exact_rho)

    @property
    def epsilon(self) -> float:
        """Pure epsilon, rounded up; inf if not private."""
        return round_up(self.exact) if self.is_private else math.inf

    @property
    def rho(self) -> float:
        """Cost in zCDP, rounded up; inf if not private."""
        return round_up(self.exact_rho) if self.is_private else math.inf

    def epsilon_at(self, delta: float) -> float:
        """Return an epsilon that the fit has but for a probability delta.

        Parameters
        ----------
        delta : float
            At least 0, below 1.

        Returns
        -------
        float
            The smaller of pure `epsilon` and what `rho` gives.

        Examples
        --------
        >>> from mrforest.privacy import Sequential
        >>> draw = Item("label", "exponential", 0.1, bounded_range=True)
        >>> ledger = Ledger(Sequential([draw] * 100))
        >>> round(ledger.epsilon, 3), round(ledger.epsilon_at(1e-6), 3)
        (10.0, 2.419)
        """
        return min(self.epsilon, zcdp_to_epsilon(self.rho, delta))

    @property
    def replace_one(self) -> Ledger:
        """The same fit for neighbours that differ in what one row says.

        That is a row less and then a row more. So every epsilon doubles, a range too,
        and rho is fourfold. It holds of the whole, also if the row changes its part.
        """
        if self.neighbours == "replace-one":
            return self
        return replace(self, release=doubled(self.release), neighbours="replace-one")

    def _total(self, cost: Callable[[Item], Fraction]) -> Fraction:
        if not self.is_private:
            raise ValueError(f"the fit is not private: {'; '.join(self.reasons)}")
        return composed(self.release, cost)

    def to_json(self) -> str:
        """Return the ledger as text that `from_json` reads."""
        content = {
            "neighbours": self.neighbours,
            "delta": self.delta,
            "reasons": list(self.reasons),
            "release": to_plain(self.release),
        }
        return _files.to_json(SCHEMA, content)

    @classmethod
    def from_json(cls, text: str) -> Ledger:
        """Read what `to_json` wrote.

        Examples
        --------
        >>> ledger = Ledger(Item("counts", "geometric", 0.1))
        >>> Ledger.from_json(ledger.to_json()) == ledger
        True
        """
        content = _files.from_json(SCHEMA, text)
        try:
            # Nothing has a default here: reasons that got lost must not be none.
            release = from_plain(content.pop("release"))
            reasons, neighbours = content.pop("reasons"), content.pop("neighbours")
            delta = content.pop("delta")
            return cls(release, reasons, neighbours, delta, **content)
        except (TypeError, KeyError, ValueError) as error:
            raise ValueError(f"no {SCHEMA}: {error}") from error

    def __str__(self) -> str:
        rows = [HEADER, *self._rows()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        return "\n".join([*lines, *self._summary()])

    def _repr_html_(self) -> str:
        head, *body = (
            "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row) + "</tr>"
            for tag, row in [("th", HEADER), *(("td", row) for row in self._rows())]
        )
        summary = "<br>".join(map(escape, self._summary()))
        return (
            f"<table><thead>{head}</thead><tbody>{''.join(body)}</tbody></table>"
            f"<p>{summary}</p>"
        )

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                "-" if item.tree is None else str(item.tree),
                "-" if item.block is None else str(item.block),
                item.what,
                item.mechanism,
                repr(item.epsilon),
                ", ".join(path) or "-",
            )
            for item, path in islice(walk(self.release), MAX_LINES)
        ]

    def _summary(self) -> Iterator[str]:
        """Yield the lines below the table."""
        if len(self.items) > MAX_LINES:
            yield f"... and {len(self.items) - MAX_LINES} more"
        for reason in self.reasons:
            yield f"not private: {reason}"
        total = f"total: epsilon = {self.epsilon_at(self.delta)!r}"
        if self.delta:
            total += f", delta = {self.delta!r}"
        yield f"{total} for {self.neighbours} neighbours"


def split_budget(epsilon: float, shares: Sequence[float]) -> list[float]:
    """Divide a budget so that the parts, added exactly, do not exceed it.

    Parameters
    ----------
    epsilon : float
        At least 0, or inf.
    shares : sequence of float
        Finite, at least 0, not all 0: what the parts are proportional to.

    Returns
    -------
    list of float
        Each rounded down.

    Examples
    --------
    >>> parts = split_budget(1.0, [1, 1, 1])
    >>> parts
    [0.3333333333333333, 0.3333333333333333, 0.3333333333333333]
    """
    epsilon = as_cost("epsilon", epsilon)
    shares = [as_cost("shares", share) for share in shares]
    if math.inf in shares or not any(shares):
        raise ValueError(f"shares must be finite and not all 0; got {shares!r}")
    if epsilon == math.inf:
        return [math.inf if share else 0.0 for share in shares]
    unit = Fraction(epsilon) / exact_sum(shares)
    return [round_down(unit * Fraction(share)) for share in shares]
