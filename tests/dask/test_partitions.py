# SPDX-License-Identifier: BSD-3-Clause
"""Partitions that have other rows when they are read again."""

import numpy as np
import pytest

from mrforest import MultinomialForestClassifier
from mrforest.dask._partitions import PartitionError, encode
from mrforest.data.binning import find_bins


def test_class_that_was_not_there_before():
    X = np.arange(12.0).reshape(6, 2)
    forest = MultinomialForestClassifier(1, random_state=0).fit(X, [0, 1, 2] * 2)
    binning = find_bins(X, np.full(2, -1, dtype=np.int32), 255, None)
    y = np.array([0, 1, 2, 2, 1, 0])
    found = encode(4, (X, y), forest, binning, np.array([0, 1, 2]))
    np.testing.assert_array_equal(found.y, y)
    with pytest.raises(PartitionError, match=r"partition 4: y has the label .*1"):
        encode(4, (X, y), forest, binning, np.array([0, 2]))
