# SPDX-License-Identifier: BSD-3-Clause
"""Candidates of a box lie in it, are few, and are drawn by their base measure."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from mrforest.privacy.boxes import EVERYWHERE, Boxes
from mrforest.privacy.grid import MOST_ALL, Grid, Numeric
from mrforest.privacy.randomness import RandomBits
from mrforest.privacy.subtree import Leaf, Scoring, SubtreeMechanism

FEATURES = [
    Numeric(0, 1),
    Numeric(-5, 900, is_whole=True),
    Numeric(0, 40, is_whole=True),
    Numeric(3, 3),
    ["a", "b"],
    ["c"],
]
GRID = Grid.of(FEATURES)
PATHS = st.lists(
    st.tuples(
        st.sampled_from([0, 1, 2, 4, 5]),
        st.floats(0, 1, exclude_max=True),
        st.booleans(),
    ),
    max_size=8,
)


def box_of(boxes, path):
    """Where a path of splits leads to: features, how far up the codes, and sides."""
    box = EVERYWHERE
    for feature, share, side in path:
        low, high = box.get(feature, (0, int(GRID.n_codes[feature]) - 1))
        box = boxes.parts(box, feature, low + int(share * (high - low)))[side]
    return box


@given(path=PATHS)
def test_candidates_lie_in_the_box(path):
    boxes = Boxes(GRID)
    box = box_of(boxes, path)
    grid = boxes.inside(box)
    for feature in range(len(FEATURES)):
        measure = grid.measure[grid.slot[feature] : grid.slot[feature + 1]]
        low, high = box.get(feature, (0, int(GRID.n_codes[feature]) - 1))
        assert grid.total[feature] == max(measure.sum(), 1)
        chosen = np.flatnonzero(measure)
        if GRID.is_categorical[feature]:
            assert len(chosen) == (len(measure) if low < high else 0)
            continue
        assert ((low <= chosen) & (chosen < high)).all()
        assert len(chosen) <= MOST_ALL or len(chosen) < GRID.n_cells + 2 * 11
        # None is left out where there is time for all.
        if high - low <= MOST_ALL:
            assert len(chosen) == max(high - low, 0)


def test_the_smaller_the_box_the_finer():
    """16 cells of a box, or all 128 of the grid if these are few."""
    boxes = Boxes(Grid.of(17 * [Numeric(0, 1)]))
    cuts = boxes.grid.cuts[: boxes.grid.cuts_start[1]]
    for low, high, width in [
        (0.0, 1.0, 1 / 16),
        (0.5, 1.0, 1 / 32),
        (0.25, 0.75, 1 / 32),
        (0.25, 0.5, 1 / 64),
        (0.25, 0.375, 1 / 128),
    ]:
        first = 0 if low == 0 else int(np.searchsorted(cuts, low)) + 1
        box = {0: (first, int(np.searchsorted(cuts, high)))}
        measure = boxes.inside(box).measure[: len(cuts)]
        edges = cuts[measure == measure.max()]
        assert edges[(low < edges) & (edges < high)].tolist() == edges.tolist()
        assert np.diff(edges)[1:-1] == pytest.approx(width)


def test_parts_of_a_box():
    boxes = Boxes(GRID.with_stop(3))
    left, right = boxes.parts(EVERYWHERE, 2, 10)
    assert (left, right) == ({2: (0, 10)}, {2: (11, 40)})
    assert boxes.parts(right, 2, 20) == ({2: (11, 20)}, {2: (21, 40)})
    # A cut beyond the box leaves nothing on one side.
    assert boxes.parts(right, 2, 5) == ({2: (11, 5)}, {2: (11, 40)})
    assert boxes.parts(left, 2, 30) == ({2: (0, 10)}, {2: (31, 10)})
    assert boxes.parts(left, 4, 1) == ({2: (0, 10), 4: (1, 1)}, left)
    assert boxes.parts(left, 6, 0) == (left, left)


def without_rows(grid, box):
    """A mechanism that knows no row."""
    codes = np.empty((0, len(grid.n_codes)), dtype=np.uint8)
    y = np.empty(0, dtype=np.int32)
    return SubtreeMechanism(codes, y, 2, grid, Scoring(1.0, 2.0)).inside(box)


@pytest.mark.parametrize("box", [{}, {0: (7, 30), 4: (1, 1)}, {2: (9, 9), 1: (4, 3)}])
def test_draws_follow_base_measures(box):
    mechanism, random, n = (
        without_rows(GRID.with_stop(2), box),
        RandomBits.seeded(5),
        4000,
    )
    grid = mechanism.grid
    shares = grid.measure / np.repeat(grid.total, grid.n_codes)
    drawn = Counter(mechanism.draw_candidate(random) for _ in range(n))
    seen = np.zeros(len(shares))
    for (feature, code), times in drawn.items():
        seen[grid.slot[feature] + code] = times
    assert (seen[shares == 0] == 0).all()
    expected = n * shares / shares.sum()
    rare = expected < 5
    pairs = [(seen[~rare], expected[~rare]), (seen[rare].sum(), expected[rare].sum())]
    observed, expected = (np.append(*part) for part in zip(*pairs, strict=True))
    keep = expected > 0
    assert chisquare(observed[keep], expected[keep])[1] > 1e-6


def test_a_box_without_candidates():
    grid = Grid.of([Numeric(0, 2, is_whole=True), ["a"], Numeric(1, 1)])
    random = RandomBits.seeded(0)
    assert without_rows(grid, {0: (1, 1)}).draw_candidate(random)[0] == 1
    nothing_left = without_rows(grid, {0: (1, 1), 1: (0, 0)})
    assert not nothing_left.has_candidates
    assert nothing_left.grid.n_candidates == 0
    assert nothing_left.draw_blind(2, random) == Leaf(None)
