# SPDX-License-Identifier: BSD-3-Clause
"""Lines of the compiled core that the digests do not reach.

    make reached

builds the core with a counter in every line, runs these tests with it at two widths of
registers, and prints what was never run. Apart from lines that deal with errors, a
line that is printed wants another table or another option in `cases.py`.
"""

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).parents[2] / "src"
CORE = "mrforest/_core/"


def counted_files(build: Path) -> Iterator[dict[str, Any]]:
    """Yield what gcov says of each source of each object."""
    for counters in build.rglob("*.gcda"):
        output = subprocess.run(
            ["gcov", "--json-format", "--stdout", counters.relative_to(build)],
            cwd=build,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for line in output.splitlines():
            yield from json.loads(line)["files"]


def counts_by_file(build: Path) -> dict[str, dict[int, int]]:
    """Return how often each line ran; headers are in several objects."""
    found: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for file in counted_files(build):
        name = CORE + file["file"].rpartition(CORE)[2]
        if CORE in file["file"] and (SOURCES / name).exists():
            for line in file["lines"]:
                found[name][line["line_number"]] += line["count"]
    return found


def ranges(lines: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of lines that follow each other.

    Examples
    --------
    >>> list(ranges([3, 4, 5, 9]))
    [(3, 5), (9, 9)]
    """
    for _, group in groupby(enumerate(lines), key=lambda pair: pair[1] - pair[0]):
        run = [line for _, line in group]
        yield run[0], run[-1]


def main() -> None:
    """Print lines that never ran."""
    n_lines = n_reached = 0
    for name, counts in sorted(counts_by_file(Path(sys.argv[1])).items()):
        text = (SOURCES / name).read_text(encoding="utf-8").splitlines()
        never = sorted(n for n, count in counts.items() if not count and n <= len(text))
        n_lines += len(counts)
        n_reached += len(counts) - len(never)
        for first, last in ranges(never):
            print(f"{name}:{first}-{last}: {text[first - 1].strip()}")
    print(f"{n_reached} of {n_lines} lines were reached")


if __name__ == "__main__":
    main()
