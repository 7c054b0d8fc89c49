# SPDX-License-Identifier: BSD-3-Clause
"""The kernels of the compiled package, to be called from Python with arrays of NumPy.

The environment variable MRFOREST_KERNELS_LIBRARY names another shared library with
kernels.c and dispatch.c in it: of another compiler, for another processor.

Each array that a kernel gets is a copy in memory with fences, see memory.py; afterwards
what it wrote is copied back.
"""

import ctypes
import functools
import importlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.kernels.header import TABLE, Header, Variable, read_header
from tests.kernels.memory import Fenced

SOURCES = Path(__file__).parents[2] / "src" / "mrforest" / "_core" / "kernels"
NAMES = ("baseline", "avx2")
UNSET = b"\x5a"  # large numbers, and pointers to nowhere


@functools.cache
def library_path() -> Path:
    """Return the shared library whose kernels are tested."""
    named = os.environ.get("MRFOREST_KERNELS_LIBRARY")
    if named:
        return Path(named)
    return Path(importlib.import_module("mrforest._core.kernels.dispatch").__file__)


@functools.cache
def header() -> Header:
    """Return what the header file of the library declares."""
    beside = library_path().parent
    return read_header(beside if (beside / "kernels.h").exists() else SOURCES)


def __getattr__(name: str) -> int:
    """Return a constant of kernels.h, whose prefix MRFOREST_ is left off."""
    try:
        return header().constants["MRFOREST_" + name]
    except KeyError:
        raise AttributeError(name) from None


@dataclass(frozen=True)
class At:
    """A pointer to an item of an array; those of one call point into one copy of it."""

    array: np.ndarray
    index: int


class Struct:
    """A struct of kernels.h, an attribute for each field: a number or an array.

    A field that was not given holds arbitrary bytes when a kernel is called.
    """

    def __init__(self, type_name: str, **fields: Any):
        self._type_name = "mrforest_" + type_name
        unknown = set(fields) - set(header().fields[self._type_name])
        if unknown:
            raise TypeError(f"{type_name} has no {unknown}")
        self.__dict__.update(fields)


class _Call:
    """The memory that one call of a kernel has."""

    def __init__(self, kernel: str):
        self._kernel = kernel
        self._fenced: list[tuple[Fenced, bool]] = []
        self._after: list[Any] = []
        self._whole: dict[int, Fenced] = {}  # arrays that are pointed into

    def argument(self, variable: Variable, value: Any) -> Any:
        """Return what ctypes passes."""
        if variable.stars == 0:
            if isinstance(value, Struct):
                return self._struct(value)
            return header().types[variable.type](value)
        return ctypes.c_void_p(self._pointer(variable, value))

    def finish(self, has_returned: bool) -> None:
        """Check all fences, copy back what was written."""
        for fenced, is_const in self._fenced:
            if has_returned:
                fenced.check(is_const)
        if has_returned:
            for copy_back in self._after:
                copy_back()
        for fenced, _ in self._fenced:
            fenced.give_back()

    def _pointer(self, variable: Variable, value: Any) -> int | None:
        if value is None:
            return None
        if isinstance(value, Struct):
            return self._pointer_to_structs(variable, [value])
        if isinstance(value, At):
            whole = self._whole.get(id(value.array))
            if whole is None:
                whole = self._fence(value.array, variable.is_const)
                self._whole[id(value.array)] = whole
            return whole.address + int(value.index) * value.array.itemsize
        if isinstance(value, Sequence):
            if variable.stars == 2:
                inner = Variable(variable.name, variable.type, 1, variable.is_const)
                addresses = [self._pointer(inner, item) for item in value]
                return self._fence(np.array(addresses, np.uintp), True).address
            return self._pointer_to_structs(variable, value)
        if variable.type != "void" and value.dtype != header().dtype(variable.type):
            raise TypeError(f"{variable.name} of {self._kernel} is {value.dtype}")
        fenced = self._fence(value, variable.is_const)
        if not variable.is_const:
            self._after.append(lambda: value.__setitem__(..., fenced.contents()))
        return fenced.address

    def _fence(self, values: np.ndarray, is_const: bool) -> Fenced:
        fenced = Fenced(values)
        self._fenced.append((fenced, is_const))
        return fenced

    def _struct(self, value: Struct) -> ctypes.Structure:
        ctype = header().types[value._type_name]
        struct = ctype.from_buffer(bytearray(UNSET * ctypes.sizeof(ctype)))
        for name, variable in header().fields[value._type_name].items():
            if name not in value.__dict__:
                continue
            given = getattr(value, name)
            if variable.stars:
                setattr(struct, name, self._pointer(variable, given))
            elif isinstance(given, np.ndarray):
                np.ctypeslib.as_array(getattr(struct, name)).reshape(-1)[
                    : given.size
                ] = given.reshape(-1)
            else:
                setattr(struct, name, given)
        return struct

    def _pointer_to_structs(self, variable: Variable, values: Sequence[Struct]) -> int:
        ctype = header().types[variable.type]
        structs = b"".join(bytes(self._struct(value)) for value in values)
        fenced = self._fence(np.frombuffer(structs, np.uint8), variable.is_const)
        if not variable.is_const:
            for i, value in enumerate(values):
                at = fenced.address + i * ctypes.sizeof(ctype)
                self._after.append(functools.partial(_read_back, value, ctype, at))
        return fenced.address


def _read_back(value: Struct, ctype: type, address: int) -> None:
    struct = ctype.from_address(address)
    for name, variable in header().fields[value._type_name].items():
        if variable.stars:
            continue
        now = getattr(struct, name)
        is_array = isinstance(now, ctypes.Array)
        setattr(value, name, np.ctypeslib.as_array(now).copy() if is_array else now)


class Kernels:
    """The kernels of one width, each a method."""

    def __init__(self, address: int):
        self._table = header().types[TABLE].from_address(address)
        self.name = ctypes.string_at(self._table.name).decode()
        for name, variables in header().kernels.items():
            setattr(self, name, self._kernel(name, variables))

    @property
    def powers(self) -> np.ndarray:
        """The powers of sum_powers."""
        n = header().constants["MRFOREST_N_POWERS"]
        return np.array((ctypes.c_double * n).from_address(self._table.powers))

    def _kernel(self, name: str, variables: list[Variable]):
        result = header().results[name]
        function = ctypes.CFUNCTYPE(result)(getattr(self._table, name))

        def call(*arguments: Any) -> Any:
            memory = _Call(name)
            has_returned = False
            try:
                pairs = zip(variables, arguments, strict=True)
                returned = function(*[memory.argument(*pair) for pair in pairs])
                has_returned = True
            finally:
                memory.finish(has_returned)
            return returned

        return call


@functools.cache
def kernels_named(name: str) -> Kernels | None:
    """Return the kernels of a name, None if this machine or this build has none."""
    named = ctypes.CDLL(str(library_path())).mrforest_kernels_named
    named.argtypes, named.restype = [ctypes.c_char_p], ctypes.c_void_p
    address = named(name.encode())
    return Kernels(address) if address else None
