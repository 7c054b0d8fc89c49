# SPDX-License-Identifier: BSD-3-Clause
"""Two ways to say how large leaves are, of forests and of the twin."""

LEAF_RULES = ("stop", "floor")


def leaf_options(rule: str, k: int) -> dict[str, int | None]:
    """Return parameters for leaves of about k points.

    "stop": nodes of at most k points are leaves, and any cut may be drawn. "floor":
    each side of a cut has at least k points.
    """
    if rule == "stop":
        return {"min_samples_split": k + 1, "min_samples_leaf": None}
    return {"min_samples_split": 2, "min_samples_leaf": k}
