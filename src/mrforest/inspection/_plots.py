# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of trees and forests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.inspection import permutation_importance
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from mrforest._optional import needed
from mrforest.inspection._words import TreeWords, names_of

# Distance between leaves and between levels, in inches
ACROSS, DOWN = 1.9, 1.0


# ---- a tree --------------------------------------------------------------------------


@dataclass(frozen=True)
class Placed:
    """A node of a picture."""

    node: int
    across: float
    depth: int
    parent: int | None  # place of its parent in the list
    is_cut_off: bool


def plot_tree(
    forest: Any,
    tree: int = 0,
    *,
    max_depth: int = 3,
    feature_names: Sequence[str] | None = None,
    digits: int = 4,
) -> Any:
    """Draw the upper levels of a tree.

    Parameters
    ----------
    forest : estimator
        Fitted.
    tree : int, default=0
        Number of the tree.
    max_depth : int, default=3
        Levels below are not drawn: such a node tells what it would as a leaf, and has
        a dashed frame.
    feature_names : sequence of str, default=None
        None: those of the data frame of `fit`, or ``feature_0``, ...
    digits : int, default=4
        Of thresholds and numbers, those that count.

    Returns
    -------
    matplotlib.figure.Figure
        Who says yes goes left. A leaf has the colour of its class, the stronger the
        larger its share.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mrforest import MultinomialForestClassifier
    >>> from mrforest.inspection import plot_tree
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = MultinomialForestClassifier(3, random_state=0).fit(X, y)
    >>> figure = plot_tree(forest, max_depth=2)
    >>> len(figure.axes[0].texts) >= 3
    True
    """
    figures = needed("matplotlib.figure", by="plot_tree")
    words = TreeWords(forest, tree, feature_names, digits)
    placed = places(words, max_depth)
    n_across = 1 + max(place.across for place in placed)
    n_down = 1 + max(place.depth for place in placed)
    size = max(ACROSS * n_across, 4.0), DOWN * n_down + 0.2
    figure = figures.Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    axes.set_axis_off()
    axes.set_xlim(-0.5, n_across - 0.5)
    axes.set_ylim(0.5 - n_down, 0.5)
    for place in placed:
        if place.parent is not None:
            above = placed[place.parent]
            axes.plot(
                [above.across, place.across],
                [-above.depth, -place.depth],
                color="0.6",
                linewidth=1,
                zorder=1,
            )
        draw_node(axes, words, place)
    return figure


def places(words: TreeWords, max_depth: int) -> list[Placed]:
    """Lay out nodes: leaves side by side, others in the middle of their children."""
    found: list[Placed] = []

    def lay(node: int, depth: int, parent: int | None, first: float) -> float:
        """Lay out a subtree from a place on; return where the next one begins."""
        child = int(words.children[node])
        own = len(found)
        is_inner = child >= 0 and depth < max_depth
        found.append(Placed(node, first, depth, parent, child >= 0 and not is_inner))
        if not is_inner:
            return first + 1
        middle = lay(child, depth + 1, own, first)
        right = len(found)
        end = lay(child + 1, depth + 1, own, middle)
        across = (found[own + 1].across + found[right].across) / 2
        found[own] = Placed(node, across, depth, parent, False)
        return end

    lay(0, 0, None, 0.0)
    return found


def draw_node(axes: Any, words: TreeWords, place: Placed) -> None:
    """Draw a node: a question, or an answer in colour."""
    child = int(words.children[place.node])
    if child >= 0 and not place.is_cut_off:
        lines, colour = [words.question(place.node)], "white"
    else:
        lines = [words.answer(place.node)]
        colour = colour_of(words, place.node)
    lines.append(words.size(place.node))
    axes.text(
        place.across,
        -place.depth,
        "\n".join(filter(None, lines)),
        ha="center",
        va="center",
        fontsize=8,
        wrap=True,
        bbox={
            "boxstyle": "round,pad=0.35",
            "facecolor": colour,
            "edgecolor": "0.4",
            "linestyle": "--" if place.is_cut_off else "-",
        },
        zorder=2,
    )


def colour_of(words: TreeWords, node: int) -> Any:
    """Return the colour of a leaf: its class, the paler the smaller its share."""
    colormaps = needed("matplotlib", by="plot_tree").colormaps
    value = words.values[node]
    if len(value) == 1:  # a number: its place among all
        low, high = words.values.min(), words.values.max()
        share = (value[0] - low) / (high - low) if high > low else 0.5
        return colormaps["Blues"](0.1 + 0.5 * share)
    best = words.vote(node)
    strength = 0.2 + 0.4 * value[best]
    colour = np.array(colormaps["tab10"](best % 10)[:3])
    return tuple(1 - strength * (1 - colour))


# ---- all trees -----------------------------------------------------------------------


def tree_scores(forest: Any, X: Any, y: ArrayLike) -> NDArray[np.float64]:
    """Return the score of each tree by itself: its accuracy, or R² of a regression.

    Parameters
    ----------
    forest : estimator
        Fitted.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows that the forest has not seen.
    y : array-like of shape (n_samples,)

    Returns
    -------
    ndarray of shape (n_estimators,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mrforest import MultinomialForestClassifier
    >>> from mrforest.inspection import tree_scores
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = MultinomialForestClassifier(5, random_state=0).fit(X[::2], y[::2])
    >>> tree_scores(forest, X[1::2], y[1::2]).shape
    (5,)
    """
    check_is_fitted(forest)
    score = accuracy_score if hasattr(forest, "classes_") else r2_score
    return np.array([score(y, tree.predict(X)) for tree in forest.estimators_])


