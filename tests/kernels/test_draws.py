# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of private forests: draws, and norms of the counts of leaves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels import library
from tests.kernels.samples import AROUND_LANES, CLASSES, LENGTHS, seeds, sizes
from tests.naive import kernels as twin

MOST_NUMBERS = 4096
STEEPEST = 60.0  # steep times span


def is_sure(n, steep_times_span, distance):
    """Tell whether kernels must be sure if the target is so far from a border."""
    error = 2**-19 + steep_times_span * 2**-21 + n * 2**-25
    return n <= MOST_NUMBERS and steep_times_span <= STEEPEST and distance > 2 * error


def assert_drawn(kernels, scores, steep, u):
    """Draw, check the result, tell whether the kernel was sure."""
    n, highest = len(scores), scores.max()
    span, work = highest - scores.min(), np.zeros(n)
    found = kernels.draw_softmax(scores, n, highest, span, steep, u, work)
    drawn, distance = twin.draw_softmax(scores.tolist(), steep, u)
    assert found == drawn or found == -1
    if is_sure(n, steep * span, distance):
        assert found == drawn
    return found >= 0


def check_draw(kernels, n, steep, u, style, seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n) * rng.choice([1e-3, 1, 1e6])
    if style == "ties":
        scores = rng.integers(3, size=n).astype(float)
    elif style == "equal":
        scores[:] = scores[0]
    elif style == "one high":
        scores[:] = 0
        scores[rng.integers(n)] = 1
    steep /= max(float(np.ptp(scores)), 1e-9)
    assert_drawn(kernels, scores, steep, u)


@pytest.mark.parametrize("u", [0.0, 0.3, 1 - 2**-53])
def test_draws_at_limits(kernels, u):
    for n in LENGTHS:
        for steep in (0.1, 20.0, 60.0):
            check_draw(kernels, n, steep, u, "any", n)


@given(
    sizes(300, LENGTHS),
    st.sampled_from([0.0, 1e-12, 1.0, 60.0, 1e5]) | st.floats(0, 70),
    st.floats(0, 1, exclude_max=True),
    st.sampled_from(["any", "ties", "equal", "one high"]),
    seeds,
)
def test_draws(kernels, n, steep, u, style, seed):
    check_draw(kernels, n, steep, u, style, seed)


@pytest.mark.parametrize("n", [2, 3, 4, 8, 9, 64, 255])
def test_draws_near_a_sum_are_right_or_unsure(kernels, n):
    rng = np.random.default_rng(n)
    scores = rng.normal(size=n)
    weights = np.exp(scores - scores.max())
    sums = np.cumsum(weights) / weights.sum()
    some = sums[: min(n - 1, 5)]
    sure = {
        distance: [assert_drawn(kernels, scores, 1.0, u + distance) for u in some]
        for distance in (0, 1e-9, -1e-9, 2e-7, -2e-7, 1e-6, -1e-6, 5e-5, -5e-5)
    }
    assert not any(sure[0])
    assert any(sure[5e-5])
    assert any(sure[-5e-5])


