# SPDX-License-Identifier: BSD-3-Clause
"""The distinct values of columns that have few, without sorting the columns."""

import numpy as np

from libc.math cimport NAN
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memmove, memset

from mrforest._core.rng cimport mix

cdef enum:
    MOST = 255          # distinct values that are found
    ROOM = 1024         # of a hash table, a power of two; at most a quarter is taken
    TOGETHER = 8        # columns: as many doubles as a cache line has


cdef struct Values:
    # A set of numbers: sorted, and where each would be found by its hash.
    double sorted[MOST]
    double found[ROOM]
    uint8_t taken[ROOM]
    Py_ssize_t n            # MOST + 1: too many
    double last             # the one that was looked for last; NaN at first


cdef void insert(Values* values, double x) noexcept nogil:
    """Put a number in its place among the sorted ones."""
    cdef Py_ssize_t place = values.n
    while place > 0 and values.sorted[place - 1] > x:
        place -= 1
    memmove(&values.sorted[place + 1], &values.sorted[place],
            (values.n - place) * sizeof(double))
    values.sorted[place] = x


cdef void add(Values* values, double x) noexcept nogil:
    cdef uint64_t bits
    cdef Py_ssize_t place
    x += 0.0  # -0 is 0
    values.last = x
    memcpy(&bits, &x, sizeof(bits))
    place = mix(bits) & (ROOM - 1)
    while values.taken[place]:
        if values.found[place] == x:
            return
        place = (place + 1) & (ROOM - 1)
    if values.n < MOST:
        values.taken[place] = True
        values.found[place] = x
        insert(values, x)
    values.n += 1


def distinct_values(const double[:, ::1] X):
    """Find the distinct values of each column, NaN not counted.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), dtype=float64

    Returns
    -------
    values : ndarray of shape (n_features, 255), dtype=float64
        The first ``n_values`` of each row are the values of a column, ascending; the rest
        is 0.
    n_values : ndarray of shape (n_features,), dtype=int64
        How many there are; 256: more than 255, and ``values`` has not all of them.

    Examples
    --------
    >>> import numpy as np
    >>> values, n_values = distinct_values(np.array([[1.0, 5.0], [1.0, np.nan], [0.0, 5.0]]))
    >>> values[0, : n_values[0]].tolist(), values[1, : n_values[1]].tolist()
    ([0.0, 1.0], [5.0])
    """
    cdef Py_ssize_t n_rows = X.shape[0], n_features = X.shape[1], i, j, block, first, last
    cdef Values* column
    cdef Values* columns = <Values*> malloc(TOGETHER * sizeof(Values))
    if columns is NULL:
        raise MemoryError("no memory to find distinct values")
    values_ = np.zeros((n_features, MOST))
    n_values_ = np.empty(n_features, dtype=np.int64)
    cdef double[:, ::1] values = values_
    cdef int64_t[::1] n_values = n_values_
    with nogil:
        for block in range((n_features + TOGETHER - 1) // TOGETHER):
            first = block * TOGETHER
            last = min(first + TOGETHER, n_features)
            for j in range(first, last):
                column = &columns[j - first]
                memset(column.taken, 0, sizeof(column.taken))
                column.n = 0
                column.last = NAN
            for i in range(n_rows):
                for j in range(first, last):
                    column = &columns[j - first]
                    if X[i, j] == X[i, j] and X[i, j] != column.last and column.n <= MOST:
                        add(column, X[i, j])
            for j in range(first, last):
                n_values[j] = columns[j - first].n
                memcpy(&values[j, 0], columns[j - first].sorted,
                       min(n_values[j], MOST) * sizeof(double))
    free(columns)
    return values_, n_values_


def places(const double[::1] values, const double[::1] among):
    """Find each value among ascending ones, all that there are.

    Returns
    -------
    ndarray of shape (n_values,), dtype=intp
        NaN: -1.

    Examples
    --------
    >>> import numpy as np
    >>> places(np.array([7.0, np.nan, 3.0]), np.array([3.0, 5.0, 7.0])).tolist()
    [2, -1, 0]
    """
    cdef Py_ssize_t n = values.shape[0], i, first, length, half
    found = np.empty(n, dtype=np.intp)
    cdef Py_ssize_t[::1] out = found
    with nogil:
        for i in range(n):
            # Invariant: it lies in [first, first + length). No branch depends on the value.
            first, length = 0, among.shape[0]
            while length > 1:
                half = length >> 1
                first += half if among[first + half] <= values[i] else 0
                length -= half
            out[i] = first if values[i] == values[i] else -1
    return found
