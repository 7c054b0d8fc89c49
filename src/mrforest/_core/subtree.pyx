# SPDX-License-Identifier: BSD-3-Clause
"""Tables and regions of them whose subtrees are weighed; levels.pyx has the weights."""

import numpy as np

from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t

from mrforest._core.joint cimport Joint, free_joint, make_joint
from mrforest._core.levels cimport one_side_empty, weigh
from mrforest._core.region cimport (
    DIGIT, N_MOMENTS, Problem, Region, Weight, count, free_region, leaf, make_region, power,
    score_of, worth_of,
)

WEIGHT_DTYPE = np.dtype([("exponent", np.int64), ("mantissa", np.float64)])


cdef class Subtrees:
    """What the subtrees of a table are weighed by.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_features), dtype=uint8
        Each below the number of bins of its feature.
    y : ndarray of shape (n_rows,), dtype=int32
        Each below n_classes.
    n_classes : int
    slot : ndarray of shape (n_features + 1,), dtype=int32
        First bin of each feature, and the end.
    is_categorical : ndarray of shape (n_features,), dtype=uint8
    measure : ndarray of shape (n_bins,), dtype=float64
        w of the cut after each bin, or of the category.
    ones, tens, hundreds : ndarray of float64
        Powers exp(-unit s i), s = 1, 2^10 and 2^20; of the last as many as are above 0, or as
        the scores of all points need.
    norm : float
        Of class counts; 0: labels are drawn.
    squares : bool
        Classes are numbers. Only with labels, or norm inf: of the best one.
    scale_bits : int
        Of norms.
    """
    cdef Problem p
    cdef const uint8_t[:, ::1] codes
    cdef const int32_t[::1] y
    cdef const int32_t[::1] slot
    cdef const uint8_t[::1] is_categorical
    cdef const double[::1] ones, tens, hundreds, measure

    def __cinit__(self, codes, y, Py_ssize_t n_classes, slot, is_categorical, measure, ones,
                  tens, hundreds, double norm, bint squares, int scale_bits):
        check_table(codes, y, n_classes, slot, is_categorical, measure)
        if not (len(ones) == len(tens) == DIGIT and len(hundreds) > 0):
            raise ValueError(
                f"tables of {len(ones)}, {len(tens)} and {len(hundreds)} powers must have "
                f"{DIGIT}, {DIGIT} and at least one"
            )
        self.codes = codes
        self.y = y
        self.slot = slot
        self.is_categorical = is_categorical
        self.measure = measure
        self.ones = ones
        self.tens = tens
        self.hundreds = hundreds
        self.p.n_features = codes.shape[1]
        self.p.n_classes = n_classes
        self.p.n_columns = N_MOMENTS if squares else n_classes
        self.p.slot = &self.slot[0]
        self.p.is_categorical = &self.is_categorical[0]
        self.p.measure = &self.measure[0]
        self.p.ones = &self.ones[0]
        self.p.tens = &self.tens[0]
        self.p.hundreds = &self.hundreds[0]
        self.p.n_hundreds = self.hundreds.shape[0]
        self.p.norm = norm
        self.p.squares = squares
        self.p.scale_bits = scale_bits

    def score(self, counts):
        """The score of a leaf, a whole number, from its class counts; only without labels."""
        y = np.arange(self.p.n_classes)
        cell = np.stack([counts @ y**i for i in range(N_MOMENTS)]) if self.p.squares else counts
        cdef const int64_t[::1] view = cell
        if view.shape[0] != self.p.n_columns:
            raise ValueError(f"{len(counts)} counts must be of {self.p.n_classes} classes")
        return score_of(&self.p, &view[0])

    def choose_label(self, const int32_t[::1] rows not None, double u, double margin):
        """The label of a leaf of these rows in which a share u of all weights ends, or -1.

        See `RegionSubtrees.choose`; only if labels are drawn.
        """
        cdef Py_ssize_t i, k, K = self.p.n_classes, n_rows = self.codes.shape[0]
        cdef int64_t highest
        cdef double total = 0
        cell_ = np.zeros(self.p.n_columns, dtype=np.int64)
        up_to_ = np.empty(K)
        cdef int64_t[::1] cell = cell_
        cdef double[::1] up_to = up_to_
        cdef bint is_in_range = True
        for i in range(rows.shape[0]):
            if 0 <= rows[i] < n_rows:
                count(&self.p, &cell[0], self.y[rows[i]])
            else:
                is_in_range = False
        if not is_in_range:
            raise ValueError(f"rows must be among the {n_rows} rows of the table")
        highest = leaf(&self.p, &cell[0]).exponent
        for k in range(K):
            if self.p.squares:
                total += power(&self.p, highest - worth_of(&self.p, &cell[0], k))
            else:
                total += power(&self.p, highest - cell[k])
            up_to[k] = total
        return index_of(up_to, u, margin)


