# SPDX-License-Identifier: BSD-3-Clause
"""How forests pick a split, at the root of a real dataset: the paper's Figure 1.

What the multinomial forest does follows from the impurity decreases of the cuts, in
closed form. What the others do is counted: each splits the same node many times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.special import softmax

from mrforest.experiments._panels import (
    BLUE,
    GREEN,
    PURPLE,
    SKY,
    VERMILION,
    panels,
    present,
)
from mrforest.experiments.datasets import load
from mrforest.forests.bernoulli import BernoulliForestClassifier
from mrforest.forests.breiman import BreimanForestClassifier
from mrforest.forests.completely_random import CompletelyRandomForestClassifier
from mrforest.forests.denil import DenilForestClassifier
from mrforest.forests.multinomial import MultinomialForestClassifier
from mrforest.inspection import split_probabilities

__all__ = [
    "EXPERIMENT",
    "draw",
    "feature_probabilities",
    "measure",
    "normalised",
    "summary",
    "tasks",
]

EXPERIMENT = "split_probabilities"

DATASET = "wdbc"
FORESTS: dict[str, Callable[..., Any]] = {
    "Breiman": BreimanForestClassifier,
    "Denil14": DenilForestClassifier,
    "BRF": BernoulliForestClassifier,
    "MRF": MultinomialForestClassifier,
    "completely random": CompletelyRandomForestClassifier,
}
COLOURS = {
    "Breiman": VERMILION, "Denil14": GREEN, "BRF": PURPLE, "MRF": BLUE,
    "completely random": SKY,
}  # fmt: skip
MARKERS = {
    "Breiman": "s", "Denil14": "^", "BRF": "v", "MRF": "o", "completely random": "x",
}  # fmt: skip
N_DRAWS, N_QUICK_DRAWS = 100_000, 5_000
BUDGETS = (0.0, 2.0, 5.0, 10.0, 20.0)


def tasks(*, quick: bool = False, dataset: str = DATASET) -> list[dict[str, Any]]:
    """Return the settings of all that is to be measured.

    Parameters
    ----------
    quick : bool, default=False
        Whether 5,000 draws do, instead of 100,000.
    dataset : str, default="wdbc"
        Whose root is split.

    Returns
    -------
    list of dict

    Examples
    --------
    >>> from mrforest.experiments import split_probabilities
    >>> [task["forest"] for task in split_probabilities.tasks()]
    ['Breiman', 'Denil14', 'BRF', 'MRF', 'completely random']
    """
    n_draws = N_QUICK_DRAWS if quick else N_DRAWS
    return [
        {"dataset": dataset, "forest": forest, "n_draws": n_draws, "seed": 0}
        for forest in FORESTS
    ]


def measure(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Let a forest split the root again and again.

    Parameters
    ----------
    settings : mapping
        One of `tasks`.

    Returns
    -------
    dict
        `feature_names`; and of each cut its `feature` (a number), `threshold`, impurity
        `decrease`, and the `probability` with which it was picked.

    Examples
    --------
    >>> from mrforest.experiments import split_probabilities
    >>> found = split_probabilities.measure(split_probabilities.tasks(quick=True)[0])
    >>> round(sum(found["probability"]), 6)
    1.0
    """
    dataset = load(settings["dataset"])
    found = split_probabilities(
        FORESTS[settings["forest"]](),
        dataset.X,
        dataset.y,
        n_draws=settings["n_draws"],
        random_state=settings["seed"],
    )
    return {
        "feature_names": [str(name) for name in dataset.X.columns],
        "feature": found.feature.tolist(),
        "threshold": found.threshold.tolist(),
        "decrease": found.decrease.tolist(),
        "probability": found.probability.tolist(),
    }


# ---- what follows from the decreases -------------------------------------------------


def normalised(decreases: NDArray[np.float64]) -> NDArray[np.float64]:
    """Stretch decreases to [0, 1]; equal ones become 0.

    Examples
    --------
    >>> normalised(np.array([0.1, 0.2, 0.5]))
    array([0.  , 0.25, 1.  ])
    """
    spread = np.ptp(decreases)
    stretched: NDArray[np.float64] = decreases - decreases.min()
    return stretched / spread if spread > 0 else stretched


