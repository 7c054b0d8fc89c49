# SPDX-License-Identifier: BSD-3-Clause
"""Fill the leaves of a tree from its estimation points."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

from mrforest._core.draw cimport draw_exponential
from mrforest._core.rng cimport Purpose, Stream, open_stream
from mrforest._core.types cimport Table


cdef void leaf_masses(
    const Table* table,
    const int32_t* rows,    # IN   estimation points of the leaf
    Py_ssize_t n,
    int64_t* counts,        # work, one a class
    double* masses,         # OUT  one a class
) noexcept nogil:
    """Class masses of a leaf."""
    cdef Py_ssize_t i, k
    memset(counts, 0, table.n_classes * sizeof(int64_t))
    for i in range(n):
        counts[table.y[rows[i]]] += 1 if table.mass is NULL else table.mass[rows[i]]
    for k in range(table.n_classes):
        masses[k] = counts[k] * (
            1.0 if table.class_weight is NULL else table.class_weight[k])


cdef Py_ssize_t draw_label(
    const Table* table,
    const double* masses,   # IN   one a class
    double budget,          # B3
    uint64_t key0, uint64_t key1, uint64_t path,
    double* shares,         # work, one a class
    double* work,           # work, one a class
) noexcept nogil:
    """Draw the label of a leaf, c with probability proportional to exp(B3 / 2 * share of c)."""
    cdef Stream stream = open_stream(key0, key1, path, Purpose.LABEL)
    cdef Py_ssize_t k
    cdef double total = 0, highest = 0
    for k in range(table.n_classes):
        total += masses[k]
    for k in range(table.n_classes):
        shares[k] = masses[k] / total if total > 0 else 0.0
        highest = max(highest, shares[k])
    return draw_exponential(
        shares, table.n_classes, budget, 0.0, highest, 1.0, 1e-12, work, &stream)
