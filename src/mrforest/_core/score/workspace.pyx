# SPDX-License-Identifier: BSD-3-Clause
"""Arrays that the nodes of a growing tree use one after the other."""

from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from mrforest._core.data.table cimport TrainingTable
from mrforest._core.plan cimport (
    BLOCK_POINTS, CELLS_PER_CODE, HISTOGRAMS, LARGEST_HISTOGRAM, NODE_HISTOGRAMS, is_on,
)
from mrforest._core.rules.rule cimport SplitRule
from mrforest._core.score.feature_order cimport free_order, make_order
from mrforest._core.score.histogram_pool cimport HistogramPool
from mrforest._core.score.node_histogram cimport free_node_histogram, new_node_histogram
from mrforest._core.score.node_lists cimport free_node_lists
from mrforest._core.score.sorted_block cimport free_block
from mrforest._core.types cimport Cut, Entry, Table


cdef Py_ssize_t most_bins(const Table* table) noexcept nogil:
    """Bins of a feature, that of missing values among them, at most."""
    cdef Py_ssize_t f, most = 0
    for f in range(table.n_features):
        most = max(most, table.n_bins[f] + 1)
    return most


cdef Py_ssize_t most_sorted(const Table* table) noexcept nogil:
    """Points of a node that may be sorted, not counted, at most; see `counting_pays`.

    Counting pays for any features together if it does for the one that has most bins.
    """
    cdef Py_ssize_t n_cells = most_bins(table) * table.n_columns
    if (table.slot[table.n_features] * table.n_columns > LARGEST_HISTOGRAM
            or not is_on(HISTOGRAMS) or not is_on(NODE_HISTOGRAMS)):
        return INT64_MAX
    return max(n_cells // CELLS_PER_CODE + 1, BLOCK_POINTS)


cdef class Workspace:
    """Work space for the nodes of one growing tree.

    Parameters
    ----------
    table : TrainingTable
    rule : SplitRule
    pool : HistogramPool
    n_structure, n_estimation : int
        Points of the tree.
    floor : int
        Estimation points that each side of a cut must keep; 0: none.
    counts_points : bool
        Whether class counts are counts of estimation points.
    sorts_any : bool
        Whether nodes are sorted where counting would pay, too.
    """

    def __cinit__(self, TrainingTable table, SplitRule rule, HistogramPool pool,
                  Py_ssize_t n_structure, Py_ssize_t n_estimation, int64_t floor,
                  bint counts_points, bint sorts_any):
        self.table = &table.view
        self.rule = rule
        self.pool = pool
        self.floor = floor
        self.counts_points = counts_points
        # Estimation points are looked at feature by feature for a floor that nothing else tells.
        cdef Py_ssize_t n_points = n_estimation if floor > 0 and not counts_points else 0
        cdef Py_ssize_t n_sorted = n_structure
        if not sorts_any:
            n_sorted = min(n_structure, most_sorted(self.table))
        cdef Py_ssize_t longest = max(n_sorted, n_points) + 1
        cdef Py_ssize_t of_point = 1 if self.table.moment is NULL else 2
        cdef Py_ssize_t n_entries = of_point * max(n_sorted, min(
            n_structure, most_bins(self.table) * self.table.n_columns))
        # Between the bins that have points, with missing values on either side, and these alone
        cdef Py_ssize_t n_cuts = 2 * min(n_structure, most_bins(self.table)) + 2
        cdef Py_ssize_t n_marks = n_structure if rule.restricts else 0
        cdef Py_ssize_t n_features = self.table.n_features, n_columns = self.table.n_columns
        cdef Py_ssize_t n_categories = 1 + max(
            [n for n, c in zip(table.n_bins, table.is_categorical) if c], default=0)
        self.entries = <Entry*> malloc((n_entries + 1) * sizeof(Entry))
        self.points = <Entry*> malloc((n_points + 1) * sizeof(Entry))
        self.keys = <uint64_t*> malloc(longest * sizeof(uint64_t))
        self.more_keys = <uint64_t*> malloc(longest * sizeof(uint64_t))
        self.scores = <double*> malloc(n_cuts * sizeof(double))
        self.cuts = <Cut*> malloc(n_cuts * sizeof(Cut))
        self.work = <double*> malloc(max(n_cuts, n_features) * sizeof(double))
        self.sides.left = <int64_t*> malloc(n_columns * sizeof(int64_t))
        self.sides.right = <int64_t*> malloc(n_columns * sizeof(int64_t))
        self.lefts = <int32_t*> malloc(n_cuts * sizeof(int32_t))
        self.cut_bins = <int32_t*> malloc(n_cuts * sizeof(int32_t))
        self.bins_work = <int64_t*> malloc(129 * n_columns * sizeof(int64_t))
        self.best_in_bins = <double*> malloc(n_features * sizeof(double))
        self.same_width = <int32_t*> malloc(n_features * sizeof(int32_t))
        self.bins_of_same_width = <const int32_t**> malloc(n_features * sizeof(int32_t*))
        self.marks = <uint8_t*> malloc(n_marks + 1)
        self.categories = <uint8_t*> malloc(n_categories)
        self.splittable = <SplittableFeature*> malloc(n_features * sizeof(SplittableFeature))
        self.splittable_columns = <int32_t*> malloc(n_features * sizeof(int32_t))
        self.best = <double*> malloc(n_features * sizeof(double))
        self.no_cut = <RowSpan*> malloc(n_features * sizeof(RowSpan))
        self.others = <int32_t*> malloc(n_features * sizeof(int32_t))
        self.place = <Py_ssize_t*> malloc(n_features * sizeof(Py_ssize_t))
        self.node_histogram = new_node_histogram(self.table, n_structure)
        if (self.entries is NULL or self.points is NULL or self.keys is NULL
                or self.more_keys is NULL or self.scores is NULL or self.cuts is NULL
                or self.work is NULL or self.sides.left is NULL or self.sides.right is NULL
                or self.lefts is NULL or self.cut_bins is NULL or self.bins_work is NULL
                or self.best_in_bins is NULL or self.same_width is NULL
                or self.bins_of_same_width is NULL
                or self.marks is NULL or self.categories is NULL or self.splittable is NULL
                or self.splittable_columns is NULL or self.best is NULL or self.no_cut is NULL
                or self.others is NULL
                or self.place is NULL or self.node_histogram is NULL
                or not make_order(&self.order, n_features)):
            raise MemoryError("no memory to grow a tree")
        memset(self.marks, 0, n_marks + 1)
        memset(self.no_cut, 0, n_features * sizeof(RowSpan))

    def __dealloc__(self):
        free_block(self.block)
        free_node_lists(self.node_lists)
        free(self.entries)
        free(self.points)
        free(self.keys)
        free(self.more_keys)
        free(self.scores)
        free(self.cuts)
        free(self.work)
        free(self.sides.left)
        free(self.sides.right)
        free(self.lefts)
        free(self.cut_bins)
        free(self.bins_work)
        free(self.best_in_bins)
        free(self.same_width)
        free(self.bins_of_same_width)
        free(self.marks)
        free(self.categories)
        free_order(&self.order)
        free(self.splittable)
        free(self.splittable_columns)
        free(self.best)
        free(self.no_cut)
        free(self.others)
        free(self.place)
        free_node_histogram(self.node_histogram)
