# SPDX-License-Identifier: BSD-3-Clause
"""Check the training arrays once, so that the kernels need not."""

import numpy as np

from mrforest._core.impurity import xlogx_table
from mrforest._core.types cimport ENTROPY, GINI

# Larger arguments of x log x are rare and computed when they occur.
XLOGX_TABLE_SIZE = 1 << 16


cdef class TrainingTable:
    """Codes, classes and weights of the training rows, in canonical order.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_features), dtype=uint8 or uint16
    y : ndarray of shape (n_rows,), dtype=int32
        Class codes.
    n_classes : int
    n_bins : ndarray of shape (n_features,), dtype=int32
        Codes of each feature; the missing code is n_bins itself.
    is_categorical : ndarray of shape (n_features,), dtype=bool
    cuts, cuts_start : ndarray of float64, ndarray of int64
        Thresholds of all features, and where each feature's begin (n_features + 1 of them).
    mass : ndarray of shape (n_rows,), dtype=int64, or None
        Positive whole numbers.
    class_weight : ndarray of shape (n_classes,), dtype=float64, or None
    criterion : {"gini", "entropy"}
    """

    def __init__(self, codes, y, n_classes, n_bins, is_categorical, cuts, cuts_start,
                 mass, class_weight, criterion):
        self.arguments = (codes, y, n_classes, n_bins, is_categorical, cuts, cuts_start,
                          mass, class_weight, criterion)
        n_rows, n_features = codes.shape
        if not (
            n_rows == y.shape[0] and n_features == n_bins.shape[0] == is_categorical.shape[0]
            and cuts_start.shape[0] == n_features + 1 and cuts_start[n_features] == cuts.shape[0]
            and (codes <= n_bins).all() and y.min() >= 0 and y.max() < n_classes
            and (mass is None or (mass.shape[0] == n_rows and mass.min() > 0))
            and (class_weight is None or class_weight.shape[0] == n_classes)
        ):
            raise ValueError("the arrays of a training table do not fit together")
        self.n_bins = n_bins
        self.is_categorical = is_categorical.view(np.uint8)
        self.slot = np.concatenate([[0], np.cumsum(n_bins.astype(np.int64) + 1)])
        self.y = y
        self.cuts = cuts
        self.cuts_start = cuts_start

        self.view.n_rows = n_rows
        self.view.n_features = n_features
        self.view.n_classes = n_classes
        self.view.wide = codes.dtype == np.uint16
        if self.view.wide:
            self.wide = codes
            self.view.codes = &self.wide[0, 0]
        else:
            self.narrow = codes
            self.view.codes = &self.narrow[0, 0]
        self.view.n_bins = &self.n_bins[0]
        self.view.is_categorical = &self.is_categorical[0]
        self.view.slot = &self.slot[0]
        self.view.y = &self.y[0]
        self.view.mass = NULL
        if mass is not None:
            self.mass = mass
            self.view.mass = &self.mass[0]
        self.view.class_weight = NULL
        if class_weight is not None:
            self.class_weight = class_weight
            self.view.class_weight = &self.class_weight[0]
        self.view.criterion = GINI if criterion == "gini" else ENTROPY
        self.xlogx = xlogx_table(XLOGX_TABLE_SIZE if criterion == "entropy" else 1)
        self.view.xlogx = &self.xlogx[0]
        self.view.n_xlogx = self.xlogx.shape[0]

    def __reduce__(self):
        return type(self), self.arguments
