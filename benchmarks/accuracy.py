# SPDX-License-Identifier: BSD-3-Clause
"""Accuracy of our default forests beside the forests that people use.

    python benchmarks/accuracy.py --data FOLDER [--parts small large regression]

FOLDER holds datasets, NAME.csv.gz each. Three parts: the paper's 22 datasets, large
tables, and regressions. Peers are installed under build/peers. Every fitted fold is a
line of the file --output as soon as it is there: stop the program anywhere, start it
again, nothing is done twice. (So take another file, or delete lines, when a forest has
changed or one that failed shall be tried again.) Tables and figure are written beside
that file, and with --publish also into docs/results and README.md, where parts that
were not asked for stay as they are; with --report without any fit. README.md says what
is measured.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from accuracy_figure import draw
from accuracy_forests import ENVIRONMENT, ESTIMATORS, FORESTS, WORKER
from accuracy_metrics import class_scores, pack, value_scores
from accuracy_parts import PARTS, Part
from accuracy_report import in_order, page, summary, values_of
from accuracy_tables import Table
from peers_forests import Workers
from processes import WorkerError
from record import Results, fill_in

from mrforest._progress import Step, progress_bar
from mrforest.experiments import whole_file
from mrforest.experiments.datasets import DatasetError
from mrforest.experiments.probability_scores import top_labels

HERE = Path(__file__).parent
PUBLISHED = HERE.parent / "docs/results"
# Cells of a table from which on more than one thread pays for scikit-learn's forests.
MANY_CELLS = 20_000


class Run(NamedTuple):
    """One fit."""

    part: str
    dataset: str
    repetition: int
    fold: int
    forest: str


MEASURED = (
    "n_rows",
    "n_features",
    "n_classes",
    "accuracy",
    "log_loss",
    "brier",
    "r2",
    "rmse",
    "confidences",  # of the tested rows, packed, for the calibration error of all folds
    "fit_seconds",
    "predict_seconds",
    "version",
    "error",
    "started",  # when the program was
)


def runs_of(part: str, name: str, arguments: argparse.Namespace) -> Iterator[Run]:
    """All runs on one table; the forests of a fold take turns."""
    problem = PARTS[part].problems[name]
    repetitions = 1 if arguments.quick else problem.repetitions
    for repetition, fold, forest in product(
        range(repetitions), range(problem.n_folds), arguments.forests
    ):
        if forest in PARTS[part].forests:
            yield Run(part, name, repetition, fold, forest)


def runs_by_table(part: str, arguments: argparse.Namespace) -> dict[str, list[Run]]:
    """All runs of a part."""
    problems = PARTS[part].problems
    names = list(PARTS[part].quick if arguments.quick else problems)
    if arguments.datasets:
        names = [name for name in problems if name in arguments.datasets]
    return {name: list(runs_of(part, name, arguments)) for name in names}


def measure(part: str, arguments: argparse.Namespace, results: Results) -> None:
    """Do what is not done yet of a part."""
    tables = runs_by_table(part, arguments)
    lines = results.frame()
    failed = lines[(lines["part"] == part) & lines["error"].notna()]
    given_up = set(zip(failed["dataset"], failed["forest"], strict=True))
    total = sum(map(len, tables.values()))
    with Workers(WORKER) as workers, progress_bar(part, total, visible=True) as step:
        for name, runs in tables.items():
            step(0, note=name)
            left = [
                run
                for run in runs
                if run not in results.done and (name, run.forest) not in given_up
            ]
            step(len(runs) - len(left))
            if left:
                table = PARTS[part].problems[name].read(arguments.data)
                measure_table(table, left, arguments.n_jobs, results, workers, step)


def measure_table(
    table: Table,
    runs: list[Run],
    n_jobs: int,
    results: Results,
    workers: Workers,
    step: Step,
) -> None:
    """Fit what is left of one table."""
    started = datetime.now(UTC).isoformat(timespec="seconds")
    part = PARTS[runs[0].part]
    always = {**table.size(part.is_regression), "started": started}
    n_jobs = n_jobs if table.X.size >= MANY_CELLS else 1
    failed = set()
    # Beside the results: not every folder for temporary files has room for a table.
    with TemporaryDirectory(dir=results.path.parent) as folder:
        table.write(Path(folder))
        for run in runs:
            if run.forest not in failed:
                found = ask(workers, run, part, Path(folder), n_jobs)
                if "error" in found:
                    failed.add(run.forest)
                else:
                    found |= judge(run, part, table, Path(folder))
                results.add(run, {**always, **found})
            step()


def ask(
    workers: Workers, run: Run, part: Part, folder: Path, n_jobs: int
) -> dict[str, Any]:
    """Have a forest fitted; return what it took, or why it failed."""
    # Another seed for each fold, the same for all forests.
    seed = part.problems[run.dataset].n_folds * run.repetition + run.fold
    task = ESTIMATORS[run.forest].task(part.is_regression, seed, n_jobs)
    rows = {"table": str(folder), "repetition": run.repetition, "fold": run.fold}
    try:
        return workers.ask(ENVIRONMENT, **rows, **task)
    except WorkerError as error:
        if FORESTS[run.forest].is_ours:
            raise  # to be mended, not to be measured
        return {"error": str(error).strip().splitlines()[-1][:200]}


def judge(run: Run, part: Part, table: Table, folder: Path) -> dict[str, Any]:
    """Compare what a forest predicted with the truth."""
    is_tested = table.folds[run.repetition] == run.fold
    truth = table.y[is_tested]
    with np.load(folder / "predicted.npz") as file:
        answers = dict(file)
    if part.is_regression:
        return dict(value_scores(truth, answers["predicted"]))
    probabilities = answers["probabilities"]
    n_train = len(table.y) - len(truth)
    found: dict[str, Any] = class_scores(
        truth, answers["predicted"], probabilities, n_train
    )
    if "ece" in part.measures:
        found["confidences"] = pack(*top_labels(truth, probabilities))
    return found


# ---- command line --------------------------------------------------------------------


def positive(text: str) -> int:
    """Read a number of threads."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number from 1 on")
    return int(text)


