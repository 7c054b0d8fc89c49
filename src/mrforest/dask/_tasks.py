# SPDX-License-Identifier: BSD-3-Clause
"""Tasks: functions that run somewhere on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

Future = Any


class Cluster(Protocol):
    """Where functions run. What they return stays there until it is gathered."""

    @property
    def n_workers(self) -> int:
        """How many workers there are."""

    def submit(
        self, function: Callable[..., Any], *args: Any, worker: int | None = None
    ) -> Future:
        """Let a function run; futures among its arguments stand for their results."""

    def gather(self, futures: Sequence[Future]) -> list[Any]:
        """Return results."""


def same(thing: Any) -> Any:
    """Return it: a task that has a large argument for others."""
    return thing
