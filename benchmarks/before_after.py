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
from pathlib import Path
from tempfile import TemporaryDirectory

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
TREES = {"covertype": 4, LARGE: 2, "synthetic-5-classes": 20}


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
    more = dict(pair.split("=", 1) for pair in arguments.after_env)
    command = [sys.executable, "-c", WORKER]
    workers = {
        name: Worker(name, command, {"PYTHONPATH": str(folder)} | environment)
        for name, folder, environment in (
            ("before", arguments.before, {}),
            ("after", arguments.after, more),
        )
    }
    lines = []
    total = len(arguments.tables) * len(arguments.forests) * arguments.turns
    with progress_bar("measuring", total, visible=True) as step:
        for table in arguments.tables:
            with TemporaryDirectory() as folder:
                write_table(table, arguments.data, Path(folder))
                for forest in arguments.forests:
                    task = {"folder": folder, "forest": forest}
                    task["n_trees"] = TREES.get(table, 40)
                    times = []
                    for _ in range(arguments.turns):
                        for name, worker in workers.items():
                            times.append({"build": name} | worker.ask(**task))
                        step()
                    best = pd.DataFrame(times).groupby("build").min()
                    ratio = best.loc["after"] / best.loc["before"]
                    line = {"table": TABLES[table].label, "forest": forest}
                    line["seconds of fit"] = round(best.loc["before", "fit"], 3)
                    lines.append(line | ratio.round(3).to_dict())
    cells = [[str(cell) for cell in line.values()] for line in lines]
    print(layout(list(lines[0]), cells))


if __name__ == "__main__":
    main()
