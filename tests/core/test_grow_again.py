# SPDX-License-Identifier: BSD-3-Clause
"""Work space that goes from tree to tree leaves no trace in the next tree."""

import numpy as np
import pytest

from mrforest import _core
from mrforest.forests.sampling import AllPoints, Bootstrap, Partition, tree_key

RULES = [
    _core.Multinomial(5.0, 5.0),
    _core.Greedy(2),
    _core.Denil(2.0, 10),
    _core.Bernoulli(2, 0.5, 0.5),
    _core.Random(),
]
SAMPLERS = [Partition(0.5), Partition(0.3), Bootstrap(), AllPoints()]
N_ROWS = 900


def table_of(n_codes, *, criterion="gini", sliced=False):
    rng = np.random.default_rng(n_codes)
    codes = rng.integers(0, n_codes, size=(N_ROWS, 6)).astype(np.uint8)
    y = (codes[:, 0] + codes[:, 1] + rng.integers(0, 2, N_ROWS)).astype(np.int32) % 3
    target = _core.Target(y, 3, None, None, None, criterion)
    table = _core.TrainingTable(
        target,
        np.zeros(6, dtype=bool),
        codes=codes,
        n_bins=np.full(6, n_codes, dtype=np.int32),
        cuts=np.tile(np.arange(n_codes - 1.0), 6),
        cuts_start=np.arange(7) * (n_codes - 1),
    )
    if sliced:
        table.add_cut_bits()
        assert table.has_cut_bits
    return table


def limits_of(*, min_leaf=0):
    return _core.Limits(
        min_split=4,
        min_leaf=min_leaf,
        max_depth=-1,
        min_weight=0.0,
        label_budget=np.inf,
        interrupt=np.zeros(1, dtype=np.uint8),
    )


def assert_same(tree, expected):
    assert tree.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(tree[name], array)


@pytest.mark.parametrize("min_leaf", [0, 3])
@pytest.mark.parametrize("sampler", SAMPLERS, ids=str)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize(
    ("n_codes", "criterion", "sliced"),
    [(3, "gini", True), (3, "entropy", False), (40, "gini", False)],
)
def test_the_same_trees_again(n_codes, criterion, sliced, rule, sampler, min_leaf):
    table = table_of(n_codes, criterion=criterion, sliced=sliced)
    limits, idle = limits_of(min_leaf=min_leaf), []
    for number, n_points in enumerate([N_ROWS, N_ROWS, 200, 5, N_ROWS]):
        key = tree_key(0, number)

        def grow(idle, key=key, n_points=n_points):
            points = sampler(key, n_points)
            return _core.grow_tree(table, *points, key, limits, rule=rule, idle=idle)

        assert_same(grow(idle), grow(None))
        assert len(idle) == 1  # it was taken, and put back


def test_work_space_of_another_forest_is_not_taken():
    table, other = table_of(40), table_of(3)
    limits, rule, idle = limits_of(), _core.Multinomial(5.0, 5.0), []
    for now in (table, other, table):
        points = Partition(0.5)(tree_key(0, 0), N_ROWS)
        expected = _core.grow_tree(
            now, *map(np.copy, points), tree_key(0, 0), limits, rule=rule
        )
        tree = _core.grow_tree(
            now, *points, tree_key(0, 0), limits, rule=rule, idle=idle
        )
        assert_same(tree, expected)
        assert len(idle) == 1


def test_after_an_interrupt_work_space_is_not_kept():
    interrupt = np.zeros(1, dtype=np.uint8)
    limits = _core.Limits(
        min_split=2,
        min_leaf=0,
        max_depth=-1,
        min_weight=0.0,
        label_budget=np.inf,
        interrupt=interrupt,
    )
    table, rule, idle = table_of(3), _core.Multinomial(5.0, 5.0), []
    key = tree_key(0, 0)
    _core.grow_tree(
        table, *Partition(0.5)(key, N_ROWS), key, limits, rule=rule, idle=idle
    )
    interrupt[0] = 1
    with pytest.raises(KeyboardInterrupt):
        _core.grow_tree(
            table, *Partition(0.5)(key, N_ROWS), key, limits, rule=rule, idle=idle
        )
    assert idle == []