def read_arguments() -> tuple[argparse.ArgumentParser, argparse.Namespace]:
    """Read the command line, and refuse what makes no sense."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("MRFOREST_DATA"), type=Path)
    parser.add_argument("--output", type=Path, default=Path("build/accuracy/runs.csv"))
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    names = [name for part in PARTS.values() for name in part.problems]
    parser.add_argument("--datasets", nargs="+", choices=names, metavar="NAME")
    parser.add_argument(
        "--forests", nargs="+", choices=FORESTS, default=list(FORESTS), metavar="NAME"
    )
    parser.add_argument("--n-jobs", type=positive, default=2, help="threads")
    parser.add_argument(
        "--quick", action="store_true", help="one shuffle of a few small tables"
    )
    parser.add_argument(
        "--report", action="store_true", help="fit nothing, show what is there"
    )
    parser.add_argument(
        "--publish", action="store_true", help="fill in docs/results and README.md"
    )
    arguments = parser.parse_args()
    if arguments.data and not arguments.data.is_dir():
        parser.error(f"--data {arguments.data} is not a folder")
    known = {name for part in arguments.parts for name in PARTS[part].problems}
    if unknown := sorted(set(arguments.datasets or ()) - known):
        parser.error(
            f"{', '.join(unknown)}: not in the parts {', '.join(arguments.parts)}"
        )
    is_whole = set(arguments.forests) == set(FORESTS)
    if arguments.publish and (arguments.quick or arguments.datasets or not is_whole):
        parser.error(
            "--publish replaces all tables of a part: call it without --quick, "
            "--datasets and --forests (with --report, if all is done)"
        )
    return parser, arguments


def choose(results: Results, arguments: argparse.Namespace) -> pd.DataFrame:
    """Lines of what was asked for."""
    wanted = {
        run
        for part in arguments.parts
        for runs in runs_by_table(part, arguments).values()
        for run in runs
    }
    frame = results.frame()
    keys = zip(*(frame[name] for name in Run._fields), strict=True)
    return frame.loc[[Run(*key) in wanted for key in keys]]


def write(values: pd.DataFrame, folder: Path, name: str) -> None:
    """Write the numbers and the figure."""
    with whole_file(folder / f"{name}.csv") as unfinished:
        values.to_csv(unfinished, index=False, float_format="%.6g", lineterminator="\n")
    with whole_file(folder / f"{name}.png") as unfinished:
        draw(values).savefig(unfinished)


def published(values: pd.DataFrame) -> pd.DataFrame:
    """Return these values, and those of other parts that were published before."""
    path = PUBLISHED / "accuracy.csv"
    if not path.exists():
        return values
    before = pd.read_csv(path)
    others = before[~before["part"].isin(values["part"])]
    return in_order(pd.concat([values, others], ignore_index=True))


def main() -> None:
    """Fit, then write tables and figure."""
    parser, arguments = read_arguments()
    # fastforest has no parameter for it.
    os.environ["RAYON_NUM_THREADS"] = str(arguments.n_jobs)
    try:
        results = Results(arguments.output, Run, MEASURED)
    except (OSError, ValueError) as error:
        parser.error(f"--output: {error}")
    try:
        for part in [] if arguments.report else arguments.parts:
            measure(part, arguments, results)
    except KeyboardInterrupt:
        parser.exit(130, f"stopped; {arguments.output} has what was done\n")
    except (DatasetError, WorkerError) as error:
        parser.exit(1, f"{error}\n")

    values = values_of(choose(results, arguments))
    if values.empty:
        parser.exit(1, f"{arguments.output} has nothing of what was asked for\n")
    means = f"{arguments.output.stem}-means"
    write(values, arguments.output.parent, means)
    with whole_file(arguments.output.with_name(f"{means}.md")) as unfinished:
        unfinished.write_text(page(values, f"{means}.png"), encoding="utf-8")
    if arguments.publish:
        values = published(values)
        write(values, PUBLISHED, "accuracy")
        fill_in(PUBLISHED / "accuracy.md", "accuracy", page(values, "accuracy.png"))
        fill_in(HERE / "README.md", "accuracy", summary(values))
    print(summary(values))


if __name__ == "__main__":
    main()
