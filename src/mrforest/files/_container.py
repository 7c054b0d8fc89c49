# SPDX-License-Identifier: BSD-3-Clause
"""Arrays and a text in one file, which is read without running anything.

The file is in the safetensors format, so other tools can look at the arrays:

    8 bytes    length of the header, little-endian
    header     JSON: dtype, shape and place of each array, and metadata (texts)
    data       the arrays, one after the other, without gaps

Metadata are the name and version of our format, a SHA-256 of all else, and the text.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT, VERSION = "mrforest", 1
LENGTH_BYTES = 8
METADATA = "__metadata__"

DTYPES = {
    "BOOL": np.dtype(np.bool_),
    "U8": np.dtype(np.uint8),
    "U16": np.dtype("<u2"),
    "U32": np.dtype("<u4"),
    "U64": np.dtype("<u8"),
    "I8": np.dtype(np.int8),
    "I16": np.dtype("<i2"),
    "I32": np.dtype("<i4"),
    "I64": np.dtype("<i8"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}

Arrays = dict[str, NDArray[Any]]


class ForestFileError(ValueError):
    """A file is no forest, or is not whole, or is too new.

    Examples
    --------
    >>> from mrforest.files import ForestFileError, loaded
    >>> try:
    ...     loaded(b"not a forest")
    ... except ForestFileError as error:
    ...     print(type(error).__mro__[1].__name__)
    ValueError
    """


# ---- write ---------------------------------------------------------------------------


def to_bytes(text: str, arrays: Arrays) -> bytes:
    """Return the content of a file."""
    header: dict[str, Any] = {METADATA: metadata_of(text)}
    parts, end = [], 0
    for name, array in arrays.items():
        dtype = array.dtype.newbyteorder("<")
        part = np.ascontiguousarray(array, dtype=dtype).tobytes()
        header[name] = {
            "dtype": NAMES[dtype],
            "shape": list(array.shape),
            "data_offsets": [end, end + len(part)],
        }
        end += len(part)
        parts.append(part)
    data = b"".join(parts)
    header[METADATA]["sha256"] = checksum(header, data)
    encoded = canonical(header)
    return len(encoded).to_bytes(LENGTH_BYTES, "little") + encoded + data


def metadata_of(text: str) -> dict[str, str]:
    """Return the metadata, but for the checksum."""
    return {"format": FORMAT, "version": str(VERSION), "forest": text, "sha256": ""}


def canonical(header: dict[str, Any]) -> bytes:
    """Return the one way to write a header."""
    return json.dumps(header, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def checksum(header: dict[str, Any], data: bytes) -> str:
    """Return the SHA-256 of data and header, as it is without the checksum."""
    metadata = header[METADATA] | {"sha256": ""}
    digest = hashlib.sha256(canonical(header | {METADATA: metadata}))
    digest.update(data)
    return digest.hexdigest()


# ---- read ----------------------------------------------------------------------------


def from_bytes(content: bytes) -> tuple[str, Arrays]:
    """Return text and arrays of a file; the arrays cannot be written to."""
    header, data = parted(content)
    metadata = read_metadata(header)
    if checksum(header, data) != metadata["sha256"]:
        raise ForestFileError(
            "the file has been altered, or was not copied whole: its checksum is not "
            "that of its content"
        )
    arrays, end = {}, 0
    for name, place in header.items():
        if name != METADATA:
            arrays[name], end = read_array(name, place, data, end)
    if end != len(data):
        raise ForestFileError(f"the file has {len(data) - end} bytes too many")
    return metadata["forest"], arrays


def parted(content: bytes) -> tuple[dict[str, Any], bytes]:
    """Part the content of a file into its header and the data."""
    n = int.from_bytes(content[:LENGTH_BYTES], "little")
    if len(content) < LENGTH_BYTES:
        raise ForestFileError(f"the file is cut short: it has {len(content)} bytes")
    start = LENGTH_BYTES + n
    if start > len(content):
        raise ForestFileError(
            "the file is cut short, or no forest: its header should end at byte "
            f"{start}, and it has {len(content)}"
        )
    try:
        header = json.loads(content[LENGTH_BYTES:start])
    except (ValueError, RecursionError) as error:
        raise ForestFileError(f"the file is no forest: {error}") from error
    if not isinstance(header, dict):
        raise ForestFileError("the file is no forest: its header is no JSON object")
    return header, content[start:]


def read_metadata(header: dict[str, Any]) -> dict[str, str]:
    """Return the metadata; an error if the file is not ours, or too new."""
    metadata = header.get(METADATA)
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        raise ForestFileError("the file is no forest: mrforest.save did not write it")
    version = metadata.get("version")
    if not (isinstance(version, str) and version.isdecimal() and len(version) < 10):
        raise ForestFileError(f"the file is no forest: version {version!r}")
    if int(version) > VERSION:
        raise ForestFileError(
            f"the file has version {version} of the format, and this mrforest reads "
            f"versions up to {VERSION}: a newer mrforest wrote it, and can read it"
        )
    if int(version) < 1 or metadata.keys() != metadata_of("").keys():
        raise ForestFileError("the file is no forest: its metadata are not ours")
    if not all(isinstance(value, str) for value in metadata.values()):
        raise ForestFileError("the file is no forest: its metadata are no texts")
    return metadata


def read_array(
    name: str, place: Any, data: bytes, begin: int
) -> tuple[NDArray[Any], int]:
    """Return an array, and where the next one begins."""
    is_place = isinstance(place, dict) and place.keys() == {
        "dtype",
        "shape",
        "data_offsets",
    }
    if not is_place or place["dtype"] not in [*DTYPES]:
        raise ForestFileError(f"array {name!r} is not described as it should be")
    dtype, shape, offsets = (
        DTYPES[place["dtype"]],
        place["shape"],
        place["data_offsets"],
    )
    if not (is_list_of_sizes(shape) and 1 <= len(shape) <= 2):
        raise ForestFileError(f"array {name!r} has no shape")
    end = begin + math.prod(shape) * dtype.itemsize
    if offsets != [begin, end] or end > len(data):
        raise ForestFileError(f"array {name!r} is not where it should be")
    array = np.frombuffer(data[begin:end], dtype=dtype).reshape(shape)
    if dtype.kind == "b" and array.view(np.uint8).max(initial=0) > 1:
        raise ForestFileError(f"array {name!r} has other values than true and false")
    return array.astype(dtype.newbyteorder("="), copy=False), end


def is_list_of_sizes(value: Any) -> bool:
    """Whether it is a list of whole numbers that are not negative."""
    return isinstance(value, list) and all(
        type(size) is int and 0 <= size < 2**48 for size in value
    )
