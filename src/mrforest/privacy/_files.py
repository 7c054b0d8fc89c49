# SPDX-License-Identifier: BSD-3-Clause
"""Documents in JSON that name their schema, and locks of files."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

VERSION = 1


def to_json(schema: str, content: Mapping[str, object]) -> str:
    """Return a document. Its floats come back as they are: Python prints them so."""
    document = {"schema": schema, "version": VERSION, **content}
    return json.dumps(document, indent=1, allow_nan=False)


def from_json(schema: str, text: str) -> dict[str, Any]:
    """Return the content of a document, or say why it is none."""
    try:
        document = json.loads(text)
    except ValueError as error:
        raise ValueError(f"no {schema}: broken JSON, {error}") from error
    if not isinstance(document, dict) or document.pop("schema", None) != schema:
        raise ValueError(f"no {schema}: it does not say schema={schema!r}")
    version = document.pop("version", None)
    if type(version) is not int or version < 1:
        raise ValueError(f"no {schema}: version must be {VERSION}; got {version!r}")
    if version > VERSION:
        raise ValueError(
            f"a {schema} of version {version}, written by a newer mrforest; this one "
            f"reads version {VERSION}"
        )
    return document


def plain(number: float) -> float | str:
    """Return a number as JSON has it, which knows no infinity."""
    return "inf" if number == math.inf else number


def unplain(number: Any) -> Any:
    """Undo `plain`."""
    return math.inf if number == "inf" else number


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Be the only one, of all threads and processes, that works on a file.

    The lock is a file beside it, for the file itself is replaced. It is left there: to
    remove it is to have two.
    """
    with open(f"{path}.lock", "ab") as lock:
        _wait_for(lock.fileno())
        try:
            yield
        finally:
            _give_back(lock.fileno())


if sys.platform == "win32":
    import msvcrt

    def _wait_for(lock: int) -> None:
        while True:
            os.lseek(lock, 0, os.SEEK_SET)
            try:
                return msvcrt.locking(lock, msvcrt.LK_NBLCK, 1)
            except OSError:
                time.sleep(0.01)

    def _give_back(lock: int) -> None:
        os.lseek(lock, 0, os.SEEK_SET)
        msvcrt.locking(lock, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _wait_for(lock: int) -> None:
        fcntl.flock(lock, fcntl.LOCK_EX)

    def _give_back(lock: int) -> None:
        fcntl.flock(lock, fcntl.LOCK_UN)
