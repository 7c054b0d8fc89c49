# SPDX-License-Identifier: BSD-3-Clause
"""The distinct values of columns that have few, without sorting the columns."""

import numpy as np

from libc.math cimport NAN
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memmove, memset

from mrforest._core.random.rng cimport mix

cdef enum:
    MOST = 255          # distinct values that are found
    # Whole numbers from this one on are bits of a word
    FIRST_SMALL = -16
    N_SMALL = 64
    CAPACITY = 1024         # of a hash table, a power of two; at most a quarter is taken
    TOGETHER = 8        # columns: as many doubles as a cache line has
    # Rows after which it is asked whether there is anything left to find
    ROWS_BETWEEN_CHECKS = 1024


cdef struct Values:
    # A set of numbers: sorted, and where each would be found by its hash.
    double sorted[MOST]
    double found[CAPACITY]
    uint8_t taken[CAPACITY]
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
    place = mix(bits) & (CAPACITY - 1)
    while values.taken[place]:
        if values.found[place] == x:
            return
        place = (place + 1) & (CAPACITY - 1)
    if values.n < MOST:
        values.taken[place] = True
        values.found[place] = x
        insert(values, x)
    values.n += 1


cdef void find_small(
    const double[:, ::1] X, Py_ssize_t begin, Py_ssize_t end,
    uint64_t[::1] small,    # OUT  of each column: which small whole numbers there are ...
    uint8_t[::1] others,    # OUT  ... and whether there are other numbers
) noexcept nogil:
    cdef Py_ssize_t i, j, n_with_others
    cdef double x
    cdef bint is_small
    cdef int place
    for i in range(X.shape[0]):
        if i % ROWS_BETWEEN_CHECKS == 0:
            n_with_others = 0
            for j in range(end - begin):
                n_with_others += others[j]
            if n_with_others == end - begin:
                return
        for j in range(begin, end):
            x = X[i, j]
            is_small = FIRST_SMALL <= x < FIRST_SMALL + N_SMALL
            place = <int> x - FIRST_SMALL if is_small else 0
            is_small = is_small and place + FIRST_SMALL == x
            small[j - begin] |= <uint64_t> is_small << place
            others[j - begin] |= x == x and not is_small


cdef int64_t write_small(uint64_t small, double* values) noexcept nogil:
    """Small whole numbers, ascending; return how many there are."""
    cdef Py_ssize_t i, n = 0
    for i in range(N_SMALL):
        if small >> i & 1:
            values[n] = i + FIRST_SMALL
            n += 1
    return n


cdef void find_values(
    const double[:, ::1] X, const Py_ssize_t* which, Py_ssize_t n, Values* columns
) noexcept nogil:
    """The distinct values of up to TOGETHER columns, whatever they are."""
    cdef Py_ssize_t i, c, n_done
    cdef double x
    for c in range(n):
        memset(columns[c].taken, 0, sizeof(columns[c].taken))
        columns[c].n = 0
        columns[c].last = NAN
    for i in range(X.shape[0]):
        if i % ROWS_BETWEEN_CHECKS == 0:
            n_done = 0
            for c in range(n):
                n_done += columns[c].n > MOST
            if n_done == n:
                return
        for c in range(n):
            x = X[i, which[c]]
            if x == x and x != columns[c].last and columns[c].n <= MOST:
                add(&columns[c], x)


def distinct_values(const double[:, ::1] X, Py_ssize_t begin=0, Py_ssize_t end=-1):
    """Find the distinct values of columns, NaN not counted.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), dtype=float64
    begin, end : int, default=0, -1
        Columns: the first of them and the end; -1: all.

    Returns
    -------
    values : ndarray of shape (n_columns, 255), dtype=float64
        The first ``n_values`` of each row are the values of a column, ascending; the rest
        is 0.
    n_values : ndarray of shape (n_columns,), dtype=int64
        How many there are; 256: more than 255, and ``values`` has not all of them.

    Examples
    --------
    >>> import numpy as np
    >>> values, n_values = distinct_values(np.array([[1.0, 5.0], [1.0, np.nan], [0.0, 5.0]]))
    >>> values[0, : n_values[0]].tolist(), values[1, : n_values[1]].tolist()
    ([0.0, 1.0], [5.0])
    """
    cdef Py_ssize_t n_columns = (X.shape[1] if end < 0 else end) - begin, j, c, n = 0
    cdef Py_ssize_t which[TOGETHER]
    cdef Values* columns = <Values*> malloc(TOGETHER * sizeof(Values))
    if columns is NULL:
        raise MemoryError("no memory to find distinct values")
    values_ = np.zeros((n_columns, MOST))
    n_values_ = np.empty(n_columns, dtype=np.int64)
    cdef double[:, ::1] values = values_
    cdef int64_t[::1] n_values = n_values_
    cdef uint64_t[::1] small = np.zeros(n_columns, dtype=np.uint64)
    cdef uint8_t[::1] others = np.zeros(n_columns, dtype=np.uint8)
    with nogil:
        find_small(X, begin, begin + n_columns, small, others)
        for j in range(n_columns):
            if others[j]:
                which[n] = begin + j
                n += 1
            else:
                n_values[j] = write_small(small[j], &values[j, 0])
            if n == TOGETHER or (j == n_columns - 1 and n > 0):
                find_values(X, which, n, columns)
                for c in range(n):
                    n_values[which[c] - begin] = columns[c].n
                    memcpy(&values[which[c] - begin, 0], columns[c].sorted,
                           min(columns[c].n, MOST) * sizeof(double))
                n = 0
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
