# SPDX-License-Identifier: BSD-3-Clause
"""The moving window has the features of a window that does not move."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("skimage")

from mrforest.experiments.segmentation import haralick
from tests.naive import cooccurrence


@st.composite
def pictures(draw):
    """Small pictures: noise, and patches of one grey."""
    height, width = draw(st.integers(1, 7)), draw(st.integers(1, 9))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    highest = draw(st.sampled_from([1, 3, 60, 256]))
    grey = random.integers(0, highest, (height, width)).astype(np.uint8)
    grey[: draw(st.integers(0, height)), draw(st.integers(0, width)) :] = 255
    return grey


@settings(max_examples=25)
@given(
    grey=pictures(),
    half=st.integers(1, 4),
    n_levels=st.sampled_from([2, 3, 32, 255, 256]),
    data=st.data(),
)
def test_twin(grey, half, n_levels, data):
    window = 2 * half + 1
    distance = data.draw(st.integers(1, window - 1))
    expected = cooccurrence.haralick(grey, window, n_levels, distance)
    found = haralick(grey, window=window, n_levels=n_levels, distance=distance)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_twin_at_every_pixel_of_an_image():
    from skimage.data import camera

    grey = camera()[100:140, 200:260]
    expected = cooccurrence.haralick(grey, 11, 32, 1)
    np.testing.assert_allclose(haralick(grey), expected, rtol=1e-9, atol=1e-9)


def test_one_grey_is_exactly_flat():
    flat = haralick(np.full((5, 6), 200, dtype=np.uint8), window=3, n_levels=8)
    assert (flat == [1, 0, 1, 0, 1, 6, 0, 0]).all()


def test_nothing_is_lost_on_a_long_way():
    """The last pixel of a long row is the same as if the window had begun there."""
    random = np.random.default_rng(0)
    grey = random.integers(0, 256, (12, 20_000)).astype(np.uint8)
    whole, end = haralick(grey), haralick(np.ascontiguousarray(grey[:, -40:]))
    assert (whole[:, -20:] == end[:, -20:]).all()


@pytest.mark.parametrize("n_jobs", [2, 3, 50])
def test_threads_make_no_difference(n_jobs):
    grey = np.random.default_rng(1).integers(0, 256, (17, 23)).astype(np.uint8)
    assert (haralick(grey, n_jobs=n_jobs) == haralick(grey)).all()


def test_largest_window():
    """Sums of the largest window do not overflow."""
    grey = np.zeros((3, 3), dtype=np.uint8)
    grey[::2] = 255
    found = haralick(grey, window=255, n_levels=256)
    assert np.isfinite(found).all()
    assert found[1, 1, 6] == pytest.approx(127.5**2, rel=1e-3)  # variance
