# SPDX-License-Identifier: BSD-3-Clause
"""What forests on a cluster share: parameters, lazy predictions, their local self."""

from __future__ import annotations

from dataclasses import KW_ONLY
from numbers import Integral
from typing import Annotated, Any, ClassVar, Self

import dask.array as da
import numpy as np
from dask.delayed import delayed
from distributed import Client, get_client
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from mrforest._sklearn import Interval
from mrforest.dask._tables import blocks_of, is_dask, is_frame
from mrforest.forests.declaration import (
    Doc,
    declared_in,
    described,
    indented,
    set_parameters,
)
from mrforest.model.fitted import FittedClassifier

ClientOrNone = Annotated[
    "Client | None",
    Doc("""distributed.Client
        Of the cluster; None: the client that was made last."""),
]

GatherRows = Annotated[
    "int | None",
    Interval(Integral, 1, None, closed="left"),
    None,
    Doc("""int
        A node with at most so many points is finished by one worker, which is sent its
        rows. None: as many as take 64 MiB as codes. The forest does not depend on it.
        """),
]


class ClusterParameters:
    """Those that the ordinary forest does not have."""

    client: ClientOrNone = None
    _: KW_ONLY
    gather_rows: GatherRows = None


ONLY_HERE = declared_in(ClusterParameters)

OTHERS = """
**parameters
    Those of :class:`mrforest.{}`, with the same defaults."""

# What a class says of itself beside that: {} is its name
EXAMPLE = """
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from mrforest.dask import {0}
    >>> X, y = load_iris(return_X_y=True)
    >>> rows, labels = da.from_array(X, chunks=(50, 4)), da.from_array(y, chunks=50)
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     forest = {0}(client, {1})
    ...     found = forest.fit(rows, labels).predict(rows).compute()
    >>> found.shape, type(forest.to_local()).__name__
    ((150,), '{2}')
"""


def on_cluster(cls: type[Any]) -> type[Any]:
    """Give a class the parameters of its ordinary forest, and those of the cluster."""
    local = {name: one.by_name() for name, one in cls._ordinary._parameters.items()}
    set_parameters(cls, ONLY_HERE | local)
    local_name = cls._ordinary.__name__
    parameters = described(ONLY_HERE) + OTHERS.format(local_name)
    cls.__doc__ = (cls.__doc__ or "").format(
        cluster_parameters=indented(parameters, "    ").strip(),
        example=EXAMPLE.format(cls.__name__, cls._example, local_name).strip(),
    )
    return cls


class OnCluster(FittedClassifier):
    """A classifier whose rows are on a Dask cluster."""

    _ordinary: ClassVar[type[Any]]
    _example: ClassVar[str] = "n_estimators=5"

    def _client(self) -> Client:
        return get_client() if self.client is None else self.client

    # ---- the ordinary forest --------------------------------------------------------

    def _local_params(self) -> dict[str, Any]:
        params = self.get_params(deep=False)
        return {k: v for k, v in params.items() if k not in ONLY_HERE}

    def to_local(self) -> Any:
        """Return the same forest as an ordinary estimator.

        Returns
        -------
        estimator
            It shares the arrays of this one.
        """
        check_is_fitted(self)
        local = self._ordinary(**self._local_params())
        fitted = {k: v for k, v in vars(self).items() if k not in ONLY_HERE}
        local.__dict__.update(fitted)
        return local

    def __sklearn_clone__(self) -> Self:
        # A connection cannot be copied.
        params = clone(self._ordinary(**self._local_params())).get_params(deep=False)
        new: type[Any] = type(self)
        copy: Self = new(self.client, gather_rows=self.gather_rows, **params)
        return copy

    def __getstate__(self) -> dict[str, Any]:
        # A connection cannot be kept in a file.
        state: dict[str, Any] = super().__getstate__()
        return state | {"client": None}

    # ---- predict --------------------------------------------------------------------

    def predict(self, X: Any) -> Any:
        """Most probable class; of equal ones the first in `classes_`.

        Parameters
        ----------
        X : Dask DataFrame or Array, or what the ordinary forest takes

        Returns
        -------
        Dask Array of shape (n_samples,), not computed yet, or ndarray
        """
        if not is_dask(X):
            return super().predict(X)
        return self._lazily(X, "predict", ())

    def predict_proba(self, X: Any) -> Any:
        """Class probabilities: shares of votes, or mean shares of the leaves.

        Parameters
        ----------
        X : Dask DataFrame or Array, or what the ordinary forest takes

        Returns
        -------
        Dask Array of shape (n_samples, n_classes), not computed yet, or ndarray
        """
        if not is_dask(X):
            return super().predict_proba(X)
        return self._lazily(X, "predict_proba", (self.n_classes_,))

    def _lazily(self, X: Any, method: str, columns: tuple[int, ...]) -> Any:
        local = self.to_local()
        dtype = self.classes_.dtype if method == "predict" else np.dtype(np.float64)
        if is_frame(X):
            blocks = list(X.to_delayed())
            lengths: tuple[float, ...] = (np.nan,) * len(blocks)
        else:
            X = X.rechunk({1: -1})
            blocks, lengths = blocks_of(X), X.chunks[0]
        forest = delayed(local, pure=True)
        parts = [
            da.from_delayed(
                delayed(predict_part)(forest, method, block, columns, dtype),
                shape=(length, *columns),
                dtype=dtype,
            )
            for block, length in zip(blocks, lengths, strict=True)
        ]
        return da.concatenate(parts, axis=0, allow_unknown_chunksizes=True)


def predict_part(
    forest: Any, method: str, rows: Any, columns: tuple[int, ...], dtype: Any
) -> NDArray[Any]:
    """Let a forest see one part of a table; parts may be empty."""
    if len(rows) == 0:
        return np.empty((0, *columns), dtype=dtype)
    found: NDArray[Any] = getattr(forest, method)(rows)
    return found
