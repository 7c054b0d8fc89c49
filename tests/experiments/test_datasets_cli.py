# SPDX-License-Identifier: BSD-3-Clause
"""``mrforest data``: list, fetch, check."""

import gzip

import pytest

pytest.importorskip("typer")
pytest.importorskip("pooch")

from typer.testing import CliRunner

from mrforest.cli import app
from mrforest.experiments import datasets
from mrforest.experiments.datasets import _registry
from tests.experiments import made_up


@pytest.fixture
def call(monkeypatch, tmp_path):
    """Call the command line, with an empty cache and two made-up datasets."""
    shapes = made_up.entry(tmp_path / "expected.csv", paper_name="Shapes")
    colours = made_up.entry(tmp_path / "expected.csv", name="colours", table="colours")
    known = {"shapes": shapes, "colours": colours, "wdbc": datasets.entry("wdbc")}
    monkeypatch.setattr(_registry, "_registry", lambda: known)
    monkeypatch.setattr(datasets, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.delenv("MRFOREST_DATA", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    return lambda *arguments: CliRunner().invoke(app, ["data", *map(str, arguments)])


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    put(folder / "shapes.csv.gz")
    return folder


def put(path, text=made_up.TABLE):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()))
    return path


def test_list_shows_where_each_would_come_from(call, folder):
    result = call("list", "--data", folder)
    assert result.exit_code == 0, result.output
    rows = [line.split("│")[1:-1] for line in result.stdout.splitlines() if "│" in line]
    assert [[cell.strip() for cell in row] for row in rows] == [
        ["shapes", "Shapes", "5", "2", "2", "folder"],
        ["colours", "", "5", "2", "2", "download"],
        ["wdbc", "Wdbc", "569", "30", "2", "scikit-learn"],
    ]


def test_check_tells_one_line_a_set(call, folder, tmp_path):
    put(tmp_path / "cache" / "colours.csv.gz")
    result = call("check", "--data", folder)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "shapes: 5 rows, 2 features, as they should be (folder)",
        "colours: 5 rows, 2 features, as they should be (cache)",
        "wdbc: 569 rows, 30 features, as they should be (scikit-learn)",
    ]


def test_check_takes_the_folder_from_the_environment(call, folder, monkeypatch):
    monkeypatch.setenv("MRFOREST_DATA", str(folder))
    assert call("check", "shapes").exit_code == 0


def test_check_fails_if_any_does(call, folder):
    put(folder / "colours.csv.gz", made_up.TABLE.replace("1.5", "1"))
    result = call("check", "colours", "wdbc", "--data", folder)
    assert result.exit_code == 1
    told = result.stdout.splitlines()
    assert told[0].startswith(f"colours, from {folder / 'colours.csv.gz'}: column 'hei")
    assert told[1].startswith("wdbc: 569 rows")
    assert told[2] == "1 failed"


def test_check_downloads_nothing(call):
    result = call("check", "shapes")
    assert result.exit_code == 1
    assert "shapes is not at hand; mrforest data fetch shapes" in result.stdout


def test_fetch_says_where_it_is(call, monkeypatch, tmp_path):
    def fetch(entry, folder, **_):
        if entry.name == "colours":
            raise datasets.DatasetError("colours could not be downloaded. [why]")
        return put(folder / entry.file_name)

    monkeypatch.setattr("mrforest.experiments.datasets._download.fetch", fetch)
    result = call("fetch", "shapes")
    assert result.exit_code == 0, result.output
    assert result.stdout == f"shapes: {tmp_path / 'cache' / 'shapes.csv.gz'}\n"
    result = call("fetch", "--all")
    assert result.exit_code == 1
    # What scikit-learn carries need not be fetched.
    assert result.stdout.splitlines() == [
        f"shapes: {tmp_path / 'cache' / 'shapes.csv.gz'}",
        "colours could not be downloaded. [why]",
    ]


@pytest.mark.parametrize("arguments", [(), ("shapes", "--all")])
def test_fetch_wants_names_or_all(call, arguments):
    result = call("fetch", *arguments)
    assert result.exit_code == 2
    assert "give names of datasets, or --all" in result.output


@pytest.mark.parametrize("command", ["fetch", "check"])
def test_an_unknown_name_is_refused(call, command):
    result = call(command, "shape")
    assert result.exit_code == 2
    assert "did you mean 'shapes'?" in result.output


def test_a_folder_must_be_there(call):
    result = call("check", "--data", "nowhere")
    assert result.exit_code == 2
    assert "nowhere" in result.output
