# SPDX-License-Identifier: BSD-3-Clause
"""Trees are gathered as if they were concatenated; packing loses no bit of a forest."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mrforest import MultinomialForestClassifier, _core
from mrforest.model.arrays import Gathered
from mrforest.model.codec import DTYPES, pack, unpack
from mrforest.model.nodes import lists_of
from tests.forests.every import every, forest_of, target_of


def numbers_of(dtype):
    """Whole numbers around the limits of short types, and others."""
    elements = st.sampled_from([0, 1, 255, 256, 65_535])
    if np.dtype(dtype).kind == "f":
        odd = [-0.0, 0.5, -1.0, np.nan, np.inf, 2.0**32, 2.0**40]
        elements = st.one_of(elements.map(float), st.sampled_from(odd))
    elif np.dtype(dtype).itemsize > 2:
        elements = st.one_of(elements, st.just(2**31 - 1))
    return arrays(dtype, st.integers(0, 20), elements=elements)


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


@given(data=st.data(), name=st.sampled_from(sorted(DTYPES)))
def test_arrays_come_back(data, name):
    array = data.draw(numbers_of(DTYPES[name]))
    assert_same(unpack(pack({name: array}))[name], array)
    steps = data.draw(arrays(np.int64, st.integers(0, 20), elements=st.integers(0, 9)))
    starts = np.concatenate([[0], np.cumsum(steps)])
    assert_same(unpack(pack({"mass_start": starts}))["mass_start"], starts)


def test_trees_with_longer_numbers_are_gathered():
    counts = [np.array([1, 255]), np.array([256]), np.array([2**24 + 1, 0])]
    trees = [pack({"mass": count.astype(np.float32)}) for count in counts]
    trees.append(pack({"mass": np.array([0.5], dtype=np.float32)}))
    gathered = Gathered(len(trees))
    for tree in trees:
        gathered.add(tree)
    expected = np.concatenate([*counts, [0.5]]).astype(np.float32)
    assert_same(unpack(gathered.arrays())["mass"], expected)


NODES = [(2.5, 1, 1), (0.0, 0, -1), (-0.0, 2, 3), (0.0, 0, -2), (0.0, 0, -3)]


def arrays_of(nodes, n_trees=1):
    return {
        "nodes": np.array(nodes * n_trees, dtype=_core.NODE_DTYPE),
        "tree_start": np.arange(n_trees + 1) * len(nodes),
    }


@pytest.mark.parametrize("n_trees", [1, 2, 50])
def test_nodes_are_packed_if_they_are_numbered_breadth_first(n_trees):
    plain = arrays_of(NODES, n_trees)
    packed = pack(plain)
    assert "nodes" not in packed
    assert packed["is_inner"].nbytes == n_trees
    # Few trees have hardly two thresholds that are the same.
    assert ("cuts" in packed) == (n_trees > 1)
    assert_same(unpack(packed)["nodes"], plain["nodes"])
    assert unpack(packed).keys() == plain.keys()


@pytest.mark.parametrize(
    ("place", "node"),
    [(0, (2.5, 1, 3)), (1, (1.0, 0, -1)), (3, (0.0, 4, -2)), (4, (0.0, 0, -2))],
)
def test_other_nodes_are_left_as_they_are(place, node):
    plain = arrays_of(NODES)
    plain["nodes"][place] = node
    assert_same(pack(plain)["nodes"], plain["nodes"])
    assert_same(unpack(pack(plain))["nodes"], plain["nodes"])


def test_both_zeros_and_infinities_keep_their_bits():
    odd = [0.0, -0.0, np.inf, -np.inf, -1.0, 5e-324]
    trees = [[(x, 1, 1), (0.0, 0, -1), (0.0, 0, -2)] for x in odd * 3]
    nodes = np.array([node for tree in trees for node in tree], _core.NODE_DTYPE)
    plain = {"nodes": nodes, "tree_start": np.arange(len(trees) + 1) * 3}
    packed = pack(plain)
    assert len(packed["cuts"]) == len(odd)
    assert_same(unpack(packed)["nodes"], nodes)


@every
def test_packed_forests_are_the_same(name):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 9, size=(300, 4)).astype(float)
    X[rng.random(X.shape) < 0.05] = 0.5
    y = target_of(name, (X[:, 0] + X[:, 1] > 8).astype(int))
    fitted = forest_of(name).fit(X, y)
    early = pickle.loads(pickle.dumps(fitted))
    told = fitted.predict(X)  # which unpacks
    late = pickle.loads(pickle.dumps(fitted))
    forest = fitted._forest
    assert "_packed" not in vars(forest)
    for again in (early, late):
        assert "_packed" in vars(again._forest)
        assert len(again._forest) == len(forest)
        np.testing.assert_array_equal(again.predict(X), told)
        assert again._forest.has_equality == forest.has_equality
        for part in forest.names():
            if isinstance(getattr(forest, part), np.ndarray):
                assert_same(getattr(again._forest, part), getattr(forest, part))
        for array in vars(again._forest).values():
            assert not isinstance(array, np.ndarray) or array.flags.writeable


@pytest.fixture
def table():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 9, size=(400, 3)).astype(float)
    return X, (X[:, 0] + rng.integers(0, 3, 400) > 5).astype(int)


def test_a_fitted_forest_is_packed_until_somebody_asks(table):
    forest = MultinomialForestClassifier(20, random_state=0).fit(*table)
    assert "nodes" not in vars(forest._forest)
    assert forest.n_leaves_.sum() > 20  # need not be unpacked for
    assert "nodes" not in vars(forest._forest)
    packed = vars(forest._forest)["_packed"]
    forest.predict(table[0][:1])
    assert "nodes" in vars(forest._forest)
    # It keeps no threshold that no node has.
    cuts, cuts_start = lists_of(forest._forest.nodes)
    assert_same(packed["cuts"], cuts)
    assert_same(packed["cuts_start"], cuts_start)
    n_packed = sum(packed[part].nbytes for part in packed)
    names = forest._forest.names()
    n_plain = sum(getattr(forest._forest, name).nbytes for name in names)
    assert n_packed < n_plain / 3


def test_what_a_forest_has_not_is_an_attribute_error(table):
    flat = MultinomialForestClassifier(5, random_state=0).fit(*table)._forest
    for _ in range(2):
        with pytest.raises(AttributeError, match="no attribute 'leaf_value'"):
            flat.leaf_value  # noqa: B018
        assert len(flat.nodes)


def test_many_threads_may_ask_at_once(table):
    X, y = table
    expected = MultinomialForestClassifier(30, random_state=0).fit(X, y).predict(X)
    for _ in range(20):
        forest = MultinomialForestClassifier(30, random_state=0).fit(X, y)
        with ThreadPoolExecutor(4) as pool:
            for told in pool.map(lambda _, f=forest: f.predict(X), range(8)):
                np.testing.assert_array_equal(told, expected)


@pytest.mark.parametrize("n_rows", [2, 300, 70_000])
def test_warm_starts_join_forests_of_other_lists_and_lengths(n_rows):
    rng = np.random.default_rng(5)
    X = rng.random((n_rows, 2))
    y = (X[:, 0] + rng.random(n_rows) / 4 > 0.6).astype(int)
    y[:2] = 0, 1
    options = {"random_state": 0, "max_bins": "exact", "max_depth": 6}
    forest = MultinomialForestClassifier(3, warm_start=True, **options)
    first = forest.fit(X[:60], y[:60])._forest[2].nodes.tobytes()
    forest.set_params(n_estimators=5).fit(X, y)
    assert forest._forest[2].nodes.tobytes() == first
    # Trees are keyed by their number, so the last ones are those of a forest of five.
    cold = MultinomialForestClassifier(5, **options).fit(X, y)
    again = pickle.loads(pickle.dumps(forest))
    for one in (forest, again):
        assert one._forest[4].nodes.tobytes() == cold._forest[4].nodes.tobytes()
        np.testing.assert_array_equal(one.apply(X)[:, 3:], cold.apply(X)[:, 3:])


@pytest.mark.parametrize("n_classes", [2, 150, 300])
def test_forests_of_many_classes_and_of_single_leaves(n_classes):
    rng = np.random.default_rng(7)
    X = rng.random((3 * n_classes, 2))
    y = np.arange(3 * n_classes) % n_classes
    for max_depth in (None, 4):
        forest = MultinomialForestClassifier(
            40, random_state=0, max_depth=max_depth, min_samples_split=4
        ).fit(X, y)
        again = pickle.loads(pickle.dumps(forest))
        np.testing.assert_array_equal(again.predict(X), forest.predict(X))
        np.testing.assert_array_equal(forest._forest.leaf_label.max(), y.max())
    leaf = MultinomialForestClassifier(4, random_state=0, min_samples_split=len(X) + 1)
    assert len(leaf.fit(X, y)._forest.nodes) == 4
    assert len(pickle.loads(pickle.dumps(leaf)).predict(X)) == len(X)
