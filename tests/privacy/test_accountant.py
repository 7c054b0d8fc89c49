# SPDX-License-Identifier: BSD-3-Clause
"""A budget is never overspent: not by rounding, not by copies, not by clones."""

import copy
import math
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone

from mrforest.privacy import (
    Accountant,
    BudgetExceeded,
    Cost,
    Item,
    Ledger,
    Sequential,
    epsilon_to_zcdp,
    zcdp_to_epsilon,
)
from mrforest.privacy._floats import round_up
from tests.privacy.costs import costs


def exponential(epsilon: float) -> Item:
    return Item("splits", "exponential", epsilon, bounded_range=True)


def charged(accountant: Accountant, cost) -> bool:
    try:
        accountant.charge(cost, "a forest")
    except BudgetExceeded:
        return False
    return True


def test_a_charge_is_written_down():
    accountant = Accountant(1.0, 1e-6)
    before = datetime.now(UTC)
    given = accountant.charge(Ledger(exponential(0.5)), "a forest")
    (charge,) = accountant.charges
    assert given == charge
    assert (charge.what, charge.epsilon, charge.delta) == ("a forest", 0.5, 0.0)
    assert charge.rho == 0.5**2 / 8
    when = datetime.fromisoformat(charge.when)
    assert when.utcoffset() == timedelta(0)
    assert before <= when <= datetime.now(UTC)


def test_a_refused_charge_leaves_nothing():
    accountant = Accountant(1.0)
    accountant.charge(0.75, "first")
    before = accountant.charges
    with pytest.raises(
        BudgetExceeded, match=r"'second' costs .*0\.5 .* has 0\.25 left"
    ):
        accountant.charge(0.5, "second")
    assert accountant.charges == before
    assert issubclass(BudgetExceeded, ValueError)
    accountant.charge(0.25, "third")
    assert accountant.remaining == 0
    assert not charged(accountant, 5e-324)
    assert charged(accountant, 0.0)


def test_a_charge_stays_when_the_fit_dies():
    accountant = Accountant(1.0)

    def fit():
        accountant.charge(0.75, "a fit that dies")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), accountant:
        fit()
    assert accountant.spent == 0.75


@given(costs, st.lists(costs))
def test_never_overspent_by_rounding(budget, wishes):
    accountant = Accountant(budget)
    exact = Fraction(0)
    for wish in wishes:
        fits = exact + Fraction(wish) <= Fraction(budget)
        assert charged(accountant, wish) == fits
        exact += Fraction(wish) if fits else 0
    assert Fraction(accountant.spent) >= exact
    rest = accountant.remaining
    assert exact + Fraction(rest) <= Fraction(budget)
    # The next float would be too much.
    assert rest == math.nextafter(math.inf, 0) or exact + Fraction(
        math.nextafter(rest, math.inf)
    ) > Fraction(budget)


def test_ten_tenths_are_more_than_one():
    accountant = Accountant(1.0)
    assert sum(charged(accountant, 0.1) for _ in range(10)) == 9


@pytest.mark.parametrize("delta", [1e-9, 1e-6, 0.01])
def test_with_a_delta_many_small_charges_cost_less(delta):
    accountant = Accountant(1.0, delta)
    small = Ledger(Sequential([exponential(0.01)] * 10))
    n_charges = 0
    while charged(accountant, small):
        n_charges += 1
    rho = Fraction(small.rho)
    assert n_charges > 10
    assert n_charges == int(Fraction(epsilon_to_zcdp(1.0, delta)) / rho)
    assert accountant.spent == zcdp_to_epsilon(round_up(rho * n_charges), delta) <= 1


def test_with_a_delta_a_large_charge_costs_no_more():
    assert charged(Accountant(1.0, 1e-6), 1.0)
    assert Accountant(1.0, 1e-6).remaining == 1.0


@settings(max_examples=30)  # a search each
@given(st.floats(0.01, 10), st.floats(1e-12, 0.3), st.lists(st.floats(0, 2)))
def test_what_remains_can_be_charged(budget, delta, wishes):
    accountant = Accountant(budget, delta)
    for wish in wishes[:5]:
        charged(accountant, wish)
    rest = accountant.remaining
    assert not charged(accountant, rest * (1 + 1e-6) + 1e-9)
    assert charged(accountant, rest)
    assert accountant.spent <= budget


