# SPDX-License-Identifier: BSD-3-Clause
"""The one way in which files are written."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Write a file whole or not at all, even if the power fails.

    Parameters
    ----------
    path : Path
        The file. Its folder is made if there is none. If there is such a file, its
        permissions stay.

    Yields
    ------
    Path
        A file of the same name to write instead. It takes the place of `path` when
        the block ends, and is thrown away if the block raises.

    Examples
    --------
    >>> from mrforest.experiments import whole_file
    >>> with TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder, "table.csv")) as unfinished:
    ...         _ = unfinished.write_text("forest,accuracy")
    ...         seen_before = Path(folder, "table.csv").exists()
    ...     seen_before, Path(folder, "table.csv").exists()
    (False, True)
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # In the same folder, because a file can only be renamed within a file system.
    with TemporaryDirectory(dir=path.parent, prefix=".writing-") as folder:
        unfinished = Path(folder) / path.name
        yield unfinished
        with open(unfinished, "rb+") as file:
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, unfinished)
        os.replace(unfinished, path)
        _keep_name(path.parent)


def _keep_name(folder: Path) -> None:
    """Make sure that the new file has its name, too, after the power failed."""
    if sys.platform == "win32":  # which has no way to flush a folder
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
