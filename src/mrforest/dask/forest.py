# SPDX-License-Identifier: BSD-3-Clause
"""The forests of this package, for rows on a Dask cluster."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from mrforest.dask._cluster import DaskCluster
from mrforest.dask._fit import ClusterFit
from mrforest.dask._on_cluster import OnCluster, on_cluster
from mrforest.dask._tables import parts_of
from mrforest.dask._watch import watching
from mrforest.forests.base import BaseForest
from mrforest.forests.bernoulli import BernoulliForestClassifier
from mrforest.forests.breiman import BreimanForestClassifier
from mrforest.forests.denil import DenilForestClassifier
from mrforest.forests.multinomial import MultinomialForestClassifier
from mrforest.forests.sampling import seed_from
from mrforest.model.arrays import Gathered, sizes_of
from mrforest.model.codec import pack


class Lists(NamedTuple):
    """What the ordinary forest asks of its training rows when they are far away."""

    n_features: int
    lists: tuple[NDArray[np.float64], NDArray[np.int64]]
    scale: None = None


class DaskForest(OnCluster, BaseForest):
    """A forest that grows on a Dask cluster."""

    # On a cluster there are no sample weights.
    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Grow the forest on the cluster.

        Parameters
        ----------
        X : Dask DataFrame or Array of shape (n_samples, n_features)
            NaN is a missing value.
        y : Dask Series, DataFrame of one column, or Array of shape (n_samples,)
            Class labels, parted as X is.

        Returns
        -------
        self : estimator
            The fitted forest: bit for bit the one that the ordinary estimator grows of
            the same rows, whatever the partitions and the workers.
        """
        return super().fit(X, y)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        for name in ("oob_score", "warm_start"):
            if getattr(self, name, False):
                raise ValueError(f"{name}=True: there is no such option on a cluster")
        forest = self._ordinary(**self._local_params())
        fit = ClusterFit(DaskCluster(self._client()), parts_of(X, y), forest)
        table = fit.read()
        problem = fit.problem(table)
        seed = seed_from(self.random_state)
        lists = table.binning.thresholds()
        trees = Gathered(self.n_estimators)
        with watching(self.n_estimators, visible=self.verbose > 0) as (step, watch):
            grown = fit.grow(
                fit.shards(table, problem),
                problem,
                range(self.n_estimators),
                seed=seed,
                gather_rows=self.gather_rows,
                watch=watch,
            )
            described: Any = Lists(problem.n_features, lists)
            for tree in self._add_decreases(grown, described, more=False):
                trees.add(pack(tree | sizes_of(tree), lists))
                step()
        flat: Any = self._flat(trees.arrays(), described)
        self._forest = flat
        self._batches = []
        self._seed = seed
        self._schema = table.schema
        self.classes_, self.n_classes_ = table.classes, len(table.classes)
        self.n_features_in_ = forest.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(forest, "feature_names_in_"):
            self.feature_names_in_ = forest.feature_names_in_
        return self


@on_cluster
class DaskMultinomialForestClassifier(DaskForest, MultinomialForestClassifier):
    """Multinomial random forest of rows on a Dask cluster.

    Parameters
    ----------
    {cluster_parameters}

    See Also
    --------
    mrforest.MultinomialForestClassifier : The same forest of a table in memory.

    Examples
    --------
    {example}
    """

    _ordinary = MultinomialForestClassifier


@on_cluster
class DaskBreimanForestClassifier(DaskForest, BreimanForestClassifier):
    """Breiman's random forest of rows on a Dask cluster.

    Parameters
    ----------
    {cluster_parameters}

    See Also
    --------
    mrforest.BreimanForestClassifier : The same forest of a table in memory.

    Examples
    --------
    {example}
    """

    _ordinary = BreimanForestClassifier


@on_cluster
class DaskBernoulliForestClassifier(DaskForest, BernoulliForestClassifier):
    """Bernoulli random forest of rows on a Dask cluster.

    Parameters
    ----------
    {cluster_parameters}

    See Also
    --------
    mrforest.BernoulliForestClassifier : The same forest of a table in memory.

    Examples
    --------
    {example}
    """

    _ordinary = BernoulliForestClassifier


@on_cluster
class DaskDenilForestClassifier(DaskForest, DenilForestClassifier):
    """Denil14 of rows on a Dask cluster.

    Parameters
    ----------
    {cluster_parameters}

    See Also
    --------
    mrforest.DenilForestClassifier : The same forest of a table in memory.

    Examples
    --------
    {example}
    """

    _ordinary = DenilForestClassifier
