# SPDX-License-Identifier: BSD-3-Clause
"""The demo computes what it says, and files are written whole."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import (
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)

pytest.importorskip("matplotlib")

from mrforest import ForestClassifier, MultinomialForestClassifier
from mrforest.experiments import demo, whole_file


@pytest.fixture(scope="module")
def found():
    """Two shuffles instead of three."""
    return demo.run(n_estimators=5, seed=3, n_jobs=1, n_shuffles=2)


@pytest.mark.parametrize(
    ("name", "cls", "probable"),
    [
        ("ForestClassifier", ForestClassifier, {}),
        ("scikit-learn RF", RandomForestClassifier, {}),
        ("MRF (paper)", MultinomialForestClassifier, {"voting": "soft"}),
    ],
)
def test_scores_are_those_of_a_plain_cross_validation(found, name, cls, probable):
    X, y = load_wine(return_X_y=True)
    scores, losses = found["Wine"][name], []
    for shuffle in range(2):
        seed = 3 + shuffle
        folds = StratifiedKFold(10, shuffle=True, random_state=seed)
        forest = cls(5, random_state=seed)
        accuracies = 100 * cross_val_score(forest, X, y, cv=folds)
        assert np.allclose(scores.accuracies[shuffle], accuracies)
        forest.set_params(**probable)
        shares = cross_val_predict(forest, X, y, cv=folds, method="predict_proba")
        assert np.allclose(scores.confidence[shuffle], shares.max(axis=1))
        assert np.array_equal(scores.is_right[shuffle], shares.argmax(axis=1) == y)
        shares = np.maximum(shares, 0.5 / 160)  # half of a training row
        losses.append(log_loss(y, shares / shares.sum(axis=1, keepdims=True)))
    assert scores.log_loss == pytest.approx(np.mean(losses))
    assert 0 < scores.calibration_error < 0.5
    assert scores.fit_seconds > 0


def test_every_fit_is_a_step(monkeypatch):
    monkeypatch.setattr(demo, "TABLES", {"Wine": load_wine})
    steps = []
    demo.run(n_estimators=1, n_jobs=1, step=lambda: steps.append(None))
    assert len(steps) == 3 * 10 * 3
    assert 3 * len(steps) == demo.N_FITS


@pytest.mark.long
def test_the_default_forest_has_the_better_probabilities():
    gains = []
    for forests in demo.run().values():
        ours, theirs = forests["ForestClassifier"], forests["scikit-learn RF"]
        assert ours.log_loss < theirs.log_loss
        assert ours.calibration_error < theirs.calibration_error
        gains.append(ours.accuracies.mean() - theirs.accuracies.mean())
    assert np.mean(gains) > -1


def test_the_figure_shows_the_scores(found):
    errors, losses, _, curves = demo.draw(found).axes
    forests = ["ForestClassifier", "scikit-learn RF", "MRF (paper)"]
    for bars, name in zip(errors.containers, forests, strict=True):
        shown = [bar.get_width() for bar in bars]
        assert np.allclose(
            shown, [100 - table[name].accuracies.mean() for table in found.values()]
        )
    for bars, name in zip(losses.containers, forests, strict=True):
        shown = [bar.get_width() for bar in bars]
        assert np.allclose(shown, [table[name].log_loss for table in found.values()])
    assert len(curves.lines) == 1 + len(forests)


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
