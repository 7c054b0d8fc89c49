# SPDX-License-Identifier: BSD-3-Clause
"""Accuracy and AUC against epsilon: the private forest beside the tools on the index.

    python benchmarks/privacy.py --data FOLDER [--quick] [--baselines FILE.csv]

FOLDER holds datasets, NAME.csv.gz each. Every tool is fitted with one thread in a
process of its own, peers in environments that are made under build/peers; on each fold
the tools take turns. Every result is a line of the file --output as soon as it is
there: stop the program anywhere, start it again, nothing is done twice. (So take
another file, or delete lines, when a tool has changed.) The tables and the figure are
written beside that file, and with --publish also into README.md and privacy.png beside
this one; with --report without any fit. README.md says what is measured.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pandas as pd
from privacy_peers import TOOLS, worker_of
from privacy_report import draw, markdown
from privacy_tables import DATASETS, N_FOLDS, read_table
from record import Results, fill_in

from mrforest._progress import progress_bar
from mrforest.experiments import whole_file

HERE = Path(__file__).parent
EPSILONS = [0.1, 0.5, 1.0, 2.0, 4.0, 8.0]
QUICK = {"datasets": ["wdbc", "banknote", "car"], "epsilons": [0.1, 1.0], "shuffles": 1}


class Run(NamedTuple):
    """One fit: on all folds but one, of one shuffle of the rows."""

    dataset: str
    shuffle: int
    fold: int
    epsilon: float  # inf: not private
    tool: str


MEASURED = (
    "n_rows",
    "n_classes",
    "accuracy",
    "auc",
    "fit_seconds",
    "predict_seconds",
    "version",
    "started",  # when the program was: times of one call compare
)


def runs_of(
    dataset: str, shuffle: int, epsilons: list[float], tools: list[str], n_classes: int
) -> Iterator[Run]:
    """All runs on one shuffle of a dataset; on each fold the tools take turns."""
    tools = [tool for tool in tools if n_classes == 2 or TOOLS[tool].takes_many_classes]
    private = [tool for tool in tools if TOOLS[tool].is_private]
    for fold in range(N_FOLDS):
        for tool in tools:
            if tool not in private:
                yield Run(dataset, shuffle, fold, math.inf, tool)
        for epsilon, tool in product(epsilons, private):
            yield Run(dataset, shuffle, fold, epsilon, tool)


def measure(arguments: argparse.Namespace, results: Results) -> None:
    """Do what is not done yet."""
    started = datetime.now(UTC).isoformat(timespec="seconds")
    tables = {name: read_table(arguments.data, name) for name in arguments.datasets}
    wanted = [
        run
        for shuffle, (name, table) in product(range(arguments.shuffles), tables.items())
        for run in runs_of(
            name, shuffle, arguments.epsilons, arguments.tools, table.n_classes
        )
    ]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        paths = {name: folder / f"{name}.npz" for name in tables}
        for name, table in tables.items():
            table.write(paths[name], arguments.shuffles)
        left = {run.tool for run in wanted if run not in results.done}
        workers = {tool: stack.enter_context(worker_of(tool)) for tool in sorted(left)}
        step = stack.enter_context(progress_bar("fitting", len(wanted), visible=True))
        for run in wanted:
            if run not in results.done:
                answer = workers[run.tool].ask(
                    table=str(paths[run.dataset]),
                    shuffle=run.shuffle,
                    fold=run.fold,
                    epsilon=run.epsilon,
                )
                table = tables[run.dataset]
                answer |= {"n_rows": len(table.y), "n_classes": table.n_classes}
                results.add(run, {**answer, "started": started})
            step()


def main() -> None:
    """Measure, then write tables and figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("MRFOREST_DATA"), type=Path)
    parser.add_argument("--output", type=Path, default=Path("build/privacy/runs.csv"))
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, metavar="NAME")
    parser.add_argument("--epsilons", nargs="+", type=float)
    parser.add_argument("--shuffles", type=int)
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=list(TOOLS))
    parser.add_argument("--quick", action="store_true", help="three small sets, two ε")
    parser.add_argument("--baselines", type=Path, help="CSV with earlier figures")
    parser.add_argument(
        "--report", action="store_true", help="fit nothing, show what is there"
    )
    parser.add_argument("--publish", action="store_true", help="fill in README.md")
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("give --data FOLDER or set MRFOREST_DATA")
    defaults = {"datasets": DATASETS, "epsilons": EPSILONS, "shuffles": 3}
    for name, value in (QUICK if arguments.quick else defaults).items():
        if getattr(arguments, name) is None:
            setattr(arguments, name, value)

    results = Results(arguments.output, Run, MEASURED)
    try:
        if not arguments.report:
            measure(arguments, results)
    except KeyboardInterrupt:
        parser.exit(130, f"stopped; {arguments.output} has what was done\n")

    frame = results.frame()
    chosen = frame[
        frame["dataset"].isin(arguments.datasets)
        & frame["tool"].isin(arguments.tools)
        & frame["epsilon"].isin([*arguments.epsilons, math.inf])
        & (frame["shuffle"] < arguments.shuffles)
    ]
    earlier = arguments.baselines and pd.read_csv(arguments.baselines)
    report = markdown(chosen, earlier)
    print(report)
    page = arguments.output.with_suffix(".md")
    figures = [arguments.output.with_suffix(".png")]
    if arguments.publish:
        link = "![Accuracy and AUC against ε](privacy.png)"
        fill_in(HERE / "README.md", "privacy", f"{report}\n\n{link}")
        figures.append(HERE / "privacy.png")
    with whole_file(page) as unfinished:
        unfinished.write_text(report, encoding="utf-8")
    for figure in figures:
        with whole_file(figure) as unfinished:
            draw(chosen).savefig(unfinished)


if __name__ == "__main__":
    main()
