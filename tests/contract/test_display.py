# SPDX-License-Identifier: BSD-3-Clause
"""What people see of a forest: pictures in notebooks, progress bars."""

import io

import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris
from sklearn.utils import estimator_html_repr

from tests.forests import every as forests
from tests.forests.every import every, parameters_of

X, Y = load_iris(return_X_y=True)


def forest_of(name: str = "multinomial", **params):
    return forests.forest_of(name, **{"n_estimators": 10, **params})


@every
def test_html(name):
    for forest in (forest_of(name), forest_of(name).fit(X, Y)):
        for html in (estimator_html_repr(forest), forest._repr_html_()):
            assert type(forest).__name__ in html
            assert all(parameter in html for parameter in parameters_of(name))
    assert "1717" in estimator_html_repr(forest_of(name, n_estimators=1717))


@every
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_verbose_shows_a_bar(name, n_jobs, monkeypatch):
    stderr = io.StringIO()
    monkeypatch.setattr("sys.stderr", stderr)
    forest_of(name, n_estimators=13, n_jobs=n_jobs, verbose=1).fit(X, Y)
    assert "growing trees" in stderr.getvalue()
    assert "13/13" in stderr.getvalue()


@every
def test_silent_by_default(name, capsys):
    forest_of(name, n_estimators=13).fit(X, Y)
    assert capsys.readouterr() == ("", "")


def test_progress_callback(capsys):
    """The bar of scikit-learn: named after the estimator, full at the end."""
    bar = pytest.importorskip("sklearn.callback").ProgressBar()
    forest = forest_of(n_estimators=13).set_callbacks(bar)
    forest.fit(X, Y)
    shown = capsys.readouterr().out
    assert "MultinomialForestClassifier - fit" in shown
    assert "100%" in shown
    assert_array_equal(
        forest.predict_proba(X), forest_of(n_estimators=13).fit(X, Y).predict_proba(X)
    )


class Recorder:
    """A callback that writes down what it is told."""

    def __init__(self):
        self.told = []

    def setup(self, estimator, context):
        self.told.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.told.append(f"begin {context.task_name} {context.max_subtasks}")

    def on_fit_task_end(self, estimator, context):
        self.told.append(f"end {context.task_name}")

    def teardown(self, estimator, context):
        self.told.append("teardown")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_callbacks_hear_of_every_tree(n_jobs):
    pytest.importorskip("sklearn.callback")
    recorder = Recorder()
    forest_of(n_estimators=3, n_jobs=n_jobs).set_callbacks(recorder).fit(X, Y)
    assert recorder.told == [
        "setup",
        "begin fit 3",
        *["begin tree 0", "end tree"] * 3,
        "end fit",
        "teardown",
    ]
