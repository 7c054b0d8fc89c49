# SPDX-License-Identifier: BSD-3-Clause
"""Tables and regions that do not fit together are refused: kernels check no bounds."""

import numpy as np
import pytest

from mrforest._core import RegionSubtrees, Subtrees, count_bins, count_pairs
from mrforest.privacy import sensitivity

POWERS = np.ones(1024)


def arguments(**changes):
    found = {
        "codes": np.array([[0, 2], [1, 0]], dtype=np.uint8),
        "y": np.array([0, 1], dtype=np.int32),
        "n_classes": 2,
        "slot": np.array([0, 2, 5], dtype=np.int32),
        "is_categorical": np.array([0, 1], dtype=np.uint8),
        "ones": POWERS,
        "tens": POWERS,
        "hundreds": POWERS,
        "negligible": 2**30,
        "norm": 0.0,
        "squares": False,
        "scale_bits": 16,
    }
    return {**found, **changes}


def region_of(table, rows, depth=1, measure=(1.0,) * 5):
    return RegionSubtrees(
        table, np.array(rows, dtype=np.int32), depth, np.array(measure)
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"codes": np.array([[0, 3]] * 2, dtype=np.uint8)}, "codes of feature 1 must"),
        ({"codes": np.zeros((2, 2), dtype=np.int64)}, "Buffer dtype mismatch"),
        ({"codes": np.zeros((2, 3), dtype=np.uint8)}, r"codes of shape \(2, 3\) must"),
        ({"codes": np.zeros((2, 0), dtype=np.uint8)}, r"codes of shape \(2, 0\) must"),
        ({"codes": np.zeros((3, 2), dtype=np.uint8)}, "y of 2 rows must be of the 3"),
        ({"codes": np.zeros((2, 4), dtype=np.uint8)[:, ::2]}, "not C-contiguous"),
        ({"y": np.array([0, 2], dtype=np.int32)}, r"y from 0 to 2 must be in \[0, 2\)"),
        ({"y": np.array([-1, 0], dtype=np.int32)}, "y from -1 to 0 must be in"),
        ({"y": np.array([0, 1])}, "Buffer dtype mismatch"),
        ({"n_classes": 0}, r"n_classes=0 must be in \[1, 2"),
        ({"n_classes": 2**61}, r"n_classes=.* must be in \[1, 2"),
        ({"slot": np.array([0, 3, 2], dtype=np.int32)}, "slot=.* must rise"),
        ({"slot": np.array([1, 2, 5], dtype=np.int32)}, "slot=.* must rise"),
        ({"slot": np.array([0, 2], dtype=np.int32)}, "codes of shape"),
        ({"is_categorical": np.zeros(1, dtype=np.uint8)}, "codes of shape"),
        ({"tens": np.ones(10)}, "tables of 1024, 10 and 1024 powers must"),
        ({"hundreds": np.ones(0)}, "tables of 1024, 1024 and 0 powers must"),
        ({"negligible": 0}, "enough for 0 < negligible=0 steps"),
        ({"negligible": 2**30 + 1}, "enough for 0 < negligible=1073741825 steps"),
    ],
)
def test_tables_that_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        Subtrees(**arguments(**changes))


def test_regions_that_are_refused():
    table = Subtrees(**arguments())
    for rows in ([2], [-1], [0, 1, 1]):
        with pytest.raises(ValueError, match="rows must be among the 2 rows"):
            region_of(table, rows)
    with pytest.raises(ValueError, match="depth=0 must be at least 1"):
        region_of(table, [0], 0)
    with pytest.raises(TypeError):
        region_of(None, [0])
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match=r"measure=.* must be finite"):
            region_of(table, [0], measure=[1.0, 1.0, 1.0, 1.0, bad])
    with pytest.raises(ValueError, match="6 measures must be of the 5 bins"):
        region_of(table, [0], measure=np.ones(6))
    region = region_of(table, [0, 1])
    for feature in (-1, 2):
        with pytest.raises(ValueError, match="must be one of 2"):
            region.weigh(feature)
        with pytest.raises(ValueError, match="must be one of 2"):
            region.choose_bin(feature, 0.5, 0.0)
        with pytest.raises(ValueError, match="must be one of 2"):
            region.run(feature, 0)
        with pytest.raises(ValueError, match="must be one of 2"):
            table.part(np.array([0], dtype=np.int32), feature, 0)
    for b in (-1, 2):
        with pytest.raises(ValueError, match="must be one of its bins"):
            region.run(1, b)
    with pytest.raises(ValueError, match="rows must be among the 2 rows"):
        table.part(np.array([2], dtype=np.int32), 0, 0)
    with pytest.raises(ValueError, match="3 counts must be of 2 classes"):
        table.choose_label(np.array([2, 1, 1]), 0.5, 0.0)


# Features of 2 and 3 bins, 2 classes
N_PAIRS = 2 * (2 * 5 + 3 * 3)


