# SPDX-License-Identifier: BSD-3-Clause
"""Results of experiments, in one SQLite file that several processes may share.

A result is known by its experiment and its settings, and is there once. Results of each
experiment can be read as plain columns from a view that has the name of the
experiment::

    sqlite3 results.sqlite "select forest, avg(accuracy) from table1 group by 1"
"""

from __future__ import annotations

import json
import os
import re
import socket
import sqlite3
import time
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pandas as pd

from mrforest import __version__
from mrforest.experiments._identity import identity

__all__ = ["Store", "identity"]

# "mrff" in ASCII, so that `file` and we ourselves know whose file it is.
APPLICATION = 0x6D726666
SCHEMA_VERSION = 1
SCHEMA = (
    """
    CREATE TABLE results (
        experiment TEXT NOT NULL,
        settings TEXT NOT NULL,  -- JSON; with the experiment, what the result is of
        measures TEXT NOT NULL,  -- JSON
        seconds REAL,            -- what it took
        version TEXT NOT NULL,   -- of the package
        added TEXT NOT NULL,     -- UTC
        PRIMARY KEY (experiment, settings)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE claims (
        experiment TEXT NOT NULL,
        settings TEXT NOT NULL,
        process INTEGER NOT NULL,
        host TEXT NOT NULL,
        started REAL NOT NULL,   -- seconds since 1970
        seen REAL NOT NULL,      -- last sign of life
        PRIMARY KEY (experiment, settings)
    ) WITHOUT ROWID
    """,
)
OWN_COLUMNS = {"settings", "seconds", "version", "added"}

BUSY_SECONDS = 60.0
# Nobody who is alive is silent for so long.
STALE_SECONDS = 120.0


