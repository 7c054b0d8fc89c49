# SPDX-License-Identifier: BSD-3-Clause
"""A budget of privacy that several fits share, also across threads and processes."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from mrforest._files import whole_file
from mrforest.privacy import _files
from mrforest.privacy._floats import (
    as_cost,
    as_delta,
    exact_sum,
    largest,
    round_down,
    round_up,
    sum_up,
)
from mrforest.privacy.conversion import zcdp_to_epsilon
from mrforest.privacy.ledger import Ledger

SCHEMA = "mrforest privacy accountant"

# Of the whole process: a fit in another thread, such as joblib's, is charged, too.
_entered: list[Accountant] = []


class BudgetExceeded(ValueError):  # noqa: N818 (it says what happened)
    """A charge would take more than the budget has left.

    Examples
    --------
    >>> from mrforest.privacy import Accountant, BudgetExceeded, Cost
    >>> try:
    ...     Accountant(epsilon=1.0).charge(Cost(1.5), what="a fit")
    ... except BudgetExceeded as error:
    ...     print("nothing was charged")
    nothing was charged
    """


@dataclass(frozen=True)
class Cost:
    """What one mechanism costs if a row comes or goes.

    Attributes
    ----------
    epsilon : float
        inf if it is known by `rho` only.
    delta : float, default=0.0
        Probability that neither `epsilon` nor `rho` holds.
    rho : float or None, default=None
        Its zCDP, if more is known than that it is epsilon²/2 at most.

    Examples
    --------
    >>> Cost(1.0).zcdp
    0.5
    """

    epsilon: float
    delta: float = 0.0
    rho: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", as_cost("epsilon", self.epsilon))
        object.__setattr__(self, "delta", as_delta("delta", self.delta))
        if self.rho is not None:
            object.__setattr__(self, "rho", as_cost("rho", self.rho))

    @cached_property
    def zcdp(self) -> float:
        """`rho`, or what `epsilon` says of it; rounded up.

        Examples
        --------
        >>> Cost(0.5).zcdp
        0.125
        """
        if self.rho is not None:
            return self.rho
        if self.epsilon == math.inf:
            return math.inf
        return round_up(Fraction(self.epsilon) ** 2 / 2)


@dataclass(frozen=True, kw_only=True)
class Charge(Cost):
    """A cost that was taken from a budget.

    Attributes
    ----------
    epsilon, delta, rho : float
        See `Cost`.
    what : str
        What it was for.
    when : str
        Time in UTC, as ISO 8601 writes it.

    Examples
    --------
    >>> from mrforest.privacy import Accountant, Cost
    >>> accountant = Accountant(epsilon=2.0)
    >>> _ = accountant.charge(Cost(0.5), what="number of rows")
    >>> [(charge.what, charge.epsilon) for charge in accountant.charges]
    [('number of rows', 0.5)]
    """

    what: str
    when: str

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("what", "when"):
            if not isinstance(getattr(self, name), str):
                raise ValueError(f"{name} must be a str; got {getattr(self, name)!r}")


class Accountant:
    """A budget that is never overspent and never refunded.

    A charge is written down before anything is told; it stays if the fit dies later.
    Costs are those of a row that comes or goes. They are added exactly; with a
    `delta`, they are also composed in zCDP, and the smaller total counts. If later
    costs are chosen in the light of earlier results, let them have no delta of their
    own: then the budget still holds.

    Parameters
    ----------
    epsilon : float
        The budget.
    delta : float, default=0.0
        Probability that epsilon may fail with, own deltas of charges included.
    path : path-like or None, default=None
        A file to keep the charges in, that many processes can share. A new one is
        begun; one that is there must have the same budget. A lock file stands beside
        it.

    Examples
    --------
    >>> accountant = Accountant(1.0)
    >>> _ = accountant.charge(0.75, "a first forest")
    >>> accountant
    Accountant(epsilon=1.0, delta=0.0): spent 0.75, remaining 0.25
    >>> accountant.charge(0.5, "a second forest")
    Traceback (most recent call last):
    ...
    mrforest.privacy.accountant.BudgetExceeded: 'a second forest' costs epsilon=0.5 \
