# SPDX-License-Identifier: BSD-3-Clause
"""Split nodes whose points are elsewhere: a sample of them is enough, or what is counted in it.

    here    choose ─► size ─┐                                         ┌─► choose ─► cut, or size
    there                   └─► sample_places ─► rows, or count_nodes ┘
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t

from mrforest._core.data.table cimport TrainingTable
from mrforest._core.grow.builder cimport Limits, PendingNode
from mrforest._core.grow.by_samples cimport ALL_NODES, ELSEWHERE, SampleBuilder
from mrforest._core.grow.cut_builder cimport write_split
from mrforest._core.random.rng cimport Purpose, Stream, next_index, open_stream
from mrforest._core.rules.rule cimport Draw, SplitRule
from mrforest._core.score.impurity cimport node_score
from mrforest._core.score.sample_scores cimport NodeScores, ScoredNode
from mrforest._core.types cimport Node, Split


cdef inline int64_t words_given(const Stream* stream) noexcept nogil:
    """How many words of a stream have been given out."""
    return 4 * (<int64_t> stream.counter[0] - 1) + stream.used


cdef inline void go_to_word(Stream* stream, int64_t word) noexcept nogil:
    """Let a word, counted from 0, be the next one."""
    stream.counter[0] = word // 4
    stream.used = 4 + word % 4


def sample_places(
    key, uint64_t path, int64_t n, int64_t size, int64_t first_word, int64_t start, int64_t end
):
    """Places of the points of a sample, those from start to end.

    Parameters
    ----------
    key, path
        Of the tree and the node.
    n : int
        Structure points of the node.
    size, first_word : int
        As `SampleChooser.choose` asks for them.
    start, end : int
        Structure points of the node that come before, and end of those that are here.

    Returns
    -------
    ndarray of int64
        Ascending; 0 is the first point that is here.
    """
    cdef Stream stream = open_stream(key[0], key[1], path, Purpose.SPLIT)
    cdef int64_t part, last, first, place, n_found = 0
    if start == end:
        return np.empty(0, dtype=np.int64)
    # Part i begins at floor(i n / size).
    part = ((start + 1) * size - 1) // n
    last = (end * size - 1) // n
    out = np.empty(last - part + 1, dtype=np.int64)
    cdef int64_t[::1] places = out
    go_to_word(&stream, first_word + part)
    with nogil:
        while part <= last:
            first = part * n // size
            place = first + next_index(&stream, (part + 1) * n // size - first)
            if start <= place < end:
                places[n_found] = place - start
                n_found += 1
            part += 1
    return out[:n_found]


cdef class CountedScores(NodeScores):
    """Candidates and scores of a node, from what is counted in it; classes only."""

    cdef const int32_t* counted_cells       # for each feature classes x bins

    cdef void enter(self, const ScoredNode* node) noexcept nogil:
        self.has_histograms = self.can_count = self.can_list = False

    cdef inline const int32_t* cells_of(self, Py_ssize_t feature) noexcept nogil:
        return self.counted_cells + self.table.slot[feature] * self.table.n_columns

    cdef void add_up(self, int64_t* totals) noexcept nogil:
        """Points of each class."""
        cdef Py_ssize_t width = self.table.n_bins[0] + 1, k, bin
        cdef const int32_t* cells = self.cells_of(0)
        for k in range(self.table.n_columns):
            totals[k] = 0
            for bin in range(width):
                totals[k] += cells[k * width + bin]

    cdef Py_ssize_t write_entries(
        self, const ScoredNode* node, Py_ssize_t feature
    ) noexcept nogil:
        cdef Py_ssize_t width = self.table.n_bins[feature] + 1, n = 0, k, bin
        cdef const int32_t* cells = self.cells_of(feature)
        for bin in range(width):
            for k in range(self.table.n_columns):
                if cells[k * width + bin] != 0:
                    self.entries[n].bin = <int32_t> bin
                    self.entries[n].column = <int32_t> k
                    self.entries[n].count = cells[k * width + bin]
                    n += 1
        return n


cdef class RemoteSample(SampleBuilder):
    """A node of a tree, of whose points only those are here that were asked for."""

    cdef NodeScores by_rows
    cdef CountedScores by_counts
    cdef const int64_t[::1] starts          # rows of each sample begin here; and the end
    cdef const int32_t[:, ::1] counts_here  # of each sample that has no rows
    cdef Py_ssize_t n_taken, n_counted      # samples that were looked at, and those without rows
    cdef bint is_counted                    # whether the last one was
    cdef int64_t size, first_word           # of the sample that is not here

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.by_rows = self.scores
        self.by_counts = CountedScores(self.owner, self.rule, self.offers_equality)

    cdef const int32_t* take_sample(
        self, const int32_t* rows, Py_ssize_t n, Py_ssize_t size, Draw* draw
    ) noexcept nogil:
        cdef Py_ssize_t first
        self.size = size
        self.first_word = words_given(&draw.stream)
        if self.n_taken == self.starts.shape[0] - 1:
            return NULL
        # If all points are taken nothing is drawn.
        if size < n:
            go_to_word(&draw.stream, self.first_word + size)
        first = self.starts[self.n_taken]
        self.is_counted = self.starts[self.n_taken + 1] == first
        self.n_taken += 1
        if self.is_counted:
            self.by_counts.counted_cells = &self.counts_here[self.n_counted, 0]
            self.n_counted += 1
        with gil:
            self.scores = self.by_counts if self.is_counted else self.by_rows
        return rows if self.is_counted else rows + first

    cdef void count_columns(self, const int32_t* rows, Py_ssize_t n) noexcept nogil:
        if self.is_counted:
            self.by_counts.add_up(self.totals)
        else:
            SampleBuilder.count_columns(self, rows, n)

    cdef Py_ssize_t count_minority(self, const int32_t* rows, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t k
        cdef int64_t most = 0
        if not self.is_counted:
            return SampleBuilder.count_minority(self, rows, n)
        self.by_counts.add_up(self.totals)
        for k in range(self.table.n_columns):
            most = max(most, self.totals[k])
        return n - most

    cdef void set_node(
        self, key, uint64_t path, Py_ssize_t n_points, const int64_t[::1] starts,
        const int32_t[:, ::1] counts
    ) except *:
        self.key0, self.key1 = key
        self.starts = starts
        self.counts_here = counts
        self.n_taken = self.n_counted = self.n_nodes = 0
        self.by_rows.begin_tree()
        self.by_counts.begin_tree()
        if self.add_node(-1, path, 0, n_points, n_points) != 0:
            raise MemoryError("no memory to choose splits")


cdef class SampleChooser:
    """Lets a rule split nodes by samples of their points.

    Parameters
    ----------
    table : TrainingTable
        Rows of samples.
    limits : Limits
    rule, offers_equality, max_scored, min_minority
        See `grow_sampled_tree`.
    """
    cdef RemoteSample node
    cdef TrainingTable table

    def __init__(self, TrainingTable table, Limits limits, *, SplitRule rule,
                 bint offers_equality, Py_ssize_t max_scored, Py_ssize_t min_minority):
        rows = np.arange(table.view.n_rows, dtype=np.int32)
        self.table = table
        self.node = RemoteSample(
            table, rows, rows, (0, 0), limits, rule, offers_equality, max_scored, min_minority,
            ALL_NODES)

    def choose(
        self, key, uint64_t path, Py_ssize_t depth, Py_ssize_t n_structure, Py_ssize_t n_points,
        double root_weight, const int64_t[::1] starts not None,
        const int32_t[:, ::1] counts not None
    ):
        """Let the rule draw a split.

        Parameters
        ----------
        key : pair of uint64
            Key of the tree.
        path, depth : int
            Of the node.
        n_structure, n_points : int
            Points that shape the tree, and all points of the node.
        root_weight : float
            Weight of all points that shape the tree.
        starts : ndarray of int64
            Where the rows of each sample of the node begin in the table, and the end. There are
            as many samples as have been asked for, in this order.
        counts : ndarray of shape (n_counted, n_cells), dtype=int32
            Of samples that have no rows here, what `count_nodes` counts in them; classes only.

        Returns
        -------
        None if the node stays a leaf; a pair of int if a further sample is needed: its size, and
        the first word of the node's stream that draws it, see `sample_places`; else
        cut, node, decrease
            See `Chooser.choose`.
        """
        cdef RemoteSample here = self.node
        cdef PendingNode node
        cdef Split split
        cdef Node written
        cdef Py_ssize_t n_scored = 0
        cdef int found
        cdef double decrease
        here.set_node(key, path, n_points, starts, counts)
        node.number = 0
        node.depth = <int32_t> depth
        node.first_structure = 0
        node.n_structure = n_structure
        with nogil:
            found = here.draw_split(&node, &split, &n_scored)
        if found == ELSEWHERE:
            return here.size, here.first_word
        if found == 0:
            return None
        write_split(self.table, &split, &written)
        decrease = split.score - node_score(&self.table.view, here.totals)
        decrease = max(decrease, 0.0) / root_weight if root_weight > 0 else 0.0
        # The decrease is that of the points that were scored, who stand for the others.
        decrease *= <double> n_structure / <double> n_scored
        cut = (split.feature, split.cut.bin, bool(split.cut.is_equality),
               bool(split.cut.missing_left))
        return cut, (written.threshold, written.feature), decrease
