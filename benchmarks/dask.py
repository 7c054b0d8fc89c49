# SPDX-License-Identifier: BSD-3-Clause
"""Forests on a Dask cluster of one machine, beside the same forests without Dask.

    python benchmarks/dask.py --data FOLDER [--datasets NAME ...] [--publish]

Time of fit with one and two workers of one thread each, as a share of the local fit
with as many threads; once with rows gathered as the defaults have it, and once with
nodes of more than `LEVELWISE` points grown level by level. Then the bytes that workers
send in each level, beside what the counters of the nodes take. Every forest is checked
to be the local one, bit for bit.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# This file is called as the package that it imports.
sys.path[:] = [p for p in sys.path if Path(p or ".").resolve() != HERE]

import argparse
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

from mrforest import MultinomialForestClassifier, PrivateForestClassifier
from mrforest.dask import DaskMultinomialForestClassifier, DaskPrivateForestClassifier
from mrforest.dask import forest as dask_forests
from mrforest.dask import private as dask_private
from mrforest.dask._cluster import LevelProgress
from mrforest.data.binning import find_bins
from mrforest.privacy import PrivacyLeakWarning

sys.path.append(str(HERE))
from peers_tables import TABLES, write_table
from record import fill_in, layout

LEVELWISE = 50_000
N_PARTS = 8
N_TREES = 100
DATASETS = ["adult", "connect-4", "covertype"]


def main() -> None:
    """Measure, print, and fill in the README if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("MRFOREST_DATA"))
    parser.add_argument("--datasets", nargs="+", default=DATASETS, choices=TABLES)
    parser.add_argument("--publish", action="store_true", help="fill in README.md")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message="Sending large graph")
    # With a seed, to compare; then nothing is private.
    warnings.filterwarnings("ignore", category=PrivacyLeakWarning)
    times: list[dict[str, Any]] = []
    levels: list[dict[str, Any]] = []
    for name in options.datasets:
        with TemporaryDirectory() as folder:
            write_table(name, options.data and Path(options.data), Path(folder))
            X, y = (np.load(f"{folder}/{part}.npy") for part in ("X", "y"))
        for n_workers in (1, 2):
            found, levels = measure(name, X, y, n_workers)
            times += found
    text = f"{laid_out(times)}\n\nLevels of the last fit:\n\n{laid_out(levels)}"
    print(text)
    if options.publish:
        fill_in(HERE / "README.md", "dask", text)


def laid_out(lines: list[dict[str, Any]]) -> str:
    """Lay out what was measured."""
    return layout(list(lines[0]), [list(map(str, line.values())) for line in lines])


@dataclass(frozen=True)
class Kind:
    """A forest here, and there."""

    label: str
    local: type[Any]
    far: type[Any]
    options: dict[str, Any]


def kinds(X: Any, y: Any) -> list[Kind]:
    """Return the forests that are measured, the multinomial one last."""
    public = {
        # As if they were known; no accuracy is measured here.
        "bounds": list(
            zip(X.min(axis=0).tolist(), X.max(axis=0).tolist(), strict=True)
        ),
        "classes": np.unique(y),
    }
    return [
        Kind(
            "private",
            PrivateForestClassifier,
            DaskPrivateForestClassifier,
            {"epsilon": 1.0, **public},
        ),
        Kind(
            "multinomial",
            MultinomialForestClassifier,
            DaskMultinomialForestClassifier,
            {"n_estimators": N_TREES},
        ),
    ]


def measure(
    name: str, X: Any, y: Any, n_workers: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return times of one table, and what was sent in each level of the last fit."""
    times = []
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        rows = da.from_array(X, chunks=(-(-len(X) // N_PARTS), X.shape[1])).persist()
        labels = da.from_array(y, chunks=-(-len(y) // N_PARTS)).persist()
        wait([rows, labels])
        for kind in kinds(X, y):
            options = {"random_state": 0, **kind.options}
            local = kind.local(n_jobs=n_workers, **options)
            expected = seconds_of(lambda local=local: local.fit(X, y))
            for gather_rows in (None, LEVELWISE):
                forest = kind.far(client=client, gather_rows=gather_rows, **options)
                with watched(client) as seen:
                    seconds = seconds_of(lambda forest=forest: forest.fit(rows, labels))
                check_same(forest, local)
                times.append(
                    {
                        "table": TABLES[name].label,
                        "forest": kind.label,
                        "workers": n_workers,
                        "nodes of one worker": gather_rows or "64 MiB",
                        "levels": len(seen),
                        "fit s": round(seconds, 2),
                        "local s": round(expected, 2),
                        "ratio": round(seconds / expected, 2),
                    }
                )
    bins = find_bins(X, np.full(X.shape[1], -1, dtype=np.int32), 255, None).n_bins
    n_cells = int((bins + 1).sum()) * local.n_classes_
    return times, traffic(seen, n_cells, n_workers)


def seconds_of(work: Callable[[], Any]) -> float:
    """Return how long it takes."""
    begun = perf_counter()
    work()
    return perf_counter() - begun


@contextmanager
def watched(client: Client) -> Iterator[list[tuple[LevelProgress, int]]]:
    """Note each level of a fit, and the bytes that all workers have sent so far."""
    seen: list[tuple[LevelProgress, int]] = []

    def on_level(level: LevelProgress) -> None:
        seen.append((level, sent_by(client)))

    @contextmanager
    def progress(n_trees: int, *, visible: bool, describe: Any = None) -> Iterator[Any]:
        yield (lambda n_steps=1, note=None: None), on_level

    shown = dask_forests.growth_progress
    dask_forests.growth_progress = dask_private.growth_progress = progress
    try:
        yield seen
    finally:
        dask_forests.growth_progress = dask_private.growth_progress = shown


def sent_by(client: Client) -> int:
    """Return the bytes that workers have sent to each other."""
    sent = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
    return sum(sent.values())


def check_same(forest: Any, local: Any) -> None:
    """Complain unless two forests are the same, bit for bit."""
    for name in local._forest.names():
        one, other = getattr(forest._forest, name), getattr(local._forest, name)
        if one.tobytes() != other.tobytes():
            raise AssertionError(f"{name} differs from the local forest's")


def traffic(
    seen: list[tuple[LevelProgress, int]], n_cells: int, n_workers: int
) -> list[dict[str, Any]]:
    """Return bytes sent in each level beside counted nodes x counters x 4 bytes.

    Every worker but one sends its counters of a node to the one that adds them up. The
    first level is left out: what was sent before it is not known.
    """
    lines = []
    for (_, before), (level, after) in pairwise(seen):
        formula = level.n_counted * n_cells * 4 * (n_workers - 1)
        lines.append(
            {
                "level": level.depth,
                "nodes": level.n_nodes,
                "counted": level.n_counted,
                "sent MB": round((after - before) / 1e6, 2),
                "counters MB": round(formula / 1e6, 2),
                "ratio": round((after - before) / max(formula, 1), 2),
                "s": round(level.seconds, 2),
            }
        )
    return lines


if __name__ == "__main__":
    main()