def drawn_with(decreases: NDArray[np.float64], budget: float) -> NDArray[np.float64]:
    """Return the probabilities with which the multinomial forest draws."""
    return np.asarray(softmax(budget / 2 * normalised(decreases)))


def best_decreases(cuts: pd.DataFrame) -> pd.Series:
    """Return the largest decrease of each feature, descending."""
    return cuts.groupby("feature")["decrease"].max().sort_values(ascending=False)


def feature_probabilities(cuts: pd.DataFrame, budget: float) -> pd.Series:
    """Return the probability of each feature, given B1.

    Parameters
    ----------
    cuts : DataFrame
        `feature` and `decrease` of each cut.
    budget : float
        B1 of the paper.

    Returns
    -------
    Series
        By number of the feature, the best first.

    Examples
    --------
    >>> import pandas as pd
    >>> from mrforest.experiments.split_probabilities import feature_probabilities
    >>> cuts = pd.DataFrame({"feature": [0, 0, 1], "decrease": [0.1, 0.3, 0.2]})
    >>> feature_probabilities(cuts, budget=2.0).round(3).to_dict()
    {0: 0.731, 1: 0.269}
    >>> feature_probabilities(cuts, budget=0.0).to_dict()
    {0: 0.5, 1: 0.5}
    """
    best = best_decreases(cuts)
    return pd.Series(drawn_with(best.to_numpy(), budget), index=best.index)


