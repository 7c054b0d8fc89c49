# SPDX-License-Identifier: BSD-3-Clause
"""Parameters that several forests have: types, allowed values and descriptions.

See `mrforest.forests.declaration`. A type is written as signatures show it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from mrforest._sklearn import Interval, RealNotInt, StrOptions
from mrforest.forests.declaration import Doc

AUTO = StrOptions({"auto"})
AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")
AT_LEAST_TWO = Interval(Integral, 2, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
SHARE = Interval(RealNotInt, 0, 1, closed="right")
PROBABILITY = Interval(Real, 0, 1, closed="both")
BUDGET = Interval(Real, 0, None, closed="both")  # inf is a budget

# ---- growing -------------------------------------------------------------------------

NEstimators = Annotated[
    "int",
    AT_LEAST_ONE,
    Doc("""int
        Number of trees."""),
]

HonestFraction = Annotated[
    "float",
    Interval(Real, 0, 1, closed="neither"),
    Doc("""float
        Share of the points of a tree that fill its leaves, above 0 and below 1. The
        others shape it."""),
]

# Of forests that need not be honest
OptionalHonestFraction = Annotated[
    HonestFraction,
    Doc("""float
        Share of the points of a tree that fill its leaves, above 0 and below 1. The
        others shape it. Only for honest trees."""),
]

MaxFeatures = Annotated[
    "str | float | None",
    StrOptions({"sqrt", "log2"}),
    AT_LEAST_ONE,
    SHARE,
    None,
    Doc(""""sqrt", "log2", int, float or None
        Features that a node looks at, drawn afresh: the square root or the binary
        logarithm of all, rounded down; so many; this share of all; or all. At least 1.
        If none of them can be cut, further ones are drawn."""),
]

MinSamplesSplit = Annotated[
    "int | None",
    AT_LEAST_TWO,
    None,
    Doc("""int or None
        A node with fewer estimation points is a leaf. None: 6, or 2 if
        ``min_samples_leaf`` is given."""),
]

# Of forests of bootstrap samples
BagMinSamplesSplit = Annotated[
    "int",
    AT_LEAST_TWO,
    Doc("""int
        A node with fewer points of the bag is a leaf."""),
]

MIN_SAMPLES_LEAF = """int or None
        An int k: only cuts that leave at least k estimation points on both sides are
        candidates, and honest trees split nodes of one {target}, too. {who} this, with
        a k that grows with the number of rows. None: any cut may be drawn; a node of
        one {target} is a leaf, and so is one whose cut would leave a child without
        estimation points."""

MinSamplesLeaf = Annotated[
    "int | None",
    AT_LEAST_ONE,
    None,
    Doc(MIN_SAMPLES_LEAF.format(target="class", who="Theorems want")),
]

# In regression
ValueMinSamplesLeaf = Annotated[
    MinSamplesLeaf, Doc(MIN_SAMPLES_LEAF.format(target="target", who="Theorems want"))
]

# Of forests of bootstrap samples
BagMinSamplesLeaf = Annotated[
    MinSamplesLeaf,
    Doc("""int or None
        Only cuts that leave at least this many points of the bag on both sides are
        candidates. None: all cuts are; each leaves at least one point on both sides.
    """),
]

MinWeightFractionLeaf = Annotated[
    "float",
    Interval(Real, 0, 0.5, closed="both"),
    Doc("""float
        0 to 0.5. A split that would leave a child with less than this share of the
        weight of all estimation points of the tree (sample weights times class weights)
        is refused: the node becomes a leaf."""),
]

Criterion = Annotated[
    "Literal['gini', 'entropy']",
    StrOptions({"gini", "entropy"}),
    Doc("""{"gini", "entropy"}
        Impurity whose decrease is the score of a cut."""),
]

MaxDepth = Annotated[
    "int | None",
    AT_LEAST_ONE,
    None,
    Doc("""int
        Depth at which every node is a leaf. None: no limit."""),
]

MaxBins = Annotated[
    "int | Literal['exact']",
    Interval(Integral, 2, 255, closed="both"),
    StrOptions({"exact"}),
    Doc("""int or "exact"
        A numeric feature of at most so many distinct values (2 to 255) is cut at every
        midpoint, one of more at so many quantiles. "exact": at every midpoint, up to
        65,534."""),
]

CategoricalFeatures = Annotated[
    "ArrayLike | Literal['from_dtype'] | None",
    "array-like",
    StrOptions({"from_dtype"}),
    None,
    Doc(""""from_dtype", array-like or None
        Features that are cut by equality: columns of a categorical dtype; or indices,
        names or a boolean mask; or none. A category that was not seen in fit is a
        missing value."""),
]

# ---- classes, and rows outside the bag -----------------------------------------------

Voting = Annotated[
    "Literal['hard', 'soft']",
    StrOptions({"hard", "soft"}),
    Doc("""{"hard", "soft"}
        "hard": each tree has one vote. "soft": the class shares of the leaves are
        averaged."""),
]

# Of forests that are soft by default
SoftVoting = Annotated[
    Voting,
    Doc("""{"hard", "soft"}
        "soft": the class shares of the leaves are averaged. "hard": each tree has one
        vote."""),
]

ClassWeight = Annotated[
    "dict[Any, float] | Literal['balanced'] | None",
    dict,
    StrOptions({"balanced"}),
    None,
    Doc("""dict, "balanced" or None
        Weights of the classes, in impurities and leaves."""),
]

OobScore = Annotated[
    "bool | Callable[..., float]",
    "boolean",
    callable,
    Doc("""bool or callable
        Whether to judge each row by the trees whose bag it is not in. A callable
        ``metric(y_true, y_pred)`` takes the place of the usual score."""),
]

# ---- running -------------------------------------------------------------------------

WarmStart = Annotated[
    "bool",
    "boolean",
    Doc("""bool
        Keep the trees of the previous fit and add more. The result is the forest that
        one fit would have grown."""),
]

NJobs = Annotated[
    "int | None",
    Integral,
    None,
    Doc("""int
        Threads, as everywhere in scikit-learn. The forest and its predictions are the
        same to the bit for any number and any joblib backend."""),
]

RandomState = Annotated[
    "int | np.random.RandomState | None",
    "random_state",
    Doc("""int, RandomState instance or None
        An int makes the forest reproducible."""),
]

Verbose = Annotated[
    "int",
    "verbose",
    Doc("""int
        1 shows a progress bar (needs the package rich)."""),
]

# ---- forests that tune themselves ----------------------------------------------------

MaxSamples = Annotated[
    "float",
    SHARE,
    AT_LEAST_ONE,
    Doc("""int or float
        Rows that shape a tree, drawn without replacement: on average so many, or this
        share of all. The others are held out: they fill the tree, but do not shape it.
        If all rows shape the trees, there are no out-of-bag estimates and no
        importances."""),
]

TunedMaxFeatures = Annotated[
    MaxFeatures,
    AUTO,
    Doc(""""auto", "sqrt", "log2", int, float or None
        Features that a node looks at, drawn afresh: the square root or the binary
        logarithm of all, rounded down; so many; this share of all; or all. Features
        that cannot be cut do not count. "auto" tries the square root of all, their
        number to the power of 3/4, and all, as long as each is better than the one
        before."""),
]

TunedBudgets = Annotated[
    "float | Literal['auto']",
    AUTO,
    Interval(Real, 0, None, closed="left"),
    Doc("""float or "auto"
        B1 and B2 of the multinomial forest, 0 or more and finite: how greedily the
        feature and the cut are drawn. "auto" takes 10, 20 or 40, the more the more
        features a node looks at."""),
]

EqualityCuts = Annotated[
    "bool | Literal['auto']",
    AUTO,
    "boolean",
    Doc("""bool or "auto"
        Whether numeric features of 3 to 32 different values, all of them whole
        numbers, are cut by "equal to a value", too, beside "at most a value". "auto"
        tries both."""),
]

TunedMinSamplesSplit = Annotated[
    "int | Literal['auto']",
    AUTO,
    AT_LEAST_TWO,
    Doc("""int or "auto"
        A node of fewer rows is a leaf. "auto" chooses among 2, 3, 4, 5, 7, 9, 13, …, at
        most the number of rows to the power of 3/4, plus 1."""),
]

TunedMinSamplesLeaf = Annotated[
    "int | Literal['auto']",
    AUTO,
    AT_LEAST_ONE,
    Doc("""int or "auto"
        A split that leaves a child with fewer rows is refused: the node becomes a leaf.
        "auto" is 1, from a million rows on 2, from a billion on 3."""),
]

TunedMinWeightFractionLeaf = Annotated[
    MinWeightFractionLeaf,
    Doc("""float
        0 to 0.5. A split that leaves a child with less than this share of the weight of
        all rows (sample weights times class weights) is refused."""),
]

TunedCriterion = Annotated[
    "Literal['auto', 'gini', 'entropy']",
    AUTO,
    StrOptions({"gini", "entropy"}),
    Doc("""{"auto", "gini", "entropy"}
        Impurity whose decrease is the score of a cut. "auto": the better one, measured
        on held-out rows."""),
]

TunedWarmStart = Annotated[
    WarmStart,
    Doc("""bool
        Keep the trees of the previous fit and add more, with the setting and leaf size
        that it chose. Out-of-bag estimates, and the power of a classifier, are then
        those of all trees, provided that every fit since the first had
        `warm_start=True` and the same rows, targets and weights. The order of the rows
        does not matter. Otherwise the forest has no out-of-bag estimates, and its power
        stays the same."""),
]


def count_features(max_features: str | float | None, n_features: int) -> int:
    """How many features `max_features` means, of so many; at least one."""
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        return math.isqrt(n_features)
    if max_features == "log2":
        return max(1, n_features.bit_length() - 1)
    if isinstance(max_features, Integral):
        return min(int(max_features), n_features)
    return max(1, int(float(max_features) * n_features))
