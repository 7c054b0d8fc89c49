# SPDX-License-Identifier: BSD-3-Clause
"""Tables and regions of them whose subtrees are weighed; levels.pyx has the weights."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from mrforest._core.private.joint_bins cimport Joint, free_joint, make_joint, make_single
from mrforest._core.private.log_weight cimport (
    DIGIT, LANES as _LANES, Weight, add, power, times, weigh_leaf, worth_of,
)
from mrforest._core.private.region cimport (
    MOST_BINS, Problem, Region, adds_up, free_region, make_counted, make_region, pairs_before,
)
from mrforest._core.private.subtree_sums cimport one_side_empty, start, sum_of_feature, weigh

LANES = _LANES
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
    ones, tens, hundreds : ndarray of float64
        Powers exp(-unit s i), s = 1, 2^10 and 2^20.
    negligible : int
        From so many steps on a power is taken for 0; the tables reach as far.
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
    cdef const double[::1] ones, tens, hundreds

    def __cinit__(self, codes, y, Py_ssize_t n_classes, slot, is_categorical, ones, tens,
                  hundreds, int64_t negligible, double norm, bint squares, int scale_bits):
        check_table(codes, y, n_classes, slot, is_categorical)
        if not (len(ones) == len(tens) == DIGIT
                and 0 < negligible <= len(hundreds) * DIGIT * DIGIT):
            raise ValueError(
                f"tables of {len(ones)}, {len(tens)} and {len(hundreds)} powers must have "
                f"{DIGIT}, {DIGIT} and enough for 0 < negligible={negligible} steps"
            )
        self.codes = codes
        self.y = y
        self.slot = slot
        self.is_categorical = is_categorical
        self.ones = ones
        self.tens = tens
        self.hundreds = hundreds
        self.p.n_features = codes.shape[1]
        self.p.n_classes = n_classes
        self.p.slot = &self.slot[0]
        self.p.is_categorical = &self.is_categorical[0]
        self.p.ones = &self.ones[0]
        self.p.tens = &self.tens[0]
        self.p.hundreds = &self.hundreds[0]
        self.p.negligible = negligible
        self.p.norm = norm
        self.p.squares = squares
        self.p.scale_bits = scale_bits

    def score(self, counts):
        """The score of a leaf, a whole number, from its class counts; only without labels."""
        cdef Region r
        cdef const int32_t[::1] cell = np.asarray(counts, dtype=np.int32)
        cdef const int32_t[::1] value = np.arange(self.p.n_classes, dtype=np.int32)
        if len(counts) != self.p.n_classes:
            raise ValueError(f"{len(counts)} counts must be of {self.p.n_classes} classes")
        memset(&r, 0, sizeof(Region))
        r.n = np.sum(counts)
        r.n_classes = self.p.n_classes
        r.value = <int32_t*> &value[0]
        return weigh_leaf(&self.p, &r, &cell[0]).exponent

    def choose_label(self, const int64_t[::1] counts not None, double u, double margin):
        """The label of a leaf of these class counts in which a share u of all weights ends, or -1.

        See `RegionSubtrees.choose_feature`; only if labels are drawn.
        """
        cdef Py_ssize_t k, K = self.p.n_classes
        cdef int64_t n = 0, y = 0, yy = 0, highest = 0
        cdef double total = 0
        cdef double[::1] up_to = np.empty(K)
        if counts.shape[0] != K:
            raise ValueError(f"{len(counts)} counts must be of {K} classes")
        cdef int64_t[::1] worth = np.array(counts)
        if self.p.squares:
            for k in range(K):
                n += worth[k]
                y += k * worth[k]
                yy += k * k * worth[k]
            for k in range(K):
                worth[k] = worth_of(&self.p, n, y, yy, k)
        for k in range(K):
            highest = max(highest, worth[k])
        for k in range(K):
            total += power(&self.p, highest - worth[k])
            up_to[k] = total
        return index_of(up_to, u, margin)

    def part(self, const int32_t[::1] rows not None, Py_ssize_t feature, Py_ssize_t code):
        """Rows on both sides of a split."""
        cdef Py_ssize_t i, n = rows.shape[0], n_left = 0, n_right = 0
        cdef bint is_left, is_categorical
        if not 0 <= feature < self.p.n_features:
            raise ValueError(f"feature={feature} must be one of {self.p.n_features}")
        check_rows(rows, self.codes.shape[0])
        # One more each: what is on the other side is written there, and then over.
        left_, right_ = np.empty(n + 1, dtype=np.int32), np.empty(n + 1, dtype=np.int32)
        cdef int32_t[::1] left = left_
        cdef int32_t[::1] right = right_
        is_categorical = self.p.is_categorical[feature]
        for i in range(n):
            is_left = (self.codes[rows[i], feature] == code if is_categorical
                       else self.codes[rows[i], feature] <= code)
            left[n_left] = right[n_right] = rows[i]
            n_left += is_left
            n_right += not is_left
        return left_[:n_left].copy(), right_[:n_right].copy()


cdef int check_rows(const int32_t[::1] rows, Py_ssize_t n_rows) except -1:
    cdef Py_ssize_t i
    cdef bint is_in_range = rows.shape[0] <= n_rows
    for i in range(rows.shape[0]):
        is_in_range &= 0 <= rows[i] < n_rows
    if not is_in_range:
        raise ValueError(f"{len(rows)} rows must be among the {n_rows} rows of the table")
    return 0


def check_table(codes, y, n_classes, slot, is_categorical):
    """ValueError for what the kernels, which check no bounds, must not be given."""
    n_rows, n_features = codes.shape
    n_bins = np.diff(slot)
    if not (0 < n_features == len(n_bins) == len(is_categorical) and n_rows <= INT32_MAX):
        raise ValueError(
            f"codes of shape {codes.shape} must be of at most 2**31 - 1 rows and of the "
            f"{len(n_bins)} features of slot, {len(is_categorical)} of is_categorical"
        )
    if slot[0] != 0 or n_bins.min() < 1 or n_bins.max() > MOST_BINS:
        raise ValueError(f"slot={slot} must rise from 0, by at most {MOST_BINS} each time")
    f = find_high_code(codes, (n_bins - 1).astype(np.uint8))
    if f >= 0:
        raise ValueError(f"codes of feature {f} must be below {n_bins[f]}: {codes[:, f].max()}")
    if not 1 <= n_classes <= INT32_MAX:
        raise ValueError(f"n_classes={n_classes} must be in [1, 2**31)")
    if len(y) != n_rows:
        raise ValueError(f"y of {len(y)} rows must be of the {n_rows} rows of codes")
    if y.min(initial=0) < 0 or y.max(initial=0) >= n_classes:
        raise ValueError(f"y from {y.min()} to {y.max()} must be in [0, {n_classes})")


cdef Py_ssize_t find_high_code(const uint8_t[:, ::1] codes, const uint8_t[::1] last):
    """The first feature that has a code above its last one; -1: none has."""
    cdef Py_ssize_t i, f, F = codes.shape[1]
    is_high_ = np.zeros(F, dtype=np.uint8)
    cdef uint8_t[::1] is_high = is_high_
    for i in range(codes.shape[0]):
        for f in range(F):
            is_high[f] |= codes[i, f] > last[f]
    return is_high_.argmax() if is_high_.any() else -1


cdef int check_counts(const int32_t[::1] counts, Py_ssize_t depth, const Problem* p) except -1:
    cdef Py_ssize_t i, n = p.slot[p.n_features] * p.n_classes
    cdef int32_t lowest = 0
    if depth > 2:
        raise ValueError(f"depth={depth} must be 1 or 2, for counts")
    if depth == 2:
        n = pairs_before(p, p.n_features)
    if counts.shape[0] != n:
        raise ValueError(f"{len(counts)} counts of depth {depth} must be {n}")
    for i in range(n):
        lowest = min(lowest, counts[i])
    if lowest < 0:
        raise ValueError(f"counts must not be negative: {lowest}")
    return 0


cdef int check_cuts(const double[::1] measure, const Problem* p) except -1:
    """Bins without a cut between them would be taken for one, and then not be found in counts."""
    cdef Py_ssize_t f, i
    for f in range(p.n_features):
        for i in range(p.slot[f], p.slot[f + 1] - 1):
            if not p.is_categorical[f] and measure[i] == 0:
                raise ValueError(f"measure must be positive at the cuts of feature {f}, for counts")
    return 0


cdef int check_measure(const double[::1] measure, Py_ssize_t n_bins) except -1:
    cdef Py_ssize_t i
    cdef bint is_fine = True
    if measure.shape[0] != n_bins:
        raise ValueError(f"{len(measure)} measures must be of the {n_bins} bins of all features")
    for i in range(n_bins):
        is_fine &= 0 <= measure[i] < INFINITY
    if not is_fine:
        raise ValueError(f"measure={np.asarray(measure)} must be finite and not negative")
    return 0


cdef class RegionSubtrees:
    """Weights of the splits of a region, each with all subtrees of some depth from it on.

    Parameters
    ----------
    table : Subtrees
    rows : ndarray of int32
        None if there are `counts`.
    depth : int
        At least 1.
    measure : ndarray of shape (n_bins,), dtype=float64
        w of the cut after each bin, or of the category; 0: it is no candidate. With `counts`, all
        cuts between the bins of a number are candidates.
    counts : ndarray of int32, default=None
        Points of the region instead of its rows: of depth 1 classes x bins, as `count_bins` has
        them, of depth 2 pairs of bins, as `count_pairs`.

    Attributes
    ----------
    n_features : int
        That tell any rows apart.
    n_weights : int
        One an occupied bin of these, and one more.
    starts : list of int
        First bin of each of these features; last, all.
    slot, bins : ndarray of int32
        First of these bins of each feature of the table, and which they are.
    weights : structured ndarray (exponent, mantissa)
        Of the split after (or at) each occupied bin, w left out, if all features have been
        weighed; last, of the splits that leave a side empty.
    """
    cdef readonly Py_ssize_t n_features, n_weights
    cdef Subtrees table
    cdef const double[::1] measure
    cdef const int32_t[::1] counts
    cdef Problem p              # of the table, with these measures
    cdef Region r
    cdef Joint joint
    cdef Py_ssize_t depth
    cdef Weight* first          # of both sides of each way
    cdef Weight* second
    cdef Weight empty           # of splits that leave a side empty

    def __cinit__(self, Subtrees table not None, const int32_t[::1] rows, Py_ssize_t depth,
                  const double[::1] measure not None, *, const int32_t[::1] counts=None):
        cdef Py_ssize_t n = 0, n_ways
        cdef int error
        if depth < 1:
            raise ValueError(f"depth={depth} must be at least 1")
        check_measure(measure, table.slot[table.p.n_features])
        if (rows is None) == (counts is None):
            raise ValueError("there must be either rows or counts")
        if counts is None:
            n = rows.shape[0]
            check_rows(rows, table.codes.shape[0])
        else:
            check_counts(counts, depth, &table.p)
            check_cuts(measure, &table.p)
        self.table = table
        self.depth = depth
        self.measure = measure
        self.p = table.p
        self.p.measure = &self.measure[0]
        self.counts = counts
        with nogil:
            if counts is None:
                error = make_region(
                    &self.p, &table.codes[0, 0] if n > 0 else NULL, &table.y[0] if n > 0 else NULL,
                    &rows[0] if n > 0 else NULL, n, depth > 1, &self.r)
                if error == 0 and depth == 2:
                    error = make_joint(&self.r, &self.joint)
            elif depth == 1:
                error = make_counted(&self.p, &counts[0], NULL, &self.r)
            else:
                error = make_counted(&self.p, NULL, &counts[0], &self.r)
                if error == 0:
                    error = make_single(&self.r, &counts[0], &self.joint)
            if error == 0:
                n_ways = self.r.way_slot[self.r.n_features]
                self.first = <Weight*> calloc(2 * n_ways + 1, sizeof(Weight))
                self.second = self.first + n_ways
                if self.first is NULL:
                    error = -1
            if error == 0:
                error = start(&self.p, &self.r, depth, self.first, self.second)
            if error == 0:
                error = one_side_empty(&self.p, &self.r, depth, &self.empty)
        check_memory(error)
        self.n_weights = self.r.slot[self.r.n_features] + 1
        self.n_features = self.r.n_features

    def __dealloc__(self):
        free(self.first)
        free_joint(&self.joint)
        free_region(&self.r)

    @property
    def starts(self):
        return [self.r.slot[f] for f in range(self.r.n_features + 1)]

    @property
    def slot(self):
        cdef Py_ssize_t f
        n_bins = np.zeros(self.p.n_features + 1, dtype=np.int32)
        for f in range(self.r.n_features):
            n_bins[self.r.feature[f] + 1] = self.r.slot[f + 1] - self.r.slot[f]
        return np.cumsum(n_bins, dtype=np.int32)

    @property
    def bins(self):
        # A view of nothing is not allowed; there is one place more.
        return np.array(<int32_t[:self.n_weights]> self.r.bin)[:self.n_weights - 1]

    @property
    def weights(self):
        cdef Py_ssize_t f, b, way
        found = np.zeros(self.n_weights, dtype=WEIGHT_DTYPE)
        cdef Weight[::1] each = found
        for f in range(self.r.n_features):
            for b in range(self.r.slot[f], self.r.slot[f + 1]):
                way = self.way_of(f, b)
                if way >= 0:
                    each[b] = self.weight_of(way)
        each[self.n_weights - 1] = self.empty
        return found

    cdef inline Py_ssize_t way_of(self, Py_ssize_t f, Py_ssize_t b) noexcept nogil:
        """The way in which a split after, or at, an occupied bin parts the region; -1: none."""
        if not adds_up(&self.p, &self.r, f):
            return self.r.way_slot[f] + b - self.r.slot[f]
        if self.p.is_categorical[self.r.feature[f]]:
            return self.r.way_slot[f]
        return self.r.way_slot[f] + b - self.r.slot[f] if b + 1 < self.r.slot[f + 1] else -1

    cdef inline Weight weight_of(self, Py_ssize_t way) noexcept nogil:
        return times(self.first[way], self.second[way])

    def weigh(self, Py_ssize_t feature):
        """Weigh the splits of one of `n_features`, each once; threads may weigh several at once.

        Of two levels, what features have in common is added to both of them.
        """
        cdef Py_ssize_t w, n_ways = self.r.way_slot[self.r.n_features]
        cdef Weight* both
        cdef int error
        if not 0 <= feature < self.r.n_features:
            raise ValueError(f"feature={feature} must be one of {self.r.n_features}")
        both = <Weight*> calloc(2 * n_ways + 1, sizeof(Weight))
        if both is NULL:
            check_memory(-1)
        with nogil:
            error = weigh(&self.p, &self.r, &self.joint, self.depth, feature, feature + 1,
                          both, both + n_ways)
        # Only one thread at a time is here.
        for w in range(n_ways):
            add(&self.p, &self.first[w], 1, both[w])
            add(&self.p, &self.second[w], 1, both[n_ways + w])
        free(both)
        check_memory(error)

    def weigh_all(self):
        """Weigh the splits of all features."""
        cdef int error
        with nogil:
            error = weigh(&self.p, &self.r, &self.joint, self.depth, 0,
                          self.r.n_features, self.first, self.second)
        check_memory(error)

    def choose_feature(self, double u, double margin):
        """The number of the feature in whose weights, w included, a share u of all ends.

        `n_features` for splits that leave a side empty; -1 if it is nearer to an end of them than
        `margin` times all of them.
        """
        cdef const Problem* p = &self.p
        cdef Py_ssize_t f, F = self.r.n_features
        cdef int64_t highest = 0
        cdef double total = 0
        cdef Weight[::1] each = np.zeros(F + 1, dtype=WEIGHT_DTYPE)
        cdef double[::1] up_to = np.empty(F + 1)
        for f in range(F):
            each[f] = sum_of_feature(p, &self.r, f, self.first, self.second)
        add(p, &each[F], self.r.nothing, self.empty)
        for f in range(F + 1):
            highest = max(highest, each[f].exponent)
        for f in range(F + 1):
            if each[f].mantissa > 0:
                total += each[f].mantissa * power(p, highest - each[f].exponent)
            up_to[f] = total
        return index_of(up_to, u, margin)

    def choose_bin(self, Py_ssize_t f, double u, double margin):
        """The same for the bins of one of `n_features`; their number among those of the feature."""
        cdef const Problem* p = &self.p
        cdef Py_ssize_t b, first, m
        cdef int64_t highest = 0
        cdef double total = 0
        cdef Weight weight
        if not 0 <= f < self.r.n_features:
            raise ValueError(f"feature={f} must be one of {self.r.n_features}")
        first = self.r.slot[f]
        m = self.r.slot[f + 1] - first
        cdef double[::1] up_to = np.empty(m)
        for b in range(self.r.way_slot[f], self.r.way_slot[f + 1]):
            if self.r.way_measure[b] > 0:
                highest = max(highest, self.weight_of(b).exponent)
        for b in range(m):
            if self.r.measure[first + b] > 0:
                weight = self.weight_of(self.way_of(f, first + b))
                total += (self.r.measure[first + b] * weight.mantissa
                          * power(p, highest - weight.exponent))
            up_to[b] = total
        return index_of(up_to, u, margin)

    def run(self, Py_ssize_t f, Py_ssize_t b):
        """Which feature it is, first candidate and end of those that part the region as the split
        after, or at, its bin b does."""
        if not 0 <= f < self.r.n_features:
            raise ValueError(f"feature={f} must be one of {self.r.n_features}")
        if not 0 <= b < self.r.slot[f + 1] - self.r.slot[f]:
            raise ValueError(f"{b} must be one of its bins")
        b += self.r.slot[f]
        return self.r.feature[f], self.r.bin[b], self.end_of_run(f, b)

    cdef inline Py_ssize_t end_of_run(self, Py_ssize_t f, Py_ssize_t b) noexcept nogil:
        """End of the candidates that part the region as that after, or at, an occupied bin."""
        if self.p.is_categorical[self.r.feature[f]]:
            return self.r.bin[b] + 1
        return self.r.bin[b + 1] if b + 1 < self.r.slot[f + 1] else self.r.bin[b]

    def leaves_a_side_empty(self):
        """Which candidates part the region in the way of the last weight, ndarray of uint8."""
        cdef const Problem* p = &self.p
        cdef Py_ssize_t f, b, i
        found = np.ones(p.slot[p.n_features], dtype=np.uint8)
        cdef uint8_t[::1] out = found
        for f in range(self.r.n_features):
            for b in range(self.r.slot[f], self.r.slot[f + 1]):
                for i in range(self.r.bin[b], self.end_of_run(f, b)):
                    out[p.slot[self.r.feature[f]] + i] = False
        return found


cdef int check_memory(int error) except -1:
    if error != 0:
        raise MemoryError("no memory to weigh subtrees")
    return 0


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
