# SPDX-License-Identifier: BSD-3-Clause
"""Plans never spend more than they are given, and follow from public numbers."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrforest.privacy import Ledger, epsilon_to_zcdp
from mrforest.privacy.plan import Budget, Size, make_plan

SIZE = Size(n_features=10, n_candidates=400, n_classes=3)
HUGE = Size(n_features=2000, n_candidates=90_000, n_classes=2)

EPSILONS = st.floats(1e-3, 50)
DELTAS = st.one_of(st.just(0.0), st.floats(1e-12, 0.1))
PLANS = st.fixed_dictionaries(
    {
        "leaf": st.sampled_from(["label", "counts"]),
        "honest": st.booleans(),
        "n_trees": st.one_of(st.just("auto"), st.integers(1, 30)),
        "depth": st.one_of(st.just("auto"), st.integers(1, 9)),
    }
)


def plan_of(budget, n_rows=1000, size=SIZE, **choices):
    choices = {
        "leaf": "label",
        "honest": False,
        "n_trees": "auto",
        "depth": "auto",
        **choices,
    }
    return make_plan(budget, size, n_rows, **choices)


@given(EPSILONS, DELTAS, st.integers(-50, 10**7), st.booleans(), PLANS)
def test_no_plan_overspends(epsilon, delta, n_rows, pays_for_rows, choices):
    budget = Budget(epsilon, epsilon_to_zcdp(epsilon, delta) if delta else 0.0)
    rows_epsilon = budget.share(Fraction(3, 100)) if pays_for_rows else 0.0
    plan = plan_of(budget, n_rows, rows_epsilon=rows_epsilon, **choices)
    ledger = Ledger(plan.release)
    assert ledger.epsilon_at(delta) <= epsilon
    # Nor does it leave much of it.
    assert ledger.epsilon_at(delta) >= 0.9 * epsilon
    assert all(item.epsilon > 0 for item in ledger.items)


def test_halves_have_the_whole_budget_each():
    plan = plan_of(Budget(1.0), honest=True, n_trees=1, depth=4)
    assert math.fsum(b.epsilon for b in plan.blocks) == pytest.approx(1.0)
    assert plan.leaf_epsilon == pytest.approx(1.0)
    assert Ledger(plan.release).epsilon <= 1.0


def test_many_trees_pay_in_zcdp_only():
    assert plan_of(Budget(1.0), 10**6, leaf="counts").n_trees == 1
    budget = Budget(1.0, epsilon_to_zcdp(1.0, 1e-6))
    assert plan_of(budget, 10**6, leaf="counts").n_trees == 20
    assert plan_of(budget, 300, leaf="counts").n_trees == 1
    assert plan_of(budget, 10**6, leaf="label").n_trees == 1


@pytest.mark.parametrize(
    ("n_rows", "depths"),
    [
        (-5, [2]),
        (100, [2]),
        (1_000, [2, 2]),
        (5_000, [2, 2, 2]),
        (20_000, [2, 2, 2, 2]),
        (50_000, [2] * 5),
        (10**6, [2] * 7),
        (10**10, [2] * 10),
    ],
)
def test_more_rows_make_more_blocks(n_rows, depths):
    assert [block.depth for block in plan_of(Budget(1.0), n_rows).blocks] == depths


def test_few_candidates_are_drawn_three_levels_at_once():
    few = Size(n_features=6, n_candidates=20, n_classes=4)
    depths = [block.depth for block in plan_of(Budget(1.0), 1000, few).blocks]
    assert depths == [2, 3]
    counts = plan_of(Budget(1.0), 1000, few, leaf="counts")
    assert [block.depth for block in counts.blocks] == [2, 2]


def test_too_many_candidates_are_drawn_one_level_at_a_time():
    assert not HUGE.is_joint
    plan = plan_of(Budget(1.0), 1000, HUGE)
    assert [block.depth for block in plan.blocks] == [1, 1, 1, 1]


@pytest.mark.parametrize(("depth", "depths"), [(1, [1]), (2, [2]), (5, [1, 2, 2])])
def test_a_depth_that_is_asked_for(depth, depths):
    plan = plan_of(Budget(1.0), None, n_trees=1, depth=depth)
    assert [block.depth for block in plan.blocks] == depths
    assert plan.depth == depth


def test_no_candidate_no_split():
    plan = plan_of(Budget(1.0), size=Size(n_features=3, n_candidates=0, n_classes=2))
    assert plan.depth == 0
    assert Ledger(plan.release).epsilon == 1.0


def test_an_infinite_budget_is_infinite_everywhere():
    plan = plan_of(Budget(math.inf), 569, leaf="counts")
    assert {block.epsilon for block in plan.blocks} == {math.inf}
    assert plan.leaf_epsilon == math.inf
    # 64 leaves of 569 rows: 8.9 each; SIZE has three classes.
    assert plan.depth == 6


def test_not_to_split_is_a_candidate_of_large_budgets():
    small, large = (plan_of(Budget(e), 1000).blocks for e in (1.0, 8.0))
    assert {block.stop for block in small} == {0}
    assert [block.stop > 0 for block in large] == [False] * (len(large) - 1) + [True]
    counts = plan_of(Budget(8.0), 1000, leaf="counts").blocks
    assert {block.stop for block in counts} == {0}
    endless = plan_of(Budget(math.inf), 1000).blocks[-1].stop
    assert large[-1].stop < endless < 2**30


def test_regions_are_counted_for_the_progress_bar():
    plan = plan_of(Budget(1.0), None, n_trees=1, depth=5)
    assert plan.n_regions == 1 + 2 + 8
