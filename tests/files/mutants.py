# SPDX-License-Identifier: BSD-3-Clause
"""Files of forests that somebody has tampered with.

    python -m tests.files.mutants --runs 100000           files that know our format
    python -m tests.files.mutants --atheris -runs=100000  bytes that find their way

The first alters values and arrays and puts a right checksum on them, so that they are
looked at; the second lets atheris, which sees what code a file reaches, alter bytes.
Every file is an error of ours, or a forest that predicts.
"""

import argparse
import copy
import importlib
import json
import random
import sys
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.datasets import load_iris

import mrforest
from mrforest.files import ForestFileError, loaded
from mrforest.files._container import METADATA, canonical, checksum, parted

X, Y = load_iris(return_X_y=True)
ROWS = np.vstack([X[::10], np.full((1, 4), np.nan), np.full((1, 4), 1e300)])
PUBLIC = {"bounds": (0.0, 8.0), "classes": [0, 1, 2], "random_state": 0}

# Numbers at which something may go wrong
EDGES = [0, 1, -1, 2, 7, 255, 256, 2**31 - 1, 2**31, 2**32, 2**63, -(2**63), 10**30]
VALUES = [
    *(None, True, "", "x", [], {}, [[]], {"list": []}, {"dict": [[1, 2]]}),
    *({"array": "0"}, {"array": "9"}, {"tuple": [1]}, {"float": "nan"}),
    *({"float": "-inf"}, {"float": "x"}, {"bytes": "zz"}, {"texts": 3}),
    *({"texts": ["a"], "width": 1}, {"objects": [1, {"list": [1]}]}),
    *({"Schema": {}}, {"Partition": {"honest_fraction": 0.5}}),
]


@cache
def originals() -> list[bytes]:
    """Return files of forests of all kinds."""
    forests = [
        mrforest.MultinomialForestClassifier(3, random_state=0, voting="soft"),
        mrforest.BreimanForestClassifier(3, random_state=0, max_depth=2),
        mrforest.BreimanForestRegressor(2, random_state=0),
        mrforest.ComparisonForestClassifier(2, random_state=0),
        mrforest.ComparisonForestClassifier(2, random_state=0, metric="manhattan"),
        mrforest.PrivateForestClassifier(**PUBLIC),
    ]
    with warnings.catch_warnings(), TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        path = Path(folder) / "forest.mrf"
        contents = []
        for forest in forests:
            mrforest.save(forest.fit(X, Y), path)
            contents.append(path.read_bytes())
    return contents


def outcome(content: bytes) -> str:
    """Load a file, and let what comes of it predict."""
    try:
        forest = loaded(content)
    except ForestFileError:
        return "refused"
    rows = ROWS if forest.__sklearn_tags__().input_tags.allow_nan else X[::10]
    # What a forest of nonsense tells does not matter, if only it returns.
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            forest.predict(rows)
            forest.apply(rows)
            forest.decision_path(rows)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            return "loaded, and then an error"
    return "loaded"


# ---- mutants -------------------------------------------------------------------------


def mutant(rng: random.Random) -> bytes:
    """Return a file that is not what it was."""
    content = rng.choice(originals())
    if rng.random() < 0.1:
        return altered_bytes(content, rng)
    header, data = parted(content)
    document = json.loads(header[METADATA].pop("forest"))
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        way = rng.random()
        if way < 0.5:
            data = altered_data(data, header, rng)
        else:
            alter_json(header if way < 0.65 else document, rng)
    if isinstance(header.get(METADATA), dict):
        header[METADATA]["forest"] = json.dumps(document)
    return signed(header, data)


def signed(header: dict, data: bytes) -> bytes:
    """Return a file with a checksum that is right, if it has a place for one."""
    if isinstance(header.get(METADATA), dict):
        header[METADATA]["sha256"] = checksum(header, data)
    encoded = canonical(header)
    return len(encoded).to_bytes(8, "little") + encoded + data


def altered_bytes(content: bytes, rng: random.Random) -> bytes:
    """Alter, cut or double some bytes, wherever they are."""
    i, j = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    way = rng.randrange(4)
    if way == 0:
        return content[:i]
    if way == 1:
        return content[:i] + content[j:]
    if way == 2:
        return content[:j] + content[i:j] + content[j:]
    altered = bytearray(content)
    for _ in range(rng.choice([1, 2, 10])):
        altered[rng.randrange(len(altered))] = rng.randrange(256)
    return bytes(altered)


def altered_data(data: bytes, header: dict, rng: random.Random) -> bytes:
    """Alter a number of an array."""
    try:
        place = header[rng.choice([name for name in header if name != METADATA])]
        begin, end = place["data_offsets"]
        at = rng.randrange(begin, min(end, len(data)))
    except (LookupError, TypeError, ValueError):
        return data  # The header has been altered before.
    altered = bytearray(data)
    value = rng.choice([0, 1, 2, 127, 128, 255, rng.randrange(256)])
    n = rng.choice([1, 1, 4, 8])
    altered[at : at + n] = bytes([value]) * min(n, len(altered) - at)
    return bytes(altered)


def alter_json(root: dict, rng: random.Random) -> None:
    """Alter a value somewhere in JSON."""
    node, key = root, None
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return
        key = rng.choice(keys)
        if isinstance(node[key], (dict, list)) and node[key] and rng.random() < 0.85:
            node = node[key]
            continue
        break
    way = rng.random()
    if way < 0.15 and isinstance(node, dict):
        del node[key]
    elif way < 0.3:
        others = list(node.values()) if isinstance(node, dict) else node
        node[key] = copy.deepcopy(rng.choice(others))
    elif way < 0.5 and type(node[key]) is int:
        node[key] += rng.choice([-1, 1, 8, -8])
    elif way < 0.75:
        node[key] = rng.choice(EDGES)
    else:
        node[key] = copy.deepcopy(rng.choice(VALUES))


# ---- many of them --------------------------------------------------------------------


def main() -> None:
    """Make mutants until there are enough."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--atheris", action="store_true")
    options, rest = parser.parse_known_args()
    if options.atheris:
        fuzz([sys.argv[0], *rest])
        return
    counts: dict[str, int] = {}
    for i in range(options.runs):
        try:
            found = outcome(mutant(random.Random(f"{options.seed}/{i}")))
        except BaseException:
            print(f"mutant {i} of seed {options.seed}")  # noqa: T201
            raise
        counts[found] = counts.get(found, 0) + 1
    print(counts)  # noqa: T201


def fuzz(arguments: list[str]) -> None:
    """Let atheris alter files."""
    import atheris

    contents = originals()
    # What reads files is imported again, so that atheris sees which way it takes.
    for name in [name for name in sys.modules if name.startswith("mrforest.files")]:
        del sys.modules[name]
    with atheris.instrument_imports(include=["mrforest.files"]):
        files = importlib.import_module("mrforest.files")
    globals().update(loaded=files.loaded, ForestFileError=files.ForestFileError)

    def look(content: bytes) -> None:
        # Without a header the bytes are looked at as they are.
        with suppress(AttributeError, TypeError, ValueError):
            content = signed(*parted(content))
        outcome(content)

    with TemporaryDirectory() as corpus:
        for i, content in enumerate(contents):
            (Path(corpus) / str(i)).write_bytes(content)
        atheris.Setup([*arguments, corpus], look)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
