# SPDX-License-Identifier: BSD-3-Clause
"""Votes of forests of small trees: rows go through a tree as a set of bits.

Only labels count, so a part of a tree whose leaves all have the same one is a leaf here, and the
class with most leaves need not be counted: it has the votes that no other class has.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from mrforest._core.kernels.dispatch cimport (
    DROP, FEW_TREES, JOIN, KEEP, MOST_COUNTED, N_ENDS, SET_ROWS, CodeColumn, CodedNode, RowSet,
    SetSplit, SplitRun, VoteCount, kernels,
)
from mrforest._core.plan cimport SINGLE_THRESHOLDS, is_on
from mrforest._core.predict.walk cimport CodedNodes
from mrforest._core.types cimport Node

SPLIT_DTYPE = np.dtype(
    [("cut", np.int32), ("from", np.uint16), ("left", np.uint16), ("right", np.uint16)], align=True)
RUN_DTYPE = np.dtype([("n_splits", np.int32), ("ends", np.int32)])

# A set of votes cannot be added to while the last addition is under way: several take turns.
cdef enum:
    TURNS = 4
    MAX_ENDS = 9
    BOTH_KEPT = 8
    MANY_SETS = 96        # they are in the fastest cache with space to spare
    MOST_WITH_TURNS = 8   # classes; with more, the same class is not so often the next


def common_labels(
    const Node[::1] nodes not None,             # IN  all trees, children after their parents
    const int64_t[::1] tree_start not None,     # IN  first node of each tree, and the end
    const int64_t[::1] leaf_offset not None,    # IN  first leaf of each tree, and the end
    const uint16_t[::1] leaf_label not None,    # IN
):
    """Label of each node whose leaves all have it, -1 of others, as int32."""
    cdef Py_ssize_t t, i, left
    out = np.empty(nodes.shape[0], dtype=np.int32)
    cdef int32_t[::1] label = out
    with nogil:
        for t in range(tree_start.shape[0] - 1):
            for i in range(tree_start[t + 1] - 1, tree_start[t] - 1, -1):
                left = tree_start[t] + nodes[i].child
                if nodes[i].child < 0:
                    label[i] = leaf_label[leaf_offset[t] - 1 - nodes[i].child]
                elif label[left] == label[left + 1]:
                    label[i] = label[left]
                else:
                    label[i] = -1
    return out


cdef class Layout:
    """Puts the splits of a tree in an order: each after its parent, in long runs whose sides end
    alike.

    Splits wait in lists, by how their sides end. The longest list is next, all of it; if many
    sets are about, one is next that makes no more of them.
    """
    cdef BitVotes votes
    # Of the tree that is laid out
    cdef const CodedNode* tree
    cdef const int32_t* label
    cdef SetSplit* splits
    cdef SplitRun* runs
    # Of each node
    cdef int32_t[::1] after             # the next in its list
    cdef uint16_t[::1] place
    cdef int32_t[MAX_ENDS] head, length
    cdef uint16_t[::1] free_places
    cdef Py_ssize_t n_places, n_free
    cdef int32_t[::1] turn

    def __cinit__(self, Py_ssize_t most_nodes, BitVotes votes not None):
        self.votes = votes
        self.after = np.empty(most_nodes, dtype=np.int32)
        self.place = np.empty(most_nodes, dtype=np.uint16)
        self.free_places = np.empty(most_nodes, dtype=np.uint16)
        self.turn = np.zeros(votes.n_classes, dtype=np.int32)

    cdef int end_of(self, int32_t node) noexcept nogil:
        if self.label[node] < 0:
            return KEEP
        return DROP if self.label[node] == self.votes.rest else JOIN

    cdef void wait(self, int32_t node, uint16_t place) noexcept nogil:
        cdef int32_t child = self.tree[node].child
        cdef int ends = self.end_of(child) + N_ENDS * self.end_of(child + 1)
        self.place[node] = place
        self.after[node] = self.head[ends]
        self.head[ends] = node
        self.length[ends] += 1

    cdef int next_ends(self) noexcept nogil:
        """The list to be emptied; -1: all are empty."""
        cdef int ends, best = -1
        for ends in range(MAX_ENDS):
            if self.length[ends] and (best < 0 or self.length[ends] > self.length[best]):
                if ends != BOTH_KEPT or self.n_places - self.n_free < MANY_SETS:
                    best = ends
        return BOTH_KEPT if best < 0 and self.length[BOTH_KEPT] else best

    cdef uint16_t new_place(self) noexcept nogil:
        if self.n_free:
            self.n_free -= 1
            return self.free_places[self.n_free]
        self.n_places += 1
        return <uint16_t> (self.votes.root_place() + self.n_places)

    cdef uint16_t place_of(self, int32_t side, int end, uint16_t own) noexcept nogil:
        cdef int32_t label = self.label[side]
        if end != JOIN:
            return own
        self.turn[label] = (self.turn[label] + 1) % self.votes.n_turns
        return self.votes.votes_set_of(label, self.turn[label])

    cdef Py_ssize_t lay_out(self) noexcept nogil:
        """Steps and runs of a tree that is no leaf; return the number of runs."""
        cdef Py_ssize_t n_runs = 0
        cdef int ends
        cdef int32_t node, n
        for ends in range(MAX_ENDS):
            self.head[ends] = -1
            self.length[ends] = 0
        self.wait(0, self.votes.root_place())
        while True:
            ends = self.next_ends()
            if ends < 0:
                return n_runs
            n = self.length[ends]
            if ends == BOTH_KEPT and self.n_places - self.n_free >= MANY_SETS:
                n = 1
            self.runs[n_runs].n_splits = n
            self.runs[n_runs].ends = ends
            n_runs += 1
            node = self.head[ends]
            self.length[ends] -= n
            if self.length[ends] == 0:
                self.head[ends] = -1
            else:
                self.head[ends] = self.after[node]
            while n:
                n -= 1
                self.put(node, ends)
                node = self.after[node]

    cdef void put(self, int32_t node, int ends) noexcept nogil:
        """The step of a node; its sides that are parted further wait."""
        cdef int32_t left = self.tree[node].child
        cdef int left_end = ends % N_ENDS, right_end = ends // N_ENDS
        cdef uint16_t own = self.place[node]
        cdef SetSplit* split = self.splits
        self.splits += 1
        split.cut = <int32_t> (
            self.votes.coded.columns[self.tree[node].column].values
            - self.votes.coded.columns[0].values) + self.tree[node].high
        split.origin = own
        split.left = self.place_of(left, left_end, own)
        split.right = self.place_of(left + 1, right_end, own)
        if left_end == KEEP and right_end == KEEP:
            split.right = self.new_place()
        if left_end == KEEP:
            self.wait(left, split.left)
        if right_end == KEEP:
            self.wait(left + 1, split.right)
        if left_end != KEEP and right_end != KEEP and own != self.votes.root_place():
            self.free_places[self.n_free] = own
            self.n_free += 1


cdef class BitVotes:
    """The splits of a forest in an order in which sets of rows can be parted.

    Parameters
    ----------
    coded : CodedNodes
        The nodes of the forest.
    tree_start : ndarray of int64
        First node of each tree, and the end.
    labels : ndarray of int32
        Label of each node that is a leaf, -1 of others.
    n_classes : int
    n_features : int
    """
    cdef CodedNodes coded
    cdef Py_ssize_t n_features, n_classes, n_trees, n_sets, n_cuts
    cdef int rest                       # the class that is not counted
    cdef int n_turns
    cdef SetSplit[::1] splits
    cdef SplitRun[::1] runs
    cdef int64_t[::1] split_start        # first step of each tree, and the end
    cdef int64_t[::1] run_start
    cdef int64_t[::1] sure              # votes of each class that all rows have
    cdef uint8_t[::1] is_single
    cdef double[::1] thresholds         # of the columns of one cut, by feature

    def __cinit__(self, CodedNodes coded not None, const int64_t[::1] tree_start not None,
                  const int32_t[::1] labels not None, Py_ssize_t n_classes,
                  Py_ssize_t n_features):
        self.coded = coded
        self.n_features = n_features
        self.n_classes = n_classes
        self.n_trees = tree_start.shape[0] - 1
        self.n_cuts = coded.n_values
        self.n_turns = TURNS if n_classes <= MOST_WITH_TURNS else 1
        is_split = np.asarray(labels) < 0
        self.rest = <int> np.bincount(np.asarray(labels)[~is_split]).argmax()
        self.split_start = np.concatenate([[0], np.cumsum(is_split)])[np.asarray(tree_start)]
        roots = np.asarray(labels)[np.asarray(tree_start)[:-1]]
        self.sure = np.bincount(roots[roots >= 0], minlength=n_classes)
        self.lay_out(tree_start, labels)
        self.find_singles()

    cdef int lay_out(self, const int64_t[::1] tree_start, const int32_t[::1] labels) except -1:
        cdef Py_ssize_t t, first, n_steps = self.split_start[self.n_trees]
        cdef Layout layout = Layout(np.diff(tree_start).max(), self)
        self.splits = np.empty(n_steps, dtype=SPLIT_DTYPE)
        self.runs = np.empty(n_steps, dtype=RUN_DTYPE)      # no more than steps
        self.run_start = np.zeros(self.n_trees + 1, dtype=np.int64)
        with nogil:
            for t in range(self.n_trees):
                first = tree_start[t]
                layout.tree = &self.coded.nodes[first]
                layout.label = &labels[first]
                layout.splits = &self.splits[0] + self.split_start[t]
                layout.runs = &self.runs[0] + self.run_start[t]
                self.run_start[t + 1] = self.run_start[t]
                if labels[first] < 0:
                    self.run_start[t + 1] += layout.lay_out()
        self.runs = self.runs[:self.run_start[self.n_trees]].copy()
        self.n_sets = self.root_place() + 1 + layout.n_places
        if self.n_sets >= 2**16:
            raise ValueError(f"{self.n_sets} sets of rows; there must be fewer than 65,536")
        return 0

    cdef uint16_t votes_set_of(self, int label, int turn) noexcept nogil:
        return <uint16_t> (label * self.n_turns + turn)

    cdef uint16_t root_place(self) noexcept nogil:
        return <uint16_t> (self.n_classes * self.n_turns)

    cdef int find_singles(self) except -1:
        """Features with one cut are read many at a time, if most are such."""
        cdef Py_ssize_t j, n_singles = 0
        cdef const CodeColumn* column
        self.is_single = np.zeros(self.coded.n_columns, dtype=np.uint8)
        self.thresholds = np.full(self.n_features, np.nan)
        for j in range(self.coded.n_columns):
            column = &self.coded.columns[j]
            if column.n_values == 1 and not column.is_equality:
                self.is_single[j] = 1
                self.thresholds[column.feature] = column.values[0]
                n_singles += 1
        if 2 * n_singles < self.n_features or not is_on(SINGLE_THRESHOLDS):
            self.thresholds = None
            self.is_single[:] = 0
        return 0

    def count_votes(
        self,
        const double[:, ::1] X not None,   # IN
        int32_t[:, ::1] votes not None,    # OUT  rows x classes
    ):
        """Votes of the rows until a block of them has a missing value; return how many."""
        cdef Py_ssize_t n = X.shape[0], row = 0, rows
        cdef Py_ssize_t n_sets = self.n_sets + self.n_cuts
        cdef void* memory = malloc(
            (n_sets + 1) * sizeof(RowSet) + self.n_classes * sizeof(VoteCount))
        cdef RowSet* sets = <RowSet*> ((<size_t> memory + 63) & ~<size_t> 63)
        cdef VoteCount* counts = <VoteCount*> (sets + n_sets)
        cdef uint64_t* above = <uint64_t*> malloc(self.n_features * sizeof(uint64_t))
        # Codes beyond the last row are read but say nothing.
        cdef uint16_t* codes = <uint16_t*> calloc(
            self.coded.n_columns * SET_ROWS, sizeof(uint16_t))
        cdef const double* thresholds = NULL
        if self.thresholds is not None:
            thresholds = &self.thresholds[0]
        try:
            if memory is NULL or above is NULL or codes is NULL:
                raise MemoryError("no memory for sets of rows")
            with nogil:
                while row < n:
                    rows = min(n - row, SET_ROWS)
                    if kernels.cut_rows(
                            self.coded.columns, self.coded.n_columns, &self.is_single[0],
                            thresholds, &X[row, 0], self.n_features, rows, above,
                            codes, sets + self.n_sets):
                        break
                    self.vote(rows, sets, counts, &votes[row, 0])
                    row += rows
        finally:
            free(memory)
            free(above)
            free(codes)
        return row

    cdef void vote(
        self, Py_ssize_t n_rows, RowSet* sets, VoteCount* counts, int32_t* votes
    ) noexcept nogil:
        """Votes of a block of rows, whose sets of cuts follow the sets of the trees."""
        cdef Py_ssize_t t, k, i, n_counted = 0
        memset(counts, 0, self.n_classes * sizeof(VoteCount))
        for i in range(n_rows):
            for k in range(self.n_classes):
                votes[i * self.n_classes + k] = <int32_t> self.sure[k]
        for t in range(self.n_trees):
            memset(sets, 0, self.n_classes * self.n_turns * sizeof(RowSet))
            memset(sets + self.root_place(), 255, sizeof(RowSet))
            kernels.split_sets(
                &self.runs[0] + self.run_start[t], self.run_start[t + 1] - self.run_start[t],
                &self.splits[0] + self.split_start[t], sets + self.n_sets, self.n_cuts, sets,
                self.n_sets)
            for k in range(self.n_classes):
                if k != self.rest:
                    kernels.count_votes(sets + self.votes_set_of(k, 0), self.n_turns, counts + k)
            n_counted += 1
            if n_counted % FEW_TREES == 0:
                for k in range(self.n_classes):
                    kernels.carry_votes(counts + k)
            if n_counted == MOST_COUNTED or t == self.n_trees - 1:
                for k in range(self.n_classes):
                    kernels.read_votes(counts + k, n_rows, votes + k, self.n_classes)
                n_counted = 0
        for i in range(n_rows):
            self.count_rest(votes + i * self.n_classes)

    cdef void count_rest(self, int32_t* votes) noexcept nogil:
        """The votes that no other class has."""
        cdef Py_ssize_t k
        cdef int32_t others = 0
        for k in range(self.n_classes):
            others += votes[k]
        votes[self.rest] += <int32_t> self.n_trees - others
