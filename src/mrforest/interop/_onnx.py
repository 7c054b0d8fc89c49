# SPDX-License-Identifier: BSD-3-Clause
"""A forest as an ONNX model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrforest._optional import needed
from mrforest.interop._order_cuts import as_it_is
from mrforest.interop._sharpened import is_sharpened
from mrforest.interop._sklearn import carried, check_carried
from mrforest.model.arrays import FlatForest
from mrforest.model.nodes import EQUALITY, MISSING_LEFT

# Where nodes of trees are, in a model
ENSEMBLES = ("TreeEnsembleClassifier", "TreeEnsembleRegressor")


def to_onnx(forest: Any) -> Any:
    """Return an ONNX model that predicts the same, within the precision of float32.

    Parameters
    ----------
    forest : estimator
        A fitted classifier or regressor. Its columns must be numeric, as those of a
        forest that `to_sklearn` takes.

    Returns
    -------
    onnx.ModelProto
        Input ``X``: float32 rows, missing values allowed. Outputs: ``label`` and
        ``probabilities`` of a classifier, ``variable`` of a regressor.

    Notes
    -----
    Needs the package skl2onnx. Of equal probabilities the label may be another one.

    ONNX knows equality cuts, so the model has as many nodes as the forest. It compares
    numbers that are rounded to float32. Probabilities of a `ForestClassifier` are
    calibrated as those of `predict_proba`.

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
    check_carried(forest)
    # skl2onnx takes equality cuts for order cuts; they are mended below.
    other = carried(forest, as_it_is(forest._forest))
    rows = types.FloatTensorType([None, other.n_features_in_])
    options = {id(other): {"zipmap": False}} if hasattr(other, "classes_") else None
    model = skl2onnx.convert_sklearn(
        other, initial_types=[("X", rows)], options=options
    )
    for node in model.graph.node:
        if node.op_type in ENSEMBLES:
            set_cuts(node, forest._forest)
    if is_sharpened(forest):
        add_sharpening(model.graph, forest)
    return model


def set_cuts(ensemble: Any, flat: FlatForest) -> None:
    """Put into the nodes of trees what skl2onnx does not know of.

    It sends missing values right everywhere, and asks for order everywhere.
    """
    helper = needed("onnx.helper", by="to_onnx")
    known = {attribute.name: attribute for attribute in ensemble.attribute}
    trees, nodes = (
        np.array(known[name].ints) for name in ("nodes_treeids", "nodes_nodeids")
    )
    place = flat.tree_start[trees] + nodes
    flags, threshold = flat.nodes["feature"][place], flat.nodes["threshold"][place]
    is_inner = flat.nodes["child"][place] >= 0
    missing_left = is_inner & ((flags & MISSING_LEFT) != 0)
    is_equality = is_inner & ((flags & EQUALITY) != 0)
    is_negated = is_equality & asks_for_others(flat)[place]
    for i in np.flatnonzero(is_equality).tolist():
        known["nodes_modes"].strings[i] = b"BRANCH_EQ"
        known["nodes_values"].floats[i] = threshold[i]
    left, right = known["nodes_truenodeids"].ints, known["nodes_falsenodeids"].ints
    for i in np.flatnonzero(is_negated).tolist():
        known["nodes_modes"].strings[i] = b"BRANCH_NEQ"
        left[i], right[i] = right[i], left[i]
    name = "nodes_missing_value_tracks_true"
    if name in known:
        ensemble.attribute.remove(known[name])
    tracks = (missing_left | is_negated).astype(int).tolist()
    ensemble.attribute.append(helper.make_attribute(name, tracks))


def asks_for_others(flat: FlatForest) -> NDArray[np.bool_]:
    """Return which equality cuts are to ask whether a number is not the value.

    Those where missing values go with the other numbers, and those to which none come.
    So no two cuts in a row ask whether a number of the same feature is a value. Such
    cuts onnxruntime takes for one, now and then even if their leaves differ (1.31).
    """
    flags, child = flat.nodes["feature"], flat.nodes["child"]
    others: NDArray[np.bool_] = (flags & MISSING_LEFT) == 0
    start = np.repeat(flat.tree_start[:-1], np.diff(flat.tree_start))
    node = np.flatnonzero((child >= 0) & ~others)
    right = start[node] + child[node] + 1
    others[right] |= flags[right] == flags[node]
    return others


def add_sharpening(graph: Any, forest: Any) -> None:
    """Let a graph calibrate the probabilities that it gives.

    A power, divided by the sum of the powers of all classes, is the softmax of the
    logarithms, times the power. In float64, for a power makes errors larger.
    """
    helper = needed("onnx.helper", by="to_onnx")
    double, single = (
        helper.np_dtype_to_tensor_dtype(np.dtype(name)) for name in ("f8", "f4")
    )
    for node in graph.node:
        for i, name in enumerate(node.output):
            if name == "probabilities":
                node.output[i] = "shares"
    share = forest._uniform_share
    numbers = {
        "power": forest.power_,
        "rest": 1 - share,
        "floor": share / len(forest.classes_),
    }
    for name, number in numbers.items():
        graph.initializer.append(helper.make_tensor(name, double, [1], [number]))
    for kind, given, made, options in (
        ("Cast", ["shares"], "shares_64", {"to": double}),
        ("Log", ["shares_64"], "logarithms", {}),
        ("Mul", ["logarithms", "power"], "powers", {}),
        ("Softmax", ["powers"], "sharp", {"axis": 1}),
        ("Mul", ["sharp", "rest"], "lowered", {}),
        ("Add", ["lowered", "floor"], "mixed", {}),
        ("Cast", ["mixed"], "probabilities", {"to": single}),
    ):
        graph.node.append(helper.make_node(kind, given, [made], **options))
