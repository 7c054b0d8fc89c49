# SPDX-License-Identifier: BSD-3-Clause
"""What begins with an underscore is imported in its own package only."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import mrforest

SOURCES = Path(mrforest.__file__).parent


def name_of(path: Path) -> str:
    """Name of the module in a file."""
    parts = path.relative_to(SOURCES.parent).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def imports_of(path: Path) -> Iterator[str]:
    """Full names of all that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def private_owners(name: str) -> set[str]:
    """Packages in which the private parts of a name are."""
    parts = name.split(".")
    return {
        ".".join(parts[:n])
        for n, part in enumerate(parts)
        if part.startswith("_") and not part.startswith("__")
    }


def packages_of(path: Path) -> set[str]:
    """The package of a module, the package of that, and so on."""
    parts = name_of(path).split(".")
    end = len(parts) + (path.name == "__init__.py")
    return {".".join(parts[:n]) for n in range(1, end)}


MODULES = sorted(SOURCES.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_private_import_from_another_package(path):
    # `mrforest._core` and helpers such as `mrforest._threads` belong to all packages.
    for imported in imports_of(path):
        if imported.startswith("mrforest."):
            assert private_owners(imported) <= packages_of(path), imported


def test_scikit_learn_is_reached_privately_in_one_file_only():
    found = {
        name_of(path)
        for path in MODULES
        for imported in imports_of(path)
        if imported.startswith("sklearn.") and private_owners(imported)
    }
    assert found == {"mrforest._sklearn"}


def test_private_imports_are_found(tmp_path):
    file = tmp_path / "module.py"
    file.write_text("def f():\n    from mrforest.forests._base import x\n")
    assert [*imports_of(file)] == ["mrforest.forests._base.x"]
    assert private_owners("mrforest.forests._base.x") == {"mrforest.forests"}
    assert private_owners("mrforest.forests.base.__all__") == set()