def test_charges_with_their_own_delta():
    accountant = Accountant(1.0, 1e-6)
    accountant.charge(Cost(0.25, delta=5e-7), "first")
    with pytest.raises(BudgetExceeded, match="delta=6e-07"):
        accountant.charge(Cost(0.25, delta=6e-7), "too likely to fail")
    assert accountant.spent == 0.25
    accountant.charge(Cost(0.25, delta=5e-7), "second")
    # Nothing is left to fail with, so that rho is of no use.
    assert not charged(accountant, Cost(math.inf, rho=1e-9))
    assert charged(accountant, 0.5)


def test_deltas_leave_less_for_zcdp():
    accountant = Accountant(2.0, 1e-6)
    accountant.charge(Cost(0.01, delta=4e-7), "approximate")
    accountant.charge(Cost(math.inf, rho=0.05), "Gaussian")
    rho = 0.05 + 0.01**2 / 2
    assert accountant.spent == pytest.approx(zcdp_to_epsilon(rho, 6e-7), rel=1e-12)
    assert accountant.spent > zcdp_to_epsilon(rho, 1e-6) * (1 + 1e-3)


def test_no_delta_no_zcdp():
    accountant = Accountant(1.0)
    assert not charged(accountant, Cost(math.inf, rho=1e-12))
    assert not charged(accountant, Cost(0.1, delta=1e-300))


def test_a_fit_that_is_not_private_is_refused_with_its_reasons():
    ledger = Ledger(exponential(0.1), ("random_state was given",))
    with pytest.raises(BudgetExceeded, match="not private: random_state was given"):
        Accountant(1e300, 0.5).charge(ledger, "a forest")
    endless = Accountant(math.inf)
    endless.charge(ledger, "a forest")
    assert endless.spent == endless.remaining == math.inf


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((-1.0,), "epsilon must be a float, at least 0, or inf; got -1.0"),
        (("1",), "epsilon must be a float"),
        ((math.nan,), "epsilon must be a float"),
        ((1.0, 1.0), "delta must be a float, at least 0, below 1; got 1.0"),
        ((1.0, None), "delta must be a float"),
    ],
)
def test_bad_budgets(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        Accountant(*arguments)


def test_bad_charges():
    accountant = Accountant(1.0)
    for cost in (-0.5, math.nan, "0.5", None, True):
        with pytest.raises(ValueError, match="cost must be a float, at least 0"):
            accountant.charge(cost, "a forest")
    with pytest.raises(ValueError, match="what must be a str; got 3"):
        accountant.charge(0.5, 3)
    with pytest.raises(ValueError, match="neighbours='replace-one'"):
        accountant.charge(Ledger(exponential(0.1)).replace_one, "a forest")
    with pytest.raises(ValueError, match="rho must be a float"):
        Cost(0.5, rho=-1.0)
    assert accountant.charges == ()


def test_the_budget_does_not_change():
    accountant = Accountant(1.0)
    for name in ("epsilon", "delta", "spent", "remaining", "charges"):
        with pytest.raises(AttributeError):
            setattr(accountant, name, 2.0)


def test_repr(tmp_path):
    accountant = Accountant(1.0, path=tmp_path / "budget.json")
    accountant.charge(0.25, "a forest")
    assert "spent 0.25, remaining 0.75" in repr(accountant)
    (tmp_path / "budget.json").unlink()
    assert repr(accountant).endswith("its charges cannot be read")


def test_blocks_nest():
    outer, inner = Accountant(1.0), Accountant(2.0)
    assert Accountant.current() is None
    with outer as entered:
        assert Accountant.current() is entered is outer
        with inner, outer, outer:
            assert Accountant.current() is outer
        with inner:
            assert Accountant.current() is inner
        with pytest.raises(ZeroDivisionError), inner:
            raise ZeroDivisionError
        assert Accountant.current() is outer
    assert Accountant.current() is None


def test_a_block_is_of_the_whole_process():
    """A fit in another thread is not to go uncharged."""
    with Accountant(1.0) as accountant, ThreadPoolExecutor(1) as pool:
        assert pool.submit(Accountant.current).result() is accountant
    assert Accountant.current() is None


def test_blocks_of_threads_may_end_in_any_order():
    first, second = Accountant(1.0), Accountant(2.0)
    first.__enter__()
    second.__enter__()
    first.__exit__()
    assert Accountant.current() is second
    second.__exit__()
    assert Accountant.current() is None


def test_clones_share_the_budget():
    class Estimator(BaseEstimator):
        def __init__(self, accountant=None):
            self.accountant = accountant

    accountant = Accountant(1.0)
    assert clone(Estimator(accountant)).accountant is accountant
    assert copy.copy(accountant) is copy.deepcopy(accountant) is accountant
