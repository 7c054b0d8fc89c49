# SPDX-License-Identifier: BSD-3-Clause
"""The demo: breast-cancer data → cross-validated forests → one figure.

The data is the paper's WDBC, which scikit-learn carries. Nothing is downloaded.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold

from mrforest.forests.multinomial import MultinomialForestClassifier

__all__ = ["N_FITS", "Demo", "ForestScores", "draw", "run"]

N_FOLDS = 10
N_FITS = 2 * N_FOLDS

# Table 1 of the paper, row Wdbc, in per cent.
PRINTED_MULTINOMIAL, PRINTED_BREIMAN = 95.78, 96.01

# A fitted forest and the seconds that it took.
Fit = tuple[Any, float]

BLUE, ORANGE, GREY = "#1f5fa8", "#e07b00", "#8a8a8a"


@dataclass(frozen=True, eq=False)
class ForestScores:
    """One forest, cross-validated.

    Attributes
    ----------
    name : str
        What to call it.
    printed : float or None
        Accuracy that the paper prints, in per cent.
    accuracies : ndarray of shape (n_folds,)
        Share of the rows of a fold that get their right label, in per cent.
    probabilities : ndarray of shape (n_samples,)
        Probability of a benign tumour, from the fit that had not seen the row.
    log_loss : float
        Mean of -log(probability of the right label).
    fit_seconds : float
        Median over the folds.
    n_bytes : int
        Size of the pickled forest, median over the folds.

    Examples
    --------
    >>> from mrforest.experiments import demo
    >>> found = demo.run(n_estimators=5)
    >>> found.soft.name, len(found.soft.accuracies), found.soft.log_loss < 1
    ('MRF, soft vote', 10, True)
    """

    name: str
    printed: float | None
    accuracies: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    log_loss: float
    fit_seconds: float
    n_bytes: int


@dataclass(frozen=True, eq=False)
class Demo:
    """All that the demo shows.

    Attributes
    ----------
    y : ndarray of shape (n_samples,)
        1 is benign, 0 malignant.
    hard, soft, breiman : ForestScores
        The multinomial forest that votes, the same that averages shares of leaves,
        scikit-learn's forest.
    feature_names : list of str
        Names of the features.
    importances : ndarray of shape (n_folds, n_features)
        Importances of the multinomial forests, measured on their estimation points.

    Examples
    --------
    >>> from mrforest.experiments import demo
    >>> found = demo.run(n_estimators=5)
    >>> found.importances.shape, len(found.forests)
    ((10, 30), 3)
    """

    y: NDArray[np.int64]
    hard: ForestScores
    soft: ForestScores
    breiman: ForestScores
    feature_names: list[str]
    importances: NDArray[np.float64]

    @property
    def forests(self) -> tuple[ForestScores, ForestScores, ForestScores]:
        """All three, in the order in which they are shown."""
        return self.hard, self.soft, self.breiman


def run(
    *,
    n_estimators: int = 100,
    seed: int = 0,
    n_jobs: int = -1,
    step: Callable[[], object] = lambda: None,
) -> Demo:
    """Cross-validate both forests.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees of each forest.
    seed : int, default=0
        Seed of the folds and of the forests.
    n_jobs : int, default=-1
        Threads; -1 is one for each core.
    step : callable
        Called after each of the `N_FITS` fits.

    Returns
    -------
    Demo
        The same for any `n_jobs`, but for the seconds.

    Examples
    --------
    >>> from mrforest.experiments import demo
    >>> found = demo.run(n_estimators=5)
    >>> found.hard.printed, found.breiman.printed
    (95.78, 96.01)
    """
    data = load_breast_cancer()
    X, y = data.data, data.target
    common: dict[str, Any] = {
        "n_estimators": n_estimators,
        "random_state": seed,
        "n_jobs": n_jobs,
    }
    multinomial = MultinomialForestClassifier(max_bins="exact", **common)
    breiman = RandomForestClassifier(**common)

    folds = list(KFold(N_FOLDS, shuffle=True, random_state=seed).split(X))
    fits: dict[str, list[Fit]] = {"hard": [], "breiman": []}
    for train, _ in folds:
        # Both forests in each fold: what disturbs the clock disturbs both.
        for key, forest in {"hard": multinomial, "breiman": breiman}.items():
            fits[key].append(_fit(forest, X[train], y[train]))
            step()
    # Voting does not shape the trees, so the soft forests are the same fits.
    fits["soft"] = [
        (copy(forest).set_params(voting="soft"), seconds)
        for forest, seconds in fits["hard"]
    ]

    def score(name: str, printed: float | None, key: str) -> ForestScores:
        tests = [test for _, test in folds]
        return _score(name, printed, fits[key], tests, X, y)

    return Demo(
        y=y,
        hard=score("MRF, hard vote", PRINTED_MULTINOMIAL, "hard"),
        soft=score("MRF, soft vote", None, "soft"),
        breiman=score("scikit-learn RF", PRINTED_BREIMAN, "breiman"),
        feature_names=[str(name) for name in data.feature_names],
        importances=np.array(
            [forest.feature_importances_ for forest, _ in fits["hard"]]
        ),
    )


def _fit(forest: Any, X: NDArray[np.float64], y: NDArray[np.int64]) -> Fit:
    """Fit a copy of the forest, with a clock."""
    start = time.perf_counter()
    fitted = clone(forest).fit(X, y)
    return fitted, time.perf_counter() - start


def _score(
    name: str,
    printed: float | None,
    fits: list[Fit],
    tests: list[NDArray[np.int64]],
    X: NDArray[np.float64],
    y: NDArray[np.int64],
) -> ForestScores:
    """Let each forest of a cross-validation predict the rows it has not seen."""
    accuracies, probabilities = np.empty(len(tests)), np.empty(len(y))
    for i, ((forest, _), test) in enumerate(zip(fits, tests, strict=True)):
        accuracies[i] = 100 * forest.score(X[test], y[test])
        probabilities[test] = forest.predict_proba(X[test])[:, 1]
    return ForestScores(
        name=name,
        printed=printed,
        accuracies=accuracies,
        probabilities=probabilities,
        log_loss=float(log_loss(y, probabilities)),
        fit_seconds=float(np.median([seconds for _, seconds in fits])),
        n_bytes=int(np.median([len(pickle.dumps(forest)) for forest, _ in fits])),
    )


def draw(demo: Demo) -> Figure:
    """Draw accuracies of the folds, calibration and importances.

    Parameters
    ----------
    demo : Demo
        What `run` returned.

    Returns
    -------
    matplotlib.figure.Figure
        Not shown and not saved.

    Examples
    --------
    >>> from mrforest.experiments import demo
    >>> found = demo.run(n_estimators=5)
    >>> len(demo.draw(found).axes)
    3
    """
    figure = Figure(figsize=(13, 4.4), layout="constrained", dpi=150)
    folds, calibration, importances = figure.subplots(1, 3, width_ratios=[1, 1, 1.05])
    for axes in (folds, calibration, importances):
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_axisbelow(True)
    _draw_folds(folds, demo)
    _draw_calibration(calibration, demo)
    _draw_importances(importances, demo)
    figure.suptitle(
        f"Breast-cancer data (WDBC), {len(demo.y)} rows, {N_FOLDS} folds",
        fontweight="bold",
    )
    return figure


def _draw_folds(axes: Axes, demo: Demo) -> None:
    """Accuracy of each fold, both forests, with their means."""
    x = np.arange(1, N_FOLDS + 1)
    ours, theirs = demo.hard.accuracies, demo.breiman.accuracies
    axes.vlines(x, ours, theirs, color=GREY, linewidth=1, zorder=1)
    # Hollow and larger, so that both can be seen where they agree.
    axes.scatter(
        x, theirs, s=90, facecolors="none", edgecolors=ORANGE, linewidths=1.8,
        label=f"scikit-learn, mean {theirs.mean():.2f} %",
    )  # fmt: skip
    axes.scatter(
        x, ours, s=32, color=BLUE, label=f"multinomial, mean {ours.mean():.2f} %"
    )
    axes.axhline(theirs.mean(), color=ORANGE, linestyle=":", linewidth=1.2)
    axes.axhline(ours.mean(), color=BLUE, linestyle=":", linewidth=1.2)
    axes.set_xticks(x)
    axes.set(xlabel="fold", ylabel="accuracy (%)", title="Accuracy of each fold")
    lowest = min(ours.min(), theirs.min())
    axes.set_ylim(lowest - 0.35 * (101 - lowest), 101)  # room for the legend
    axes.legend(loc="lower left", frameon=False)


def _draw_calibration(axes: Axes, demo: Demo) -> None:
    """Share of benign rows against their predicted probability, in five bins."""
    axes.plot([0, 1], [0, 1], color=GREY, linestyle="--", linewidth=1)
    for scores, colour, marker, label in (
        (demo.breiman, ORANGE, "s", "scikit-learn"),
        (demo.soft, BLUE, "o", "multinomial, soft"),
    ):
        observed, predicted = calibration_curve(demo.y, scores.probabilities, n_bins=5)
        # The bins of calibration_curve, which leaves out empty ones.
        bins = np.searchsorted([0.2, 0.4, 0.6, 0.8], scores.probabilities)
        counts = np.unique(bins, return_counts=True)[1]
        error = np.sqrt(observed * (1 - observed) / counts)
        axes.errorbar(
            predicted, observed, error, color=colour, marker=marker, capsize=3,
            label=f"{label}\nlog loss {scores.log_loss:.3f}",
        )  # fmt: skip
    axes.set(
        xlabel="predicted probability of benign",
        ylabel="share that is benign",
        title="Calibration on unseen rows (± standard error)",
    )
    axes.legend(loc="lower right", frameon=False)


def _draw_importances(axes: Axes, demo: Demo) -> None:
    """Means and ranges over the folds of the largest importances."""
    mean = demo.importances.mean(axis=0)
    top = np.argsort(mean)[::-1][:8]
    values = demo.importances[:, top]
    low, high = mean[top] - values.min(axis=0), values.max(axis=0) - mean[top]
    axes.barh(
        [demo.feature_names[j] for j in top], mean[top], xerr=[low, high],
        color=BLUE, alpha=0.85, height=0.7, error_kw={"ecolor": "#333", "capsize": 2},
    )  # fmt: skip
    axes.invert_yaxis()
    axes.set(
        xlabel="importance (mean and range of the folds)",
        title="Importance, on estimation points",
    )
    axes.tick_params(axis="y", length=0)
    axes.locator_params(axis="x", nbins=4)
