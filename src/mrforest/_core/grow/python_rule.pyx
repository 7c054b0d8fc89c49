# SPDX-License-Identifier: BSD-3-Clause
"""Collect every candidate of a node and let Python choose; see mrforest.rules."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free, realloc

from mrforest._core.score.impurity cimport node_score, node_weight
from mrforest._core.types cimport NONE


cdef class PythonRule(SplitRule):
    """Let a function choose among all candidates of a node.

    Parameters
    ----------
    choose : callable
        Called with what `show`, below, tells of a node; returns the number of a candidate, or
        None to leave the node a leaf. It must pickle if trees are grown in processes.
    """

    def __init__(self, choose):
        self.choose = choose

    def __reduce__(self):
        return type(self), (self.choose,)

    cdef int split(
        self, Scorer scorer, TrainingTable table, NodeView* node, Split* split
    ) except -3:
        """Ask; 0 if the node stays a leaf."""
        cdef Py_ssize_t feature, i, n_cuts, n = 0, capacity = 0, chosen
        cdef Found* found = NULL
        cdef void* more
        try:
            for feature in range(table.view.n_features):
                n_cuts = scorer.score_feature(node, feature, NONE, NULL)
                if n + n_cuts > capacity:
                    capacity = 2 * (n + n_cuts)
                    more = realloc(found, capacity * sizeof(Found))
                    if more is NULL:
                        raise MemoryError("no memory to grow a tree")
                    found = <Found*> more
                for i in range(n_cuts):
                    found[n].feature = <int32_t> feature
                    found[n].cut = scorer.cuts[i]
                    found[n].score = scorer.scores[i]
                    n += 1
            if n == 0:
                return 0
            answer = self.choose(**self.show(scorer, table, node, found, n))
            if answer is None:
                return 0
            chosen = answer
            if not 0 <= chosen < n:
                raise IndexError(f"candidate {chosen} of {n}")
            split.feature = found[chosen].feature
            split.cut = found[chosen].cut
            split.score = found[chosen].score
            return 1
        finally:
            free(found)

    cdef object show(
        self, Scorer scorer, TrainingTable table, const NodeView* node, const Found* found,
        Py_ssize_t n
    ):
        """Arguments of the call, all of them copies."""
        cdef Py_ssize_t i, feature, n_columns = table.view.n_columns
        cdef double weight = node_weight(scorer.table, node.totals)
        cdef double nothing = node_score(scorer.table, node.totals)
        candidates = {
            "feature": np.empty(n, dtype=np.int64),
            "threshold": np.empty(n),
            "is_equality": np.empty(n, dtype=bool),
            "missing_left": np.empty(n, dtype=bool),
            "decrease": np.empty(n),
        }
        totals = np.empty(n_columns)
        cdef int64_t[::1] columns = candidates["feature"]
        cdef double[::1] threshold = candidates["threshold"]
        cdef uint8_t[::1] is_equality = candidates["is_equality"].view(np.uint8)
        cdef uint8_t[::1] missing_left = candidates["missing_left"].view(np.uint8)
        cdef double[::1] decrease = candidates["decrease"]
        cdef double[::1] of_column = totals
        for i in range(n):
            feature = found[i].feature
            columns[i] = feature
            is_equality[i] = found[i].cut.is_equality
            missing_left[i] = found[i].cut.missing_left
            decrease[i] = max(found[i].score - nothing, 0.0) / weight if weight > 0 else 0.0
            if found[i].cut.is_equality:
                threshold[i] = found[i].cut.bin
            elif found[i].cut.bin == table.view.n_bins[feature] - 1:
                threshold[i] = INFINITY
            else:
                threshold[i] = table.cuts[table.cuts_start[feature] + found[i].cut.bin]
        for i in range(n_columns):
            of_column[i] = node.totals[i]
            if table.view.class_weight is not NULL:
                of_column[i] *= table.view.class_weight[i]
        return {
            "candidates": candidates,
            "totals": totals,
            "depth": node.depth,
            "n_structure": node.n_structure,
            "n_estimation": node.n_estimation,
            "key": (node.stream.key0, node.stream.key1),
            "path": node.stream.counter[1],
        }
