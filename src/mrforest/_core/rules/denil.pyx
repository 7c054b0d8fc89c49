# SPDX-License-Identifier: BSD-3-Clause
"""Denil14: Denil, Matheson, de Freitas, "Narrowing the gap: random forests in theory and in
practice", ICML 2014, arXiv:1310.1415.

A Poisson number of features is drawn. The cuts of a feature are those in the range of a few
structure points, drawn for each feature; the best of all is taken.
"""

from libc.math cimport exp
from libc.stdint cimport int32_t, uint8_t, uint16_t
from libc.string cimport memset

from mrforest._core.random.rng cimport next_index, next_uniform
from mrforest._core.rules.rule cimport Draw, Points, Range, SplitRule
from mrforest._core.types cimport Column, Table, codes_of, column_of


cdef inline int32_t code_of(const Table* table, Py_ssize_t row, Py_ssize_t feature) noexcept nogil:
    cdef Column column = column_of(table, feature)
    if table.wide:
        return (<const uint16_t*> codes_of(table))[column.first + row * column.stride]
    return (<const uint8_t*> codes_of(table))[column.first + row * column.stride]


cdef inline void add(
    const Points* points, Py_ssize_t position, Py_ssize_t number, Py_ssize_t feature,
    Range* range_
) noexcept nogil:
    """Widen a range by one point, the so-many-th that is drawn."""
    cdef int32_t code
    if points.rows is not NULL:
        code = code_of(points.table, points.rows[position], feature)
    else:
        number += feature * points.remote_points.n_drawn
        points.remote_points.places[number] = position
        if not points.remote_points.is_known[feature]:
            points.remote_points.lacks = True
            return
        code = points.remote_points.codes[number]
    if code == points.table.n_bins[feature]:
        range_.has_missing = True
        return
    range_.has_value = True
    range_.lowest = min(range_.lowest, code)
    range_.highest = max(range_.highest, code)
    if points.table.is_categorical[feature]:
        range_.categories[code] = 1


cdef class Denil(SplitRule):
    """Take the best of the cuts that lie among n_points points, of 1 + Poisson(mean) features."""

    cdef readonly double mean
    cdef readonly Py_ssize_t n_points

    def __init__(self, double mean, Py_ssize_t n_points):
        self.mean = mean
        self.n_points = n_points
        self.looks_at_all = False
        self.restricts = True

    def __reduce__(self):
        return type(self), (self.mean, self.n_points)

    cdef Py_ssize_t count_features(self, Py_ssize_t n_features, Draw* draw) noexcept nogil:
        # Inversion: more than n_features need not be told apart.
        cdef double u = next_uniform(&draw.stream)
        cdef double term = exp(-self.mean), total = term
        cdef Py_ssize_t n = 0
        while u >= total and n < n_features:
            n += 1
            term = term * self.mean / n
            total += term
        return min(1 + n, n_features)

    cdef void restrict_cuts(
        self, const Points* points, Py_ssize_t feature, Range* range_, Draw* draw
    ) noexcept nogil:
        # Floyd's way to draw a subset: one number for each point of it.
        cdef Py_ssize_t first = points.n - self.n_points, j, drawn
        if first <= 0:
            return
        range_.is_all = False
        range_.has_value = range_.has_missing = False
        range_.lowest = points.table.n_bins[feature]
        range_.highest = -1
        # Marks stand at the positions that are taken.
        for j in range(first, points.n):
            drawn = next_index(&draw.stream, j + 1)
            if points.marks[drawn]:
                drawn = j
            points.marks[drawn] = 1
            add(points, drawn, j - first, feature, range_)
        memset(points.marks, 0, points.n)
