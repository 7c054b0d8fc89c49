# SPDX-License-Identifier: BSD-3-Clause
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t

from mrforest._core.kernels.dispatch cimport CodeColumn, CodedNode
from mrforest._core.types cimport Node


cdef class CodedNodes:
    cdef const CodedNode[::1] nodes         # None: slim nodes will do
    cdef const uint32_t[::1] slim_nodes     # None: they do not fit
    cdef const double[::1] values
    cdef CodeColumn* columns
    cdef readonly Py_ssize_t n_columns
    cdef readonly Py_ssize_t n_values       # of all columns
    cdef readonly Py_ssize_t stride         # codes from row to row
    cdef readonly bint is_wide      # codes have two bytes


cdef class Rows:
    cdef const double[:, ::1] X
    cdef const Node[::1] nodes
    cdef const int64_t[::1] tree_start
    cdef CodedNodes coded
    cdef void* codes
    cdef int32_t* waiting
    cdef bint is_plain
    cdef Py_ssize_t n, n_trees

    cdef int code(self) except -1
    cdef const Node* tree(self, Py_ssize_t t) noexcept nogil
    cdef void walk(self, Py_ssize_t t, int32_t* where) noexcept nogil
