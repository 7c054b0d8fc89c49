# SPDX-License-Identifier: BSD-3-Clause
"""The split rule: what makes one forest differ from another.

A rule answers four questions at every node, in this order, each with the node's own stream:
how many features to look at (which ones is then drawn uniformly), which of a feature's
candidates to look at, which of the features that have one to cut, and which of its cuts to
take. Everything else (counting, scoring, partitioning, stopping, leaves) is the same for all
forests. A rule holds parameters only and is shared by all threads, so its methods change
nothing but the draw they are given.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t

from mrforest._core.random.rng cimport Stream
from mrforest._core.types cimport Cut, Table


cdef enum:
    LEAF = -1                   # instead of a feature or a cut: the node stays a leaf


cdef struct Draw:
    # What a rule knows of the node, and what it draws from.
    Stream stream
    int mode                    # what the rule has decided at this node; 0 at first
    Py_ssize_t depth            # 0 for the root
    Py_ssize_t n_structure      # points that shape
    Py_ssize_t n_estimation     # points that fill
    const int64_t* totals       # structure points of each class, or their mass and moment
    const int32_t* features     # the column of each feature, or of the one that is cut


cdef struct RemotePoints:
    # Points that a rule draws when they are elsewhere: where they are in the node, and their codes,
    # if they are known.
    Py_ssize_t n_drawn          # of each feature
    int64_t* places             # OUT  features x n_drawn, of features that were looked at
    int32_t* order              # OUT  which these are, one after the other ...
    Py_ssize_t n_order          # OUT  ... and how many
    const int32_t* codes        # IN   features x n_drawn; NULL: not known yet
    const uint8_t* is_known     # IN   features whose codes are there
    bint lacks                  # OUT  whether others were looked at


cdef struct Points:
    # The structure points of a node, and room to mark some.
    const Table* table
    const int32_t* rows         # NULL: they are elsewhere
    Py_ssize_t n
    uint8_t* marks              # n of them, all 0, to be left so
    RemotePoints* remote_points


cdef struct Range:
    # Candidates of a feature that a rule looks at; see `is_in_range`.
    bint is_all
    int32_t lowest              # codes between which a numeric cut lies; none if above highest
    int32_t highest
    bint has_value              # whether missing may be cut off from the rest: only if both
    bint has_missing
    uint8_t* categories         # marks of those that an equality cut may ask for


cdef inline bint is_in_range(const Range* range_, const Cut* cut, int32_t missing) noexcept nogil:
    """Whether a rule looks at a candidate.

    The ends of a range are codes of the node, so "between two codes within" is a question
    about the cut alone.
    """
    if cut.is_equality:
        return range_.categories[cut.bin]
    if cut.bin == missing - 1:
        return range_.has_value and range_.has_missing
    return range_.lowest <= cut.bin < range_.highest


cdef inline bint is_empty(const Range* range_, bint is_categorical) noexcept nogil:
    """Whether no candidate can be in a range."""
    return not (range_.is_all or is_categorical or range_.lowest < range_.highest
                or (range_.has_value and range_.has_missing))


cdef class SplitRule:
    cdef readonly bint looks_at_all     # whether every node looks at every feature
    cdef readonly bint restricts        # whether restrict_cuts does anything

    # How many of the features to look at, at least 1.
    cdef Py_ssize_t count_features(self, Py_ssize_t n_features, Draw* draw) noexcept nogil

    # Narrow the range, which is all candidates of the feature. `range_.categories` has room
    # for its categories, all 0.
    cdef void restrict_cuts(
        self, const Points* points, Py_ssize_t feature, Range* range_, Draw* draw) noexcept nogil

    # The index of a feature, given the largest score of each feature that has a candidate, or
    # LEAF. Feature i is column `draw.features[i]`. Scores closer than `tolerance` are equal.
    # `work` has room for n numbers.
    cdef Py_ssize_t choose_feature(
        self, const double* scores, Py_ssize_t n, double tolerance, double* work,
        Draw* draw) noexcept nogil

    # The index of a cut of that feature, given the scores of all of them, or LEAF.
    cdef Py_ssize_t choose_cut(
        self, const double* scores, Py_ssize_t n, double tolerance, double* work,
        Draw* draw) noexcept nogil
