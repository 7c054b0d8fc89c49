# SPDX-License-Identifier: BSD-3-Clause
"""Whether one forest is better than another: signed ranks, average ranks, Nemenyi.

After J. Demšar, Statistical comparisons of classifiers over multiple data sets, Journal
of Machine Learning Research 7 (2006), which the paper follows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from scipy import stats

__all__ = [
    "SignedRanks",
    "average_ranks",
    "critical_difference",
    "draw_critical_difference",
    "friedman",
    "signed_ranks",
]

# Differences of accuracies that are smaller are those of floating point.
PRECISION = 10


class SignedRanks(NamedTuple):
    """Result of Wilcoxon's signed-rank test.

    Attributes
    ----------
    p : float
        Probability of so large a difference, if there is none; of two sides.
    winner : {-1, 0, 1}
        1 if the first is significantly larger, -1 if the second is, else 0.

    Examples
    --------
    >>> from mrforest.experiments.stats import signed_ranks
    >>> signed_ranks([9, 8, 9, 8, 9, 8], [1, 2, 3, 4, 5, 6])
    SignedRanks(p=0.03125, winner=1)
    """

    p: float
    winner: int


def signed_ranks(
    first: ArrayLike, second: ArrayLike, *, alpha: float = 0.05
) -> SignedRanks:
    """Compare two forests on the same folds, by Wilcoxon's signed-rank test.

    Folds of one dataset share most of their rows, so that the test finds more than
    there is; the paper uses it nevertheless, and so do we, to compare.

    Parameters
    ----------
    first, second : array-like of shape (n_folds,)
        Accuracies, in the same order.
    alpha : float, default=0.05
        Level of significance.

    Returns
    -------
    SignedRanks

    Examples
    --------
    >>> signed_ranks([0.9, 0.8, 0.7], [0.9, 0.8, 0.7])
    SignedRanks(p=1.0, winner=0)
    """
    gaps = np.round(np.subtract(first, second), PRECISION)
    if not gaps.any():
        return SignedRanks(1.0, 0)
    # Demšar: the ranks of zeros are divided evenly between both sides.
    p = float(stats.wilcoxon(gaps, zero_method="zsplit").pvalue)
    leaning = np.sign(np.sum(np.sign(gaps) * stats.rankdata(np.abs(gaps))))
    return SignedRanks(p, int(leaning) if p < alpha else 0)


def average_ranks(accuracies: pd.DataFrame) -> pd.Series:
    """Rank the forests on each dataset and average.

    Parameters
    ----------
    accuracies : DataFrame of shape (n_datasets, n_forests)
        Without gaps.

    Returns
    -------
    Series
        By forest; 1 is the best. Equal forests share the mean of their ranks.

    Examples
    --------
    >>> import pandas as pd
    >>> from mrforest.experiments import stats
    >>> accuracies = pd.DataFrame(
    ...     {"A": [90, 81, 70, 95], "B": [89, 80, 69, 94], "C": [80, 70, 69, 90]},
    ...     index=["zoo", "cmc", "car", "wdbc"],
    ... )
    >>> stats.average_ranks(accuracies).to_dict()
    {'A': 1.0, 'B': 2.125, 'C': 2.875}
    """
    return accuracies.round(PRECISION).rank(axis=1, ascending=False).mean()


def friedman(accuracies: pd.DataFrame) -> float:
    """Test whether all forests are equally good.

    Parameters
    ----------
    accuracies : DataFrame of shape (n_datasets, n_forests)
        At least three forests and two datasets, without gaps.

    Returns
    -------
    float
        Probability of ranks so different, if they are.

    Examples
    --------
    >>> import pandas as pd
    >>> from mrforest.experiments import stats
    >>> accuracies = pd.DataFrame(
    ...     {"A": [90, 81, 70, 95], "B": [89, 80, 69, 94], "C": [80, 70, 69, 90]},
    ...     index=["zoo", "cmc", "car", "wdbc"],
    ... )
    >>> round(stats.friedman(accuracies), 3)
    0.022
    """
    ranks = accuracies.round(PRECISION)
    if (ranks.nunique(axis=1) == 1).all():
        return 1.0
    return float(stats.friedmanchisquare(*(ranks[name] for name in ranks)).pvalue)


def critical_difference(
    n_forests: int, n_datasets: int, *, alpha: float = 0.05
) -> float:
    """Return how far average ranks must be apart, by Nemenyi's test.

    Parameters
    ----------
    n_forests, n_datasets : int
        How many are compared, and on how many.
    alpha : float, default=0.05
        Level of significance.

    Returns
    -------
    float

    Examples
    --------
    Four classifiers on 14 datasets (Demšar 2006, Section 3.2.2):

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    q = stats.studentized_range.ppf(1 - alpha, n_forests, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_forests * (n_forests + 1) / (6 * n_datasets)))


def draw_critical_difference(panels: dict[str, pd.DataFrame]) -> Figure:
    """Draw average ranks; a bar joins forests that do not differ significantly.

    Parameters
    ----------
    panels : dict of DataFrame
        Titles, and accuracies of shape (n_datasets, n_forests), without gaps; at least
        two datasets and three forests each.

    Returns
    -------
    matplotlib.figure.Figure
        Not shown and not saved.

    Examples
    --------
    >>> import pandas as pd
    >>> from mrforest.experiments import stats
    >>> accuracies = pd.DataFrame(
    ...     {"A": [90, 81, 70, 95], "B": [89, 80, 69, 94], "C": [80, 70, 69, 90]},
    ...     index=["zoo", "cmc", "car", "wdbc"],
    ... )
    >>> figure = stats.draw_critical_difference({"Four datasets": accuracies})
    >>> print(figure.axes[0].get_title())
    Four datasets: average rank, 4 datasets
    critical difference 1.66, Friedman p = 0.022
    """
    # Slow to import, and nothing else needs it.
    import scikit_posthocs

    figure = Figure(figsize=(8, 2.9 * len(panels)), layout="constrained", dpi=150)
    all_axes = np.atleast_1d(figure.subplots(len(panels), 1))
    for axes, (title, accuracies) in zip(all_axes, panels.items(), strict=True):
        n_datasets, n_forests = accuracies.shape
        drawn = scikit_posthocs.critical_difference_diagram(
            average_ranks(accuracies),
            scikit_posthocs.posthoc_nemenyi_friedman(accuracies.round(PRECISION)),
            ax=axes,
            label_fmt_left="{label} ({rank:.2f}) ",
            label_fmt_right=" ({rank:.2f}) {label}",
            elbow_props={"color": "#8a8a8a", "linewidth": 1},
            marker_props={"color": "#1f5fa8", "marker": "o", "s": 30},
            crossbar_props={"color": "#e07b00", "linewidth": 3, "marker": None},
        )
        for label in drawn["labels"]:
            label.set_color("black")
        difference = critical_difference(n_forests, n_datasets)
        axes.set_title(
            f"{title}: average rank, {n_datasets} datasets\ncritical difference "
            f"{difference:.2f}, Friedman p = {friedman(accuracies):.2g}",
            fontsize="medium",
        )
    return figure
