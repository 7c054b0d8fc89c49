# SPDX-License-Identifier: BSD-3-Clause
"""Tests and ranks agree with books, with scipy and with counting by hand."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("matplotlib")

from scipy import stats as scipy_stats

from mrforest.experiments import stats

# Demšar (2006), Table 2: AUC of C4.5 and of C4.5 with tuned m, 14 datasets.
C45 = [
    0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661,
    0.583, 0.775, 1.000, 0.940, 0.619, 0.972, 0.957,
]  # fmt: skip
TUNED = [
    0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668,
    0.583, 0.838, 1.000, 0.962, 0.666, 0.981, 0.978,
]  # fmt: skip


def test_signed_ranks_of_a_worked_example():
    # There: R+ = 93, R- = 12, significant at 0.05.
    p, winner = stats.signed_ranks(TUNED, C45)
    assert winner == 1
    assert p < 0.05
    assert stats.signed_ranks(C45, TUNED) == (p, -1)
    gaps = np.round(np.subtract(TUNED, C45), 10)
    assert scipy_stats.wilcoxon(gaps, zero_method="zsplit").statistic == 12


def test_equal_forests_are_equal():
    assert stats.signed_ranks([0.5] * 100, [0.5] * 100) == (1.0, 0)
    # A difference that is only one of floating point is none.
    assert stats.signed_ranks([0.1 + 0.2] * 9, [0.3] * 9) == (1.0, 0)


@given(
    st.lists(
        st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=20, max_size=100
    )
)
def test_signed_ranks_are_symmetric_and_as_in_scipy(pairs):
    first, second = np.array(pairs).T / 10
    p, winner = stats.signed_ranks(first, second)
    assert stats.signed_ranks(second, first) == (pytest.approx(p), -winner)
    gaps = np.round(first - second, 10)
    if gaps.any():
        greater = scipy_stats.wilcoxon(
            gaps, zero_method="zsplit", alternative="greater"
        ).pvalue
        assert winner == (p < 0.05) * (1 if greater < 0.5 else -1)
    else:
        assert winner == 0


def test_a_level_decides():
    first = np.linspace(0, 1, 30)
    second = first + np.where(np.arange(30) % 3, 0.01, -0.009)
    p, _ = stats.signed_ranks(first, second)
    assert stats.signed_ranks(first, second, alpha=p * 1.01).winner == -1
    assert stats.signed_ranks(first, second, alpha=p * 0.99).winner == 0


def test_average_ranks_by_hand():
    accuracies = pd.DataFrame(
        {"a": [90.0, 80.0, 70.0], "b": [95.0, 80.0, 70.0], "c": [85.0, 70.0, 70.0]}
    )
    # a: 2, 1.5, 2; b: 1, 1.5, 2; c: 3, 3, 2
    ranks = stats.average_ranks(accuracies)
    assert ranks.to_dict() == pytest.approx({"a": 5.5 / 3, "b": 1.5, "c": 8 / 3})


def test_noise_of_floating_point_is_a_tie():
    ranks = stats.average_ranks(pd.DataFrame({"a": [0.1 + 0.2], "b": [0.3]}))
    assert ranks.to_list() == [1.5, 1.5]


def test_friedman_as_in_scipy():
    table = pd.DataFrame(np.random.default_rng(0).random((12, 4)), columns=list("abcd"))
    expected = scipy_stats.friedmanchisquare(*table.to_numpy().T).pvalue
    assert stats.friedman(table) == pytest.approx(expected)
    assert stats.friedman(pd.DataFrame(np.ones((5, 3)))) == 1.0


@pytest.mark.parametrize(
    ("n_forests", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (6, 2.850), (10, 3.164)]
)
def test_critical_differences_of_the_printed_table(n_forests, q):
    # Demšar (2006), Table 5a
    expected = q * np.sqrt(n_forests * (n_forests + 1) / (6 * 22))
    assert stats.critical_difference(n_forests, 22) == pytest.approx(expected, rel=1e-3)


def test_the_diagram_joins_what_does_not_differ():
    pytest.importorskip("scikit_posthocs")
    rng = np.random.default_rng(0)
    best, worst = rng.normal(90, 1, 20), rng.normal(50, 1, 20)
    table = pd.DataFrame(
        {
            "a": best,
            "b": best + rng.normal(0, 0.1, 20),
            "c": worst,
            "d": worst + rng.normal(0, 0.1, 20),
        }
    )
    figure = stats.draw_critical_difference({"one": table, "two": table})
    assert len(figure.axes) == 2
    texts = {text.get_text().strip() for text in figure.axes[0].texts}
    ranks = stats.average_ranks(table)
    assert f"a ({ranks['a']:.2f})" in texts
    assert f"({ranks['c']:.2f}) c" in texts
    bars = [line for line in figure.axes[0].lines if line.get_linewidth() == 3]
    spans = sorted((min(bar.get_xdata()), max(bar.get_xdata())) for bar in bars)
    assert spans == [
        tuple(sorted((ranks["a"], ranks["b"]))),
        tuple(sorted((ranks["c"], ranks["d"]))),
    ]
    figure.canvas.draw()
