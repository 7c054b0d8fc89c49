# SPDX-License-Identifier: BSD-3-Clause
"""Make the lists of a node, and score them with the kernels of blocks; see node_lists.pxd."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free, malloc

from mrforest._core.kernels.dispatch cimport GiniNode, PlainCuts, kernels
from mrforest._core.types cimport Column, Table, at, code_t, codes_of, column_of, copies_of


cdef NodeLists* new_node_lists(Py_ssize_t n_lists) noexcept nogil:
    """Room for so many features; NULL: no memory."""
    cdef Py_ssize_t i
    cdef NodeLists* lists = <NodeLists*> calloc(1, sizeof(NodeLists))
    if lists is NULL:
        return NULL
    lists.items = <uint32_t*> malloc(
        (n_lists * BLOCK_POINTS + READ_AHEAD_CELLS) * sizeof(uint32_t))
    lists.place = <Py_ssize_t*> malloc(n_lists * sizeof(Py_ssize_t))
    lists.number = <int32_t*> malloc(n_lists * sizeof(int32_t))
    lists.best = <double*> malloc(n_lists * sizeof(double))
    lists.codes = malloc(BLOCK_POINTS * sizeof(uint16_t))
    if (lists.items is NULL or lists.place is NULL or lists.number is NULL or lists.best is NULL
            or lists.codes is NULL):
        free_node_lists(lists)
        return NULL
    for i in range(n_lists):
        lists.place[i] = i * BLOCK_POINTS
        lists.number[i] = <int32_t> i
    return lists


cdef void free_node_lists(NodeLists* lists) noexcept nogil:
    if lists is not NULL:
        free(lists.items)
        free(lists.place)
        free(lists.number)
        free(lists.best)
        free(lists.codes)
        free(lists)


cdef bint enter_node_lists(
    NodeLists* lists, const Table* table, const int32_t* rows, Py_ssize_t n, const int64_t* totals
) noexcept nogil:
    """The points of a node, which has two classes or more; False: it has too many."""
    cdef GiniNode* node = &lists.node
    cdef Py_ssize_t i, k, n_points = 0
    cdef uint32_t y
    cdef int32_t _copy
    node.n = 0
    node.n_classes = table.n_columns
    node.n_present = 0
    for k in range(table.n_columns):
        n_points += totals[k]
        node.totals[k] = <int32_t> totals[k]
        node.present[node.n_present] = <int32_t> k
        node.n_present += totals[k] > 0
    if n_points > BLOCK_POINTS:
        return False
    for i in range(n):
        y = <uint32_t> table.y[at(rows[i], table.n_rows)]
        for _copy in range(copies_of(table, rows[i])):
            lists.rows[node.n] = rows[i]
            lists.points[node.n] = y << 8 | <uint32_t> node.n
            node.n += 1
    kernels.enter_gini_node(node)
    lists.n = 0
    return True


cdef int32_t gather_codes(
    const Table* table, const code_t* codes, Py_ssize_t feature, const int32_t* rows,
    Py_ssize_t n, code_t* out
) noexcept nogil:
    """The codes of a feature; return the largest."""
    cdef Column column = column_of(table, feature)
    cdef Py_ssize_t i
    cdef code_t most = 0
    for i in range(n):
        out[i] = codes[column.first + rows[i] * column.stride]
        most = max(most, out[i])
    return most


cdef bint add_node_list(NodeLists* lists, const Table* table, Py_ssize_t feature) noexcept nogil:
    """Make the list of a numeric feature; False: it has missing values."""
    cdef Py_ssize_t n = lists.node.n
    cdef uint32_t* items = lists.items + lists.place[lists.n]
    cdef int32_t most
    if table.wide:
        most = gather_codes(table, <const uint16_t*> codes_of(table), feature, lists.rows, n,
                            <uint16_t*> lists.codes)
        kernels.sort_shorts(<const uint16_t*> lists.codes, 1, n, lists.points, items)
    else:
        most = gather_codes(table, <const uint8_t*> codes_of(table), feature, lists.rows, n,
                            <uint8_t*> lists.codes)
        kernels.sort_bytes(<const uint8_t*> lists.codes, 1, n, lists.points, items)
    if most == table.n_bins[feature]:
        return False
    lists.n += 1
    return True


cdef void find_best_in_node_lists(NodeLists* lists) noexcept nogil:
    """The best score of each list; -INFINITY: it has no cut."""
    kernels.best_in_lists(
        lists.items, lists.place, lists.number, lists.n, &lists.node, lists.best)


cdef Py_ssize_t cuts_in_node_list(
    const NodeLists* lists, Py_ssize_t number, PlainCuts cuts
) noexcept nogil:
    """All candidates of a list; return how many."""
    return kernels.cuts_in_list(lists.items + lists.place[number], &lists.node, cuts)
