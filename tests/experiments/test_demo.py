# SPDX-License-Identifier: BSD-3-Clause
"""The demo computes what it says, and files are written whole."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, cross_val_predict, cross_val_score

pytest.importorskip("matplotlib")

from mrforest import MultinomialForestClassifier
from mrforest.experiments import demo, whole_file


@pytest.fixture(scope="module")
def result():
    return demo.run(n_estimators=5, seed=3, n_jobs=1)


@pytest.mark.parametrize(
    ("name", "forest"),
    [
        ("hard", MultinomialForestClassifier(5, max_bins="exact", random_state=3)),
        (
            "soft",
            MultinomialForestClassifier(
                5, max_bins="exact", voting="soft", random_state=3
            ),
        ),
        ("breiman", RandomForestClassifier(5, random_state=3)),
    ],
)
def test_scores_are_those_of_a_plain_cross_validation(result, name, forest):
    X, y = load_breast_cancer(return_X_y=True)
    folds = KFold(10, shuffle=True, random_state=3)
    probabilities = cross_val_predict(forest, X, y, cv=folds, method="predict_proba")
    scores = getattr(result, name)
    assert np.allclose(scores.accuracies, 100 * cross_val_score(forest, X, y, cv=folds))
    assert np.allclose(scores.probabilities, probabilities[:, 1])
    assert scores.log_loss == pytest.approx(log_loss(y, probabilities))
    assert scores.fit_seconds > 0
    assert scores.n_bytes > 1000


def test_every_fit_is_a_step():
    steps = []
    demo.run(n_estimators=1, n_jobs=1, step=lambda: steps.append(None))
    assert len(steps) == demo.N_FITS == 20


def test_the_accuracy_is_near_the_printed_one():
    result = demo.run()
    assert abs(result.hard.accuracies.mean() - result.hard.printed) < 1
    assert abs(result.breiman.accuracies.mean() - result.breiman.printed) < 1


def test_the_figure_shows_the_scores(result):
    folds, calibration, importances = demo.draw(result).axes
    shown = [points.get_offsets()[:, 1] for points in folds.collections[1:]]
    assert np.allclose(shown, [result.breiman.accuracies, result.hard.accuracies])
    assert len(calibration.get_legend().get_texts()) == 2
    names = [label.get_text() for label in importances.get_yticklabels()]
    best = np.argsort(result.importances.mean(axis=0))[::-1][:8]
    assert names == [result.feature_names[j] for j in best]


def test_a_file_is_replaced_whole(tmp_path):
    path = tmp_path / "folder/file.txt"
    for text in ("first", "second"):
        with whole_file(path) as unfinished:
            unfinished.write_text(text)
    assert path.read_text() == "second"
    assert list(path.parent.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")

    def fail():
        with whole_file(path) as unfinished:
            unfinished.write_text("ne")
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
