# SPDX-License-Identifier: BSD-3-Clause
"""Features are selected one by one and then counted together; see selected.pxd."""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free, malloc

from mrforest._core.plan cimport LARGEST_HISTOGRAM, NODE_HISTOGRAMS, counting_pays, is_on
from mrforest._core.score.histogram cimport count_columns, count_points
from mrforest._core.types cimport Table, mass_of, moment_of


cdef NodeHistogram* new_node_histogram(const Table* table, Py_ssize_t n_structure) noexcept nogil:
    """Room for the nodes of a tree; NULL: no memory."""
    cdef Py_ssize_t n_bins
    cdef NodeHistogram* histogram = <NodeHistogram*> calloc(1, sizeof(NodeHistogram))
    if histogram is NULL:
        return NULL
    histogram.features = <int32_t*> malloc(table.n_features * sizeof(int32_t))
    histogram.slot = <int64_t*> malloc((table.n_features + 1) * sizeof(int64_t))
    # Allocate now: if this failed later, there would be buffers to sort small nodes only, see
    # `most_sorted`.
    n_bins = table.slot[table.n_features]
    if n_bins * table.n_columns <= LARGEST_HISTOGRAM:
        reserve(histogram, table, n_bins)
    if table.by_column is not NULL:
        histogram.target_of_row = <int64_t*> malloc((n_structure + 1) * sizeof(int64_t))
        histogram.mass = <int64_t*> malloc((n_structure + 1) * sizeof(int64_t))
    if histogram.features is NULL or histogram.slot is NULL or (
            n_bins * table.n_columns <= LARGEST_HISTOGRAM and histogram.capacity == 0) or (
            table.by_column is not NULL and (histogram.target_of_row is NULL
                or histogram.mass is NULL)):
        free_node_histogram(histogram)
        return NULL
    histogram.chosen.features = histogram.features
    histogram.chosen.slot = histogram.slot
    return histogram


cdef void free_node_histogram(NodeHistogram* histogram) noexcept nogil:
    if histogram is not NULL:
        free(histogram.features)
        free(histogram.slot)
        free(histogram.columns)
        free(histogram.points)
        free(histogram.target_of_row)
        free(histogram.mass)
        free(histogram)


cdef void select_none(NodeHistogram* histogram) noexcept nogil:
    histogram.chosen.n = 0
    histogram.slot[0] = 0


cdef Py_ssize_t select_feature(
    NodeHistogram* histogram, const Table* table, int32_t feature
) noexcept nogil:
    """Select one more; return its place."""
    cdef Py_ssize_t place = histogram.chosen.n
    histogram.features[place] = feature
    histogram.slot[place + 1] = histogram.slot[place] + table.n_bins[feature] + 1
    histogram.chosen.n += 1
    return place


cdef bint reserve(NodeHistogram* histogram, const Table* table, Py_ssize_t n_bins) noexcept nogil:
    """Room for a histogram; False if there is no memory."""
    if n_bins > histogram.capacity:
        free(histogram.columns)
        free(histogram.points)
        histogram.capacity = 0
        # Cells of 32 bits leave room behind the last one, where kernels read, but use nothing.
        histogram.columns = malloc(n_bins * table.n_columns * sizeof(int64_t))
        histogram.points = <int32_t*> malloc(n_bins * sizeof(int32_t))
        if histogram.columns is NULL or histogram.points is NULL:
            return False
        histogram.capacity = n_bins
    return True


cdef void load_rows(
    NodeHistogram* histogram, const Table* table, const int32_t* rows, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t i
    if histogram.has_rows or histogram.target_of_row is NULL:
        return
    for i in range(n):
        histogram.mass[i] = mass_of(table, rows[i])
        histogram.target_of_row[i] = table.y[rows[i]] if table.moment is NULL else moment_of(
            table, rows[i])
    histogram.has_rows = True


cdef bint count_node_histogram(
    NodeHistogram* histogram, const Table* table, const int32_t* rows, Py_ssize_t n
) noexcept nogil:
    """Count the structure points; False if it does not pay."""
    cdef Py_ssize_t m = histogram.chosen.n
    if (m == 0 or not is_on(NODE_HISTOGRAMS) or not counting_pays(
        histogram.slot[m] * table.n_columns, m * n)
            or not reserve(histogram, table, histogram.slot[m])):
        return False
    load_rows(histogram, table, rows, n)
    count_columns(
        table, rows, n, histogram.chosen, histogram.target_of_row, histogram.mass,
        histogram.columns)
    return True


cdef void count_node_histogram_points(
    NodeHistogram* histogram, const Table* table, const int32_t* rows, Py_ssize_t n
) noexcept nogil:
    """Count the estimation points, too."""
    count_points(table, rows, n, histogram.chosen, histogram.points)
