# SPDX-License-Identifier: BSD-3-Clause
"""The compiled core is layered: which folder may take from which."""

import re
from pathlib import Path

import pytest

CORE = Path(__file__).parents[1] / "src/mrforest/_core"
if not CORE.exists():
    pytest.skip("the sources are not here", allow_module_level=True)

# A layer takes from those above it in this list, and from itself.
LAYERS = (
    "types",
    "kernels",
    "plan",
    "random",
    "data",
    "rules",
    "score",
    "grow",
    "predict",
    "pivots",
    "private",
)
# Private trees share no code with others but these.
PRIVATE = {"types", "kernels"}

IMPORT = re.compile(r"^\s*(?:from|c?import) mrforest\._core\.([\w.]+)", re.MULTILINE)
EXTERN = re.compile(r'extern from "([\w./]+)"')
INCLUDE = re.compile(r'^#include "([\w./]+)"', re.MULTILINE)

CYTHON = sorted([*CORE.rglob("*.pyx"), *CORE.rglob("*.pxd")])
SOURCES = {path.relative_to(CORE).as_posix(): path.read_text() for path in CYTHON}


def layer_of(module: str) -> str:
    """First part of the name of a module or file."""
    return re.split(r"[./]", module)[0]


def test_layers_are_those_that_exist():
    folders = {p.name for p in CORE.iterdir() if (p / "__init__.py").exists()}
    assert folders | {"types", "plan"} == set(LAYERS)


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_point_one_way(layer):
    for name, text in SOURCES.items():
        if layer_of(name) != layer:
            continue
        for module in IMPORT.findall(text):
            other = layer_of(module)
            assert LAYERS.index(other) <= LAYERS.index(layer), (name, module)
            assert layer != "private" or other in PRIVATE | {layer}, (name, module)
        for header in EXTERN.findall(text):
            # Headers of the standard library are in no folder.
            if "/" in header:
                other = layer_of(header)
                assert LAYERS.index(other) <= LAYERS.index(layer) or other == "kernels"


def test_no_module_depends_on_itself():
    """A module is a .pyx with its .pxd."""
    edges = {name.rsplit(".", 1)[0].replace("/", "."): set() for name in SOURCES}
    for name, text in SOURCES.items():
        module = name.rsplit(".", 1)[0].replace("/", ".")
        edges[module] |= set(IMPORT.findall(text)) - {module}
    done: set[str] = set()

    def visit(module: str, above: tuple[str, ...]) -> None:
        assert module not in above, " -> ".join((*above, module))
        if module not in done:
            for other in sorted(edges[module]):
                visit(other, (*above, module))
            done.add(module)

    for module in edges:
        visit(module, ())


def test_kernels_include_headers_of_their_own():
    folder = CORE / "kernels"
    for path in folder.glob("*.[ch]"):
        for included in INCLUDE.findall(path.read_text()):
            assert (folder / included).exists(), (path.name, included)
            is_source = included.endswith(".c")
            assert not is_source or path.name == "kernels.c", (path.name, included)
    sources = {path.name for path in folder.glob("*.c")} - {"kernels.c", "dispatch.c"}
    assert set(INCLUDE.findall((folder / "kernels.c").read_text())) >= sources


@pytest.mark.parametrize("folder", sorted({p.parent for p in CORE.rglob("*.*")}))
def test_folders_and_files_can_be_surveyed(folder):
    files = [
        p for p in folder.iterdir() if p.suffix in (".py", ".pyx", ".pxd", ".c", ".h")
    ]
    assert len(files) <= 30
    for path in files:
        assert len(path.read_text().splitlines()) <= 510, path.name
