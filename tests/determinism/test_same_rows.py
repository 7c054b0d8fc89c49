# SPDX-License-Identifier: BSD-3-Clause
"""How a table is given does not change a byte: order, weights, libraries, types."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from tests.determinism.same import (
    assert_same,
    assert_same_importances,
    forest_of,
    plain_ways,
    rows,
    table_of,
    trees,
    ways,
)
from tests.forests.every import CLASSIFIERS, HONEST, REGRESSORS, every, having, told
from tests.forests.frames import mixed_frame, queries

# ---- rows ---------------------------------------------------------------------------


@ways
@pytest.mark.parametrize("weights", [None, "real", "whole"])
def test_order_of_rows(name, params, weights):
    X, y = table_of(name, 1)
    rng = np.random.default_rng(1)
    weight = {
        None: np.ones(len(X)),
        "real": rng.random(len(X)),
        "whole": rng.integers(0, 4, len(X)),
    }[weights]
    forest = forest_of(name, **params).fit(X, y, weight)
    order = rng.permutation(len(X))
    shuffled = forest_of(name, **params).fit(X[order], y[order], weight[order])
    assert_same(forest, shuffled, X)
    assert_same_importances(name, forest, shuffled)
    if name in HONEST:
        # The rows of a tree are the same, under their new numbers.
        again = np.sort(order[shuffled.structure_samples(2)])
        assert_array_equal(forest.structure_samples(2), again)


@every
def test_order_of_rows_with_categories(name):
    X, labels = mixed_frame(3, 150)
    y = np.arange(150) % 7 / 3 if name in REGRESSORS else labels
    forest = forest_of(name).fit(X, y)
    order = np.random.default_rng(3).permutation(150)
    shuffled = X.iloc[order].reset_index(drop=True)
    # Categories in order of appearance, as pandas readers may leave them.
    appearance = shuffled["town"].dropna().drop_duplicates()
    shuffled["town"] = shuffled["town"].cat.set_categories(appearance)
    assert_same(forest, forest_of(name).fit(shuffled, y[order]), queries(3))


@plain_ways
def test_whole_weights_are_repetitions(name, params):
    X, y = table_of(name, 2)
    weight = np.random.default_rng(2).integers(0, 4, len(X))
    weighted = forest_of(name, **params).fit(X, y, sample_weight=weight)
    origin = np.repeat(np.arange(len(X)), weight)
    repeated = forest_of(name, **params).fit(X[origin], y[origin])
    assert_same(weighted, repeated, X)
    assert_same_importances(name, weighted, repeated)
    if name in HONEST:
        as_rows = np.sort(origin[repeated.estimation_samples(0)])
        assert_array_equal(weighted.estimation_samples(0), as_rows)


@ways
def test_weights_of_1_are_no_weights(name, params):
    X, y = table_of(name, 5)
    plain = forest_of(name, **params).fit(X, y)
    ones = np.ones(len(X), dtype=int)
    assert_same(plain, forest_of(name, **params).fit(X, y, sample_weight=ones), X)


@ways
@pytest.mark.parametrize("scale", [1.0, 0.3])
def test_weight_0_removes(name, params, scale):
    X, y = table_of(name, 6)
    kept = np.random.default_rng(6).random(len(X)) < 0.6
    with_zeros = forest_of(name, **params).fit(X, y, sample_weight=kept * scale)
    weight = np.full(kept.sum(), scale)
    removed = forest_of(name, **params).fit(X[kept], y[kept], sample_weight=weight)
    assert_same(with_zeros, removed, X)
    if name in HONEST:
        assert set(with_zeros.structure_samples(0)) <= set(np.flatnonzero(kept))


@ways
@pytest.mark.parametrize("power", [-1000, -3, 5])
def test_scale_of_real_weights(name, params, power):
    """Weights keep their ratios; none becomes a whole number by this."""
    X, y = table_of(name, 9)
    weight = np.random.default_rng(9).random(len(X))
    plain = forest_of(name, **params).fit(X, y, weight)
    scaled = forest_of(name, **params).fit(X, y, weight * 2.0**power)
    assert_same(plain, scaled, X)


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("power", [-160, 3, 160])
def test_scale_of_class_weights(name, power):
    X, y = rows(9)
    weight = {0: 1.0, 1: 2.5, 2: 0.75}
    plain = forest_of(name, class_weight=weight).fit(X, y)
    weight = {label: value * 2.0**power for label, value in weight.items()}
    scaled = forest_of(name, class_weight=weight).fit(X, y)
    assert_same(plain, scaled, X)


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("power", [-200, -3, 1, 200])
@pytest.mark.parametrize("weighted", [False, True])
def test_scale_of_targets(name, power, weighted):
    """Powers of two scale what is told, to the bit, and nothing else."""
    X, y = table_of(name, 9)
    weight = np.random.default_rng(9).random(len(X)) if weighted else None
    plain = forest_of(name).fit(X, y, weight)
    scaled = forest_of(name).fit(X, y * 2.0**power, weight)
    assert trees(plain)["nodes"] == trees(scaled)["nodes"]
    assert_array_equal(plain.predict(X) * 2.0**power, scaled.predict(X))
    assert_same_importances(name, plain, scaled)


# ---- tables -------------------------------------------------------------------------


@every
def test_single_precision(name):
    X, y = table_of(name, 0)
    X = X.astype(np.float32)
    single = forest_of(name).fit(X, y)
    double = forest_of(name).fit(X.astype(np.float64), y)
    assert_same(single, double, X)
    assert_array_equal(told(single, X), told(double, X.astype(np.float64)))


@every
def test_memory_layout(name):
    X, y = table_of(name, 0)
    read_only = X.copy()
    read_only.flags.writeable = False
    plain = forest_of(name).fit(X, y)
    for other in (
        np.asfortranarray(X),
        np.repeat(X, 2, axis=1)[:, ::2],
        read_only,
        X.tolist(),
    ):
        given = forest_of(name).fit(other, y)
        assert trees(plain) == trees(given)
        assert_array_equal(told(plain, X), told(given, other))


@every
def test_pandas_polars_and_numpy(name):
    X, y = table_of(name, 4)
    names = [f"x{j}" for j in range(X.shape[1])]
    array = forest_of(name).fit(X, y)
    pandas = forest_of(name).fit(pd.DataFrame(X, columns=names), pd.Series(y))
    polars = forest_of(name).fit(pl.DataFrame(X, schema=names), pl.Series(y))
    assert trees(array) == trees(pandas) == trees(polars)
    assert_array_equal(pandas.feature_names_in_, polars.feature_names_in_)
    expected = told(array, X)
    for forest in (pandas, polars):
        for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
            assert_array_equal(told(forest, frame), expected)


@every
def test_categories_of_pandas_polars_and_numpy(name):
    """Text in frames, its place in the alphabet in an array."""
    X, y = table_of(name, 4)
    codes = np.nan_to_num(X[:, 5]).astype(int)
    text = np.array(list("abcdef"))[codes]
    array = np.column_stack([X[:, 0], codes])
    pandas = pd.DataFrame({"x": X[:, 0], "c": pd.Categorical(text)})
    polars = pl.DataFrame({"x": X[:, 0], "c": pl.Series(text, dtype=pl.Categorical)})
    forests = [forest_of(name).fit(frame, y) for frame in (pandas, polars)]
    forests.append(forest_of(name, categorical_features=[1]).fit(array, y))
    assert trees(forests[0]) == trees(forests[1]) == trees(forests[2])
    expected = told(forests[2], array)
    for forest in forests[:2]:
        assert_array_equal(told(forest, pandas), expected)
        assert_array_equal(told(forest, polars), expected)


@pytest.mark.parametrize("name", [*having("max_bins"), "comparison"])
def test_dtype_of_a_column(name):
    X, y = table_of(name, 2)
    frame = pd.DataFrame(np.nan_to_num(X))
    frame.columns = frame.columns.astype(str)
    frame["5"] = (frame["5"] > 2).astype(float)
    plain = forest_of(name).fit(frame, y)
    for dtype in (bool, np.int8, np.uint16, np.float32):
        typed = forest_of(name).fit(frame.astype({"5": dtype}), y)
        assert_same(plain, typed, frame)
