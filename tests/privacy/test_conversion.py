# SPDX-License-Identifier: BSD-3-Clause
"""zCDP to (epsilon, delta) and back, always on the safe side."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import log_ndtr, ndtr

from mrforest.privacy import epsilon_to_zcdp, zcdp_to_epsilon
from mrforest.privacy._floats import largest
from mrforest.privacy.conversion import best_order

rhos = st.floats(-30, 30).map(math.exp)
deltas = st.floats(-60, -1e-9).map(math.exp)
cases = pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.01, 0.3])
strengths = pytest.mark.parametrize("rho", [1e-6, 1e-3, 0.1, 0.5, 3.0, 50.0])


def log_of_bound(rho: float, epsilon: float, above: float) -> Decimal:
    """Return the logarithm of Corollary 13 as printed, at alpha = 1 + above."""
    alpha = 1 + Decimal(above)
    return (
        (alpha - 1) * (alpha * Decimal(rho) - Decimal(epsilon))
        - (alpha - 1).ln()
        + alpha * (1 - 1 / alpha).ln()
    )


@given(rhos, deltas)
def test_the_inequality_holds_at_an_order(rho, delta):
    epsilon = zcdp_to_epsilon(rho, delta)
    with localcontext() as context:
        context.prec = 200
        bound = log_of_bound(rho, epsilon, best_order(rho, delta))
        assert bound <= Decimal(delta).ln()


@given(rhos, deltas)
def test_a_slightly_smaller_epsilon_holds_at_no_order(rho, delta):
    """The bound is not only true but the best, by a search that knows no derivative."""
    epsilon = zcdp_to_epsilon(rho, delta)
    assume(epsilon > 1e-6)
    above = best_order(rho, delta) * np.exp(np.linspace(-8, 8, 4001))
    alpha = 1 + above
    with np.errstate(over="ignore"):
        found = alpha * rho + np.log(above / alpha) - np.log(alpha * delta) / above
    assert found.min() >= epsilon - 1e-9 * np.abs(alpha * rho).min() - 1e-9
    assert found.min() <= epsilon + 1e-6 * max(1, epsilon)


@given(rhos, deltas)
def test_closed_forms_are_never_smaller(rho, delta):
    closed = rho + 2 * math.sqrt(rho * -math.log(delta))
    assert zcdp_to_epsilon(rho, delta) <= closed * (1 + 1e-12)


@given(rhos, rhos, deltas)
def test_more_rho_costs_more(one, other, delta):
    low, high = sorted([one, other])
    assume(low < high * (1 - 1e-9))
    assert zcdp_to_epsilon(low, delta) <= zcdp_to_epsilon(high, delta)


@given(st.floats(0, 1e6), deltas)
def test_back(epsilon, delta):
    rho = epsilon_to_zcdp(epsilon, delta)
    assert zcdp_to_epsilon(rho, delta) <= epsilon
    assert zcdp_to_epsilon(rho * (1 + 1e-9) + 5e-324, delta) > epsilon


@cases
@strengths
def test_rdp_of_dp_accounting(rho, delta):
    """The same formula, at orders of a grid."""
    rdp = pytest.importorskip("dp_accounting.rdp")
    orders = 1 + best_order(rho, delta) * np.exp(np.linspace(-0.01, 0.01, 2001))
    theirs, _ = rdp.compute_epsilon(orders, orders * rho, delta)
    # Theirs also tries another bound, by total variation, which may be the smaller.
    ours = zcdp_to_epsilon(rho, delta)
    assert ours == pytest.approx(theirs, rel=1e-8) or 0 <= theirs < ours < 0.1


@cases
@strengths
def test_no_less_than_a_gaussian_needs(rho, delta):
    """A Gaussian mechanism is of rho-zCDP; its exact epsilon is known."""
    sigma = 1 / math.sqrt(2 * rho)
    epsilon = zcdp_to_epsilon(rho, delta)
    needed = ndtr(0.5 / sigma - epsilon * sigma) - math.exp(
        epsilon + log_ndtr(-0.5 / sigma - epsilon * sigma)
    )
    assert needed <= delta


@cases
@pytest.mark.parametrize("rho", [1e-3, 0.1, 3.0])
def test_no_less_than_the_loss_distribution_of_a_gaussian(rho, delta):
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    exact = pld.from_gaussian_mechanism(
        1 / math.sqrt(2 * rho),
        pessimistic_estimate=False,
        value_discretization_interval=1e-3,
    )
    assert exact.get_epsilon_for_delta(delta) <= zcdp_to_epsilon(rho, delta)


@pytest.mark.parametrize("rho", [5e-324, 1e-300, 1e-30, 1e30, 1e308])
@pytest.mark.parametrize("delta", [5e-324, 1e-300, 1e-9, 0.5, 1 - 2**-53])
def test_extremes(rho, delta):
    epsilon = zcdp_to_epsilon(rho, delta)
    assert 0 <= epsilon < math.inf
    closed = rho + 2 * math.sqrt(rho) * math.sqrt(-math.log(delta))
    # 80 digits leave a little that small numbers feel, on the safe side.
    assert epsilon <= closed * (1 + 1e-12) + 1e-60
    with localcontext() as context:
        context.prec = 800
        bound = log_of_bound(rho, epsilon, best_order(rho, delta))
        assert bound <= Decimal(delta).ln()


def test_limits():
    assert zcdp_to_epsilon(0.0, 0.0) == 0
    assert zcdp_to_epsilon(0.0, 0.1) == 0
    assert zcdp_to_epsilon(1e-9, 0.0) == math.inf
    assert zcdp_to_epsilon(math.inf, 0.1) == math.inf
    assert epsilon_to_zcdp(5.0, 0.0) == 0
    assert epsilon_to_zcdp(math.inf, 0.0) == math.inf
    assert epsilon_to_zcdp(0.0, 0.1) > 0


@pytest.mark.parametrize("bad", [-1.0, math.nan, "1", None, True])
def test_bad_costs(bad):
    with pytest.raises(ValueError, match="rho must be a float, at least 0"):
        zcdp_to_epsilon(bad, 0.1)
    with pytest.raises(ValueError, match="epsilon must be a float, at least 0"):
        epsilon_to_zcdp(bad, 0.1)


@pytest.mark.parametrize("bad", [-0.1, 1.0, math.inf, math.nan, "0.1", None])
def test_bad_deltas(bad):
    with pytest.raises(ValueError, match="delta must be a float, at least 0, below 1"):
        zcdp_to_epsilon(0.1, bad)
    with pytest.raises(ValueError, match="delta must be a float, at least 0, below 1"):
        epsilon_to_zcdp(0.1, bad)


@given(st.floats(0, allow_infinity=False))
def test_search_finds_any_border(border):
    assert largest(lambda x: x <= border) == border
    assert largest(lambda x: x < border) == math.nextafter(border, 0)


def test_search_without_a_border():
    assert largest(lambda x: True) == math.inf
    assert largest(lambda x: x < math.inf) == math.nextafter(math.inf, 0)
    assert largest(lambda x: False) == 0
