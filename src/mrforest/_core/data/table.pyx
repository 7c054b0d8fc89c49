# SPDX-License-Identifier: BSD-3-Clause
"""Check the training arrays once, so that the kernels need not."""

import numpy as np

from libc.math cimport floor, log
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t

from mrforest._core.plan cimport (
    LARGEST_HISTOGRAM, MOST_CLASSES_OF_BITS, MOST_CODES_OF_BITS, ROW_CACHE_BYTES, keeps_columns,
)
from mrforest._core.types cimport ENTROPY, GINI, VARIANCE, Table, code_t

# Larger arguments of x log x are rare and computed when they occur.
XLOGX_TABLE_SIZE = 1 << 16

cdef object xlogx_table(Py_ssize_t n):
    """Fixed-point x log x of 0 … n − 1, as an int64 array."""
    out = np.zeros(n, dtype=np.int64)
    cdef int64_t[::1] view = out
    cdef Py_ssize_t x
    for x in range(1, n):
        view[x] = <int64_t> floor(x * log(<double> x) * 2.0**26 + 0.5)
    return out


MISFIT = "the arrays of a training table do not fit together"


cdef class Target:
    """What is predicted of each row, and how much each row counts.

    Parameters
    ----------
    y : ndarray of shape (n_rows,), dtype=int32
        Class codes; in regression the rank of each target among the distinct ones.
    n_classes : int
        Unimportant in regression.
    mass : ndarray of shape (n_rows,), dtype=int64, or None
        Positive whole numbers.
    class_weight : ndarray of shape (n_classes,), dtype=float64, or None
    moment : ndarray of shape (n_rows,), dtype=int64, or None
        Targets in fixed point, times the mass; regression only.
    criterion : {"gini", "entropy", "variance"}
    """

    def __init__(self, y, n_classes, mass, class_weight, moment, criterion):
        self.arguments = (y, n_classes, mass, class_weight, moment, criterion)
        is_regression = criterion == "variance"
        if not (
            len(y) > 0 and y.min() >= 0
            and (is_regression or y.max() < n_classes)
            and (mass is None or (mass.shape == y.shape and mass.min() > 0))
            and (class_weight is None or class_weight.shape == (n_classes,))
            and is_regression == (moment is not None)
            and (moment is None or (moment.shape == y.shape and class_weight is None))
        ):
            raise ValueError(MISFIT)
        self.criterion = criterion
        self.n_columns = 2 if is_regression else n_classes
        self.y = y
        if mass is not None:
            self.mass = mass
        if class_weight is not None:
            self.class_weight = class_weight
        if moment is not None:
            self.moment = moment
        self.xlogx = xlogx_table(XLOGX_TABLE_SIZE if criterion == "entropy" else 1)

    def __reduce__(self):
        return type(self), self.arguments

    def with_criterion(self, criterion):
        """The same targets for another criterion."""
        return Target(*self.arguments[:-1], criterion)

    def __len__(self):
        return self.y.shape[0]

    cdef void show(self, Table* table) except *:
        """Set what a table knows about its target."""
        table.n_columns = self.n_columns
        table.y = &self.y[0]
        table.mass = NULL
        table.moment = NULL
        table.copies = NULL
        table.class_weight = NULL
        # A view that was never set is not None to Cython, so ask the arguments.
        _, _, mass, class_weight, moment, _ = self.arguments
        if mass is not None:
            table.mass = &self.mass[0]
        if class_weight is not None:
            table.class_weight = &self.class_weight[0]
        if moment is not None:
            table.moment = &self.moment[0]
        table.xlogx = &self.xlogx[0]
        table.n_xlogx = self.xlogx.shape[0]
        table.criterion = {"gini": GINI, "entropy": ENTROPY, "variance": VARIANCE}[
            self.criterion]


