# SPDX-License-Identifier: BSD-3-Clause
"""What kernels.h declares, read from the file itself: tests have no copy of it.

It understands the few kinds of declarations that there are and refuses all others.
"""

import ctypes
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

SCALARS = {
    "int8_t": ctypes.c_int8,
    "uint8_t": ctypes.c_uint8,
    "int32_t": ctypes.c_int32,
    "uint16_t": ctypes.c_uint16,
    "uint32_t": ctypes.c_uint32,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
    "ptrdiff_t": ctypes.c_ssize_t,
    "int": ctypes.c_int,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
    "char": ctypes.c_char,
}
TABLE = "mrforest_kernels"

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_DECLARATION = re.compile(
    r"(?P<define>\#define\s+(?P<constant>\w+)\s+(?P<number>0x[0-9A-Fa-f]+)u?\s*?\n)"
    r"|(?P<directive>\#[^\n]*\n)"
    r"|(?:typedef\s+)?enum\s*\{(?P<enum>[^}]*)\}\s*(?P<enum_name>\w*)\s*;"
    r"|typedef\s+struct\s*\{(?P<struct>[^}]*)\}\s*(?P<struct_name>\w+)\s*;"
    r"|typedef\s+(?P<old>\w+)\s+(?P<new>\w+)\s*;"
    r"|(?P<function>const\s+mrforest_kernels\s*\*\w+\([^)]*\)\s*;)"
    r"|(?P<space>\s+)"
)
_VARIABLE = re.compile(
    r"(?P<type>(?:const\s+)?\w+)\s*(?P<stars>[*\s]*(?:const\s*)?[*\s]*)"
    r"(?P<name>\b\w+)\s*(?P<sizes>(?:\[[^\]]*\])*)$"
)
_KERNEL = re.compile(r"(?P<result>\w+)\s*\(\*(?P<name>\w+)\)\s*\((?P<arguments>.*)\)$")


@dataclass(frozen=True)
class Variable:
    """An argument of a kernel or a field of a struct.

    `stars` counts its `*`; `is_const` tells whether what it points to may not change.
    """

    name: str
    type: str
    stars: int
    is_const: bool


@dataclass
class Header:
    """Constants, structs and kernels of a header file."""

    constants: dict[str, int] = field(default_factory=dict)
    types: dict[str, type] = field(default_factory=lambda: dict(SCALARS))
    fields: dict[str, dict[str, Variable]] = field(default_factory=dict)
    kernels: dict[str, list[Variable]] = field(default_factory=dict)
    results: dict[str, type | None] = field(default_factory=dict)

    def dtype(self, type_name: str) -> np.dtype:
        """Return the type of an array's items."""
        return np.dtype(self.types[type_name])


def read_header(folder: Path) -> Header:
    """Read kernels.h and what it includes."""
    header = Header()
    for name in ("node.h", "kernels.h"):
        _read(_COMMENT.sub(" ", (folder / name).read_text()), header)
    return header


def _read(text: str, header: Header) -> None:
    at = 0
    while at < len(text):
        found = _DECLARATION.match(text, at)
        if found is None:
            raise ValueError(f"not understood: {text[at : at + 80]!r}")
        at = found.end()
        if found["define"]:
            header.constants[found["constant"]] = int(found["number"], 16)
        elif found["enum"] is not None:
            _add_enum(found["enum"], header)
            if found["enum_name"]:
                header.types[found["enum_name"]] = ctypes.c_int
        elif found["struct"] is not None:
            _add_struct(found["struct_name"], found["struct"], header)
        elif found["new"]:
            header.types[found["new"]] = header.types[found["old"]]


def _number(text: str, header: Header) -> int:
    """Return the value of a product or quotient of numbers and constants."""
    if not re.fullmatch(r"[\w\s*/]+", text):
        raise ValueError(f"not a number: {text!r}")
    return int(eval(text.replace("/", "//"), {}, dict(header.constants)))


def _add_enum(text: str, header: Header) -> None:
    following = 0
    for item in text.split(","):
        if not item.strip():
            continue
        name, _, value = item.partition("=")
        number = _number(value, header) if value else following
        header.constants[name.strip()] = number
        following = number + 1


def _variable(text: str, header: Header) -> tuple[Variable, list[int]]:
    found = _VARIABLE.match(" ".join(text.split()))
    if found is None:
        raise ValueError(f"not understood: {text!r}")
    is_const = found["type"].startswith("const")
    type_name = found["type"].removeprefix("const").strip()
    if type_name != "void" and type_name not in header.types:
        raise ValueError(f"unknown type: {text!r}")
    sizes = [_number(size, header) for size in re.findall(r"\[(.*?)\]", found["sizes"])]
    variable = Variable(found["name"], type_name, found["stars"].count("*"), is_const)
    return variable, sizes


def _add_struct(name: str, text: str, header: Header) -> None:
    fields, types = {}, []
    for declaration in filter(None, (part.strip() for part in text.split(";"))):
        kernel = _KERNEL.match(" ".join(declaration.split()))
        if kernel is not None:
            types.append((kernel["name"], ctypes.c_void_p))
            _add_kernel(kernel, header)
            continue
        first, *others = declaration.split(",")
        base = re.match(r"(?:const\s+)?\w+", first)[0]
        for text_of_one in [first, *(f"{base} {other}" for other in others)]:
            variable, sizes = _variable(text_of_one, header)
            fields[variable.name] = variable
            ctype = ctypes.c_void_p if variable.stars else header.types[variable.type]
            for size in reversed(sizes):
                ctype = ctype * size
            types.append((variable.name, ctype))
    header.fields[name] = fields
    header.types[name] = type(name, (ctypes.Structure,), {"_fields_": types})


def _add_kernel(kernel: re.Match, header: Header) -> None:
    header.kernels[kernel["name"]] = [
        _variable(argument, header)[0] for argument in kernel["arguments"].split(",")
    ]
    result = kernel["result"]
    header.results[kernel["name"]] = None if result == "void" else header.types[result]
