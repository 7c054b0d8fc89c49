# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of parameters and attributes that several forests share.

A docstring names them in braces, each on a line of its own, and `describe` puts the
text in their place.
"""

from __future__ import annotations

import re
from typing import TypeVar

T = TypeVar("T")

PARTS = {
    "n_estimators": """
n_estimators : int, default=100
    Number of trees.""",
    "partition_rate": """
partition_rate : float, default=1.0
    Number of structure points divided by number of estimation points.""",
    "min_samples_leaf": """
min_samples_leaf : int, default=5
    k of the paper; a number of estimation points. See ``leaf_rule``.""",
    "leaf_rule": """
leaf_rule : {"stop", "floor"}, default="stop"
    "stop": a node with at most k estimation points, or with structure points of one
    class, is not split, and a split that would leave a child without estimation
    points is refused. "floor": only cuts that leave at least k estimation points on
    both sides are candidates, and pure nodes are split on; theorems want this, with a
    k that grows with the number of rows.""",
    "value_leaf_rule": """
leaf_rule : {"stop", "floor"}, default="stop"
    "stop": a node with at most k estimation points, or with structure points of one
    target, is not split, and a split that would leave a child without estimation
    points is refused. "floor": only cuts that leave at least k estimation points on
    both sides are candidates, and pure nodes are split on; theorems want this, with a
    k that grows with the number of rows.""",
    "bag_min_samples_leaf": """
min_samples_leaf : int, default=1
    k; a number of points of the bag. See ``leaf_rule``.""",
    "bag_leaf_rule": """