def check_table(codes, y, n_classes, slot, is_categorical, measure):
    """ValueError for what the kernels, which check no bounds, must not be given."""
    n_rows, n_features = codes.shape
    n_bins = np.diff(slot)
    if not (0 < n_features == len(n_bins) == len(is_categorical) and n_rows <= INT32_MAX):
        raise ValueError(
            f"codes of shape {codes.shape} must be of at most 2**31 - 1 rows and of the "
            f"{len(n_bins)} features of slot, {len(is_categorical)} of is_categorical"
        )
    if slot[0] != 0 or n_bins.min() < 1 or n_bins.max() > 256 or len(measure) != n_bins.sum():
        raise ValueError(
            f"slot={slot} must rise from 0 to {len(measure)}, by at most 256 each time"
        )
    if not (0 <= measure.min() and measure.max() < np.inf):
        raise ValueError(f"measure={measure} must be finite and not negative")
    is_high = codes.max(axis=0, initial=0) >= n_bins
    if is_high.any():
        f = int(is_high.argmax())
        raise ValueError(f"codes of feature {f} must be below {n_bins[f]}: {codes[:, f].max()}")
    if not 1 <= n_classes <= INT32_MAX:
        raise ValueError(f"n_classes={n_classes} must be in [1, 2**31)")
    if len(y) != n_rows:
        raise ValueError(f"y of {len(y)} rows must be of the {n_rows} rows of codes")
    if y.min(initial=0) < 0 or y.max(initial=0) >= n_classes:
        raise ValueError(f"y from {y.min()} to {y.max()} must be in [0, {n_classes})")