@pytest.mark.parametrize("n", [MOST_NUMBERS, MOST_NUMBERS + 1])
def test_many_numbers(kernels, n):
    scores = np.zeros(n)
    scores[n // 2] = 30.0
    assert assert_drawn(kernels, scores, 1.0, 0.5) == (n <= MOST_NUMBERS)


@pytest.mark.parametrize("steep", [59.9, 60.0, 60.1, np.inf, np.nan])
def test_steep_draws(kernels, steep):
    scores = np.array([0.0, 1.0, 0.5])
    found = kernels.draw_softmax(scores, 3, 1.0, 1.0, steep, 0.5, np.zeros(3))
    assert found == (1 if steep <= STEEPEST else -1)


# --- Norms ----------------------------------------------------------------------------

NORMS = (1.5, 2.0, 3.0)
SCALE_BITS = 16


def counts_of(rng, n_classes, n, high):
    """Return counts of n leaves whose sums are at most `high`, zeros among them."""
    counts = np.zeros((n_classes, n), np.int64)
    for i in range(n):
        total = rng.choice([0, 1, 2, high, high // 2, rng.integers(high + 1)])
        shares = rng.dirichlet(np.full(n_classes, rng.choice([0.1, 1, 10])))
        counts[:, i] = rng.multinomial(total, shares)
    return counts.astype(np.int32)


def expected_norms(counts, norm):
    return [twin.norm_of_counts(leaf.tolist(), norm, SCALE_BITS) for leaf in counts.T]


def check_norms(kernels, norm, n_classes, n, gap, high, seed):
    rng = np.random.default_rng(seed)
    counts = counts_of(rng, n_classes, n, high)
    wide = np.full((n_classes, n + gap), -5, np.int32)
    wide[:, :n] = counts
    given_ = wide.reshape(-1)[: (n_classes - 1) * (n + gap) + n].copy()
    expected = expected_norms(counts, norm)
    for is_large in {high >= 2**26, True}:
        out = np.zeros(n, np.int64)
        kernels.norms(norm, SCALE_BITS, n_classes, given_, n + gap, n, is_large, out)
        assert out.tolist() == expected


# (classes + 3) * points is below 2^37.
POINTS = (1, 2, 3, 100, 46_341, 2**26 - 1, 2**26, 2**31 - 1)


@pytest.mark.parametrize("norm", NORMS)
def test_norms_of_any_number_of_leaves(kernels, norm):
    for n in [n for n in AROUND_LANES if n <= library.LEAVES]:
        check_norms(kernels, norm, 3, n, 2, 1000, n)


@pytest.mark.parametrize("norm", NORMS)
def test_norms_of_many_points(kernels, norm):
    for high in POINTS:
        for seed in range(5):
            check_norms(kernels, norm, 1 + 2 * seed, 40, 0, high, seed)


@given(
    st.sampled_from(NORMS),
    sizes(60, CLASSES),
    sizes(library.LEAVES, AROUND_LANES),
    st.integers(0, 3),
    st.sampled_from(POINTS) | st.integers(1, 2**31 - 1),
    seeds,
)
def test_norms(kernels, norm, n_classes, n, gap, high, seed):
    check_norms(kernels, norm, n_classes, n, gap, high, seed)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("n_points", [1000, 2**22, 2**26 - 1, 2**31 - 1])
def test_norms_of_one_class_are_its_counts(kernels, norm, n_points):
    """Roots are whole numbers then: what is not quite right is on the wrong side."""
    rng = np.random.default_rng(n_points)
    n = library.LEAVES
    for _ in range(10):
        counts = rng.integers(n_points + 1, size=n).astype(np.int32)
        out = np.zeros(n, np.int64)
        kernels.norms(norm, SCALE_BITS, 1, counts, n, n, n_points >= 2**26, out)
        assert out.tolist() == (counts.astype(np.int64) << SCALE_BITS).tolist()


def check_pairs(kernels, norm, n_classes, n, gap, high, seed):
    rng = np.random.default_rng(seed)
    whole = counts_of(rng, n_classes, 1, high)[:, 0]
    side = rng.binomial(whole, rng.random())
    near = rng.binomial(side[:, None], rng.random(n), (n_classes, n))
    far = rng.binomial((whole - side)[:, None], rng.random(n), (n_classes, n))
    given_ = []
    for counts in (near, near + far):
        wide = np.full((n_classes, n + gap), -5, np.int32)
        wide[:, :n] = counts
        given_.append(wide.reshape(-1)[: (n_classes - 1) * (n + gap) + n].copy())
    out = [np.zeros(n, np.int64) for _ in range(4)]
    kernels.norms_of_pairs(
        norm,
        SCALE_BITS,
        n_classes,
        *given_,
        n + gap,
        side.astype(np.int32),
        whole.astype(np.int32),
        n,
        *out,
    )
    leaves = (
        near,
        side[:, None] - near,
        far,
        (whole - side)[:, None] - far,
    )
    for found, counts in zip(out, leaves, strict=True):
        assert found.tolist() == expected_norms(counts, norm)


@pytest.mark.parametrize("norm", NORMS)
def test_norms_of_any_number_of_pairs(kernels, norm):
    for n in [n for n in AROUND_LANES if n <= library.LEAVES]:
        check_pairs(kernels, norm, 3, n, 1, 1000, n)


@given(
    st.sampled_from(NORMS),
    sizes(40, CLASSES),
    sizes(library.LEAVES, AROUND_LANES),
    st.integers(0, 3),
    st.sampled_from([1, 5, 1000, 2**26 - 1]) | st.integers(1, 2**26 - 1),
    seeds,
)
def test_norms_of_pairs(kernels, norm, n_classes, n, gap, high, seed):
    check_pairs(kernels, norm, n_classes, n, gap, high, seed)
