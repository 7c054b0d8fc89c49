# SPDX-License-Identifier: BSD-3-Clause
"""Bounds and categories, however they are given; what is wrong is named."""

import numpy as np
import pytest

from mrforest.privacy.grid import Numeric
from mrforest.privacy.public import read_bounds, read_categories

NAMES = ["age", "sex", "height"]


@pytest.mark.parametrize(
    "bounds",
    [
        [(0, 120), None, (0.5, 2.5)],
        {"age": (0, 120), "height": (0.5, 2.5)},
        {0: (0, 120), 2: np.array([0.5, 2.5])},
        ((np.int64(0), np.int32(120)), "ignored", [0.5, 2.5]),
    ],
)
def test_bounds_by_position_or_name(bounds):
    """Two integers mean whole numbers."""
    found = read_bounds(bounds, NAMES, 3, without=[1])
    assert found == {0: Numeric(0, 120, is_whole=True), 2: Numeric(0.5, 2.5)}


def test_one_pair_for_all():
    found = read_bounds((0.0, 1.0), None, 3, without=[1])
    assert found == {0: Numeric(0.0, 1.0), 2: Numeric(0.0, 1.0)}
    array = np.array([[0.0, 1.0], [2.0, 3.0]])
    assert read_bounds(array, None, 2) == {0: Numeric(0, 1), 1: Numeric(2, 3)}


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ([(0, 1)], "1 entries"),
        ([(0, 1), (0, 1), (2, 1)], "column 'height': .2, 1. must be finite, the lower"),
        ([(0, 1), (0, 1), (0, np.inf)], "must be finite"),
        ([(0, 1), (0, 1), (np.nan, 1)], "must be finite"),
        ([(0, 1), (0, 1), (-1e308, 1e308)], "too far apart"),
        ([(0, 1), (0, 1), 3], "must be two numbers"),
        ([(0, 1), (0, 1), ("a", "b")], "must be two numbers"),
        ({"age": (0, 1), "weight": (0, 1)}, "no column 'weight'"),
        ({7: (0, 1)}, "no column 7"),
    ],
)
def test_wrong_bounds(bounds, message):
    with pytest.raises(ValueError, match=message):
        read_bounds(bounds, NAMES, 3)


def test_bounds_that_are_missing_are_left_out():
    assert read_bounds({"age": (0, 1)}, NAMES, 3) == {0: Numeric(0, 1, is_whole=True)}
    assert read_bounds([None, (0.0, 2.0), None], None, 3) == {1: Numeric(0, 2)}


def test_categories_by_position_or_name():
    assert read_categories(None, NAMES, 3) == {}
    assert read_categories({"sex": ["f", "m"], 2: (1, 2)}, NAMES, 3) == {
        1: ("f", "m"),
        2: (1, 2),
    }


@pytest.mark.parametrize(
    ("categories", "message"),
    [
        (["f", "m"], "must map columns to lists"),
        ({"sex": "fm"}, "must be a list"),
        ({"sex": 3}, "must be a list"),
        ({"sex": []}, "1 to 254 different values; 0 are given"),
        ({"sex": ["f", "f"]}, "2 are given, 1 different"),
        ({"sex": range(255)}, "255 are given"),
        ({"eyes": ["blue"]}, "no column 'eyes'"),
        ({True: ["blue"]}, "no column True"),
    ],
)
def test_wrong_categories(categories, message):
    with pytest.raises(ValueError, match=message):
        read_categories(categories, NAMES, 3)
