# SPDX-License-Identifier: BSD-3-Clause
"""The arrays of a forest in less room, for files; not a bit is lost.

A forest in memory is laid out for rows that walk through it. In a file

- children are not there: nodes are numbered breadth first, so it is enough to know
  which of them are inner;
- features and thresholds are places in a list of those that occur, of inner nodes only;
- starts are lengths, and whole numbers are as short as the largest of them allows.

Each of them is left as it is in a forest for which it does not hold.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.forests._gather import STARTS

# Values that are worth a list; else nearly all of them differ.
MOST_SHARED = 2**16


def pack(arrays: dict[str, Any]) -> dict[str, Any]:
    """Return what `unpack` makes the same arrays of.

    Examples
    --------
    >>> import numpy as np
    >>> packed = pack({"mass": np.array([3.0, 250.0], dtype=np.float32)})
    >>> packed["mass"]
    (array([  3, 250], dtype=uint8), dtype('float32'))
    >>> unpack(packed)["mass"]
    array([  3., 250.], dtype=float32)
    """
    packed = {name: pack_array(name, array) for name, array in arrays.items()}
    if "nodes" in arrays:
        packed["nodes"] = pack_nodes(arrays["nodes"], arrays["tree_start"])
    return packed


def unpack(packed: dict[str, Any]) -> dict[str, Any]:
    """Return the arrays again."""
    arrays = {name: unpack_array(name, array) for name, array in packed.items()}
    if isinstance(packed.get("nodes"), dict):
        arrays["nodes"] = unpack_nodes(packed["nodes"], arrays["tree_start"])
    return arrays


# ---- whole numbers -------------------------------------------------------------------


def pack_array(name: str, array: Any) -> Any:
    """Return lengths of starts, and shorter numbers with the type that they had."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "uif":
        return array
    if name in STARTS:
        array = np.diff(array)
    return shortened(array), array.dtype


def unpack_array(name: str, packed: Any) -> Any:
    """Return an array again."""
    if not isinstance(packed, tuple):
        return packed
    array, dtype = packed
    if name not in STARTS:
        return array.astype(dtype, copy=False)
    starts = np.zeros(len(array) + 1, dtype=dtype)
    np.cumsum(array, out=starts[1:])
    return starts


def shortened(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array in the shortest whole numbers that are the same, if they are."""
    with np.errstate(invalid="ignore"):
        whole = array.astype(np.uint32)
    if array.size == 0 or not same_bits(array, whole.astype(array.dtype)):
        return array
    shortest = np.min_scalar_type(whole.max())
    return whole.astype(shortest) if shortest.itemsize < array.itemsize else array


def same_bits(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether arrays of one type and length are the same; -0.0 is not 0."""
    one, other = np.ascontiguousarray(one), np.ascontiguousarray(other)
    return np.array_equal(one.view(np.uint8), other.view(np.uint8))


# ---- nodes ---------------------------------------------------------------------------


def pack_nodes(nodes: NDArray[np.void], tree_start: NDArray[np.int64]) -> Any:
    """Return inner nodes only, and where they are; or the nodes, if that is not all."""
    is_inner = nodes["child"] >= 0
    questions = nodes[is_inner]
    packed = {
        "is_inner": np.packbits(is_inner),
        "feature": shared(questions["feature"]),
        "threshold": shared(questions["threshold"].view(np.uint64)),
    }
    return packed if same_bits(unpack_nodes(packed, tree_start), nodes) else nodes


def unpack_nodes(
    packed: dict[str, Any], tree_start: NDArray[np.int64]
) -> NDArray[np.void]:
    """Return the nodes again."""
    nodes = np.zeros(tree_start[-1], dtype=_core.NODE_DTYPE)
    is_inner = np.unpackbits(packed["is_inner"], count=len(nodes)).view(np.bool_)
    nodes["feature"][is_inner] = unshared(packed["feature"])
    nodes["threshold"].view(np.uint64)[is_inner] = unshared(packed["threshold"])
    for first, end in itertools.pairwise(tree_start):
        nodes["child"][first:end] = children(is_inner[first:end])
    return nodes


def children(is_inner: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return the left child of each node of a tree, or -1 - number of its leaf.

    Examples
    --------
    >>> import numpy as np
    >>> children(np.array([True, False, True, False, False])).tolist()
    [1, -1, 3, -2, -3]
    """
    n_inner = np.cumsum(is_inner, dtype=np.int32)  # up to and with the node
    leaves = n_inner - np.arange(1, len(is_inner) + 1, dtype=np.int32)
    return np.where(is_inner, 2 * n_inner - 1, leaves)


def shared(values: NDArray[Any]) -> Any:
    """Return distinct values and the place of each; or the values, if most differ."""
    distinct = np.unique(values)
    if len(distinct) > MOST_SHARED or len(distinct) > len(values) // 2:
        return values
    return distinct, shortened(np.searchsorted(distinct, values))


def unshared(packed: Any) -> NDArray[Any]:
    """Return the values again."""
    if not isinstance(packed, tuple):
        values: NDArray[Any] = packed
        return values
    distinct, places = packed
    found: NDArray[Any] = distinct[places]
    return found
