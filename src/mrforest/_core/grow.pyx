# SPDX-License-Identifier: BSD-3-Clause
"""Grow a tree of cuts that come from the features' lists of cuts."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memset

from mrforest._core.block cimport (
    BLOCK_POINTS, NOT_IN_BLOCK, enter_node, make_block, part_block,
)
from mrforest._core.excerpt cimport (
    Excerpt, add_rows, free_excerpt, new_excerpt, show_excerpt, show_whole,
)
from mrforest._core.feature_scores cimport NodeView
from mrforest._core.growth cimport (
    FAILED, OUT_OF_MEMORY, Growth, Limits, Pending, larger_of,
)
from mrforest._core.partition cimport partition_rows
from mrforest._core.pool cimport NO_HISTOGRAM, HistogramPool
from mrforest._core.python_rule cimport PythonRule
from mrforest._core.rng cimport Purpose, open_stream
from mrforest._core.rule cimport SplitRule
from mrforest._core.sheet cimport (
    ESTIMATION, STRUCTURE, Sheets, enter_sheet, estimation_mask, free_sheets, make_first_sheet,
    new_sheets, part_sheet, rows_in_sheet, write_masks,
)
from mrforest._core.sheet_cuts cimport count_in_sheet
from mrforest._core.splitter cimport Split, Splitter
from mrforest._core.table cimport TrainingTable
from mrforest._core.types cimport EQUALITY, GINI, MISSING_LEFT, VARIANCE, Node, Table
from mrforest._core.workspace cimport Slice


cdef class CutGrowth(Growth):
    """A tree that grows by a split rule; a subclass says what its nodes are."""

    cdef SplitRule rule
    cdef PythonRule python              # the same, if it is one
    cdef HistogramPool pool
    cdef Splitter splitter
    cdef bint counts_points             # whether the sides of a cut tell its estimation points

    def __init__(self, TrainingTable table, structure, estimation, key, Limits limits,
                 SplitRule rule):
        self.rule = rule
        self.python = rule if isinstance(rule, PythonRule) else None
        self.counts_points = not self.is_honest and self.table.mass is NULL
        self.pool = HistogramPool()
        self.pool.set_table(self.table, limits.has_floor and not self.counts_points)
        self.splitter = Splitter(
            table, rule, self.pool, self.most_structure, self.most_estimation,
            limits.min_leaf if limits.has_floor else 0, self.counts_points,
            self.python is not None)
        self.splitter.set_table(self.table)
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
        # The slices of the tree before may lie where those of this one do.
        memset(self.splitter.no_cut, 0, self.table.n_features * sizeof(Slice))
        self.prepare()

    cdef void prepare(self) except *:
        """What is to be done with the points of a tree before it grows."""

    cdef int draw(self, const Pending* node, Split* split) except FAILED nogil:
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
                return self.python.split(self.splitter, self.owner, &view, split)
        return self.splitter.split(&view, split)

    cdef void write(self, Node* node, const Split* split) noexcept nogil:
        """The split as rows of values see it."""
        cdef Py_ssize_t feature = split.feature
        node.feature = <unsigned int> feature
        if split.cut.missing_left:
            node.feature |= MISSING_LEFT
        if split.cut.is_equality:
            node.feature |= EQUALITY
            node.threshold = split.cut.bin
        elif split.cut.bin == self.table.n_bins[feature] - 1:
            node.threshold = INFINITY
        else:
            node.threshold = self.owner.cuts[self.owner.cuts_start[feature] + split.cut.bin]


cdef class ListGrowth(CutGrowth):
    """Nodes are slices of lists of rows. Subtrees grow in excerpts of the table, see excerpt.pxd,
    and small ones in blocks, see block.pxd."""

    cdef bint has_blocks
    cdef Table own                      # the table as this tree sees it at the moment
    cdef object room_for_copies         # of the rows in a bag
    cdef Excerpt* excerpt               # NULL: all rows fit the cache
    cdef bint is_in_excerpt

    def __init__(self, TrainingTable table, structure, estimation, key, Limits limits,
                 SplitRule rule):
        CutGrowth.__init__(self, table, structure, estimation, key, limits, rule)
        cdef Py_ssize_t n = self.most_structure
        self.has_blocks = self.python is None and self.splitter.can_use_block()
        if self.splitter.make_lists(NULL) != 0:
            raise MemoryError("no memory to grow a tree")
        if self.is_honest:
            n += self.most_estimation
        if self.python is None:
            self.excerpt = new_excerpt(self.table, n, table.excerpt_bytes)

    def __dealloc__(self):
        free_excerpt(self.excerpt)

    cdef void prepare(self) except *:
        self.own = self.owner.view
        if not (self.is_honest or self.rule.restricts or self.python is not None):
            self.join_copies()
        self.table = self.pool.table = self.splitter.table = &self.own
        self.has_blocks = self.splitter.block is not NULL and self.own.copies is NULL

    cdef void join_copies(self) except *:
        """Let each row of a bag stand once in the list: it is a third shorter then.

        Rules that draw points, or tell somebody how many there are, need them all.
        """
        cdef int32_t[::1] rows = self.structure
        cdef Py_ssize_t i, n = 0
        if self.room_for_copies is None:
            self.room_for_copies = np.empty(self.own.n_rows, dtype=np.int32)
        cdef int32_t[::1] copies = self.room_for_copies
        with nogil:
            memset(&copies[0], 0, copies.shape[0] * sizeof(int32_t))
            for i in range(rows.shape[0]):
                # No branch depends on the row; what is written in vain is written over.
                rows[n] = rows[i]
                n += copies[rows[i]] == 0
                copies[rows[i]] += 1
        if n < rows.shape[0]:
            self.structure = self.estimation = rows[:n]
            self.own.copies = &copies[0]

    cdef void count(self, int histogram, const Pending* node) noexcept nogil:
        self.pool.count(
            histogram, &self.structure[0] + node.first_structure, node.n_structure,
            &self.estimation[0] + self.nodes[node.number].first_estimation,
            self.nodes[node.number].n_estimation)

    cdef int start(self, Pending* root) noexcept nogil:
        cdef int error = Growth.start(self, root)
        if error == 0 and self.wants_histogram(root):
            root.histogram = self.pool.take()
            if root.histogram < 0:
                return OUT_OF_MEMORY
            self.count(root.histogram, root)
        return error

    cdef bint wants_histogram(self, const Pending* node) noexcept nogil:
        """A histogram of all features serves rules that look at all of them."""
        return (self.rule.looks_at_all and not self.must_stop(node)
                and not self.fits_block(node) and self.pool.is_counted(node.n_structure))

    cdef bint fits_block(self, const Pending* node) noexcept nogil:
        return self.has_blocks and node.n_structure <= BLOCK_POINTS

    cdef int hand_down(self, int histogram, Pending* children) noexcept nogil:
        """Histograms of the children, counting as few rows as possible.

        Only the smaller child is counted; the larger one is what is left of the parent.
        """
        cdef int smaller = 0 if children[0].n_structure <= children[1].n_structure else 1
        cdef int larger = 1 - smaller, own
        cdef bint smaller_wants = self.wants_histogram(&children[smaller])
        cdef bint larger_wants = self.wants_histogram(&children[larger])
        if histogram == NO_HISTOGRAM or not (smaller_wants or larger_wants):
            self.pool.release(histogram)
            return 0
        if not larger_wants:
            self.count(histogram, &children[smaller])
            children[smaller].histogram = histogram
            return 0
        own = self.pool.take()
        if own < 0:
            return OUT_OF_MEMORY
        self.count(own, &children[smaller])
        self.pool.subtract(histogram, own)
        children[larger].histogram = histogram
        if smaller_wants:
            children[smaller].histogram = own
        else:
            self.pool.release(own)
        return 0

    cdef int enter_block(self, Pending* node) noexcept nogil:
        """Copy a small subtree, unless it is part of one that has been copied."""
        if node.level != NOT_IN_BLOCK or not self.fits_block(node):
            return 0
        node.level = 0
        return make_block(
            self.table, &self.structure[0] + node.first_structure, node.first_structure,
            node.n_structure, self.splitter.block)

    cdef int count_classes(self, const Pending* node) noexcept nogil:
        """See `count_totals`."""
        if node.level != NOT_IN_BLOCK:
            return enter_node(
                self.splitter.block, node.first_structure, node.n_structure, node.level,
                self.totals)
        if node.histogram != NO_HISTOGRAM and self.table.criterion != VARIANCE:
            return self.pool.add_up(node.histogram, self.totals)
        return self.count_totals(node)

    cdef Py_ssize_t part_structure(self, const Pending* node, const Split* split) noexcept nogil:
        """Part the structure points; return how many go left. Those of a block are left where
        they are in the list of the tree, for nobody looks there again."""
        if node.level == NOT_IN_BLOCK:
            return partition_rows(
                self.table, &self.structure[0] + node.first_structure, node.n_structure,
                split.feature, &split.cut, self.scratch)
        return part_block(
            self.table, self.splitter.block, split.place, node.first_structure, node.n_structure,
            node.level, &split.cut)

    cdef int grow_in_excerpt(self, const Pending* node) except FAILED nogil:
        """Grow a subtree with its rows copied together."""
        cdef int32_t* structure = &self.structure[0] + node.first_structure
        cdef int32_t* estimation = (
            &self.estimation[0] + self.nodes[node.number].first_estimation)
        cdef Py_ssize_t n_estimation = self.nodes[node.number].n_estimation
        cdef Py_ssize_t n = add_rows(self.excerpt, self.table, structure, 0, node.n_structure)
        cdef int error
        if self.is_honest:
            n = add_rows(self.excerpt, self.table, estimation, n, n_estimation)
        show_excerpt(self.excerpt, n, &self.own)
        self.is_in_excerpt = True
        error = self.grow_below(node[0])
        self.is_in_excerpt = False
        show_whole(self.excerpt, estimation, n_estimation, &self.own)
        return error

    cdef bint wants_excerpt(self, const Pending* node) noexcept nogil:
        cdef Py_ssize_t n = node.n_structure
        if self.excerpt is NULL or self.is_in_excerpt:
            return False
        if self.is_honest:
            n += self.nodes[node.number].n_estimation
        return n <= self.excerpt.room

    cdef int split(self, Pending* node) except FAILED nogil:
        cdef Py_ssize_t number = node.number, first = self.nodes[number].first_estimation
        cdef Py_ssize_t n_estimation = self.nodes[number].n_estimation
        cdef Py_ssize_t left_structure, left_estimation
        cdef Pending children[2]
        cdef Split split
        cdef int error
        if self.wants_excerpt(node):
            return self.grow_in_excerpt(node)
        error = self.enter_block(node)
        if error == 0 and (self.count_classes(node) or not self.stops_when_pure()):
            error = self.draw(node, &split)
        if error <= 0:
            self.pool.release(node.histogram)
            return error
        left_estimation = partition_rows(
            self.table, &self.estimation[0] + first, n_estimation, split.feature, &split.cut,
            self.scratch)
        if self.is_refused(node, left_estimation):
            self.pool.release(node.histogram)
            return 0
        left_structure = left_estimation
        if self.is_honest or node.level != NOT_IN_BLOCK:
            left_structure = self.part_structure(node, &split)
        error = self.add_children(
            node, left_structure, left_estimation, split.score, children)
        if error == 0:
            self.write(&self.nodes[number].node, &split)
            error = self.hand_down(node.histogram, children)
        return error if error != 0 else self.push_children(children)


cdef class MaskGrowth(CutGrowth):
    """Nodes are masks over sheets, see sheet.pxd. Their slices of the lists of rows are filled
    when somebody looks there: at leaves, and where there are features without slices."""

    cdef Sheets* sheets
    cdef bint needs_rows

    def __init__(self, TrainingTable table, structure, estimation, key, Limits limits,
                 SplitRule rule):
        CutGrowth.__init__(self, table, structure, estimation, key, limits, rule)
        self.needs_rows = not table.slices.is_all
        self.sheets = new_sheets(
            self.table, &table.slices, self.most_structure, self.most_estimation,
            2 if self.is_honest else 1, self.needs_rows,
            limits.min_leaf if limits.has_floor else 0)
        if self.sheets is NULL:
            raise MemoryError("no memory to grow a tree")
        if self.splitter.make_lists(self.sheets) != 0:
            raise MemoryError("no memory to grow a tree")

    cdef void prepare(self) except *:
        if self.sheets is not NULL:
            self.sheets.n_items = 0
            self.sheets.top = 0

    def __dealloc__(self):
        free_sheets(self.sheets)

    cdef int start(self, Pending* root) noexcept nogil:
        cdef int error = Growth.start(self, root)
        if error == 0 and not self.must_stop(root):
            root.sheet = 0
            error = make_first_sheet(
                self.sheets, &self.structure[0], self.structure.shape[0], &self.estimation[0],
                self.estimation.shape[0], &root.mask)
        return error

    cdef void fill_estimation(self, const Pending* node, const uint64_t* mask) noexcept nogil:
        rows_in_sheet(
            self.sheets, self.sheets.n_kinds - 1, mask,
            &self.estimation[0] + self.nodes[node.number].first_estimation)

    cdef int draw_from_sheet(self, Pending* node, Split* split) except FAILED nogil:
        """Let the rule draw; 0 if the node stays a leaf."""
        cdef int error = enter_sheet(
            self.sheets, node.sheet, node.mask, node.n_structure,
            self.nodes[node.number].n_estimation)
        if error != 0:
            return error
        node.sheet = self.sheets.sheet
        if not count_in_sheet(self.sheets, self.totals) and self.stops_when_pure():
            return 0
        if self.needs_rows:
            rows_in_sheet(self.sheets, STRUCTURE, self.sheets.mask[STRUCTURE],
                          &self.structure[0] + node.first_structure)
            if self.is_honest:
                self.fill_estimation(node, self.sheets.mask[ESTIMATION])
        return self.draw(node, split)

    cdef int split(self, Pending* node) except FAILED nogil:
        cdef Py_ssize_t left[2]
        cdef Py_ssize_t masks[2]
        cdef Pending children[2]
        cdef Split split
        cdef int error = self.draw_from_sheet(node, &split), side
        if error == 1:
            part_sheet(self.sheets, split.feature, &split.cut, left)
            error = 0 if self.is_refused(node, left[ESTIMATION]) else 1
        if error == 0:
            self.fill_estimation(node, self.sheets.mask[self.sheets.n_kinds - 1])
        if error <= 0:
            return error
        error = self.add_children(node, left[STRUCTURE], left[ESTIMATION], split.score, children)
        if error == 0:
            self.write(&self.nodes[node.number].node, &split)
            error = write_masks(self.sheets, larger_of(children), masks)
        for side in range(2):
            if error == 0:
                children[side].mask = masks[side]
                if self.must_stop(&children[side]):
                    self.fill_estimation(
                        &children[side], estimation_mask(self.sheets, masks[side]))
        return error if error != 0 else self.push_children(children)


cdef object grows_by_masks(TrainingTable table, Limits limits, SplitRule rule):
    """Whether nodes can be masks: points count one each, and it does not matter which they are."""
    return (table.view.criterion == GINI and table.view.mass is NULL
            and table.view.class_weight is NULL and table.has_slices and limits.min_weight == 0
            and not rule.restricts and not isinstance(rule, PythonRule))


cdef object growth_of(
    TrainingTable table, structure, estimation, key, Limits limits, SplitRule rule, idle
):
    """What grows the tree: one that has grown another tree before, if there is such."""
    cdef CutGrowth growth
    while idle:
        try:
            growth = idle.pop()
        except IndexError:  # another thread was faster
            break
        if growth.can_grow(table, structure, estimation, limits, rule):
            growth.begin(structure, estimation, key)
            return growth
    if grows_by_masks(table, limits, rule):
        return MaskGrowth(table, structure, estimation, key, limits, rule)
    return ListGrowth(table, structure, estimation, key, limits, rule)


def grow_tree(
    TrainingTable table, structure, estimation, key, Limits limits, *, SplitRule rule, idle=None
):
    """Grow a tree and fill its leaves.

    Parameters
    ----------
    table : TrainingTable
        With codes.
    structure, estimation : ndarray of int32
        Rows, with repetition; both are reordered. None as estimation: the structure points.
    key : pair of uint64
        Key of the tree's random streams.
    limits : Limits
    rule : SplitRule
    idle : list, default=None
        Work space that no thread uses, for trees of the same forest. What this tree used is
        put there when it is grown, and taken by the next one: its memory need not be asked
        for, and cleared by the kernel, again.

    Returns
    -------
    dict of arrays
        See `flatten`.
    """
    cdef CutGrowth growth = growth_of(table, structure, estimation, key, limits, rule, idle)
    tree = growth.run()
    if idle is not None:
        growth.forget_points()
        idle.append(growth)
    return tree
