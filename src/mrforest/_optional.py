# SPDX-License-Identifier: BSD-3-Clause
"""Packages that only some functions need."""

from importlib import import_module
from typing import Any


def needed(module: str, by: str) -> Any:
    """Import a module, or say who needs its package, and how to get it.

    Examples
    --------
    >>> needed("nowhere.at_all", by="to_nowhere")
    Traceback (most recent call last):
    ImportError: to_nowhere needs the package nowhere: pip install nowhere
    """
    package = module.split(".")[0]
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{by} needs the package {package}: pip install {package}"
        ) from error
