# SPDX-License-Identifier: BSD-3-Clause
"""A picture of how a forest tuned itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mrforest._optional import needed
from mrforest.forests.self_tuning import SelfTuningForest
from mrforest.forests.tuning import Trial

# Losses that differ by such a factor are drawn on a logarithmic axis.
WIDE = 4


def plot_tuning(forest: Any, *, ax: Any = None) -> Any:
    """Draw what a forest tried, and what it chose.

    Parameters
    ----------
    forest : ForestClassifier or ForestRegressor
        Fitted, with at least one parameter that it chose by itself.
    ax : matplotlib.axes.Axes, default=None
        Where to draw. None: in a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
        A line for each `Trial` of `tuning_`: the estimated loss against the size of
        leaves. A point marks its best leaf size. The line of the chosen setting is
        thick. In classification, settings are compared after sharpening:
        a diamond below the point shows the loss then.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mrforest import ForestClassifier
    >>> from mrforest.inspection import plot_tuning
    >>> X, y = load_wine(return_X_y=True)
    >>> figure = plot_tuning(ForestClassifier(random_state=0).fit(X, y))
    >>> figure.axes[0].get_ylabel()
    'estimated Brier score'
    """
    figures = needed("matplotlib.figure", by="plot_tuning")
    check_is_tuned(forest)
    trials: list[Trial] = forest.tuning_
    if ax is None:
        ax = figures.Figure(figsize=(6.4, 4.2), layout="constrained").subplots()
    is_classifier = hasattr(forest, "classes_")
    labels = words_of(trials, forest.n_features_in_)
    for i, (trial, label) in enumerate(zip(trials, labels, strict=True)):
        draw_trial(
            ax,
            trial,
            label,
            colour=f"C{i}",
            is_chosen=is_choice(forest, trial),
            is_sharpened=is_classifier,
        )
    ax.plot([], [], "o", color="0.4", markersize=5, label="best leaf size")
    if is_classifier:
        ax.plot([], [], "D", color="0.4", markersize=5, label="the same, sharpened")
    finish_axes(ax, trials)
    what = "Brier score" if is_classifier else "squared error / variance of the target"
    ax.set_ylabel(f"estimated {what}")
    return ax.get_figure()


def check_is_tuned(forest: Any) -> None:
    """Complain about a forest that has tried nothing."""
    if not isinstance(forest, SelfTuningForest):
        raise TypeError(
            "forest must be a fitted ForestClassifier or ForestRegressor, which tune "
            f"themselves, not {type(forest).__name__}"
        )
    check_is_fitted(forest)
    if not forest.tuning_:
        raise ValueError(
            "forest has tried nothing, as there was nothing to choose: leave at least "
            'one of its parameters "auto", such as min_samples_split or max_features'
        )


def is_choice(forest: Any, trial: Trial) -> bool:
    """Return whether a forest has been grown with the setting of a trial."""
    chosen = (
        forest.max_features_,
        forest.feature_budget_,
        forest.split_budget_,
        forest.equality_cuts_,
        forest.criterion_,
    )
    return trial.setting == chosen


def words_of(trials: Sequence[Trial], n_features: int) -> list[str]:
    """Tell settings in a few words each, in which they differ.

    Budgets follow from the number of features, unless this is the same in all.

    Examples
    --------
    >>> import numpy as np
    >>> rest = np.array([1]), np.array([0.1]), 1, 0.1, 1.0
    >>> greedy = Trial(9, 40.0, 40.0, False, "gini", *rest)
    >>> words_of([Trial(3, 10.0, 10.0, True, "entropy", *rest), greedy], 9)
    ['3 features, entropy, equality cuts', 'all 9 features, gini']
    """
    budgets: dict[int, set[tuple[float, float]]] = {}
    for trial in trials:
        own = (trial.feature_budget, trial.split_budget)
        budgets.setdefault(trial.max_features, set()).add(own)
    told = []
    for trial in trials:
        m = trial.max_features
        words = ["all " * (m == n_features > 1) + f"{m} feature" + "s" * (m != 1)]
        if len(budgets[m]) > 1:
            words.append(f"budgets {trial.feature_budget:g}, {trial.split_budget:g}")
        if trial.criterion != "variance":
            words.append(trial.criterion)
        if trial.equality_cuts:
            words.append("equality cuts")
        told.append(", ".join(words))
    return told


def draw_trial(
    axes: Any,
    trial: Trial,
    label: str,
    *,
    colour: str,
    is_chosen: bool,
    is_sharpened: bool,
) -> None:
    """Draw the line of a trial, its best leaf size, and its loss after sharpening."""
    size, best = trial.leaf_size, float(trial.losses.min())
    front = 3 if is_chosen else 2
    axes.plot(
        trial.leaf_sizes,
        trial.losses,
        color=colour,
        linewidth=3 if is_chosen else 1.2,
        alpha=1 if is_chosen else 0.7,
        marker="o",
        markersize=8 if is_chosen else 5,
        markevery=np.flatnonzero(trial.leaf_sizes == size).tolist(),
        label=f"{label} (chosen)" if is_chosen else label,
        zorder=front,
    )
    if is_sharpened:
        axes.vlines(
            size, trial.loss, best, color=colour, linewidth=1, linestyle=":", zorder=1
        )
        axes.scatter(
            size,
            trial.loss,
            s=90 if is_chosen else 28,
            color=colour,
            marker="D",
            zorder=front,
        )


def finish_axes(axes: Any, trials: Sequence[Trial]) -> None:
    """Set scales, ticks and the legend."""
    sizes = np.unique(np.concatenate([trial.leaf_sizes for trial in trials]))
    losses = np.concatenate([[*trial.losses, trial.loss] for trial in trials])
    axes.set_xscale("log")
    powers = sizes[(sizes & (sizes - 1)) == 0]
    ticks = powers if len(powers) else sizes
    axes.set_xticks(ticks, [str(size) for size in ticks])
    axes.set_xticks([], minor=True)
    if 0 < losses.min() < losses.max() / WIDE:
        axes.set_yscale("log")
        tickers = needed("matplotlib.ticker", by="plot_tuning")
        axes.yaxis.set_major_locator(tickers.LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter(tickers.NullFormatter())
    axes.set_xlabel("leaf size (a node of at most so many rows is a leaf)")
    # Above the axes, where it hides nothing
    axes.legend(
        fontsize=8, frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(0, 1)
    )
    axes.spines[["top", "right"]].set_visible(False)
