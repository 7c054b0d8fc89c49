# SPDX-License-Identifier: BSD-3-Clause
"""A forest as scikit-learn's own, with the same splits and the same leaves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

from mrforest._sklearn import tree_arrays
from mrforest.interop._order_cuts import Shape, by_order
from mrforest.interop._sharpened import SharpenedForestClassifier, is_sharpened
from mrforest.model.arrays import FlatForest
from mrforest.model.fitted import FittedForest
from mrforest.model.leaves import ClassForest, ValueForest
from mrforest.model.nodes import FEATURE_MASK, MISSING_LEFT

# What scikit-learn writes into the nodes of leaves
NO_CHILD, NO_FEATURE = -1, -2


def to_sklearn(forest: Any) -> RandomForestClassifier | RandomForestRegressor:
    """Return scikit-learn's forest that predicts the same.

    What is made for scikit-learn's forests works on it: `sklearn.tree.export_text` and
    `plot_tree` of a tree, SHAP's TreeExplainer, treelite; and skl2onnx, unless the
    probabilities are calibrated.

    Parameters
    ----------
    forest : estimator
        A fitted classifier or regressor of this package.

    Returns
    -------
    RandomForestClassifier or RandomForestRegressor
        Fitted. Probabilities differ by rounding only, of soft votes; a hard vote is a
        leaf that has one class. It cannot be fitted further.

        For a `ForestClassifier` with ``calibrate=True`` it is of a subclass of
        RandomForestClassifier, whose `predict_proba` calibrates, too. Packages that
        read the trees see the mean class shares of the leaves, without calibration; its
        method ``sharpen(shares)`` turns such shares into probabilities.

    Raises
    ------
    ValueError
        For what scikit-learn's trees do not know: categories, and comparisons of rows
        with other rows. And for a forest whose equality cuts would take too many nodes,
        see below.

    Notes
    -----
    scikit-learn's trees round rows to float32. A number that rounding carries across a
    threshold goes the other way; rows of float32 or small whole numbers never do.
    Missing values go where they went.

    An equality cut of a numeric column (see `ForestClassifier`) becomes two order cuts:
    x <= v, and x <= the float32 number next below v. The subtree of the other values is
    copied: one copy for those below v, one for those above. Copies share the estimation
    points evenly; parts of a copy that no row can reach are left out. Most forests have
    one to ten times as many nodes then. Many such cuts along a path, of many columns,
    take far more. If these are more than ten million nodes, and four times as many as
    the forest has, that is an error; fit with ``equality_cuts=False`` then. `to_onnx`
    and `shap_values` need no copies.

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
    check_carried(forest)
    shape = by_order(forest._forest)
    if is_sharpened(forest):
        sharpened = SharpenedForestClassifier(n_estimators=len(shape.trees))
        sharpened.power_ = forest.power_
        sharpened.uniform_share_ = forest._uniform_share
        return class_forest(sharpened, forest, shape)
    return carried(forest, shape)


def check_carried(forest: Any) -> None:
    """Raise an error if scikit-learn's trees cannot ask what these do."""
    if not isinstance(forest, FittedForest):
        raise TypeError(
            f"to_sklearn takes a forest of mrforest, not {type(forest).__name__}"
        )
    check_is_fitted(forest)
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


def carried(forest: Any, shape: Shape) -> Any:
    """Return scikit-learn's forest of these trees; probabilities are mean shares."""
    n_trees = len(shape.trees)
    if isinstance(forest._forest, ClassForest):
        return class_forest(RandomForestClassifier(n_trees), forest, shape)
    return value_forest(RandomForestRegressor(n_trees), forest, shape)


def class_forest(
    other: RandomForestClassifier, forest: Any, shape: Shape
) -> RandomForestClassifier:
    """Return scikit-learn's classifier, filled."""
    flat: ClassForest = forest._forest
    shares = flat.leaf_shares(len(forest.classes_), forest._votes())[shape.leaf]
    weight = flat.leaf_weights()[shape.leaf] / shape.n_copies
    of_leaves = np.column_stack([weight, weight[:, np.newaxis] * shares])
    nodes = shape.trees.add_up(of_leaves)
    # A leaf keeps its shares as they are: a product and a quotient would round them.
    value = nodes[:, 1:] / nodes[:, :1]
    value[shape.trees.leaf_nodes()] = shares
    other.classes_, other.n_classes_ = forest.classes_, len(forest.classes_)
    other.estimator_ = DecisionTreeClassifier()
    own = {"classes_": np.arange(len(forest.classes_)), "n_classes_": other.n_classes_}
    impurity = 1 - (value**2).sum(axis=1)
    filled = Nodes(nodes[:, 0], value, impurity)
    return fill(other, forest, shape.trees, filled, own)


def value_forest(
    other: RandomForestRegressor, forest: Any, shape: Shape
) -> RandomForestRegressor:
    """Return scikit-learn's regressor, filled."""
    flat: ValueForest = forest._forest
    mean = flat.leaf_value[shape.leaf]
    weight = flat.leaf_weights()[shape.leaf] / shape.n_copies
    centre = np.average(mean, weights=weight)
    moments = [np.ones(len(mean)), mean - centre]
    moments.append(moments[1] ** 2 + flat.leaf_deviation[shape.leaf] ** 2)
    nodes = shape.trees.add_up(np.column_stack(moments) * weight[:, np.newaxis])
    first, second = nodes[:, 1] / nodes[:, 0], nodes[:, 2] / nodes[:, 0]
    value = (centre + first)[:, np.newaxis]
    value[shape.trees.leaf_nodes(), 0] = mean
    other.estimator_ = DecisionTreeRegressor()
    filled = Nodes(nodes[:, 0], value, second - first**2)
    return fill(other, forest, shape.trees, filled, {})


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


def fill(
    other: Any, forest: Any, flat: FlatForest, nodes: Nodes, of_tree: dict[str, Any]
) -> Any:
    """Put trees into scikit-learn's forest, and what is known of columns."""
    n_points = flat.add_up(flat.leaf_points[:, np.newaxis].astype(np.int64))[:, 0]
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
) -> Any:
    """Return one tree as scikit-learn keeps it."""
    n_values = nodes.value.shape[1]
    tree = tree_arrays()(n_features, np.array([n_values], dtype=np.intp), 1)
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
