# SPDX-License-Identifier: BSD-3-Clause
"""Values to codes, and a fingerprint of each row by which rows are put in order."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t

from mrforest._core.rng cimport mix
from mrforest._core.types cimport code_t

cdef extern from "below.h" nogil:
    void mrforest_count_below(
        const double* values, int32_t n_values, const double* x, Py_ssize_t stride, int lanes,
        int32_t* below)

cdef enum:
    TOGETHER = 16       # rows

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
                    mrforest_count_below(
                        &cuts[0] + cuts_start[j], <int32_t> (cuts_start[j + 1] - cuts_start[j]),
                        &X[row, j], n_features, n, below)
                for lane in range(n):
                    if X[row + lane, j] != X[row + lane, j]:
                        codes[row + lane, j] = <code_t> n_bins[j]
                    elif is_categorical[j]:
                        codes[row + lane, j] = <code_t> X[row + lane, j]
                    else:
                        codes[row + lane, j] = <code_t> below[lane]


def fingerprints(
    const cell_t[:, ::1] cells,   # IN  rows x features
    const int32_t[::1] y,         # IN  class of each row, or rank of its target
):
    """A 64-bit hash of each row and its class; it does not depend on the row's place."""
    cdef Py_ssize_t n_rows = cells.shape[0], n_features = cells.shape[1], i, j
    cdef uint64_t h
    out = np.empty(n_rows, dtype=np.uint64)
    cdef uint64_t[::1] view = out
    with nogil:
        for i in range(n_rows):
            h = mix(<uint64_t> y[i] + 1)
            for j in range(n_features):
                # FNV-1a, a cell at a time; the low bits of a value alone would say little
                h = (h ^ (mix(cells[i, j]) if cell_t is uint64_t else cells[i, j])) * (
                    <uint64_t> 0x100000001B3)
            view[i] = mix(h)
    return out
