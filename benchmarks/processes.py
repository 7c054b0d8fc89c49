# SPDX-License-Identifier: BSD-3-Clause
"""Where the benchmarks install other people's work, and processes that run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mrforest.experiments import whole_file

PEERS = Path(__file__).parents[1] / "build/peers"
COMMON = Path(__file__).with_name("common")  # what workers may import


class WorkerError(RuntimeError):
    """A worker could not do a task, and says why."""


def python_with(name: str, requirements: Sequence[str]) -> Path:
    """Return the interpreter of an environment of that name; make it if need be.

    Without requirements it is the one that runs this.
    """
    if not requirements:
        return Path(sys.executable)
    folder = PEERS / name
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    note = folder / "installed.txt"  # the last to be written
    wanted = "\n".join(requirements)
    if not note.exists() or note.read_text() != wanted:
        print(f"installing {', '.join(requirements)} into {folder}", file=sys.stderr)
        venv.create(folder, clear=True, with_pip=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        if subprocess.run([*pip, *requirements]).returncode != 0:
            raise WorkerError(f"{', '.join(requirements)} cannot be installed")
        with whole_file(note) as unfinished:
            unfinished.write_text(wanted)
    return python


class Worker:
    """A process that does one thing at a time.

    A task is a line of JSON on its standard input, the answer one on its standard
    output.

    Parameters
    ----------
    name : str
        Of its log, which has what it says on the way.
    command : sequence
        What to start.
    environment : mapping
        Variables beside those of this process.
    """

    def __init__(
        self, name: str, command: Sequence[str | Path], environment: Mapping[str, str]
    ) -> None:
        self.name = name
        PEERS.mkdir(parents=True, exist_ok=True)
        self.log = PEERS / f"{name}.log"
        variables = {**os.environ, **environment}
        paths = [str(COMMON), variables.get("PYTHONPATH", "")]
        variables["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=variables,
            )

    def ask(self, **task: Any) -> dict[str, Any]:
        """Have it do a task; return what it measured."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            print(json.dumps(task), file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            said = self.log.read_text()[-2000:]
            code = self.process.wait()
            raise WorkerError(
                f"{self.name} stopped at {task}:\n{said}\nends with exit code {code}"
            )
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise WorkerError(f"{self.name} failed at {task}:\n{answer['error']}")
        return answer

    @property
    def has_ended(self) -> bool:
        """Whether it will do no more tasks."""
        return self.process.poll() is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self.process.kill()  # it may be in the middle of a long fit
        self.process.communicate()  # no more tasks: it ends
