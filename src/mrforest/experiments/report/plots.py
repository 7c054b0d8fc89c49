# SPDX-License-Identifier: BSD-3-Clause
"""What the plots of the report share. Their theme is in ``page.js``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["COLOURS", "HEAT", "Style", "axis", "identity_line", "ordered", "style_of"]

# Distinct for all kinds of colour vision with the marker, and seen on white and on
# black: contrasts of at least three with both.
COLOURS = {
    "blue": "#2a7fd4",
    "orange": "#cc7400",
    "green": "#16936a",
    "red": "#d9453d",
    "purple": "#9a63c7",
    "cyan": "#1a8fa8",
    "brown": "#a3714b",
    "pink": "#cf5a9b",
    "grey": "#7d8794",
}
HEAT = "Viridis"

Style = tuple[str, str]

# Colour and marker of each forest, the same in all plots.
FORESTS: dict[str, Style] = {
    "MRF": (COLOURS["blue"], "circle"),
    "Breiman": (COLOURS["red"], "square"),
    "Denil14": (COLOURS["green"], "triangle-up"),
    "BRF": (COLOURS["purple"], "triangle-down"),
    "CompRF-C": (COLOURS["cyan"], "diamond"),
    "CompRF-I": (COLOURS["orange"], "cross"),
    "scikit-learn": (COLOURS["grey"], "x"),
    "completely random": (COLOURS["brown"], "star"),
    "DMRF-style": (COLOURS["pink"], "hexagon"),
    "ForestClassifier": (COLOURS["brown"], "pentagon"),
}
OTHER: Style = (COLOURS["grey"], "circle-open")


def style_of(forest: str) -> Style:
    """Return the colour and the marker of a forest."""
    return FORESTS.get(forest, OTHER)


def axis(title: str, **options: Any) -> dict[str, Any]:
    """Return an axis with a title."""
    return {"title": {"text": title}, **options}


def identity_line(low: float, high: float) -> dict[str, Any]:
    """Return the line on which both coordinates are the same."""
    return {
        "type": "line",
        "layer": "below",
        "x0": low,
        "y0": low,
        "x1": high,
        "y1": high,
    }


def ordered(names: Iterable[str], order: Iterable[str]) -> list[str]:
    """Return distinct names, known ones in their order, others after them.

    Examples
    --------
    >>> ordered(["new", "MRF", "MRF", "BRF"], ["BRF", "CompRF-C", "MRF"])
    ['BRF', 'MRF', 'new']
    """
    found = set(names)
    known = [name for name in order if name in found]
    return known + sorted(found.difference(known))
