# SPDX-License-Identifier: BSD-3-Clause
"""Tables of both libraries, and an estimator that only reads them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mrforest.data.table import Schema, read_fit, read_predict

NAN = np.nan
LIBRARIES = ["pandas", "polars"]
both = pytest.mark.parametrize("library", LIBRARIES)


class Reader(ClassifierMixin, BaseEstimator):
    """A tree of scikit-learn behind our reader, as small as an estimator can be."""

    def __init__(self, categorical_features="from_dtype"):
        self.categorical_features = categorical_features

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X, y):
        X, y, self.schema_ = read_fit(self, X, y, self.categorical_features)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        self.tree_ = DecisionTreeClassifier(random_state=0).fit(X, y)
        return self

    def predict(self, X):
        check_is_fitted(self)
        return self.tree_.predict(read_predict(self, X, self.schema_))


def make(library, columns, categorical=()):
    """Build a frame; the columns named in `categorical` get a categorical dtype."""
    if library == "pandas":
        return pd.DataFrame(columns).astype(dict.fromkeys(categorical, "category"))
    frame = pl.DataFrame(columns, strict=False)
    return frame.with_columns(pl.col(name).cast(pl.Categorical) for name in categorical)


def fit(X, categorical_features="from_dtype", y=None):
    """Read a training table; return (estimator, matrix, schema)."""
    estimator = Reader()
    y = np.zeros(len(X), dtype=int) if y is None else y
    matrix, _, schema = read_fit(estimator, X, y, categorical_features)
    assert matrix.dtype == np.float64
    assert matrix.flags.c_contiguous
    assert isinstance(schema, Schema)
    assert len(schema.categories) == matrix.shape[1] == estimator.n_features_in_
    return estimator, matrix, schema


def lists(schema):
    return [None if c is None else c.tolist() for c in schema.categories]
