# SPDX-License-Identifier: BSD-3-Clause
"""The commands of `mrforest reproduce` beside Table 1."""

import pandas as pd
import pytest

pytest.importorskip("typer")
pytest.importorskip("matplotlib")

from typer.testing import CliRunner

from mrforest.cli import _all, app
from mrforest.experiments import consistency

PNG = b"\x89PNG\r\n\x1a\n"
COMMANDS = [
    "hyperparameters",
    "trees",
    "privacy",
    "split-probabilities",
    "consistency",
    "segmentation",
]


@pytest.fixture
def call(monkeypatch, tmp_path):
    """Call the command line in an empty folder, on a wide terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "250")
    monkeypatch.setenv("NO_COLOR", "1")
    return lambda *arguments: CliRunner().invoke(app, ["reproduce", *arguments])


def test_help_names_the_commands(call):
    result = call("--help")
    assert result.exit_code == 0
    for command in COMMANDS:
        assert command in result.output


@pytest.mark.parametrize("command", COMMANDS)
def test_bad_options_are_refused(call, tmp_path, command):
    assert call(command, "--n-jobs", "0").exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_bad_step_is_refused(call, tmp_path):
    result = call("hyperparameters", "--step", "3")
    assert result.exit_code == 2
    assert "must be 10 divided by a whole number" in result.output
    assert list(tmp_path.iterdir()) == []


def test_an_experiment_is_measured_shown_and_drawn(call, tmp_path, monkeypatch):
    tasks = [
        {**task, "n_trees": 3}
        for task in consistency.tasks(quick=True)
        if task["n"] <= 1_000
        and task["repetition"] < 2
        and task["distribution"] == "noisy checkerboard"
        and task["forest"] in ("MRF", "Breiman")
    ]
    monkeypatch.setattr(consistency, "tasks", lambda quick: tasks)
    result = call("consistency", "--quick", "--n-jobs", "1")
    assert result.exit_code == 0, result.output
    assert "Error above the Bayes risk" in result.stdout
    assert "Breiman" in result.stdout
    folder = tmp_path / "reproduce"
    assert (folder / "consistency.png").read_bytes().startswith(PNG)
    table = pd.read_csv(folder / "consistency.csv")
    assert table["forest"].tolist() == ["MRF", "Breiman"]

    # Results of other settings are in the file, but not in what is shown of a few.
    monkeypatch.setattr(
        consistency, "tasks", lambda quick: [t for t in tasks if t["forest"] == "MRF"]
    )
    assert call("consistency", "--quick", "--n-jobs", "1").exit_code == 0
    assert pd.read_csv(folder / "consistency.csv")["forest"].tolist() == ["MRF"]


def test_all_runs_every_experiment_and_ends_with_the_page(call, monkeypatch):
    called = []
    names = [name for name in vars(_all) if name.startswith("reproduce_")]
    names.remove("reproduce_all")
    for name in names:
        monkeypatch.setattr(
            _all, name, lambda *args, name=name, **kwargs: called.append((name, args))
        )
    result = call("all", "--quick", "--n-jobs", "1")
    assert result.exit_code == 0, result.output
    assert {name for name, _ in called} == set(names)
    assert len(called) == len(names) == len(COMMANDS) + 2
    assert called[-1][0] == "reproduce_report"
    assert [args[0] for _, args in called[:-1]] == [True] * (len(names) - 1)
