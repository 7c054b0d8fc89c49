# SPDX-License-Identifier: BSD-3-Clause
"""A tree as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mrforest.inspection._words import TreeWords


def export_text(
    forest: Any,
    tree: int = 0,
    *,
    max_depth: int | None = 10,
    feature_names: Sequence[str] | None = None,
    digits: int = 4,
) -> str:
    """Return a tree of a forest as text.

    As scikit-learn's function of this name, and it also knows categories and the
    comparisons of `ComparisonForestClassifier`.

    Parameters
    ----------
    forest : estimator
        Fitted.
    tree : int, default=0
        Number of the tree.
    max_depth : int or None, default=10
        Nodes below are not written; None: all are.
    feature_names : sequence of str, default=None
        None: those of the data frame of `fit`, or ``feature_0``, ...
    digits : int, default=4
        Of thresholds and numbers, those that count.

    Returns
    -------
    str
        A leaf tells its class and the share that this has of its estimation points, or
        its number, and how many points there are.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mrforest import MultinomialForestClassifier
    >>> from mrforest.inspection import export_text
    >>> data = load_iris(as_frame=True)
    >>> forest = MultinomialForestClassifier(3, max_depth=2, random_state=6)
    >>> forest = forest.fit(data.data, data.target_names[data.target])
    >>> print(export_text(forest))
    |- petal width (cm) <= 0.45
    |  |- setosa (1.00), 21 points
    |- petal width (cm) > 0.45
    |  |- petal length (cm) <= 4.75
    |  |  |- versicolor (0.92), 25 points
    |  |- petal length (cm) > 4.75
    |  |  |- virginica (0.90), 29 points
    """
    words = TreeWords(forest, tree, feature_names, digits)
    return "\n".join(lines_below(words, 0, 0, max_depth))


def lines_below(
    words: TreeWords, node: int, depth: int, max_depth: int | None
) -> Iterator[str]:
    """Yield the lines of a node and of all below it."""
    indent = "|  " * depth + "|- "
    child = int(words.children[node])
    if child < 0:
        yield indent + ", ".join(filter(None, [words.answer(node), words.size(node)]))
        return
    if max_depth is not None and depth >= max_depth:
        yield f"{indent}... {words.answer(node)}, not written below this depth"
        return
    for side, said in enumerate((words.question(node), words.opposite(node))):
        yield indent + said
        yield from lines_below(words, child + side, depth + 1, max_depth)
