# SPDX-License-Identifier: BSD-3-Clause
"""Settings and measures as text."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["identity"]

# JSON has no infinity, but every reader, SQLite too, takes this number for it.
INFINITY, INFINITY_MARK = "9e999", "\0infinity"


def identity(settings: Mapping[str, Any]) -> str:
    """Write settings in the one way in which they are compared.

    Parameters
    ----------
    settings : mapping
        Names to texts, numbers, truth values, None, or lists of these.

    Returns
    -------
    str
        JSON with sorted names.

    Examples
    --------
    >>> identity({"forest": "MRF", "dataset": "zoo", "fold": 3})
    '{"dataset":"zoo","fold":3,"forest":"MRF"}'
    """
    text = json.dumps(
        _plain(settings), sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    mark = json.dumps(INFINITY_MARK)
    return text.replace(mark, INFINITY)


def _plain(value: Any) -> Any:
    """Turn a value into what JSON can tell; not a number becomes null."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            return None
        if value < 0:
            raise ValueError("-inf cannot be stored")
        return INFINITY_MARK
    return value
