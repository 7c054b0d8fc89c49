# SPDX-License-Identifier: BSD-3-Clause
"""From the entries of one feature to its candidate cuts and their scores."""

from libc.stdint cimport int64_t

from mrforest._core.score.impurity cimport Sides
from mrforest._core.types cimport Cut, Entry, Table


cdef struct Feature:
    # One feature at one node: what its cuts are made of.
    Py_ssize_t index
    const Entry* entries          # structure points, by bin; missing last
    Py_ssize_t n_entries
    int64_t floor                 # estimation points that each side must keep; 0: no matter
    bint counts_points            # the sides count the estimation points: E is S, no weights
    const Entry* points           # if they do not: estimation points by bin
    Py_ssize_t n_points


cdef Py_ssize_t score_cuts(
    const Table* table, const Feature* feature, const int64_t* totals,
    Sides* sides, double* scores, Cut* cuts) noexcept nogil
