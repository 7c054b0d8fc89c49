# SPDX-License-Identifier: BSD-3-Clause
"""Forests that are not private, for rows on a Dask cluster."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest.dask import _held_out
from mrforest.dask._cluster import (
    DaskCluster,
    LevelProgress,
    MemoryPlan,
    growth_progress,
)
from mrforest.dask._counts import CountedNodes, begin_trees
from mrforest.dask._estimator import OnCluster, on_cluster
from mrforest.dask._fit import ClusterFit, TableSummary
from mrforest.dask._growth import ForestGrowth
from mrforest.dask._held_out import SettingTrees
from mrforest.dask._partitions import partitions_of
from mrforest.dask._shards import ShardTasks
from mrforest.dask._specs import Arrays, ForestSpec, RowSpec
from mrforest.data.training import TrainingSet
from mrforest.forests.base import BaseForest
from mrforest.forests.bernoulli import BernoulliForestClassifier
from mrforest.forests.breiman import BreimanForestClassifier
from mrforest.forests.denil import DenilForestClassifier
from mrforest.forests.forest import ForestClassifier
from mrforest.forests.held_out import HeldOut, Setting
from mrforest.forests.multinomial import MultinomialForestClassifier
from mrforest.forests.private_parameters import MOST_ROWS
from mrforest.forests.sampling import HeldOutGroups, seed_from
from mrforest.forests.self_tuning import trial_size, trial_trees
from mrforest.model.arrays import Gathered, sizes_of
from mrforest.model.codec import pack


@dataclass(frozen=True, kw_only=True)
class TrainingFacts:
    """The attributes of a `TrainingSet` that are needed when its trees have grown.

    Attributes
    ----------
    n_points, n_features : int
    lists : pair of ndarray
        Thresholds that nodes can have, see `Binning.thresholds`.
    scale : None
        There are no regressions on a cluster.
    """

    n_points: int
    n_features: int
    lists: tuple[NDArray[np.float64], NDArray[np.int64]]
    scale: None = None

    @classmethod
    def of(cls, rows: RowSpec, **more: Any) -> Self:
        """Collect what is known of encoded rows."""
        return cls(
            n_points=rows.n_points,
            n_features=rows.n_features,
            lists=rows.binning.thresholds(),
            **more,
        )

    @property
    def as_training_set(self) -> TrainingSet:
        """These facts for methods of local forests, which read nothing else."""
        return cast(TrainingSet, self)


@dataclass(frozen=True, kw_only=True)
class TuningFacts(TrainingFacts):
    """The attributes that are needed to choose a setting, too.

    Attributes
    ----------
    y : ndarray of int32
        Classes of the first points.
    class_weight : ndarray of shape (n_classes,), or None
    offers_equality : bool
        Whether any numeric feature may be cut by equality, too.
    mass : None
        There are no sample weights on a cluster.
    """

    y: NDArray[np.int32]
    class_weight: NDArray[np.float64] | None
    offers_equality: bool
    mass: None = None


class TuningTable(NamedTuple):
    """The encoded rows of a table on a cluster."""

    rows: RowSpec
    shards: ShardTasks


class DaskForest(OnCluster, BaseForest):
    """A forest that grows on a Dask cluster."""

    @abstractmethod
    def _grow_from(self, fit: ClusterFit, table: TableSummary) -> None:
        """Encode the rows, grow the trees, and set what follows from them."""

    # On a cluster there are no sample weights.
    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Grow the forest on the cluster.

        Parameters
        ----------
        X : Dask DataFrame or Array of shape (n_samples, n_features)
            NaN is a missing value.
        y : Dask Series, DataFrame of one column, or Array of shape (n_samples,)
            Class labels, partitioned as X is.

        Returns
        -------
        self : estimator
            The fitted forest. It is bit for bit the one that the local estimator grows
            from the same rows, whatever the partitions and the workers.
        """
        return super().fit(X, y)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        for name in ("oob_score", "warm_start"):
            if getattr(self, name, False):
                raise ValueError(f"{name}=True: there is no such option on a cluster")
        forest = self._local_class(**self._local_params())
        fit = ClusterFit(DaskCluster(self._client()), partitions_of(X, y), forest)
        table = fit.read()
        self.classes_, self.n_classes_ = table.classes, len(table.classes)
        self.n_features_in_ = forest.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(forest, "feature_names_in_"):
            self.feature_names_in_ = forest.feature_names_in_
        self._schema = table.schema
        self._seed = seed_from(self.random_state)
        self._batches = []
        self._grow_from(fit, table)
        return self

    def _set_forest(
        self, trees: Iterator[Arrays], facts: TrainingFacts, step: Callable[[], None]
    ) -> None:
        """Join the trees as they come."""
        training = facts.as_training_set
        gathered = Gathered(self.n_estimators)
        for tree in self._add_decreases(trees, training, more=False):
            gathered.add(pack(tree | sizes_of(tree), facts.lists))
            step()
        flat: Any = self._flat(gathered.arrays(), training)
        self._forest = flat


