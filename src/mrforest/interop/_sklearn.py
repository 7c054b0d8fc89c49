# SPDX-License-Identifier: BSD-3-Clause
"""A forest as scikit-learn's own, with the same splits and the same leaves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.tree._tree import Tree
from sklearn.utils.validation import check_is_fitted

from mrforest.forests._fitted import FittedForest
from mrforest.forests._flat import FlatForest
from mrforest.forests._flat_classes import ClassForest
from mrforest.forests._flat_values import ValueForest
from mrforest.forests._nodes import FEATURE_MASK, MISSING_LEFT

# What scikit-learn writes into the nodes of leaves
NO_CHILD, NO_FEATURE = -1, -2


def to_sklearn(forest: Any) -> RandomForestClassifier | RandomForestRegressor:
    """Return scikit-learn's forest that predicts the same.

    What is made for scikit-learn's forests works on it: `sklearn.tree.export_text` and
    `plot_tree` of a tree, SHAP's TreeExplainer, skl2onnx, treelite.

    Parameters
    ----------
    forest : estimator
        A fitted classifier or regressor of this package.

    Returns
    -------
    RandomForestClassifier or RandomForestRegressor
        Fitted. Probabilities differ by rounding only, of soft votes; a hard vote is a
        leaf that has one class. It cannot be fitted further.

    Raises
    ------
    ValueError
        For what scikit-learn's trees do not know: categories, and comparisons of rows
        with other rows.

    Notes
    -----
    scikit-learn's trees round rows to float32. A number that rounding carries across a
    threshold goes the other way; rows of float32 or small whole numbers never do.
    Missing values go where they went.

    A private forest tells of no rows: each of its leaves counts as one.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import export_text
    >>> from mrforest import MultinomialForestClassifier
    >>> from mrforest.interop import to_sklearn
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = MultinomialForestClassifier(10, voting="soft", random_state=0)
    >>> other = to_sklearn(forest.fit(X, y))
    >>> bool(np.allclose(other.predict_proba(X), forest.predict_proba(X), atol=1e-12))
    True
    >>> print(export_text(other.estimators_[0], max_depth=0).splitlines()[0])
    |--- feature_0 <= 5.95
    """
    if not isinstance(forest, FittedForest):
        raise TypeError(
            f"to_sklearn takes a forest of mrforest, not {type(forest).__name__}"
        )
    check_is_fitted(forest)
    check_carried(forest)
    flat = forest._forest
    if isinstance(flat, ClassForest):
        return class_forest(forest, flat)
    return value_forest(forest, flat)


def check_carried(forest: Any) -> None:
    """Raise an error if scikit-learn's trees cannot ask what these do."""
    name = type(forest).__name__
    if type(forest._forest) not in (ClassForest, ValueForest):
        raise ValueError(
            f"{name} cannot be carried over: its nodes ask which of two training rows "
            "is nearer, and scikit-learn's ask for one feature and a threshold"
        )
    schema = forest._schema
    for j, categories in enumerate(schema.categories):
        if categories is not None:
            column = j if schema.names is None else schema.names[j]
            raise ValueError(
                f"{name} cannot be carried over: column {column!r} is categorical, and "
                "scikit-learn's trees know numbers only; fit it on numbers (for "
                "example behind sklearn.preprocessing.OrdinalEncoder, with "
                "categorical_features=[])"
            )


# ---- forests -------------------------------------------------------------------------


def class_forest(forest: Any, flat: ClassForest) -> RandomForestClassifier:
    """Return scikit-learn's classifier."""
    shares = flat.leaf_shares(len(forest.classes_), forest._votes())
    weight = flat.leaf_weights()
    nodes = flat.add_up(np.column_stack([weight, weight[:, np.newaxis] * shares]))
    # A leaf keeps its shares as they are: a product and a quotient would round them.
    value = nodes[:, 1:] / nodes[:, :1]
    value[flat.leaf_nodes()] = shares
    other = RandomForestClassifier(n_estimators=len(flat))
    other.classes_, other.n_classes_ = forest.classes_, len(forest.classes_)
    other.estimator_ = DecisionTreeClassifier()
    own = {"classes_": np.arange(len(forest.classes_)), "n_classes_": other.n_classes_}
    impurity = 1 - (value**2).sum(axis=1)
    return filled(other, forest, Nodes(nodes[:, 0], value, impurity), own)


