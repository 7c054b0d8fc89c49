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
    cdef NodeHistogram* node_histogram = <NodeHistogram*> calloc(1, sizeof(NodeHistogram))
    if node_histogram is NULL:
        return NULL
    node_histogram.features = <int32_t*> malloc(table.n_features * sizeof(int32_t))
    node_histogram.slot = <int64_t*> malloc((table.n_features + 1) * sizeof(int64_t))
    # Now, if ever: there is room to sort small nodes only, see `most_sorted`.
    n_bins = table.slot[table.n_features]
    if n_bins * table.n_columns <= LARGEST_HISTOGRAM:
        reserve(node_histogram, table, n_bins)
    if table.by_column is not NULL:
        node_histogram.target_of_row = <int64_t*> malloc((n_structure + 1) * sizeof(int64_t))
        node_histogram.mass = <int64_t*> malloc((n_structure + 1) * sizeof(int64_t))
    if node_histogram.features is NULL or node_histogram.slot is NULL or (
            n_bins * table.n_columns <= LARGEST_HISTOGRAM and node_histogram.capacity == 0) or (
            table.by_column is not NULL and (node_histogram.target_of_row is NULL or node_histogram.mass is NULL)):
        free_node_histogram(node_histogram)
        return NULL
    node_histogram.chosen.features = node_histogram.features
    node_histogram.chosen.slot = node_histogram.slot
    return node_histogram


cdef void free_node_histogram(NodeHistogram* node_histogram) noexcept nogil:
    if node_histogram is not NULL:
        free(node_histogram.features)
        free(node_histogram.slot)
        free(node_histogram.columns)
        free(node_histogram.points)
        free(node_histogram.target_of_row)
        free(node_histogram.mass)
        free(node_histogram)


cdef void select_none(NodeHistogram* node_histogram) noexcept nogil:
    node_histogram.chosen.n = 0
    node_histogram.slot[0] = 0


cdef Py_ssize_t select_feature(
    NodeHistogram* node_histogram, const Table* table, int32_t feature
) noexcept nogil:
    """Select one more; return its place."""
    cdef Py_ssize_t place = node_histogram.chosen.n
    node_histogram.features[place] = feature
    node_histogram.slot[place + 1] = node_histogram.slot[place] + table.n_bins[feature] + 1
    node_histogram.chosen.n += 1
    return place


cdef bint reserve(NodeHistogram* node_histogram, const Table* table, Py_ssize_t n_bins) noexcept nogil:
    """Room for a histogram; False if there is no memory."""
    if n_bins > node_histogram.capacity:
        free(node_histogram.columns)
        free(node_histogram.points)
        node_histogram.capacity = 0
        # Cells of 32 bits leave room behind the last one, where kernels read, but use nothing.
        node_histogram.columns = malloc(n_bins * table.n_columns * sizeof(int64_t))
        node_histogram.points = <int32_t*> malloc(n_bins * sizeof(int32_t))
        if node_histogram.columns is NULL or node_histogram.points is NULL:
            return False
        node_histogram.capacity = n_bins
    return True


cdef void load_rows(
    NodeHistogram* node_histogram, const Table* table, const int32_t* rows, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t i
    if node_histogram.has_rows or node_histogram.target_of_row is NULL:
        return
    for i in range(n):
        node_histogram.mass[i] = mass_of(table, rows[i])
        node_histogram.target_of_row[i] = table.y[rows[i]] if table.moment is NULL else moment_of(table, rows[i])
    node_histogram.has_rows = True


cdef bint count_node_histogram(
    NodeHistogram* node_histogram, const Table* table, const int32_t* rows, Py_ssize_t n
) noexcept nogil:
    """Count the structure points; False if it does not pay."""
    cdef Py_ssize_t m = node_histogram.chosen.n
    if (m == 0 or not is_on(NODE_HISTOGRAMS) or not counting_pays(node_histogram.slot[m] * table.n_columns, m * n)
            or not reserve(node_histogram, table, node_histogram.slot[m])):
        return False
    load_rows(node_histogram, table, rows, n)
    count_columns(
        table, rows, n, node_histogram.chosen, node_histogram.target_of_row, node_histogram.mass, node_histogram.columns)
    return True


cdef void count_node_histogram_points(
    NodeHistogram* node_histogram, const Table* table, const int32_t* rows, Py_ssize_t n
) noexcept nogil:
    """Count the estimation points, too."""
    count_points(table, rows, n, node_histogram.chosen, node_histogram.points)
