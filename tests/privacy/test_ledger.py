# SPDX-License-Identifier: BSD-3-Clause
"""A ledger adds costs exactly and never shows less than they are."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_softmax, logsumexp

from mrforest.privacy import (
    Item,
    Ledger,
    Parallel,
    Sequential,
    split_budget,
    zcdp_to_epsilon,
)
from tests.privacy.costs import costs, items, ledgers, releases


def geometric(epsilon: float, **where) -> Item:
    return Item("counts", "geometric", epsilon, **where)


def exponential(epsilon: float, **where) -> Item:
    return Item("splits", "exponential", epsilon, bounded_range=True, **where)


def is_rounded_up(shown: float, exact: Fraction) -> bool:
    """Whether a float is the first one that is not smaller."""
    if shown == math.inf:
        return exact > Fraction(math.nextafter(math.inf, 0))
    return (
        exact <= Fraction(shown)
        and (shown == 0 or Fraction(math.nextafter(shown, 0)) < exact)
    )  # fmt: skip


def by_hand(release, cost) -> Fraction:
    if isinstance(release, Item):
        return cost(release)
    parts = [by_hand(part, cost) for part in release.parts] or [Fraction(0)]
    return sum(parts) if isinstance(release, Sequential) else max(parts)


@given(st.lists(costs))
def test_costs_one_after_another_add_exactly(epsilons):
    ledger = Ledger(Sequential(map(geometric, epsilons)))
    assert ledger.exact == sum(map(Fraction, epsilons))
    assert is_rounded_up(ledger.epsilon, ledger.exact)


@given(ledgers)
def test_nested_costs(ledger):
    assert ledger.exact == by_hand(ledger.release, lambda i: Fraction(i.epsilon))
    assert ledger.exact_rho == by_hand(
        ledger.release,
        lambda i: Fraction(i.epsilon) ** 2 * Fraction(1, 8 if i.bounded_range else 2),
    )
    assert is_rounded_up(ledger.epsilon, ledger.exact)
    assert is_rounded_up(ledger.rho, ledger.exact_rho)


def test_naive_sums_are_smaller():
    """What exactness is for: a plain sum of floats would claim too little."""
    tiny = 2.0**-54
    ledger = Ledger(Sequential([geometric(1.0)] + [geometric(tiny)] * 100))
    assert sum([1.0] + [tiny] * 100) == 1.0 < ledger.exact <= ledger.epsilon


def forest(n_trees: int, n_blocks: int, *, shared: bool) -> Ledger:
    """Honest trees of several blocks; rows are of one tree or of all."""
    trees = [
        Sequential(
            [
                Parallel(
                    [
                        exponential(0.5, tree=tree, block=block),
                        geometric(0.25, tree=tree, block=block),
                    ],
                    over="halves",
                )
                for block in range(n_blocks)
            ],
            over="blocks",
        )
        for tree in range(n_trees)
    ]
    return Ledger((Sequential if shared else Parallel)(trees, over="trees"))


def test_a_forest():
    assert forest(10, 3, shared=False).epsilon == 3 * 0.5
    assert forest(10, 3, shared=True).epsilon == 10 * 3 * 0.5
    # The halves that fill leaves cost more in zCDP, though their epsilon is smaller,
    # only if that is above half of the other.
    assert forest(10, 3, shared=False).exact_rho == 3 * Fraction(1, 32)
    assert len(forest(10, 3, shared=True).items) == 60


def test_zcdp_and_pure_costs_take_each_its_own_maximum():
    ledger = Ledger(Parallel([exponential(1.0), geometric(0.75)]))
    assert ledger.exact == 1
    assert ledger.exact_rho == Fraction(9, 32)


@given(releases(st.floats(0, 5)), st.floats(1e-12, 0.5))
def test_epsilon_at_delta_is_the_smaller(release, delta):
    ledger = Ledger(release)
    found = ledger.epsilon_at(delta)
    assert found == min(ledger.epsilon, zcdp_to_epsilon(ledger.rho, delta))
    assert ledger.epsilon_at(0.0) == ledger.epsilon


def test_many_small_costs_are_cheaper_at_a_delta():
    many = Ledger(Sequential([exponential(0.01)] * 10_000))
    one = Ledger(exponential(0.01))
    assert many.epsilon_at(1e-6) < 3 < 99 < many.epsilon
    assert one.epsilon_at(1e-6) == 0.01


@given(releases(st.floats(0, 1e100)))
def test_replace_one(release):
    ledger = Ledger(release)
    changed = ledger.replace_one
    assert changed.exact == 2 * ledger.exact
    assert changed.exact_rho == 4 * ledger.exact_rho
    assert changed.neighbours == "replace-one"
    assert changed.replace_one is changed


def test_a_row_that_is_replaced_may_touch_two_parts():
    """Two geometric counts, one row moved between them: twice the cost, no more."""
    epsilon = 0.5
    ledger = Ledger(Parallel([geometric(epsilon), geometric(epsilon)])).replace_one
    step = math.exp(-epsilon)
    noise = {k: (1 - step) / (1 + step) * step ** abs(k) for k in range(-30, 31)}
    worst = max(
        math.log(noise[a] * noise[b] / (noise[a - 1] * noise[b + 1]))
        for a in range(-29, 30)
        for b in range(-29, 30)
    )
    assert worst == pytest.approx(ledger.epsilon)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_rho_of_an_exponential_mechanism(epsilon):
    """Rényi divergences of its worst case stay below alpha times rho."""
    rho = Ledger(exponential(epsilon)).rho
    for share in np.linspace(0.01, 0.99, 99):
        one = np.log([share, 1 - share])
        other = log_softmax(one + np.array([epsilon, 0]))
        for alpha in (1.01, 1.5, 2, 5, 20, 100):
            for p, q in ((one, other), (other, one)):
                divergence = logsumexp(alpha * p + (1 - alpha) * q) / (alpha - 1)
                assert divergence <= alpha * rho * (1 + 1e-9)


@given(ledgers | st.builds(Ledger, releases(costs | st.just(math.inf))))
def test_json_there_and_back(ledger):
    text = ledger.to_json()
    json.loads(text, parse_constant=pytest.fail)
    assert Ledger.from_json(text) == ledger
    assert Ledger.from_json(ledger.replace_one.to_json()) == ledger.replace_one


def test_json_names_its_schema():
    document = json.loads(forest(2, 1, shared=True).to_json())
    assert document["schema"] == "mrforest privacy ledger"
    assert document["version"] == 1
    first = document["release"]["sequential"][0]["sequential"][0]["parallel"][0]
    assert first == {
        "what": "splits",
        "mechanism": "exponential",
        "epsilon": 0.5,
        "tree": 0,
        "block": 0,
        "bounded_range": True,
    }


def edited(**changes) -> str:
    return json.dumps(json.loads(Ledger(geometric(0.5)).to_json()) | changes)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "broken JSON"),
        (edited()[:-5], "broken JSON"),
        ("[]", "does not say schema"),
        (edited(schema="other"), "does not say schema"),
        (edited(version=2), "version 2, written by a newer mrforest"),
        (edited(version="1"), "version must be 1; got '1'"),
        (edited(release=None), "no mrforest privacy ledger"),
        (edited(release={}), "no mrforest privacy ledger"),
        (edited(release={"sequential": [3]}), "no mrforest privacy ledger"),
        (edited(release={"parallel": [], "beside": 1}), "beside"),
        (edited(surplus=1), "surplus"),
        (edited().replace('"reasons": [],', ""), "reasons"),
        (edited(reasons="random_state was given"), "reasons must be a tuple of str"),
        (edited(reasons=[1]), "reasons must be a tuple of str"),
        (edited(reasons=None), "no mrforest privacy ledger"),
        (edited(neighbours="friends"), "neighbours must be one of"),
    ],
)
def test_json_of_something_else(text, complaint):
    with pytest.raises(ValueError, match=complaint):
        Ledger.from_json(text)


def test_negative_costs_do_not_come_in_by_json():
    text = Ledger(geometric(0.5)).to_json()
    with pytest.raises(ValueError, match="epsilon must be a float, at least 0"):
        Ledger.from_json(text.replace("0.5", "-0.5"))
    with pytest.raises(ValueError, match="epsilon must be a float, at least 0"):
        Ledger.from_json(text.replace("0.5", "NaN"))


def test_a_fit_that_is_not_private_says_why():
    reasons = ("random_state was given", "bounds were read from the data")
    ledger = Ledger(geometric(0.5), reasons)
    assert ledger.reasons == reasons
    assert not ledger.is_private
    assert ledger.epsilon == ledger.rho == ledger.epsilon_at(0.1) == math.inf
    assert ledger.replace_one.reasons == reasons
    assert str(ledger).splitlines()[2:] == [
        "not private: random_state was given",
        "not private: bounds were read from the data",
        "total: epsilon = inf for add-remove neighbours",
    ]
    with pytest.raises(ValueError, match="not private: random_state was given; bound"):
        _ = ledger.exact


def test_an_item_without_a_bound_is_a_reason():
    ledger = Ledger(Parallel([geometric(math.inf), geometric(1.0)]))
    assert ledger.reasons == ("counts: epsilon is inf",)
    assert ledger.epsilon == math.inf


def test_the_table_is_aligned():
    lines = str(forest(2, 1, shared=False)).splitlines()
    assert len(lines) == 6
    for title in ("block", "what", "mechanism", "epsilon", "composed"):
        start = lines[0].index(title)
        assert all(line[start - 1] == " " != line[start] for line in lines[:-1])
    assert lines[1].endswith(
        "0.5      parallel over trees, sequential over blocks, parallel over halves"
    )
    assert lines[-1] == "total: epsilon = 0.5 for add-remove neighbours"


def test_a_long_table_is_cut():
    ledger = forest(100, 1, shared=False)
    lines = str(ledger).splitlines()
    assert len(lines) == 1 + 40 + 2
    assert lines[-2] == "... and 160 more"


@given(ledgers)
def test_every_ledger_prints(ledger):
    assert str(ledger).endswith(
        f"total: epsilon = {ledger.epsilon!r} for add-remove neighbours"
    )
    assert "<table>" in ledger._repr_html_()


def test_html_is_escaped():
    html = Ledger(Item("<b>", "a & b", 1.0), ("<i>",))._repr_html_()
    assert "<b>" not in html
    assert "<i>" not in html
    assert "&lt;b&gt;" in html
    assert "a &amp; b" in html
    assert "total: epsilon = inf" in html


def test_nothing_costs_nothing():
    assert Ledger(Sequential([])).epsilon == Ledger(Parallel([])).epsilon == 0
    assert str(Ledger(Sequential([]))).splitlines()[-1].startswith("total: epsilon = 0")


@given(items())
def test_equal_items(item):
    assert item == Item(**vars(item))
    assert hash(item) == hash(Item(**vars(item)))


def test_numbers_of_numpy():
    item = geometric(np.float32(0.5), tree=np.int64(3))
    assert type(item.epsilon) is float
    assert type(item.tree) is int
    Ledger.from_json(Ledger(item).to_json())


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"epsilon": -0.1}, "epsilon must be a float, at least 0, or inf; got -0.1"),
        ({"epsilon": math.nan}, "epsilon must be a float"),
        ({"epsilon": "1"}, "epsilon must be a float"),
        ({"epsilon": True}, "epsilon must be a float"),
        ({"epsilon": Fraction(1, 3)}, "epsilon must be a float"),
        ({"epsilon": 10**400}, "epsilon must be a float"),
        ({"epsilon": 2**53 + 1}, "epsilon must be a float"),
        ({"what": 1}, "what must be a str; got 1"),
        ({"mechanism": None}, "mechanism must be a str; got None"),
        ({"tree": 0.5}, "tree must be an int or None; got 0.5"),
        ({"block": "0"}, "block must be an int or None; got '0'"),
        ({"bounded_range": 1}, "bounded_range must be a bool; got 1"),
        ({"bounded_range": True}, "got mechanism='geometric'"),
    ],
)
def test_bad_items(changes, complaint):
    with pytest.raises(ValueError, match=complaint):
        Item(**{"what": "counts", "mechanism": "geometric", "epsilon": 1.0} | changes)


def test_bad_ledgers():
    for kind in (Sequential, Parallel):
        with pytest.raises(ValueError, match="parts must be Item, Sequential or Par"):
            kind([geometric(1.0), 2.0])
        with pytest.raises(ValueError, match="over must be a str; got 3"):
            kind([], 3)
    with pytest.raises(ValueError, match="release must be Item, Sequential or Par"):
        Ledger([geometric(1.0)])
    with pytest.raises(ValueError, match="neighbours must be one of"):
        Ledger(geometric(1.0), neighbours="all")
    for reasons in ("random_state was given", "", [None]):
        with pytest.raises(ValueError, match="reasons must be a tuple of str"):
            Ledger(geometric(1.0), reasons)


@given(costs, st.lists(costs, min_size=1).filter(any))
def test_parts_of_a_budget_never_exceed_it(epsilon, shares):
    parts = split_budget(epsilon, shares)
    assert sum(map(Fraction, parts)) <= Fraction(epsilon)
    assert Ledger(Sequential(map(geometric, parts))).epsilon <= epsilon
    whole = sum(map(Fraction, shares))
    for part, share in zip(parts, shares, strict=True):
        wanted = Fraction(epsilon) * Fraction(share) / whole
        assert Fraction(part) <= wanted
        above = math.nextafter(part, math.inf)
        assert above == math.inf or wanted < Fraction(above)


def test_splitting_naively_exceeds_it():
    """What rounding down is for: some equal floats add up to more than the whole."""
    naive = [1.0 / n for n in range(1, 100)]
    assert any(n * Fraction(part) > 1 for n, part in enumerate(naive, 1))
    for n in range(1, 100):
        assert sum(map(Fraction, split_budget(1.0, [1] * n))) <= 1


def test_splitting_without_a_bound():
    assert split_budget(math.inf, [1, 0]) == [math.inf, 0]
    assert split_budget(0.0, [1, 2]) == [0, 0]


@pytest.mark.parametrize("shares", [[], [0, 0], [1, math.inf], [1, -1], [math.nan]])
def test_bad_shares(shares):
    with pytest.raises(ValueError, match="shares must be"):
        split_budget(1.0, shares)
