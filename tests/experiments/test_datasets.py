# SPDX-License-Identifier: BSD-3-Clause
"""Datasets are found where they should be."""

import gzip
import re

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pooch")

from mrforest.experiments import datasets
from mrforest.experiments.datasets import DatasetError, _registry, load
from tests.experiments import made_up


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Folders that hold nothing, and a registry that knows one made-up dataset."""
    folders = {name: tmp_path / name for name in ("given", "variable", "cache")}
    for folder in folders.values():
        folder.mkdir()
    entry = made_up.entry(tmp_path / "shapes.csv")
    monkeypatch.setattr(_registry, "_registry", lambda: {"shapes": entry})
    monkeypatch.setattr(datasets, "cache_folder", lambda: folders["cache"])
    monkeypatch.setenv("MRFOREST_DATA", str(folders["variable"]))
    return folders


def put(folder, text=made_up.TABLE):
    (folder / "shapes.csv.gz").write_bytes(gzip.compress(text.encode()))


def test_places_in_order(places, monkeypatch):
    def place(**options):
        found = datasets.find("shapes", **options)
        return found and (found.kind, found.path)

    def at(kind, name):
        return kind, places[name] / "shapes.csv.gz"

    assert place(folder=places["given"]) is None
    put(places["cache"])
    assert place(folder=places["given"]) == at("cache", "cache")
    put(places["variable"])
    assert place() == at("folder", "variable")
    # A folder that is given stands in for the variable's.
    assert place(folder=places["given"]) == at("cache", "cache")
    put(places["given"])
    assert place(folder=str(places["given"])) == at("folder", "given")
    monkeypatch.delenv("MRFOREST_DATA")
    assert place() == at("cache", "cache")


def test_what_is_nowhere_is_downloaded_once(places, monkeypatch):
    fetched = []

    def fetch(entry, folder, **_):
        fetched.append(entry.name)
        put(folder)
        return folder / entry.file_name

    monkeypatch.setattr("mrforest.experiments.datasets._download.fetch", fetch)
    with pytest.raises(DatasetError, match="mrforest data fetch shapes"):
        load("shapes", download=False)
    first, second = load("shapes"), load("shapes")
    pd.testing.assert_frame_equal(first.X, second.X)
    assert first.X["height"].dtype == np.float64
    assert first.X["colour"].cat.categories.tolist() == ["blue", "red"]
    assert first.y.tolist() == ["yes", "no", "no", "yes", "no"]
    assert first.y.dtype.kind == "U"
    datasets.fetch("shapes")
    assert fetched == ["shapes"]
    put(places["cache"], made_up.TABLE.replace("1.5", "1"))
    datasets.fetch("shapes")
    assert fetched == ["shapes"] * 2


def test_a_damaged_file_is_named_and_not_passed_over(places):
    put(places["cache"])
    put(places["given"], made_up.TABLE.replace("1.5", "1"))
    named = re.escape(str(places["given"] / "shapes.csv.gz"))
    with pytest.raises(DatasetError, match=f"shapes, from {named}: column 'height'"):
        load("shapes", folder=places["given"])
    (places["cache"] / "shapes.csv.gz").write_bytes(b"\x1f\x8b nothing")
    with pytest.raises(DatasetError, match=r"cannot be read.*data fetch shapes gets"):
        load("shapes")


def test_a_folder_must_be_there(places, monkeypatch):
    with pytest.raises(ValueError, match="folder='nowhere' is no folder"):
        load("shapes", folder="nowhere")
    monkeypatch.setenv("MRFOREST_DATA", "nowhere")
    with pytest.raises(ValueError, match="MRFOREST_DATA='nowhere' is no folder"):
        load("shapes")


def test_what_a_package_carries_is_the_same_data(places, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(datasets, "cache_folder", lambda: places["cache"])
    monkeypatch.delenv("MRFOREST_DATA", raising=False)
    assert datasets.find("wdbc") == datasets.Place("scikit-learn")
    wdbc = load("wdbc", download=False)
    assert wdbc.X.loc[0, "radius_mean"] == 17.99
    assert (wdbc.y == "M").sum() == 212
