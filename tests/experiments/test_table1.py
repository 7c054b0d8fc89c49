# SPDX-License-Identifier: BSD-3-Clause
"""The table says what the results say, in every format."""

import io
import os
import re

import pandas as pd
import pytest

pytest.importorskip("typer")
pytest.importorskip("matplotlib")

from rich.console import Console
from typer.testing import CliRunner

from mrforest.cli import app
from mrforest.experiments import protocol, table1, table1_figures, table1_grids
from mrforest.experiments.store import Store
from mrforest.experiments.tables import BULLET, DAGGER, Cell, Grid, escape_latex
from tests.experiments import measures

# Accuracy of a forest on a dataset under "stop"; under "floor" it is a point less.
MADE_UP = {
    "zoo": {"Denil14": 90, "BRF": 91, "MRF": 92, "Breiman": 80, "scikit-learn": 93},
    "car": {"Denil14": 97, "BRF": 95, "MRF": 96, "Breiman": 99, "scikit-learn": 98},
}


@pytest.fixture
def frame(tmp_path):
    """Results of a made-up store: one repetition, folds a little apart."""
    with Store(tmp_path / "made-up.sqlite") as store:
        for name, forests in MADE_UP.items():
            for task in table1.tasks(names=[name], forests=list(forests), repeats=1):
                settings = task.settings
                points = forests[settings["forest"]]
                points -= settings["leaf_rule"] == "floor"
                points += 0.01 * (settings["fold"] - 4.5)
                others = dict.fromkeys(table1.OTHER_MEASURES, 1.0)
                store.add("table1", settings, {"accuracy": points / 100, **others})
        return store.frame("table1")


# ---- tasks ---------------------------------------------------------------------------


def test_the_full_table():
    tasks = list(table1.tasks())
    # Six forests under two rules and three under one, on 22 datasets, 100 folds
    assert len(tasks) == (6 * 2 + 3) * 22 * 100
    assert len({str(task.settings) for task in tasks}) == len(tasks)
    assert {task.measure for task in tasks} == {protocol.measure_fold}
    costs = {task.settings["dataset"]: task.cost for task in tasks}
    assert max(costs, key=costs.get) == "connect-4"


def test_printed_numbers_agree_with_each_other():
    printed = table1.printed()
    assert printed.shape == (22, 6)
    ranks = printed.rank(axis=1, ascending=False).mean()
    # The paper's own ranks are rounded, and off by a little more.
    for ours, theirs in zip(ranks, table1.PRINTED_RANKS, strict=True):
        assert ours == pytest.approx(theirs, abs=0.1)
    better = printed["MRF"] - printed["Breiman"]
    for name, winner in table1.PRINTED_WINNERS.items():
        assert better[name] * winner > 0


# ---- summaries -----------------------------------------------------------------------


def test_accuracies_are_means_of_one_rule(frame):
    stop = table1.accuracies(frame, "stop")
    assert list(stop.index) == ["zoo", "car"]
    assert list(stop) == ["Denil14", "BRF", "MRF", "Breiman", "scikit-learn"]
    assert stop.loc["car", "MRF"] == pytest.approx(96)
    floor = table1.accuracies(frame, "floor")
    assert floor.loc["car", "MRF"] == pytest.approx(95)
    # It has one rule of its own, and is in both tables.
    assert floor.loc["car", "scikit-learn"] == pytest.approx(98)


def test_winners_are_those_of_the_folds(frame):
    tests = table1.compared(frame, "stop")
    assert tests["winner"].to_dict() == {"zoo": 1, "car": -1}
    assert (tests["p"] < 0.01).all()
    without = frame[frame["forest"] != "Breiman"]
    assert table1.compared(without, "stop").empty


def test_the_long_table_has_it_all(frame):
    table = table1.long_table(frame)
    assert len(table) == 2 * (4 * 2 + 1)
    row = table[(table["dataset"] == "zoo") & (table["forest"] == "MRF")]
    row = row.set_index("leaf_rule").loc["stop"]
    assert row["folds"] == 10
    assert row["accuracy"] == pytest.approx(92)
    assert row["printed"] == 90.64
    assert row["difference"] == pytest.approx(1.36)
    assert row["p"] < 0.01
    assert table[table["forest"] == "scikit-learn"]["printed"].isna().all()


# ---- formats -------------------------------------------------------------------------

GOLDEN = """\
**Accuracy (%), leaf rule "stop", 10 folds**

| dataset | Denil14 | BRF | MRF | Breiman | scikit-learn |
|:---|---:|---:|---:|---:|---:|
| zoo | 90.00 (+10.00) | 91.00 (+6.00) | **92.00**† (+1.36) | 80.00 (-7.38) | 93.00 |
| car | **97.00** (+8.98) | 95.00 (+1.57) | 96.00 (-0.30) | 99.00• (+1.58) | 98.00 |
| average rank | 2.50 (5.1) | 3.00 (4.1) | 2.00 (1.5) | 2.50 (1.8) |  |
| mean difference | +9.49 | +3.78 | +0.53 | -2.90 |  |
| mean \\|difference\\| | 9.49 | 3.78 | 0.83 | 4.48 |  |
"""


