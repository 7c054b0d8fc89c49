# SPDX-License-Identifier: BSD-3-Clause
"""All forests beside each other and beside scikit-learn's: time of fit, and R².

    python benchmarks/forests.py --data FOLDER

FOLDER holds datasets, NAME.csv.gz each. Three tables: Breiman's forest beside
scikit-learn's on the paper's 22 datasets; the regressors on real tables; the time of
every forest as a share of the multinomial forest's. Times are the best of several fits,
taken in turns.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from accuracy_tables import REGRESSION_PROBLEMS
from sklearn.datasets import make_friedman1
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import KFold, cross_val_score

import mrforest
from mrforest import (
    BernoulliForestRegressor,
    BreimanForestClassifier,
    BreimanForestRegressor,
    ComparisonForestClassifier,
    CompletelyRandomForestClassifier,
    DenilForestRegressor,
    MultinomialForestClassifier,
    MultinomialForestRegressor,
)
from mrforest._progress import progress_bar
from mrforest.experiments import datasets, table1
from mrforest.experiments.protocol import as_table

THREADS = 2


def seconds(forests: list[Any], X: Any, y: Any, rounds: int) -> list[float]:
    """Return the best time of each forest, fitted in turns."""
    best = [np.inf] * len(forests)
    for _ in range(rounds):
        for i, forest in enumerate(forests):
            start = time.perf_counter()
            forest.fit(X, y)
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def breiman_beside_sklearn(folder: Path) -> None:
    """Fit times at the same settings, on the same numbers."""
    lines, ratios = [], []
    with progress_bar("Breiman", len(table1.DATASETS), visible=True) as step:
        for name in table1.DATASETS:
            rows, _, y = as_table(datasets.load(name, folder=folder))
            cells = []
            for k in (1, 5):
                options = {"min_samples_leaf": k, "n_jobs": THREADS, "random_state": 0}
                ours, theirs = seconds(
                    [
                        BreimanForestClassifier(**options),
                        RandomForestClassifier(**options),
                    ],
                    rows,
                    y,
                    rounds=3 if len(y) < 20_000 else 2,
                )
                cells.append(ours / theirs)
            ratios.append(cells)
            lines.append(
                f"| {name} | {len(y):,} x {rows.shape[1]:,} "
                f"| {cells[0]:.2f} | {cells[1]:.2f} |"
            )
            step()
    print("\n| dataset | size | fit, k = 1 | fit, k = 5 |\n|---|---:|---:|---:|")
    print("\n".join(lines))
    means = np.exp(np.log(ratios).mean(axis=0))
    print(f"| geometric mean | | {means[0]:.2f} | {means[1]:.2f} |")
    print(f"| largest | | {np.max(ratios, 0)[0]:.2f} | {np.max(ratios, 0)[1]:.2f} |")


def regression_tables(folder: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Real tables with a number to tell, and one that scikit-learn makes."""
    names = {
        "diabetes": "diabetes",
        "wine quality as a number": "wine-quality",
        "elevation of forest land": "covertype-elevation",
    }
    tables = {
        title: REGRESSION_PROBLEMS[name].load(folder) for title, name in names.items()
    }
    tables["Friedman 1 (made)"] = make_friedman1(10_000, noise=1.0, random_state=0)
    return tables


def regressors(folder: Path) -> None:
    """R² of five-fold cross-validation at the same settings, and times."""
    options = {"n_jobs": THREADS, "random_state": 0}
    shared = {"min_samples_leaf": 1, "max_features": 1 / 3, **options}
    forests: dict[str, Callable[[], Any]] = {
        "scikit-learn": lambda: RandomForestRegressor(**shared),
        "Breiman": lambda: BreimanForestRegressor(**shared),
        "MRF": lambda: MultinomialForestRegressor(**options),
        "Denil14": lambda: DenilForestRegressor(**options),
        "BRF": lambda: BernoulliForestRegressor(max_features=1 / 3, **options),
    }
    print("\n| table | size | " + " | ".join(forests) + " | Breiman: fit |")
    print("|---|---:|" + "---:|" * (len(forests) + 1))
    for name, (X, y) in regression_tables(folder).items():
        folds = KFold(5, shuffle=True, random_state=0)
        scores = [
            cross_val_score(make(), X, y, cv=folds).mean() for make in forests.values()
        ]
        ours, theirs = seconds(
            [forests["Breiman"](), forests["scikit-learn"]()], X, y, rounds=3
        )
        print(
            f"| {name} | {len(y):,} x {X.shape[1]} | "
            + " | ".join(f"{score:.4f}" for score in scores)
            + f" | {ours / theirs:.2f} |"
        )


def all_forests(folder: Path) -> None:
    """Fit time of every classifier as a share of the multinomial forest's."""
    options = {"n_jobs": THREADS, "random_state": 0}
    names = [name for name in mrforest.__all__ if name.endswith("ForestClassifier")]
    makers: dict[str, Callable[[], Any]] = {
        name.removesuffix("ForestClassifier"): lambda name=name: getattr(
            mrforest, name
        )(**options)
        for name in names
        if name != "MultinomialForestClassifier"
    }
    makers["Comparison, not honest"] = lambda: ComparisonForestClassifier(
        honest=False, **options
    )
    makers["CompletelyRandom, range"] = lambda: CompletelyRandomForestClassifier(
        cuts="range", **options
    )
    sets = ("nursery", "phishing-websites", "magic")
    print("\n| forest | " + " | ".join(sets) + " |")
    print("|---|" + "---:|" * len(sets))
    loaded = [datasets.load(name, folder=folder) for name in sets]
    for name, make in makers.items():
        cells = []
        for data in loaded:
            mrf = MultinomialForestClassifier(**options)
            own, base = seconds([make(), mrf], data.X, data.y, rounds=3)
            cells.append(f"{own / base:.2f}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("MRFOREST_DATA"), type=Path)
    parts = {
        "breiman": breiman_beside_sklearn,
        "regressors": regressors,
        "all": all_forests,
    }
    parser.add_argument("--only", nargs="*", choices=list(parts), default=list(parts))
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("give --data FOLDER or set MRFOREST_DATA")
    for part in arguments.only:
        parts[part](arguments.data)


if __name__ == "__main__":
    main()
