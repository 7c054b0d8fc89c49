# SPDX-License-Identifier: BSD-3-Clause
"""Trees and forests in words and pictures."""

import re
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import LearningCurveDisplay

from mrforest import (
    BreimanForestRegressor,
    ComparisonForestClassifier,
    MultinomialForestClassifier,
    PrivateForestClassifier,
)
from mrforest.inspection import (
    export_text,
    plot_importances,
    plot_leaves,
    plot_tree,
    plot_tree_scores,
    tree_scores,
)

DATA = load_breast_cancer(as_frame=True)
X, Y = DATA.data, DATA.target_names[DATA.target]


@pytest.fixture(scope="module")
def forest():
    return MultinomialForestClassifier(10, random_state=0).fit(X[::2], Y[::2])


def leaves_of(text):
    return [line for line in text.splitlines() if line.endswith(("point", "points"))]


# ---- text ----------------------------------------------------------------------------


@pytest.mark.parametrize("tree", [0, 9])
def test_all_nodes_are_written(forest, tree):
    text = export_text(forest, tree, max_depth=None)
    flat = forest.estimators_[tree]
    assert len(leaves_of(text)) == flat.get_n_leaves()
    assert len(text.splitlines()) == 2 * flat.get_n_leaves() - 2 + flat.get_n_leaves()
    points = [int(re.search(r"(\d+) points?$", leaf)[1]) for leaf in leaves_of(text)]
    assert sum(points) == len(X[::2]) // 2 or sum(points) == (len(X[::2]) + 1) // 2


def test_a_row_follows_the_words(forest):
    """Who does what the text says ends where the forest says."""
    lines = export_text(forest, 3, max_depth=None, digits=17).splitlines()
    for i in range(0, len(X), 25):
        row = X.iloc[i]
        depth, place = 0, 0
        while True:
            said = lines[place].removeprefix("|  " * depth + "|- ")
            if said.endswith(("point", "points")):
                break
            name, sign, threshold = re.fullmatch(r"(.*) (<=|>) (\S+)", said).groups()
            is_left = row[name] <= float(threshold)
            if is_left == (sign == "<="):
                depth, place = depth + 1, place + 1
                continue
            place += 1
            while not lines[place].startswith("|  " * depth + "|- "):
                place += 1
        label = forest.estimators_[3].predict(X.iloc[[i]])[0]
        assert said.startswith(f"{label} (")


def test_deep_nodes_are_cut_off(forest):
    text = export_text(forest, max_depth=1)
    assert "not written below this depth" in text
    assert len(text.splitlines()) < 10


def test_names(forest):
    text = export_text(forest, feature_names=[f"x{j}" for j in range(30)])
    assert re.match(r"\|- x\d+ <= ", text)
    with pytest.raises(ValueError, match="feature_names has 2 names"):
        export_text(forest, feature_names=["a", "b"])
    array = MultinomialForestClassifier(2, random_state=0).fit(X.to_numpy(), Y)
    assert "feature_" in export_text(array)


def frame():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "shop": pd.Categorical(rng.choice(["b", "a", "d"], 300)),
            "size": pd.Categorical(
                rng.choice(["s", "m", "l"], 300), ["s", "m", "l"], ordered=True
            ),
        }
    )
    return rows, (rows["shop"] == "a") ^ (rows["size"] > "s")


def test_categories():
    rows, y = frame()
    forest = MultinomialForestClassifier(20, random_state=0).fit(rows, y)
    texts = "\n".join(export_text(forest, tree) for tree in range(20))
    assert re.search(r"shop is '[abd]'", texts)
    assert re.search(r"shop is not '[abd]'", texts)
    assert re.search(r"size is '[sml]'", texts)


@pytest.mark.parametrize("name", ["n", "shop"])
def test_missing_values(name):
    rows, y = frame()
    rows["n"] = np.where(y, np.nan, 1.0)
    rows["shop"] = rows["shop"].where(~y)
    forest = MultinomialForestClassifier(20, random_state=0).fit(rows[[name]], y)
    texts = "\n".join(export_text(forest, tree) for tree in range(20))
    assert f"- {name} is not missing" in texts
    assert f"- {name} is missing" in texts


def test_private_trees_tell_no_counts():
    rows, y = frame()
    rows = rows.astype(str)
    forest = PrivateForestClassifier(
        50.0,
        categories={"shop": ["a", "b"], "size": ["s", "m"]},
        classes=[False, True],
    ).fit(rows, y)
    text = export_text(forest)
    assert "point" not in text
    assert re.search(r"\|- (True|False)$", text, flags=re.MULTILINE)
    assert len(plot_leaves(forest).axes) == 1
    plot_tree(forest).canvas.draw()


