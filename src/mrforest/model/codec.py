# SPDX-License-Identifier: BSD-3-Clause
"""The arrays of a forest in less room, for forests at rest; not a bit is lost.

A forest that rows walk through is laid out for them. Packed,

- children are not there: nodes are numbered breadth first, so it is enough to know
  which of them are inner;
- thresholds are places in the list of their feature, of inner nodes only;
- starts are lengths, and whole numbers are as short as the largest of them allows.

Nodes for which the first does not hold are left as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.model.nodes import Lists, lists_of

# Nodes whose thresholds are looked up at once: NumPy's indices are long
LOOKED_UP = 1 << 13

# What arrays are when they are not packed
DTYPES = {
    "leaf_points": np.uint32,
    "leaf_label": np.uint16,
    "mass_class": np.uint16,
    "mass": np.float32,
    "leaf_value": np.float64,
    "leaf_deviation": np.float64,
    "leaf_mass": np.float64,
    "pivots": np.int32,
    "pivot_rows": np.float64,
}


def pack(arrays: dict[str, Any], lists: Lists | None = None) -> dict[str, Any]:
    """Return what `unpack` makes the same arrays of.

    Parameters
    ----------
    arrays : dict
        Of some trees, by name. What is no array of a forest is left as it is.
    lists : Lists, default=None
        What the thresholds are taken from, to be given to `unpack` again as ``cuts``
        and ``cuts_start``. None: the thresholds that occur, and they are packed, too.

    Examples
    --------
    >>> import numpy as np
    >>> packed = pack({"mass": np.array([3.0, 250.0], dtype=np.float32)})
    >>> packed["mass"]
    array([  3, 250], dtype=uint8)
    >>> unpack(packed)["mass"]
    array([  3., 250.], dtype=float32)
    """
    packed = dict(arrays)
    for name in DTYPES:
        if name in arrays:
            packed[name] = _core.shortest(arrays[name])
    if "mass_start" in arrays:
        start = packed.pop("mass_start")
        packed["n_masses"] = _core.shortest(start[1:] - start[:-1])
    if "nodes" in arrays:
        nodes = packed.pop("nodes")
        packed |= pack_nodes(nodes, arrays["tree_start"], lists)
    return in_order(packed)


def in_order(packed: dict[str, Any]) -> dict[str, Any]:
    """Return it by name: the same forest is the same file, however it was packed."""
    return {name: packed[name] for name in sorted(packed)}


def unpack(packed: dict[str, Any]) -> dict[str, Any]:
    """Return the arrays again."""
    arrays = dict(packed)
    for name, dtype in DTYPES.items():
        if name in packed:
            arrays[name] = packed[name].astype(dtype, copy=False)
    if "n_masses" in packed:
        n_masses = arrays.pop("n_masses")
        arrays["mass_start"] = np.zeros(len(n_masses) + 1, dtype=np.int64)
        np.cumsum(n_masses, out=arrays["mass_start"][1:])
    if "is_inner" in packed:
        arrays["nodes"] = unpack_nodes(arrays)
    return arrays


# ---- nodes ---------------------------------------------------------------------------


def pack_nodes(
    nodes: NDArray[np.void], tree_start: NDArray[np.int64], lists: Lists | None
) -> dict[str, NDArray[Any]]:
    """Return inner nodes only, and where they are; or the nodes, if that is not all."""
    cuts, cuts_start = lists_of(nodes) if lists is None else lists
    packed = _core.pack_nodes(nodes, tree_start, cuts, cuts_start)
    if packed is None:
        return {"nodes": nodes}
    is_inner, feature, cut = packed
    arrays = {"is_inner": is_inner, "feature": _core.shortest(feature)}
    if lists is not None:
        return arrays | {"cut": _core.shortest(cut)}
    return arrays | pack_thresholds(arrays["feature"], cut, cuts, cuts_start)


def pack_thresholds(
    feature: NDArray[Any],
    cut: NDArray[Any],
    cuts: NDArray[np.float64],
    cuts_start: NDArray[np.int64],
) -> dict[str, NDArray[Any]]:
    """Return places in lists, and the lists; or thresholds, if nearly all differ."""
    if 2 * len(cuts) > len(cut):
        return {"threshold": cuts[places(feature, cut, cuts_start)]}
    return {"cut": _core.shortest(cut), "cuts": cuts, "cuts_start": cuts_start}


def places(
    feature: NDArray[Any], cut: NDArray[Any], cuts_start: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return where the thresholds of inner nodes are among those of all features."""
    # The flags are the two lowest bits, see _core.pack_nodes.
    found: NDArray[np.int64] = cuts_start[feature >> 2]
    found += cut
    return found


def unpack_nodes(packed: dict[str, NDArray[Any]]) -> NDArray[np.void]:
    """Return the nodes, and take what they were packed in from the arrays."""
    feature = packed.pop("feature").astype(np.uint32)
    threshold = packed.pop("threshold", None)
    if threshold is None:
        cut = packed.pop("cut").astype(np.uint32)
        lists = packed.pop("cuts"), packed.pop("cuts_start")
    else:  # each has a place of its own
        cut = np.arange(len(threshold), dtype=np.uint32)
        n_features = int(feature.max(initial=0) >> 2) + 1
        lists = threshold, np.zeros(n_features + 1, dtype=np.int64)
    is_inner, tree_start = packed.pop("is_inner"), packed["tree_start"]
    return _core.unpack_nodes(is_inner, feature, cut, *lists, tree_start)


def with_lists(arrays: dict[str, Any], lists: Lists) -> dict[str, Any]:
    """Add the lists that trees were packed with, without thresholds that none has.

    The result is what `pack` makes of these trees without lists. Places in the lists
    change with them, in the given array.

    Examples
    --------
    >>> import numpy as np
    >>> trees = {"feature": np.array([4, 4, 5, 4]), "cut": np.array([2, 0, 2, 2])}
    >>> lists = np.array([0.5, 1.5, 2.5, 3.5]), np.array([0, 1, 4, 4])
    >>> packed = with_lists(trees, lists)
    >>> packed["cut"].tolist(), packed["cuts"].tolist(), packed["cuts_start"].tolist()
    ([1, 0, 1, 1], [1.5, 3.5], [0, 0, 2])
    """
    feature, cut = arrays["feature"], arrays["cut"]
    cuts, start = lists
    parts = [slice(i, i + LOOKED_UP) for i in range(0, len(cut), LOOKED_UP)]
    is_used = np.zeros(len(cuts), dtype=bool)
    for part in parts:
        is_used[places(feature[part], cut[part], start)] = True
    n_before = np.concatenate([[0], np.cumsum(is_used)])  # that are used
    for part in parts:
        first = start[feature[part] >> 2]
        cut[part] = n_before[first + cut[part]] - n_before[first]
    n_features = int(feature.max() >> 2) + 1 if len(feature) else 0
    packed = {name: array for name, array in arrays.items() if name != "cut"}
    # A tree without a split has no feature, and that in long numbers.
    packed["feature"] = _core.shortest(feature)
    for name, dtype in DTYPES.items():
        # Whole numbers of one tree and others of the next make longer ones together.
        if name in packed and packed[name].itemsize > np.dtype(dtype).itemsize:
            packed[name] = packed[name].astype(dtype)
    packed |= pack_thresholds(
        feature, cut, cuts[is_used], n_before[start[: n_features + 1]]
    )
    return in_order(packed)
