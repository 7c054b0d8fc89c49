# SPDX-License-Identifier: BSD-3-Clause
"""A split rule that asks a Python function."""

from mrforest._core.rule cimport SplitRule
from mrforest._core.splitter cimport NodeView, Split, Splitter
from mrforest._core.table cimport TrainingTable


cdef class PythonRule(SplitRule):
    cdef object choose

    cdef int split(
        self, Splitter splitter, TrainingTable table, NodeView* node, Py_ssize_t depth,
        Split* split) except -3
