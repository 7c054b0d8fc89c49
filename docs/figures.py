# SPDX-License-Identifier: BSD-3-Clause
"""Draw the figures of the documentation anew: ``python docs/figures.py``."""

from __future__ import annotations

from pathlib import Path

from sklearn.datasets import load_breast_cancer

from mrforest import (
    BernoulliForestClassifier,
    BreimanForestClassifier,
    CompletelyRandomForestClassifier,
    DenilForestClassifier,
    MultinomialForestClassifier,
)
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


if __name__ == "__main__":
    split_probabilities()
