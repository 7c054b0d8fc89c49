# SPDX-License-Identifier: BSD-3-Clause
"""Python values as JSON and arrays, and back: only what is listed here.

None, booleans, whole numbers and texts stand for themselves. All else is an object with
one key, which says what it is:

    {"list": [...]}   {"tuple": [...]}    {"dict": [[key, value], ...]}
    {"array": "3"}    {"objects": [...]}  {"texts": [...], "width": 7}
    {"bytes": "00ff"} {"float": "0x1p-3"} {"Schema": {"categories": ..., "names": ...}}
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrforest.files._container import NAMES, Arrays, ForestFileError

# Longest text of an array: what one would take, all have room for.
MOST_WIDTH = 10_000


class Writer:
    """Turns values into JSON, and puts arrays aside.

    Parameters
    ----------
    records : dict
        Names of classes whose fields are written, to the classes.
    """

    def __init__(self, records: dict[str, type[Any]]) -> None:
        self._records = {kind: name for name, kind in records.items()}
        self.arrays: Arrays = {}

    def json_of(self, value: Any, what: str) -> Any:
        """Return a value as JSON; `what` says in an error what it is."""
        if type(value) in self._records:
            name = self._records[type(value)]
            parts = fields_of(type(value))
            return {
                name: {part: self.json_of(getattr(value, part), what) for part in parts}
            }
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, np.bool_):
            return bool(value)
        if isinstance(value, Integral):
            return int(value)
        if isinstance(value, Real):
            return {"float": float(value).hex()}
        if isinstance(value, bytes):
            return {"bytes": value.hex()}
        if isinstance(value, np.ndarray):
            return self._json_of_array(value, what)
        if isinstance(value, (list, range)):
            return {"list": [self.json_of(item, what) for item in value]}
        if isinstance(value, tuple):
            return {"tuple": [self.json_of(item, what) for item in value]}
        if isinstance(value, dict):
            items = [
                [self.json_of(part, what) for part in pair] for pair in value.items()
            ]
            return {"dict": items}
        raise TypeError(
            f"{what} has a value of type {type(value).__name__}, which a file that "
            f"runs no code cannot hold: {value!r}; pickle the forest instead"
        )

    def _json_of_array(self, value: NDArray[Any], what: str) -> Any:
        if value.dtype.kind == "U":
            check_flat(value, what)
            return {"texts": value.tolist(), "width": value.dtype.itemsize // 4}
        if value.dtype.kind == "O":
            check_flat(value, what)
            return {"objects": [self.json_of(item, what) for item in value]}
        if value.dtype.newbyteorder("<") not in NAMES or not 1 <= value.ndim <= 2:
            raise TypeError(
                f"{what} has an array of dtype {value.dtype} and {value.ndim} "
                "dimensions, which a file cannot hold; pickle the forest instead"
            )
        name = str(len(self.arrays))
        self.arrays[name] = value
        return {"array": name}


def check_flat(value: NDArray[Any], what: str) -> None:
    """Arrays of texts and objects have one dimension."""
    if value.ndim != 1:
        raise TypeError(
            f"{what} has an array of {value.dtype} of {value.ndim} dimensions"
        )


class Reader:
    """Turns JSON into values.

    Parameters
    ----------
    records : dict
        As for `Writer`.
    arrays : dict
    """

    def __init__(self, records: dict[str, type[Any]], arrays: Arrays) -> None:
        self._records = records
        self._arrays = arrays
        self._ways: dict[str, Callable[[Any], Any]] = {
            "float": self._float,
            "bytes": lambda value: bytes.fromhex(text(value)),
            "array": self._array,
            "objects": self._objects,
            "list": self._list,
            "tuple": lambda value: tuple(self._list(value)),
            "dict": self._dict,
        }

    def value_of(self, given: Any) -> Any:
        """Return the value that JSON stands for."""
        if given is None or isinstance(given, (bool, int, str)):
            return given
        if not isinstance(given, dict):
            raise ForestFileError(f"a value is no value: {given!r:.100}")
        if given.keys() == {"texts", "width"}:
            return self._texts(given["texts"], given["width"])
        if len(given) != 1:
            raise ForestFileError(f"a value is no value: {given!r:.100}")
        ((way, content),) = given.items()
        if way in self._ways:
            return self._ways[way](content)
        if way in self._records:
            return self._record(self._records[way], content)
        raise ForestFileError(f"a value is of an unknown kind: {way!r:.100}")

    def _float(self, content: Any) -> float:
        return float.fromhex(text(content))

    def _list(self, content: Any) -> list[Any]:
        return [self.value_of(item) for item in listed(content)]

    def _dict(self, content: Any) -> dict[Any, Any]:
        pairs = [self._list(pair) for pair in listed(content)]
        return {key: value for key, value in pairs}  # noqa: C416 - checks the lengths

    def _array(self, content: Any) -> NDArray[Any]:
        return self._arrays[text(content)].copy()

    def _objects(self, content: Any) -> NDArray[Any]:
        values = self._list(content)
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array

    def _texts(self, content: Any, width: Any) -> NDArray[Any]:
        values = [text(item) for item in listed(content)]
        longest = max(map(len, values), default=0)
        if type(width) is not int or not longest <= width <= MOST_WIDTH:
            raise ForestFileError(f"texts have no width: {width!r:.100}")
        return np.array(values, dtype=f"<U{width}")

    def _record(self, kind: type[Any], content: Any) -> Any:
        names = fields_of(kind)
        if not isinstance(content, dict) or content.keys() != set(names):
            raise ForestFileError(f"a {kind.__name__} has other parts than it should")
        return kind(**{name: self.value_of(content[name]) for name in names})


def fields_of(kind: type[Any]) -> list[str]:
    """Return the names of the fields of a dataclass or named tuple."""
    if is_dataclass(kind):
        return [part.name for part in fields(kind) if part.init]
    return list(kind._fields)


def text(value: Any) -> str:
    """Return a text; an error if it is none."""
    if not isinstance(value, str):
        raise ForestFileError(f"a text is no text: {value!r:.100}")
    return value


def listed(value: Any) -> list[Any]:
    """Return a list; an error if it is none."""
    if not isinstance(value, list):
        raise ForestFileError(f"a list is no list: {value!r:.100}")
    return value
