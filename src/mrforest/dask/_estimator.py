# SPDX-License-Identifier: BSD-3-Clause
"""What estimators on a cluster share: parameters, lazy predictions, `to_local`."""

from __future__ import annotations

import inspect
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
from mrforest.dask._partitions import blocks_of, is_dask, is_frame
from mrforest.forests.declaration import Doc, declared_in, described, set_parameters
from mrforest.model.fitted import FittedClassifier

ClientOrNone = Annotated[
    "Client | None",
    Doc("""distributed.Client
        Client of the cluster. None: the client that was created last."""),
]

GatherRows = Annotated[
    "int | None",
    Interval(Integral, 1, None, closed="left"),
    None,
    Doc("""int
        The subtree of a node with at most so many points is grown by one worker, to
        which the rows of the node are sent. None: as many rows as take 64 MiB when
        encoded. The forest does not depend on it."""),
]


class ClusterParameters:
    """Those that the local estimator does not have."""

    _: KW_ONLY
    client: ClientOrNone = None
    gather_rows: GatherRows = None


CLUSTER_ONLY = declared_in(ClusterParameters)

# What follows the summary of each class; {local} is its local estimator.
DOCUMENTATION = """

Parameters
----------
{cluster_parameters}
**parameters
    Those of :class:`mrforest.{local}`, with the same defaults.

See Also
--------
mrforest.{local} : The same forest of a table in memory.

Examples
--------
>>> import dask.array as da
>>> from distributed import Client
>>> from sklearn.datasets import load_iris
>>> from mrforest.dask import {name}
>>> X, y = load_iris(return_X_y=True)
>>> rows, labels = da.from_array(X, chunks=(50, 4)), da.from_array(y, chunks=50)
>>> with Client(processes=False, dashboard_address=None) as client:
...     forest = {name}({options}, client=client)
...     found = forest.fit(rows, labels).predict(rows).compute()
>>> found.shape, type(forest.to_local()).__name__
((150,), '{local}')
"""


def on_cluster(cls: type[Any]) -> type[Any]:
    """Give a class its parameters, those of its local estimator, and its docstring."""
    set_parameters(cls, cls._local_class._parameters | CLUSTER_ONLY)
    cls.__doc__ = inspect.cleandoc(cls.__doc__ or "") + DOCUMENTATION.format(
        cluster_parameters=described(CLUSTER_ONLY),
        name=cls.__name__,
        options=cls._example,
        local=cls._local_class.__name__,
    )
    return cls


class OnCluster(FittedClassifier):
    """A classifier whose rows are on a Dask cluster."""

    _local_class: ClassVar[type[Any]]  # The estimator of tables in memory
    _example: ClassVar[str] = "n_estimators=5"

    def _client(self) -> Client:
        return get_client() if self.client is None else self.client

    # ---- the local estimator --------------------------------------------------------

    def _local_params(self) -> dict[str, Any]:
        params = self.get_params(deep=False)
        return {k: v for k, v in params.items() if k not in CLUSTER_ONLY}

    def to_local(self) -> Any:
        """Return the fitted forest as an estimator that needs no cluster.

        Returns
        -------
        estimator
            It shares the arrays of this one.
        """
        check_is_fitted(self)
        local = self._local_class(**self._local_params())
        fitted = {k: v for k, v in vars(self).items() if k not in CLUSTER_ONLY}
        local.__dict__.update(fitted)
        return local

    def __sklearn_clone__(self) -> Self:
        # A client cannot be copied.
        params = clone(self._local_class(**self._local_params())).get_params(deep=False)
        new: type[Any] = type(self)
        copy: Self = new(client=self.client, gather_rows=self.gather_rows, **params)
        return copy

    def __getstate__(self) -> dict[str, Any]:
        # A client cannot be pickled.
        state: dict[str, Any] = super().__getstate__()
        return state | {"client": None}

    # ---- predict --------------------------------------------------------------------

    def predict(self, X: Any) -> Any:
        """Return the most probable class; of equal ones the first in `classes_`.

        Parameters
        ----------
        X : Dask DataFrame or Array, or what the local estimator takes

        Returns
        -------
        lazy Dask Array of shape (n_samples,), or ndarray
        """
        if not is_dask(X):
            return super().predict(X)
        return self._lazily(X, "predict", ())

    def predict_proba(self, X: Any) -> Any:
        """Return class probabilities: shares of votes, or mean shares of the leaves.

        Parameters
        ----------
        X : Dask DataFrame or Array, or what the local estimator takes

        Returns
        -------
        lazy Dask Array of shape (n_samples, n_classes), or ndarray
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
                delayed(predict_partition)(forest, method, block, columns, dtype),
                shape=(length, *columns),
                dtype=dtype,
            )
            for block, length in zip(blocks, lengths, strict=True)
        ]
        return da.concatenate(parts, axis=0, allow_unknown_chunksizes=True)


def predict_partition(
    forest: Any, method: str, rows: Any, columns: tuple[int, ...], dtype: Any
) -> NDArray[Any]:
    """Call a method of a forest with one partition, which may be empty."""
    if len(rows) == 0:
        return np.empty((0, *columns), dtype=dtype)
    found: NDArray[Any] = getattr(forest, method)(rows)
    return found
