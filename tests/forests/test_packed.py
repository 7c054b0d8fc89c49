# SPDX-License-Identifier: BSD-3-Clause
"""Trees are gathered as if they were concatenated; files lose no bit of a forest."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mrforest import _core
from mrforest.forests._gather import Gathered
from mrforest.forests._packed import pack, pack_nodes, unpack, unpack_nodes
from tests.forests.every import every, forest_of, target_of

DTYPES = st.sampled_from([np.uint16, np.uint32, np.int32, np.float32, np.float64])


def assert_same(one, other):
    assert one.dtype == other.dtype
    assert one.shape == other.shape
    assert one.tobytes() == other.tobytes()


@given(
    lengths=st.lists(st.integers(0, 50), min_size=1, max_size=8),
    more=st.integers(-3, 3),
)
def test_gathered_trees_lie_end_to_end(lengths, more):
    rng = np.random.default_rng(sum(lengths))
    trees = [
        {
            "nodes": rng.integers(0, 256, 16 * n, dtype=np.uint8).view(
                _core.NODE_DTYPE
            ),
            "pivots": rng.integers(0, 9, size=(n, 2)),
            "mass_start": np.concatenate([[0], np.cumsum(rng.integers(0, 9, n))]),
        }
        for n in lengths
    ]
    # Too few or too many trees may have been expected.
    gathered = Gathered(max(len(lengths) + more, 1))
    for tree in trees:
        gathered.add(tree)
    found = gathered.arrays()
    for name in ("nodes", "pivots"):
        assert_same(found[name], np.concatenate([tree[name] for tree in trees]))
    steps = np.concatenate([np.diff(tree["mass_start"]) for tree in trees])
    assert_same(found["mass_start"], np.concatenate([[0], np.cumsum(steps)]))


@given(data=st.data(), dtype=DTYPES)
def test_arrays_come_back(data, dtype):
    elements = st.one_of(
        st.integers(0, 2**16 - 1), st.sampled_from([0, 255, 256, 65_535])
    )
    if np.dtype(dtype).kind == "f":
        odd = [-0.0, 0.5, -1.0, np.nan, np.inf, 2.0**40]
        elements = st.one_of(elements.map(float), st.sampled_from(odd))
    array = data.draw(arrays(dtype, st.integers(0, 20), elements=elements))
    assert_same(unpack(pack({"mass": array}))["mass"], array)
    steps = data.draw(arrays(np.int64, st.integers(0, 20), elements=st.integers(0, 9)))
    starts = np.concatenate([[0], np.cumsum(steps)])
    assert_same(unpack(pack({"mass_start": starts}))["mass_start"], starts)


NODES = [(2.5, 1, 1), (0.0, 0, -1), (-0.0, 2, 3), (0.0, 0, -2), (0.0, 0, -3)]


def test_nodes_are_packed_if_they_are_numbered_breadth_first():
    nodes = np.array([*NODES, *NODES], dtype=_core.NODE_DTYPE)
    packed = pack_nodes(nodes, np.array([0, 5, 10]))
    assert packed["is_inner"].nbytes == 2
    assert_same(unpack_nodes(packed, np.array([0, 5, 10])), nodes)


@pytest.mark.parametrize(
    ("place", "node"),
    [(0, (2.5, 1, 3)), (1, (1.0, 0, -1)), (3, (0.0, 4, -2)), (4, (0.0, 0, -2))],
)
def test_other_nodes_are_left_as_they_are(place, node):
    nodes = np.array(NODES, dtype=_core.NODE_DTYPE)
    nodes[place] = node
    arrays = {"nodes": nodes, "tree_start": np.array([0, 5])}
    assert_same(pack(arrays)["nodes"], nodes)
    assert_same(unpack(pack(arrays))["nodes"], nodes)


@every
def test_pickled_forests_are_the_same(name):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 9, size=(300, 4)).astype(float)
    X[rng.random(X.shape) < 0.05] = 0.5
    y = target_of(name, (X[:, 0] + X[:, 1] > 8).astype(int))
    forest = forest_of(name).fit(X, y)._forest
    again = pickle.loads(pickle.dumps(forest))
    assert again.has_equality == forest.has_equality
    for part in forest.names():
        if isinstance(getattr(forest, part), np.ndarray):
            assert_same(getattr(again, part), getattr(forest, part))
    for array in vars(again).values():
        assert not isinstance(array, np.ndarray) or array.flags.writeable
