# SPDX-License-Identifier: BSD-3-Clause
"""Parameters of private forests, see `mrforest.forests.parameters`."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Annotated, Any, Literal

from numpy.typing import ArrayLike

from mrforest._sklearn import HasMethods, Interval, StrOptions
from mrforest.forests.declaration import Doc
from mrforest.forests.parameters import AT_LEAST_ONE, AUTO, NJobs, RandomState
from mrforest.privacy.accountant import Accountant

MOST_ROWS = 2**31 - 1
# Shares of it can still be drawn exactly.
LEAST_EPSILON = 1e-6

Epsilon = Annotated[
    "float",
    Interval(Real, LEAST_EPSILON, None, closed="both"),
    Doc("""float
        Budget of the fit, at least 1e-6. inf: no noise, no privacy; the best tree of
        this kind."""),
]

Delta = Annotated[
    "float",
    Interval(Real, 0, 1, closed="left"),
    Doc("""float
        Probability that `epsilon` may fail with, far below one over the number of rows.
        If it is positive, budgets are also added up in zero-concentrated privacy
        (zCDP), in which many trees cost less; one tree of labels is the same with and
        without."""),
]

Bounds = Annotated[
    "Any",
    "array-like",
    dict,
    None,
    Doc("""pair, list of pairs or dict
        Smallest and largest value of numeric columns, from public knowledge: one pair
        for all columns, a pair for each (None for a categorical one), or a mapping from
        column name or position. Two ints say that a column holds whole numbers only.
        Values beyond are clipped."""),
]

Categories = Annotated[
    "dict[Any, Any] | None",
    dict,
    None,
    Doc("""dict
        From column name or position to the list of its categories, from public
        knowledge. Columns that are listed here are categorical; all others are numeric.
        A value that is not in the list is "other"."""),
]

Labels = Annotated[
    "ArrayLike | None",
    "array-like",
    None,
    Doc("""array-like of shape (n_classes,)
        All class labels that may occur, from public knowledge. A label of y that is not
        among them is an error."""),
]

LeafContent = Annotated[
    "Literal['label', 'counts']",
    StrOptions({"label", "counts"}),
    Doc("""{"label", "counts"}
        "label": each leaf tells its class, drawn together with the last splits: the
        best accuracy; `predict_proba` is 0 or 1 unless there are several trees.
        "counts": each leaf tells noisy class counts, which are smoothed towards those
        of its parents: probabilities, and the best ranking."""),
]

TargetBounds = Annotated[
    "tuple[float, float] | None",
    "array-like",
    None,
    Doc("""pair of float
        Smallest and largest target, from public knowledge; targets beyond are clipped.
    """),
]

PrivateNEstimators = Annotated[
    "int | Literal['auto']",
    AT_LEAST_ONE,
    AUTO,
    Doc("""int or "auto"
        Number of trees. They share the budget, so "auto" is one tree; but up to 20 for
        counts in leaves, if `delta` is positive and there are rows enough."""),
]

PrivateMaxDepth = Annotated[
    "int | Literal['auto']",
    Interval(Integral, 1, 20, closed="both"),
    AUTO,
    Doc("""int or "auto"
        Levels of a tree, at most 20. "auto": the more the larger rows x budget. Never
        chosen by looking at the rows."""),
]

Honest = Annotated[
    "bool",
    "boolean",
    Doc("""bool
        Whether one half of the rows shapes the trees and the other tells the leaves,
        each with the whole budget. Such a forest is consistent on the grid as its depth
        grows, see docs/privacy.md; on a given table it is usually less accurate."""),
]

Neighbours = Annotated[
    "Literal['add-remove', 'replace-one']",
    StrOptions({"add-remove", "replace-one"}),
    Doc("""{"add-remove", "replace-one"}
        Tables that are to look alike: with one row more or less, or with one row
        changed. The second costs twice as much."""),
]

SamplesPublic = Annotated[
    "int | None",
    Interval(Integral, 1, MOST_ROWS, closed="both"),
    None,
    Doc("""int or None
        The number of rows, roughly, if it is public knowledge. None: if an "auto" needs
        it, it is drawn with noise, for 3% of the budget."""),
]

SharedAccountant = Annotated[
    "Accountant | None",
    HasMethods(["check", "charge"]),
    None,
    Doc("""Accountant or None
        A budget that the fit is charged to; None: that of the ``with`` block around, if
        there is one in this process. A fit that would overspend is refused before it
        looks at the rows."""),
]

OnMissingPublic = Annotated[
    "Literal['raise', 'warn']",
    StrOptions({"raise", "warn"}),
    Doc("""{"raise", "warn"}
        What to do if public information is not given: refuse to fit; or read it from
        the rows, with a `PrivacyLeakWarning`, and `epsilon_` is inf."""),
]

PrivateRandomState = Annotated[
    RandomState,
    Doc("""int, RandomState instance or None
        None: the operating system's randomness, and the key is thrown away. Anything
        else makes the forest reproducible, and so not private: a warning, and
        `epsilon_` is inf."""),
]

PrivateNJobs = Annotated[
    NJobs,
    Doc("""int
        Threads, as everywhere in scikit-learn."""),
]
