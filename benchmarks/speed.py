# SPDX-License-Identifier: BSD-3-Clause
"""Speed, memory and size of the multinomial forest beside scikit-learn's forests.

    python benchmarks/speed.py [--quick] [--data FOLDER] [--n-jobs 2] [--sizes 1000 ...]

FOLDER, or MRFOREST_DATA, holds connect-4.csv.gz, whose last column is ``target``.
Results go to the terminal, into README.md and speed.png beside this file, and, raw, to
results/speed.json. README.md says what is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import platform
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import sklearn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.model_selection import train_test_split

import mrforest
from mrforest import MultinomialForestClassifier
from mrforest._progress import progress_bar
from mrforest.experiments import whole_file

HERE = Path(__file__).parent
SIZES = [1_000, 10_000, 50_000, 200_000, 1_000_000]
FORESTS = {
    "MRF": MultinomialForestClassifier,
    "RandomForest": RandomForestClassifier,
    "ExtraTrees": ExtraTreesClassifier,
}
BASE = "RandomForest"  # ratios are to this one
COLOURS = {"MRF": "#1f5fa8", "RandomForest": "#e07b00", "ExtraTrees": "#5b9a68"}
# Field of a result: its heading in the table, and the unit that the heading names.
MEASURES = {
    "fit": ("fit s", 1.0),
    "predict": ("predict µs/row", 1e-6),
    "one_row": ("one row ms", 1e-3),
    "memory": ("memory MB", 1e6),
    "size": ("pickle MB", 1e6),
}


@dataclass(frozen=True)
class Case:
    """A table, how many trees it gets and how often they are grown."""

    name: str
    load: Callable[[], tuple[NDArray[np.float64], NDArray[np.int64]]]
    n_estimators: int
    n_repeats: int

    @property
    def n_steps(self) -> int:
        """Fits with a clock, and one with a scale."""
        return len(FORESTS) * (self.n_repeats + 1)


@dataclass(frozen=True)
class Result:
    """What was measured of one forest.

    Seconds: `fits` of each repeat, `fit` the best, `predict` of a row among many,
    `one_row` of a row alone. Bytes: `memory` of the fit, `size` of the pickle.
    """

    case: str
    n_rows: int
    n_features: int
    n_estimators: int
    forest: str
    fits: list[float]
    fit: float
    predict: float
    one_row: float
    memory: int | None
    size: int
    accuracy: float


# ---- data ----------------------------------------------------------------------------


def synthetic(n_rows: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """20 features, 10 of them informative; `n_rows` rows are left to fit."""
    return make_classification(
        n_rows * 5 // 4, n_features=20, n_informative=10, random_state=0
    )


def connect_4(path: Path) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """42 squares, each blank or taken by one of two players: codes 0, 1, 2."""
    frame = pd.read_csv(path)
    codes = frame.apply(lambda column: column.astype("category").cat.codes)
    X = codes.drop(columns="target").to_numpy(dtype=np.float64)
    return X, codes["target"].to_numpy(dtype=np.int64)


def choose_cases(sizes: list[int], path: Path | None, n_repeats: int) -> list[Case]:
    """Large tables are fitted once, the largest with fewer trees."""
    cases = [
        Case(
            f"{n_rows:,} rows",
            partial(synthetic, n_rows),
            n_estimators=100 if n_rows < 1_000_000 else 10,
            n_repeats=n_repeats if n_rows < 200_000 else 1,
        )
        for n_rows in sizes
    ]
    if path is not None:
        cases.append(Case("Connect-4", partial(connect_4, path), 100, n_repeats))
    return cases


# ---- measuring -----------------------------------------------------------------------


def measure(case: Case, n_jobs: int, step: Callable[[], None]) -> Iterator[Result]:
    """Fit all forests by turns on 80 per cent of the rows, then let each predict."""
    X, X_test, y, y_test = train_test_split(*case.load(), test_size=0.2, random_state=0)
    forests = {
        name: make(n_estimators=case.n_estimators, n_jobs=n_jobs, random_state=0)
        for name, make in FORESTS.items()
    }
    fits: dict[str, list[float]] = {name: [] for name in forests}
    for _ in range(case.n_repeats):
        for name, forest in forests.items():
            fits[name].append(seconds(partial(forest.fit, X, y)))
            step()
    for name, forest in forests.items():
        yield Result(
            case.name,
            *X.shape,
            case.n_estimators,
            name,
            fits[name],
            fit=min(fits[name]),
            predict=predict_time(forest, X_test[:50_000]),
            one_row=one_row_time(forest, X_test[:1]),
            memory=peak_memory(forest, X, y),
            size=len(pickle.dumps(forest)),
            accuracy=forest.score(X_test, y_test),
        )
        step()


def predict_time(forest: Any, X: NDArray[np.float64]) -> float:
    """Seconds a row, best of three."""
    return min(seconds(lambda: forest.predict(X)) for _ in range(3)) / len(X)


def one_row_time(forest: Any, X: NDArray[np.float64]) -> float:
    """Seconds of a call with one row, median of 50.

    With one thread: a second one makes scikit-learn three times slower here.
    """
    n_jobs = forest.n_jobs
    forest.set_params(n_jobs=1)
    times = [seconds(lambda: forest.predict(X)) for _ in range(50)]
    forest.set_params(n_jobs=n_jobs)
    return float(np.median(times))


def seconds(work: Callable[[], Any]) -> float:
    """How long it takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak_memory(forest: Any, X: NDArray[Any], y: NDArray[Any]) -> int | None:
    """Bytes that a fit needs at most beyond the table; None where there is no /proc."""
    if not Path("/proc/self/status").exists():
        return None
    # The table goes through a file: making it would leave a higher mark than the fit.
    with TemporaryDirectory() as folder:
        np.save(Path(folder) / "X.npy", X)
        np.save(Path(folder) / "y.npy", y)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            return pool.submit(fit_and_weigh, clone(forest), Path(folder)).result()


