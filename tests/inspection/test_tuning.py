# SPDX-License-Identifier: BSD-3-Clause
"""What a forest tried, as a picture."""

import re

import numpy as np
import pytest
from matplotlib import pyplot as plt
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_wine
from sklearn.exceptions import NotFittedError

from mrforest import ForestClassifier, ForestRegressor, MultinomialForestClassifier
from mrforest.inspection import Trial, plot_tuning

X, Y = load_wine(return_X_y=True)
FIXED = {
    "max_features": 3,
    "feature_budget": 10.0,
    "split_budget": 10.0,
    "equality_cuts": False,
    "min_samples_split": 4,
}


@pytest.fixture(scope="module")
def classifier():
    return ForestClassifier(20, random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def regressor():
    return ForestRegressor(200, random_state=0).fit(*load_diabetes(return_X_y=True))


def lines_of(figure):
    """Lines that are not there for the legend only."""
    return [line for line in figure.axes[0].lines if len(line.get_xdata())]


def legend_of(figure):
    return [text.get_text() for text in figure.axes[0].get_legend().get_texts()]


# ---- lines, points, words ------------------------------------------------------------


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
def test_every_trial_is_a_line_and_its_best_leaf_size_a_point(kind, request):
    forest = request.getfixturevalue(kind)
    lines = lines_of(plot_tuning(forest))
    assert len(lines) == len(forest.tuning_) > 1
    for line, trial in zip(lines, forest.tuning_, strict=True):
        assert_array_equal(line.get_xdata(), trial.leaf_sizes)
        assert_array_equal(line.get_ydata(), trial.losses)
        (marked,) = line.get_markevery()
        assert line.get_marker() == "o"
        assert line.get_xdata()[marked] == trial.leaf_size
        assert line.get_ydata()[marked] == trial.losses.min()


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
def test_the_chosen_trial_stands_out(kind, request):
    forest = request.getfixturevalue(kind)
    figure = plot_tuning(forest)
    best = int(np.argmin([trial.loss for trial in forest.tuning_]))
    assert forest.tuning_[best].leaf_size == forest.min_samples_split_ - 1
    widths = [line.get_linewidth() for line in lines_of(figure)]
    assert int(np.argmax(widths)) == best
    assert sorted(widths)[-1] > sorted(widths)[-2]
    chosen = [label.endswith(" (chosen)") for label in legend_of(figure)]
    assert np.flatnonzero(chosen).tolist() == [best]


def test_diamonds_are_losses_after_sharpening(classifier, regressor):
    places = [
        tuple(diamond.get_offsets()[0])
        for diamond in plot_tuning(classifier).axes[0].collections
        if len(diamond.get_offsets()) and hasattr(diamond, "get_sizes")
    ]
    assert places == [(trial.leaf_size, trial.loss) for trial in classifier.tuning_]
    assert not plot_tuning(regressor).axes[0].collections
    assert "the same, sharpened" in legend_of(plot_tuning(classifier))
    assert "the same, sharpened" not in legend_of(plot_tuning(regressor))


def test_axes(classifier, regressor):
    (axes,) = plot_tuning(classifier).axes
    assert axes.get_xscale() == "log"
    assert axes.get_xlabel().startswith("leaf size")
    assert axes.get_ylabel() == "estimated Brier score"
    (axes,) = plot_tuning(regressor).axes
    assert axes.get_ylabel() == "estimated squared error / variance of the target"


def test_words_of_settings(classifier, regressor):
    words = [
        label.removesuffix(" (chosen)") for label in legend_of(plot_tuning(classifier))
    ]
    assert words[:3] == [
        "4 features, entropy",
        "7 features, entropy",
        "all 13 features, entropy",
    ]
    assert re.fullmatch(r"(all )?\d+ features, gini", words[3])
    words = [
        label.removesuffix(" (chosen)") for label in legend_of(plot_tuning(regressor))
    ]
    assert words[:2] == ["3 features", "6 features"]


def test_words_tell_equality_and_one_feature():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 8, (400, 1)).astype(float)
    forest = ForestClassifier(10, criterion="gini", random_state=0)
    words = legend_of(plot_tuning(forest.fit(codes, codes[:, 0] % 2)))
    assert words[0].startswith("1 feature, ")
    assert any("equality cuts" in word for word in words)
    assert "equality cuts" not in words[0]


def test_words_tell_budgets_where_features_are_the_same():
    forest = ForestClassifier(10, max_features=3, feature_budget=5, random_state=0)
    words = legend_of(plot_tuning(forest.fit(X, Y)))
    assert words[0].startswith("3 features, budgets 5, 10, entropy")
    assert words[1].startswith("3 features, budgets 5, 20, entropy")


# ---- where ---------------------------------------------------------------------------


def test_it_draws_where_it_is_told(classifier):
    figure, (left, right) = plt.subplots(1, 2)
    assert plot_tuning(classifier, ax=right) is figure
    assert len(right.lines) > len(classifier.tuning_)
    assert not left.lines
    plt.close(figure)


def test_one_leaf_size_and_no_loss():
    """Nothing to see, but no error or warning."""
    forest = ForestClassifier(10, min_samples_split=4, random_state=0).fit(X, Y)
    plot_tuning(forest).canvas.draw()
    forest = ForestRegressor(10, random_state=0).fit(X, np.ones(len(X)))
    figure = plot_tuning(forest)
    figure.canvas.draw()
    assert figure.axes[0].get_yscale() == "linear"


# ---- losses of a regression ----------------------------------------------------------


@pytest.mark.parametrize("unit", [1e-250, 3.0, 1e250])
def test_losses_are_shares_of_the_variance(regressor, unit):
    """So they do not change with the unit of the target, and are like 1 - R²."""
    data, y = load_diabetes(return_X_y=True)
    other = ForestRegressor(200, random_state=0).fit(data, unit * y)
    for one, two in zip(regressor.tuning_, other.tuning_, strict=True):
        assert_allclose(one.losses, two.losses, rtol=1e-6)
        assert two.loss == two.losses.min()
    best = min(trial.loss for trial in other.tuning_)
    assert best == pytest.approx(1 - other.oob_score_, abs=0.05)


def test_weights_count_in_the_variance():
    """A far target without much weight."""
    data, y = load_diabetes(return_X_y=True)
    y, weights = y.copy(), np.ones(len(y))
    y[7], weights[7] = 1e5, 1e-9
    forest = ForestRegressor(20, random_state=0).fit(data, y, sample_weight=weights)
    assert 0.3 < forest.tuning_[0].loss < 0.8


# ---- errors --------------------------------------------------------------------------


def test_other_forests_have_tried_nothing():
    forest = MultinomialForestClassifier(3).fit(X, Y)
    with pytest.raises(
        TypeError, match=r"ForestClassifier or ForestRegressor.*not Mul"
    ):
        plot_tuning(forest)


def test_it_must_be_fitted():
    with pytest.raises(NotFittedError, match="ForestClassifier"):
        plot_tuning(ForestClassifier())


def test_nothing_was_left_to_choose():
    forest = ForestClassifier(3, criterion="gini", **FIXED).fit(X, Y)
    assert forest.tuning_ == []
    with pytest.raises(
        ValueError, match=r'forest has tried nothing.*"auto", such as min'
    ):
        plot_tuning(forest)


def test_trials_are_public(classifier):
    assert all(isinstance(trial, Trial) for trial in classifier.tuning_)
