# SPDX-License-Identifier: BSD-3-Clause
"""Collect every candidate of a node and let Python choose; see mrforest.rules."""

import numpy as np

from libc.stdint cimport int64_t

from mrforest._core.impurity cimport node_score, node_weight
from mrforest._core.types cimport Cut

cdef Py_ssize_t NOT_COUNTED = -1


cdef class PythonRule(SplitRule):
    """Let a function choose among all candidates of a node.

    Parameters
    ----------
    choose : callable
        Called with the arguments of `split`, below; returns the number of a candidate, or
        None to leave the node a leaf. It must pickle if trees are grown in processes.
    """

    def __init__(self, choose):
        self.choose = choose

    def __reduce__(self):
        return type(self), (self.choose,)

    cdef int split(
        self, Splitter splitter, TrainingTable table, NodeView* node, Py_ssize_t depth,
        Split* split
    ) except -3:
        """Ask; 0 if the node stays a leaf."""
        cdef Py_ssize_t feature, n, i, n_columns = table.view.n_columns
        cdef double weight = node_weight(splitter.table, node.totals)
        cdef double nothing = node_score(splitter.table, node.totals)
        cdef double[::1] decrease
        cdef Cut cut
        parts = []
        for feature in range(table.view.n_features):
            n = splitter.score_feature(node, feature, NOT_COUNTED, NULL)
            part = {
                "feature": np.full(n, feature, dtype=np.int64),
                "threshold": np.empty(n),
                "is_equality": np.zeros(n, dtype=bool),
                "missing_left": np.zeros(n, dtype=bool),
                "decrease": np.zeros(n),
                "bin": np.zeros(n, dtype=np.int64),
            }
            decrease = part["decrease"]
            for i in range(n):
                cut = splitter.cuts[i]
                part["bin"][i] = cut.bin
                part["is_equality"][i] = cut.is_equality
                part["missing_left"][i] = cut.missing_left
                part["threshold"][i] = (
                    cut.bin if cut.is_equality
                    else np.inf if cut.bin == table.n_bins[feature] - 1
                    else table.cuts[table.cuts_start[feature] + cut.bin])
                if weight > 0:
                    decrease[i] = max(splitter.scores[i] - nothing, 0.0) / weight
            parts.append(part)
        found = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        n = len(found["feature"])
        if n == 0:
            return 0
        bins = found.pop("bin")
        totals = np.empty(n_columns, dtype=np.int64)
        cdef int64_t[::1] of_column = totals
        for i in range(n_columns):
            of_column[i] = node.totals[i]
        chosen = self.choose(
            candidates=found,
            totals=totals,
            depth=depth,
            n_structure=node.n_structure,
            n_estimation=node.n_estimation,
            key=(node.stream.key0, node.stream.key1),
            path=node.stream.counter[1],
        )
        if chosen is None:
            return 0
        split.feature = found["feature"][chosen]
        split.cut.bin = bins[chosen]
        split.cut.is_equality = found["is_equality"][chosen]
        split.cut.missing_left = found["missing_left"][chosen]
        split.score = found["decrease"][chosen] * weight + nothing
        return 1