and the budget of epsilon=1.0, delta=0.0 has 0.25 left

    In a block it is the default of all threads of this process, though not of other
    processes, such as those of joblib's backend loky: give them the accountant itself,
    with a path.

    >>> with accountant:
    ...     Accountant.current() is accountant
    True
    """

    def __init__(
        self,
        epsilon: float,
        delta: float = 0.0,
        *,
        path: str | os.PathLike[str] | None = None,
    ) -> None:
        self._epsilon = as_cost("epsilon", epsilon)
        self._delta = as_delta("delta", delta)
        # One file has one lock, by whatever name or from whatever folder it is reached.
        self._path = None if path is None else Path(path).resolve()
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._charges: tuple[Charge, ...] = ()
        if self._path is not None:
            with _files.locked(self._path):
                if self._path.exists():
                    self._read(self._path)
                else:
                    self._keep(())

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Accountant:
        """Go on with the budget of a file.

        Parameters
        ----------
        path : path-like

        Returns
        -------
        Accountant
        """
        file = Path(path).resolve()
        if not file.exists():
            raise FileNotFoundError(f"there is no accountant's file {str(file)!r}")
        with _files.locked(file):
            epsilon, delta, _ = _from_json(file)
        return cls(epsilon, delta, path=file)

    @staticmethod
    def current() -> Accountant | None:
        """Return the accountant of the innermost ``with`` block, of any thread."""
        return _entered[-1] if _entered else None

    @property
    def epsilon(self) -> float:
        """The budget."""
        return self._epsilon

    @property
    def delta(self) -> float:
        """The probability that epsilon may fail with."""
        return self._delta

    @property
    def path(self) -> Path | None:
        """The file, if any."""
        return self._path

    @property
    def charges(self) -> tuple[Charge, ...]:
        """All charges, oldest first."""
        with self._held() as charges:
            return charges

    @property
    def spent(self) -> float:
        """What all charges cost together, at `delta`; rounded up."""
        return composed(self.charges, self.delta)

    @property
    def remaining(self) -> float:
        """The largest pure epsilon that can still be charged."""
        charges = self.charges
        return largest(
            lambda rest: composed([*charges, Cost(rest)], self.delta) <= self.epsilon
        )

    def charge(self, cost: Ledger | Cost | float, what: str) -> Charge:
        """Take a cost from the budget, or refuse and leave everything as it is.

        Parameters
        ----------
        cost : Ledger, Cost or float
            A number is a pure epsilon.
        what : str
            What it is for.

        Returns
        -------
        Charge

        Raises
        ------
        BudgetExceeded
            If the budget has not so much left.
        """
        charge = Charge(
            **asdict(_cost_of(cost)), what=what, when=datetime.now(UTC).isoformat()
        )
        with self._held() as charges:
            if composed([*charges, charge], self.delta) <= self.epsilon:
                self._keep((*charges, charge))
                return charge
        raise self._refusal(cost, what)

    def check(self, cost: Ledger | Cost | float, what: str) -> None:
        """Refuse a cost that the budget has not left, without charging it.

        Parameters
        ----------
        cost, what
            As in `charge`.

        Raises
        ------
        BudgetExceeded
            If the budget has not so much left now.
        """
        if composed([*self.charges, _cost_of(cost)], self.delta) > self.epsilon:
            raise self._refusal(cost, what)

    def _refusal(self, cost: Ledger | Cost | float, what: str) -> BudgetExceeded:
        price = _cost_of(cost)
        reasons = cost.reasons if isinstance(cost, Ledger) else ()
        told = "".join(f" (not private: {reason})" for reason in reasons)
        if price.delta:
            told += f", delta={price.delta!r}"
        if price.rho is not None:
            told += f", rho={price.rho!r} in zCDP"
        return BudgetExceeded(
            f"{what!r} costs epsilon={price.epsilon!r}{told} and the budget of "
            f"epsilon={self.epsilon!r}, delta={self.delta!r} has {self.remaining!r} "
            "left"
        )

    @contextmanager
    def _held(self) -> Iterator[tuple[Charge, ...]]:
        """Read the charges so far and let nobody else change them meanwhile."""
        if self._path is not None:
            with _files.locked(self._path):
                yield self._read(self._path)
        elif os.getpid() != self._process:
            raise RuntimeError(
                "an accountant without a path cannot be used in another process than "
                "its own, where the same budget would be spent again; give path="
            )
        else:
            with self._lock:
                yield self._charges

    def _read(self, path: Path) -> tuple[Charge, ...]:
        epsilon, delta, charges = _from_json(path)
        if (epsilon, delta) != (self.epsilon, self.delta):
            raise ValueError(
                f"the file {str(path)!r} has the budget epsilon={epsilon!r}, "
                f"delta={delta!r}; got epsilon={self.epsilon!r}, delta={self.delta!r}"
            )
        return charges

    def _keep(self, charges: tuple[Charge, ...]) -> None:
        if self._path is None:
            self._charges = charges
            return
        content = {
            "epsilon": _files.plain(self.epsilon),
            "delta": self.delta,
            "charges": [
                {
                    key: _files.plain(value) if isinstance(value, float) else value
                    for key, value in asdict(charge).items()
                }
                for charge in charges
            ],
        }
        with whole_file(self._path) as unfinished:
            unfinished.write_text(_files.to_json(SCHEMA, content), encoding="utf-8")

    def __enter__(self) -> Accountant:
        _entered.append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        # The last one of this accountant: blocks of other threads may end in any order.
        del _entered[len(_entered) - 1 - _entered[::-1].index(self)]

    def __repr__(self) -> str:
        path = "" if self._path is None else f", path={str(self._path)!r}"
        name = f"Accountant(epsilon={self.epsilon!r}, delta={self.delta!r}{path})"
        try:
            return f"{name}: spent {self.spent!r}, remaining {self.remaining!r}"
        except (OSError, RuntimeError, ValueError):
            return f"{name}: its charges cannot be read"

    def __copy__(self) -> Accountant:
        return self

    def __deepcopy__(self, memo: object) -> Accountant:
        # A clone of an estimator spends from the budget of the original.
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if self._path is None:
            raise TypeError(
                "an accountant without a path cannot be pickled: its copy would spend "
                "the same budget again; give path="
            )
        return Accountant.open, (str(self._path),)


def composed(costs: Sequence[Cost], delta: float) -> float:
    """Return an epsilon that costs have together but for a probability delta.

    A mechanism of (epsilon, delta) has zCDP epsilon²/2 but for a probability delta, so
    all costs can be composed in zCDP [1]_. Costs that are chosen as one goes are fine
    if none has a delta of its own: an outcome whose epsilons add up to no more than
    the total is at most e^epsilon times likelier with a row than without; to all
    other outcomes the composition in zCDP applies, which allows such choices [2]_.

    References
    ----------
    .. [1] Bun and Steinke, "Concentrated Differential Privacy: Simplifications,
       Extensions, and Lower Bounds", TCC 2016.
    .. [2] Feldman and Zrnic, "Individual Privacy Accounting via a Rényi Filter",
       NeurIPS 2021.
    """
    left = Fraction(delta) - exact_sum(cost.delta for cost in costs)
    if left < 0:
        return math.inf
    basic = sum_up(cost.epsilon for cost in costs)
    if left == 0:
        return basic
    rho = sum_up(cost.zcdp for cost in costs)
    return min(basic, zcdp_to_epsilon(rho, round_down(left)))


def _cost_of(cost: Ledger | Cost | float) -> Cost:
    if isinstance(cost, Cost):
        return Cost(cost.epsilon, cost.delta, cost.rho)
    if not isinstance(cost, Ledger):
        return Cost(as_cost("cost", cost))
    if cost.neighbours != "add-remove":
        raise ValueError(
            "cost must be a ledger of add-remove neighbours, which are those of the "
            f"budget; got neighbours={cost.neighbours!r}"
        )
    return Cost(cost.epsilon, rho=cost.rho)


def _from_json(path: Path) -> tuple[float, float, tuple[Charge, ...]]:
    """Read budget and charges of a file whose lock is held."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"the accountant's file {str(path)!r} is gone; what was spent is not known"
        ) from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{str(path)!r} is no {SCHEMA}: {error}") from error
    try:
        content = _files.from_json(SCHEMA, text)
        charges = tuple(
            Charge(**{key: _files.unplain(value) for key, value in charge.items()})
            for charge in content.pop("charges")
        )
        budget = as_cost("epsilon", _files.unplain(content.pop("epsilon")))
        delta = as_delta("delta", content.pop("delta"))
        if content:
            raise ValueError(f"unknown keys {sorted(content)}")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{str(path)!r} cannot be read: {error}") from error
    return budget, delta, charges
