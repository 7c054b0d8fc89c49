# SPDX-License-Identifier: BSD-3-Clause
"""Speed, memory and size of our forests beside the forests that people use.

    python benchmarks/peers.py --data FOLDER [--quick] [--datasets NAME ...]

FOLDER holds datasets, NAME.csv.gz each. Peers are installed under build/peers. In one
process, all forests are fitted by turns; the best of several turns counts. Memory is
measured once more in a process of its own. Every result is a line of the file --output
as soon as it is there: stop the program anywhere, start it again, nothing is done
twice. (So take another file, or delete lines, when a forest has changed or one that
failed shall be tried again.) The tables and the figure are written beside that file,
and with --publish also into README.md and speed.png beside this one; with --report
without any fit. README.md says what is measured.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pandas as pd
from peers_figure import draw
from peers_forests import FORESTS, Workers
from peers_report import markdown
from peers_tables import SMALL, TABLES, write_table
from processes import WorkerError
from record import Results, fill_in

from mrforest._progress import progress_bar
from mrforest.experiments import whole_file

HERE = Path(__file__).parent
QUICK = {"datasets": ["nursery", "phishing-websites", SMALL], "repeats": 2}
ENOUGH = 60.0  # seconds: a forest that was fitted for so long has no more turns
N_IMPORTS = 7
NO_DATA = "-"  # instead of a dataset where there is none


class Run(NamedTuple):
    """One measurement."""

    dataset: str
    forest: str
    n_jobs: int
    what: str  # time, memory or import
    turn: int


MEASURED = (
    "n_rows",
    "n_features",
    "n_classes",
    "fit",  # seconds
    "first",  # seconds a row, of many, the first call after a fit
    "loaded",  # the same after the forest was read from a pickle
    "predict",  # the same of later calls
    "one_row",  # seconds, one thread
    "one_row_threads",  # seconds, n_jobs threads
    "memory",  # bytes
    "size",  # bytes
    "accuracy",
    "import_seconds",
    "engine",
    "version",
    "error",
    "machine",
    "load",  # before the program was started
    "started",  # when it was
)


def line_up(name: str, forests: list[str], n_jobs: int) -> Iterator[tuple[str, int]]:
    """Yield the forests of a turn, and their threads."""
    table = TABLES[name]
    for forest in forests:
        if not table.forests or forest in table.forests:
            yield forest, n_jobs
    if table.is_large and n_jobs != 1:
        yield from ((forest, 1) for forest in ("forest", "mrf") if forest in forests)


def is_left(results: Results, run: Run) -> bool:
    """Whether to do it: it is not done, and the forest neither failed nor is slow."""
    if run in results.done:
        return False
    lines = results.frame()
    for column in ("dataset", "forest", "n_jobs"):
        lines = lines[lines[column] == getattr(run, column)]
    if lines["error"].notna().any():
        return False
    return run.what != "time" or lines["fit"].sum() < ENOUGH


def measure(arguments: argparse.Namespace, results: Results) -> None:
    """Do what is not done yet."""
    call = {
        "machine": describe_machine(),
        "load": round(os.getloadavg()[0], 2),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    total = sum(len(runs_of(name, arguments)) for name in arguments.datasets)
    with (
        Workers() as workers,
        progress_bar("measuring", total + N_IMPORTS, visible=True) as step,
    ):
        for turn in range(N_IMPORTS):
            measure_import(results, turn, call)
            step()
        for name in arguments.datasets:
            runs = runs_of(name, arguments)
            if any(is_left(results, run) for run in runs):
                measure_table(name, runs, arguments.data, results, workers, call, step)
            else:
                for _ in runs:
                    step()


def measure_table(
    name: str,
    runs: list[Run],
    data: Path | None,
    results: Results,
    workers: Workers,
    call: dict[str, Any],
    step: Callable[[], None],
) -> None:
    """Do what is not done yet of one table."""
    # Beside the results: not every folder for temporary files has room for a table.
    with TemporaryDirectory(dir=results.path.parent) as folder:
        size = write_table(name, data, Path(folder))
        for run in runs:
            if is_left(results, run):
                results.add(run, {**size, **call, **ask(workers, run, folder)})
            step()


def runs_of(name: str, arguments: argparse.Namespace) -> list[Run]:
    """All runs on one table: turns of all forests, then memory."""
    forests = list(line_up(name, arguments.forests, arguments.n_jobs))
    turns = [
        Run(name, forest, n_jobs, "time", turn)
        for turn in range(arguments.repeats)
        for forest, n_jobs in forests
    ]
    return turns + [
        Run(name, forest, n_jobs, "memory", 0)
        for forest, n_jobs in forests
        if n_jobs == arguments.n_jobs
    ]


def ask(workers: Workers, run: Run, folder: str) -> dict[str, Any]:
    """Have it measured; return what came out, or why nothing did."""
    task = {"forest": run.forest, "table": folder, "n_jobs": run.n_jobs}
    try:
        if run.what == "time":
            environment = FORESTS[run.forest].environment
            return workers.ask(environment, do="time", **task)
        return workers.ask_alone(**task)
    except WorkerError as error:
        if FORESTS[run.forest].is_ours:
            raise  # to be mended, not to be measured
        return {"error": str(error).strip().splitlines()[-1][:200]}


def measure_import(results: Results, turn: int, call: dict[str, Any]) -> None:
    """Import scikit-learn's forests, then ours, in a fresh process."""
    ours = Run(NO_DATA, "mrf", 1, "import", turn)
    theirs = ours._replace(forest="random-forest")
    if ours in results.done:
        return
    code = (
        "from time import perf_counter as now; start = now(); import sklearn.ensemble; "
        "middle = now(); from mrforest import MultinomialForestClassifier; "
        "print(middle - start, now() - middle)"
    )
    command = [sys.executable, "-P", "-c", code]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for run, seconds in zip((theirs, ours), map(float, told.split()), strict=True):
        results.add(run, {"import_seconds": seconds, **call})