def test_numbers():
    rows, y = load_diabetes(return_X_y=True)
    forest = BreimanForestRegressor(3, random_state=0, max_depth=2).fit(rows, y)
    text = export_text(forest)
    values = [float(v) for v in re.findall(r"\|- ([\d.]+), \d+ points", text)]
    assert len(values) == 4
    assert y.min() < min(values) < y.mean() < max(values) < y.max()


def test_comparisons():
    rows, y = load_breast_cancer(return_X_y=True)
    forest = ComparisonForestClassifier(3, random_state=0).fit(rows[:100], y[:100])
    assert re.match(r"\|- nearer to pivot \d+ than to pivot \d+", export_text(forest))
    plot_tree(forest).canvas.draw()


def test_a_single_leaf():
    forest = MultinomialForestClassifier(2, random_state=0)
    forest.fit(np.ones((20, 1)), np.repeat([0, 1], 10))
    assert len(export_text(forest).splitlines()) == 1
    assert len(plot_tree(forest).axes[0].texts) == 1
    plot_leaves(forest).canvas.draw()


@pytest.mark.parametrize("look", [export_text, plot_tree])
def test_what_cannot_be_looked_at(look, forest):
    with pytest.raises(ValueError, match="tree=10 must be one of the 10 trees"):
        look(forest, 10)
    with pytest.raises(NotFittedError):
        look(MultinomialForestClassifier())
    with pytest.raises(TypeError, match="a forest of mrforest is wanted"):
        look("forest")


# ---- pictures ------------------------------------------------------------------------


@pytest.mark.parametrize("max_depth", [0, 1, 3])
def test_nodes_of_a_picture_are_apart(forest, max_depth):
    figure = plot_tree(forest, max_depth=max_depth)
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    tree = forest.estimators_[0]
    depth = tree._flat.depths()
    assert len(boxes) == (depth <= max_depth).sum()
    for i, one in enumerate(boxes):
        assert not any(one.overlaps(other) for other in boxes[:i])


def test_scores_of_trees(forest):
    scores = tree_scores(forest, X[1::2], Y[1::2])
    assert scores[4] == (forest.estimators_[4].predict(X[1::2]) == Y[1::2]).mean()
    axes = plot_tree_scores(forest, X[1::2], Y[1::2]).axes[0]
    assert sum(bar.get_height() for bar in axes.patches) == 10
    lines = [line.get_xdata()[0] for line in axes.lines]
    assert lines == pytest.approx([scores.mean(), forest.score(X[1::2], Y[1::2])])
    rows, y = load_diabetes(return_X_y=True)
    numbers = BreimanForestRegressor(3, random_state=0).fit(rows[::2], y[::2])
    assert tree_scores(numbers, rows, y).max() < numbers.score(rows, y)


def test_leaves(forest):
    sizes, depths = plot_leaves(forest).axes
    for axes in (sizes, depths):
        n_leaves = sum(bar.get_height() for bar in axes.patches)
        assert n_leaves == forest.n_leaves_.sum()


def test_importances(forest):
    axes = plot_importances(forest, max_features=5).axes[0]
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == sorted(forest.feature_importances_)[-5:]
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names[-1] == X.columns[forest.feature_importances_.argmax()]
    shuffled = plot_importances(forest, X[1::2], Y[1::2], n_repeats=2, random_state=0)
    assert "shuffled" in shuffled.axes[0].get_xlabel()
    with pytest.raises(ValueError, match="X and y must both be given"):
        plot_importances(forest, X)


def test_scikit_learns_own_displays(forest):
    """Calibration and learning curves need nothing of ours."""
    soft = MultinomialForestClassifier(20, voting="soft", random_state=0)
    soft.fit(X[::2], Y[::2])
    curve = CalibrationDisplay.from_estimator(soft, X[1::2], Y[1::2])
    assert 0 <= curve.prob_true.min() <= curve.prob_true.max() <= 1
    learning = LearningCurveDisplay.from_estimator(
        forest, X, Y, train_sizes=[0.2, 1.0], cv=3
    )
    assert learning.test_scores.mean() > 0.8


def test_matplotlib_is_named(forest, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match="plot_tree needs the package matplotlib"):
        plot_tree(forest)
