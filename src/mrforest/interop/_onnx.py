# SPDX-License-Identifier: BSD-3-Clause
"""A forest as an ONNX model."""

from __future__ import annotations

from typing import Any

from mrforest._optional import needed
from mrforest.interop._sklearn import to_sklearn

# Where nodes of trees are, in a model
ENSEMBLES = ("TreeEnsembleClassifier", "TreeEnsembleRegressor")


def to_onnx(forest: Any) -> Any:
    """Return an ONNX model that predicts the same, within the precision of float32.

    Parameters
    ----------
    forest : estimator
        A fitted classifier or regressor that `to_sklearn` takes.

    Returns
    -------
    onnx.ModelProto
        Input ``X``: float32 rows, missing values allowed. Outputs: ``label`` and
        ``probabilities`` of a classifier, ``variable`` of a regressor.

    Notes
    -----
    Needs the package skl2onnx. Of equal probabilities the label may be another one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mrforest import MultinomialForestClassifier
    >>> from mrforest.interop import to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> model = to_onnx(MultinomialForestClassifier(5, random_state=0).fit(X, y))
    >>> [output.name for output in model.graph.output]
    ['label', 'probabilities']
    """
    skl2onnx = needed("skl2onnx", by="to_onnx")
    types = needed("skl2onnx.common.data_types", by="to_onnx")
    other = to_sklearn(forest)
    rows = types.FloatTensorType([None, other.n_features_in_])
    options = {id(other): {"zipmap": False}} if hasattr(other, "classes_") else None
    model = skl2onnx.convert_sklearn(
        other, initial_types=[("X", rows)], options=options
    )
    set_missing(model, other)
    return model


def set_missing(model: Any, other: Any) -> None:
    """Send missing values where the trees send them; skl2onnx sends them right."""
    helper = needed("onnx.helper", by="to_onnx")
    to_left = [tree.tree_.missing_go_to_left for tree in other.estimators_]
    for node in model.graph.node:
        if node.op_type not in ENSEMBLES:
            continue
        known = {attribute.name: attribute for attribute in node.attribute}
        trees, nodes = known["nodes_treeids"].ints, known["nodes_nodeids"].ints
        name = "nodes_missing_value_tracks_true"
        if name in known:
            node.attribute.remove(known[name])
        tracks = [int(to_left[t][i]) for t, i in zip(trees, nodes, strict=True)]
        node.attribute.append(helper.make_attribute(name, tracks))
