# SPDX-License-Identifier: BSD-3-Clause
"""Features are selected one by one and then counted together; see selected.pxd."""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free, malloc

from mrforest._core.plan cimport LARGEST_HISTOGRAM, counting_pays
from mrforest._core.score.histogram cimport count_columns, count_points
from mrforest._core.types cimport Table, mass_of, moment_of


cdef Selected* new_selected(const Table* table, Py_ssize_t n_structure) noexcept nogil:
    """Room for the nodes of a tree; NULL: no memory."""
    cdef Py_ssize_t n_bins
    cdef Selected* selected = <Selected*> calloc(1, sizeof(Selected))
    if selected is NULL:
        return NULL
    selected.features = <int32_t*> malloc(table.n_features * sizeof(int32_t))
    selected.slot = <int64_t*> malloc((table.n_features + 1) * sizeof(int64_t))
    # Now, if ever: there is room to sort small nodes only, see `most_sorted`.
    n_bins = table.slot[table.n_features]
    if n_bins * table.n_columns <= LARGEST_HISTOGRAM:
        make_room(selected, table, n_bins)
    if table.by_column is not NULL:
        selected.what = <int64_t*> malloc((n_structure + 1) * sizeof(int64_t))
        selected.mass = <int64_t*> malloc((n_structure + 1) * sizeof(int64_t))
    if selected.features is NULL or selected.slot is NULL or (
            n_bins * table.n_columns <= LARGEST_HISTOGRAM and selected.room == 0) or (
            table.by_column is not NULL and (selected.what is NULL or selected.mass is NULL)):
        free_selected(selected)
        return NULL
    selected.chosen.features = selected.features
    selected.chosen.slot = selected.slot
    return selected


cdef void free_selected(Selected* selected) noexcept nogil:
    if selected is not NULL:
        free(selected.features)
        free(selected.slot)
        free(selected.columns)
        free(selected.points)
        free(selected.what)
        free(selected.mass)
        free(selected)


cdef void select_none(Selected* selected) noexcept nogil:
    selected.chosen.n = 0
    selected.slot[0] = 0


cdef Py_ssize_t select_feature(
    Selected* selected, const Table* table, int32_t feature
) noexcept nogil:
    """Select one more; return its place."""
    cdef Py_ssize_t place = selected.chosen.n
    selected.features[place] = feature
    selected.slot[place + 1] = selected.slot[place] + table.n_bins[feature] + 1
    selected.chosen.n += 1
    return place


cdef bint make_room(Selected* selected, const Table* table, Py_ssize_t n_bins) noexcept nogil:
    """Room for a histogram; False if there is no memory."""
    if n_bins > selected.room:
        free(selected.columns)
        free(selected.points)
        selected.room = 0
        # Cells of 32 bits leave room behind the last one, where kernels read, but use nothing.
        selected.columns = malloc(n_bins * table.n_columns * sizeof(int64_t))
        selected.points = <int32_t*> malloc(n_bins * sizeof(int32_t))
        if selected.columns is NULL or selected.points is NULL:
            return False
        selected.room = n_bins
    return True


cdef void tell_rows(
    Selected* selected, const Table* table, const int32_t* rows, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t i
    if selected.is_told or selected.what is NULL:
        return
    for i in range(n):
        selected.mass[i] = mass_of(table, rows[i])
        selected.what[i] = table.y[rows[i]] if table.moment is NULL else moment_of(table, rows[i])
    selected.is_told = True


cdef bint count_selected(
    Selected* selected, const Table* table, const int32_t* rows, Py_ssize_t n
) noexcept nogil:
    """Count the structure points; False if it does not pay."""
    cdef Py_ssize_t m = selected.chosen.n
    if (m == 0 or not counting_pays(selected.slot[m] * table.n_columns, m * n)
            or not make_room(selected, table, selected.slot[m])):
        return False
    tell_rows(selected, table, rows, n)
    count_columns(
        table, rows, n, selected.chosen, selected.what, selected.mass, selected.columns)
    return True


cdef void count_selected_points(
    Selected* selected, const Table* table, const int32_t* rows, Py_ssize_t n
) noexcept nogil:
    """Count the estimation points, too."""
    count_points(table, rows, n, selected.chosen, selected.points)
