# SPDX-License-Identifier: BSD-3-Clause
"""Accuracy of the paper's forests on its 22 datasets, beside the printed.

    python benchmarks/accuracy.py --data FOLDER --results FILE.csv [--repeats 1]

FOLDER holds one ``name.csv.gz`` a dataset (last column ``target``) and a
``manifest.json`` that tells which columns are categorical. Each repeat is a ten-fold
cross-validation with its own shuffle, by the paper's protocol: 100 trees, k = 5, Gini,
every midpoint a cut; all forests under both leaf rules. Every result is a line of FILE
as soon as it is there: stop the program anywhere, start it again, nothing is done
twice.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import KFold, cross_val_score

from mrforest import (
    BernoulliForestClassifier,
    BreimanForestClassifier,
    ComparisonForestClassifier,
    DenilForestClassifier,
    MultinomialForestClassifier,
)
from mrforest._progress import progress_bar

COLUMNS = ["Denil14", "BRF", "CompRF-C", "MRF", "CompRF-I", "Breiman"]
# Table 1 of the paper, in per cent.
PRINTED = {
    "zoo": (80.00, 85.00, 87.69, 90.64, 93.39, 87.38),
    "hayes-roth": (50.93, 45.35, 45.82, 79.46, 46.04, 77.58),
    "echocardiogram": (78.46, 88.46, 89.63, 91.72, 88.09, 90.64),
    "hepatitis": (62.17, 63.46, 62.50, 64.32, 58.33, 64.05),
    "wdbc": (92.86, 95.36, 92.39, 95.78, 94.26, 96.01),
    "transfusion": (72.97, 77.70, 76.53, 78.53, 75.28, 79.52),
    "vehicle": (68.81, 71.67, 59.68, 73.54, 64.86, 74.70),
    "mammographic": (79.17, 81.25, 76.57, 81.86, 78.72, 82.31),
    "messidor": (65.65, 65.21, 65.62, 67.14, 66.14, 68.35),
    "website-phishing": (85.29, 85.58, 85.98, 89.80, 88.34, 88.12),
    "banknote": (98.29, 98.32, 99.36, 99.49, 99.02, 99.12),
    "cmc": (53.60, 54.63, 53.93, 56.12, 54.61, 55.11),
    "yeast": (58.80, 58.38, 14.15, 61.03, 10.66, 61.71),
    "car": (88.02, 93.43, 79.07, 96.30, 92.17, 97.42),
    "image-segmentation": (95.45, 96.06, 93.99, 97.47, 96.16, 97.71),
    "chess-kr-vs-kp": (61.32, 97.12, 94.77, 99.25, 97.49, 98.72),
    "ads": (85.99, 94.43, 96.05, 96.76, 96.44, 97.59),
    "wilt": (97.16, 97.25, 97.23, 98.56, 98.27, 98.10),
    "wine-quality-white": (57.31, 56.68, 53.22, 60.56, 55.06, 64.78),
    "phishing-websites": (94.35, 94.47, 95.44, 96.07, 96.45, 95.56),
    "nursery": (93.42, 93.52, 91.01, 99.28, 95.67, 96.89),
    "connect-4": (66.19, 76.75, 72.82, 81.46, 76.27, 80.05),
}
EXACT = {"max_bins": "exact"}
FORESTS: dict[str, Callable[..., Any]] = {
    "Denil14": lambda **o: DenilForestClassifier(**EXACT, **o),
    "BRF": lambda **o: BernoulliForestClassifier(**EXACT, **o),
    "CompRF-C": ComparisonForestClassifier,
    "MRF": lambda **o: MultinomialForestClassifier(**EXACT, **o),
    "CompRF-I": lambda **o: ComparisonForestClassifier(supervised=True, **o),
    "Breiman": lambda **o: BreimanForestClassifier(**EXACT, min_samples_leaf=5, **o),
}


class Run(NamedTuple):
    """One ten-fold cross-validation."""

    dataset: str
    forest: str
    leaf_rule: str  # "codes": categories as numbers, as scikit-learn has them
    repeat: int


def load(folder: Path, name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Features, with categories as such, and labels."""
    manifest = json.loads((folder / "manifest.json").read_text())
    entry = next(e for e in manifest["datasets"] if e["name"] == name)
    frame = pd.read_csv(folder / entry["file"])
    frame = frame[frame["target"].notna()].drop(columns=entry["suggested_drop"])
    categorical = {c for c, kind in entry["kinds"].items() if kind == "categorical"}
    target = "target"
    if name == "hepatitis":
        # The printed accuracy is that of predicting the last raw column, HISTOLOGY.
        target = next(c for c in frame.columns if c.lower() == "histology")
        categorical.add("target")
    for column in categorical & set(frame.columns) - {target}:
        frame[column] = frame[column].astype("category")
    return frame.drop(columns=target), frame[target].astype(str)


