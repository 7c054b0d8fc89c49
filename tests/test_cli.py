# SPDX-License-Identifier: BSD-3-Clause
"""The command line says what it does and does what it says."""

import math
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

pytest.importorskip("typer")
pytest.importorskip("matplotlib")

from typer.testing import CliRunner

from mrforest import __version__
from mrforest.cli import app
from mrforest.experiments import demo
from mrforest.experiments.audit import Attack, Audits, Check
from mrforest.privacy.audit import ExactAudit, Neighbour, membership

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def call(monkeypatch, tmp_path):
    """Call the command line in an empty folder, on a wide terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    return lambda *arguments: CliRunner().invoke(app, arguments)


def test_help_names_the_commands(call):
    result = call("--help")
    assert result.exit_code == 0
    assert "demo" in result.output
    assert "audit" in result.output
    assert "data" in result.output
    assert "--version" in result.output


def test_version(call):
    result = call("--version")
    assert result.exit_code == 0
    assert result.output.strip() == f"mrforest {__version__}"


def test_demo_prints_a_table_and_writes_a_figure(call, tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "run", partial(demo.run, n_shuffles=1))
    result = call("demo", "--n-estimators", "3", "--n-jobs", "1")
    assert result.exit_code == 0, result.output
    for text in (
        *("Breast cancer", "Digits", "Wine"),
        *("ForestClassifier", "scikit-learn RF", "MRF (paper)"),
    ):
        assert text in result.stdout
    assert "cross-validating" not in result.stdout  # the bar is on standard error
    assert [path.name for path in (tmp_path / "demo").iterdir()] == ["forests.png"]
    assert (tmp_path / "demo/forests.png").read_bytes().startswith(PNG)


def test_demo_writes_where_it_is_told(call, tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "run", partial(demo.run, n_shuffles=1))
    result = call("demo", "--n-estimators", "1", "--output", "a/b/figure.svg")
    assert result.exit_code == 0, result.output
    assert b"<svg" in (tmp_path / "a/b/figure.svg").read_bytes()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--n-estimators", "0"),
        ("--n-estimators", "many"),
        ("--seed", "-1"),
        ("--n-jobs", "0"),
        ("--output", "figure.txt"),
        ("--output", "figure"),
        ("--output", "file/figure.png"),
    ],
)
def test_bad_options_are_refused_before_any_work(call, tmp_path, option, value):
    (tmp_path / "file").touch()
    result = call("demo", option, value)
    assert result.exit_code == 2
    assert option in result.output
    assert "cross-validating" not in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--epsilon", "0"),
        ("--runs", "3"),
        ("--attacks", "3"),
        ("--n-jobs", "0"),
        ("--output", "figure.txt"),
    ],
)
def test_bad_options_of_audit_are_refused(call, tmp_path, option, value):
    result = call("audit", option, value)
    assert result.exit_code == 2
    assert option in result.output
    assert "auditing" not in result.output
    assert list(tmp_path.iterdir()) == []


def found(n_surprises):
    """Audits that found nothing wrong, or one thing too much."""
    broken = Check("exhaustive", "broken", 1.0, 0.5 if n_surprises else math.inf, False)
    attack = membership(
        DummyClassifier(),
        [[0], [1]] * 3,
        [0, 0, 0, 1, 1, 1],
        epsilon=1.0,
        runs=4,
        targets=[1, 4],
    )
    return Audits(
        checks=[
            Check("exhaustive", "sound", 1.0, 0.9, True),
            broken,
            Check("empirical", "private forest", 1.0, 0.4, True),
        ],
        attacks=[Attack("private", 1.0, attack), Attack("not private", None, attack)],
        losses=ExactAudit(np.array([0.1, -0.2]), (Neighbour(0), Neighbour(1)), 1.0),
    )


@pytest.mark.parametrize("n_surprises", [0, 1])
def test_audit_prints_a_table_and_writes_a_figure(
    call, tmp_path, monkeypatch, n_surprises
):
    given = {}

    def run(*, step, **options):
        given.update(options)
        step()
        return found(n_surprises)

    monkeypatch.setattr("mrforest.cli._audit.audits.run", run)
    result = call("audit", "--epsilon", "2", "--runs", "9", "--n-jobs", "1")
    assert result.exit_code == n_surprises, result.output
    assert given == {"epsilon": 2.0, "runs": 9, "attacks": 80, "n_jobs": 1}
    rows = [line.split("│") for line in result.stdout.splitlines() if "│" in line]
    cells = {row[2].strip(): [cell.strip() for cell in row[1:-1]] for row in rows}
    assert cells["sound"][2:] == ["1", "1", "0.900", "holds"]
    told = "holds, though it is false" if n_surprises else "refuted"
    assert cells["broken"][-1] == told
    assert ("1 of these are not as they should be" in result.stdout) == bool(
        n_surprises
    )
    assert (tmp_path / "audit/audit.png").read_bytes().startswith(PNG)


def run_python(*arguments):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False
    )


def test_it_runs_as_a_module():
    result = run_python("-m", "mrforest.cli", "--version")
    assert result.stdout.strip() == f"mrforest {__version__}"


@pytest.mark.parametrize("package", ["typer", "rich", "matplotlib", "pandas", "pooch"])
def test_a_missing_package_is_named(package):
    result = run_python(
        "-c",
        f"import sys; sys.modules['{package}'] = None; from mrforest.cli import app;"
        "app(['reproduce', '--help'])",
    )
    assert result.returncode == 1
    assert package in result.stderr
    assert "pip install " in result.stderr
    assert "Traceback" not in result.stderr


def test_help_does_not_need_all_packages():
    result = run_python(
        "-c",
        "import sys; sys.modules['skimage'] = None; from mrforest.cli import app;"
        "app(['--help'])",
    )
    assert result.returncode == 0
    assert "segment" in result.stdout
    assert "skimage is missing" in result.stdout


def test_the_library_imports_no_optional_package():
    # scikit-learn imports some by itself, if they are there.
    code = (
        "import sys, sklearn.ensemble; before = set(sys.modules); import mrforest;"
        "optional = {'typer', 'rich', 'matplotlib', 'pandas', 'polars'};"
        "print(optional & (set(sys.modules) - before))"
    )
    assert run_python("-c", code).stdout.strip() == "set()"