def describe_machine() -> str:
    """Tell what the numbers depend on, but not the name of the machine."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.split(":")[1].strip() for line in lines if "model name" in line]
    cpu = models[0] if models else platform.machine()
    return (
        f"{cpu}, {os.cpu_count()} cores, {platform.system()}; "
        f"Python {platform.python_version()}"
    )


def choose(frame: pd.DataFrame, arguments: argparse.Namespace) -> pd.DataFrame:
    """Lines of the datasets, forests and threads that were asked for."""
    return frame[
        frame["dataset"].isin([*arguments.datasets, NO_DATA])
        & frame["forest"].isin(arguments.forests)
        & frame["n_jobs"].isin([1, arguments.n_jobs])
        & ((frame["turn"] < arguments.repeats) | (frame["what"] == "import"))
    ]


def main() -> None:
    """Measure, then write tables and figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("MRFOREST_DATA"), type=Path)
    parser.add_argument("--output", type=Path, default=Path("build/speed/runs.csv"))
    parser.add_argument("--datasets", nargs="+", choices=TABLES, metavar="NAME")
    parser.add_argument(
        "--forests", nargs="+", choices=FORESTS, default=list(FORESTS), metavar="NAME"
    )
    parser.add_argument("--repeats", type=int, help="turns of each forest at most")
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="three small sets")
    parser.add_argument(
        "--report", action="store_true", help="fit nothing, show what is there"
    )
    parser.add_argument("--publish", action="store_true", help="fill in README.md")
    arguments = parser.parse_args()
    # fastforest has no parameter for it.
    os.environ["RAYON_NUM_THREADS"] = str(arguments.n_jobs)
    defaults = {"datasets": list(TABLES), "repeats": 3}
    for name, value in (QUICK if arguments.quick else defaults).items():
        if getattr(arguments, name) is None:
            setattr(arguments, name, value)

    results = Results(arguments.output, Run, MEASURED)
    try:
        if not arguments.report:
            measure(arguments, results)
    except KeyboardInterrupt:
        parser.exit(130, f"stopped; {arguments.output} has what was done\n")

    chosen = choose(results.frame(), arguments)
    if not (chosen["what"] == "time").any():
        parser.exit(1, f"{arguments.output} has nothing of what was asked for\n")
    report = markdown(chosen, arguments.n_jobs)
    print(report)
    figures = [arguments.output.with_suffix(".png")]
    if arguments.publish:
        fill_in(HERE / "README.md", "speed", report)
        figures.append(HERE / "speed.png")
    with whole_file(arguments.output.with_suffix(".md")) as unfinished:
        unfinished.write_text(report, encoding="utf-8")
    for path in figures:
        with whole_file(path) as unfinished:
            draw(chosen, arguments.n_jobs).savefig(unfinished)


if __name__ == "__main__":
    main()