def plot_tree_scores(forest: Any, X: Any, y: ArrayLike) -> Any:
    """Draw how good the trees are by themselves, beside the forest.

    Parameters
    ----------
    forest, X, y
        As in `tree_scores`.

    Returns
    -------
    matplotlib.figure.Figure
        A histogram of the trees' scores; a line at their mean, and one at the score of
        the forest. The wider the gap, the more the vote adds.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mrforest import MultinomialForestClassifier
    >>> from mrforest.inspection import plot_tree_scores
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = MultinomialForestClassifier(20, random_state=0).fit(X[::2], y[::2])
    >>> figure = plot_tree_scores(forest, X[1::2], y[1::2])
    >>> figure.axes[0].get_xlabel()
    'accuracy'
    """
    figures = needed("matplotlib.figure", by="plot_tree_scores")
    scores = tree_scores(forest, X, y)
    figure = figures.Figure(figsize=(5, 3.2), layout="constrained")
    axes = figure.subplots()
    axes.hist(scores, bins="auto", color="tab:blue", alpha=0.6)
    axes.axvline(scores.mean(), color="tab:blue", label="mean of the trees")
    axes.axvline(forest.score(X, y), color="tab:orange", label="forest")
    is_classifier = hasattr(forest, "classes_")
    axes.set_xlabel("accuracy" if is_classifier else "R²")
    axes.set_ylabel("trees")
    axes.legend()
    return figure


def plot_leaves(forest: Any) -> Any:
    """Draw how many estimation points leaves have, and how deep they are.

    Parameters
    ----------
    forest : estimator
        Fitted.

    Returns
    -------
    matplotlib.figure.Figure
        Two histograms over the leaves of all trees. A private forest does not tell how
        many rows a leaf has, and has one panel.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mrforest import MultinomialForestClassifier
    >>> from mrforest.inspection import plot_leaves
    >>> X, y = load_iris(return_X_y=True)
    >>> figure = plot_leaves(MultinomialForestClassifier(20, random_state=0).fit(X, y))
    >>> [axes.get_xlabel() for axes in figure.axes]
    ['estimation points of a leaf', 'depth of a leaf']
    """
    figures = needed("matplotlib.figure", by="plot_leaves")
    check_is_fitted(forest)
    flat = forest._forest
    depth = flat.depths()[flat.leaf_nodes()]
    points = flat.leaf_points
    panels = [] if not points.any() else [("estimation points of a leaf", points)]
    panels.append(("depth of a leaf", depth))
    figure = figures.Figure(figsize=(4 * len(panels), 3.2), layout="constrained")
    drawn = figure.subplots(1, len(panels), squeeze=False)[0]
    for axes, (label, values) in zip(drawn, panels, strict=True):
        axes.hist(values, bins=edges_of(values), color="tab:blue", alpha=0.6)
        axes.set_xlabel(label)
        axes.set_ylabel("leaves")
        if values.max() > 100:
            axes.set_xscale("log")
    return figure


def edges_of(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return edges of bins around whole numbers; of many numbers ever wider ones."""
    low, high = int(values.min()), int(values.max())
    if high <= 100:
        edges = np.arange(low, high + 2, dtype=np.float64)
    else:
        edges = np.unique(np.geomspace(max(low, 1), high + 1, 30).round())
    found: NDArray[np.float64] = edges - 0.5
    return found


# ---- importances ---------------------------------------------------------------------


def plot_importances(
    forest: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    max_features: int = 20,
    n_repeats: int = 5,
    feature_names: Sequence[str] | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Any:
    """Draw how much the features tell.

    Parameters
    ----------
    forest : estimator
        Fitted.
    X, y : array-like, default=None
        Rows that the forest has not seen: then a feature is worth what the score loses
        when its column is shuffled (`sklearn.inspection.permutation_importance`).
        Without them it is worth the impurity that its splits take away,
        `feature_importances_`: of estimation points, which did not choose the splits.
    max_features : int, default=20
        So many are drawn, the most important ones.
    n_repeats : int, default=5
        How often a column is shuffled; lines show the standard deviation.
    feature_names : sequence of str, default=None
        None: those of the data frame of `fit`, or ``feature_0``, ...
    random_state : int, RandomState or None, default=None
        Of the shuffles.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mrforest import MultinomialForestClassifier
    >>> from mrforest.inspection import plot_importances
    >>> data = load_iris(as_frame=True)
    >>> forest = MultinomialForestClassifier(20, random_state=0)
    >>> figure = plot_importances(forest.fit(data.data, data.target))
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()][-1]
    'petal length (cm)'
    """
    figures = needed("matplotlib.figure", by="plot_importances")
    check_is_fitted(forest)
    if (X is None) != (y is None):
        raise ValueError("X and y must both be given, or neither")
    names = names_of(forest, feature_names)
    if X is None:
        mean, spread = forest.feature_importances_, None
        label = "share of the impurity decrease"
    else:
        found = permutation_importance(
            forest, X, y, n_repeats=n_repeats, random_state=random_state
        )
        mean, spread = found.importances_mean, found.importances_std
        label = "loss of score when shuffled"
    # The largest is drawn last, on top.
    chosen = np.argsort(mean, kind="stable")[-max_features:]
    height = 0.9 + 0.25 * len(chosen)
    figure = figures.Figure(figsize=(6, height), layout="constrained")
    axes = figure.subplots()
    axes.barh(
        np.arange(len(chosen)),
        mean[chosen],
        xerr=None if spread is None else spread[chosen],
        color="tab:blue",
        alpha=0.6,
    )
    axes.set_yticks(np.arange(len(chosen)), [names[j] for j in chosen])
    axes.axvline(0, color="0.4", linewidth=0.8)
    axes.set_xlabel(label)
    return figure
