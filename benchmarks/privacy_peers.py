# SPDX-License-Identifier: BSD-3-Clause
"""The tools of privacy.py: where each is installed, and a process that fits it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mrforest.experiments import whole_file

PEERS = Path(__file__).parents[1] / "build/peers"
WORKER = Path(__file__).with_name("privacy_worker.py")
# Of the libraries that a tool may use; the tools themselves are told.
ONE_THREAD = dict.fromkeys(
    ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1"
)


@dataclass(frozen=True)
class Tool:
    """Something that learns to tell classes.

    Attributes
    ----------
    label : str
        Its name in tables and figures.
    requirements : tuple of str
        What is installed into an environment of its own; none: it is here already.
    is_private : bool
        Whether it takes an epsilon.
    takes_many_classes : bool
        Or two only.
    """

    label: str
    requirements: tuple[str, ...] = ()
    is_private: bool = True
    takes_many_classes: bool = True


# diffprivlib builds on parts of scikit-learn that later versions do not have.
TOOLS = {
    "mrforest": Tool("mrforest, labels"),
    "mrforest-counts": Tool("mrforest, counts, δ = 1e-6"),
    "diffprivlib": Tool(
        "diffprivlib forest", ("diffprivlib==0.6.6", "scikit-learn==1.7.2")
    ),
    "dp-ebm": Tool(
        "DP-EBM, δ = 1e-6",
        ("interpret-core==0.7.8", "scikit-learn"),
        takes_many_classes=False,
    ),
    "random-forest": Tool("random forest, not private", is_private=False),
    "majority": Tool("majority class", is_private=False),
}
OURS = ("mrforest", "mrforest-counts")
PUBLIC_TOOLS = ("diffprivlib", "dp-ebm")


def python_of(name: str) -> Path:
    """Return the interpreter that has the tool; install it if need be."""
    requirements = TOOLS[name].requirements
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
        subprocess.run([*pip, *requirements], check=True)
        with whole_file(note) as unfinished:
            unfinished.write_text(wanted)
    return python


class Worker:
    """A process that fits one tool, one thing at a time."""

    def __init__(self, name: str) -> None:
        self.name = name
        PEERS.mkdir(parents=True, exist_ok=True)
        self.log = PEERS / f"{name}.log"  # what the tool has to say
        # -P: the scripts beside the worker are nothing to import.
        command = [python_of(name), "-P", WORKER, name]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, **ONE_THREAD},
            )

    def ask(self, **task: Any) -> dict[str, Any]:
        """Have it fit and predict; return what it measured."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            print(json.dumps(task), file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise RuntimeError(
                f"{self.name} stopped at {task}:\n{self.log.read_text()[-2000:]}"
            )
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"{self.name} failed at {task}:\n{answer['error']}")
        return answer

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
