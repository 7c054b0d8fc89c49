# SPDX-License-Identifier: BSD-3-Clause
"""The demo: three tables → cross-validated forests → one figure.

The tables come with scikit-learn. Nothing is downloaded.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold

from mrforest.experiments._panels import BLUE, GREY, ORANGE, panels
from mrforest.experiments.probability_scores import (
    calibration_error,
    log_loss,
    top_labels,
)
from mrforest.forests.forest import ForestClassifier
from mrforest.forests.multinomial import MultinomialForestClassifier

__all__ = ["N_FITS", "ForestScores", "draw", "run"]

TABLES: dict[str, Callable[..., Any]] = {
    "Breast cancer": load_breast_cancer,
    "Digits": load_digits,
    "Wine": load_wine,
}
OURS, PEER, PAPER = "ForestClassifier", "scikit-learn RF", "MRF (paper)"
COLOURS = {OURS: BLUE, PEER: ORANGE, PAPER: GREY}

N_FOLDS = 10
N_SHUFFLES = 3
N_FITS = len(TABLES) * N_SHUFFLES * N_FOLDS * len(COLOURS)

# The table whose reliability curves are drawn: the edges of the bins of probabilities,
# and the fewest rows of a bin that is drawn
CURVE = "Digits"
EDGES = np.linspace(0, 1, 9)
FEWEST = 20


@dataclass(frozen=True, eq=False)
class ForestScores:
    """One forest on one table, cross-validated several times.

    Attributes
    ----------
    accuracies : ndarray of shape (n_shuffles, n_folds)
        Share of the rows of a fold that get their right label, in per cent.
    confidence : ndarray of shape (n_shuffles, n_rows)
        Largest probability of each row, from the fit that had not seen the row.
    is_right : ndarray of shape (n_shuffles, n_rows)
        Whether the class of this probability is the right one.
    log_loss : float
        Mean of -log(probability of the right class).
    calibration_error : float
        Expected calibration error, mean over shuffles.
    fit_seconds : float
        Median over all fits.

    Examples
    --------
    >>> from mrforest.experiments import demo
    >>> scores = demo.run(n_estimators=5, n_shuffles=1)["Wine"]["ForestClassifier"]
    >>> scores.accuracies.shape, scores.confidence.shape, scores.log_loss < 1
    ((1, 10), (1, 178), True)
    """

    accuracies: NDArray[np.float64]
    confidence: NDArray[np.float64]
    is_right: NDArray[np.bool_]
    log_loss: float
    calibration_error: float
    fit_seconds: float


def run(
    *,
    n_estimators: int = 100,
    seed: int = 0,
    n_jobs: int = -1,
    n_shuffles: int = N_SHUFFLES,
    step: Callable[[], object] = lambda: None,
) -> dict[str, dict[str, ForestScores]]:
    """Cross-validate the forests: three times ten folds of each table.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees of each forest. All else is as by default.
    seed : int, default=0
        Seed of the folds and of the forests.
    n_jobs : int, default=-1
        Threads; -1 is one for each core.
    n_shuffles : int, default=3
        How often the rows are shuffled, and so how often ten folds are made.
    step : callable
        Called after each fit: `N_FITS` times by default.

    Returns
    -------
    dict of dict of ForestScores
        Tables, and forests of each. The same for any `n_jobs`, but for the seconds.

    Examples
    --------
    >>> from mrforest.experiments import demo
    >>> found = demo.run(n_estimators=5, n_shuffles=1)
    >>> list(found), list(found["Wine"])
    (['Breast cancer', 'Digits', 'Wine'], ['ForestClassifier', 'scikit-learn RF', 'MRF (paper)'])
    """  # noqa: E501
    common: dict[str, Any] = {"n_estimators": n_estimators, "n_jobs": n_jobs}
    classes = {
        OURS: ForestClassifier,
        PEER: RandomForestClassifier,
        PAPER: MultinomialForestClassifier,
    }
    found = {}
    for table, load in TABLES.items():
        X, y = load(return_X_y=True)
        runs = {name: _Runs(X, y, n_shuffles) for name in classes}
        for shuffle in range(n_shuffles):
            folds = StratifiedKFold(
                N_FOLDS, shuffle=True, random_state=seed + shuffle
            ).split(X, y)
            for fold, (train, test) in enumerate(folds):
                # All forests in each fold: what disturbs the clock disturbs all.
                for name, cls in classes.items():
                    forest = cls(random_state=seed + shuffle, **common)
                    runs[name].measure(forest, shuffle, fold, train, test)
                    step()
        found[table] = {name: measured.scores() for name, measured in runs.items()}
    return found


class _Runs:
    """What is measured of one forest on one table."""

    def __init__(
        self, X: NDArray[np.float64], y: NDArray[np.int64], n_shuffles: int
    ) -> None:
        self._X, self._y = X, y
        self._accuracies = np.empty((n_shuffles, N_FOLDS))
        self._probabilities = np.empty((n_shuffles, len(y), y.max() + 1))
        self._seconds: list[float] = []

    def measure(
        self,
        forest: Any,
        shuffle: int,
        fold: int,
        train: NDArray[np.int64],
        test: NDArray[np.int64],
    ) -> None:
        """Fit a forest and let it predict the rows that it has not seen."""
        X, y = self._X, self._y
        start = time.perf_counter()
        forest.fit(X[train], y[train])
        self._seconds.append(time.perf_counter() - start)
        self._accuracies[shuffle, fold] = 100 * forest.score(X[test], y[test])
        if isinstance(forest, MultinomialForestClassifier):
            # Shares of votes are no probabilities; shares of leaves estimate them.
            forest.set_params(voting="soft")
        self._probabilities[shuffle, test] = forest.predict_proba(X[test])

    def scores(self) -> ForestScores:
        """Summarise all fits."""
        n_train = len(self._y) * (N_FOLDS - 1) // N_FOLDS
        tops = [top_labels(self._y, shares) for shares in self._probabilities]
        losses = [log_loss(self._y, shares, n_train) for shares in self._probabilities]
        return ForestScores(
            accuracies=self._accuracies,
            confidence=np.array([confidence for confidence, _ in tops]),
            is_right=np.array([is_right for _, is_right in tops]),
            log_loss=float(np.mean(losses)),
            calibration_error=float(np.mean([calibration_error(*top) for top in tops])),
            fit_seconds=float(np.median(self._seconds)),
        )


def draw(found: dict[str, dict[str, ForestScores]]) -> Figure:
    """Draw errors, log losses, times of fit and reliability curves.

    Parameters
    ----------
    found : dict of dict of ForestScores
        What `run` returned.

    Returns
    -------
    matplotlib.figure.Figure
        Not shown and not saved.

    Examples
    --------
    >>> from mrforest.experiments import demo
    >>> found = demo.run(n_estimators=5, n_shuffles=1)
    >>> len(demo.draw(found).axes)
    4
    """
    figure, axes = panels(1, 4, width=3.2, height=3.7)
    peer_seconds = {
        table: forests[PEER].fit_seconds for table, forests in found.items()
    }
    _draw_bars(
        axes[0], found, lambda _, scores: 100 - scores.accuracies.mean(),
        title="Wrong labels (%)", form="{:.1f}",
    )  # fmt: skip
    _draw_bars(
        axes[1], found, lambda _, scores: scores.log_loss,
        title="Log loss", form="{:.3f}",
    )  # fmt: skip
    _draw_bars(
        axes[2], found,
        lambda table, scores: scores.fit_seconds / peer_seconds[table],
        title="Time of fit (scikit-learn: 1)", form="{:.2f}",
    )  # fmt: skip
    for panel in axes[1:3]:
        panel.set_yticklabels([])
    _draw_reliability(axes[3], found[CURVE])
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(
        handles, names, loc="outside upper center", ncols=len(names), frameon=False,
        fontsize=12,
    )  # fmt: skip
    return figure


def _draw_bars(
    axes: Axes,
    found: dict[str, dict[str, ForestScores]],
    value: Callable[[str, ForestScores], float],
    *,
    title: str,
    form: str,
) -> None:
    """One group of bars for each table, one bar for each forest."""
    height = 0.27
    for i, (name, colour) in enumerate(COLOURS.items()):
        values = [value(table, forests[name]) for table, forests in found.items()]
        places = np.arange(len(found)) + (i - 1) * height
        bars = axes.barh(places, values, 0.9 * height, color=colour, label=name)
        axes.bar_label(bars, [form.format(v) for v in values], padding=3, fontsize=9)
    axes.set_yticks(range(len(found)), list(found), fontsize=11)
    axes.invert_yaxis()
    axes.margins(x=0.2)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_title(title, fontweight="bold", fontsize=11)
    axes.set_xlabel("shorter is better")


def _draw_reliability(axes: Axes, forests: dict[str, ForestScores]) -> None:
    """Share of right labels against the probability of the label."""
    axes.plot([0, 1], [0, 1], color="#333", linestyle="--", linewidth=1)
    for name, colour in COLOURS.items():
        confidence = forests[name].confidence.ravel()
        is_right = forests[name].is_right.ravel()
        bins = np.searchsorted(EDGES, confidence)
        parts = [bins == i for i in range(1, len(EDGES))]
        drawn = [part for part in parts if part.sum() >= FEWEST]
        axes.plot(
            [confidence[part].mean() for part in drawn],
            [is_right[part].mean() for part in drawn],
            color=colour, marker="o", markersize=5, linewidth=2, clip_on=False,
        )  # fmt: skip
    axes.set_title(f"Calibration ({CURVE.lower()})", fontweight="bold", fontsize=11)
    axes.text(0.4, 0.3, "on the line\nis best", fontsize=10, va="top")
    axes.set(
        xlabel="probability of the predicted label",
        ylabel="share of right labels",
        xlim=(0, 1),
        ylim=(0, 1),
    )
