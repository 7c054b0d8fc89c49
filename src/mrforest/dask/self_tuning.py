# SPDX-License-Identifier: BSD-3-Clause
"""The forest to use by default, for rows on a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.dask._cluster import DaskCluster
from mrforest.dask._held import joined
from mrforest.dask._on_cluster import OnCluster, on_cluster
from mrforest.dask._self_tuning import SelfTuningFit, SettingTrees
from mrforest.dask._subtrees import Arrays
from mrforest.dask._tables import parts_of
from mrforest.dask._watch import watching
from mrforest.forests.forest import ForestClassifier
from mrforest.forests.held_out import HeldOut, Setting
from mrforest.forests.sampling import seed_from
from mrforest.forests.self_tuning import trial_size, trial_trees
from mrforest.model.arrays import Gathered, sizes_of
from mrforest.model.codec import pack

# What trees say beside what the forest keeps
NOT_KEPT = ("count", "held_points", "held_impurity")


@on_cluster
class DaskForestClassifier(OnCluster, ForestClassifier):
    """The forest that tunes itself, of rows on a Dask cluster.

    Splits, choices (`tuning_`, `power_`), `oob_score_` and importances are those of the
    ordinary forest. There is no `oob_decision_function_`: it would have a line for each
    row of the cluster.

    Parameters
    ----------
    {cluster_parameters}

    See Also
    --------
    mrforest.ForestClassifier : The same forest of a table in memory.

    Examples
    --------
    {example}
    """

    _ordinary = ForestClassifier
    _cluster_fit: SelfTuningFit  # only while it runs

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
        if self.warm_start:
            raise ValueError("warm_start=True: there is no such option on a cluster")
        forest = self._ordinary(**self._local_params())
        forest._set_leaf(1)
        fit = SelfTuningFit(DaskCluster(self._client()), parts_of(X, y), forest)
        table = fit.read()
        self.classes_, self.n_classes_ = table.classes, len(table.classes)
        self.n_features_in_ = forest.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(forest, "feature_names_in_"):
            self.feature_names_in_ = forest.feature_names_in_
        self._schema = table.schema
        self._seed = seed_from(self.random_state)
        self._set_leaf(table.n_rows)
        self._cluster_fit = fit
        try:
            training: Any = fit.prepare(table)
            self._set_choice(*self._choose(training))
            self._grow_all(training)
        finally:
            del self._cluster_fit
        self._batches = []
        return self

    # ---- what the ordinary forest asks of its rows ----------------------------------

    def _trees_of(
        self, setting: Setting, sampler: Any, numbers: range, size: int, **more: Any
    ) -> SettingTrees:
        limits = self._size_limits(size, np.zeros(1, dtype=np.uint8))
        return self._cluster_fit.trees(
            setting,
            limits,
            sampler,
            numbers,
            seed=self._seed,
            gather_rows=self.gather_rows,
            **more,
        )

    def _ask_about(
        self, setting: Setting, sizes: NDArray[np.int64], training: Any
    ) -> HeldOut:
        sampler, n_trees = trial_trees(training.n_points)
        label = f"trying {setting.n_features} features a node"
        visible = self.verbose > 0
        with watching(n_trees, visible=visible, label=label) as (step, watch):
            trees = self._trees_of(
                setting,
                sampler,
                range(n_trees),
                trial_size(sizes),
                watch=watch,
                sizes=sizes,
            )
            for _ in trees.grown():
                step()
            return trees.said()

    def _grow_all(self, training: Any) -> None:
        """Grow the trees of the forest, and score them by rows that they hold out."""
        gathered = Gathered(self.n_estimators)
        total = np.zeros(training.n_features)

        def pass_on(grown: Iterator[Arrays]) -> Iterator[Arrays]:
            nonlocal total
            for tree in grown:
                total = total + _core.decrease_by_feature(
                    tree["nodes"],
                    tree["held_points"],
                    tree["held_impurity"].copy(),
                    training.n_features,
                )
                kept = {k: v for k, v in tree.items() if k not in NOT_KEPT}
                yield pack(kept | sizes_of(kept), training.lists)

        visible = self.verbose > 0
        with watching(self.n_estimators, visible=visible) as (step, watch):
            trees = self._trees_of(
                self._setting(),
                self._sampler(),
                range(self.n_estimators),
                self.min_samples_split_ - 1,
                watch=watch,
            )
            grown = pass_on(trees.grown())
            for tree in self._add_decreases(grown, training, more=False):
                gathered.add(tree)
                step()
        self._held_decrease = total
        flat: Any = self._flat(gathered.arrays(), training)
        self._forest = flat
        scores = trees.scores()
        first = joined([score.first for score in scores])
        self._set_power(first, training, counts=any(one.has_halves for one in scores))
        n_rows = sum(score.n_rows for score in scores)
        self.oob_score_ = float("nan")
        if n_rows:
            self.oob_score_ = sum(score.n_right for score in scores) / n_rows
