# SPDX-License-Identifier: BSD-3-Clause
"""Is what a file says a forest? Compiled code walks through its trees without asking.

Trees are packed, see `mrforest.model.codec`: nodes are numbered breadth first, and
all that is said of them is which are inner.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrforest.files._container import ForestFileError
from mrforest.model.arrays import FlatForest
from mrforest.model.leaves import ClassForest, ValueForest
from mrforest.model.pivots import ByMatrix, ByMetric, ByVectors, PivotForest

MOST_NODES = 2**31 - 1  # of a tree

OF_ALL = {"tree_start", "leaf_offset", "leaf_points", "is_inner", "feature"}
OF_THRESHOLDS = ({"threshold"}, {"cut", "cuts", "cuts_start"})
OF_KIND: dict[type[FlatForest], set[str]] = {
    ClassForest: {"leaf_label", "n_masses", "mass_class", "mass"},
    ValueForest: {"leaf_value", "leaf_deviation", "leaf_mass"},
}
OF_KIND[PivotForest] = OF_KIND[ClassForest] | {"pivots", "pivot_rows", "comparison"}


def ensure(condition: Any, what: str) -> None:
    """Raise an error unless a condition holds."""
    if not condition:
        raise ForestFileError(f"the trees are no trees: {what}")


def check_packed(
    kind: type[FlatForest], packed: dict[str, Any], n_features: int, n_classes: int
) -> None:
    """Raise an error unless packed arrays are those of a forest."""
    names = [OF_ALL | own | OF_KIND[kind] for own in OF_THRESHOLDS]
    ensure(packed.keys() in names, "some arrays are missing, or too many")
    for name, array in packed.items():
        is_array = isinstance(array, np.ndarray) and array.dtype.kind in "uif"
        ensure(is_array or name == "comparison", f"{name} is no array of numbers")
    n_nodes = check_starts(packed["tree_start"])
    n_inner = (n_nodes - 1) // 2
    check_inner(packed["is_inner"], n_nodes, n_inner)
    check_splits(packed, int(n_inner.sum()), n_features)
    n_leaves = n_inner + 1
    offset = packed["leaf_offset"]
    expected = np.concatenate([[0], np.cumsum(n_leaves)])
    ensure(offset.dtype == np.int64 and np.array_equal(offset, expected), "leaf_offset")
    n = int(n_leaves.sum())
    check_whole(packed["leaf_points"], n, 2**32, "leaf_points")
    if issubclass(kind, ClassForest):
        check_classes(packed, n, n_classes)
    else:
        check_values(packed, n)
    if kind is PivotForest:
        check_pivots(packed, n_nodes, n_features)


def check_whole(array: NDArray[Any], n: int, end: int, what: str) -> None:
    """Raise an error unless an array has n whole numbers from 0 up to an end."""
    ensure(array.shape == (n,) and array.dtype.kind == "u", what)
    ensure(n == 0 or int(array.max()) < end, what)


def check_floats(array: NDArray[Any], n: int, what: str) -> None:
    """Raise an error unless an array has n finite numbers."""
    ensure(array.shape == (n,) and array.dtype.kind in "uf", what)
    ensure(np.isfinite(array).all(), what)


# ---- nodes ---------------------------------------------------------------------------


def check_starts(start: NDArray[Any]) -> NDArray[np.int64]:
    """Return the number of nodes of each tree."""
    ensure(start.dtype == np.int64 and start.ndim == 1 and len(start) > 1, "tree_start")
    ensure(start[0] == 0 and (np.abs(start) < 2**48).all(), "tree_start")
    n_nodes = np.diff(start)
    # Every node has two children or none.
    ensure((n_nodes >= 1).all() and (n_nodes % 2 == 1).all(), "tree_start")
    ensure((n_nodes <= MOST_NODES).all(), "tree_start")
    return n_nodes


def check_inner(
    is_inner: NDArray[Any], n_nodes: NDArray[np.int64], n_inner: NDArray[np.int64]
) -> None:
    """Raise an error unless bits say which nodes are inner, and these are trees.

    Inner node number k has the children 2 k + 1 and 2 k + 2, so all nodes up to i are
    children, but for the root, if at least i / 2 nodes before i are inner.
    """
    n_bytes = (n_nodes + 7) // 8
    ensure(is_inner.dtype == np.uint8 and is_inner.ndim == 1, "is_inner")
    ensure(len(is_inner) == int(n_bytes.sum()), "is_inner")
    bits = np.unpackbits(is_inner, bitorder="little")
    first = np.concatenate([[0], np.cumsum(8 * n_bytes)])
    node = np.arange(len(bits)) - np.repeat(first[:-1], 8 * n_bytes)
    is_node = node < np.repeat(n_nodes, 8 * n_bytes)
    node, bits = node[is_node], bits[is_node].astype(np.int64)
    start = np.concatenate([[0], np.cumsum(n_nodes)])
    up_to = np.concatenate([[0], np.cumsum(bits)])
    before = up_to[:-1] - np.repeat(up_to[start[:-1]], n_nodes)
    ensure((node <= 2 * before).all(), "is_inner")
    ensure(np.array_equal(np.diff(up_to[start]), n_inner), "is_inner")


def check_splits(packed: dict[str, Any], n_inner: int, n_features: int) -> None:
    """Raise an error unless inner nodes ask for features, and have thresholds."""
    feature = packed["feature"]
    check_whole(feature, n_inner, 4 * n_features, "feature")
    if "threshold" in packed:
        ensure(packed["threshold"].dtype == np.float64, "threshold")
        ensure(packed["threshold"].shape == (n_inner,), "threshold")
        ensure(not np.isnan(packed["threshold"]).any(), "threshold")
        return
    cuts, start, cut = packed["cuts"], packed["cuts_start"], packed["cut"]
    ensure(cuts.dtype == np.float64 and cuts.ndim == 1, "cuts")
    ensure(not np.isnan(cuts).any(), "cuts")
    ensure(start.dtype == np.int64 and start.ndim == 1 and len(start) > 0, "cuts_start")
    ensure(start[0] == 0 and start[-1] == len(cuts), "cuts_start")
    ensure((start[1:] >= start[:-1]).all(), "cuts_start")
    check_whole(cut, n_inner, 2**32, "cut")
    asked = (feature >> 2).astype(np.int64)
    ensure(asked.max(initial=-1) < len(start) - 1, "feature")
    ensure((start[asked] + cut < start[asked + 1]).all(), "cut")


# ---- leaves --------------------------------------------------------------------------


def check_classes(packed: dict[str, Any], n_leaves: int, n_classes: int) -> None:
    """Raise an error unless leaves have classes."""
    check_whole(packed["leaf_label"], n_leaves, n_classes, "leaf_label")
    check_whole(packed["n_masses"], n_leaves, n_classes + 1, "n_masses")
    n_masses = packed["n_masses"].astype(np.int64)
    ensure((n_masses >= 1).all(), "n_masses")
    n = int(n_masses.sum())
    check_whole(packed["mass_class"], n, n_classes, "mass_class")
    of_class = packed["mass_class"].astype(np.int64)
    leaf = np.repeat(np.arange(n_leaves), n_masses)
    ensure((np.diff(leaf * n_classes + of_class) > 0).all(), "mass_class")
    mass = packed["mass"]
    check_floats(mass, n, "mass")
    ensure(mass.dtype in (np.uint8, np.uint16, np.uint32, np.float32), "mass")
    first = np.cumsum(n_masses) - n_masses
    ensure((mass >= 0).all() and (np.maximum.reduceat(mass, first) > 0).all(), "mass")


def check_values(packed: dict[str, Any], n_leaves: int) -> None:
    """Raise an error unless leaves have numbers."""
    for name in OF_KIND[ValueForest]:
        check_floats(packed[name], n_leaves, name)
        ensure(packed[name].dtype != np.float32, name)
    for name in ("leaf_deviation", "leaf_mass"):
        ensure((packed[name] >= 0).all(), name)


def check_pivots(
    packed: dict[str, Any], n_nodes: NDArray[np.int64], n_features: int
) -> None:
    """Raise an error unless nodes compare with rows that are there."""
    pivots, rows = packed["pivots"], packed["pivot_rows"]
    ensure(pivots.dtype.kind == "u", "pivots")
    ensure(pivots.shape == (int(n_nodes.sum()), 2), "pivots")
    # Leaves compare with none, and say 0.
    ensure(int(pivots.max()) < max(len(rows), 1), "pivots")
    ensure(len(rows) > 0 or (n_nodes == 1).all(), "pivots")
    ensure(rows.ndim == 2 and rows.dtype.kind in "uf", "pivot_rows")
    comparison = packed["comparison"]
    if isinstance(comparison, ByVectors):
        ensure(rows.shape[1] == n_features, "pivot_rows")
        kinds = comparison.is_categorical
        ensure(isinstance(kinds, np.ndarray) and kinds.dtype == np.bool_, "comparison")
        ensure(kinds.shape == (n_features,), "comparison")
    elif isinstance(comparison, ByMatrix):
        ensure(rows.shape[1] == 1, "pivot_rows")
        ensure(((rows >= 0) & (rows < n_features)).all(), "pivot_rows")
    else:
        ensure(isinstance(comparison, ByMetric), "comparison")
        ensure(isinstance(comparison.metric, str), "comparison")
        ensure(isinstance(comparison.parameters, dict), "comparison")
        ensure(rows.shape[1] == n_features, "pivot_rows")
