# SPDX-License-Identifier: BSD-3-Clause
"""Packed nodes and short numbers, against plain code that does the same."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mrforest import _core

FLAGS = 30  # the two bits above a feature
THRESHOLDS = [-np.inf, -2.5, -0.0, 0.0, 1e-300, 7.0, np.inf]
TYPES = [np.uint16, np.uint32, np.int32, np.int64, np.float32, np.float64]


@st.composite
def trees(draw):
    """Draw nodes of a tree, breadth first, and the question of each inner one."""
    nodes, questions = [], []
    n_waiting, n_leaves = 1, 0
    while n_waiting > len(nodes):
        if len(nodes) < 40 and draw(st.booleans()):
            feature = draw(st.sampled_from([0, 1, 63, 64, 70_000]))
            flags = draw(st.integers(0, 3))
            cut = draw(st.integers(0, len(THRESHOLDS) - 1))
            nodes.append((THRESHOLDS[cut], feature | flags << FLAGS, n_waiting))
            questions.append((feature << 2 | flags, cut))
            n_waiting += 2
        else:
            n_leaves += 1
            nodes.append((0.0, 0, -n_leaves))
    return np.array(nodes, dtype=_core.NODE_DTYPE), questions


@given(forest=st.lists(trees(), min_size=1, max_size=5))
def test_nodes_are_packed_as_they_are_by_hand(forest):
    nodes = np.concatenate([tree for tree, _ in forest])
    tree_start = np.cumsum([0, *(len(tree) for tree, _ in forest)])
    cuts = np.tile(np.array(THRESHOLDS), 70_001)
    cuts_start = np.arange(70_002) * len(THRESHOLDS)
    is_inner, feature, cut = _core.pack_nodes(nodes, tree_start, cuts, cuts_start)
    bits = [np.packbits(tree["child"] >= 0, bitorder="little") for tree, _ in forest]
    questions = [question for _, questions in forest for question in questions]
    np.testing.assert_array_equal(is_inner, np.concatenate(bits))
    assert list(zip(feature.tolist(), cut.tolist(), strict=True)) == questions
    again = _core.unpack_nodes(is_inner, feature, cut, cuts, cuts_start, tree_start)
    assert again.tobytes() == nodes.tobytes()


def test_nodes_that_say_more_are_not_packed():
    cuts, start = np.array([1.0, 2.0]), np.array([0, 0, 2])
    leaves = [(0.0, 0, -1), (0.0, 0, -2)]

    def pack(*nodes):
        nodes = np.array(list(nodes), dtype=_core.NODE_DTYPE)
        return _core.pack_nodes(nodes, np.array([0, len(nodes)]), cuts, start)

    assert pack((2.0, 1, 1), *leaves) is not None
    assert pack((1.5, 1, 1), *leaves) is None  # is in no list
    assert pack((3.0, 1, 1), *leaves) is None
    assert pack((1.0, 0, 1), *leaves) is None  # the list is empty
    assert pack((1.0, 2, 1), *leaves) is None  # there is no list
    assert pack((1.0, 1, 2), *leaves) is None  # another child
    assert pack((1.0, 1, 1), leaves[0]) is None  # which is not there
    assert pack((1.0, 1, 1), leaves[1], leaves[0]) is None  # leaves in another order
    assert pack((1.0, 1, 1), leaves[0], (-0.0, 0, -2)) is None  # not blank


def shortest(array):
    """Return the shortest of three types in which the bits come back."""
    for dtype in (np.uint8, np.uint16, np.uint32):
        with np.errstate(invalid="ignore"):
            short = array.astype(dtype)
        if np.dtype(dtype).itemsize < array.itemsize and (
            short.astype(array.dtype).tobytes() == array.tobytes()
        ):
            return short
    return array


@given(data=st.data(), dtype=st.sampled_from(TYPES))
def test_numbers_are_as_short_as_they_can_be(data, dtype):
    limits = [0, 1, 255, 256, 65_535, 65_536, 2**24, 2**31, 2**32 - 1, 2**32, -1]
    info = np.iinfo(dtype) if np.dtype(dtype).kind != "f" else None
    some = [x for x in limits if info is None or info.min <= x <= info.max]
    elements = st.sampled_from(some)
    if info is None:
        odd = [-0.0, 0.5, np.nan, np.inf, 1e30]
        exact = [float(x) for x in some if float(np.dtype(dtype).type(x)) == x]
        elements = st.one_of(st.sampled_from(exact), st.sampled_from(odd))
    shape = data.draw(st.sampled_from([(0,), (1,), (9,), (3, 2)]))
    array = data.draw(arrays(dtype, shape, elements=elements))
    found, expected = _core.shortest(array), shortest(array)
    if array.size:
        assert found.dtype == expected.dtype
    assert found.shape == array.shape
    assert found.tobytes() == (expected if array.size else array).tobytes()
