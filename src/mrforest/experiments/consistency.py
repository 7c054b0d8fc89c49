# SPDX-License-Identifier: BSD-3-Clause
"""Error of the forests as the table grows, beside the smallest possible error.

The paper's Theorem 1 promises that the error tends to the Bayes risk if the size k of a
leaf grows with the number n of rows, k → ∞ and k/n → 0. Here k = √n / 2, which is the
paper's 5 at n = 100, as `min_samples_leaf`, which is what the theorem covers, for all
forests of the paper. Two of them are also grown as the paper's experiments do, with
k = 5 for any n.

`ForestClassifier` chooses the size of its leaves itself. It is grown with every
midpoint as a cut, as theorem A in docs/theory.md has it, and with 255 bins, its
default.

The error of a fitted forest is computed from the known posterior at a large, fixed set
of points, not from labels: it has no noise of labels in it, and its excess over the
Bayes risk is never negative.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mrforest.experiments.distributions import DISTRIBUTIONS, Distribution
from mrforest.experiments.protocol import PAPER, make_forest
from mrforest.forests.forest import ForestClassifier

__all__ = [
    "EXPERIMENT",
    "FORESTS",
    "VARIANTS",
    "Slope",
    "excess_by_size",
    "leaf_size",
    "measure",
    "slope_of",
    "summary",
    "tasks",
]

EXPERIMENT = "consistency"

N_TREES = 41  # odd, so that votes between two classes have no ties
N_TEST = 100_000
TEST_SEED = 2020
# Number of rows: repetitions. Large tables are costly, and their errors vary little.
QUICK = {100: 4, 300: 4, 1_000: 3, 3_000: 3, 10_000: 2}
FULL = {
    100: 10, 300: 10, 1_000: 10, 3_000: 10, 10_000: 6,
    30_000: 4, 100_000: 3, 300_000: 2, 1_000_000: 2,
}  # fmt: skip
# Slopes are fitted from here on: what small tables do says little of the limit.
SLOPE_FROM = 1_000
FIXED_LEAF = 5

# The forests of the paper, and two again with the k and the leaf rule of Table 1:
# forest of the protocol, leaf rule
FIXED = {"MRF, k = 5": ("MRF", "stop"), "Breiman, k = 5": ("Breiman", "floor")}
BY_RULE = {name: (name, "floor") for name in PAPER} | FIXED
# The default forest: max_bins
SELF_TUNING: dict[str, Any] = {
    "ForestClassifier": "exact",
    "ForestClassifier, 255 bins": 255,
}
FORESTS = (*BY_RULE, *SELF_TUNING)
# Variants, and the forests that they are variants of
VARIANTS = {
    "MRF, k = 5": "MRF",
    "Breiman, k = 5": "Breiman",
    "ForestClassifier, 255 bins": "ForestClassifier",
}


def leaf_size(forest: str, n: int) -> int | None:
    """Return k, the size of a leaf.

    Parameters
    ----------
    forest : str
        A name in `FORESTS`.
    n : int
        Number of rows.

    Returns
    -------
    int or None
        None if the forest chooses it.

    Examples
    --------
    >>> [leaf_size("MRF", 10**p) for p in (2, 4, 6)]
    [5, 50, 500]
    >>> leaf_size("MRF, k = 5", 10**6)
    5
    """
    if forest in SELF_TUNING:
        return None
    return FIXED_LEAF if forest in FIXED else math.ceil(math.sqrt(n) / 2)


def tasks(*, quick: bool = False) -> list[dict[str, Any]]:
    """Return the settings of all that is to be measured.

    Parameters
    ----------
    quick : bool, default=False
        Whether to stop at 10,000 rows.

    Returns
    -------
    list of dict

    Examples
    --------
    >>> from mrforest.experiments import consistency
    >>> len(consistency.tasks(quick=True)), len(consistency.tasks())
    (640, 2280)
    >>> sorted(consistency.tasks()[0])
    ['distribution', 'forest', 'k', 'n', 'n_trees', 'repetition']
    """
    return [
        {
            "distribution": distribution,
            "forest": forest,
            "n": n,
            "k": leaf_size(forest, n),
            "n_trees": N_TREES,
            "repetition": repetition,
        }
        for n, n_repetitions in (QUICK if quick else FULL).items()
        for distribution in DISTRIBUTIONS
        for forest in FORESTS
        for repetition in range(n_repetitions)
    ]


def measure(settings: Mapping[str, Any]) -> dict[str, float]:
    """Fit one forest to one table and compute its error.

    Parameters
    ----------
    settings : mapping
        One of `tasks`. Tables of the same distribution, size and repetition are the
        same for all forests.

    Returns
    -------
    dict
        `excess`, the error less the Bayes risk; `risk`, their sum; `bayes_risk`.

    Examples
    --------
    >>> from mrforest.experiments import consistency
    >>> found = consistency.measure(consistency.tasks()[0])
    >>> sorted(found)
    ['bayes_risk', 'excess', 'risk']
    >>> found["risk"] > found["bayes_risk"]
    True
    """
    distribution = DISTRIBUTIONS[settings["distribution"]]
    n, repetition = settings["n"], settings["repetition"]
    X, y = distribution.sample(n, np.random.default_rng([repetition, n]))
    excess = excess_of(_make_forest(settings).fit(X, y), distribution)
    return {
        "excess": excess,
        "risk": distribution.bayes_risk + excess,
        "bayes_risk": distribution.bayes_risk,
    }


def _make_forest(settings: Mapping[str, Any]) -> Any:
    name = settings["forest"]
    common = {
        "n_estimators": settings["n_trees"],
        "n_jobs": 1,
        "random_state": settings["repetition"],
    }
    if name in SELF_TUNING:
        return ForestClassifier(max_bins=SELF_TUNING[name], **common)
    return make_forest(*BY_RULE[name], k=settings["k"], **common)


def excess_of(forest: Any, distribution: Distribution, n_test: int = N_TEST) -> float:
    """Compute how much likelier a fitted forest is to err than the best classifier.

    Parameters
    ----------
    forest : estimator
        Fitted; it predicts class codes.
    distribution : Distribution
        Where rows come from.
    n_test : int
        Points over which is averaged. They are always the same.

    Returns
    -------
    float
        Mean of the largest posterior less that of the predicted class.
    """
    X = distribution.points(n_test, np.random.default_rng(TEST_SEED))
    posterior = distribution.posterior(X)
    told = posterior[np.arange(n_test), forest.predict(X)]
    return float(np.mean(posterior.max(axis=1) - told))


# ---- what was found ------------------------------------------------------------------


class Slope(NamedTuple):
    """Of a straight line through logarithms, and its standard error.

    Examples
    --------
    >>> from mrforest.experiments.consistency import Slope
    >>> slope = Slope(value=-0.5, error=0.1)
    >>> f"{slope.value:.1f} ± {slope.error:.1f}"
    '-0.5 ± 0.1'
    """

    value: float
    error: float


def slope_of(
    sizes: NDArray[np.float64],
    means: NDArray[np.float64],
    errors: NDArray[np.float64],
) -> Slope:
    """Fit excess = constant · n^slope by least squares of logarithms.

    Parameters
    ----------
    sizes, means, errors : ndarray of shape (n_sizes,)
        Number of rows, mean excess over the repetitions, and its standard error.

    Returns
    -------
    Slope
        Its error comes from those of the means, which are independent: a logarithm has
        the relative error of its number, and the slope is a weighted sum. Both are NaN
        if there are fewer than two sizes or an excess is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from mrforest.experiments.consistency import slope_of
    >>> n = np.array([100.0, 1000.0, 10000.0])
    >>> slope = slope_of(n, means=2 / np.sqrt(n), errors=0.1 / np.sqrt(n))
    >>> round(slope.value, 6), round(slope.error, 3)
    (-0.5, 0.015)
    """
    if len(sizes) < 2 or not (means > 0).all():
        return Slope(math.nan, math.nan)
    x = np.log(sizes) - np.log(sizes).mean()
    weights = x / (x**2).sum()
    return Slope(
        float(weights @ np.log(means)),
        float(np.sqrt((weights**2) @ (errors / means) ** 2)),
    )


def excess_by_size(frame: pd.DataFrame) -> pd.DataFrame:
    """Average over repetitions.

    Parameters
    ----------
    frame : DataFrame
        Settings and measures, one a row.

    Returns
    -------
    DataFrame
        One row for each distribution, forest and n: `excess`, its standard `error` (NaN
        of a single repetition), `risk` and `bayes_risk`.

    Examples
    --------
    >>> import pandas as pd
    >>> from mrforest.experiments import consistency
    >>> wanted = [
    ...     task
    ...     for task in consistency.tasks(quick=True)
    ...     if task["distribution"] == "smooth wave" and task["forest"] == "MRF"
    ... ]
    >>> frame = pd.DataFrame({**w, **consistency.measure(w)} for w in wanted)
    >>> means = consistency.excess_by_size(frame)
    >>> means["n"].tolist()
    [100, 300, 1000, 3000, 10000]
    >>> means["excess"].is_monotonic_decreasing
    True
    """
    groups = frame.groupby(["distribution", "forest", "n"])
    return pd.DataFrame(
        {
            "excess": groups["excess"].mean(),
            "error": groups["excess"].sem(),
            "risk": groups["risk"].mean(),
            "bayes_risk": groups["bayes_risk"].first(),
        }
    ).reset_index()


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Tell how fast errors fall.

    Parameters
    ----------
    frame : DataFrame
        Settings and measures, one a row.

    Returns
    -------
    DataFrame
        One row for each distribution and forest: the Bayes risk, the number of rows of
        the largest table, excess there in per cent, its standard error, the slope from
        `SLOPE_FROM` rows on and its standard error, and the slope between the two
        largest sizes (`last_slope`), which tells whether the error still falls.

    Examples
    --------
    >>> import pandas as pd
    >>> from mrforest.experiments import consistency
    >>> wanted = [
    ...     task
    ...     for task in consistency.tasks(quick=True)
    ...     if task["distribution"] == "smooth wave" and task["forest"] == "MRF"
    ... ]
    >>> frame = pd.DataFrame({**w, **consistency.measure(w)} for w in wanted)
    >>> found = consistency.summary(frame).loc[0]
    >>> print(found["largest_n"], -1 < found["slope"] < -0.2)
    10000 True
    """
    rows = []
    for (distribution, forest), own in excess_by_size(frame).groupby(
        ["distribution", "forest"]
    ):
        own = own.sort_values("n")
        last = own.iloc[-1]
        fitted, last_two = own[own["n"] >= SLOPE_FROM], own.iloc[-2:]
        slope, last_slope = _slope(fitted), _slope(last_two)
        rows.append(
            {
                "distribution": distribution,
                "forest": forest,
                "bayes_risk": last["bayes_risk"],
                "largest_n": int(last["n"]),
                "excess_percent": 100 * last["excess"],
                "excess_error": 100 * last["error"],
                "slope": slope.value,
                "slope_error": slope.error,
                "last_slope": last_slope.value,
                "last_slope_error": last_slope.error,
            }
        )
    places = {name: i for i, name in enumerate([*DISTRIBUTIONS, *FORESTS])}
    return (
        pd.DataFrame(rows)
        .sort_values(["distribution", "forest"], key=lambda column: column.map(places))
        .reset_index(drop=True)
    )


def _slope(table: pd.DataFrame) -> Slope:
    return slope_of(
        *(table[name].to_numpy(dtype=np.float64) for name in ("n", "excess", "error"))
    )
