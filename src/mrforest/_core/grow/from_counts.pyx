# SPDX-License-Identifier: BSD-3-Clause
"""Split nodes whose points are elsewhere: what was counted in them is enough.

    there   points ─► count_nodes ─┐                    ┌─► part_nodes ─► points of the children
                                   +  ─► choose ─► cut ─┤
    there   points ─► count_nodes ─┘                    └─► part_nodes ─► points of the children
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from libc.string cimport memcpy, memset

from mrforest._core.data.table cimport TrainingTable
from mrforest._core.grow.builder cimport Limits, count_classes_of
from mrforest._core.grow.cut_builder cimport write_split
from mrforest._core.grow.leaves cimport draw_label, weigh_classes
from mrforest._core.grow.partition cimport partition_rows
from mrforest._core.grow.splitter cimport Splitter
from mrforest._core.random.rng cimport ROOT_PATH, Purpose, child_path, open_stream
from mrforest._core.rules.rule cimport Draw, RemotePoints, SplitRule
from mrforest._core.score.histogram cimport Selection, count_columns, count_points
from mrforest._core.score.histogram_pool cimport HistogramPool
from mrforest._core.score.impurity cimport node_score, node_weight
from mrforest._core.score.scorer cimport NodeView, Scorer
from mrforest._core.types cimport BAD_CHOICE, NONE, Cut, Node, Split


PATH_OF_ROOT = <object> ROOT_PATH


def paths_below(uint64_t path):
    """Paths of the children of a node."""
    return child_path(path, 0), child_path(path, 1)


cdef class Chooser:
    """Lets a rule split nodes that are known by what was counted in them.

    Parameters
    ----------
    table : TrainingTable
        Its features, classes and class weights are used, not its rows.
    limits : Limits
    rule : SplitRule
        If it asks for single points, see `points_wanted`.
    is_honest : bool
        Whether other points fill the leaves than shape the tree.
    """
    cdef TrainingTable owner
    cdef Limits limits
    cdef HistogramPool pool
    cdef Scorer scorer
    cdef Splitter splitter
    cdef bint is_honest
    cdef int histogram
    cdef int64_t[::1] totals
    cdef SplitRule rule
    cdef RemotePoints remote_points            # points that a rule asks for
    cdef int64_t[:, ::1] places
    cdef int32_t[::1] order
    cdef Py_ssize_t n_cells
    cdef readonly Py_ssize_t n_drawn    # points that the rule asks for at a feature; 0: none
    cdef readonly bint lacks            # whether the last choice needs to see more of them

    def __init__(self, TrainingTable table, Limits limits, SplitRule rule, *, bint is_honest):
        cdef Py_ssize_t n_columns = table.view.n_columns
        self.n_cells = table.view.slot[table.view.n_features] * n_columns
        self.owner = table
        self.limits = limits
        self.is_honest = is_honest
        self.totals = np.empty(n_columns, dtype=np.int64)
        self.pool = HistogramPool()
        self.pool.set_table(&table.view, self.needs_points)
        # Room for the bins of any feature
        most = (int(np.asarray(table.n_bins).max()) + 1) * n_columns
        self.scorer = Scorer(
            table, rule, self.pool, most, most, limits.min_leaf,
            not is_honest, False)
        self.splitter = Splitter(self.scorer)
        self.histogram = self.pool.take()
        if self.histogram < 0:
            raise MemoryError("no memory to choose splits")
        self.rule = rule
        if rule.restricts:
            self.n_drawn = rule.n_points
            self.order = np.empty(table.view.n_features, dtype=np.int32)
            self.remote_points.n_drawn = self.n_drawn
            self.remote_points.order = &self.order[0]
            self.scorer.remote_points = &self.remote_points

    cdef void reserve(self, Py_ssize_t n_structure) except *:
        """Room for the points that a rule draws, in a node that has more than these."""
        if n_structure <= self.n_drawn:
            return
        if self.remote_points.places is NULL:
            self.places = np.empty(
                (self.owner.view.n_features, self.n_drawn), dtype=np.int64)
            self.remote_points.places = &self.places[0, 0]
        self.scorer.mark_up_to(n_structure)

    @property
    def needs_points(self):
        """Whether estimation points must be counted, too."""
        return self.limits.min_leaf > 0 and self.is_honest

    cdef NodeView view_of(
        self, key, uint64_t path, Py_ssize_t depth, Py_ssize_t n_structure, Py_ssize_t n_points
    ) except *:
        """A node without points, and work space for it."""
        cdef NodeView view
        # Features without a cut are known by slices of points, and here there are none.
        self.scorer.forget_nodes()
        if self.rule.restricts:
            self.reserve(n_structure)
        self.remote_points.n_order = 0
        self.remote_points.lacks = False
        view.structure = view.estimation = NULL
        view.n_structure = n_structure
        view.n_estimation = n_points
        view.totals = &self.totals[0]
        view.histogram = self.histogram
        view.first = 0
        view.level = NONE
        view.depth = depth
        view.stream = open_stream(key[0], key[1], path, Purpose.SPLIT)
        return view

    def points_wanted(self, key, uint64_t path, Py_ssize_t n_structure):
        """Which points of a node a rule asks for.

        Returns
        -------
        features : ndarray of int32
            In the order in which they are looked at, should none before have a cut.
        places : ndarray of shape (n_features, n_drawn), dtype=int64
            Of the points of each of these, among the structure points of the node; none if all
            points are looked at.
        n_first : int
            How many features are looked at in any case.
        """
        cdef NodeView view = self.view_of(key, path, 0, n_structure, n_structure)
        cdef const uint8_t[::1] nothing = np.zeros(self.owner.view.n_features, dtype=np.uint8)
        cdef Draw draw
        cdef Split split
        if n_structure <= self.n_drawn:
            return np.empty(0, np.int32), np.empty((0, 0), np.int64), 0
        memset(self.pool.items[self.histogram].columns, 0, self.n_cells * sizeof(int32_t))
        self.totals[:] = 0
        draw.stream = view.stream
        draw.mode = 0
        n_first = self.rule.count_features(self.owner.view.n_features, &draw)
        self.remote_points.codes = NULL
        self.remote_points.is_known = &nothing[0]
        # As nothing is known, no feature has a cut, and all are looked at.
        with nogil:
            self.splitter.split(&view, &split)
        features = np.array(self.order[:self.remote_points.n_order])
        return features, np.asarray(self.places)[features], n_first

    def choose(
        self, const int32_t[::1] counts not None, const int32_t[::1] points, key, uint64_t path,
        Py_ssize_t depth, Py_ssize_t n_structure, Py_ssize_t n_points, double root_weight,
        const int32_t[:, ::1] codes=None, const uint8_t[::1] is_known=None
    ):
        """Let the rule draw a split.

        Parameters
        ----------
        counts, points : ndarray of int32
            What `count_nodes` counted, of all points; no estimation points unless they are needed.
        key : pair of uint64
            Key of the tree.
        path, depth : int
            Of the node.
        n_structure, n_points : int
            Its points.
        root_weight : float
            Weight of the structure points of the tree.
        codes : ndarray of shape (n_features, n_drawn), dtype=int32, default=None
            Of the points that the rule wants.
        is_known : ndarray of shape (n_features,), dtype=uint8, default=None
            Of which features they are there. If the rule looks at others, `lacks` is set, and
            what is returned means nothing.

        Returns
        -------
        None if the node stays a leaf; else
        cut : tuple of int
            Feature, bin, whether it is an equality, whether missing values go left.
        node : tuple of float and int
            Threshold and feature, as a node has them.
        decrease : float
            Of the impurity.
        """
        cdef NodeView view
        cdef Split split
        cdef Node node
        cdef double decrease
        cdef int found
        cdef bint is_mixed
        self.lacks = False
        if self.limits.end_at(depth, n_structure, n_points):
            return None
        memcpy(self.pool.items[self.histogram].columns, &counts[0],
               counts.shape[0] * sizeof(int32_t))
        if self.needs_points:
            memcpy(self.pool.items[self.histogram].points, &points[0],
                   points.shape[0] * sizeof(int32_t))
        is_mixed = self.pool.add_up(self.histogram, &self.totals[0])
        if not is_mixed and not self.needs_points:
            return None
        view = self.view_of(key, path, depth, n_structure, n_points)
        if self.rule.restricts:
            if codes is None or is_known is None:
                is_known = np.zeros(self.owner.view.n_features, dtype=np.uint8)
            else:
                self.remote_points.codes = &codes[0, 0]
            self.remote_points.is_known = &is_known[0]
        with nogil:
            found = self.splitter.split(&view, &split)
        self.lacks = self.remote_points.lacks
        if found == BAD_CHOICE:
            raise ValueError("the split rule chose a feature or a cut that it was not given")
        if found == 0:
            return None
        write_split(self.owner, &split, &node)
        decrease = split.score - node_score(&self.owner.view, &self.totals[0])
        cut = (split.feature, split.cut.bin, bool(split.cut.is_equality),
               bool(split.cut.missing_left))
        return cut, (node.threshold, node.feature), (
            max(decrease, 0.0) / root_weight if root_weight > 0 else 0.0)

    def weight(self, const int64_t[::1] counts not None):
        """Weight of so many points of each class."""
        return node_weight(&self.owner.view, &counts[0])

    def leaf(self, const int64_t[::1] counts not None, key, uint64_t path):
        """Label and class masses of a leaf that has so many estimation points of each class."""
        masses_ = np.empty(len(counts))
        cdef double[::1] masses = masses_, shares = np.empty(len(counts))
        cdef double[::1] work = np.empty(len(counts))
        weigh_classes(&self.owner.view, &counts[0], &masses[0])
        label = draw_label(
            &self.owner.view, &masses[0], self.limits.label_budget, key[0], key[1], path,
            &shares[0], &work[0])
        return label, masses_


# ---- where the points are ----------------------------------------------------------------

cdef Selection select_all(TrainingTable table, const int32_t[::1] features) except *:
    """All features, whose numbers are given."""
    cdef Selection chosen
    # Where there are too many cells for a list of them, features are counted one by one.
    chosen.features = &features[0] if table.view.start is NULL else NULL
    chosen.slot = table.view.slot
    chosen.n = table.view.n_features
    if table.view.start is NULL and table.by_column is not None:
        raise ValueError("codes by columns are not counted by rows")
    return chosen


cdef inline const int32_t* points_of(const int32_t[::1] rows, int64_t first) noexcept nogil:
    """Points of a node; nobody looks there if there are none."""
    return &rows[first] if first < rows.shape[0] else NULL


def count_nodes(
    TrainingTable table not None,
    const int32_t[::1] rows,        # IN   points of all nodes
    const int64_t[::1] first,       # IN   where those of a node begin ...
    const int64_t[::1] end,         # IN   ... and end
):
    """Points of each class in each bin of all features, for each of some nodes.

    Returns
    -------
    ndarray of shape (n_nodes, n_cells), dtype=int32
        For each feature classes x bins, the bin of missing values last.
    """
    cdef Py_ssize_t n_bins = table.view.slot[table.view.n_features], i
    cdef const int32_t[::1] features = np.arange(table.view.n_features, dtype=np.int32)
    cdef Selection chosen = select_all(table, features)
    out = np.empty((first.shape[0], n_bins * table.view.n_columns), dtype=np.int32)
    cdef int32_t[:, ::1] counts = out
    with nogil:
        for i in range(first.shape[0]):
            count_columns(
                &table.view, points_of(rows, first[i]), end[i] - first[i], chosen, NULL, NULL,
                &counts[i, 0])
    return out


def count_node_points(
    TrainingTable table not None, const int32_t[::1] rows, const int64_t[::1] first,
    const int64_t[::1] end
):
    """The same, whatever their class: bins of all features."""
    cdef Py_ssize_t i
    cdef const int32_t[::1] features = np.arange(table.view.n_features, dtype=np.int32)
    cdef Selection chosen = select_all(table, features)
    out = np.empty((first.shape[0], table.view.slot[table.view.n_features]), dtype=np.int32)
    cdef int32_t[:, ::1] counts = out
    with nogil:
        for i in range(first.shape[0]):
            count_points(
                &table.view, points_of(rows, first[i]), end[i] - first[i], chosen, &counts[i, 0])
    return out


def count_node_classes(
    TrainingTable table not None, const int32_t[::1] rows, const int64_t[::1] first,
    const int64_t[::1] end
):
    """Points of each class, for each of some nodes."""
    cdef Py_ssize_t i
    out = np.zeros((first.shape[0], table.view.n_columns), dtype=np.int64)
    cdef int64_t[:, ::1] counts = out
    with nogil:
        for i in range(first.shape[0]):
            count_classes_of(
                &table.view, points_of(rows, first[i]), end[i] - first[i], &counts[i, 0])
    return out


def part_nodes(
    TrainingTable table not None,
    int32_t[::1] rows,              # IN and OUT  points of all nodes
    const int64_t[::1] first,       # IN   where those of a node begin ...
    const int64_t[::1] end,         # IN   ... and end
    const int32_t[:, ::1] cuts,     # IN   as `Chooser.choose` returns them
):
    """Put the points that go left before the others, in each of some nodes; say how many."""
    cdef Py_ssize_t i
    cdef Cut cut
    longest = max((end_ - first_ for first_, end_ in zip(first, end)), default=0)
    cdef int32_t[::1] scratch = np.empty(longest + 1, dtype=np.int32)
    out = np.empty(first.shape[0], dtype=np.int64)
    cdef int64_t[::1] n_left = out
    with nogil:
        for i in range(first.shape[0]):
            cut.bin = cuts[i, 1]
            cut.is_equality = cuts[i, 2]
            cut.missing_left = cuts[i, 3]
            n_left[i] = 0
            if first[i] < end[i]:
                n_left[i] = partition_rows(
                    &table.view, &rows[first[i]], end[i] - first[i], cuts[i, 0], &cut,
                    &scratch[0])
    return out
