# SPDX-License-Identifier: BSD-3-Clause
"""Memory with fences: nobody can read or write behind it, nor write before it unseen.

    page                       page that nobody may touch
    | ... guards | an array |  |

An array ends where its last page ends, so the machine itself stops a kernel that reads
on. What a kernel may read behind its numbers belongs to the array.
"""

import ctypes
import mmap
import sys

import numpy as np

GUARDS = 256  # bytes before an array that are looked at
GUARD = 0xA5
_PAGE = mmap.PAGESIZE
_PROT_NONE = 0

if sys.platform != "win32":  # where no test gets as far as this
    _libc = ctypes.CDLL(None, use_errno=True)
    _libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_free: dict[int, list["_Pages"]] = {}


class _Pages:
    """Some pages of memory, then one that is forbidden."""

    def __init__(self, n: int):
        self.n_bytes = n * _PAGE
        self._memory = mmap.mmap(-1, self.n_bytes + _PAGE)
        self.bytes = np.frombuffer(self._memory, np.uint8)[: self.n_bytes]
        self.address = self.bytes.ctypes.data
        if _libc.mprotect(self.address + self.n_bytes, _PAGE, _PROT_NONE):
            raise OSError(ctypes.get_errno(), "mprotect")


class Fenced:
    """A copy of an array that ends at a fence."""

    def __init__(self, values: np.ndarray):
        self._values = values
        flat = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
        n_pages = max(1, -(-(flat.size + GUARDS) // _PAGE))
        pool = _free.setdefault(n_pages, [])
        self._pages = pool.pop() if pool else _Pages(n_pages)
        self._begin = self._pages.n_bytes - flat.size
        self._pages.bytes[self._begin - GUARDS : self._begin] = GUARD
        self._pages.bytes[self._begin :] = flat

    @property
    def address(self) -> int:
        """Where the array begins."""
        return self._pages.address + self._begin

    def contents(self) -> np.ndarray:
        """Return what the array holds now, as a new one."""
        now = self._pages.bytes[self._begin :].copy()
        return now.view(self._values.dtype).reshape(self._values.shape)

    def check(self, is_const: bool) -> None:
        """Raise an error if memory before it was written, or itself, though const."""
        before = self._pages.bytes[self._begin - GUARDS : self._begin]
        assert (before == GUARD).all(), "memory before an array was written"
        if is_const:
            now = self._pages.bytes[self._begin :]
            old = np.ascontiguousarray(self._values).reshape(-1).view(np.uint8)
            assert (now == old).all(), "a const array was written"

    def give_back(self) -> None:
        """Let others have the memory."""
        _free[self._pages.n_bytes // _PAGE].append(self._pages)