cdef class RegionSubtrees:
    """Weights of the splits of a region, each with all subtrees of some depth from it on.

    Parameters
    ----------
    table : Subtrees
    rows : ndarray of int32
    depth : int
        At least 1.

    Attributes
    ----------
    slot, bins : ndarray of int32
        First occupied bin of each feature, and which bins are occupied.
    weights : structured ndarray (exponent, mantissa)
        Of the split after (or at) each occupied bin, w left out, as far as features have been
        weighed; last, of the splits that leave a side empty.
    """
    cdef readonly object slot, bins, weights
    cdef Subtrees table
    cdef Region r
    cdef Joint joint
    cdef Py_ssize_t depth
    cdef Weight[::1] each

    def __cinit__(self, Subtrees table not None, const int32_t[::1] rows not None,
                  Py_ssize_t depth):
        cdef Py_ssize_t i, n = rows.shape[0], n_rows = table.codes.shape[0]
        cdef Py_ssize_t F = table.p.n_features, n_bins
        cdef int error
        cdef bint is_in_range = n <= n_rows
        for i in range(n):
            is_in_range &= 0 <= rows[i] < n_rows
        if not is_in_range:
            raise ValueError(f"{n} rows must be among the {n_rows} rows of the table")
        if depth < 1:
            raise ValueError(f"depth={depth} must be at least 1")
        self.table = table
        self.depth = depth
        with nogil:
            error = make_region(
                &table.p, &table.codes[0, 0] if n > 0 else NULL, &table.y[0] if n > 0 else NULL,
                &rows[0] if n > 0 else NULL, n, NULL, NULL, &self.r)
            if error == 0 and depth == 2:
                error = make_joint(&table.p, &self.r, &self.joint)
        if error != 0:
            raise MemoryError("no memory to weigh subtrees")
        n_bins = self.r.slot[F]
        self.slot = np.array(<int32_t[:F + 1]> self.r.slot)
        # A view of nothing is not allowed; there is one place more.
        self.bins = np.array(<int32_t[:n_bins + 1]> self.r.bin)[:n_bins]
        self.weights = np.zeros(n_bins + 1, dtype=WEIGHT_DTYPE)
        self.each = self.weights
        with nogil:
            error = one_side_empty(&table.p, &self.r, depth, &self.each[n_bins])
        if error != 0:
            raise MemoryError("no memory to weigh subtrees")

    def __dealloc__(self):
        free_joint(&self.joint)
        free_region(&self.r)

    def weigh(self, Py_ssize_t feature):
        """Weigh the splits of a feature; threads may weigh several at once."""
        cdef int error
        if not 0 <= feature < self.table.p.n_features:
            raise ValueError(f"feature={feature} must be one of {self.table.p.n_features}")
        with nogil:
            error = weigh(
                &self.table.p, &self.r, &self.joint, self.depth, feature, &self.each[0])
        if error != 0:
            raise MemoryError("no memory to weigh subtrees")

    def weigh_all(self):
        """Weigh the splits of all features."""
        cdef Py_ssize_t f
        cdef int error = 0
        with nogil:
            for f in range(self.table.p.n_features):
                if error == 0:
                    error = weigh(
                        &self.table.p, &self.r, &self.joint, self.depth, f, &self.each[0])
        if error != 0:
            raise MemoryError("no memory to weigh subtrees")

    def choose(self, double u, double margin):
        """The number of the weight in which a share u of all ends, w included.

        -1 if it is nearer to an end of it than `margin` times all of them.
        """
        cdef const Problem* p = &self.table.p
        cdef Py_ssize_t b, n_bins = self.r.slot[p.n_features]
        cdef int64_t highest = -1
        cdef double measure, total = 0
        weights = np.empty(n_bins + 1)
        cdef double[::1] up_to = weights
        with nogil:
            for b in range(n_bins + 1):
                measure = self.r.measure[b] if b < n_bins else self.r.nothing
                if measure > 0:
                    highest = max(highest, self.each[b].exponent)
            for b in range(n_bins + 1):
                measure = self.r.measure[b] if b < n_bins else self.r.nothing
                if measure > 0:
                    total += (measure * self.each[b].mantissa
                              * power(p, highest - self.each[b].exponent))
                up_to[b] = total
        return index_of(up_to, u, margin)

    def run(self, Py_ssize_t b):
        """Feature, first candidate and end of those that part the region as weight b says."""
        cdef Py_ssize_t f = 0
        if not 0 <= b < self.r.slot[self.table.p.n_features]:
            raise ValueError(f"{b} must be one of {self.r.slot[self.table.p.n_features]} weights")
        while self.r.slot[f + 1] <= b:
            f += 1
        first = self.r.bin[b]
        if self.table.p.is_categorical[f]:
            return f, first, first + 1
        return f, first, self.r.bin[b + 1] if b + 1 < self.r.slot[f + 1] else first

    def leaves_a_side_empty(self):
        """Which candidates part the region in the way of the last weight, ndarray of uint8."""
        cdef const Problem* p = &self.table.p
        cdef Py_ssize_t f, b, last
        cdef int32_t i
        found = np.ones(p.slot[p.n_features], dtype=np.uint8)
        cdef uint8_t[::1] out = found
        for f in range(p.n_features):
            last = self.r.slot[f + 1] - 1
            for b in range(self.r.slot[f], last + 1):
                if p.is_categorical[f]:
                    # A category that all points have, or none, tells nothing.
                    if last > self.r.slot[f]:
                        out[p.slot[f] + self.r.bin[b]] = False
                elif b < last:
                    for i in range(self.r.bin[b], self.r.bin[b + 1]):
                        out[p.slot[f] + i] = False
        return found


cdef Py_ssize_t index_of(const double[::1] up_to, double u, double margin):
    """The first of cumulative weights above u times the last; -1 if rounding may decide."""
    cdef Py_ssize_t low = 0, high = up_to.shape[0] - 1, middle, n = up_to.shape[0]
    cdef double x = u * up_to[n - 1], apart = margin * up_to[n - 1]
    while low < high:
        middle = (low + high) // 2
        if up_to[middle] > x:
            high = middle
        else:
            low = middle + 1
    if low > 0 and not up_to[low - 1] + apart < x:
        return -1
    # 0 <= U W < W is known without any computation.
    if low < n - 1 and not x < up_to[low] - apart:
        return -1
    return low
