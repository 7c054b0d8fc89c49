# SPDX-License-Identifier: BSD-3-Clause
"""Points of a region by their bins, and by pairs of these.

All that one level of splits looks at, and two: counts of parts of a table add up to those of the
whole, which no one has to have in one place.
"""

import numpy as np

from libc.stdint cimport int32_t, uint8_t


def count_bins(codes, y, rows, columns, bins, slot, Py_ssize_t n_classes):
    """Count points by class and bin.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_columns), dtype=uint8
    y : ndarray of shape (n_rows,), dtype=int32
    rows : ndarray of int32
        Of which points they are.
    columns : ndarray of shape (n_features,), dtype=int32
        Of codes.
    bins : ndarray of shape (n_features, 256), dtype=uint8
        Of each code.
    slot : ndarray of shape (n_features + 1,), dtype=int32
        First bin of each feature, and the end.
    n_classes : int

    Returns
    -------
    ndarray of shape (n_classes * n_bins,), dtype=int32
    """
    return _count(codes, y, rows, columns, bins, slot, n_classes, False)


def count_pairs(codes, y, rows, columns, bins, slot, Py_ssize_t n_classes):
    """Count points by class and two bins, the second of the same or a later feature.

    Parameters
    ----------
    codes, y, rows, columns, bins, slot, n_classes
        As in `count_bins`.

    Returns
    -------
    ndarray of int32
        One feature after the other: its bins x classes x bins from its own first one on.
    """
    return _count(codes, y, rows, columns, bins, slot, n_classes, True)


cdef _count(
    const uint8_t[:, ::1] codes, const int32_t[::1] y, const int32_t[::1] rows,
    const int32_t[::1] columns, const uint8_t[:, ::1] bins, const int32_t[::1] slot,
    Py_ssize_t n_classes, bint of_pairs
):
    cdef Py_ssize_t F = columns.shape[0], n_bins, width, f, g, i
    cdef int32_t cls
    _check(codes, y, rows, columns, bins, slot, n_classes)
    n_bins = slot[F]
    before_ = np.zeros(F + 1, dtype=np.int64)
    cdef long long[::1] before = before_
    for f in range(F):
        width = n_bins - slot[f] if of_pairs else 1
        before[f + 1] = before[f] + (slot[f + 1] - slot[f]) * n_classes * width
    found = np.zeros(before[F], dtype=np.int32)
    cdef int32_t[::1] out = found
    # One more: a pointer to nothing is not allowed.
    cdef int32_t[::1] own = np.zeros(F + 1, dtype=np.int32)
    cdef int32_t* cells
    with nogil:
        for i in range(rows.shape[0]):
            cls = y[rows[i]]
            for f in range(F):
                own[f] = slot[f] + bins[f, codes[rows[i], columns[f]]]
            if of_pairs:
                for f in range(F):
                    width = n_bins - slot[f]
                    cells = &out[before[f] + ((own[f] - slot[f]) * n_classes + cls) * width]
                    for g in range(f, F):
                        cells[own[g] - slot[f]] += 1
            else:
                for f in range(F):
                    out[cls * n_bins + own[f]] += 1
    return found


def _check(codes, y, rows, columns, bins, slot, n_classes):
    """ValueError for what the loop, which checks no bounds, must not be given."""
    codes, y, rows, columns, bins, slot = map(
        np.asarray, (codes, y, rows, columns, bins, slot))
    n_bins = np.diff(slot)
    if not 0 < len(columns) == len(bins) == len(n_bins) or bins.shape[1] != 256:
        raise ValueError(
            f"{len(columns)} columns, bins of shape {bins.shape} and {len(n_bins)} features of "
            "slot must be as many, with 256 codes each")
    if slot[0] != 0 or (bins.max(axis=1) >= n_bins).any():
        raise ValueError(f"slot={slot} must rise from 0, and have room for all bins")
    if columns.min() < 0 or columns.max() >= codes.shape[1]:
        raise ValueError(f"columns={columns} must be among {codes.shape[1]}")
    if len(y) != len(codes):
        raise ValueError(f"y of {len(y)} rows must be of the {len(codes)} rows of codes")
    if y.min(initial=0) < 0 or y.max(initial=0) >= n_classes:
        raise ValueError(f"y from {y.min()} to {y.max()} must be in [0, {n_classes})")
    if rows.min(initial=0) < 0 or rows.max(initial=-1) >= len(codes):
        raise ValueError(f"rows from {rows.min()} to {rows.max()} must be in [0, {len(codes)})")
