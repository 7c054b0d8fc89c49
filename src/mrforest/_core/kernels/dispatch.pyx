# SPDX-License-Identifier: BSD-3-Clause
"""Choose the kernels once, when the package is imported.

The environment variable MRFOREST_KERNELS names the ones to take; without it, those for the widest
registers of this machine are taken.
"""

import os

cdef extern from "kernels/kernels.h" nogil:
    const Kernels* mrforest_kernels_named(const char* name)
    const Kernels* mrforest_widest_kernels()

cdef extern from "kernels/ways.h" nogil:
    uint8_t* mrforest_is_off

KERNEL_NAMES = ("baseline", "avx2")


def available_kernels():
    """Return the names of the kernels that this build has and this machine can run."""
    return tuple(
        name for name in KERNEL_NAMES if mrforest_kernels_named(name.encode()) is not NULL)


def kernel_name():
    """Return the name of the kernels that run."""
    return kernels.name.decode()


cdef const Kernels* chosen_kernels() except NULL:
    name = os.environ.get("MRFOREST_KERNELS")
    if not name:
        return mrforest_widest_kernels()
    if name not in available_kernels():
        raise ImportError(
            f"the environment variable MRFOREST_KERNELS is {name!r}; this machine has: "
            f"{', '.join(available_kernels())}")
    return mrforest_kernels_named(name.encode())


kernels = chosen_kernels()
is_off = mrforest_is_off
