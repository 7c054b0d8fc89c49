# SPDX-License-Identifier: BSD-3-Clause
"""Everything that can be reached from an object, with the path that leads there."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

# What has no parts of its own.
ATOMS = (str, bytes, bytearray, int, float, complex, bool, type(None), np.generic)
# Code, not data.
CODE = (
    type,
    types.ModuleType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.MappingProxyType,
)
PROTOCOL = 4


def walk(root: Any, *, parameters: bool = True) -> Iterator[tuple[str, Any]]:
    """Yield path and value of all that an object holds, each object once.

    That is: attributes, slots, items of containers, what a function encloses, and what
    pickle stores. Names that are no attributes stand in angle brackets.

    Parameters
    ----------
    root : object
        It is yielded first, with an empty path.
    parameters : bool, default=True
        False: not the plain parameters that an estimator was constructed with.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> paths = [path for path, _ in walk([{"a": DummyClassifier()}])]
    >>> paths[2:5]
    ["[0]['a']", "[0]['a'].strategy", "[0]['a'].random_state"]
    """
    # Objects are kept: the address of one that is gone may be another's.
    seen: dict[int, Any] = {id(root): root}
    waiting = [("", root)]
    while waiting:
        path, value = waiting.pop()
        yield path.removeprefix("."), value
        skipped = set() if parameters else {f".{name}" for name in parameters_of(value)}
        below = []
        for step, part in parts_of(value):
            if step in skipped:
                continue
            if isinstance(part, ATOMS):
                below.append((path + step, part))
            elif id(part) not in seen:
                seen[id(part)] = part
                below.append((path + step, part))
        waiting += reversed(below)


def parameters_of(value: Any) -> dict[str, Any]:
    """Return the plain parameters that an estimator was constructed with.

    The steps of a pipeline are parameters too, but they are fitted.
    """
    if isinstance(value, type) or not hasattr(value, "get_params"):
        return {}
    given = value.get_params(deep=False)
    return {name: part for name, part in given.items() if not _has_estimators(part)}


def _has_estimators(value: Any) -> bool:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return any(map(_has_estimators, value))
    return hasattr(value, "fit")


def parts_of(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts of one object, with the step that leads to each."""
    if isinstance(value, ATOMS + CODE):
        return
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            yield from ((f"[{i}]", item) for i, item in enumerate(value.flat))
        elif value.dtype.names is not None:
            yield from ((f"[{name!r}]", value[name]) for name in value.dtype.names)
        return
    if isinstance(value, Mapping):
        yield from ((f"[{key!r}]", item) for key, item in value.items())
    elif isinstance(value, list | tuple | set | frozenset):
        yield from ((f"[{i}]", item) for i, item in enumerate(value))
    if isinstance(value, types.FunctionType):
        names = value.__code__.co_freevars
        cells = value.__closure__ or ()
        yield from (
            (f".<{name}>", cell.cell_contents)
            for name, cell in zip(names, cells, strict=True)
        )
        return
    attributes = attributes_of(value)
    yield from ((f".{name}", part) for name, part in attributes.items())
    if not isinstance(value, list | tuple | set | frozenset | dict):
        yield from pickled_parts(value, attributes)


def attributes_of(value: Any) -> dict[str, Any]:
    """Return attributes and filled slots."""
    found = {}
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in [slots] if isinstance(slots, str) else slots:
            if not name.startswith("__") and hasattr(value, name):
                found[name] = getattr(value, name)
    return found | dict(getattr(value, "__dict__", {}))


def pickled_parts(
    value: Any, attributes: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Yield what pickle stores beside the attributes."""
    try:
        reduced = value.__reduce_ex__(PROTOCOL)
    except Exception:  # it does not want to be pickled, for whatever reason
        return
    if not isinstance(reduced, tuple):
        return
    _, arguments, state, *items = (*reduced, None)[: max(3, len(reduced))]
    yield from ((f".<pickled {i}>", part) for i, part in enumerate(arguments))
    if isinstance(state, dict):
        yield from (
            (f".<{name}>", part)
            for name, part in state.items()
            if name not in attributes
        )
    elif state is not None:
        yield ".<pickled>", state
    for iterator in items:
        if iterator is not None and not callable(iterator):
            yield from ((f".<item {i}>", part) for i, part in enumerate(iterator))
