# SPDX-License-Identifier: BSD-3-Clause
"""Whether a large table has infinite or missing values, in threads."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from mrforest._threads import in_parts
from mrforest.data.training import useful_threads


def refuse_infinite(X: NDArray[np.float64], n_threads: int, **checks: Any) -> None:
    """Let scikit-learn complain about a table that it has checked but for its values.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), dtype=float64
        C-contiguous.
    n_threads : int
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
    if not all(in_parts(has_finite_sum, len(X), useful_threads(X.size, n_threads))):
        check_array(X, **checks)
