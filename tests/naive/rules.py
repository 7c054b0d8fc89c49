# SPDX-License-Identifier: BSD-3-Clause
"""The rules by which a node draws its split (docs/algorithm.md, the table of §5).

A rule is asked twice. `plan` is asked once a node: how many features are looked at, and
with which budgets the feature and then the cut are drawn. `positions` is asked once for
each feature that is looked at: the points whose codes bound the range of its cuts.
Whatever a rule draws for its answer are the next uniform numbers of the node's stream.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

INF = math.inf


class Uniform(Protocol):
    """Anything that gives uniform numbers one after the other."""

    def uniform(self) -> float:
        """Return the next number of [0, 1)."""


@dataclass(frozen=True)
class Plan:
    """What a rule has settled for one node.

    A budget of 0 draws evenly, an infinite one takes the best.
    """

    how_many: int
    feature_budget: float
    split_budget: float


class Rule(ABC):
    """What all rules have in common: no range, unless a rule says otherwise."""

    @abstractmethod
    def plan(self, n_features: int, stream: Uniform) -> Plan:
        """Return how many of the features are looked at, and the two budgets."""

    def positions(self, n_points: int, stream: Uniform) -> list[int] | None:
        """Return the structure points that bound a range, None if all cuts are kept."""
        return None


@dataclass(frozen=True)
class Multinomial(Rule):
    """All features, or some; feature and cut are drawn with a budget each."""

    feature_budget: float = 10.0
    split_budget: float = 10.0
    n_features: int = 0

    def plan(self, n_features: int, stream: Uniform) -> Plan:
        """Return all features, or a fixed number of them; nothing is drawn."""
        how_many = min(self.n_features or n_features, n_features)
        return Plan(how_many, self.feature_budget, self.split_budget)


@dataclass(frozen=True)
class Greedy(Rule):
    """The best cut of some features."""

    n_features: int

    def plan(self, n_features: int, stream: Uniform) -> Plan:
        """Return a fixed number of features; nothing is drawn."""
        return Plan(min(self.n_features, n_features), INF, INF)


@dataclass(frozen=True)
class Denil(Rule):
    """The best cut of 1 + Poisson features, in a range given by a few points."""

    mean: float
    n_points: int

    def plan(self, n_features: int, stream: Uniform) -> Plan:
        """Return a random number of features, by one uniform number."""
        further = poisson_number(self.mean, n_features, stream.uniform())
        return Plan(min(1 + further, n_features), INF, INF)

    def positions(self, n_points: int, stream: Uniform) -> list[int] | None:
        """Return the positions that bound a range; None if there are few points."""
        if n_points <= self.n_points:
            return None
        return different_positions(n_points, self.n_points, stream)


@dataclass(frozen=True)
class Bernoulli(Rule):
    """One feature or several by a first coin, a random or the best cut by a second."""

    n_features: int
    p1: float
    p2: float

    def plan(self, n_features: int, stream: Uniform) -> Plan:
        """Return what the two coins say, by two uniform numbers."""
        is_single = stream.uniform() < self.p1
        is_random = stream.uniform() < self.p2
        how_many = 1 if is_single else min(self.n_features, n_features)
        budget = 0.0 if is_random else INF
        return Plan(how_many, budget, budget)


@dataclass(frozen=True)
class DataDriven(Rule):
    """Some features; a coin says whether budgets draw the split or the best wins."""

    n_features: int
    p: float
    feature_budget: float
    split_budget: float

    def plan(self, n_features: int, stream: Uniform) -> Plan:
        """Return what the coin says, by one uniform number."""
        is_drawn = stream.uniform() < self.p
        how_many = min(self.n_features, n_features)
        if is_drawn:
            return Plan(how_many, self.feature_budget, self.split_budget)
        return Plan(how_many, INF, INF)


@dataclass(frozen=True)
class Random(Rule):
    """One feature and one of its cuts, all equally likely."""

    def plan(self, n_features: int, stream: Uniform) -> Plan:
        """Return one feature; nothing is drawn."""
        return Plan(1, 0.0, 0.0)


def poisson_number(mean: float, at_most: int, u: float) -> int:
    """Return the Poisson number of u by inversion, stopped at `at_most`."""
    term = math.exp(-mean)
    cumulative = term
    number = 0
    while u >= cumulative and number < at_most:
        number += 1
        term = term * mean / number
        cumulative = cumulative + term
    return number


def different_positions(n: int, how_many: int, stream: Uniform) -> list[int]:
    """Return different numbers of 0 … n - 1 by Floyd's algorithm, as they came."""
    taken: list[int] = []
    for j in range(n - how_many, n):
        t = math.floor(stream.uniform() * (j + 1))
        taken.append(j if t in taken else t)
    return taken


def draw_next_feature(order: list[int], i: int, stream: Uniform) -> int:
    """Swap one of the features from place i on into place i, and return it."""
    j = i + math.floor(stream.uniform() * (len(order) - i))
    order[i], order[j] = order[j], order[i]
    return order[i]