leaf_rule : {"stop", "floor"}, default="floor"
    "floor": only cuts that leave at least k points of the bag on both sides are
    candidates, as in scikit-learn. "stop": a node of at most k points is not split, as
    R's ``nodesize``. Pure nodes are leaves under both.""",
    "min_weight_fraction_leaf": """
min_weight_fraction_leaf : float, default=0.0
    0 to 0.5. A split that would leave a child with less than this share of the weight
    of all estimation points of the tree (sample weights times class weights) is
    refused: the node becomes a leaf.""",
    "criterion": """
criterion : {"gini", "entropy"}, default="gini"
    Impurity whose decrease is the score of a cut.""",
    "max_depth": """
max_depth : int, default=None
    Depth at which every node is a leaf. None: no limit.""",
    "max_features": """
max_features : "sqrt", "log2", int, float or None, default="sqrt"
    Features that a node looks at, drawn afresh: the square root or the binary
    logarithm of all, rounded down; so many; this share of all; or all. At least 1. If
    none of them can be cut, further ones are drawn.""",
    "max_bins": """
max_bins : int or "exact", default=255
    A numeric feature of at most so many distinct values (2 to 255) is cut at every
    midpoint, one of more at so many quantiles. "exact": at every midpoint, up to
    65,534.""",
    "categorical_features": """
categorical_features : "from_dtype", array-like or None, default="from_dtype"
    Features that are cut by equality: columns of a categorical dtype; or indices,
    names or a boolean mask; or none. A category that was not seen in fit is a missing
    value.""",
    "voting": """
voting : {"hard", "soft"}, default="hard"
    "hard": each tree has one vote. "soft": the class shares of the leaves are
    averaged.""",
    "soft_voting": """
voting : {"hard", "soft"}, default="soft"
    "soft": the class shares of the leaves are averaged. "hard": each tree has one
    vote.""",
    "class_weight": """
class_weight : dict, "balanced" or None, default=None
    Weights of the classes, in impurities and leaves.""",
    "oob_score": """
oob_score : bool or callable, default=False
    Whether to judge each row by the trees whose bag it is not in. A callable
    ``metric(y_true, y_pred)`` takes the place of the usual score.""",
    "warm_start": """
warm_start : bool, default=False
    Keep the trees of the previous fit and add more. The result is the forest that one
    fit would have grown.""",
    "n_jobs": """
n_jobs : int, default=None
    Threads, as everywhere in scikit-learn. The forest and its predictions are the same
    to the bit for any number and any joblib backend.""",
    "random_state": """
random_state : int, RandomState instance or None, default=None
    An int makes the forest reproducible.""",
    "verbose": """
verbose : int, default=0
    1 shows a progress bar (needs the package rich).""",
    "classes_": """
classes_ : ndarray of shape (n_classes,)
    Class labels.
n_classes_ : int
    Number of classes.""",
    "n_features_in_": """
n_features_in_ : int
    Number of features.
feature_names_in_ : ndarray of shape (`n_features_in_`,)
    Names of features, if the table has them.""",
    "estimators_": """
estimators_ : list of Tree
    Views of the single trees.
n_leaves_, depths_ : ndarray of shape (n_estimators,)
    Leaves and depth of each tree.""",
    "importances_": """
feature_importances_ : ndarray of shape (`n_features_in_`,)
    Impurity decrease on the estimation points; without weights 0 on average for a
    feature that says nothing.
structure_importances_ : ndarray of shape (`n_features_in_`,)
    Impurity decrease on the structure points.""",
    "bag_importances_": """
feature_importances_, structure_importances_ : ndarray of shape (`n_features_in_`,)
    Impurity decrease on the points of the bags. The first estimates impurities without
    the bias of small nodes; as the same points choose the splits, both favour features
    of many values.""",
    "oob_classifier_": """
oob_score_ : float
    Out-of-bag accuracy, if asked for.
oob_decision_function_ : ndarray of shape (n_samples, n_classes)
    Out-of-bag probabilities, NaN for a row that is in every bag.""",
    "oob_regressor_": """
oob_score_ : float
    Out-of-bag R², if asked for.
oob_prediction_ : ndarray of shape (n_samples,)
    Out-of-bag predictions, NaN for a row that is in every bag.""",
    # ---- forests that tune themselves ------------------------------------------------
    "max_samples": """
max_samples : int or float, default=0.8
    Rows that shape a tree, drawn without replacement: on average so many, or this
    share of all. The others are held out: they fill the tree, but do not shape it. If
    all rows shape the trees, there are no out-of-bag estimates and no importances.""",
    "tuned_max_features": """
max_features : "auto", "sqrt", "log2", int, float or None, default="auto"
    Features that a node looks at, drawn afresh: the square root or the binary
    logarithm of all, rounded down; so many; this share of all; or all. Features
    that cannot be cut do not count. "auto" tries the square root of all, their
    number to the power of 3/4, and all, as long as each is better than the one
    before.""",
    "tuned_budgets": """
feature_budget, split_budget : float or "auto", default="auto"
    B1 and B2 of the multinomial forest, 0 or more and finite: how greedily the
    feature and the cut are drawn. "auto" takes 10, 20 or 40, the more the more
    features a node looks at.""",
    "equality_cuts": """
equality_cuts : bool or "auto", default="auto"
    Whether numeric features of 3 to 32 different values, all of them whole
    numbers, are cut by "equal to a value", too, beside "at most a value". "auto"
    tries both.""",
    "min_samples_split": """
min_samples_split : int or "auto", default="auto"
    A node of fewer rows is a leaf. "auto" chooses among 2, 3, 4, 5, 7, 9, 13, …,
    at most the number of rows to the power of 3/4, plus 1.""",
    "tuned_min_samples_leaf": """
min_samples_leaf : int or "auto", default="auto"
    A split that leaves a child with fewer rows is refused: the node becomes a leaf.
    "auto" is 1, from a million rows on 2, from a billion on 3.""",
    "tuned_criterion": """
criterion : {"auto", "gini", "entropy"}, default="auto"
    Impurity whose decrease is the score of a cut. "auto": the better one, measured on
    held-out rows.""",
    "tuned_min_weight_fraction_leaf": """
min_weight_fraction_leaf : float, default=0.0
    0 to 0.5. A split that leaves a child with less than this share of the weight of
    all rows (sample weights times class weights) is refused.""",
    "tuned_warm_start": """
warm_start : bool, default=False
    Keep the trees of the previous fit and add more, with the setting and leaf size
    that it chose. Out-of-bag estimates, and the power of a classifier, are then those
    of all trees, provided that every fit since the first had `warm_start=True` and the
    same rows, targets and weights. The order of the rows does not matter. Otherwise the
    forest has no out-of-bag estimates, and its power stays the same.""",
    "tuned_": """
max_features_ : int
    Features that a node looks at, as it was chosen.
feature_budget_, split_budget_ : float
    The budgets that were chosen.
equality_cuts_ : bool
    Whether equality is offered, as it was chosen.
criterion_ : str
    The criterion that was chosen; "variance" in regression.
min_samples_split_, min_samples_leaf_ : int
    The leaf size that was chosen.
tuning_ : list of `mrforest.inspection.Trial`
    The settings that were tried, with the estimated loss of each leaf size; empty if
    all parameters were given. `mrforest.inspection.plot_tuning` draws it.""",
    # ---- private forests ------------------------------------------------------------
    "epsilon": """
epsilon : float, default=1.0
    Budget of the fit, at least 1e-6. inf: no noise, no privacy; the best tree of this
    kind.""",
    "delta": """
delta : float, default=0.0
    Probability that `epsilon` may fail with, far below one over the number of rows. If
    it is positive, budgets are also added up in zero-concentrated privacy (zCDP), in
    which many trees cost less; one tree of labels is the same with and without.""",
    "bounds": """
bounds : pair, list of pairs or dict, default=None
    Smallest and largest value of numeric columns, from public knowledge: one pair for
    all columns, a pair for each (None for a categorical one), or a mapping from column
    name or position. Two ints say that a column holds whole numbers only. Values
    beyond are clipped.""",
    "categories": """
categories : dict, default=None
    From column name or position to the list of its categories, from public knowledge.
    Columns that are listed here are categorical; all others are numeric. A value that
    is not in the list is "other".""",
    "private_n_estimators": """
n_estimators : int or "auto", default="auto"
    Number of trees. They share the budget, so "auto" is one tree; but up to 20 for
    counts in leaves, if `delta` is positive and there are rows enough.""",
    "private_max_depth": """
max_depth : int or "auto", default="auto"
    Levels of a tree, at most 20. "auto": the more the larger rows x budget. Never
    chosen by looking at the rows.""",
    "honest": """
honest : bool, default=False
    Whether one half of the rows shapes the trees and the other tells the leaves, each
    with the whole budget. Such a forest is consistent on the grid as its depth grows,
    see docs/privacy.md; on a given table it is usually less accurate.""",
    "neighbours": """
neighbours : {"add-remove", "replace-one"}, default="add-remove"
    Tables that are to look alike: with one row more or less, or with one row changed.
    The second costs twice as much.""",
    "n_public": """
n_public : int or None, default=None
    The number of rows, roughly, if it is public knowledge. None: if an "auto" needs
    it, it is drawn with noise, for 3% of the budget.""",
    "accountant": """
accountant : Accountant or None, default=None
    A budget that the fit is charged to; None: that of the ``with`` block around, if
    there is one in this process. A fit that would overspend is refused before it looks
    at the rows.""",
    "on_missing_public": """
on_missing_public : {"raise", "warn"}, default="raise"
    What to do if public information is not given: refuse to fit; or read it from the
    rows, with a `PrivacyLeakWarning`, and `epsilon_` is inf.""",
    "private_random_state": """
random_state : int, RandomState instance or None, default=None
    None: the operating system's randomness, and the key is thrown away. Anything else
    makes the forest reproducible, and so not private: a warning, and `epsilon_` is
    inf.""",
    "private_n_jobs": """
n_jobs : int, default=None
    Threads, as everywhere in scikit-learn.""",
    "ledger_": """
ledger_ : Ledger
    All that the fit told of the rows, and what each part cost.""",
    "epsilon_": """
epsilon_ : float
    What the fit cost, at most `epsilon`; but for a probability of `delta_`. inf if it
    is not private.
delta_ : float
    The parameter.""",
    "n_rows_": """
n_rows_ : int or None
    The number of rows as the fit knows it: public, noisy (it may be far off, and
    negative, if epsilon is small), or None if it was not needed.""",
}


def describe(cls: type[T]) -> type[T]:
    """Put shared descriptions into the docstring of a class.

    Parameters
    ----------
    cls : type
        Its docstring has lines such as ``{n_estimators}``.

    Returns
    -------
    type
        The same class.
    """

    def text(match: re.Match[str]) -> str:
        indent, name = match.groups()
        lines = PARTS[name].strip("\n").splitlines()
        return "\n".join(indent + line if line else line for line in lines)

    if cls.__doc__:  # python -OO has none
        cls.__doc__ = re.sub(r"(?m)^( *)\{(\w+)\}$", text, cls.__doc__)
    return cls
