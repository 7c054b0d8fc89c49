# SPDX-License-Identifier: BSD-3-Clause
"""What a fitted multinomial forest tells of its rows, whatever its budgets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mrforest.privacy.report import Leak

ANY_CUT = (
    "a node is not split if it has fewer than min_samples_split estimation points, if "
    "its structure points are of one class, or if a child would have no estimation "
    "points"
)
LARGE_LEAVES = (
    "a cut is a candidate only if it leaves min_samples_leaf estimation points on "
    "both sides, and a node with fewer than min_samples_split is not split"
)


def leaks_of(forest: Any) -> Iterator[Leak]:
    """Go through what the forest tells, or would tell if it were fitted.

    Parameters
    ----------
    forest : MultinomialForestClassifier
        Its parameters must be valid.
    """
    yield from candidates(forest)
    yield from shape(forest)
    yield from leaves(forest)
    yield from kept()


def candidates(forest: Any) -> Iterator[Leak]:
    """Go through what there is to choose from."""
    categorical = kinds_of(forest)
    if False in categorical:
        yield Leak(
            "values",
            "thresholds are midpoints between neighbouring values of training rows. "
            "One row more or less gives other thresholds, so that a forest which one "
            "table may give cannot come from the other.",
        )
    if True in categorical:
        yield Leak(
            "categories",
            "the categories of a column are those that occur in the training rows.",
        )
    yield Leak("classes", "classes_ has the labels that occur in the training rows.")
    yield Leak(
        "features",
        "a feature by which the structure points of a node cannot be told apart is not "
        "in the draw.",
    )
    if forest.class_weight == "balanced":
        yield Leak(
            "class weights", "balanced ones are exact shares of the training rows."
        )


def kinds_of(forest: Any) -> set[bool]:
    """Whether there are categorical columns, and others; both if not known yet."""
    if hasattr(forest, "_schema"):
        return set(forest._schema.is_categorical.tolist())
    return {False} if forest.categorical_features is None else {False, True}


def shape(forest: Any) -> Iterator[Leak]:
    """Go through what decides where trees end and which rows they see."""
    stop = ANY_CUT if forest.min_samples_leaf is None else LARGE_LEAVES
    yield Leak(
        "where trees end",
        f"{stop}. The shape of a tree tells these exact counts; and "
        "as estimation points have a say in it, the two halves do not compose in "
        "parallel.",
    )
    yield Leak(
        "halves",
        "their sizes are fixed by the number of rows. One row more or less moves "
        "others from half to half.",
    )
    greedy = [
        name
        for name in ("feature_budget", "split_budget")
        if np.isinf(getattr(forest, name))
    ]
    if greedy:
        yield Leak(
            "best splits",
            f"{' and '.join(greedy)}: inf takes the best, without noise.",
        )


def leaves(forest: Any) -> Iterator[Leak]:
    """Go through what leaves say."""
    if np.isinf(forest.label_budget):
        yield Leak(
            "majorities",
            "label_budget: inf gives a leaf the majority of its points, without noise.",
        )
    told = (
        "predict_proba averages their shares"
        if forest.voting == "soft"
        else 'voting="soft" would read them'
    )
    yield Leak(
        "counts",
        "every leaf keeps the number of its estimation points and their weight in each "
        f"class, without noise; {told}.",
    )


def kept() -> Iterator[Leak]:
    """Go through what is kept besides trees."""
    yield Leak(
        "importances",
        "feature_importances_ and structure_importances_ are exact functions of the "
        "rows.",
    )
    yield Leak(
        "number and order of rows",
        "the forest keeps the number of every row, in an order by what rows say, for "
        "structure_samples and estimation_samples.",
    )
    yield Leak(
        "seed",
        "the forest keeps it, also in a pickle. Who guesses the table can draw every "
        "tree again and see whether the guess is right. Without random_state it comes "
        "from NumPy's global generator, which is not made for secrets.",
    )
