# SPDX-License-Identifier: BSD-3-Clause
"""What the figures of the experiments share: colours, panels, names of the datasets."""

from __future__ import annotations

from collections.abc import Iterable

from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = [
    "BLACK",
    "BLUE",
    "GREEN",
    "GREY",
    "ORANGE",
    "PALE",
    "PAPER_NAMES",
    "PURPLE",
    "SIX",
    "SKY",
    "VERMILION",
    "YELLOW",
    "panels",
    "present",
]

# The palette of Okabe and Ito, which readers of all kinds of colour vision tell apart.
BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, YELLOW, BLACK = "#CC79A7", "#56B4E9", "#F0E442", "#000000"
GREY, PALE = "#8a8a8a", "#e4e4e4"

# The datasets of the paper's figures, in its order, and what it calls them.
PAPER_NAMES = {
    "echocardiogram": "Echo",
    "cmc": "CMC",
    "ads": "Ads",
    "wdbc": "WDBC",
    "car": "Car",
    "connect-4": "Connect-4",
}
SIX = tuple(PAPER_NAMES)


def panels(
    n_rows: int, n_columns: int, *, width: float, height: float, dpi: int = 150
) -> tuple[Figure, list[Axes]]:
    """Make a figure of panels.

    Parameters
    ----------
    n_rows, n_columns : int
        How many there are.
    width, height : float
        Of one panel, in inches.
    dpi : int, default=150
        Pixels of an inch.

    Returns
    -------
    figure : matplotlib.figure.Figure
        Not shown and not saved.
    axes : list of Axes
        The panels, row by row.
    """
    size = (width * n_columns, height * n_rows)
    figure = Figure(figsize=size, layout="constrained", dpi=dpi)
    found: list[Axes] = list(figure.subplots(n_rows, n_columns, squeeze=False).flat)
    for axes in found:
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_axisbelow(True)
    return figure, found


def present(names: Iterable[str], order: Iterable[str]) -> list[str]:
    """Return the distinct names, known ones in their order, others after them.

    Parameters
    ----------
    names : iterable of str
        What is there, such as a column of results.
    order : iterable of str
        In which order to show it.

    Returns
    -------
    list of str

    Examples
    --------
    >>> present(["new", "MRF", "MRF", "BRF"], order=["BRF", "CompRF-C", "MRF"])
    ['BRF', 'MRF', 'new']
    """
    found = set(names)
    known = [name for name in order if name in found]
    return known + sorted(found.difference(known))