def value_forest(forest: Any, flat: ValueForest) -> RandomForestRegressor:
    """Return scikit-learn's regressor."""
    mean, weight = flat.leaf_value, flat.leaf_weights()
    centre = np.average(mean, weights=weight)
    moments = [np.ones(len(mean)), mean - centre]
    moments.append(moments[1] ** 2 + flat.leaf_deviation**2)
    nodes = flat.add_up(np.column_stack(moments) * weight[:, np.newaxis])
    first, second = nodes[:, 1] / nodes[:, 0], nodes[:, 2] / nodes[:, 0]
    value = (centre + first)[:, np.newaxis]
    value[flat.leaf_nodes(), 0] = mean
    other = RandomForestRegressor(n_estimators=len(flat))
    other.estimator_ = DecisionTreeRegressor()
    return filled(other, forest, Nodes(nodes[:, 0], value, second - first**2), {})


class Nodes(NamedTuple):
    """What nodes of all trees have beside their splits.

    Attributes
    ----------
    weight : ndarray of shape (n_nodes,)
        Of the estimation points.
    value : ndarray of shape (n_nodes, n_values)
        Shares of classes, or the mean.
    impurity : ndarray of shape (n_nodes,)
    """

    weight: NDArray[np.float64]
    value: NDArray[np.float64]
    impurity: NDArray[np.float64]


def filled(other: Any, forest: Any, nodes: Nodes, of_tree: dict[str, Any]) -> Any:
    """Return scikit-learn's forest with trees in it, and what is known of columns."""
    flat: FlatForest = forest._forest
    n_points = flat.add_up(np.maximum(flat.leaf_points, 1)[:, np.newaxis])[:, 0]
    known = {"n_features_in_": forest.n_features_in_, "n_outputs_": 1}
    vars(other).update(known)
    if hasattr(forest, "feature_names_in_"):
        other.feature_names_in_ = forest.feature_names_in_
    other.estimators_ = []
    for i in range(len(flat)):
        some = slice(*flat.tree_start[i : i + 2])
        part = Nodes(*(array[some] for array in nodes))
        tree = type(other.estimator_)()
        vars(tree).update(known, **of_tree, max_features_=forest.n_features_in_)
        tree.tree_ = make_tree(flat[i], part, n_points[some], forest.n_features_in_)
        other.estimators_.append(tree)
    return other


def make_tree(
    flat: FlatForest, nodes: Nodes, n_points: NDArray[np.int64], n_features: int
) -> Tree:
    """Return one tree as scikit-learn keeps it."""
    n_values = nodes.value.shape[1]
    tree = Tree(n_features, np.array([n_values], dtype=np.intp), 1)
    child = flat.nodes["child"]
    is_leaf = child < 0
    rows = np.zeros(len(child), dtype=tree.__getstate__()["nodes"].dtype)
    rows["left_child"] = np.where(is_leaf, NO_CHILD, child)
    rows["right_child"] = np.where(is_leaf, NO_CHILD, child + 1)
    feature = (flat.nodes["feature"] & FEATURE_MASK).astype(np.intp)
    rows["feature"] = np.where(is_leaf, NO_FEATURE, feature)
    rows["threshold"] = np.where(is_leaf, NO_FEATURE, flat.nodes["threshold"])
    rows["missing_go_to_left"] = (flat.nodes["feature"] & MISSING_LEFT) != 0
    rows["impurity"] = np.maximum(nodes.impurity, 0.0)
    rows["n_node_samples"] = n_points
    rows["weighted_n_node_samples"] = nodes.weight
    tree.__setstate__(
        {
            "max_depth": int(flat.depths().max()),
            "node_count": len(rows),
            "nodes": rows,
            "values": np.ascontiguousarray(nodes.value[:, np.newaxis, :]),
        }
    )
    return tree
