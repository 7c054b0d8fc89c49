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
feature_names_in_ : ndarray of shape (n_features_in_,)
    Names of features, if the table has them.""",
    "estimators_": """
estimators_ : list of Tree
    Views of the single trees.
n_leaves_, depths_ : ndarray of shape (n_estimators,)
    Leaves and depth of each tree.""",
    "importances_": """
feature_importances_ : ndarray of shape (n_features_in_,)
    Impurity decrease on the estimation points; without weights 0 on average for a
    feature that says nothing.
structure_importances_ : ndarray of shape (n_features_in_,)
    Impurity decrease on the structure points.""",
    "bag_importances_": """
feature_importances_, structure_importances_ : ndarray of shape (n_features_in_,)
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