def cuts_of(row: pd.Series) -> pd.DataFrame:
    """Lay out one measurement, one cut a row."""
    names = ["feature", "threshold", "decrease", "probability"]
    return pd.DataFrame({name: row[name] for name in names})


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Tell how much each forest keeps to the best.

    Parameters
    ----------
    frame : DataFrame
        Settings and measures, one a row.

    Returns
    -------
    DataFrame
        One row for each forest: the probability of the best cut of all, of the best
        feature, the expected impurity decrease as a share of the largest, and the
        number of cuts that a uniform draw of the same entropy would have
        (`effective_cuts`).

    Examples
    --------
    >>> import pandas as pd
    >>> from mrforest.experiments import split_probabilities
    >>> wanted = split_probabilities.tasks(quick=True)[-2:]
    >>> frame = pd.DataFrame({**w, **split_probabilities.measure(w)} for w in wanted)
    >>> cuts = split_probabilities.summary(frame).set_index("forest")["effective_cuts"]
    >>> print(cuts["completely random"] > cuts["MRF"])
    True
    """
    rows = []
    for name in present(frame["forest"], FORESTS):
        cuts = cuts_of(frame[frame["forest"] == name].iloc[0])
        probability = cuts["probability"].to_numpy()
        positive = probability[probability > 0]
        best_feature = best_decreases(cuts).index[0]
        rows.append(
            {
                "forest": name,
                "best_cut": float(probability[cuts["decrease"].argmax()]),
                "best_feature": float(
                    probability[cuts["feature"] == best_feature].sum()
                ),
                "expected_decrease": float(
                    probability @ cuts["decrease"] / cuts["decrease"].max()
                ),
                "effective_cuts": float(np.exp(-(positive @ np.log(positive)))),
            }
        )
    return pd.DataFrame(rows)


# ---- the figure ----------------------------------------------------------------------


def draw(frame: pd.DataFrame) -> Figure:
    """Draw probabilities of features and of the cuts of the best one.

    Parameters
    ----------
    frame : DataFrame
        Settings and measures, one a row.

    Returns
    -------
    matplotlib.figure.Figure
        Not shown and not saved. Above the multinomial forest for several budgets, below
        all forests; features to the left, cuts to the right.

    Examples
    --------
    >>> import pandas as pd
    >>> from mrforest.experiments import split_probabilities
    >>> wanted = split_probabilities.tasks(quick=True)[-2:]
    >>> frame = pd.DataFrame({**w, **split_probabilities.measure(w)} for w in wanted)
    >>> split_probabilities.draw(frame).axes[2].get_title()
    'All forests: which feature?'
    """
    rows = {
        name: frame[frame["forest"] == name].iloc[0]
        for name in present(frame["forest"], FORESTS)
    }
    tables = {name: cuts_of(row) for name, row in rows.items()}
    first = next(iter(rows.values()))
    cuts = next(iter(tables.values()))
    order = best_decreases(cuts).index
    names = [first["feature_names"][feature] for feature in order]
    figure, axes = panels(2, 2, width=7.6, height=4.6)
    shades = ["#a6cfe8", "#6baed6", "#4292c6", "#2171b5", "#08306b"]

    for budget, shade in zip(BUDGETS, shades, strict=True):
        chance = feature_probabilities(cuts, budget)
        axes[0].plot(chance.to_numpy(), "o-", color=shade, label=f"B1 = {budget:g}",
                     markersize=4)  # fmt: skip
    for name, table in tables.items():
        chance = table.groupby("feature")["probability"].sum().reindex(order)
        axes[2].plot(chance.to_numpy(), "o-", color=COLOURS[name], label=name,
                     markersize=4)  # fmt: skip
    for panel in (axes[0], axes[2]):
        decrease = best_decreases(cuts).to_numpy()
        _shade_decreases(panel, np.arange(len(order)), decrease)
        _name_features(panel, names)

    own = (cuts["feature"] == order[0]).to_numpy()
    place = cuts.loc[own, "threshold"].to_numpy()
    decrease = cuts.loc[own, "decrease"].to_numpy()
    for budget, shade in zip(BUDGETS, shades, strict=True):
        axes[1].plot(place, drawn_with(decrease, budget), color=shade,
                     label=f"B2 = {budget:g}")  # fmt: skip
    for name, table in tables.items():
        chance = table.loc[own, "probability"].to_numpy()
        if chance.sum() > 0:
            _draw_cuts(axes[3], place, chance / chance.sum(), name)
    for panel in (axes[1], axes[3]):
        _shade_decreases(panel, place, decrease)
        panel.set(xlabel=f"cut of {names[0]}", ylabel="probability, given the feature")

    axes[0].set_title("Multinomial forest: which feature?")
    axes[1].set_title(f"Multinomial forest: which cut of {names[0]}?")
    axes[2].set_title("All forests: which feature?")
    axes[3].set_title(f"All forests: which cut of {names[0]}?")
    for panel in axes:
        if panel.get_yscale() == "linear":
            panel.set_ylim(bottom=0)
        panel.legend(framealpha=0.9, edgecolor="none", fontsize=8, loc="upper right")
    figure.suptitle(
        f"How forests split the root of {first['dataset']}.  "
        "Grey: impurity decrease, on its own scale",
        fontweight="bold",
    )
    return figure


def _shade_decreases(
    axes: Axes, place: NDArray[Any], decrease: NDArray[np.float64]
) -> None:
    """Put the decreases behind the probabilities, as shares of the panel's height."""
    axes.fill_between(
        place, 0.98 * decrease / decrease.max(), color="0.9", zorder=0, linewidth=0,
        transform=axes.get_xaxis_transform(),
    )  # fmt: skip
    axes.margins(x=0.01)


def _draw_cuts(
    axes: Axes, place: NDArray[Any], chance: NDArray[np.float64], name: str
) -> None:
    """Draw probabilities that are there, be it a thousand cuts or one."""
    picked = chance > 0
    axes.plot(
        place[picked], chance[picked], MARKERS[name], color=COLOURS[name], label=name,
        linestyle="none", markersize=9 if picked.sum() < 5 else 4, alpha=0.8,
    )  # fmt: skip
    axes.set_yscale("log")


def _name_features(axes: Axes, names: list[str]) -> None:
    axes.set_xticks(range(len(names)), names, rotation=90, fontsize=7)
    axes.set(ylabel="probability of the feature")