def fit_and_weigh(forest: Any, folder: Path) -> int:
    """Peak of the resident memory while fitting, less what there was before."""
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    forest.fit(X[:100], y[:100])  # what is imported or started on the way is no data
    before = memory_status("VmRSS")
    forest.fit(X, y)
    return memory_status("VmHWM") - before


def memory_status(field: str) -> int:
    """Bytes, from the kernel; VmRSS is now, VmHWM the most so far."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return 1024 * int(line.split()[1])
    raise RuntimeError(f"/proc/self/status has no {field}")


# ---- showing -------------------------------------------------------------------------


def ratio(results: list[Result], result: Result, measure: str) -> float:
    """Divide a measure by that of scikit-learn's random forest on the same table."""
    base = next(r for r in results if r.case == result.case and r.forest == BASE)
    value, unit = getattr(result, measure), getattr(base, measure)
    return value / unit if value is not None and unit else np.nan


def table(results: list[Result]) -> tuple[list[str], list[list[str]]]:
    """Headings, and one row of texts for each forest."""
    headings = [heading for heading, _ in MEASURES.values()]
    rows = []
    for result in results:
        row = [result.case, result.forest]
        for measure, (_, unit) in MEASURES.items():
            value = getattr(result, measure)
            row.append("" if value is None else number(value / unit, 3))
            if value is not None and result.forest != BASE:
                row[-1] += f" ({number(ratio(results, result, measure), 2)})"
        rows.append([*row, f"{100 * result.accuracy:.2f}"])
    return ["data", "forest", *headings, "accuracy %"], rows


def number(value: float, digits: int) -> str:
    """So many digits count; never with an exponent."""
    return np.format_float_positional(value, digits, fractional=False, trim="-")


def print_table(results: list[Result]) -> None:
    """Show the table on the terminal."""
    headings, rows = table(results)
    shown = Table(title=f"In brackets: ratio to {BASE}")
    for i, heading in enumerate(headings):
        shown.add_column(heading, justify="left" if i < 2 else "right", no_wrap=True)
    for row in rows:
        shown.add_row(*row, end_section=row[1] == list(FORESTS)[-1])
    console = Console()
    console.width = max(console.width, 125)  # rather a wrapped line than a lost number
    console.print(shown)


def markdown(results: list[Result], machine: dict[str, Any]) -> str:
    """Lay out the table for README.md, below a line about the machine."""
    headings, rows = table(results)
    rule = [":---" if i < 2 else "---:" for i in range(len(headings))]
    lines = ["| " + " | ".join(cells) + " |" for cells in [headings, rule, *rows]]
    versions = ", ".join(f"{k} {v}" for k, v in machine["versions"].items())
    n_fits = max(len(result.fits) for result in results)
    about = (
        f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}; {versions}. "
        f"`n_jobs={machine['n_jobs']}`, at most {n_fits} fits each; "
        f"load average before the run {machine['load']:.1f}."
    )
    return "\n".join([about, "", *lines])