@pytest.mark.parametrize(
    ("depth", "counts", "measure", "message"),
    [
        (1, np.ones(9), np.ones(5), "9 counts of depth 1 must be 10"),
        (2, np.ones(10), np.ones(5), f"10 counts of depth 2 must be {N_PAIRS}"),
        (3, np.ones(10), np.ones(5), "depth=3 must be 1 or 2, for counts"),
        (1, np.full(10, -1), np.ones(5), "counts must not be negative: -1"),
        (1, np.ones(10), [0, 1, 1, 1, 1], "must be positive at the cuts of feature 0"),
    ],
)
def test_counts_that_are_refused(depth, counts, measure, message):
    table = Subtrees(**arguments())
    cells, measure = counts.astype(np.int32), np.array(measure, dtype=float)
    with pytest.raises(ValueError, match=message):
        RegionSubtrees(table, None, depth, measure, counts=cells)


def test_rows_or_counts():
    table = Subtrees(**arguments())
    rows, cells = np.zeros(1, dtype=np.int32), np.ones(10, dtype=np.int32)
    for given, counts in ((None, None), (rows, cells)):
        with pytest.raises(ValueError, match="either rows or counts"):
            RegionSubtrees(table, given, 1, np.ones(5), counts=counts)


@pytest.mark.parametrize("count", [count_bins, count_pairs])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"columns": np.array([0, 2], dtype=np.int32)}, "columns=.* must be among 2"),
        ({"columns": np.array([0], dtype=np.int32)}, "1 columns, bins of shape"),
        ({"bins": np.zeros((2, 255), dtype=np.uint8)}, "256 codes each"),
        ({"bins": np.full((2, 256), 3, dtype=np.uint8)}, "room for all bins"),
        ({"slot": np.array([1, 2, 5], dtype=np.int32)}, "slot=.* must rise from 0"),
        ({"y": np.array([0, 2], dtype=np.int32)}, r"y from 0 to 2 must be in \[0, 2\)"),
        ({"y": np.zeros(3, dtype=np.int32)}, "y of 3 rows must be of the 2 rows"),
        ({"rows": np.array([0, 2], dtype=np.int32)}, r"rows from 0 to 2 must be in"),
        ({"rows": np.array([-1], dtype=np.int32)}, r"rows from -1 to -1 must be in"),
    ],
)
def test_rows_that_are_not_counted(count, changes, message):
    known = {
        "codes": np.zeros((2, 2), dtype=np.uint8),
        "y": np.array([0, 1], dtype=np.int32),
        "rows": np.array([0, 1], dtype=np.int32),
        "columns": np.array([0, 1], dtype=np.int32),
        "bins": np.zeros((2, 256), dtype=np.uint8),
        "slot": np.array([0, 2, 5], dtype=np.int32),
    }
    assert count(*known.values(), 2).sum() == 4 + 2 * (count is count_pairs)
    with pytest.raises(ValueError, match=message):
        count(*{**known, **changes}.values(), 2)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_region_of_nothing(depth):
    region = region_of(Subtrees(**arguments()), [], depth)
    region.weigh_all()
    assert region.n_features == 0
    assert region.starts == [0]
    assert region.slot.tolist() == [0, 0, 0]
    assert region.bins.tolist() == []
    # All splits, of which there are 5, at all nodes; two labels at each leaf
    n_splits, n_leaves = 2 * (2 ** (depth - 1) - 1), 2**depth
    assert region.weights.tolist() == [(0, 5.0**n_splits * 2.0**n_leaves)]


def test_counts_of_the_wrong_number_of_classes():
    table = Subtrees(**arguments(norm=2.0))
    assert table.score(np.array([3, 4])) == 5 << 16
    with pytest.raises(ValueError, match="3 counts must be of 2 classes"):
        table.score(np.array([3, 4, 0]))


def test_moments_of_many_points():
    """As many points and numbers as there may be; Python's integers do not overflow."""
    n_classes, n = 256, 2**31 - 1
    table = Subtrees(**arguments(n_classes=n_classes, norm=np.inf, squares=True))
    for at in ([0], [255], [0, 255], [254, 255], [0, 1, 255], [128]):
        counts = [0] * n_classes
        for k in at:
            counts[k] = n // len(at)
        expected = max(
            sum(c * (255**2 - (k - i) ** 2) for i, c in enumerate(counts))
            for k in range(n_classes)
        )
        assert table.score(np.array(counts)) == expected


@pytest.mark.parametrize("n", [10, 1000, 2**26 - 1, 2**31 - 1])
@pytest.mark.parametrize("norm", [1.5, 2.0, 3.0])
def test_norms_are_right_to_the_last_unit(norm, n):
    table = Subtrees(**arguments(norm=norm))
    pairs = np.random.default_rng(0).integers(n // 2, size=(500, 2)).tolist()
    for pair in [(0, 0), (0, n), (1, 0), (n // 2, n // 2), *pairs]:
        counts = np.array(pair)
        assert table.score(counts) == sensitivity.norm(counts, norm)