class DaskCountedForest(DaskForest):
    """A forest whose large nodes are split by the counts of all their points."""

    def _grow_from(self, fit: ClusterFit, table: TableSummary) -> None:
        rows, shards = table.rows, fit.shards(table)
        spec = ForestSpec(
            rows,
            self._sampler(),
            self._rule(rows.n_features),
            self._limits(np.zeros(1, dtype=np.uint8)),
        )
        n_trees, visible = self.n_estimators, self.verbose > 0
        with growth_progress(n_trees, visible=visible) as (step, on_level):
            trees = self._trees(spec, shards, on_level)
            self._set_forest(trees, TrainingFacts.of(rows), step)

    def _trees(
        self,
        spec: ForestSpec,
        shards: ShardTasks,
        on_level: Callable[[LevelProgress], None],
    ) -> Iterator[Arrays]:
        """Grow as many trees at a time as fit the memory."""
        memory = MemoryPlan.of(
            shards.cluster, spec.rows, spec.rows.n_cells, self.gather_rows
        )
        nodes = CountedNodes(shards, spec)
        growth = ForestGrowth(shards, spec, nodes, memory, on_level)
        for i in range(0, self.n_estimators, memory.n_trees):
            numbers = range(self.n_estimators)[i : i + memory.n_trees]
            for _, arrays in growth.grow(
                begin_trees(shards, spec, self._seed, numbers)
            ):
                yield arrays


@on_cluster
class DaskMultinomialForestClassifier(DaskCountedForest, MultinomialForestClassifier):
    """Multinomial random forest of rows on a Dask cluster."""

    _local_class = MultinomialForestClassifier


@on_cluster
class DaskBreimanForestClassifier(DaskCountedForest, BreimanForestClassifier):
    """Breiman's random forest of rows on a Dask cluster."""

    _local_class = BreimanForestClassifier


@on_cluster
class DaskBernoulliForestClassifier(DaskCountedForest, BernoulliForestClassifier):
    """Bernoulli random forest of rows on a Dask cluster."""

    _local_class = BernoulliForestClassifier


@on_cluster
class DaskDenilForestClassifier(DaskCountedForest, DenilForestClassifier):
    """Denil14 of rows on a Dask cluster."""

    _local_class = DenilForestClassifier


# ---- the default forest --------------------------------------------------------------

# Arrays of trees that a fitted forest does not have
NOT_KEPT = ("count", "held_points", "held_impurity")


@on_cluster
class DaskForestClassifier(DaskForest, ForestClassifier):
    """The forest that tunes itself, of rows on a Dask cluster.

    Splits, choices (`tuning_`, `power_`), `oob_score_` and importances are those of the
    local forest. There is no `oob_decision_function_`: it would have a line for each
    row of the cluster.
    """

    _local_class = ForestClassifier
    _encoded: TuningTable  # only while it is fitted

    def _grow_from(self, fit: ClusterFit, table: TableSummary) -> None:
        rows = table.rows
        shards = _held_out.in_canonical_order(fit.shards(table), rows)
        self._encoded = TuningTable(rows, shards)
        try:
            self._set_leaf(rows.n_points)
            facts = TuningFacts.of(
                rows,
                y=_held_out.classes_of_first(shards, min(rows.n_points, MOST_ROWS)),
                class_weight=rows.class_weight,
                offers_equality=rows.binning.equal_values is not None,
            )
            self._set_choice(*self._choose(facts.as_training_set))
            self._grow_all(facts)
        finally:
            del self._encoded

    def _trees_of(
        self,
        setting: Setting,
        sampler: HeldOutGroups,
        n_trees: int,
        size: int,
        on_level: Callable[[LevelProgress], None],
        *,
        sizes: NDArray[np.int64] | None = None,
    ) -> SettingTrees:
        """Return trees of a setting, which grow when they are asked for.

        With `sizes` these are leaf sizes that are tried, and only the first rows are
        asked about.
        """
        rows, shards = self._encoded
        limits = self._size_limits(size, np.zeros(1, dtype=np.uint8))
        n_asked = -1 if sizes is None else min(rows.n_points, MOST_ROWS)
        spec = _held_out.sampled_spec(
            rows, setting, sampler, limits, self._seed, n_asked
        )
        numbers = range(n_trees)
        return SettingTrees(shards, spec, numbers, sizes, self.gather_rows, on_level)

    # The local forest calls this while it chooses.
    def _ask_about(
        self, setting: Setting, sizes: NDArray[np.int64], training: TrainingSet
    ) -> HeldOut:
        sampler, n_trees = trial_trees(training.n_points)
        label = f"trying {setting.n_features} features a node"
        visible = self.verbose > 0
        with growth_progress(n_trees, visible=visible, label=label) as (step, on_level):
            size = trial_size(sizes)
            trees = self._trees_of(
                setting, sampler, n_trees, size, on_level, sizes=sizes
            )
            for _ in trees.grown():
                step()
            return trees.predictions()

    def _grow_all(self, facts: TuningFacts) -> None:
        """Grow the trees of the forest, and score them on rows that they hold out."""
        n_trees, visible = self.n_estimators, self.verbose > 0
        self._held_decrease = np.zeros(facts.n_features)
        with growth_progress(n_trees, visible=visible) as (step, on_level):
            size = self.min_samples_split_ - 1
            trees = self._trees_of(
                self._setting(), self._sampler(), n_trees, size, on_level
            )
            self._set_forest(self._add_held_decreases(trees.grown()), facts, step)
        scores = trees.scores()
        first = _held_out.join_predictions([score.first for score in scores])
        counts = any(score.has_halves for score in scores)
        self._set_power(first, facts.as_training_set, counts=counts)
        n_rows = sum(score.n_rows for score in scores)
        self.oob_score_ = float("nan")
        if n_rows:
            self.oob_score_ = sum(score.n_right for score in scores) / n_rows

    def _add_held_decreases(self, trees: Iterator[Arrays]) -> Iterator[Arrays]:
        """Add the decreases on rows that are held out; drop what is not kept."""
        for tree in trees:
            self._held_decrease = self._held_decrease + _core.decrease_by_feature(
                tree["nodes"],
                tree["held_points"],
                tree["held_impurity"].copy(),
                self.n_features_in_,
            )
            yield {k: v for k, v in tree.items() if k not in NOT_KEPT}
