# SPDX-License-Identifier: BSD-3-Clause
"""The probability with which a forest picks each cut of a node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from mrforest import _core
from mrforest._optional import needed
from mrforest._progress import progress_bar
from mrforest.forests.base import BaseForest
from mrforest.forests.sampling import tree_key
from mrforest.model.nodes import FEATURE_MASK, MISSING_LEFT


@dataclass(frozen=True)
class SplitProbabilities:
    """The cuts of one node and how often a forest picks each.

    Attributes
    ----------
    feature : ndarray of shape (n_cuts,), dtype=int64
    threshold : ndarray of shape (n_cuts,), dtype=float64
    is_equality, missing_left : ndarray of shape (n_cuts,), dtype=bool
        See `mrforest.rules.Candidates`.
    decrease : ndarray of shape (n_cuts,), dtype=float64
        Impurity decrease of the cut.
    probability : ndarray of shape (n_cuts,), dtype=float64
        Share of the draws that picked the cut. The rest up to 1 left the node a leaf.
    n_draws : int
        Number of draws; the standard error of a probability p is
        ``sqrt(p * (1 - p) / n_draws)``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mrforest import MultinomialForestClassifier
    >>> from mrforest.inspection import split_probabilities
    >>> X, y = load_iris(return_X_y=True)
    >>> cuts = split_probabilities(MultinomialForestClassifier(), X, y, n_draws=1000)
    >>> best = cuts.decrease.argmax()
    >>> bool(cuts.probability[best] > cuts.probability.mean())
    True
    """

    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    is_equality: NDArray[np.bool_]
    missing_left: NDArray[np.bool_]
    decrease: NDArray[np.float64]
    probability: NDArray[np.float64]
    n_draws: int


class Recorder:
    """A rule that writes down the candidates of a node and chooses none."""

    def __init__(self) -> None:
        self.candidates: dict[str, NDArray[Any]] = {}

    def __call__(self, *, candidates: dict[str, NDArray[Any]], **_: Any) -> None:
        """Keep the candidates."""
        self.candidates = candidates


def split_probabilities(
    forest: BaseForest,
    X: Any,
    y: Any,
    *,
    n_draws: int = 10_000,
    random_state: int = 0,
    verbose: int = 0,
) -> SplitProbabilities:
    """Let a forest's own rule split one node many times.

    All rows are in the node, as structure and as estimation points, whatever the forest
    does to draw them for a tree: what is seen is the rule alone.

    Parameters
    ----------
    forest : estimator
        A forest of this package that grows by a split rule, fitted or not; only its
        parameters are used.
    X : array-like or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    n_draws : int, default=10000
        How often the node is split.
    random_state : int, default=0
    verbose : int, default=0
        1 shows a progress bar (needs the package rich).

    Returns
    -------
    SplitProbabilities

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mrforest import MultinomialForestClassifier
    >>> from mrforest.inspection import split_probabilities
    >>> X, y = load_iris(return_X_y=True)
    >>> found = split_probabilities(MultinomialForestClassifier(), X, y, n_draws=100)
    >>> int(found.feature[found.probability.argmax()]) in (2, 3)
    True
    """
    forest = clone(forest)
    forest._validate_params()
    X, y, schema = forest._read_table(X, y)
    target, _ = forest._read_target(y, None)
    training = forest._prepare(X, target, schema, None)
    if not training.is_coded:
        raise ValueError(
            f"{type(forest).__name__} draws cuts that are in no list, so single cuts "
            "have no probability"
        )
    forest.set_params(max_depth=1)
    limits = forest._limits(np.zeros(1, dtype=np.uint8))
    grower = forest._grower(training)
    found = candidates_of(training, limits)
    places = {
        cut: i
        for i, cut in enumerate(
            zip(
                found["feature"].tolist(),
                found["threshold"].tolist(),
                found["missing_left"].tolist(),
                strict=True,
            )
        )
    }
    picked = np.zeros(len(found["feature"]))
    with progress_bar("splitting", n_draws, visible=verbose > 0) as step:
        for number in range(n_draws):
            key = tree_key(random_state, number)
            points = training.points.copy()
            tree = grower(training.table, points, points.copy(), key, limits)
            root = tree["nodes"][0]
            if root["child"] >= 0:
                feature = int(root["feature"] & FEATURE_MASK)
                missing_left = bool(root["feature"] & MISSING_LEFT)
                picked[places[feature, float(root["threshold"]), missing_left]] += 1
            step()
    return SplitProbabilities(**found, probability=picked / n_draws, n_draws=n_draws)


def candidates_of(training: Any, limits: _core.Limits) -> dict[str, NDArray[Any]]:
    """All cuts of the node that holds every row."""
    recorder = Recorder()
    _core.grow_tree(
        training.table,
        training.points.copy(),
        training.points.copy(),
        tree_key(0, 0),
        limits,
        rule=_core.PythonRule(recorder),
    )
    if not recorder.candidates:
        raise ValueError("the node has no cut: it is pure, too small, or constant")
    if training.scale is not None:
        recorder.candidates["decrease"] *= training.scale.unit**2
    return recorder.candidates


def plot_split_probabilities(
    forests: Mapping[str, BaseForest],
    X: Any,
    y: ArrayLike,
    *,
    feature_names: list[str] | None = None,
    n_draws: int = 10_000,
    random_state: int = 0,
    verbose: int = 0,
) -> Any:
    """Draw the probability with which each forest picks each cut of one node.

    One panel a forest. Along it stand all cuts of the node, feature by feature, values
    ascending. The area is the impurity decrease of a cut, as a share of the largest;
    the lines are the probabilities.

    Parameters
    ----------
    forests : mapping of str to estimator
        Name of each forest, and the forest; see `split_probabilities`.
    X : array-like or data frame of shape (n_samples, n_features)
        The rows of the node. A few features make a picture that can be read.
    y : array-like of shape (n_samples,)
    feature_names : list of str, default=None
        Names of the features; those of a data frame, if None.
    n_draws, random_state, verbose
        See `split_probabilities`.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mrforest import BreimanForestClassifier, MultinomialForestClassifier
    >>> from mrforest.inspection import plot_split_probabilities
    >>> X, y = load_iris(return_X_y=True)
    >>> forests = {
    ...     "Breiman": BreimanForestClassifier(),
    ...     "MRF": MultinomialForestClassifier(),
    ... }
    >>> figure = plot_split_probabilities(forests, X, y, n_draws=100)
    >>> len(figure.axes)
    2
    """
    figures = needed("matplotlib.figure", by="plot_split_probabilities")
    if not isinstance(forests, Mapping):
        raise TypeError(
            "forests must be a mapping of names to forests, such as "
            f"{{'MRF': MultinomialForestClassifier()}}, not {type(forests).__name__}"
        )
    if feature_names is not None and len(feature_names) != np.shape(X)[1]:
        raise ValueError(
            f"feature_names has {len(feature_names)} names, X has {np.shape(X)[1]} "
            "columns"
        )
    if feature_names is None:
        feature_names = [str(name) for name in getattr(X, "columns", [])]
    figure = figures.Figure(
        figsize=(9, 0.9 + 1.25 * len(forests)), layout="constrained"
    )
    panels = figure.subplots(len(forests), 1, sharex=True, squeeze=False)[:, 0]
    for panel, (name, forest) in zip(panels, forests.items(), strict=True):
        found = split_probabilities(
            forest,
            X,
            y,
            n_draws=n_draws,
            random_state=random_state,
            verbose=verbose,
        )
        draw_panel(panel, name, found)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", fontsize=8, frameon=False)
    mark_features(panels[-1], found.feature, feature_names)
    figure.supylabel("probability of a cut", fontsize=9)
    return figure


def draw_panel(panel: Any, name: str, found: SplitProbabilities) -> None:
    """Decreases as an area, probabilities as lines."""
    place = np.arange(len(found.feature))
    top = found.probability.max() * 1.15
    size = found.decrease / found.decrease.max() if found.decrease.any() else 0.0
    panel.fill_between(
        place,
        size * top,
        step="mid",
        color="0.87",
        label="impurity decrease (own scale)",
    )
    panel.vlines(place, 0, found.probability, color="C0", linewidth=1.2)
    for edge in np.flatnonzero(np.diff(found.feature)):
        panel.axvline(edge + 0.5, color="0.6", linewidth=0.6, linestyle=":")
    panel.set(ylim=(0, top), xlim=(-0.5, len(place) - 0.5))
    panel.set_title(name, loc="left", fontsize=9)
    panel.tick_params(labelsize=8)
    panel.spines[["top", "right"]].set_visible(False)


def mark_features(
    panel: Any, feature: NDArray[np.int64], feature_names: list[str]
) -> None:
    """Write the name of each feature under its cuts."""
    present = np.unique(feature)
    centres = [np.flatnonzero(feature == f).mean() for f in present]
    names = [
        feature_names[f] if f < len(feature_names) else f"feature {f}" for f in present
    ]
    panel.set_xticks(centres, names, fontsize=8)
    panel.tick_params(axis="x", length=0)
