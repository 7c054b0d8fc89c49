# SPDX-License-Identifier: BSD-3-Clause
"""Fences stop what reads or writes too far; the header is read as it is meant."""

import ctypes
import os
import re
import signal
import sys
import warnings

import numpy as np
import pytest

from tests.kernels import library
from tests.kernels.header import Header, _read
from tests.kernels.memory import Fenced

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no fences on Windows")


@pytest.mark.parametrize("place", [2, 3])
def test_nobody_reads_behind_an_array(place):
    fenced = Fenced(np.zeros(3, np.uint8))
    with warnings.catch_warnings():  # Python warns of forks where there are threads
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        signal.signal(signal.SIGSEGV, signal.SIG_DFL)  # no report of this one
        ctypes.string_at(fenced.address + place, 1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) == (place == 3)


def test_who_writes_before_an_array_is_seen():
    fenced = Fenced(np.zeros(4, np.uint8))
    fenced.check(is_const=True)
    ctypes.c_uint8.from_address(fenced.address - 1).value ^= 1
    with pytest.raises(AssertionError, match="was written"):
        fenced.check(is_const=False)


def test_who_writes_a_const_array_is_seen():
    fenced = Fenced(np.zeros(4, np.uint8))
    ctypes.c_uint8.from_address(fenced.address).value ^= 1
    fenced.check(is_const=False)
    with pytest.raises(AssertionError, match="const"):
        fenced.check(is_const=True)


# --- The table of kernels -------------------------------------------------------------


def test_kernels_say_their_name(kernels, request):
    assert kernels.name == request.node.callspec.params["kernels"]


def test_no_kernel_is_left_out(kernels):
    names = library.header().kernels
    assert len(names) >= 53
    assert all(getattr(kernels._table, name) for name in names)


def test_unknown_names_have_no_kernels():
    assert library.kernels_named("avx1024") is None


def test_names_are_the_same_wherever_they_are_written():
    if not library.SOURCES.exists():
        pytest.skip("the sources are not there")
    names = list(library.header().kernels)
    source = (library.SOURCES / "kernels.c").read_text()
    filled_in = re.findall(r"\.(\w+) = (\w+),", source)
    assert [field for field, _ in filled_in if field in names] == names
    assert all(field == function for field, function in filled_in if field in names)
    cython = (library.SOURCES / "dispatch.pxd").read_text()
    declared = re.findall(r"\(\*(\w+)\)", cython.partition('"mrforest_kernels"')[2])
    assert set(declared) <= set(names)


def test_each_kernel_has_a_test():
    folder = library.Path(__file__).parent
    tests = "".join(path.read_text() for path in folder.glob("test_*.py"))
    called = set(re.findall(r"kernels\.(\w+)", tests))
    called |= {f"walk_{width}" for width in ("slim", "bytes", "shorts")}
    assert set(library.header().kernels) <= called


def test_declarations_that_are_not_understood_are_refused():
    for text in (
        "union { int a; } b;",
        "typedef struct { unknown a; } b;",
        "int f(void);",
    ):
        with pytest.raises(ValueError, match=r"unknown type|not understood"):
            _read(text, Header())


def test_structs_lie_as_in_c():
    dtype = library.header().dtype
    assert dtype("mrforest_node").itemsize == 16
    assert dtype("mrforest_coded_node").itemsize == 8
    assert dtype("mrforest_set_split").itemsize == 12  # 10 bytes and a gap
    assert dtype("mrforest_row_set").itemsize == 128
    assert dtype("mrforest_cut").fields["n_left"][1] == 16
