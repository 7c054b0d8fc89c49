# SPDX-License-Identifier: BSD-3-Clause
"""Features in random order, drawn one by one, and put back afterwards.

Undoing the draws of a node leaves the natural order for the next: what a node draws does not
depend on other nodes, and a node that looks at few of many features does little work.
"""

from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc

from mrforest._core.random.rng cimport Stream, next_index


cdef struct Order:
    int32_t* features
    int32_t* swaps
    Py_ssize_t n


cdef inline bint make_order(Order* order, Py_ssize_t n) noexcept nogil:
    """Natural order of n features; False: no memory."""
    cdef Py_ssize_t i
    order.n = n
    order.features = <int32_t*> malloc(n * sizeof(int32_t))
    order.swaps = <int32_t*> malloc(n * sizeof(int32_t))
    if order.features is NULL or order.swaps is NULL:
        return False
    for i in range(n):
        order.features[i] = <int32_t> i
    return True


cdef inline void free_order(Order* order) noexcept nogil:
    free(order.features)
    free(order.swaps)


cdef inline int32_t next_feature(Order* order, Py_ssize_t i, Stream* stream) noexcept nogil:
    """Draw feature number i; those before it have been drawn."""
    cdef Py_ssize_t j = i + next_index(stream, order.n - i)
    cdef int32_t feature = order.features[j]
    order.swaps[i] = <int32_t> j
    order.features[j] = order.features[i]
    order.features[i] = feature
    return feature


cdef inline void put_back(Order* order, Py_ssize_t n_drawn) noexcept nogil:
    """Undo the draws."""
    cdef Py_ssize_t i
    cdef int32_t feature
    for i in range(n_drawn - 1, -1, -1):
        feature = order.features[i]
        order.features[i] = order.features[order.swaps[i]]
        order.features[order.swaps[i]] = feature
