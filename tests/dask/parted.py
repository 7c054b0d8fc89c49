# SPDX-License-Identifier: BSD-3-Clause
"""Tables in memory as Dask collections, and forests that are compared."""

import dask.array as da
import numpy as np


def uneven(rng, n_rows, n_parts):
    """Return lengths of parts that add up to n_rows; some are empty."""
    ends = np.sort(rng.integers(0, n_rows + 1, n_parts - 1))
    return np.diff(np.concatenate([[0], ends, [n_rows]])).tolist()


def as_array(rows, lengths):
    """Return a Dask Array that has blocks of these lengths."""
    rows = np.asarray(rows)
    parted = da.from_array(rows, chunks=(tuple(lengths), *rows.shape[1:]))
    assert parted.chunks[0] == tuple(lengths)  # Dask likes to leave empty blocks out.
    return parted


def assert_same_forest(found, expected):
    """Every bit of what the forests have learned."""
    np.testing.assert_array_equal(found.classes_, expected.classes_)
    assert found._schema == expected._schema
    assert found._seed == expected._seed
    assert found._forest.names() == expected._forest.names()
    for name in expected._forest.names():
        one, other = getattr(found._forest, name), getattr(expected._forest, name)
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes(), name
    np.testing.assert_array_equal(
        found._structure_decrease, expected._structure_decrease
    )


def assert_same_choices(found, expected):
    """What the forests have tried, chosen and measured."""
    assert len(found.tuning_) == len(expected.tuning_)
    for one, other in zip(found.tuning_, expected.tuning_, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)
    for name in (
        "max_features_",
        "feature_budget_",
        "split_budget_",
        "equality_cuts_",
        "criterion_",
        "min_samples_split_",
        "min_samples_leaf_",
        "power_",
        "oob_score_",
        "feature_importances_",
        "structure_importances_",
    ):
        np.testing.assert_array_equal(
            getattr(found, name), getattr(expected, name), name
        )


def assert_same_trees(found, expected):
    """Every split and leaf of private forests."""
    for (columns, tree), (others, other) in zip(
        found._trees, expected._trees, strict=True
    ):
        assert columns.tolist() == others.tolist()
        assert tree == other
    for name in expected._forest.names():
        one, another = getattr(found._forest, name), getattr(expected._forest, name)
        assert one.tobytes() == another.tobytes(), name
