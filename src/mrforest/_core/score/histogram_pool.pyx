# SPDX-License-Identifier: BSD-3-Clause
"""A few histograms that are used over and over; see pool.pxd."""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc, realloc

from mrforest._core.plan cimport counting_pays
from mrforest._core.score.histogram cimport (
    Selection, count_columns, count_points, has_small_cells, subtract_columns, subtract_points,
)
from mrforest._core.types cimport NONE, Table, count_t

cdef enum:
    READ_AHEAD_CELLS = 4      # cells that are read, but not used, after the last one


cdef class HistogramPool:
    """Histograms of one growing tree. The owner calls `set_table`."""

    cdef void set_table(self, const Table* table, bint with_points) noexcept nogil:
        cdef Py_ssize_t f
        self.table = table
        self.with_points = with_points
        self.narrowest = 0
        for f in range(table.n_features):
            if table.n_bins[f] < table.n_bins[self.narrowest]:
                self.narrowest = f

    def __dealloc__(self):
        cdef int i
        for i in range(self.n_items):
            free(self.items[i].columns)
            free(self.items[i].points)
        free(self.items)

    cdef bint is_counted(self, Py_ssize_t n_structure) noexcept nogil:
        """Whether a node of this size is counted, not sorted."""
        return counting_pays(
            self.table.slot[self.table.n_features] * self.table.n_columns,
            n_structure * self.table.n_features)

    cdef int take(self) noexcept nogil:
        """The number of a free histogram, whose cells hold anything; -1: no memory."""
        cdef int i
        cdef Histogram* items
        cdef Py_ssize_t n_bins = self.table.slot[self.table.n_features]
        cdef Py_ssize_t cell = (
            sizeof(int32_t) if has_small_cells(self.table) else sizeof(int64_t))
        for i in range(self.n_items):
            if not self.items[i].in_use:
                self.items[i].in_use = True
                return i
        items = <Histogram*> realloc(self.items, (self.n_items + 1) * sizeof(Histogram))
        if items is NULL:
            return -1
        self.items = items
        i = self.n_items
        self.items[i].columns = malloc((n_bins * self.table.n_columns + READ_AHEAD_CELLS) * cell)
        self.items[i].points = NULL
        self.items[i].in_use = True
        self.n_items += 1
        if self.with_points:
            self.items[i].points = <int32_t*> malloc(n_bins * sizeof(int32_t))
        if self.items[i].columns is NULL or (
                self.with_points and self.items[i].points is NULL):
            return -1
        return i

    cdef void release(self, int number) noexcept nogil:
        if number != NONE:
            self.items[number].in_use = False

    cdef void count(
        self, int number, const int32_t* structure, Py_ssize_t n_structure,
        const int32_t* estimation, Py_ssize_t n_estimation
    ) noexcept nogil:
        """Fill a histogram from the points of a node."""
        cdef Selection all_features
        all_features.features = NULL
        all_features.slot = self.table.slot
        all_features.n = self.table.n_features
        count_columns(
            self.table, structure, n_structure, all_features, NULL, NULL,
            self.items[number].columns)
        if self.with_points:
            count_points(
                self.table, estimation, n_estimation, all_features, self.items[number].points)

    cdef void subtract(self, int number, int other) noexcept nogil:
        subtract_columns(self.table, self.items[number].columns, self.items[other].columns)
        if self.with_points:
            subtract_points(self.table, self.items[number].points, self.items[other].points)

    cdef int add_up(self, int number, int64_t* totals) noexcept nogil:
        """Count each class; return 0 if there is one only."""
        if has_small_cells(self.table):
            return add_bins(
                self.table, <const int32_t*> self.items[number].columns, self.narrowest, totals)
        return add_bins(
            self.table, <const int64_t*> self.items[number].columns, self.narrowest, totals)


cdef int add_bins(
    const Table* table, const count_t* counts, Py_ssize_t feature, int64_t* totals
) noexcept nogil:
    """The same; all bins of one feature have all points."""
    cdef Py_ssize_t n_bins = table.n_bins[feature] + 1, b, k
    cdef const count_t* bins = counts + table.slot[feature] * table.n_columns
    cdef int n_present = 0
    for k in range(table.n_columns):
        totals[k] = 0
        for b in range(n_bins):
            totals[k] += bins[k * n_bins + b]
        n_present += totals[k] > 0
    return n_present > 1