def fill_in(path: Path, marker: str, text: str) -> None:
    """Replace what stands between two marker comments of a file."""
    start, end = f"<!-- {marker} -->", f"<!-- /{marker} -->"
    page = path.read_text(encoding="utf-8")
    head, found, rest = page.partition(start)
    _, found_end, tail = rest.partition(end)
    if not (found and found_end):
        raise ValueError(f"{path.name} must have the lines {start} and {end}")
    with whole_file(path) as unfinished:
        unfinished.write_text(
            f"{head}{start}\n\n{text}\n\n{end}{tail}", encoding="utf-8"
        )


def describe_machine(n_jobs: int) -> dict[str, Any]:
    """Tell what the numbers depend on, but not the name of the machine."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.split(":")[1].strip() for line in lines if "model name" in line]
    return {
        "cpu": models[0] if models else platform.machine(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "load": os.getloadavg()[0],
        "n_jobs": n_jobs,
        "versions": {
            "Python": platform.python_version(),
            "mrforest": mrforest.__version__,
            "scikit-learn": sklearn.__version__,
            "numpy": np.__version__,
        },
    }


def draw(results: list[Result]) -> Figure:
    """Fit time against rows, and ratios to scikit-learn's random forest."""
    figure = Figure(figsize=(13, 7.6), layout="constrained", dpi=130)
    panels = figure.subplots(2, 3).ravel()
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
    draw_fits(panels[0], results)
    titles = ["Fit time", "Predict time, many rows", "Predict time, one row",
              "Memory of fit", "Pickle size"]  # fmt: skip
    for axes, measure, title in zip(panels[1:], MEASURES, titles, strict=True):
        draw_ratios(axes, results, measure)
        axes.set_title(title)
    return figure


def draw_fits(axes: Axes, results: list[Result]) -> None:
    """Seconds of a tree against rows, synthetic tables only."""
    for name, colour in COLOURS.items():
        mine = [r for r in results if r.forest == name and r.case != "Connect-4"]
        axes.loglog(
            [r.n_rows for r in mine],
            [r.fit / r.n_estimators for r in mine],
            marker="o",
            color=colour,
            label=name,
        )
    axes.set(xlabel="rows", ylabel="seconds a tree", title="Fit time, synthetic tables")
    axes.grid(color="#e4e4e4")
    axes.legend(frameon=False)


def draw_ratios(axes: Axes, results: list[Result], measure: str) -> None:
    """Bars that start at 1 and go left where scikit-learn's random forest is behind."""
    cases = list(dict.fromkeys(result.case for result in results))
    names = [name for name in FORESTS if name != BASE]
    height = 0.8 / len(names)
    for i, name in enumerate(names):
        mine = [result for result in results if result.forest == name]
        ratios = np.array([ratio(results, result, measure) for result in mine])
        y = np.arange(len(cases)) + (i - (len(names) - 1) / 2) * height
        bars = axes.barh(
            y, ratios - 1, height * 0.9, left=1, color=COLOURS[name], label=name
        )
        axes.bar_label(bars, [number(value, 2) for value in ratios], padding=3)
    axes.set_xscale("log")
    axes.margins(x=0.25)
    axes.axvline(1, color=COLOURS[BASE], linewidth=2)
    axes.set_yticks(range(len(cases)), cases)
    axes.invert_yaxis()
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(f"ratio to {BASE}")


# ---- the whole -----------------------------------------------------------------------


def main() -> None:
    """Measure, show, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="up to 50,000 rows")
    parser.add_argument("--data", type=Path, default=os.environ.get("MRFOREST_DATA"))
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--sizes", type=int, nargs="+", help="rows of synthetic tables")
    arguments = parser.parse_args()
    sizes = arguments.sizes
    if sizes is None:
        sizes = [n for n in SIZES if n <= 50_000 or not arguments.quick]
    path = arguments.data and arguments.data / "connect-4.csv.gz"
    if path is None:
        print("Connect-4 is left out: no --data FOLDER, no MRFOREST_DATA")
    elif not path.exists():
        parser.error(f"--data: there is no {path}")

    cases = choose_cases(sizes, path, n_repeats=2 if arguments.quick else 3)
    steps = sum(case.n_steps for case in cases)
    machine = describe_machine(arguments.n_jobs)
    results: list[Result] = []
    with progress_bar("fitting", steps, visible=True) as step:
        for case in cases:
            results += measure(case, arguments.n_jobs, step)

    raw = {"machine": machine, "results": [asdict(result) for result in results]}
    with whole_file(HERE / "results/speed.json") as unfinished:
        unfinished.write_text(json.dumps(raw, indent=2))
    with whole_file(HERE / "speed.png") as unfinished:
        draw(results).savefig(unfinished)
    fill_in(HERE / "README.md", "speed", markdown(results, machine))
    print_table(results)


if __name__ == "__main__":
    main()