cdef class TrainingTable:
    """The training rows, in canonical order, as codes or as values.

    Parameters
    ----------
    target : Target
    is_categorical : ndarray of shape (n_features,), dtype=bool
    codes : ndarray of shape (n_rows, n_features), dtype=uint8 or uint16, or None
    n_bins : ndarray of shape (n_features,), dtype=int32, or None
        Codes of each feature; the missing code is n_bins itself.
    cuts, cuts_start : ndarray of float64, ndarray of int64, or None
        Thresholds of all features, and where each feature's begin (n_features + 1 of them).
    values : ndarray of shape (n_rows, n_features), dtype=float64, or None
        Numbers, category codes, NaN. Given instead of codes, n_bins, cuts.
    equal_values, equal_start : ndarray of float64, ndarray of int64, or None
        Numeric features that may be cut by equality, too: the value of each of their codes,
        and where each feature's begin (n_features + 1 of them; others have none).

    Attributes
    ----------
    row_cache_bytes : int
        Codes of a subtree that are copied together, at most; see row_cache.pxd.
    """

    def __init__(self, Target target, is_categorical, *, codes=None, n_bins=None, cuts=None,
                 cuts_start=None, values=None, equal_values=None, equal_start=None):
        self.arguments = (target, is_categorical, codes, n_bins, cuts, cuts_start, values,
                          equal_values, equal_start)
        rows = codes if values is None else values
        n_rows, n_features = rows.shape
        if not (
            n_rows == len(target) and n_features == is_categorical.shape[0]
            and (codes is None) != (values is None)
            and (codes is None or (
                n_features == n_bins.shape[0] and (codes.max(axis=0) <= n_bins).all()
                and cuts_start.shape[0] == n_features + 1
                and cuts_start[n_features] == cuts.shape[0]))
        ):
            raise ValueError(MISFIT)
        self.target = target
        self.row_cache_bytes = ROW_CACHE_BYTES
        target.show(&self.view)
        self.is_categorical = is_categorical.view(np.uint8)
        self.view.n_rows = n_rows
        self.view.n_features = n_features
        self.view.is_categorical = &self.is_categorical[0]
        if values is not None:
            self.values = values
            self.view.X = &self.values[0, 0]
            return
        self.n_bins = n_bins
        self.slot = np.concatenate([[0], np.cumsum(n_bins.astype(np.int64) + 1)])
        self.cuts = cuts
        self.cuts_start = cuts_start
        self.view.n_bins = &self.n_bins[0]
        self.view.slot = &self.slot[0]
        widths = n_bins.astype(np.int64) + 1
        if self.target.n_columns * widths.sum() <= LARGEST_HISTOGRAM:
            self.start = (
                np.asarray(self.slot)[:-1] * self.target.n_columns
                + np.arange(self.target.n_columns)[:, None] * widths).astype(np.int32)
            self.view.start = &self.start[0, 0]
        if equal_values is not None:
            self.show_equality(equal_values, equal_start)
        self.view.wide = codes.dtype == np.uint16
        if self.view.wide:
            self.wide = codes
            self.view.codes = &self.wide[0, 0]
        else:
            self.narrow = codes
            self.view.codes = &self.narrow[0, 0]

    cdef void show_equality(self, equal_values, equal_start) except *:
        lengths = np.diff(equal_start)
        has_one = lengths > 0
        if (len(lengths) != self.view.n_features or equal_start[-1] != len(equal_values)
                or (lengths[has_one] != np.asarray(self.n_bins)[has_one]).any()
                or (has_one & (np.asarray(self.is_categorical) != 0)).any()):
            raise ValueError(MISFIT)
        self.offers_equality = has_one.view(np.uint8)
        self.equal_values = equal_values
        self.equal_start = equal_start
        self.view.offers_equality = &self.offers_equality[0]

    def with_criterion(self, criterion):
        """The same rows, whose splits are scored by another criterion."""
        rebuild, (target, *others) = self.__reduce__()
        return rebuild(target.with_criterion(criterion), *others)

    def wants_columns(self, bint looks_at_all):
        """Whether codes column by column serve a rule that looks at all features, or at few."""
        codes = self.arguments[2]
        return codes is not None and keeps_columns(looks_at_all, codes.nbytes)

    def add_columns(self):
        """Keep the codes column by column, too."""
        cdef const uint8_t[:, ::1] narrow
        cdef const uint16_t[:, ::1] wide
        codes = self.arguments[2]
        if self.by_column is not None:
            return
        self.by_column = np.ascontiguousarray(codes.T)
        if self.view.wide:
            wide = self.by_column
            self.view.by_column = &wide[0, 0]
        else:
            narrow = self.by_column
            self.view.by_column = &narrow[0, 0]

    def add_cut_bits(self, *, double most_others=0.125, in_parts=None):
        """Keep features of few codes as bits, too, see bit_matrix.pxd, if nearly all are such.

        Parameters
        ----------
        most_others : float, default=0.125
            Other features, as a share of all, up to which bits are made.
        in_parts : callable, default=None
            Takes a function of a slice of rows, the number of rows, and a unit of which slices
            must be multiples; calls the function, in threads if it wants to.
        """
        codes, n_bins = self.arguments[2:4]
        if self.has_cut_bits or codes is None or self.view.n_columns > MOST_CLASSES_OF_BITS:
            return
        has_bits = n_bins <= MOST_CODES_OF_BITS
        if (~has_bits).sum() > most_others * len(n_bins):
            return
        has_bits &= codes.max(axis=0) < n_bins
        n_bits = np.where(has_bits, n_bins - ~self.arguments[1], 0)
        if (~has_bits).sum() > most_others * len(n_bins) or n_bits.sum() == 0:
            return
        start = np.concatenate([[0], np.cumsum(n_bits)]).astype(np.int32)
        bins = np.concatenate([np.arange(n, dtype=np.int32) for n in n_bits])
        has_bits = has_bits.view(np.uint8)
        words = np.empty(((len(codes) + 63) // 64, start[len(n_bins)]), dtype=np.uint64)

        def fill(rows):
            write_cut_bits(codes[rows], start, self.is_categorical, words[rows.start // 64:])

        if in_parts is None:
            fill(slice(0, len(codes)))
        else:
            in_parts(fill, len(codes), unit=64)
        self.cut_bit_arrays = (start, bins, has_bits, words)
        cdef const int32_t[::1] starts = start, bin_of = bins
        cdef const uint8_t[::1] sliced = has_bits
        cdef const uint64_t[:, ::1] word = words
        self.cut_bits.n_features = len(n_bins)
        self.cut_bits.n = len(bins)
        self.cut_bits.n_words = len(words)
        self.cut_bits.start = &starts[0]
        self.cut_bits.bin = &bin_of[0]
        self.cut_bits.has_bits = &sliced[0]
        self.cut_bits.words = &word[0, 0]
        self.has_cut_bits = True
        self.cut_bits.is_all = has_bits.all()

    def __reduce__(self):
        (target, is_categorical, codes, n_bins, cuts, cuts_start, values, equal_values,
         equal_start) = self.arguments
        rows = {"codes": codes, "n_bins": n_bins, "cuts": cuts, "cuts_start": cuts_start,
                "values": values, "equal_values": equal_values, "equal_start": equal_start}
        return rebuild, (
            target, is_categorical, rows, self.by_column is not None, self.has_cut_bits)


def rebuild(target, is_categorical, rows, has_columns, has_cut_bits):
    """A pickled table again."""
    table = TrainingTable(target, is_categorical, **rows)
    if has_columns:
        table.add_columns()
    if has_cut_bits:
        table.add_cut_bits(most_others=1)
    return table


cdef enum:
    EIGHTS = 8
    ROWS = 8 * EIGHTS   # of a word

cdef uint64_t ONES = 0x0101010101010101     # a 1 in each byte
cdef uint64_t HIGH = 0x8080808080808080
cdef uint64_t NO_CODE = 0x7F


cdef inline uint64_t bits_of(uint64_t high) noexcept nogil:
    """The highest bits of eight bytes, the lowest byte's first."""
    return ((high >> 7 & ONES) * <uint64_t> 0x0102040810204080) >> 56


cdef inline uint64_t write_bits(
    const uint64_t* codes, uint64_t code, bint is_categorical
) noexcept nogil:
    """Which of 64 codes, eight in a word, are at most the code, or equal to it.

    A byte of the difference has its highest bit if nothing was taken from it: all codes are
    below 128, so no byte takes from another.
    """
    cdef uint64_t word = 0, all_the_same = code * ONES
    cdef Py_ssize_t i
    for i in range(EIGHTS):
        if is_categorical:
            word |= bits_of(HIGH - (codes[i] ^ all_the_same)) << (8 * i)
        else:
            word |= bits_of((all_the_same | HIGH) - codes[i]) << (8 * i)
    return word


def write_cut_bits(
    const code_t[:, ::1] codes,          # IN   rows x features, the first of a word first
    const int32_t[::1] start,            # IN   first cut of each feature, and the end
    const uint8_t[::1] is_categorical,   # IN
    uint64_t[:, ::1] words,              # OUT  64 rows x cuts
):
    """Bits of rows. Features that have any have codes below 8."""
    cdef Py_ssize_t n_rows = codes.shape[0], w, i, f, s
    cdef uint64_t eights[EIGHTS]
    with nogil:
        for w in range((n_rows + ROWS - 1) // ROWS):
            for f in range(codes.shape[1]):
                if start[f] == start[f + 1]:
                    continue
                for i in range(EIGHTS):
                    eights[i] = NO_CODE * ONES
                for i in range(min(ROWS, n_rows - w * ROWS)):
                    eights[i >> 3] ^= (NO_CODE ^ codes[w * ROWS + i, f]) << (8 * (i & 7))
                for s in range(start[f], start[f + 1]):
                    words[w, s] = write_bits(
                        eights, <uint64_t> (s - start[f]), is_categorical[f])
