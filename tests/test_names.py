# SPDX-License-Identifier: BSD-3-Clause
"""One name for one thing: no two classes or structs have the same name."""

import re
from collections import defaultdict
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[1] / "src/mrforest"
if not SOURCES.exists():
    pytest.skip("the sources are not here", allow_module_level=True)

DEFINED = re.compile(
    r"^(?:cdef |    ctypedef |ctypedef )?(?:class|struct)\s+(\w+)", re.MULTILINE
)
# To be renamed. Names are taken from this list, not added to it.
TWICE = {
    "Candidates",
    "Cell",
    "Column",
    "Draw",
    "Entry",
    "Grid",
    "Leaves",
    "Node",
    "Picture",
    "Place",
    "Region",
    "Source",
    "Split",
    "Table",
}


def test_no_name_is_defined_twice():
    modules = defaultdict(set)
    for path in SOURCES.rglob("*"):
        if path.suffix in (".py", ".pyx", ".pxd"):
            for name in DEFINED.findall(path.read_text(encoding="utf-8")):
                modules[name].add(path.with_suffix(""))
    twice = {name for name, found in modules.items() if len(found) > 1}
    assert twice == TWICE
