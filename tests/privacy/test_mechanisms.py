# SPDX-License-Identifier: BSD-3-Clause
"""Draws have the probabilities told, these are those of the papers, and are private."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrforest.privacy import mechanisms
from mrforest.privacy.exact import draw_waiting_times
from mrforest.privacy.mechanisms import Exponential, Geometric, PermuteAndFlip
from mrforest.privacy.randomness import RandomBits
from tests.privacy.fixed import FixedBits, fits, index_of, near_boundaries

INF = math.inf
N_DRAWS = 10_000


def frequencies(mechanism, scores, *base):
    random = RandomBits.seeded(21)
    drawn = [mechanism.draw(scores, random, *base) for _ in range(N_DRAWS)]
    return np.bincount(drawn, minlength=len(scores))


def true_weights(epsilon, unit, scores, base):
    """Return weights to 200 digits, as fractions."""
    with localcontext(prec=200):
        rate = Decimal(epsilon) / unit
        best = max(scores)
        return [
            b * Fraction((rate * (s - best)).exp())
            for s, b in zip(scores, base, strict=True)
        ]


# ---- exponential -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "scores", "base"),
    [
        (Exponential(1.0), [3, 2, 0, 3], None),
        (Exponential(0.3, unit=7), [100, 90, 80, 101], None),
        (Exponential(0.5), [1, 2, 0], [5, 1, 20]),
        (Exponential(1.0), [9, 2, 0], [0, 1, 3]),
        (Exponential(INF), [4, 4, 1, 4], None),
        (Exponential(INF), [4, 4, 9, 1], [1, 3, 0, 7]),
        (Exponential(1e-300), [-(2**61), 2**61], None),
        (Exponential(1e300, unit=3), [0, 1, 1], None),
        (Exponential(2.0), [5], None),
    ],
)
def test_exponential_draws_with_its_probabilities(mechanism, scores, base):
    probabilities = mechanism.probabilities(scores, base)
    weights = np.ones(len(scores)) if base is None else np.array(base, dtype=float)
    best = max(s for s, b in zip(scores, weights, strict=True) if b > 0)
    for i, score in enumerate(scores):
        behind = best - score
        exponent = -mechanism.epsilon * behind / mechanism.unit if behind else 0.0
        weights[i] *= math.exp(min(exponent, 0.0))
    np.testing.assert_allclose(probabilities, weights / weights.sum(), rtol=1e-14)
    assert fits(frequencies(mechanism, scores, base), probabilities)


@given(
    scores=st.lists(st.integers(-500, 500), min_size=1, max_size=6),
    epsilon=st.floats(1e-3, 5.0),
    unit=st.integers(1, 100),
    base=st.data(),
    k=st.integers(3, 60),
)
def test_exponential_is_exact_at_its_boundaries(scores, epsilon, unit, base, k):
    n = len(scores)
    base = base.draw(st.lists(st.integers(1, 2**40), min_size=n, max_size=n))
    weights = true_weights(epsilon, unit, scores, base)
    mechanism = Exponential(epsilon, unit)
    for u in near_boundaries(weights, [Fraction(1, 3 * 10**k)]):
        assert mechanism.draw(scores, FixedBits(u), base) == index_of(u, weights)


def test_weights_are_as_near_as_is_told(monkeypatch):
    def compare(weights, error, random, refine):
        for found, exact in zip(weights, refine(60), strict=True):
            if found == 0.0:
                assert exact < Decimal(2) ** -100
            else:
                assert abs(Decimal(found) / exact - 1) < Decimal(error) / 2
        return 0

    monkeypatch.setattr(mechanisms, "draw_index", compare)
    rng = np.random.default_rng(3)
    for epsilon in (0.1, 1 / 3, 1e-17, 3e15):
        for unit in (1, 2**16 + 2, 2**61 + 1):
            scores = (unit / epsilon * rng.uniform(-120, 0, 200)).clip(-(2**61), 0)
            base = rng.integers(1, 2**40, 200)
            Exponential(epsilon, unit).draw(scores.astype(np.int64), None, base)


def test_refined_weights_are_right():
    behind = np.array([0, 1, 40, 2000, 2**62])
    base = np.array([1, 3, 2**40, 2**40, 1])
    few = Exponential(0.1, 3)._weights(behind, base, 40)
    many = Exponential(0.1, 3)._weights(behind, base, 300)
    with localcontext(prec=400):
        for low, high in zip(few, many, strict=True):
            if low:
                assert abs(low / high - 1) < Decimal(10) ** -40
            else:
                assert high < Decimal(10) ** -42
    assert [bool(w) for w in many] == [True, True, True, True, False]


# ---- permute and flip ------------------------------------------------------------


def flip_by_inclusion(heads):
    """Return the sum of McKenna and Sheldon, in fractions."""
    n = len(heads)
    told = []
    for i in range(n):
        others = [heads[j] for j in range(n) if j != i]
        told.append(
            heads[i]
            * sum(
                Fraction((-1) ** k, k + 1) * math.prod(chosen)
                for k in range(n)
                for chosen in combinations(others, k)
            )
        )
    return told


def flip_by_orders(heads):
    """Go through all orders."""
    n = len(heads)
    told = [Fraction(0)] * n
    for order in permutations(range(n)):
        reached = Fraction(1, math.factorial(n))
        for i in order:
            told[i] += reached * heads[i]
            reached *= 1 - heads[i]
    return told


@given(
    scores=st.lists(st.integers(-20, 20), min_size=1, max_size=6),
    epsilon=st.floats(0.01, 4.0),
    monotone=st.booleans(),
)
def test_flip_probabilities(scores, epsilon, monotone):
    mechanism = PermuteAndFlip(epsilon, sensitivity=2, monotone=monotone)
    unit = 2 if monotone else 4
    heads = [Fraction(math.exp(epsilon * (s - max(scores)) / unit)) for s in scores]
    told = mechanism.probabilities(scores)
    for expected in (flip_by_inclusion(heads), flip_by_orders(heads)):
        np.testing.assert_allclose(told, np.array(expected, dtype=float), rtol=1e-12)


def test_flip_probabilities_of_many():
    scores = np.random.default_rng(0).integers(0, 50, 199)
    assert PermuteAndFlip(0.1).probabilities(scores).sum() == pytest.approx(1, 1e-13)
    tied = PermuteAndFlip(0.1).probabilities(np.zeros(199, dtype=np.int64))
    np.testing.assert_allclose(tied, 1 / 199, rtol=1e-12)
    with pytest.raises(ValueError, match="scores has 200 candidates"):
        PermuteAndFlip(0.1).probabilities(np.zeros(200, dtype=np.int64))


@pytest.mark.parametrize(
    ("mechanism", "scores"),
    [
        (PermuteAndFlip(1.0), [3, 2, 0, 3]),
        (PermuteAndFlip(1.0, monotone=False), [3, 2, 0, 3]),
        (PermuteAndFlip(0.7, sensitivity=10), [100, 90, 80, 101, 0]),
        (PermuteAndFlip(INF), [1, 1, 0]),
        (PermuteAndFlip(5e-324), [-(2**61), 2**61]),
        (PermuteAndFlip(1e300), [0, 2**61, 2**61]),
    ],
)
def test_flip_draws_with_its_probabilities(mechanism, scores):
    assert fits(frequencies(mechanism, scores), mechanism.probabilities(scores))


# ---- privacy ---------------------------------------------------------------------


def worst_log_ratio(mechanism, moves):
    """Search score vectors, moves and outcomes for the largest log-ratio."""
    worst = 0.0
    for scores in product(range(4), repeat=3):
        before = mechanism.probabilities(scores)
        for move in product(moves, repeat=3):
            after = mechanism.probabilities(np.add(scores, move))
            worst = max(worst, np.abs(np.log(after / before)).max())
    return worst


@pytest.mark.parametrize(
    ("mechanism", "moves"),
    [
        (Exponential(0.7), (0, 1)),
        (Exponential(0.7), (-1, 0)),
        (Exponential(0.7, unit=2), (-1, 0, 1)),
        (PermuteAndFlip(0.7), (0, 1)),
        (PermuteAndFlip(0.7, monotone=False), (-1, 0, 1)),
    ],
)
def test_choices_are_private(mechanism, moves):
    assert 0.45 < worst_log_ratio(mechanism, moves) <= 0.7 + 1e-12


@pytest.mark.parametrize("mechanism", [Exponential(0.7), PermuteAndFlip(0.7)])
def test_a_wrong_unit_is_seen(mechanism):
    assert worst_log_ratio(mechanism, (-1, 0, 1)) > 0.75


def test_flip_is_never_worse_than_exponential():
    for scores in product(range(5), repeat=4):
        flip = PermuteAndFlip(1.0).probabilities(scores) @ scores
        assert flip >= Exponential(1.0).probabilities(scores) @ scores - 1e-12


# ---- geometric -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "sensitivity"), [(0.1, 1), (1.0, 1), (1.0, 3), (4.0, 1), (0.05, 2)]
)
def test_noise_has_its_probabilities(epsilon, sensitivity):
    mechanism = Geometric(epsilon, sensitivity)
    values = np.arange(-400, 401)
    probabilities = mechanism.probabilities(values)
    q = math.exp(-epsilon / sensitivity)
    expected = (1 - q) / (1 + q) * q ** np.abs(values)
    np.testing.assert_allclose(probabilities, expected, rtol=1e-12)
    noise = mechanism.draw(np.full(100_000, 7), RandomBits.seeded(8)) - 7
    counts = np.bincount(noise[np.abs(noise) <= 400] + 400, minlength=801)
    assert fits(counts, probabilities)
    near = probabilities[300:501]
    assert np.abs(np.log(near[1:] / near[:-1])).max() <= (epsilon / sensitivity + 1e-10)


def test_noise_is_the_difference_of_two_waiting_times():
    counts = np.arange(12).reshape(3, 4)
    drawn = Geometric(0.25).draw(counts, RandomBits.seeded(9))
    random = RandomBits.seeded(9)
    up = draw_waiting_times(Fraction(1, 4), 12, random)
    down = draw_waiting_times(Fraction(1, 4), 12, random)
    np.testing.assert_array_equal(drawn, counts + (up - down).reshape(3, 4))
    assert drawn.dtype == np.int64


def test_geometric_limits():
    random = RandomBits.seeded(0)
    counts = np.array([3, -(2**62) + 1, 2**62 - 1])
    np.testing.assert_array_equal(Geometric(INF).draw(counts, random), counts)
    np.testing.assert_array_equal(Geometric(1e308).draw(counts, random), counts)
    assert Geometric(INF).probabilities([0, 1]).tolist() == [1.0, 0.0]
    assert Geometric(1e308).probabilities([0, 2**61]).tolist() == [1.0, 0.0]
    assert Geometric(1.0).draw([], random).shape == (0,)
    wide = Geometric(2.0**-50).draw(counts, random)
    assert (np.abs(wide - counts) < 2.0**56).all()
    assert (wide != counts).all()
    with pytest.raises(ValueError, match=r"epsilon=.*sensitivity=2"):
        Geometric(2.0**-50, 2)


# ---- the same in OpenDP ----------------------------------------------------------


@pytest.fixture
def dp():
    prelude = pytest.importorskip("opendp.prelude")
    prelude.enable_features("contrib")
    return prelude


@pytest.mark.parametrize("name", ["exponential", "permute and flip"])
def test_choices_of_opendp(dp, name):
    scores = [3, 2, 0, 3, -4]
    if name == "exponential":
        measure, mechanism = dp.zero_concentrated_divergence(), Exponential(1.0, 2)
    else:
        measure, mechanism = dp.max_divergence(), PermuteAndFlip(1.0, 2)
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
    theirs = dp.m.make_noisy_max(*space, measure, scale=2.0)
    counts = np.bincount([theirs(scores) for _ in range(N_DRAWS)], minlength=5)
    assert fits(counts, mechanism.probabilities(scores))


def test_noise_of_opendp(dp):
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    theirs = dp.m.make_laplace(*space, scale=4.0)
    noise = np.array(theirs([0] * 50_000))
    counts = np.bincount(noise[np.abs(noise) <= 200] + 200, minlength=401)
    assert fits(counts, Geometric(0.5, 2).probabilities(np.arange(-200, 201)))


# ---- bad input -------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", [Exponential, PermuteAndFlip, Geometric])
def test_bad_parameters(mechanism):
    for epsilon in (0, -1.0, math.nan, Fraction(1, 3), 2**53 + 1):
        with pytest.raises(ValueError, match="epsilon="):
            mechanism(epsilon)
    for unit in (0, -1, 1.5, 2.0, True, 2**62, "1"):
        with pytest.raises(ValueError, match=r"(unit|sensitivity)=.* whole number"):
            mechanism(1.0, unit)
    # Numpy's numbers are turned into Python's, which are exact.
    kept = mechanism(np.float32(0.5), np.int64(3))
    assert kept == mechanism(0.5, 3)
    assert all(type(value) in (int, float, bool) for value in vars(kept).values())


@pytest.mark.parametrize("mechanism", [Exponential(1.0), PermuteAndFlip(1.0)])
def test_bad_scores(mechanism):
    for call in (mechanism.probabilities, lambda s: mechanism.draw(s, None)):
        for scores in ([], [[1, 2]], [1.0, 2.0], [True, False], [2**62, 0], [-(2**62)]):
            with pytest.raises(ValueError, match="scores"):
                call(scores)


def test_bad_base_measure():
    for base in ([1], [0, 0], [-1, 1], [2**40 + 1, 1], [0.5, 0.5]):
        with pytest.raises(ValueError, match="base_measure"):
            Exponential(1.0).draw([1, 2], RandomBits.seeded(0), base)