def as_numbers(X: pd.DataFrame) -> np.ndarray:
    """Categories as their codes, missing values as NaN."""
    columns = {
        name: column.cat.codes.where(column.notna())
        if isinstance(column.dtype, pd.CategoricalDtype)
        else column
        for name, column in X.items()
    }
    return pd.DataFrame(columns).to_numpy(dtype=float)


def runs(datasets: list[str], forests: list[str], repeats: int) -> Iterator[Run]:
    """All that is to be done, repeat after repeat."""
    for repeat, dataset in product(range(repeats), datasets):
        for forest, rule in product(forests, ("stop", "floor")):
            yield Run(dataset, forest, rule, repeat)
        if "Breiman" in forests:
            yield Run(dataset, "Breiman", "codes", repeat)
            yield Run(dataset, "scikit-learn", "codes", repeat)


def accuracy_of(run: Run, X: pd.DataFrame, y: pd.Series, n_jobs: int) -> float:
    """Mean accuracy of the ten folds, in per cent."""
    options = {"random_state": run.repeat, "n_jobs": n_jobs}
    if run.forest == "scikit-learn":
        forest = RandomForestClassifier(min_samples_leaf=5, **options)
    elif run.leaf_rule == "codes":
        forest = FORESTS[run.forest](**options)
    else:
        forest = FORESTS[run.forest](leaf_rule=run.leaf_rule, **options)
    folds = KFold(10, shuffle=True, random_state=run.repeat)
    rows = as_numbers(X) if run.leaf_rule == "codes" else X
    return 100 * float(cross_val_score(forest, rows, y, cv=folds).mean())


def read_results(file: Path) -> pd.DataFrame:
    """Read what is there already."""
    if file.exists():
        return pd.read_csv(file)
    return pd.DataFrame(columns=[*Run._fields, "accuracy", "seconds"])


def show(results: pd.DataFrame) -> None:
    """Print the tables."""
    means = results.groupby(["dataset", "forest", "leaf_rule"])["accuracy"].mean()
    table = means.unstack(["forest", "leaf_rule"])
    names = [name for name in PRINTED if name in table.index]
    for rule in ("stop", "floor"):
        print(f'\nleaf_rule="{rule}": ours, and ours less the printed\n')
        print("| dataset | " + " | ".join(COLUMNS) + " |")
        print("|---|" + "---:|" * len(COLUMNS))
        gaps: dict[str, list[float]] = {column: [] for column in COLUMNS}
        for name in names:
            cells = []
            for column, printed in zip(COLUMNS, PRINTED[name], strict=True):
                ours = table.get((column, rule), pd.Series(dtype=float)).get(name)
                if ours is None or np.isnan(ours):
                    cells.append("")
                    continue
                gaps[column].append(ours - printed)
                cells.append(f"{ours:.2f} ({ours - printed:+.2f})")
            print(f"| {name} | " + " | ".join(cells) + " |")
        for column, gap in gaps.items():
            if gap:
                print(
                    f"{column}: mean difference {np.mean(gap):+.2f}, mean absolute "
                    f"{np.abs(gap).mean():.2f}, largest {np.abs(gap).max():.2f}"
                )
    if ("scikit-learn", "codes") in table:
        pair = table[[("Breiman", "codes"), ("scikit-learn", "codes")]].dropna()
        gap = pair.iloc[:, 0] - pair.iloc[:, 1]
        print("\nBreiman, categories as codes, less scikit-learn at the same settings:")
        print(f"mean {gap.mean():+.2f}, from {gap.min():+.2f} to {gap.max():+.2f}")


def main() -> None:
    """Do what is not done yet, then print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("MRFOREST_DATA"), type=Path)
    parser.add_argument("--results", type=Path, default=Path("accuracy.csv"))
    names = list(PRINTED)
    parser.add_argument("--only", nargs="*", choices=names, default=names)
    parser.add_argument("--forests", nargs="*", choices=COLUMNS, default=COLUMNS)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--n-jobs", type=int, default=-1)
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("give --data FOLDER or set MRFOREST_DATA")

    results = read_results(arguments.results)
    done = {Run(*row) for row in results[list(Run._fields)].itertuples(index=False)}
    wanted = list(runs(arguments.only, arguments.forests, arguments.repeats))
    loaded: tuple[str, Any] = ("", None)
    with progress_bar("cross-validating", len(wanted), visible=True) as step:
        for run in wanted:
            if run not in done:
                if loaded[0] != run.dataset:
                    loaded = (run.dataset, load(arguments.data, run.dataset))
                start = time.perf_counter()
                accuracy = accuracy_of(run, *loaded[1], arguments.n_jobs)
                line = [*run, round(accuracy, 4), time.perf_counter() - start]
                results.loc[len(results)] = line
                with arguments.results.open("a") as file:
                    frame = results.tail(1)
                    frame.to_csv(file, index=False, header=file.tell() == 0)
            step()
    chosen = results["dataset"].isin(arguments.only)
    show(results[chosen & (results["repeat"] < arguments.repeats)])


if __name__ == "__main__":
    main()
