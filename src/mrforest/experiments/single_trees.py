# SPDX-License-Identifier: BSD-3-Clause
"""Accuracy of single trees: those of the multinomial forest beside Breiman's.

Ten times ten folds with 100 trees each make 10,000 trees of each forest on a dataset,
as in the paper. A forest is gone before the next one is grown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from mrforest.experiments._folds import cut
from mrforest.experiments._panels import (
    BLUE,
    ORANGE,
    PAPER_NAMES,
    SIX,
    panels,
    present,
)
from mrforest.experiments.protocol import N_FOLDS, N_REPETITIONS, make_forest

__all__ = ["EXPERIMENT", "draw", "measure", "summary", "tasks"]

EXPERIMENT = "single_trees"

# Each with the leaf rule that fits what the paper prints.
FORESTS = {"MRF": "stop", "Breiman": "floor"}
COLOURS = {"MRF": BLUE, "Breiman": ORANGE}
N_TREES = 100
# The quick form: two folds of one shuffle, and fewer trees of large datasets
N_QUICK_FOLDS = 2
QUICK_TREES = {"ads": 50, "connect-4": 20}
# Bars of a histogram, at most
N_BARS = 45


def tasks(
    *, quick: bool = False, datasets: Sequence[str] = SIX
) -> list[dict[str, Any]]:
    """Return the settings of all that is to be measured.

    Parameters
    ----------
    quick : bool, default=False
        Whether some 200 trees of each forest do, instead of 10,000.
    datasets : sequence of str
        Names of datasets; default: the six of the paper's figure.

    Returns
    -------
    list of dict

    Examples
    --------
    >>> from mrforest.experiments import single_trees
    >>> len(single_trees.tasks(quick=True)), len(single_trees.tasks())
    (24, 1200)
    >>> sorted(single_trees.tasks()[0])
    ['dataset', 'fold', 'forest', 'n_trees', 'repetition']
    """
    return [
        {
            "dataset": dataset,
            "forest": forest,
            "n_trees": QUICK_TREES.get(dataset, N_TREES) if quick else N_TREES,
            "repetition": repetition,
            "fold": fold,
        }
        for dataset in datasets
        for forest in FORESTS
        for repetition in range(1 if quick else N_REPETITIONS)
        for fold in range(N_QUICK_FOLDS if quick else N_FOLDS)
    ]


def measure(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Grow one forest and let each of its trees answer by itself.

    Parameters
    ----------
    settings : mapping
        One of `tasks`.

    Returns
    -------
    dict
        In per cent: `tree_accuracies`, one a tree, and `forest_accuracy`; and the
        number of rows that were asked about, `n_test`.

    Examples
    --------
    >>> from mrforest.experiments import single_trees
    >>> found = single_trees.measure(single_trees.tasks(datasets=["wdbc"])[0])
    >>> len(found["tree_accuracies"]), found["n_test"], found["forest_accuracy"] > 90
    (100, 57, True)
    """
    fold = cut(settings["dataset"], settings["repetition"], settings["fold"])
    forest = make_forest(
        settings["forest"],
        FORESTS[settings["forest"]],
        n_estimators=settings["n_trees"],
        categorical_features=fold.is_categorical,
        random_state=N_FOLDS * settings["repetition"] + settings["fold"],
    )
    fold.fit(forest)
    return {
        "tree_accuracies": fold.tree_accuracies(forest).round(4).tolist(),
        "forest_accuracy": fold.accuracy(forest),
        "n_test": len(fold.y_test),
    }


# ---- what was found ------------------------------------------------------------------


