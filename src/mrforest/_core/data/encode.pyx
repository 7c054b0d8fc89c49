# SPDX-License-Identifier: BSD-3-Clause
"""Values to codes, and a fingerprint of each row by which rows are put in order."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from mrforest._core.kernels.dispatch cimport kernels
from mrforest._core.random.rng cimport mix
from mrforest._core.types cimport code_t

cdef enum:
    TOGETHER = 16       # rows that are encoded
    HASHED_TOGETHER = 4

# Codes, or the bits of values
ctypedef fused cell_t:
    uint8_t
    uint16_t
    uint64_t


def encode(
    const double[:, ::1] X,          # IN   rows x features
    const double[::1] cuts,          # IN   all features' cuts, one after the other
    const int64_t[::1] cuts_start,   # IN   first cut of each feature, and the end
    const int32_t[::1] n_bins,       # IN   per feature, missing not counted
    const uint8_t[::1] is_categorical,  # IN
    code_t[:, ::1] codes,            # OUT  rows x features
):
    """Code of a number: how many cuts lie below it. Of a category: itself. NaN: n_bins."""
    cdef Py_ssize_t n_rows = X.shape[0], n_features = X.shape[1], i, j, row
    cdef int32_t below[TOGETHER]
    cdef int n, lane
    if cuts.shape[0] == 0:
        cuts = np.zeros(1)
    with nogil:
        for i in range((n_rows + TOGETHER - 1) // TOGETHER):
            row = i * TOGETHER
            n = <int> min(TOGETHER, n_rows - row)
            for j in range(n_features):
                if not is_categorical[j]:
                    kernels.count_below(
                        &cuts[0] + cuts_start[j], <int32_t> (cuts_start[j + 1] - cuts_start[j]),
                        &X[row, j], n_features, n, below)
                for lane in range(n):
                    if X[row + lane, j] != X[row + lane, j]:
                        codes[row + lane, j] = <code_t> n_bins[j]
                    elif is_categorical[j]:
                        codes[row + lane, j] = <code_t> X[row + lane, j]
                    else:
                        codes[row + lane, j] = <code_t> below[lane]


cdef inline uint64_t next_hash(uint64_t h, cell_t cell) noexcept nogil:
    """FNV-1a, a cell at a time; the low bits of a value alone would say little."""
    if cell_t is uint64_t:
        return (h ^ mix(cell)) * <uint64_t> 0x100000001B3
    else:
        return (h ^ cell) * <uint64_t> 0x100000001B3


def fingerprints(
    const cell_t[:, ::1] cells,   # IN  rows x features
    const int32_t[::1] y,         # IN  class of each row, or rank of its target
    uint64_t[::1] out,            # OUT
):
    """A 64-bit hash of each row and its class; it does not depend on the row's place."""
    cdef Py_ssize_t n_rows = cells.shape[0], n_features = cells.shape[1], i, j
    cdef Py_ssize_t group, n_groups = n_rows // HASHED_TOGETHER
    cdef uint64_t h[HASHED_TOGETHER]
    cdef int lane
    with nogil:
        for group in range(n_groups):
            i = group * HASHED_TOGETHER
            # A step waits for the one before it; those of other rows do not.
            for lane in range(HASHED_TOGETHER):
                h[lane] = mix(<uint64_t> y[i + lane] + 1)
            for j in range(n_features):
                for lane in range(HASHED_TOGETHER):
                    h[lane] = next_hash(h[lane], cells[i + lane, j])
            for lane in range(HASHED_TOGETHER):
                out[i + lane] = mix(h[lane])
        for i in range(n_groups * HASHED_TOGETHER, n_rows):
            h[0] = mix(<uint64_t> y[i] + 1)
            for j in range(n_features):
                h[0] = next_hash(h[0], cells[i, j])
            out[i] = mix(h[0])


def put_in_order(
    code_t[:, ::1] codes,           # IN and OUT  rows x features
    const int32_t[::1] order,       # IN   which row comes first, second, ...; a permutation
):
    """Put the rows in an order where they are, without a second table."""
    cdef Py_ssize_t n_rows = codes.shape[0], i, place, source
    cdef Py_ssize_t n_bytes = codes.shape[1] * sizeof(code_t)
    cdef uint8_t[::1] is_done = np.zeros(n_rows, dtype=np.uint8)
    cdef void* aside = malloc(n_bytes)
    if aside is NULL:
        raise MemoryError("no memory to put rows in order")
    with nogil:
        for i in range(n_rows):
            if is_done[i]:
                continue
            # A cycle: every row goes where the one before it in the cycle was.
            memcpy(aside, &codes[i, 0], n_bytes)
            place = i
            source = order[i]
            while source != i:
                memcpy(&codes[place, 0], &codes[source, 0], n_bytes)
                is_done[place] = True
                place = source
                source = order[place]
            memcpy(&codes[place, 0], aside, n_bytes)
            is_done[place] = True
        free(aside)
