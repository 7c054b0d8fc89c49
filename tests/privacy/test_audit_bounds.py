# SPDX-License-Identifier: BSD-3-Clause
"""Confidence bounds err as seldom as they say."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from mrforest.privacy.audit._bounds import (
    _stakes,
    mean_at_least,
    mean_between,
    share_at_least,
    share_at_most,
)


@pytest.mark.parametrize("n", [1, 7, 400])
def test_shares_are_those_of_clopper_and_pearson(n):
    for hits in {0, 1, n // 3, n - 1, n}:
        expected = binomtest(hits, n).proportion_ci(0.9, method="exact")
        assert share_at_least(hits, n, 0.05) == pytest.approx(expected.low, abs=1e-12)
        assert share_at_most(hits, n, 0.05) == pytest.approx(expected.high, abs=1e-12)


def test_shares_err_as_seldom_as_they_say():
    hits = np.arange(31)
    for p in np.linspace(0.001, 0.999, 200):
        probability = binom.pmf(hits, 30, p)
        assert probability[share_at_least(hits, 30, 0.02) > p].sum() <= 0.02
        assert probability[share_at_most(hits, 30, 0.02) < p].sum() <= 0.02


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, size: rng.integers(2, size=size).astype(float),
        lambda rng, size: (rng.random(size) < 0.05).astype(float),
        lambda rng, size: rng.beta(10, 30, size),
    ],
)
def test_means_err_as_seldom_as_they_say(draw):
    rng = np.random.default_rng(0)
    mean = draw(rng, 10**6).mean()
    bounds = np.array([mean_at_least(draw(rng, 40), 0.1) for _ in range(1000)])
    assert (bounds > mean).mean() < 0.1
    # Mirrored, it bounds from above.
    low, high = mean_between(draw(rng, 40000), 0.95)
    assert mean - 0.02 < low < mean < high < mean + 0.02


def test_means_do_not_trust_a_lack_of_variance():
    assert 0.8 < mean_at_least(np.ones(30), 0.05) < 1
    assert mean_at_least(np.zeros(30), 0.05) < 1e-9


def test_stakes_are_chosen_before_the_value_is_seen():
    values = np.random.default_rng(0).random(20)
    stakes = _stakes(values, 0.05)
    for i in range(20):
        changed = values.copy()
        changed[i:] = 1 - changed[i:]
        np.testing.assert_array_equal(_stakes(changed, 0.05)[: i + 1], stakes[: i + 1])
    assert len(set(stakes)) == 20