def trees_of(frame: pd.DataFrame, dataset: str, forest: str) -> NDArray[np.float64]:
    """Return the accuracies of all trees of a forest on a dataset."""
    own = frame[(frame["dataset"] == dataset) & (frame["forest"] == forest)]
    return np.concatenate([np.asarray(some, float) for some in own["tree_accuracies"]])


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Tell means and spreads.

    Parameters
    ----------
    frame : DataFrame
        Settings and measures, one a row.

    Returns
    -------
    DataFrame
        One row for each dataset and forest: the number of trees, and in per cent the
        mean accuracy of a tree, its standard deviation, the 5th and the 95th
        percentile, and the mean accuracy of the forests that the trees made up.

    Examples
    --------
    >>> import pandas as pd
    >>> from mrforest.experiments import single_trees
    >>> wanted = single_trees.tasks(quick=True, datasets=["wdbc"])
    >>> frame = pd.DataFrame({**w, **single_trees.measure(w)} for w in wanted)
    >>> found = single_trees.summary(frame)
    >>> found[["forest", "n_trees"]].values.tolist()
    [['MRF', 200], ['Breiman', 200]]
    >>> print((found["forest_mean"] > found["tree_mean"]).all())
    True
    """
    rows = []
    for dataset in present(frame["dataset"], SIX):
        own = frame[frame["dataset"] == dataset]
        for forest in present(own["forest"], FORESTS):
            trees = trees_of(frame, dataset, forest)
            forests = own.loc[own["forest"] == forest, "forest_accuracy"]
            low, high = np.percentile(trees, [5, 95])
            rows.append(
                {
                    "dataset": dataset,
                    "forest": forest,
                    "n_trees": len(trees),
                    "tree_mean": float(trees.mean()),
                    "tree_deviation": float(trees.std(ddof=1)),
                    "tree_p5": float(low),
                    "tree_p95": float(high),
                    "forest_mean": float(forests.mean()),
                }
            )
    return pd.DataFrame(rows)


def draw(frame: pd.DataFrame) -> Figure:
    """Draw the distributions of both forests, one panel for each dataset.

    Parameters
    ----------
    frame : DataFrame
        Settings and measures, one a row.

    Returns
    -------
    matplotlib.figure.Figure
        Not shown and not saved.

    Examples
    --------
    >>> import pandas as pd
    >>> from mrforest.experiments import single_trees
    >>> wanted = single_trees.tasks(quick=True, datasets=["wdbc"])
    >>> frame = pd.DataFrame({**w, **single_trees.measure(w)} for w in wanted)
    >>> single_trees.draw(frame).axes[0].get_title()
    'WDBC'
    """
    names = present(frame["dataset"], SIX)
    n_columns = min(3, len(names))
    n_rows = -(-len(names) // n_columns)
    figure, axes = panels(n_rows, n_columns, width=4.8, height=3.6)
    for panel, name in zip(axes, names, strict=False):
        _draw_trees(panel, frame, name)
    for panel in axes[len(names) :]:
        panel.set_visible(False)
    for panel in axes[::n_columns]:
        panel.set_ylabel("share of the trees (%)")
    figure.suptitle(
        "Accuracy of single trees.  Broken lines: means.  Triangles: whole forests",
        fontweight="bold",
    )
    return figure


def _draw_trees(axes: Axes, frame: pd.DataFrame, dataset: str) -> None:
    """Draw both histograms over the same bars."""
    own = frame[frame["dataset"] == dataset]
    found = {
        forest: trees_of(frame, dataset, forest)
        for forest in present(own["forest"], FORESTS)
    }
    edges = bars(np.concatenate(list(found.values())), int(own["n_test"].min()))
    for forest, trees in found.items():
        colour = COLOURS.get(forest)
        share = np.full(len(trees), 100 / len(trees))
        axes.hist(trees, edges, weights=share, color=colour, alpha=0.35)
        axes.hist(
            trees, edges, weights=share, color=colour, histtype="step", linewidth=1.4,
            label=f"{forest}: {trees.mean():.1f} ± {trees.std(ddof=1):.1f}",
        )  # fmt: skip
        axes.axvline(trees.mean(), color=colour, linestyle="--", linewidth=1.4)
        whole = own.loc[own["forest"] == forest, "forest_accuracy"].mean()
        # The first is smaller and in front, so that both can be seen where they agree.
        axes.plot(
            whole, 0.03, "^", color=colour, markersize=8 if forest == "MRF" else 13,
            zorder=4 if forest == "MRF" else 3, markeredgecolor="white", clip_on=False,
            transform=axes.get_xaxis_transform(),
        )  # fmt: skip
    axes.set_ylim(0, 1.3 * axes.get_ylim()[1])  # room for the legend
    axes.set(title=PAPER_NAMES.get(dataset, dataset), xlabel="accuracy (%)")
    axes.legend(framealpha=0.9, edgecolor="none", fontsize=8, loc="upper left")


def bars(values: NDArray[np.float64], n_test: int) -> list[float]:
    """Return edges of bars, none of which falls between two possible accuracies.

    With few test rows only few accuracies are possible; a bar as wide as the distance
    of two of them holds one, or all would depend on where bars begin.
    """
    step = 100 / n_test
    low, high = values.min() - step / 2, values.max() + step / 2
    width = step * max(1, round((high - low) / step / N_BARS))
    n_bars = int(np.ceil((high - low) / width))
    return [float(low + width * i) for i in range(n_bars + 1)]
