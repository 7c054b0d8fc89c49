# SPDX-License-Identifier: BSD-3-Clause
"""Forests in files that are read without running code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from mrforest._files import whole_file
from mrforest.files._container import ForestFileError, from_bytes, to_bytes
from mrforest.files._forests import describe, rebuild

__all__ = ["ForestFileError", "load", "save"]


def save(forest: Any, path: str | Path) -> None:
    """Write a fitted forest to a file that `load` reads.

    The file holds arrays and a text, in the safetensors format, and a checksum. It is
    written whole or not at all.

    Parameters
    ----------
    forest : estimator
        A fitted forest of this package.
    path : str or Path
        A file that is there is replaced.

    Raises
    ------
    TypeError
        If a parameter holds Python code (a metric, an oracle or a rule of your own).

    Notes
    -----
    An accountant, or a generator given as ``random_state``, stays behind. Comparison
    forests hold training rows, as they do in memory.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> import mrforest
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = mrforest.MultinomialForestClassifier(10, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mrforest.save(forest, Path(folder) / "iris.mrf")
    ...     again = mrforest.load(Path(folder) / "iris.mrf")
    >>> bool((again.predict_proba(X) == forest.predict_proba(X)).all())
    True
    """
    check_is_fitted(forest)
    content = to_bytes(*describe(forest))
    with whole_file(Path(path)) as unfinished:
        unfinished.write_bytes(content)


def load(path: str | Path) -> Any:
    """Read a forest that `save` has written.

    Nothing in the file is run, and all that compiled code will rely on is checked: a
    file of somebody else's may give a useless forest, but no more.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    estimator
        The same forest, to the bit.

    Raises
    ------
    ForestFileError
        If the file is cut short, altered, no forest at all, or written by a newer
        version. A ValueError.

    Examples
    --------
    >>> from pathlib import Path
    >>> import mrforest
    >>> mrforest.load(Path(mrforest.__file__))
    Traceback (most recent call last):
    mrforest.files._container.ForestFileError: ...
    """
    content = Path(path).read_bytes()
    try:
        return loaded(content)
    except ForestFileError as error:
        raise ForestFileError(f"{path}: {error}") from error


def loaded(content: bytes) -> Any:
    """Return the forest of which a file has this content."""
    try:
        return rebuild(*from_bytes(content))
    except UNREADABLE as error:
        raise ForestFileError(str(error) or type(error).__name__) from error


# What goes wrong where values of a file are not what they should be
UNREADABLE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
