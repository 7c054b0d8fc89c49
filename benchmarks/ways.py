# SPDX-License-Identifier: BSD-3-Clause
"""What each way of the plan buys: times with it and without it.

    python benchmarks/ways.py --data FOLDER [--ways NAME ...] [--tables NAME ...]

For each way of `mrforest._core.plan` one process works with it and another one without
it, in turns, see before_after.py. The ratios, with divided by without, are kept in
ways.json beside this file; --publish writes the smallest two of each way into
docs/architecture.md.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from textwrap import fill

from before_after import compare
from peers_tables import TABLES
from record import fill_in

import mrforest
from mrforest import _core
from mrforest.experiments import whole_file

HERE = Path(__file__).parent
RESULTS = HERE / "ways.json"
PAGE = HERE.parent / "docs/architecture.md"
# The forests that may take a way of each stage
FORESTS = {
    "sample_": ["default"],
    "columns": ["Denil", "Breiman", "MRF"],
    "node_": ["Denil", "Breiman"],
    "joined_copies": ["Breiman"],
    "child_totals": ["Breiman"],
    "bits_of_some": ["Denil", "Breiman"],
}
USUAL = ["MRF", "Breiman", "default"]
PREDICTION = ["coded_rows", "slim_nodes", "bit_votes", "single_thresholds"]


def forests_of(way: str) -> list[str]:
    """Return the forests that a way may serve."""
    for start, forests in FORESTS.items():
        if way.startswith(start):
            return forests
    return USUAL


def list_of(results: dict[str, dict[str, float]]) -> str:
    """Write the plan as a list, with the two smallest ratios of each way."""
    items = []
    for way in _core.plan.WAYS:
        ratios = results.get(way.name, {})
        best = sorted(ratios, key=lambda name: ratios[name])[:2]
        bought = "; ".join(f"{ratios[name]:.2f} {name}" for name in best)
        text = f"**{way.name}** ({way.stage}). When: {way.taken}. "
        text += f"Otherwise: {way.instead}."
        text += f" *{bought}.*" if bought else ""
        items.append(fill(f"- {text}", width=118, subsequent_indent="  "))
    return "\n".join(items)


def main() -> None:
    """Measure what is asked for, and publish."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the datasets")
    parser.add_argument("--ways", nargs="*", default=list(_core.plan.NAMES))
    parser.add_argument("--tables", nargs="+", default=list(TABLES)[:10])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--publish", action="store_true")
    arguments = parser.parse_args()
    site = Path(mrforest.__file__).parents[1]
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for way in arguments.ways:
        lines = compare(
            site,
            site,
            {"MRFOREST_WITHOUT": way},
            data=arguments.data,
            tables=arguments.tables,
            forests=forests_of(way),
            turns=arguments.turns,
        )
        what = "predict" if way in PREDICTION else "fit"
        results[way] = {
            f"{line['table']}, {line['forest']}": round(1 / float(line[what]), 3)
            for line in lines
        }
        with whole_file(RESULTS) as unfinished:
            unfinished.write_text(json.dumps(results, indent=1) + "\n")
    if arguments.publish:
        fill_in(PAGE, "ways", list_of(results))


if __name__ == "__main__":
    main()
