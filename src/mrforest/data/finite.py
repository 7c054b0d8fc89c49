# SPDX-License-Identifier: BSD-3-Clause
"""Whether a large table has infinite or missing values, in threads."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import check_array

from mrforest._threads import in_parts
from mrforest.data.training import SERIAL_WORK


def is_large_array(X: Any) -> bool:
    """Whether it is an array of floats that several threads had better look at."""
    return isinstance(X, np.ndarray) and X.dtype.kind == "f" and X.size >= SERIAL_WORK


def refuse_infinite(X: NDArray[np.floating], n_jobs: int | None, **checks: Any) -> None:
    """Let scikit-learn check a table, if it may have values that are not allowed.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), of floats
    n_jobs : int or None
    **checks
        What `check_array` is told.

    Examples
    --------
    >>> import numpy as np
    >>> refuse_infinite(np.array([[1.0, np.nan]]), 1, ensure_all_finite="allow-nan")
    >>> refuse_infinite(np.array([[1.0, np.inf]]), 1, ensure_all_finite="allow-nan")
    Traceback (most recent call last):
        ...
    ValueError: Input contains infinity or a value too large for dtype('float64').
    """

    def has_finite_sum(rows: slice) -> bool:
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite(X[rows].sum()))

    # A sum may overflow, and NaN may be allowed: that is for scikit-learn to tell.
    if not all(in_parts(has_finite_sum, len(X), effective_n_jobs(n_jobs))):
        check_array(X, **checks)
