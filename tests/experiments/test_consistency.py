# SPDX-License-Identifier: BSD-3-Clause
"""Errors above the Bayes risk, and how fast they fall."""

import math

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("matplotlib")

from mrforest.experiments import consistency
from mrforest.experiments.consistency import (
    VARIANTS,
    excess_of,
    leaf_size,
    slope_of,
)
from mrforest.experiments.consistency_figure import draw
from mrforest.experiments.distributions import DISTRIBUTIONS
from mrforest.experiments.protocol import PAPER

BOARD = DISTRIBUTIONS["noisy checkerboard"]


class Oracle:
    """Tells the likeliest class, or the least likely one."""

    def __init__(self, distribution, sign):
        self.distribution, self.sign = distribution, sign

    def predict(self, X):
        return (self.sign * self.distribution.posterior(X)).argmax(axis=1)


def made_up(slopes, sizes=(100, 1_000, 10_000, 100_000), repetitions=3):
    """Excess of exactly n^slope, more or less over the repetitions."""
    return pd.DataFrame(
        {
            "distribution": BOARD.name,
            "forest": forest,
            "n": n,
            "n_trees": 41,
            "repetition": repetition,
            "excess": n**slope * (1 + 0.1 * (repetition - 1)),
            "risk": 0.2 + n**slope,
            "bayes_risk": 0.2,
        }
        for forest, slope in slopes.items()
        for n in sizes
        for repetition in range(repetitions)
    )


def test_leaves_grow_but_slower_than_the_table():
    sizes = [10**power for power in range(2, 12)]
    k = np.array([leaf_size("MRF", n) for n in sizes])
    assert k[0] == 5
    assert (np.diff(k) > 0).all()
    assert (np.diff(k / np.array(sizes)) < 0).all()
    assert leaf_size("Breiman, k = 5", 10**9) == 5
    assert leaf_size("ForestClassifier", 10**9) is None


def test_tasks_cover_all_forests_and_sizes():
    quick, full = consistency.tasks(quick=True), consistency.tasks()
    assert max(task["n"] for task in quick) == 10_000
    assert {min(task["n"] for task in full), max(task["n"] for task in full)} == {
        100,
        1_000_000,
    }
    for tasks in (quick, full):
        assert {task["forest"] for task in tasks} >= {*PAPER, "ForestClassifier"}
        assert {task["distribution"] for task in tasks} == set(DISTRIBUTIONS)
        # A standard error needs two.
        counts = pd.DataFrame(tasks).groupby(["distribution", "forest", "n"]).size()
        assert counts.min() >= 2
        assert len({tuple(task.items()) for task in tasks}) == len(tasks)


def test_excess_of_the_best_and_the_worst_classifier():
    assert excess_of(Oracle(BOARD, +1), BOARD, n_test=1000) == 0
    assert excess_of(Oracle(BOARD, -1), BOARD, n_test=1000) == pytest.approx(0.6)


def test_a_forest_is_measured_the_same_way_twice_and_learns():
    def settings(n):
        return {
            "distribution": BOARD.name,
            "forest": "MRF",
            "n": n,
            "k": leaf_size("MRF", n),
            "n_trees": 11,
            "repetition": 3,
        }

    small, large = (consistency.measure(settings(n)) for n in (100, 5_000))
    assert consistency.measure(settings(100)) == small
    assert small["excess"] > 2 * large["excess"] > 0
    assert large["risk"] == pytest.approx(0.2 + large["excess"])
    assert large["bayes_risk"] == 0.2


@pytest.mark.parametrize("forest", consistency.FORESTS)
def test_every_forest_is_better_than_a_coin(forest):
    task = {
        "distribution": "smooth wave",
        "forest": forest,
        "n": 300,
        "k": leaf_size(forest, 300),
        "n_trees": 5,
        "repetition": 0,
    }
    found = consistency.measure(task)
    assert 0 < found["excess"] < 0.5 - found["bayes_risk"] - 0.1


def test_slope_of_a_power():
    sizes = np.array([1e3, 1e4, 1e5])
    found = slope_of(sizes, 7 * sizes**-0.4, np.zeros(3))
    assert found.value == pytest.approx(-0.4)
    assert found.error == 0


def test_error_of_a_slope_by_hand():
    # Between two sizes the slope is a difference of logarithms over log 10.
    found = slope_of(np.array([10.0, 100.0]), np.array([1.0, 0.5]), np.array([0.1, 0]))
    assert found.value == pytest.approx(math.log10(0.5))
    assert found.error == pytest.approx(0.1 / math.log(10))


@pytest.mark.parametrize("means", [[0.1], [0.1, 0.0]])
def test_there_is_no_slope_of_one_size_or_of_nothing(means):
    sizes = np.arange(1.0, len(means) + 1)
    found = slope_of(sizes, np.array(means), np.zeros(len(means)))
    assert math.isnan(found.value)
    assert math.isnan(found.error)


def test_summary_of_known_powers():
    table = consistency.summary(made_up({"Breiman, k = 5": 0.0, "MRF": -0.5}))
    assert table["forest"].tolist() == ["MRF", "Breiman, k = 5"]  # the paper's first
    np.testing.assert_allclose(table["slope"], [-0.5, 0], atol=1e-12)
    np.testing.assert_allclose(table["last_slope"], [-0.5, 0], atol=1e-12)
    np.testing.assert_allclose(table["excess_percent"], [100 * 1e5**-0.5, 100])
    # Repetitions of 0.9, 1 and 1.1 have a standard error of 0.1 / √3.
    relative = 0.1 / math.sqrt(3)
    np.testing.assert_allclose(
        table["excess_error"] / table["excess_percent"], relative
    )
    # Three sizes from 1,000 on: the slope is (last - first) / log 100.
    expected = relative * math.sqrt(2) / math.log(100)
    np.testing.assert_allclose(table["slope_error"], expected)
    assert (table["largest_n"] == 100_000).all()


def test_figure_has_a_column_for_each_distribution_and_the_slopes():
    frame = made_up({"MRF": -0.5, "Breiman": -0.3, "another": -0.1})
    other = frame.assign(distribution="smooth wave")
    figure = draw(pd.concat([frame, other]))
    assert len(figure.axes) == 4
    figure.canvas.draw()
    above, below = figure.axes[0], figure.axes[2]
    assert below.get_xscale() == below.get_yscale() == "log"
    labels = [text.get_text() for text in below.get_legend().get_texts()]
    assert labels[0].startswith("MRF: -0.50 ± ")
    assert any("Bayes risk 0.2000" in text.get_text() for text in above.texts)


def test_a_variant_looks_like_its_forest_but_broken():
    assert set(VARIANTS) | set(VARIANTS.values()) <= set(consistency.FORESTS)
    frame = made_up({name: -0.5 for pair in VARIANTS.items() for name in pair})
    lines = {
        drawn.get_label(): drawn.lines[0] for drawn in draw(frame).axes[0].containers
    }
    for variant, forest in VARIANTS.items():
        assert lines[variant].get_color() == lines[forest].get_color()
        assert lines[variant].get_marker() == lines[forest].get_marker()
        assert lines[variant].get_linestyle() == "--"
        assert lines[forest].get_linestyle() == "-"


def test_figure_of_single_repetitions_has_no_errors():
    frame = made_up({"MRF": -0.5}, repetitions=1)
    draw(frame).canvas.draw()
    assert consistency.summary(frame)["slope_error"].isna().all()
