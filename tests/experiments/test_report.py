# SPDX-License-Identifier: BSD-3-Clause
"""The report holds what it is given, escaped, and says what is missing."""

import json
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("jinja2")
pytest.importorskip("plotly")

import plotly.graph_objects

from mrforest import __version__
from mrforest.experiments import consistency, protocol
from mrforest.experiments import table1 as table1_experiment
from mrforest.experiments.report import SECTIONS, page_of, write
from mrforest.experiments.report.contents import NONE, Table, number
from mrforest.experiments.report.frames import of_one_form
from mrforest.experiments.report.page import as_script
from mrforest.experiments.report.table1 import MEASURES
from mrforest.experiments.store import Store
from tests.experiments import made_up_results

WICKED = "<script>alert('&\"')</script>"
LARGEST = 8_000_000


class Elements(HTMLParser):
    """All elements of a page, and their texts."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes), []))

    def handle_data(self, data):
        if self.found:
            self.found[-1][2].append(data)

    def all(self, tag):
        return [
            (attributes, "".join(texts).strip())
            for name, attributes, texts in self.found
            if name == tag
        ]


@pytest.fixture(scope="module")
def frames():
    return made_up_results.all_frames()


@pytest.fixture(scope="module")
def elements(frames):
    return Elements(page_of(frames, name="results.sqlite"))


def cells_of(table):
    return {row[0]: dict(zip(table.header, row, strict=True)) for row in table.rows}


# ---- parts ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (1.005, ".2f", "1.00"),
        (-0.5, "+.1f", "\N{MINUS SIGN}0.5"),
        (1000, ",d", "1,000"),
        (np.nan, ".2f", NONE),
        (None, ".2f", NONE),
    ],
)
def test_numbers_are_read_well(value, form, text):
    assert number(value, form).text == text


def test_tones_are_at_most_full():
    assert [number(1, tone=tone).tone for tone in (-9, 0.5, 9)] == [-1, 0.5, 1]


def test_a_row_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"'ranks' must have 2 cells.*got 3"):
        Table("ranks", ["forest", "rank"], [["MRF", "1", "2"]])


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**50), 2**50) | st.text(),
        lambda parts: st.lists(parts) | st.dictionaries(st.text(), parts),
    )
)
def test_what_is_in_a_script_comes_back_and_never_ends_it(value):
    text = as_script(value)
    assert json.loads(text) == value
    assert not set("<>&") & set(text)


def test_arrays_are_in_scripts_as_numbers():
    value = {"a": np.array([1.0, np.nan, np.inf]), "b": pd.Series([1, 2])}
    assert json.loads(as_script(value)) == {"a": [1.0, None, None], "b": [1, 2]}


# ---- the page ------------------------------------------------------------------------


def test_it_needs_nothing_but_itself(elements):
    addresses = [
        attributes[name]
        for _, attributes, _ in elements.found
        for name in ("src", "href", "action", "data", "poster")
        if name in attributes
    ]
    assert addresses
    assert all(address.startswith(("#", "data:")) for address in addresses)
    policies = [
        attributes["content"]
        for attributes, _ in elements.all("meta")
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert ["default-src 'none'" in policy for policy in policies] == [True]


def test_links_lead_somewhere(elements):
    names = {a["id"] for _, a, _ in elements.found if "id" in a}
    links = [attributes["href"] for attributes, _ in elements.all("a")]
    assert {link.removeprefix("#") for link in links} <= names
    assert len(links) > len(SECTIONS)


def test_plotly_is_there_once(frames):
    page = page_of(frames, name="results.sqlite")
    assert page.count("plotly.js v") == 1


def test_the_full_results_are_a_page_of_moderate_size():
    frames = made_up_results.all_frames(quick=False)
    assert len(page_of(frames, name="results.sqlite").encode()) < LARGEST


def test_plots_are_such_as_plotly_knows(elements):
    figures = [
        json.loads(text)
        for attributes, text in elements.all("script")
        if attributes.get("type") == "application/json"
    ]
    assert len(figures) > 20
    # Unknown names and values raise.
    for figure in figures:
        plotly.graph_objects.Figure(figure)


def test_versions_and_settings_are_told(elements):
    names = [text for _, text in elements.all("dt")]
    values = [text for _, text in elements.all("dd")]
    told = dict(zip(names, values, strict=True))
    assert told["mrforest"] == __version__
    assert told["numpy"] == np.__version__
    assert told["computed by"] == "mrforest 0.1.0"
    assert told["last result"] == "17 May 2024, 12:00 UTC"
    assert told["stratified"] == "no"
    assert {"Python", "scikit-learn", "processor", "cores"} <= set(names)


def test_what_is_missing_is_told_with_its_command(frames):
    there = {"consistency": frames["consistency"]}
    page = page_of(there, name="results.sqlite")
    assert page.count("There are no results yet") == len(SECTIONS) - 1
    for section in SECTIONS.values():
        command = section(pd.DataFrame()).command
        assert command.startswith("mrforest reproduce ")
        # Once in the section, once in the list of all.
        assert page.count(f"<code>{command}</code>") == 2


def test_a_page_without_results_is_a_page():
    page = page_of({}, name="results.sqlite")
    assert page.count("There are no results yet") == len(SECTIONS)
    assert page.rstrip().endswith("</html>")


def test_everything_is_escaped():
    name = table1_experiment.EXPERIMENT
    frame = made_up_results.table1_frame(datasets=["zoo", "wdbc"])
    frame = frame.replace({"dataset": {"zoo": WICKED}, "forest": {"BRF": WICKED}})
    frame["version"] = WICKED
    page = page_of({name: frame}, name=WICKED)
    assert WICKED not in page
    elements = Elements(page)
    scripts = [text for _, text in elements.all("script")]
    assert not [text for text in scripts if text.startswith("alert")]
    headings = [text for _, text in elements.all("th")]
    assert WICKED in headings  # as text


# ---- the table -----------------------------------------------------------------------


def test_accuracies_are_means_and_the_best_is_bold():
    frame = made_up_results.table1_frame(datasets=["zoo", "wdbc", "cmc"])
    section = SECTIONS["table1"](frame)
    cells = cells_of(section.tables[0])
    means = table1_experiment.accuracies(frame, "stop")
    for name, row in cells.items():
        own = frame[(frame["dataset"] == name) & (frame["leaf_rule"] == "stop")]
        mrf = 100 * own.loc[own["forest"] == "MRF", "accuracy"].mean()
        assert row["MRF"].value == pytest.approx(mrf)
        best = means.loc[name, ["Denil14", "BRF", "CompRF-C", "MRF"]].idxmax()
        assert [f for f in means.columns if row[f].is_best] == [best]


def test_differences_are_ours_less_printed():
    frame = made_up_results.table1_frame(datasets=["zoo"])
    frame["accuracy"] = 0.9
    cells = cells_of(SECTIONS["table1"](frame).tables[1])
    cell = cells["zoo"]["Denil14"]
    assert (cell.text, cell.note) == ("+10.00", "90.00 / 80.00")
    assert cell.tone == 1


@pytest.mark.parametrize("forests", [["MRF"], ["Breiman"], ["MRF", "Breiman", "BRF"]])
@pytest.mark.parametrize("rules", [["stop"], ["floor"], ["stop", "floor"]])
@pytest.mark.parametrize("n_folds", [1, 10])
def test_parts_of_the_table_are_shown_as_well(forests, rules, n_folds):
    frame = made_up_results.table1_frame(datasets=["zoo", "wdbc"])
    frame = frame[
        frame["forest"].isin(forests)
        & frame["leaf_rule"].isin(rules)
        & (frame["fold"] < n_folds)
    ]
    section = SECTIONS["table1"](frame)
    assert len(section.tables) == 2 * len(rules) + 1
    assert section.amount == f"{len(frame)} folds"


def test_forests_that_the_paper_has_not_are_shown():
    frame = made_up_results.table1_frame(datasets=["zoo"])
    section = SECTIONS["table1"](frame[frame["forest"].isin(protocol.EXTRAS)])
    assert [len(table.rows) for table in section.tables] == [len(protocol.EXTRAS)]
    assert not section.plots


def test_it_says_how_much_was_run_and_what_was_found():
    frame = made_up_results.table1_frame(datasets=["zoo", "wdbc"])
    frame["accuracy"] = np.where(frame["forest"] == "MRF", 0.9, 0.8)
    _, shown, *found = SECTIONS["table1"](frame).text
    assert shown == "Shown here: 10 folds of 2 datasets."
    assert found[0] == (
        "Under “stop”, MRF is the best of the consistent forests on 2 of 2 datasets "
        "and above Breiman's on 2; MRF is off its printed accuracy by 3.21 points in "
        "the median, 5.78 at most (wdbc)."
    )


def test_a_dataset_that_the_paper_has_not_is_shown():
    frame = made_up_results.table1_frame(datasets=["zoo"])
    section = SECTIONS["table1"](frame.replace({"dataset": {"zoo": "new"}}))
    assert cells_of(section.tables[1])["new"]["MRF"].text == NONE


@pytest.mark.parametrize("experiment", SECTIONS)
@pytest.mark.parametrize("n_results", [1, 2, 9])
def test_some_results_are_enough(frames, experiment, n_results, seed):
    rng = np.random.default_rng(seed)
    frame = frames[experiment]
    some = frame.iloc[rng.permutation(len(frame))[:n_results]]
    # The store has a column only if a result has it.
    section = SECTIONS[experiment](some.dropna(axis=1, how="all"))
    assert section.amount
    assert section.tables
    as_script([plot.figure for plot in section.plots])
    told = [*section.text, *section.settings.values()]
    told += [plot.summary for plot in section.plots]
    assert not [text for text in told if re.search(r"\bnan\b", text)]


# ---- forms ---------------------------------------------------------------------------


def test_forms_of_an_experiment_do_not_mix():
    quick = made_up_results.consistency_frame(quick=True)
    full = made_up_results.consistency_frame(quick=False)
    n_quick, n_full = len(quick), len(full)
    # Rows of large tables are of the full form alone.
    part = pd.concat([quick, full[full["n"] == full["n"].max()]])
    for frame, n_kept, form in (
        (quick, n_quick, f"quick, {n_quick} of {n_quick} results"),
        (part, n_quick, f"quick, {n_quick} of {n_quick} results"),
        (full, n_full, f"full, {n_full:,} of {n_full:,} results"),
        (full[-100:], 100, f"full, 100 of {n_full:,} results"),
        (quick.assign(n_trees=7), n_quick, "neither the full form nor the quick one"),
    ):
        kept, told = of_one_form(frame, consistency.tasks)
        assert (len(kept), told) == (n_kept, form)


def test_a_quick_surface_and_a_part_of_the_full_one_are_not_one_surface():
    quick = made_up_results.hyperparameters_frame(quick=True)
    full = made_up_results.hyperparameters_frame(quick=False)
    frame = pd.concat([quick, full.sample(frac=0.5, random_state=0)])
    section = SECTIONS["hyperparameters"](frame)
    assert section.settings["B1"] == "0, 5, 10, 15, 20"
    assert section.settings["form"].startswith("quick")


def test_seeds_and_kinds_of_folds_are_not_averaged():
    frame = made_up_results.table1_frame(datasets=["zoo"])
    other = frame[frame["fold"] < 5].assign(stratified=True, accuracy=0.0)
    both = pd.concat([other, frame])
    section = SECTIONS["table1"](both)
    assert section.tables[0] == SECTIONS["table1"](frame).tables[0]
    assert section.settings["stratified"] == "no"


# ---- from the file of results --------------------------------------------------------


def test_it_is_written_whole_from_a_store(tmp_path):
    results, output = tmp_path / "results.sqlite", tmp_path / "new" / "report.html"
    with Store(results) as store:
        for row in made_up_results.table1_frame(datasets=["zoo"]).to_dict("records"):
            measures = {name: row.pop(name) for name in ("accuracy", *MEASURES)}
            del row["version"], row["added"]
            store.add("table1", row, measures)
    missing = write(results, output)
    assert len(missing) == len(SECTIONS) - 1
    assert missing[0].command == "mrforest reproduce hyperparameters"
    assert (
        "340 folds" in output.read_text(encoding="utf-8")
        or "folds" in output.read_text()
    )
    assert [path.name for path in output.parent.iterdir()] == ["report.html"]


# ---- the command ---------------------------------------------------------------------


@pytest.fixture
def call(monkeypatch, tmp_path):
    """Call the command line in an empty folder, on a wide terminal."""
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from mrforest.cli import app

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *arguments: CliRunner().invoke(app, ["reproduce", *arguments])


def test_the_command_writes_the_page_and_names_what_is_to_be_run(call, tmp_path):
    Store("reproduce/results.sqlite").close()
    result = call("report")
    assert result.exit_code == 0, result.output
    assert "reproduce/report.html" in result.stdout
    assert "Privacy: mrforest reproduce privacy" in result.stdout
    page = (tmp_path / "reproduce/report.html").read_text(encoding="utf-8")
    assert page.rstrip().endswith("</html>")


def test_the_command_writes_where_it_is_told(call, tmp_path):
    Store("my.sqlite").close()
    result = call("report", "--results", "my.sqlite", "--output", "a/b")
    assert result.exit_code == 0, result.output
    assert [path.name for path in (tmp_path / "a/b").iterdir()] == ["report.html"]


@pytest.mark.parametrize("content", [None, "no results"])
def test_the_command_refuses_what_is_no_file_of_results(call, tmp_path, content):
    if content is not None:
        (tmp_path / "my.sqlite").write_text(content)
    result = call("report", "--results", "my.sqlite")
    assert result.exit_code == 2
    assert "--results" in result.output
    assert "my.sqlite" in result.output
    assert not (tmp_path / "reproduce").exists()


@pytest.mark.parametrize("package", ["plotly", "jinja2"])
def test_the_command_names_a_package_that_is_missing(call, monkeypatch, package):
    Store("my.sqlite").close()
    monkeypatch.setattr(
        "mrforest.cli._reproduce.find_spec", lambda name: name != package or None
    )
    result = call("report", "--results", "my.sqlite")
    assert result.exit_code == 1
    assert f"pip install {package}" in result.output


def test_the_command_line_does_without_the_packages_of_the_page():
    code = "import sys, mrforest.cli; print({'plotly', 'jinja2'} & set(sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "set()"


def test_all_commands_that_the_page_names_are_there(call):
    listed = call("--help").output
    for section in SECTIONS.values():
        assert section(pd.DataFrame()).command.split()[-1] in listed
