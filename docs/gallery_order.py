# SPDX-License-Identifier: BSD-3-Clause
"""The order of the examples in the gallery."""

from __future__ import annotations

FIRST = ["plot_self_tuning.py", "plot_choose_a_forest.py"]


def default_forest_first(name: str) -> tuple[int, str]:
    """Return the key by which files are sorted: the default forest, then by name."""
    return FIRST.index(name) if name in FIRST else len(FIRST), name
