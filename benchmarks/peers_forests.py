# SPDX-License-Identifier: BSD-3-Clause
"""The forests of peers.py: where each is installed, and processes that fit them."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from processes import PEERS, Worker, python_with

WORKER = Path(__file__).with_name("peers_worker.py")
# All but one forest live in one environment and run in one process. treeple builds on
# parts of scikit-learn that other versions do not have.
ENVIRONMENTS = {
    "forests": (
        "numpy==2.4.6",
        "scipy==1.17.1",
        "pandas==3.1.1",
        "joblib==1.6.0",
        "narwhals==2.28.0",
        "scikit-learn==1.9.1",
        "scikit-learn-intelex==2026.2.0",
        "lightgbm==4.7.0",
        "xgboost-cpu==3.2.0",
        "ydf==0.16.1",
        "fastforest==0.1.4",
    ),
    "treeple": ("treeple==0.10.3", "scikit-learn==1.6.1"),
}


@dataclass(frozen=True)
class Forest:
    """A forest with its default settings.

    Attributes
    ----------
    label : str
        Its name in tables and figures.
    colour : str
        In figures.
    is_ours : bool
    environment : str
        Where it is installed; ours comes with the interpreter that runs peers.py.
    """

    label: str
    colour: str
    is_ours: bool = False
    environment: str = "forests"


FORESTS = {
    "forest": Forest("Forest (ours)", "#0d1b4c", is_ours=True),
    "mrf": Forest("MRF", "#1f5fa8", is_ours=True),
    "breiman": Forest("Breiman", "#6fb1e8", is_ours=True),
    "random-forest": Forest("scikit-learn RandomForest", "#e07b00"),
    "extra-trees": Forest("scikit-learn ExtraTrees", "#f2b866"),
    "intelex": Forest("scikit-learn-intelex RandomForest", "#c0392b"),
    "fastforest": Forest("fastforest", "#2a7f62"),
    "lightgbm": Forest("LightGBM rf", "#5b9a68"),
    "xgboost": Forest("XGBoost RF", "#8e6bb0"),
    "ydf": Forest("YDF RandomForest", "#555555"),
    "treeple": Forest("treeple HonestForest", "#a98467", environment="treeple"),
}
OURS = tuple(name for name, forest in FORESTS.items() if forest.is_ours)
RIVALS = tuple(name for name, forest in FORESTS.items() if not forest.is_ours)


def folder_with_ours() -> Path:
    """Return a folder that has our package alone, the very one that is installed here.

    So that it runs in the same process as its peers without being built again.
    """
    package = find_spec("mrforest")
    assert package is not None
    assert package.origin is not None
    folder = PEERS / "ours"
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / "mrforest"
    link.unlink(missing_ok=True)
    link.symlink_to(Path(package.origin).parent, target_is_directory=True)
    return folder


def start(environment: str, log: str, script: Path = WORKER) -> Worker:
    """Start a process of an environment; install what it needs if need be."""
    python = python_with(environment, ENVIRONMENTS[environment])
    paths = {"PYTHONPATH": str(folder_with_ours())} if environment == "forests" else {}
    # -P: the scripts beside the worker are nothing to import.
    return Worker(log, [python, "-P", script], paths)


class Workers:
    """One process for each environment, started when it is needed.

    Parameters
    ----------
    script : Path
        What the processes run.
    """

    def __init__(self, script: Path = WORKER) -> None:
        self._script = script
        self._stack = ExitStack()
        self._running: dict[str, Worker] = {}

    def ask(self, environment: str, **task: Any) -> dict[str, Any]:
        """Have a task done beside others of the environment, in the same process."""
        if environment not in self._running or self._running[environment].has_ended:
            worker = start(
                environment, f"{environment}-{self._script.stem}", self._script
            )
            self._running[environment] = self._stack.enter_context(worker)
        return self._running[environment].ask(**task)

    def ask_alone(self, forest: str, **task: Any) -> dict[str, Any]:
        """Have its memory measured in a process that has seen nothing else."""
        with start(FORESTS[forest].environment, f"{forest}-memory") as worker:
            return worker.ask(do="weigh", forest=forest, **task)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)
