# SPDX-License-Identifier: BSD-3-Clause
"""Time of fit and predict of two builds of the package, in turns.

    python benchmarks/before_after.py BEFORE AFTER --data FOLDER [--tables NAME ...]

BEFORE and AFTER are folders that hold a package mrforest each (`pip install --target`).
Each has a process of its own, and these take turns. What counts is the smallest time
of the processor in several turns, with one thread: it depends little on what else the
machine does. --after-env NAME=VALUE sets environment variables for AFTER alone, so that
BEFORE and AFTER may be one folder. Prints ratios, AFTER divided by BEFORE, as a table
in Markdown.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
from peers_tables import LARGE, TABLES, write_table
from processes import Worker
from record import layout

from mrforest._progress import progress_bar

WORKER = """
import json, sys, time
import numpy as np
import mrforest
forest_of = {
    "default": lambda n: mrforest.ForestClassifier(n, random_state=0, n_jobs=1),
    "MRF": lambda n: mrforest.MultinomialForestClassifier(n, random_state=0, n_jobs=1),
    "Breiman": lambda n: mrforest.BreimanForestClassifier(n, random_state=0, n_jobs=1),
    "Denil": lambda n: mrforest.DenilForestClassifier(n, random_state=0, n_jobs=1),
}
loaded = None
for line in sys.stdin:
    task = json.loads(line)
    if task["folder"] != loaded:
        loaded = task["folder"]
        arrays = [np.load(f"{loaded}/{name}.npy") for name in ("X", "y", "X_test")]
    X, y, X_test = arrays
    forest = forest_of[task["forest"]](task["n_trees"])
    start = time.process_time()
    forest.fit(X, y)
    fitted = time.process_time()
    forest.predict(X_test)
    first = time.process_time()
    forest.predict(X_test)
    end = time.process_time()
    times = {"fit": fitted - start, "first": first - fitted, "predict": end - first}
    print(json.dumps(times), flush=True)
"""
# Enough for a stable time, and not too many for a large table
TREES = {"covertype": 4, LARGE: 1, "synthetic-5-classes": 20}


def compare(
    before: Path,
    after: Path,
    environment: Mapping[str, str],
    *,
    data: Path | None,
    tables: Sequence[str],
    forests: Sequence[str],
    turns: int,
) -> list[dict[str, Any]]:
    """Return a line for each table and forest: ratios of times, after to before.

    Parameters
    ----------
    before, after : Path
        Folders that hold a package each.
    environment : mapping
        Variables for `after` alone.
    data : Path or None
        Where the datasets are.
    tables, forests : sequence of str
    turns : int
        The smallest time of so many counts.
    """
    command = [sys.executable, "-c", WORKER]
    lines = []
    with (
        Worker("before", command, {"PYTHONPATH": str(before)}) as one,
        Worker("after", command, {"PYTHONPATH": str(after), **environment}) as other,
        progress_bar(
            " ".join(environment.values()) or "measuring",
            len(tables) * len(forests) * turns,
            visible=True,
        ) as step,
    ):
        for table in tables:
            with TemporaryDirectory() as folder:
                write_table(table, data, Path(folder))
                for forest in forests:
                    task = {"folder": folder, "forest": forest}
                    task["n_trees"] = TREES.get(table, 40)
                    times = []
                    for _ in range(turns):
                        times.append({"build": "before"} | one.ask(**task))
                        times.append({"build": "after"} | other.ask(**task))
                        step()
                    best = pd.DataFrame(times).groupby("build").min()
                    ratio = best.loc["after"] / best.loc["before"]
                    line = {"table": TABLES[table].label, "forest": forest}
                    line["seconds of fit"] = round(best.loc["before", "fit"], 3)
                    lines.append(line | ratio.round(3).to_dict())
    return lines


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--data", type=Path, help="folder of the datasets")
    parser.add_argument("--tables", nargs="+", default=list(TABLES)[:10])
    parser.add_argument("--forests", nargs="+", default=["default", "MRF", "Breiman"])
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--after-env", nargs="*", default=[], metavar="NAME=VALUE")
    arguments = parser.parse_args()
    lines = compare(
        arguments.before,
        arguments.after,
        dict(pair.split("=", 1) for pair in arguments.after_env),
        data=arguments.data,
        tables=arguments.tables,
        forests=arguments.forests,
        turns=arguments.turns,
    )
    cells = [[str(cell) for cell in line.values()] for line in lines]
    print(layout(list(lines[0]), cells))


if __name__ == "__main__":
    main()
