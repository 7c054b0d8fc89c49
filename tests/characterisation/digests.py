# SPDX-License-Identifier: BSD-3-Clause
"""Digests of fitted forests: what they are and what they say, to the bit.

    python -m tests.characterisation.digests            # compare with digests.json
    python -m tests.characterisation.digests --write    # write digests.json

A change of a bit of a forest is a decision. Whoever takes it writes the file anew, and
says so in the changelog.
"""

import argparse
import hashlib
import json
import sys
import warnings
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import mrforest
from mrforest._progress import progress_bar
from tests.characterisation.cases import (
    Case,
    cases,
    estimator_of,
    target_of,
    weights_of,
)
from tests.characterisation.tables import TABLES, Table

PATH = Path(__file__).with_name("digests.json")
# What is digested, in this order
PARTS = ("trees", "choices", "predictions", "importances", "file")
table_of = lru_cache(maxsize=2)(lambda name: TABLES[name]())


def digest(arrays: Iterable[Any]) -> str:
    """Return a short fingerprint of arrays: types, shapes and bytes."""
    found = hashlib.sha256()
    for value in arrays:
        array = np.ascontiguousarray(value)
        # Types of structures by their fields, not by their names in the code
        found.update(f"{array.dtype.descr} {array.shape}".encode())
        found.update(array.tobytes())
    return found.hexdigest()[:8]


def arrays_of_trees(forest: Any) -> list[np.ndarray]:
    """Return all arrays of the trees."""
    flat = forest._forest
    arrays = {name: getattr(flat, name) for name in flat.names()}
    arrays.pop("comparison", None)  # how pivots are compared: a parameter
    return [np.asarray(arrays[name]) for name in sorted(arrays)]


def choices(forest: Any) -> list[Any]:
    """Return what a forest has chosen by itself, and the ledger of a private one."""
    if hasattr(forest, "ledger_"):
        return [np.frombuffer(str(forest.ledger_).encode(), dtype=np.uint8)]
    if not hasattr(forest, "tuning_"):
        return []
    found: list[Any] = [forest.min_samples_split_, forest.min_samples_leaf_]
    for trial in forest.tuning_:
        found += [
            *(trial.max_features, trial.feature_budget, trial.split_budget),
            *(trial.equality_cuts, trial.criterion, trial.leaf_size),
        ]
    return found


def predictions(forest: Any, table: Table) -> list[Any]:
    """Return what a forest predicts, of many rows and of few."""
    found = []
    for X in (table.X, table.X[:3]):
        found += [forest.predict(X), forest.apply(X)]
        if hasattr(forest, "predict_proba"):
            found.append(forest.predict_proba(X))
    for name in ("oob_decision_function_", "oob_prediction_"):
        found.append(getattr(forest, name, np.zeros(0)))
    return found


def importances(forest: Any) -> list[Any]:
    """Return the importances, of a forest that has them."""
    names = ("feature_importances_", "structure_importances_")
    return [getattr(forest, name) for name in names if hasattr(forest, name)]


def is_code(parameter: Any) -> bool:
    """Whether a parameter is a function or a rule in Python."""
    # Arrays have a method `choose`, too.
    is_rule = hasattr(parameter, "choose") and not isinstance(parameter, np.ndarray)
    return callable(parameter) or is_rule


def file_of(forest: Any) -> list[Any]:
    """Return the bytes of the file that a forest is saved in.

    Not of one that tunes itself: powers and losses go through the logarithm of the C
    library, whose last bit is not the same on all machines. One with a function of the
    user among its parameters has no file.
    """
    if hasattr(forest, "tuning_") or any(map(is_code, forest.get_params().values())):
        return []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "forest"
        mrforest.save(forest, path)
        return [np.frombuffer(path.read_bytes(), dtype=np.uint8)]


def digests_of(case: Case, n_jobs: int = 1) -> str:
    """Return the fingerprints of all parts of a case, or why it is refused."""
    table = table_of(case.table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            forest = estimator_of(case, table).set_params(n_jobs=n_jobs)
            weights = weights_of(case, table)
            more = () if weights is None else (weights,)
            forest.fit(table.X, target_of(case, table), *more)
        except ValueError as error:
            return f"refused: {str(error).splitlines()[0][:60]}"
        values = (
            arrays_of_trees(forest),
            choices(forest),
            predictions(forest, table),
            importances(forest),
            file_of(forest.set_params(n_jobs=1)),  # the file has the parameters
        )
    return " ".join(digest(arrays) for arrays in values)


@lru_cache
def stored() -> dict[Case, str]:
    """Read the file."""
    lines = json.loads(PATH.read_text(encoding="utf-8"))
    return {Case(*key.split(" | ")): value for key, value in lines.items()}


def difference(case: Case, found: str, expected: str) -> str:
    """Say which parts of a case differ; nothing if none does."""
    if found == expected:
        return ""
    if "refused" in found or "refused" in expected:
        return f"{' | '.join(case)}: {found}, not {expected}"
    pairs = zip(PARTS, found.split(), expected.split(), strict=True)
    parts = [part for part, one, other in pairs if one != other]
    return f"{' | '.join(case)}: {', '.join(parts)}"


def main() -> None:
    """Compare with the file, or write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write digests.json")
    parser.add_argument("--n-jobs", type=int, default=1, help="threads of a fit")
    arguments = parser.parse_args()
    wanted = sorted(cases(), key=lambda case: list(TABLES).index(case.table))
    found = {}
    with progress_bar("digests", len(wanted), visible=True) as step:
        for case in wanted:
            found[case] = digests_of(case, arguments.n_jobs)
            step()
    if arguments.write:
        lines = {" | ".join(case): value for case, value in found.items()}
        PATH.write_text(json.dumps(lines, indent=0) + "\n", encoding="utf-8")
        return
    expected = stored()
    differences = [
        difference(case, value, expected.get(case, "refused: not in the file"))
        for case, value in found.items()
    ]
    if any(differences):
        sys.exit("\n".join(filter(None, differences)))


if __name__ == "__main__":
    main()
