# SPDX-License-Identifier: BSD-3-Clause
"""Trees of cuts that come from the features' lists of cuts; see cut_growth.pxd."""

from libc.math cimport INFINITY

from mrforest._core.random.rng cimport Purpose, open_stream
from mrforest._core.score.scorer cimport NodeView
from mrforest._core.types cimport EQUALITY, MISSING_LEFT


cdef class CutBuilder(TreeBuilder):
    """A tree that grows by a split rule; a subclass says what its nodes are."""

    def __init__(self, TrainingTable table, structure, estimation, key, Limits limits,
                 SplitRule rule):
        self.rule = rule
        self.python = rule if isinstance(rule, PythonRule) else None
        self.counts_points = not self.is_honest and self.table.mass is NULL
        self.pool = HistogramPool()
        self.pool.set_table(self.table, limits.min_leaf > 0 and not self.counts_points)
        self.scorer = Scorer(
            table, rule, self.pool, self.most_structure, self.most_estimation,
            limits.min_leaf, self.counts_points,
            self.python is not None)
        self.splitter = Splitter(self.scorer)
        self.prepare()

    cdef bint can_grow(
        self, TrainingTable table, structure, estimation, Limits limits, SplitRule rule
    ) except -1:
        """Whether the next tree can be this one."""
        return (table is self.owner and limits is self.limits and rule is self.rule
                and self.is_honest == (estimation is not None)
                and len(structure) <= self.most_structure
                and (estimation is None or len(estimation) <= self.most_estimation))

    cdef void begin(self, structure, estimation, key) except *:
        """Another tree of the same table, limits and rule, when one is done."""
        self.set_points(structure, estimation, key)
        self.scorer.forget_nodes()
        self.prepare()

    cdef void prepare(self) except *:
        """What is to be done with the points of a tree before it grows."""

    cdef int draw(self, const PendingNode* node, Split* split) except FAILED nogil:
        """Let the rule draw; 0 if the node stays a leaf, negative: an error."""
        cdef NodeView view
        view.structure = &self.structure[0] + node.first_structure
        view.n_structure = node.n_structure
        view.estimation = &self.estimation[0] + self.nodes[node.number].first_estimation
        view.n_estimation = self.nodes[node.number].n_estimation
        view.totals = self.totals
        view.histogram = node.histogram
        view.first = node.first_structure
        view.level = node.level
        view.depth = node.depth
        view.stream = open_stream(
            self.key0, self.key1, self.nodes[node.number].path, Purpose.SPLIT)
        if self.python is not None:
            with gil:
                return self.python.split(self.scorer, self.owner, &view, split)
        return self.splitter.split(&view, split)

    cdef void write(self, Node* node, const Split* split) noexcept nogil:
        write_split(self.owner, split, node)


cdef void write_split(TrainingTable table, const Split* split, Node* node) noexcept nogil:
    """The split as rows of values see it."""
    cdef Py_ssize_t feature = split.feature
    node.feature = <unsigned int> feature
    if split.cut.missing_left:
        node.feature |= MISSING_LEFT
    if split.cut.is_equality:
        node.feature |= EQUALITY
        if table.view.is_categorical[feature]:
            node.threshold = split.cut.bin
        else:
            node.threshold = table.equal_values[table.equal_start[feature] + split.cut.bin]
    elif split.cut.bin == table.view.n_bins[feature] - 1:
        node.threshold = INFINITY
    else:
        node.threshold = table.cuts[table.cuts_start[feature] + split.cut.bin]
