# SPDX-License-Identifier: BSD-3-Clause
"""Fill the leaves of a tree from its estimation points."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

from mrforest._core.random.rng cimport Purpose, Stream, open_stream
from mrforest._core.random.softmax cimport draw_exponential
from mrforest._core.types cimport Table, copies_of, mass_of, moment_of


cdef void leaf_masses(
    const Table* table,
    const int32_t* rows,    # IN   estimation points of the leaf
    Py_ssize_t n,
    int64_t* counts,        # work, one a class
    double* masses,         # OUT  one a class
) noexcept nogil:
    """Class masses of a leaf."""
    cdef Py_ssize_t i
    memset(counts, 0, table.n_columns * sizeof(int64_t))
    for i in range(n):
        counts[table.y[rows[i]]] += mass_of(table, rows[i])
    weigh_classes(table, counts, masses)


cdef void weigh_classes(
    const Table* table, const int64_t* counts, double* masses
) noexcept nogil:
    """Class masses from counts."""
    cdef Py_ssize_t k
    for k in range(table.n_columns):
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
    for k in range(table.n_columns):
        total += masses[k]
    for k in range(table.n_columns):
        shares[k] = masses[k] / total if total > 0 else 0.0
        highest = max(highest, shares[k])
    return draw_exponential(
        shares, table.n_columns, budget, 0.0, highest, 1.0, 1e-12, work, &stream)


cdef void leaf_moments(
    const Table* table,
    const int32_t* rows,    # IN   estimation points of the leaf
    Py_ssize_t n,
    int64_t* mass,          # OUT  their sum
    int64_t* moment,        # OUT  their sum
    double* variance,       # OUT  of moment / mass, weighted by mass
) noexcept nogil:
    """What a regression needs to know of a leaf."""
    cdef Py_ssize_t i, _copy
    cdef int64_t own = 1
    cdef double mean, gap, total = 0
    mass[0] = moment[0] = 0
    variance[0] = 0
    for i in range(n):
        mass[0] += mass_of(table, rows[i])
        moment[0] += moment_of(table, rows[i])
    if n == 0:
        return
    mean = <double> moment[0] / <double> mass[0]
    for i in range(n):
        if table.mass is not NULL:
            own = table.mass[rows[i]]
        gap = <double> table.moment[rows[i]] - mean * <double> own
        for _copy in range(copies_of(table, rows[i])):
            total += gap * gap / <double> own
    variance[0] = total / <double> mass[0]
