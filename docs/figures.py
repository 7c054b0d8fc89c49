# SPDX-License-Identifier: BSD-3-Clause
"""Draw the figures of the documentation anew: ``python docs/figures.py``."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer

from mrforest import (
    BernoulliForestClassifier,
    BreimanForestClassifier,
    CompletelyRandomForestClassifier,
    DenilForestClassifier,
    MultinomialForestClassifier,
)
from mrforest._progress import progress_bar
from mrforest.experiments import demo
from mrforest.experiments._panels import BLUE, GREY, PALE
from mrforest.inspection import plot_split_probabilities

FOLDER = Path(__file__).parent


def split_probabilities() -> None:
    """Figure 1 of the multinomial forest's paper, from real data."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    forests = {
        "Breiman: the best cut of one feature of three": BreimanForestClassifier(),
        "Denil14: the best cut of 1 + Poisson features": DenilForestClassifier(),
        "BRF: as Breiman, with two coins of 0.05": BernoulliForestClassifier(),
        "MRF: softmax of the decreases, B1 = B2 = 10": MultinomialForestClassifier(),
        "Completely random": CompletelyRandomForestClassifier(),
    }
    features = ["mean radius", "mean texture", "mean smoothness"]
    figure = plot_split_probabilities(
        forests, X[features], y, n_draws=100_000, verbose=1
    )
    figure.savefig(FOLDER / "split-probabilities.png", dpi=110)


def three_tables() -> None:
    """Draw what `mrforest demo` draws."""
    with progress_bar("demo", demo.N_FITS, visible=True) as step:
        found = demo.run(step=step)
    demo.draw(found).savefig(FOLDER / "demo.png")


QUESTIONS = (
    (
        "Must the forest be\ndifferentially private?",
        "PrivateForestClassifier\nPrivateForestRegressor",
    ),
    (
        "Are there too many rows\nfor one machine?",
        "DaskForestClassifier\nof mrforest.dask",
    ),
    ("Do you have only distances\nor comparisons?", "ComparisonForestClassifier"),
    (
        "Do you want the paper's algorithm\nor honest trees?",
        "MultinomialForestClassifier\nMultinomialForestRegressor",
    ),
    (
        "Do you want Breiman's forest,\nto compare with?",
        "BreimanForestClassifier\nBreimanForestRegressor",
    ),
)


def which_forest() -> None:
    """Draw the questions that lead to a forest, from top to bottom."""
    figure = Figure(figsize=(8.4, 7.0), dpi=150)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 8.4), ylim=(-6.45, 0.5))
    axes.axis("off")
    question, answer = (
        {"boxstyle": "round,pad=0.5", "facecolor": colour, "edgecolor": edge}
        for colour, edge in ((PALE, GREY), ("white", BLUE))
    )
    words = {"ha": "center", "va": "center", "fontsize": 12.5}
    left, right, step = 2.1, 6.5, 1.18

    def arrow(start: tuple[float, float], end: tuple[float, float]) -> None:
        style = {"arrowstyle": "-|>", "color": "#333", "linewidth": 1.3}
        axes.annotate("", end, start, arrowprops=style)

    for i, (asked, forest) in enumerate(QUESTIONS):
        y = -i * step
        # Arrows first, from middle to middle: the boxes hide what is too long.
        arrow((left, y), (right - 1.53, y))
        arrow((left, y), (left, y - step + 0.36))
        axes.text(4.5, y + 0.08, "yes", ha="center", va="bottom", fontsize=12)
        axes.text(left + 0.1, y - step / 2 - 0.02, "no", va="center", fontsize=12)
        axes.text(left, y, asked, bbox=question, **words)
        axes.text(
            right - 1.4, y, forest, bbox=answer, family="monospace",
            **{**words, "ha": "left"},
        )  # fmt: skip
    axes.text(
        left, -len(QUESTIONS) * step, "ForestClassifier\nForestRegressor",
        bbox={**answer, "facecolor": BLUE}, color="white", family="monospace",
        **{**words, "fontsize": 15},
    )  # fmt: skip
    axes.text(
        4.2, -len(QUESTIONS) * step, "the default: take it\nif you are not sure",
        va="center", fontsize=12.5,
    )  # fmt: skip
    figure.savefig(FOLDER / "which-forest.png", dpi=130)


if __name__ == "__main__":
    split_probabilities()
    three_tables()
    which_forest()
