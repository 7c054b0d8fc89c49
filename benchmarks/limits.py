# SPDX-License-Identifier: BSD-3-Clause
"""What a multinomial tree has to do at the least, and how fast that is done.

    python benchmarks/limits.py --data FOLDER [--datasets NAME ...]

Counts, for a few trees of a fitted forest, the smallest steps that their growth needs
whoever programs it: cells of histograms that are incremented, points of lists that are
looked at, rows that are parted. A step is a load or two, an addition and a store, and
a core does about one of these in a cycle. The same is counted for the trees that
LightGBM grows by default, so one sees how much less they ask for. Only tables whose
nodes are no masks, see src/mrforest/_core/score/bit_matrix.pxd.
"""

from __future__ import annotations

import argparse
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from peers_forests import ENVIRONMENTS
from peers_tables import TABLES, write_table
from processes import python_with
from record import fill_in, layout

from mrforest import MultinomialForestClassifier
from mrforest._progress import progress_bar

HERE = Path(__file__).parent
BLOCK_POINTS = 256  # as in block.pxd: smaller nodes have lists instead of histograms
TREES = 5
MASKED = {"nursery", "phishing-websites", "ads", "connect-4"}

LIGHTGBM = """
import sys, numpy as np, lightgbm
X, y = (np.load(f"{sys.argv[1]}/{name}.npy") for name in ("X", "y"))
forest = lightgbm.LGBMClassifier(
    boosting_type="rf", bagging_freq=1, bagging_fraction=0.632,
    n_estimators=5, n_jobs=1, random_state=0, verbose=-1).fit(X, y)
trees = forest.booster_.trees_to_dataframe()
counted = 0
for _, tree in trees.groupby("tree_index"):
    size = tree.set_index("node_index")["count"]
    inner = tree[tree["left_child"].notna()]
    left, right = size[inner["left_child"]], size[inner["right_child"]]
    counted += size.iloc[0] + np.minimum(left.to_numpy(), right.to_numpy()).sum()
print(counted * X.shape[1] / 5)
"""


@dataclass
class Work:
    """Smallest steps of a tree, in millions."""

    counted: float  # cells of histograms, incremented
    scanned: float  # cells of histograms, added up for scores
    listed: float  # points that are put into lists
    looked_at: float  # points of lists of a node: once for scores, once to be parted
    parted: float  # rows that are sent left or right


def work_of(
    forest: MultinomialForestClassifier, X: NDArray[np.float64], tree: int
) -> Work:
    """Count the steps of one tree."""
    structure = sizes(forest, X[forest.structure_samples(tree)], tree)
    estimation = sizes(forest, X[forest.estimation_samples(tree)], tree)
    nodes = forest._forest.nodes[slice(*forest._forest.tree_start[tree : tree + 2])]
    inner = np.flatnonzero(nodes["child"] >= 0)
    left = nodes["child"][inner]
    n, smaller = structure[inner], np.minimum(structure[left], structure[left + 1])
    is_small = n <= BLOCK_POINTS
    enters = np.zeros(len(nodes), dtype=bool)
    enters[0] = True
    enters[left[~is_small]] = enters[left[~is_small] + 1] = True
    begins = enters[inner] & is_small
    n_features = X.shape[1]
    n_bins = sum(min(len(np.unique(column)), 255) for column in X.T)
    n_cells = n_bins * forest.n_classes_
    millions = 1e-6
    return Work(
        counted=(structure[0] + smaller[~is_small].sum()) * n_features * millions,
        scanned=float(np.count_nonzero(~is_small)) * n_cells * millions,
        listed=n[begins].sum() * n_features * millions,
        looked_at=2 * n[is_small].sum() * n_features * millions,
        parted=(estimation[inner].sum() + n[~is_small].sum()) * millions,
    )


def sizes(
    forest: MultinomialForestClassifier, X: NDArray[np.float64], tree: int
) -> NDArray[np.int64]:
    """Rows that pass each node of a tree."""
    nodes = forest._forest.nodes[slice(*forest._forest.tree_start[tree : tree + 2])]
    found = np.bincount(forest.apply(X)[:, tree], minlength=len(nodes))
    # Children come after their parents.
    for node in range(len(nodes) - 1, -1, -1):
        if nodes["child"][node] >= 0:
            found[node] = found[nodes["child"][node] : nodes["child"][node] + 2].sum()
    return found


def measure(name: str, data: Path | None) -> dict[str, object]:
    """One line of the table."""
    with TemporaryDirectory() as folder:
        write_table(name, data, Path(folder))
        X, y = (np.load(Path(folder) / f"{key}.npy") for key in ("X", "y"))
        python = python_with("forests", ENVIRONMENTS["forests"])
        told = subprocess.run(
            [python, "-P", "-c", LIGHTGBM, folder],
            check=True,
            capture_output=True,
            text=True,
        )
    best = np.inf
    for _ in range(3):
        start = process_time()
        MultinomialForestClassifier(1, random_state=0).fit(X, y)
        middle = process_time()
        forest = MultinomialForestClassifier(1 + TREES, random_state=0).fit(X, y)
        best = min(best, process_time() - middle - (middle - start))
    every = [vars(work_of(forest, X, tree)) for tree in range(TREES)]
    work = pd.DataFrame(every).mean()
    return {
        "table": TABLES[name].label,
        **work.round(2).to_dict(),
        "all": round(work.sum(), 2),
        "ms a tree": round(best / TREES * 1e3, 2),
        "ns a step": round(best / TREES * 1e9 / (work.sum() * 1e6), 2),
        "LightGBM: counted": round(float(told.stdout) * 1e-6, 2),
    }


def main() -> None:
    """Measure, show, and publish if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("MRFOREST_DATA"), type=Path)
    names = [name for name in TABLES if name not in MASKED]
    parser.add_argument("--datasets", nargs="+", choices=names, default=names)
    parser.add_argument("--publish", action="store_true", help="fill in README.md")
    arguments = parser.parse_args()
    lines = []
    with progress_bar("measuring", len(arguments.datasets), visible=True) as step:
        for name in arguments.datasets:
            lines.append(measure(name, arguments.data))
            step()
    cells = [[str(cell) for cell in line.values()] for line in lines]
    report = layout(list(lines[0]), cells)
    print(report)
    if arguments.publish:
        fill_in(HERE / "README.md", "limits", report)


if __name__ == "__main__":
    main()
