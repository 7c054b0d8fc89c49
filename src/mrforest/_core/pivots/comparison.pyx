# SPDX-License-Identifier: BSD-3-Clause
"""Trees that compare: a row goes to the nearer of two pivots, which are rows of the node.

Haghiri, Garreau, von Luxburg, "Comparison-based random forests", ICML 2018, arXiv:1806.06616.

A comparer answers for many rows at once whether each is at least as near to one pivot as to
another: from vectors, from a matrix of dissimilarities, or by asking a Python function.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from mrforest._core.data.table cimport TrainingTable
from mrforest._core.grow.builder cimport Limits, PendingNode, TreeBuilder
from mrforest._core.kernels.dispatch cimport CATEGORIES, GAPS, NUMBERS, Distance, Packing, kernels
from mrforest._core.pivots.hamming cimport no_packing, pack, pack_for
from mrforest._core.random.rng cimport Purpose, Stream, next_index, open_stream
from mrforest._core.types cimport FAILED, Node, at
from mrforest._core.grow.finish import grown_tree

cdef enum:
    ATTEMPTS = 16   # to draw two pivots; then they are searched, so that growth always ends


# ---- comparers ---------------------------------------------------------------------------------

cdef class Comparer:
    """Tells which rows are at least as near to row p as to row q."""

    cdef int compare(
        self, const int32_t* rows, Py_ssize_t n, Py_ssize_t p, Py_ssize_t q, uint8_t* left
    ) except FAILED nogil:
        return 0


cdef Distance kind_of(
    const double[:, ::1] X, const uint8_t[::1] is_categorical, Py_ssize_t n_features
) noexcept nogil:
    """What comparisons of the first features of these rows must look out for."""
    cdef Py_ssize_t i, j
    cdef Distance kind = NUMBERS
    for j in range(n_features):
        if is_categorical[j]:
            kind = CATEGORIES
    for i in range(X.shape[0]):
        for j in range(n_features):
            if X[i, j] != X[i, j]:
                return GAPS
    return kind


cdef class VectorComparer(Comparer):
    """Compare by Euclidean distance; missing features are left out, categories are 0 or 1 apart.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), dtype=float64
    is_categorical : ndarray of shape (n_features,), dtype=bool
    """

    cdef const double[:, ::1] X
    cdef const uint8_t[::1] is_categorical
    cdef Packing packing
    cdef const uint64_t[:, ::1] words
    cdef Distance kind
    cdef object arguments

    def __init__(self, X, is_categorical):
        self.arguments = (X, is_categorical)
        self.X = X
        self.is_categorical = is_categorical.view(np.uint8)
        self.packing = pack_for(no_packing(0), self.X, self.is_categorical)
        self.kind = kind_of(self.X, self.is_categorical, self.packing.n_plain)
        self.words = pack(self.X, self.packing)

    def __reduce__(self):
        return type(self), self.arguments

    cdef int compare(
        self, const int32_t* rows, Py_ssize_t n, Py_ssize_t p, Py_ssize_t q, uint8_t* left
    ) except FAILED nogil:
        if self.packing.n_words > 0:
            kernels.compare_packed(
                &self.X[0, 0], rows, n, p, q, self.X.shape[1], &self.is_categorical[0],
                self.kind, &self.words[0, 0], self.packing, left)
            return 0
        kernels.compare(
            &self.X[0, 0], rows, n, &self.X[p, 0], &self.X[q, 0], self.X.shape[1],
            &self.is_categorical[0], self.kind, left)
        return 0


cdef class MatrixComparer(Comparer):
    """Compare by given dissimilarities.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns), dtype=float64
        From each row to the row that each column stands for.
    column : ndarray of shape (n_rows,), dtype=int32
        The column of each row.
    """

    cdef const double[:, ::1] X
    cdef const int32_t[::1] column
    cdef object arguments

    def __init__(self, X, column):
        self.arguments = (X, column)
        self.X = X
        self.column = column
        if len(column) != len(X) or (len(column) and max(column) >= X.shape[1]):
            raise ValueError("the columns do not fit the matrix")

    def __reduce__(self):
        return type(self), self.arguments

    cdef int compare(
        self, const int32_t* rows, Py_ssize_t n, Py_ssize_t p, Py_ssize_t q, uint8_t* left
    ) except FAILED nogil:
        cdef Py_ssize_t i, row
        for i in range(n):
            row = at(rows[i], self.X.shape[0])
            left[i] = self.X[row, self.column[p]] <= self.X[row, self.column[q]]
        return 0


cdef class PythonComparer(Comparer):
    """Compare by asking.

    Parameters
    ----------
    ask : callable
        ``ask(rows, p, q)`` returns a boolean for each of the rows.
    """

    cdef object ask

    def __init__(self, ask):
        self.ask = ask

    def __reduce__(self):
        return type(self), (self.ask,)

    cdef int compare(
        self, const int32_t* rows, Py_ssize_t n, Py_ssize_t p, Py_ssize_t q, uint8_t* left
    ) except FAILED nogil:
        cdef Py_ssize_t i
        cdef const uint8_t[::1] answer
        cdef int32_t[::1] asked
        with gil:
            asked_ = np.empty(n, dtype=np.int32)
            asked = asked_
            for i in range(n):
                asked[i] = rows[i]
            answer = np.ascontiguousarray(self.ask(asked_, p, q), dtype=bool).view(np.uint8)
            for i in range(n):
                left[i] = answer[i]
        return 0


# ---- growth ------------------------------------------------------------------------------------

cdef class PivotBuilder(TreeBuilder):
    """A tree of comparisons with two pivots."""

    cdef Comparer comparer
    cdef bint supervised
    cdef uint8_t* left

    def __init__(self, TrainingTable table, structure, estimation, key, Limits limits,
                 Comparer comparer, bint supervised):
        self.compares = True
        self.comparer = comparer
        self.supervised = supervised
        self.left = <uint8_t*> malloc(
            max(self.structure.shape[0], self.estimation.shape[0]) + 2)
        if self.left is NULL:
            raise MemoryError("no memory to grow a tree")

    def __dealloc__(self):
        free(self.left)

    cdef int is_good(self, int32_t p, int32_t q, bint needs_classes) except FAILED nogil:
        """Whether two rows are pivots that do not go the same way."""
        cdef int32_t rows[2]
        if needs_classes and self.table.y[p] == self.table.y[q]:
            return 0
        rows[0] = p
        rows[1] = q
        self.comparer.compare(rows, 2, p, q, self.left)
        return self.left[0] and not self.left[1]

    cdef Py_ssize_t compare_estimation(
        self, const PendingNode* node, const int32_t* pivots
    ) except FAILED nogil:
        """Which estimation points go left; return how many."""
        cdef Py_ssize_t n = self.nodes[node.number].n_estimation, n_left = 0, i
        self.comparer.compare(
            &self.estimation[0] + self.nodes[node.number].first_estimation, n, pivots[0],
            pivots[1], self.left)
        for i in range(n):
            n_left += self.left[i]
        return n_left

    cdef int search(
        self, const int32_t* rows, Py_ssize_t n, bint needs_classes, int32_t* pivots,
        Stream* stream
    ) except FAILED nogil:
        """Draw the second pivot among all that are good with the first; 0 if none is."""
        cdef Py_ssize_t j, n_good = 0
        for j in range(n):
            if self.is_good(pivots[0], rows[j], needs_classes):
                self.scratch[n_good] = rows[j]
                n_good += 1
        if n_good == 0:
            return 0
        pivots[1] = self.scratch[next_index(stream, n_good)]
        return 1

    cdef int draw(
        self, const PendingNode* node, int32_t* pivots, Py_ssize_t* n_left
    ) except FAILED nogil:
        """Draw two pivots; 0 if the node stays a leaf. `left` tells the estimation points."""
        cdef Stream stream = open_stream(
            self.key0, self.key1, self.nodes[node.number].path, Purpose.SPLIT)
        cdef const int32_t* rows = &self.structure[0] + node.first_structure
        cdef Py_ssize_t n = node.n_structure, n_estimation, i, j, _attempt
        cdef Py_ssize_t floor = self.limits.min_leaf
        n_estimation = self.nodes[node.number].n_estimation
        for _attempt in range(ATTEMPTS):
            i = next_index(&stream, n)
            j = next_index(&stream, n - 1)
            j += j >= i
            pivots[0] = rows[i]
            pivots[1] = rows[j]
            if self.is_good(pivots[0], pivots[1], self.supervised):
                n_left[0] = self.compare_estimation(node, pivots)
                if floor <= n_left[0] <= n_estimation - floor:
                    return 1
        if floor > 0:
            return 0
        pivots[0] = rows[next_index(&stream, n)]
        if not (
            (self.supervised and self.search(rows, n, True, pivots, &stream))
            or self.search(rows, n, False, pivots, &stream)
        ):
            return 0
        n_left[0] = self.compare_estimation(node, pivots)
        return 1

    cdef void partition(self, int32_t* rows, Py_ssize_t n) noexcept nogil:
        """Those that `left` tells first, both sides in their order."""
        cdef Py_ssize_t n_left = 0, n_right = 0, i
        cdef int32_t row
        for i in range(n):
            row = rows[i]
            rows[n_left] = row
            self.scratch[n_right] = row
            n_left += self.left[i]
            n_right += not self.left[i]
        memcpy(rows + n_left, self.scratch, n_right * sizeof(int32_t))

    cdef int split(self, PendingNode* node) except FAILED nogil:
        cdef Py_ssize_t number = node.number, first = self.nodes[number].first_estimation
        cdef Py_ssize_t n_estimation = self.nodes[number].n_estimation
        cdef Py_ssize_t left_estimation = 0, left_structure, i
        cdef PendingNode children[2]
        cdef int32_t pivots[2]
        cdef int error
        if self.supervised and not self.count_totals(node):
            return 0
        if not self.draw(node, pivots, &left_estimation):
            return 0
        self.partition(&self.estimation[0] + first, n_estimation)
        if self.is_refused(node, left_estimation):
            return 0
        left_structure = left_estimation
        if self.is_honest:
            self.comparer.compare(
                &self.structure[0] + node.first_structure, node.n_structure, pivots[0],
                pivots[1], self.left)
            left_structure = 0
            for i in range(node.n_structure):
                left_structure += self.left[i]
            self.partition(&self.structure[0] + node.first_structure, node.n_structure)
        error = self.add_children(node, left_structure, left_estimation, 0.0, children)
        if error != 0:
            return error
        self.nodes[number].pivots[0] = pivots[0]
        self.nodes[number].pivots[1] = pivots[1]
        return self.push_children(children)


def grow_by_comparisons(
    TrainingTable table, structure, estimation, key, Limits limits, *, Comparer comparer,
    bint supervised
):
    """Grow a tree of comparisons.

    Parameters
    ----------
    table : TrainingTable
        With values; only its target is read.
    structure, estimation, key, limits
        As in `grow_tree`.
    comparer : Comparer
        Of the rows of the table.
    supervised : bool
        Whether the pivots of a node must be of different classes.

    Returns
    -------
    dict of arrays
        See `grown_tree`.
    """
    return grown_tree(PivotBuilder(table, structure, estimation, key, limits, comparer, supervised))


# ---- prediction --------------------------------------------------------------------------------

def find_nodes_by_vectors(
    const double[:, ::1] X,               # IN   queries
    const Node[::1] nodes,                # IN   all trees, one after the other
    const int64_t[::1] tree_start,        # IN   first node of each tree, and the end
    const int32_t[:, ::1] pivots,         # IN   of each node: rows of `pivot_rows`
    const double[:, ::1] pivot_rows,      # IN
    is_categorical,                       # IN   per feature
    int32_t[:, ::1] out,                  # OUT  trees x queries: number of the node in its tree
):
    """The leaf of every query in every tree."""
    cdef const uint8_t[::1] kinds = is_categorical.view(np.uint8)
    cdef Py_ssize_t t, i, first
    cdef int32_t at_node, child, p, q
    cdef bint left
    cdef Packing packing = no_packing(X.shape[1])
    # A few queries are not worth the packing of all pivots.
    if 4 * X.shape[0] * (tree_start.shape[0] - 1) >= pivot_rows.shape[0] > 0:
        packing = pack_for(pack_for(no_packing(0), X, kinds), pivot_rows, kinds)
    cdef const uint64_t[:, ::1] words = pack(X, packing)
    cdef const uint64_t[:, ::1] pivot_words = pack(pivot_rows, packing)
    cdef Distance kind = max(
        kind_of(X, kinds, packing.n_plain), kind_of(pivot_rows, kinds, packing.n_plain))
    with nogil:
        for t in range(tree_start.shape[0] - 1):
            first = tree_start[t]
            for i in range(X.shape[0]):
                at_node = 0
                child = nodes[first].child
                while child >= 0:
                    p, q = pivots[first + at_node, 0], pivots[first + at_node, 1]
                    if packing.n_words > 0:
                        left = kernels.is_nearer_packed(
                            &X[i, 0], &pivot_rows[p, 0], &pivot_rows[q, 0], &kinds[0], kind,
                            &words[i, 0], &pivot_words[p, 0], &pivot_words[q, 0], packing)
                    else:
                        left = kernels.is_nearer(
                            &X[i, 0], &pivot_rows[p, 0], &pivot_rows[q, 0], X.shape[1],
                            &kinds[0], kind)
                    at_node = child + (not left)
                    child = nodes[first + at_node].child
                out[t, i] = at_node


def find_nodes_by_matrix(
    const double[:, ::1] X,               # IN   queries x columns
    const Node[::1] nodes,                # IN
    const int64_t[::1] tree_start,        # IN
    const int32_t[:, ::1] pivots,         # IN   of each node: columns
    int32_t[:, ::1] out,                  # OUT  trees x queries
):
    """The leaf of every query in every tree, by given dissimilarities to the pivots."""
    cdef Py_ssize_t t, i, first
    cdef int32_t at_node, child
    with nogil:
        for t in range(tree_start.shape[0] - 1):
            first = tree_start[t]
            for i in range(X.shape[0]):
                at_node = 0
                child = nodes[first].child
                while child >= 0:
                    at_node = child + (
                        X[i, pivots[first + at_node, 0]] > X[i, pivots[first + at_node, 1]])
                    child = nodes[first + at_node].child
                out[t, i] = at_node
