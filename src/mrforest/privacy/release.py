# SPDX-License-Identifier: BSD-3-Clause
"""Releases: what a private fit tells of its rows, one output or several put together.

An `Item` is one output of a mechanism; `Sequential` and `Parallel` put releases
together. Costs are composed exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from numbers import Integral
from typing import Any, TypeAlias

from mrforest.privacy._files import plain, unplain
from mrforest.privacy._floats import as_cost


@dataclass(frozen=True)
class Item:
    """One output of a differentially private mechanism.

    Attributes
    ----------
    what : str
        What it tells, such as "splits and labels".
    mechanism : str
        Such as "exponential", "geometric" or "permute-and-flip".
    epsilon : float
        Its cost if a row comes or goes; inf if it is not private.
    tree, block : int or None
        Where it belongs.
    bounded_range : bool, default=False
        Whether the mechanism also has range epsilon: over all outputs, the logarithm
        of how much likelier a row makes them varies by epsilon at most. The exponential
        mechanism has, and its rho is then epsilon²/8, a quarter of that of others [1]_.
        It may also be said of an item that stands for several such draws whose costs
        add to epsilon, for their rho is smaller still.

    Examples
    --------
    >>> from mrforest.privacy import Item
    >>> item = Item("labels", "permute-and-flip", 0.5)
    >>> item.epsilon, float(item.exact_rho)
    (0.5, 0.125)

    References
    ----------
    .. [1] Cesar and Rogers, "Bounding, Concentrating, and Truncating: Unifying Privacy
       Loss Composition for Data Analytics", ALT 2021.
    """

    what: str
    mechanism: str
    epsilon: float
    tree: int | None = None
    block: int | None = None
    bounded_range: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", as_cost("epsilon", self.epsilon))
        for name in ("what", "mechanism"):
            self._check(name, str, "a str")
        for name in ("tree", "block"):
            if getattr(self, name) is not None:
                self._check(name, Integral, "an int or None")
                object.__setattr__(self, name, int(getattr(self, name)))
        self._check("bounded_range", bool, "a bool")
        if self.bounded_range and self.mechanism != "exponential":
            raise ValueError(
                "bounded_range=True is known of mechanism='exponential' only; got "
                f"mechanism={self.mechanism!r}"
            )

    def _check(self, name: str, kind: type, wish: str) -> None:
        value = getattr(self, name)
        if not isinstance(value, kind):
            raise ValueError(f"{name} must be {wish}; got {value!r}")

    @property
    def exact_rho(self) -> Fraction:
        """Cost in zCDP: epsilon²/8 if of bounded range, else epsilon²/2."""
        return Fraction(self.epsilon) ** 2 / (8 if self.bounded_range else 2)


@dataclass(frozen=True)
class Sequential:
    """Releases that look at the same rows: costs add up.

    Attributes
    ----------
    parts : tuple of releases
    over : str
        What the parts are, such as "blocks".

    Examples
    --------
    >>> from mrforest.privacy import Item, Ledger, Sequential
    >>> items = Item("rows", "geometric", 0.25), Item("splits", "exponential", 0.5)
    >>> Ledger(Sequential(items)).epsilon_at(0.0)
    0.75
    """

    parts: tuple[Release, ...]
    over: str = ""

    def __post_init__(self) -> None:
        _check_parts(self)


@dataclass(frozen=True)
class Parallel:
    """Releases that look at different rows: the dearest is what all cost.

    Which part a row belongs to must depend on that row and on chance, not on other
    rows.

    Attributes
    ----------
    parts : tuple of releases
    over : str
        What the parts are, such as "trees".

    Examples
    --------
    >>> from mrforest.privacy import Item, Ledger, Parallel
    >>> items = [Item("labels", "permute-and-flip", epsilon) for epsilon in (0.25, 0.5)]
    >>> Ledger(Parallel(items, over="regions")).epsilon_at(0.0)
    0.5
    """

    parts: tuple[Release, ...]
    over: str = ""

    def __post_init__(self) -> None:
        _check_parts(self)


Release: TypeAlias = Item | Sequential | Parallel


def _check_parts(release: Sequential | Parallel) -> None:
    object.__setattr__(release, "parts", tuple(release.parts))
    for part in release.parts:
        check_release("parts", part)
    if not isinstance(release.over, str):
        raise ValueError(f"over must be a str; got {release.over!r}")


def check_release(name: str, release: object) -> None:
    """Refuse what is no release."""
    if not isinstance(release, Item | Sequential | Parallel):
        raise ValueError(
            f"{name} must be Item, Sequential or Parallel; got {release!r}"
        )


def composed(release: Release, cost: Callable[[Item], Fraction]) -> Fraction:
    """Add up costs of what is sequential, take the largest of what is parallel."""
    match release:
        case Item():
            return cost(release)
        case Sequential(parts):
            return sum((composed(part, cost) for part in parts), Fraction())
        case Parallel(parts):
            return max((composed(part, cost) for part in parts), default=Fraction())


def walk(
    release: Release, path: tuple[str, ...] = ()
) -> Iterator[tuple[Item, tuple[str, ...]]]:
    """Go through the items; say of each in what it stands, from the outside."""
    if isinstance(release, Item):
        yield release, path
    else:
        how = type(release).__name__.lower()
        how += f" over {release.over}" if release.over else ""
        for part in release.parts:
            yield from walk(part, (*path, how))


def doubled(release: Release) -> Release:
    """Return the release with twice the epsilon everywhere."""
    if isinstance(release, Item):
        return replace(release, epsilon=2 * release.epsilon)
    return replace(release, parts=tuple(map(doubled, release.parts)))


def to_plain(release: Release) -> dict[str, Any]:
    """Return the release as JSON has it."""
    if isinstance(release, Item):
        return asdict(release) | {"epsilon": plain(release.epsilon)}
    how = type(release).__name__.lower()
    return {how: [to_plain(part) for part in release.parts], "over": release.over}


def from_plain(content: dict[str, Any]) -> Release:
    """Undo `to_plain`."""
    for how, kind in (("sequential", Sequential), ("parallel", Parallel)):
        if how in content:
            parts = tuple(map(from_plain, content[how]))
            return kind(parts, **{k: v for k, v in content.items() if k != how})
    return Item(**content | {"epsilon": unplain(content["epsilon"])})
