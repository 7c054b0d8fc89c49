# SPDX-License-Identifier: BSD-3-Clause
"""The registry is complete, and its entries agree with themselves."""

import os
import re
from pathlib import Path

import pytest

pytest.importorskip("pooch")

from mrforest.experiments import datasets
from mrforest.experiments.datasets import load
from mrforest.experiments.datasets._registry import LABEL, LEFT_OUT
from mrforest.experiments.datasets._table import features

ENTRIES = [datasets.entry(name) for name in datasets.names()]
every_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)


def test_the_papers_table_is_complete():
    printed = [
        datasets.entry(name).paper_name for name in datasets.names(in_paper=True)
    ]
    assert " ".join(printed) == (
        "Zoo Hayes Echo Hepatitis Wdbc Transfusion Vehicle Mammo Messidor Website "
        "Banknote Cmc Yeast Car Image Chess Ads Wilt Wine-Quality Phishing Nursery "
        "Connect-4"
    )
    assert len(ENTRIES) == 34


@every_entry
def test_an_entry_is_sound(entry):
    assert sum(entry.classes.values()) == entry.n_rows
    assert len(entry.classes) >= 2
    assert list(entry.classes) == sorted(entry.classes)
    assert entry.title
    assert entry.licence
    assert entry.pages
    assert re.fullmatch("[0-9a-f]{64}", entry.fingerprint)
    assert entry.sources
    if entry.columns:
        assert len(set(entry.columns)) == len(entry.columns)
        assert set(entry.categorical) <= set(entry.columns)
        assert set(entry.drop) <= set(entry.columns)
        assert entry.label in (*entry.columns, LABEL)
        assert len(features(entry)) == entry.n_features
        assert len(entry.column_checks) == entry.n_features + 1
        assert all(re.fullmatch("[0-9a-f]{4}", c) for c in entry.column_checks)


@every_entry
def test_the_sources_of_an_entry_are_sound(entry):
    for source in entry.sources:
        assert all(address.startswith("https://") for address in source.addresses)
        assert source.verified in ("whole", "excerpt", "no")
        assert len(source.sha256) in (0, len(source.addresses))
        assert all(re.fullmatch("[0-9a-f]{64}", known) for known in source.sha256)
        # A whole file that was tried is known to the last byte.
        assert source.sha256 or source.verified != "whole"
        if source.columns:
            kept = [c for c in source.columns if c != LEFT_OUT]
            assert sorted(kept) == sorted([*entry.columns, LABEL])
    known = {address: s.sha256 for s in entry.sources for address in s.addresses}
    assert len(known) == sum(len(source.addresses) for source in entry.sources)


def test_no_two_entries_are_the_same_data():
    assert len({entry.fingerprint for entry in ENTRIES}) == len(ENTRIES)
    assert len({entry.title for entry in ENTRIES}) == len(ENTRIES)


@every_entry
def test_an_entry_is_in_the_docs(entry):
    page = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text()
    row = f"| [{entry.name}]({entry.pages[0]}) | {entry.paper_name} | {entry.n_rows:,} "
    row += f"| {entry.n_features:,} | {len(entry.classes)} | "
    if entry.carried_by:
        row += f"carried by {entry.carried_by} |\n"
    else:
        levels = {source.verified for source in entry.sources}
        row += next(f"{x} |\n" for x in ("whole", "excerpt", "no") if x in levels)
    assert row in page


def test_an_unknown_dataset_is_refused():
    with pytest.raises(ValueError, match=r"'conect-4'.*did you mean 'connect-4'"):
        load("conect-4")


@pytest.mark.skipif(
    not os.environ.get("MRFOREST_DATA"), reason="MRFOREST_DATA names no folder"
)
@pytest.mark.parametrize(
    "name", [e.name for e in ENTRIES if e.n_rows * e.n_features < 200_000]
)
def test_the_folders_data_is_as_it_should_be(name):
    found = load(name, folder=Path(os.environ["MRFOREST_DATA"]), download=False)
    assert found.X.shape == (datasets.entry(name).n_rows, len(found.X.columns))