class Store:
    """One file of results.

    Parameters
    ----------
    path : Path or str
        The file; it is made if there is none.

    Raises
    ------
    ValueError
        If the file is another one, or of another version of the schema.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, Store(f"{folder}/results.sqlite") as store:
    ...     store.add("coins", {"seed": 1}, {"heads": 0.5})
    ...     print(store.done("coins"))
    {'{"seed":1}'}
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._host = socket.gethostname()
        # Columns of the view of each experiment, as far as we have seen them.
        self._columns: dict[str, set[str]] = {}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Transactions are begun by hand, and hold what belongs together.
        self._connection = sqlite3.connect(
            self.path, timeout=BUSY_SECONDS, isolation_level=None
        )
        try:
            self._open()
        except sqlite3.DatabaseError as error:
            self.close()
            raise ValueError(f"cannot use {self.path} for results: {error}") from error
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        with self._transaction():
            application, version = self._pragma("application_id", "user_version")
            is_new = not self._rows("SELECT 1 FROM sqlite_master LIMIT 1")
            if is_new and not application and not version:
                for statement in SCHEMA:
                    self._connection.execute(statement)
                self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
                self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            elif application != APPLICATION:
                raise ValueError(f"{self.path} is no file of results of mrforest")
            elif version != SCHEMA_VERSION:
                raise ValueError(
                    f"{self.path} has version {version} of the schema of results, this "
                    f"mrforest ({__version__}) has version {SCHEMA_VERSION}: name "
                    "another file, or use the mrforest that wrote this one"
                )
        # Readers and a writer do not wait for each other, and a file is sound whenever
        # a process is killed. Only a power cut may take the last results.
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")

    def _pragma(self, *names: str) -> list[int]:
        return [self._rows(f"PRAGMA {name}")[0][0] for name in names]

    def _rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement, values).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Do all of a block or nothing, while nobody else writes."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            self._columns.clear()  # a view may be as it was before
            raise
        self._connection.execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # ---- results ---------------------------------------------------------------------

    def done(self, experiment: str) -> set[str]:
        """Return the identities of all results of an experiment."""
        query = "SELECT settings FROM results WHERE experiment = ?"
        return {settings for (settings,) in self._rows(query, experiment)}

    def seconds(self, experiment: str) -> dict[str, float]:
        """Return what results took, by their identities, where that is known."""
        query = (
            "SELECT settings, seconds FROM results "
            "WHERE experiment = ? AND seconds IS NOT NULL"
        )
        return dict(self._rows(query, experiment))

    def add(
        self,
        experiment: str,
        settings: Mapping[str, Any],
        measures: Mapping[str, Any],
        *,
        seconds: float | None = None,
    ) -> None:
        """Add a result, unless it is there already; a claim to it ends.

        Parameters
        ----------
        experiment : str
            Name of the experiment: letters, digits, hyphens and underscores.
        settings, measures : mapping
            Of what, and what was found: names to texts, numbers, truth values, None, or
            lists of these.
        seconds : float or None
            What it took.
        """
        _check_names(experiment, settings, measures)
        key, found = identity(settings), identity(measures)
        with self._transaction():
            self._show(experiment, [*settings, *measures])
            self._connection.execute(
                "INSERT OR IGNORE INTO results VALUES (?, ?, ?, ?, ?, ?)",
                (
                    experiment,
                    key,
                    found,
                    seconds,
                    __version__,
                    datetime.now(UTC).isoformat(timespec="seconds"),
                ),
            )
            self._end_claim(experiment, key)

    def _show(self, experiment: str, names: list[str]) -> None:
        """Let the view of an experiment have a column for each name."""
        view = experiment.replace("-", "_")
        if experiment not in self._columns:
            known = self._rows("SELECT name FROM pragma_table_info(?)", view)
            self._columns[experiment] = {name for (name,) in known}
        if self._columns[experiment].issuperset(names):
            return
        # Another process may have added columns in the meantime.
        rows = self._rows("SELECT name FROM pragma_table_info(?)", view)
        old = [name for (name,) in rows if name not in OWN_COLUMNS]
        columns = list(dict.fromkeys([*old, *names]))
        # A name is in the settings or in the measures; coalesce finds it.
        shown = ", ".join(
            f"coalesce(json_extract(settings, '$.{name}'), "
            f"json_extract(measures, '$.{name}')) AS \"{name}\""
            for name in columns
        )
        self._connection.execute(f'DROP VIEW IF EXISTS "{view}"')
        self._connection.execute(
            f'CREATE VIEW "{view}" AS SELECT {shown}, settings, seconds, version, '
            f"added FROM results WHERE experiment = '{experiment}'"
        )
        self._columns[experiment] = {*columns, *OWN_COLUMNS}

    def frame(self, experiment: str, only: Set[str] | None = None) -> pd.DataFrame:
        """Return results of an experiment, one a row.

        Parameters
        ----------
        experiment : str
            Its name.
        only : set of str or None, default=None
            Identities of the results that are wanted; None: all.

        Returns
        -------
        DataFrame
            Settings and measures as columns, then the version of the package and the
            time. No row and no column if there is no result.
        """
        query = (
            "SELECT settings, measures, version, added FROM results "
            "WHERE experiment = ? ORDER BY settings"
        )
        return pd.DataFrame(
            {
                **json.loads(settings),
                **json.loads(measures),
                "version": version,
                "added": pd.Timestamp(added),
            }
            for settings, measures, version, added in self._rows(query, experiment)
            if only is None or settings in only
        )

    # ---- claims: who is at work on what ----------------------------------------------

    def claim(self, experiment: str, settings: Mapping[str, Any]) -> bool:
        """Claim a result that is to be measured, so that nobody else does.

        A claim ends when the result is added, or by `release`. That of a process that
        died does not count: one that is gone from this machine, or has not called
        `keep_claims` for some time.

        Parameters
        ----------
        experiment : str
            Name of the experiment.
        settings : mapping
            Settings of the result.

        Returns
        -------
        bool
            False if the result is there, or is claimed by somebody.
        """
        key, now = identity(settings), time.time()
        with self._transaction():
            found = "SELECT 1 FROM results WHERE experiment = ? AND settings = ?"
            if self._rows(found, experiment, key):
                return False
            rival = (
                "SELECT process, host, seen FROM claims "
                "WHERE experiment = ? AND settings = ?"
            )
            for process, host, seen in self._rows(rival, experiment, key):
                gone = host == self._host and not _is_alive(process)
                if not gone and now - seen < STALE_SECONDS:
                    return False
            self._connection.execute(
                "INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?, ?)",
                (experiment, key, os.getpid(), self._host, now, now),
            )
        return True

    def keep_claims(self) -> None:
        """Tell the others that this process is still at work on what it claimed."""
        self._connection.execute(
            "UPDATE claims SET seen = ? WHERE process = ? AND host = ?",
            (time.time(), os.getpid(), self._host),
        )

    def release(self, experiment: str, settings: Mapping[str, Any]) -> None:
        """Give a claim back without a result."""
        self._end_claim(experiment, identity(settings))

    def release_all(self) -> None:
        """Give all claims of this process back."""
        self._connection.execute(
            "DELETE FROM claims WHERE process = ? AND host = ?",
            (os.getpid(), self._host),
        )

    def _end_claim(self, experiment: str, key: str) -> None:
        self._connection.execute(
            "DELETE FROM claims WHERE experiment = ? AND settings = ?",
            (experiment, key),
        )


def _is_alive(process: int) -> bool:
    """Whether a process of this machine is there; if unsure, it is."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _check_names(
    experiment: str, settings: Mapping[str, Any], measures: Mapping[str, Any]
) -> None:
    """Refuse names that could not be columns of a view."""
    if not re.fullmatch(r"[A-Za-z][\w-]*", experiment, re.ASCII) or experiment in {
        "results",
        "claims",
    }:
        raise ValueError(
            f"experiment={experiment!r} must be of letters, digits, hyphens and "
            "underscores, and neither 'results' nor 'claims'"
        )
    names = [*settings, *measures]
    for name in names:
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or name in OWN_COLUMNS:
            raise ValueError(
                f"{name!r} must be of letters, digits and underscores, and none of "
                f"{sorted(OWN_COLUMNS)}"
            )
    if twice := set(settings) & set(measures):
        raise ValueError(f"both in settings and in measures: {sorted(twice)}")
