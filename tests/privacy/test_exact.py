# SPDX-License-Identifier: BSD-3-Clause
"""The index drawn is that of the exact weights, however near a boundary U lies."""

import math
from decimal import Decimal, Inexact, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrforest.privacy import exact
from mrforest.privacy.exact import (
    FUNCTION_ERROR,
    Uniform,
    bernoulli_exp,
    draw_index,
    draw_waiting_times,
)
from mrforest.privacy.randomness import RandomBits
from tests.privacy.fixed import FixedBits, fits, index_of, near_boundaries, to_decimal

ERRORS = [1e-14, 1e-9, 1e-3, 0.12, 0.9, math.inf]
THIRD = Fraction(1, 3)


class Refine:
    """Decimals of the true weights, as wrong as is allowed; remembers its calls."""

    def __init__(self, weights, signs):
        self.weights = weights
        self.signs = signs
        self.calls = []

    def __call__(self, digits):
        self.calls.append(digits)
        wrong = Fraction(99, 100) / 10**digits
        return [
            to_decimal(w * (1 + sign * wrong), digits + 3)
            for w, sign in zip(self.weights, self.signs, strict=True)
        ]


def wrong_floats(weights, signs, error):
    """Return floats that are off by nearly the relative error."""
    share = Fraction(min(error, 0.9)) * Fraction(99, 100) - Fraction(1, 2**53)
    return np.array(
        [float(w * (1 + s * share)) for w, s in zip(weights, signs, strict=True)]
    )


def drawn(u, weights, signs, error):
    """Return the index of u, and the numbers of digits that were asked for."""
    refine = Refine(weights, signs)
    floats = wrong_floats(weights, signs, error)
    return draw_index(floats, error, FixedBits(u), refine), refine.calls


@st.composite
def cases(draw):
    n = draw(st.integers(1, 8))
    mantissas = draw(st.lists(st.integers(0, 10**6), min_size=n, max_size=n))
    exponents = draw(st.lists(st.integers(-90, 90), min_size=n, max_size=n))
    weights = [m * Fraction(2) ** e for m, e in zip(mantissas, exponents, strict=True)]
    if not any(weights):
        weights[0] = Fraction(1)
    signs = draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    # A third: not a dyadic number, which may be a boundary itself
    distance = Fraction(2) ** -draw(st.integers(1, 400)) * THIRD
    places = near_boundaries(weights, [distance])
    u = draw(st.sampled_from(places) | st.fractions(0, 1).filter(lambda f: f < 1))
    if u * sum(weights) in [sum(weights[:i]) for i in range(1, n)]:
        u = THIRD * distance
    return u, weights, signs


@given(case=cases(), error=st.sampled_from(ERRORS))
def test_the_index_is_that_of_the_exact_weights(case, error):
    u, weights, signs = case
    index, _ = drawn(u, weights, signs, error)
    assert index == index_of(u, weights)


@pytest.mark.parametrize(
    ("distance", "error", "calls"),
    [
        (Fraction(1, 10), 1e-12, []),
        (Fraction(1, 10), 0.2, [40]),
        (Fraction(1, 10**9), 1e-12, []),
        (Fraction(1, 10**9), 1e-6, [40]),
        (Fraction(1, 10**30), 1e-12, [40]),
        (Fraction(1, 10**60), 1e-12, [40, 80]),
        (Fraction(1, 10**60), math.inf, [40, 80]),
        (Fraction(1, 10**150), 0.01, [40, 80, 160]),
    ],
)
def test_digits_are_asked_for_when_needed(distance, error, calls):
    weights = [Fraction(1, 7), Fraction(2, 3), Fraction(5, 11)]
    for u in near_boundaries(weights, [distance]):
        # The ends of [0, 1) are known without any digits.
        is_inside = distance < u < 1 - distance
        at_ends = [40] if error > 0.125 else []
        for signs in ([1, -1, 1], [-1, 1, -1], [1, 1, -1]):
            index, asked = drawn(u, weights, signs, error)
            assert index == index_of(u, weights)
            assert asked == (calls if is_inside else at_ends)


def test_weights_too_small_for_a_float():
    weights = [Fraction(1, 2**101), Fraction(3), Fraction(1, 2**1200), Fraction(4)]
    floats = np.array([0.0, 3.0, 0.0, 4.0])
    share = weights[2] / sum(weights)
    start = sum(weights[:2]) / sum(weights)
    for u in [
        weights[0] / sum(weights) * THIRD,
        start - share,
        start + share * THIRD,
        start + 2 * share,
        THIRD,
    ]:
        refine = Refine(weights, [1, 1, -1, 1])
        index = draw_index(floats, 0.0, FixedBits(u), refine)
        assert index == index_of(u, weights)
        assert (u == THIRD) == (refine.calls == [])