def with_minus(text):
    """Negative numbers have a real minus sign."""
    return re.sub(r"-(?=\d)", "\N{MINUS SIGN}", text)


def test_markdown(frame):
    text = table1_grids.grid(frame, "stop").to_markdown()
    table, caption = text.split("\n\nIn brackets")
    assert table + "\n" == with_minus(GOLDEN)
    assert "on 2 datasets" in caption


def test_the_printed_table_in_markdown():
    lines = table1_grids.printed_grid().to_markdown().splitlines()
    assert "| zoo | 80.00 | 85.00 | 87.69 | **90.64**† | 93.39 | 87.38 |" in lines
    assert "| car | 88.02 | 93.43 | 79.07 | **96.30** | 92.17 | 97.42• |" in lines
    assert "| average rank | 5.1 | 4.1 | 4.8 | 1.5 | 3.7 | 1.8 |" in lines


def assert_balanced(latex):
    bare = latex.replace(r"\\", "").replace(r"\{", "").replace(r"\}", "")
    depth = 0
    for letter in bare:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        assert depth >= 0
    assert depth == 0
    open_ones = []
    for kind, name in re.findall(r"\\(begin|end)\{([^}]*)\}", latex):
        if kind == "begin":
            open_ones.append(name)
        else:
            assert open_ones.pop() == name
    assert not open_ones
    assert bare.replace(r"\$", "").count("$") % 2 == 0
    assert not re.search(r"(?<!\\)[%#_]", latex)
    latex.encode("ascii")


def test_latex_is_balanced_and_every_row_is_as_wide(frame):
    for grid in (table1_grids.grid(frame, "floor"), table1_grids.printed_grid()):
        latex = grid.to_latex()
        assert_balanced(latex)
        rows = [line for line in latex.splitlines() if line.endswith(r"\\")]
        assert {line.count("&") for line in rows} == {len(grid.heading) - 1}
        assert len(rows) == 1 + len(grid.rows) + len(grid.summary)
    text = table1_grids.grid(frame, "stop").to_latex()
    assert r"zoo & 90.00 (+10.00) & 91.00 (+6.00) & \textbf{92.00}$^{\dagger}$" in text
    assert r"99.00$^{\bullet}$ (+1.58)" in text
    assert r"80.00 ($-$7.38)" in text


def test_odd_text_is_escaped():
    odd = r"50 % & a_b #1 {x} ~^ \ $ | * [red] <b>"
    grid = Grid(odd, [odd, odd], [[Cell(odd), Cell(odd, is_bold=True)]], caption=odd)
    assert_balanced(grid.to_latex())
    assert escape_latex(r"\%") == r"\textbackslash{}\%"
    lines = grid.to_markdown().splitlines()
    row = next(line for line in lines if line.startswith("|"))
    assert len(re.findall(r"(?<!\\)\|", row)) == 3
    console = Console(file=io.StringIO(), width=300)
    grid.print(console)
    assert console.file.getvalue().count(odd) == 6


def test_rows_must_fit_the_heading():
    with pytest.raises(ValueError, match="1 cells under a heading of 2"):
        Grid("t", ["a", "b"], [[Cell("x")]])


@pytest.mark.parametrize(("width", "has_notes"), [(140, True), (80, False)])
def test_a_narrow_terminal_has_no_notes(frame, width, has_notes):
    console = Console(file=io.StringIO(), width=width)
    table1_grids.grid(frame, "stop").print(console)
    text = console.file.getvalue()
    assert max(map(len, text.splitlines())) <= width
    assert f"92.00{DAGGER}" in text
    assert f"99.00{BULLET}" in text
    assert ("(+1.36)" in text) == has_notes
    assert ("In brackets" in text) == has_notes


def test_gaps_stay_empty(frame):
    lacking = frame[(frame["dataset"] != "zoo") | (frame["forest"] != "BRF")]
    lines = table1_grids.grid(lacking, "stop").to_markdown().splitlines()
    assert (
        with_minus(
            "| zoo | 90.00 (+10.00) |  | **92.00**† (+1.36) | 80.00 (-7.38) | 93.00 |"
        )
        in lines
    )
    # Ranks are those of the other dataset.
    ranks = next(line for line in lines if "average rank" in line)
    assert re.findall(r"\d\.\d\d", ranks) == ["2.00", "4.00", "3.00", "1.00"]


# ---- figures -------------------------------------------------------------------------