def test_a_weight_of_zero_is_never_drawn():
    weights = [Fraction(w) for w in (0, 2, 0, 0, 1, 0)]
    for u in near_boundaries(weights, [Fraction(1, 3 * 10**k) for k in (2, 20, 50)]):
        index, _ = drawn(u, weights, [1] * 6, 1e-14)
        assert index == index_of(u, weights)
        assert weights[index] > 0


def test_extreme_floats():
    tiny = 5e-324
    for scale in (tiny, 1.0, 2.0**1022):
        floats = np.array([scale, 2 * scale, scale])
        weights = [Fraction(w) for w in floats]
        for u in near_boundaries(weights, [Fraction(1, 30), Fraction(1, 3 * 10**25)]):
            index = draw_index(floats, 0.0, FixedBits(u), Refine(weights, [1, 1, -1]))
            assert index == index_of(u, weights)


def indices_near_boundaries(floats, error, weights):
    """Return the drawn and the true indices of u within the error of boundaries."""
    n = len(weights)
    step = Fraction(max(error, n * 2.0**-54)) / 3
    places = near_boundaries(weights, [step, step / 10])[:: max(1, n // 20)]
    signs = [1] * n
    return [
        (
            draw_index(floats, error, FixedBits(u), Refine(weights, signs)),
            index_of(u, weights),
        )
        for u in places
    ]


def many_weights():
    """Return floats whose sums in double precision are visibly wrong."""
    floats = np.full(2000, 0.1)
    return floats, [Fraction(w) for w in floats.tolist()]


def test_the_error_of_the_sums_is_in_the_bound():
    floats, weights = many_weights()
    pairs = indices_near_boundaries(floats, 0.0, weights)
    assert all(found == true for found, true in pairs)


def test_a_bound_that_is_too_small_would_be_seen(monkeypatch):
    monkeypatch.setattr(exact, "margin", lambda n, relative_error: 0.0)
    floats, weights = many_weights()
    pairs = indices_near_boundaries(floats, 0.0, weights)
    assert any(found != true for found, true in pairs)


def test_a_relative_error_that_is_too_small_would_be_seen():
    weights = [Fraction(1, 3), Fraction(2, 7), Fraction(1, 5)]
    floats = wrong_floats(weights, [1, -1, 1], 1e-6)
    told = indices_near_boundaries(floats, 1e-6, weights)
    assert all(found == true for found, true in told)
    near = near_boundaries(weights, [Fraction(1, 10**7)])
    lied = [
        (draw_index(floats, 1e-9, FixedBits(u), None), index_of(u, weights))
        for u in near
    ]
    assert any(found != true for found, true in lied)


def test_draws_have_the_distribution():
    weights = [0.0, 1.0, 3.0, 0.5, 7.25]
    exact_weights = [Decimal(w) for w in weights]
    for error in (0.0, 1.0):
        random = RandomBits.seeded(11)
        indices = [
            draw_index(np.array(weights), error, random, lambda _: exact_weights)
            for _ in range(5000)
        ]
        counts = np.bincount(indices, minlength=5)
        assert fits(counts, np.array(weights) / sum(weights))


def test_the_caller_s_decimal_settings_do_not_matter():
    weights = [Fraction(1, 7), Fraction(2, 3)]
    refined = {d: Refine(weights, [1, 1])(d) for d in (40, 80, 160)}
    u = near_boundaries(weights, [Fraction(1, 10**60)])
    with localcontext(prec=2, Emax=3, Emin=-3, traps=[Inexact]):
        indices = [
            draw_index(np.ones(2), math.inf, FixedBits(x), refined.__getitem__)
            for x in u
        ]
        times = [draw_waiting_times(THIRD, 1, FixedBits(x))[0] for x in u]
    assert indices == [index_of(x, weights) for x in u]
    assert times == [draw_waiting_times(THIRD, 1, FixedBits(x))[0] for x in u]


@pytest.mark.parametrize(
    ("weights", "error", "refined", "message"),
    [
        ([], 0.0, [], "weights of shape"),
        ([[1.0]], 0.0, [1], "weights of shape"),
        ([1.0, -1.0], 0.0, [1, 1], "weights from -1.0 to 1.0"),
        ([1.0, math.nan], 0.0, [1, 1], "weights from nan"),
        ([1.0, math.inf], 0.0, [1, 1], "to inf"),
        ([0.0, 0.0], 0.0, [1, 1], "weights are all 0"),
        ([1.0], -0.5, [1], "relative_error=-0.5"),
        ([1.0], math.nan, [1], "relative_error=nan"),
        ([1.0, 1.0], 1.0, [1], r"refine\(40\) gives 1 weights, not 2"),
        ([1.0, 1.0], 1.0, [0, 0], r"refine\(40\) gives weights that are all 0"),
        ([1.0, 1.0], 1.0, [1, -1], r"refine\(40\) must give"),
        ([1.0, 1.0], 1.0, ["NaN", 1], r"refine\(40\) must give"),
    ],
)
def test_bad_weights(weights, error, refined, message):
    with pytest.raises(ValueError, match=message):
        draw_index(
            np.array(weights, dtype=np.float64),
            error,
            RandomBits.seeded(0),
            lambda digits: [Decimal(w) for w in refined],
        )


def test_a_uniform_number_keeps_its_bits():
    uniform = Uniform(RandomBits.seeded(3))
    long, n = uniform.interval(100)
    assert uniform.interval(20) == (long, n) == (long, 100)
    assert uniform.interval(300)[0] >> 200 == long
    assert Uniform(FixedBits(THIRD), k=5, n=3).interval(5) == (5 << 2 | 1, 5)


@pytest.mark.parametrize("x", ["0", "1/1000", "1/3", "1", "5/4", "3", "15/2"])
def test_coins_fall_with_probability_exp(x):
    random, x = RandomBits.seeded(12), Fraction(x)
    n_heads = sum(bernoulli_exp(x, random) for _ in range(20_000))
    p = math.exp(-x)
    assert abs(n_heads - 20_000 * p) <= 5.5 * math.sqrt(20_000 * p * (1 - p))


def test_a_huge_exponent_is_no_work():
    assert not bernoulli_exp(Fraction(1e300), RandomBits.seeded(0))
    with pytest.raises(ValueError, match="x=-1"):
        bernoulli_exp(Fraction(-1), RandomBits.seeded(0))


@pytest.mark.parametrize("rate", [Fraction(1, 10**6), THIRD, Fraction(2), Fraction(50)])
def test_waiting_times_are_exact_at_their_boundaries(rate):
    for time in (1, 2, 3, 17):
        with localcontext(prec=300):
            boundary = Fraction(
                (-Decimal(rate.numerator) / rate.denominator * time).exp()
            )
        for k in (5, 15, 16, 17, 20, 40, 90):
            for sign in (-1, 1):
                u = boundary * (1 + Fraction(sign, 10**k) * rate)
                # The smaller U is, the longer it takes.
                expected = time if sign < 0 else time - 1
                assert draw_waiting_times(rate, 1, FixedBits(u)).tolist() == [expected]


def test_waiting_times_have_the_distribution():
    for rate in (Fraction(1, 20), Fraction(1), Fraction(4)):
        times = draw_waiting_times(rate, 100_000, RandomBits.seeded(4))
        q = math.exp(-rate)
        counts = np.bincount(np.minimum(times, 150), minlength=151)
        assert fits(counts, [*(q**m * (1 - q) for m in range(150)), q**150])


def test_the_longest_waiting_times():
    rate = exact.LEAST_RATE
    (time,) = draw_waiting_times(rate, 1, FixedBits(Fraction(1, 2**3000))).tolist()
    assert time == pytest.approx(2**50 * 3000 * math.log(2), rel=1e-14)
    (time,) = draw_waiting_times(rate, 1, FixedBits(Fraction(1, 2**7000))).tolist()
    assert time == exact.LONGEST_TIME
    with pytest.raises(ValueError, match=r"rate=.* must be at least 2\*\*-50"):
        draw_waiting_times(rate / 2, 1, RandomBits.seeded(0))


def test_exp_and_log_are_as_good_as_is_assumed():
    rng = np.random.default_rng(0)
    exponents = -110 * rng.random(3000)
    numbers = np.concatenate([rng.random(2000), 1 - 2.0 ** -rng.uniform(1, 53, 1000)])
    with localcontext(prec=40):
        for function, x, true in (
            (np.exp, exponents, Decimal.exp),
            (np.log, numbers, Decimal.ln),
        ):
            for value, argument in zip(function(x).tolist(), x.tolist(), strict=True):
                right = true(Decimal(argument))
                assert abs(Decimal(value) / right - 1) < FUNCTION_ERROR / 16