def test_figures(frame):
    pytest.importorskip("scikit_posthocs")
    accuracies = table1_figures.draw_accuracies(frame)
    titles = [axes.get_title() for axes in accuracies.axes]
    assert titles == ["Denil14", "BRF", "MRF", "Breiman"]
    ranks = table1_figures.draw_ranks(frame)
    assert [axes.get_title().split(":")[0] for axes in ranks.axes] == [
        'leaf rule "stop"',
        'leaf rule "floor"',
    ]
    for figure in (accuracies, ranks):
        figure.savefig(io.BytesIO())


def test_there_are_no_ranks_of_one_dataset(frame):
    assert table1_figures.draw_ranks(frame[frame["dataset"] == "zoo"]) is None


# ---- the command ---------------------------------------------------------------------


@pytest.fixture
def call(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    # The command sets it; the fixture puts back what was there.
    monkeypatch.setenv("MRFOREST_DATA", os.environ.get("MRFOREST_DATA", ""))
    return lambda *arguments: CliRunner().invoke(
        app, ("reproduce", "table1", *arguments)
    )


@pytest.fixture
def made_up(monkeypatch):
    """Folds that are measured in no time, though in processes."""
    real = table1.tasks

    def tasks(**options):
        for task in real(**options):
            yield task._replace(measure=measures.made_up_fold)

    monkeypatch.setattr(table1, "tasks", tasks)
    monkeypatch.setattr("mrforest.cli._reproduce.datasets.load", lambda name: None)


def test_tables_and_figures_are_written(call, made_up, tmp_path):
    options = ("--quick", "--datasets", "zoo,wdbc", "--n-jobs", "1")
    result = call(*options, "--output", "out", "--results", "r.sqlite")
    assert result.exit_code == 0, result.output
    assert 'leaf rule "stop", 10 folds' in result.stdout
    assert 'leaf rule "floor", 10 folds' in result.stdout
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "table1-accuracies.png",
        "table1-ranks.png",
        "table1.csv",
        "table1.md",
        "table1.tex",
    ]
    table = pd.read_csv(tmp_path / "out/table1.csv")
    assert len(table) == 2 * 15
    assert set(table["folds"]) == {10}
    # A narrower question is answered from the file, by what was asked for only.
    again = call(
        *("--quick", "--datasets", "zoo", "--forests", "MRF"),
        *("--output", "other", "--results", "r.sqlite"),
    )
    assert again.exit_code == 0, again.output
    assert "wdbc" not in again.stdout
    table = pd.read_csv(tmp_path / "other/table1.csv")
    assert set(table["forest"]) == {"MRF"}


@pytest.mark.parametrize(
    ("option", "value", "named"),
    [
        ("--datasets", "zoo,iris", "iris"),
        ("--forests", "RF", "RF"),
        ("--repeats", "0", "--repeats"),
        ("--n-jobs", "0", "0: give"),
        ("--data", "nowhere", "nowhere"),
        ("--results", "text", "text"),
    ],
)
def test_bad_options_are_refused(call, tmp_path, option, value, named):
    (tmp_path / "text").write_text("not a database " * 99)
    result = call(option, value)
    assert result.exit_code == 2
    assert option in result.output
    assert named in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["text"]


def test_a_dataset_that_cannot_be_had_is_named(call, monkeypatch, tmp_path):
    def load(name):
        raise OSError("no network")

    monkeypatch.setattr("mrforest.cli._reproduce.datasets.load", load)
    result = call("--datasets", "zoo", "--results", "r.sqlite")
    assert result.exit_code == 1
    assert "cannot load the dataset zoo: no network" in result.output


def test_a_missing_package_is_named_before_any_work(call, monkeypatch, tmp_path):
    monkeypatch.setattr("mrforest.cli._reproduce.find_spec", lambda name: None)
    result = call("--quick")
    assert result.exit_code == 1
    assert "pip install scikit-posthocs" in result.output
    assert list(tmp_path.iterdir()) == []


def test_failures_end_with_an_error(call, monkeypatch, made_up):
    def fails(**options):
        yield from (
            table1.Task("table1", {"x": x}, measures.odd_ones_fail) for x in range(2)
        )

    monkeypatch.setattr(table1, "tasks", fails)
    result = call("--n-jobs", "1")
    assert result.exit_code == 1
    assert "1 is odd" in result.output
    assert "1 task failed" in result.output


@pytest.mark.skipif("MRFOREST_DATA" not in os.environ, reason="needs MRFOREST_DATA")
def test_a_real_dataset(call, tmp_path):
    result = call("--quick", "--datasets", "zoo", "--forests", "MRF", "--n-jobs", "1")
    assert result.exit_code == 0, result.output
    table = pd.read_csv(tmp_path / "reproduce/table1.csv").set_index("leaf_rule")
    assert table.loc["stop", "accuracy"] == pytest.approx(90.64, abs=4)
    assert table.loc["floor", "accuracy"] < table.loc["stop", "accuracy"]
