# SPDX-License-Identifier: BSD-3-Clause
"""Split rules written in Python, and the forests that grow by them."""

from __future__ import annotations

import contextlib
import operator
import warnings
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Annotated, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mrforest import _core
from mrforest._sklearn import HasMethods
from mrforest.data.training import TrainingSet
from mrforest.forests import parameters as p
from mrforest.forests.declaration import Doc, estimator
from mrforest.forests.growing import Grower
from mrforest.forests.mixins import (
    BaseForestClassifier,
    BaseForestRegressor,
    HonestForest,
)
from mrforest.forests.sampling import AllPoints, Bootstrap, Sampler


@dataclass(frozen=True)
class Node:
    """A node that is about to be split.

    Attributes
    ----------
    depth : int
        0 for the root.
    n_structure, n_estimation : int
        Points that shape, and points that fill; the same if they are the same points.
    class_weights : ndarray of shape (n_classes,), dtype=float64, or None
        Weight of the structure points of each class, in the order of ``classes_``:
        their number, unless there are sample or class weights. Weights that are not
        whole numbers are scaled by a power of two. None in a regression.

    Examples
    --------
    >>> import numpy as np
    >>> from mrforest.rules import Node
    >>> node = Node(0, 50, 50, class_weights=np.array([30.0, 20.0]))
    >>> float(node.class_weights.max() / node.n_structure)  # of the largest class
    0.6
    """

    depth: int
    n_structure: int
    n_estimation: int
    class_weights: NDArray[np.float64] | None


@dataclass(frozen=True)
class Candidates:
    """All cuts that a node could make, feature by feature, values ascending.

    The arrays belong to the rule; it may write into them.

    Attributes
    ----------
    feature : ndarray of shape (n_candidates,), dtype=int64
        Column of each cut.
    threshold : ndarray of shape (n_candidates,), dtype=float64
        Values up to it go left; of an equality cut, the code of the category that goes
        left. ``inf``: missing values go right, all others left.
    is_equality : ndarray of shape (n_candidates,), dtype=bool
    missing_left : ndarray of shape (n_candidates,), dtype=bool
        Where missing values go.
    decrease : ndarray of shape (n_candidates,), dtype=float64
        By how much the cut decreases the impurity (or the variance of the target) of
        the structure points of the node, 0 or more.

    Examples
    --------
    >>> import numpy as np
    >>> from mrforest.rules import Candidates
    >>> candidates = Candidates(
    ...     feature=np.array([0, 0, 2]),
    ...     threshold=np.array([0.5, 1.5, 7.0]),
    ...     is_equality=np.zeros(3, dtype=bool),
    ...     missing_left=np.zeros(3, dtype=bool),
    ...     decrease=np.array([0.1, 0.3, 0.2]),
    ... )
    >>> len(candidates), candidates.of(0).tolist(), int(candidates.best_of(0))
    (3, [0, 1], 1)
    """

    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    is_equality: NDArray[np.bool_]
    missing_left: NDArray[np.bool_]
    decrease: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.feature)

    def of(self, feature: int) -> NDArray[np.int64]:
        """Return the numbers (indices) of the candidates of one feature."""
        return np.flatnonzero(self.feature == feature)

    def best_of(self, feature: int) -> int:
        """Return the number of the best candidate of a feature, the first if equal."""
        numbers = self.of(feature)
        if len(numbers) == 0:
            raise ValueError(
                f"feature {feature!r} has no candidate at this node; those that have "
                f"one are {np.unique(self.feature).tolist()}"
            )
        return int(numbers[self.decrease[numbers].argmax()])


class PythonSplitRule(Protocol):
    """What a rule in Python must have. It needs no base class.

    Examples
    --------
    >>> from mrforest.rules import PythonSplitRule
    >>> class Best:
    ...     def choose(self, node, candidates, rng):
    ...         return candidates.decrease.argmax()
    >>> rule: PythonSplitRule = Best()
    """

    def choose(
        self, node: Node, candidates: Candidates, rng: np.random.Generator
    ) -> int | None:
        """Choose a cut.

        Parameters
        ----------
        node : Node
        candidates : Candidates
            At least one.
        rng : numpy.random.Generator
            Belongs to the node: a rule that draws from nothing else gives the same
            forest for any number of threads.

        Returns
        -------
        int or None
            Number of a candidate; None leaves the node a leaf.
        """


@dataclass(frozen=True)
class RuleCaller:
    """Calls a rule with the arguments that its author sees."""

    rule: PythonSplitRule
    mass_unit: float
    target_unit: float | None  # in a regression

    def __call__(
        self,
        *,
        candidates: dict[str, NDArray[Any]],
        totals: NDArray[np.float64],
        depth: int,
        n_structure: int,
        n_estimation: int,
        key: tuple[int, int],
        path: int,
    ) -> int | None:
        """Return the number of the candidate that the rule chooses, or None."""
        weights = totals * self.mass_unit if self.target_unit is None else None
        if self.target_unit is not None:
            candidates["decrease"] *= self.target_unit * self.target_unit
        rng = np.random.Generator(
            np.random.Philox(
                key=np.array(key, dtype=np.uint64),
                counter=np.array([0, path, _core.SPLIT_PURPOSE, 0], dtype=np.uint64),
            )
        )
        name = f"{type(self.rule).__name__}.choose"
        try:
            chosen = self.rule.choose(
                Node(depth, n_structure, n_estimation, weights),
                Candidates(**candidates),
                rng,
            )
        except StopIteration as error:
            # joblib would take it for the end of its own loop.
            raise RuntimeError(f"{name} raised StopIteration") from error
        except Exception as error:
            error.add_note(
                f"{name} was asked at a node of depth {depth} with {n_structure} "
                f"points and {len(candidates['feature'])} candidates"
            )
            raise
        if chosen is None:
            return None
        n = len(candidates["feature"])
        number = -1
        if not isinstance(chosen, (bool, np.bool_)):
            with contextlib.suppress(TypeError):
                number = operator.index(chosen)
        if not 0 <= number < n:
            raise ValueError(
                f"{name} returned {chosen!r}; it must return the number of a "
                f"candidate, 0 to {n - 1}, or None for a leaf"
            )
        return number


class RuleForest(HonestForest):
    """What both forests share."""

    def _rule(self, n_features: int) -> _core.SplitRule:
        rule: _core.SplitRule = self.rule
        return rule

    def _grower(self, training: TrainingSet) -> Grower:
        if isinstance(self.rule, type):
            name = self.rule.__name__
            raise ValueError(f"rule must be an object, not the class {name}: {name}()")
        if isinstance(self.rule, _core.SplitRule):
            return super()._grower(training)
        unit = None if training.scale is None else training.scale.unit
        caller = RuleCaller(self.rule, training.mass_unit, unit)
        return partial(_core.grow_tree, rule=_core.PythonRule(caller))

    def _unused(self) -> Iterator[tuple[str, str]]:
        if not self.honest:
            yield "honest_fraction", "honest=False"

    def _sampler(self) -> Sampler:
        if self.honest and self.bootstrap:
            raise ValueError(
                "bootstrap=True with honest=True: in a bootstrap sample the same rows "
                "shape and fill a tree; give honest=False, or bootstrap=False"
            )
        if self.honest:
            return super()._sampler()
        return Bootstrap() if self.bootstrap else AllPoints()

    def _finish(
        self, X: NDArray[np.float64], y: NDArray[Any], digest: bytes | None
    ) -> None:
        points = y[self._batches[-1].origin]
        if self.n_leaves_.max() == 1 and (points != points[0]).any():
            warnings.warn(
                f"every tree is a single leaf: {type(self.rule).__name__}.choose "
                "returned None at every root, or its cuts left a side without "
                "estimation points",
                UserWarning,
                stacklevel=5,
            )


Rule = Annotated[
    "PythonSplitRule | _core.SplitRule",
    HasMethods("choose"),
    _core.SplitRule,
    Doc("""object with a method ``choose(node, candidates, rng)``, or compiled rule
        The split rule, see `PythonSplitRule`."""),
]

Honest = Annotated[
    "bool",
    "boolean",
    Doc("""bool
        Whether one part of the rows shapes a tree and the other fills its leaves; else
        all rows, or those of a bootstrap sample, do both."""),
]

UsesBootstrap = Annotated[
    "bool",
    "boolean",
    Doc("""bool
        Whether a bootstrap sample of the rows shapes and fills a tree. It needs
        ``honest=False``."""),
]


@estimator
class RuleForestClassifier(RuleForest, BaseForestClassifier):
    """A forest that grows by a split rule of your own.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {classes_}
    {n_features_in_}
    {estimators_}
    {importances_}

    Examples
    --------
    >>> class Best:
    ...     def choose(self, node, candidates, rng):
    ...         return candidates.decrease.argmax()
    >>> from sklearn.datasets import load_iris
    >>> from mrforest.rules import RuleForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RuleForestClassifier(Best(), n_estimators=10, random_state=0)
    >>> forest.fit(X, y).score(X, y) > 0.9
    True
    """

    rule: Rule
    _: KW_ONLY
    n_estimators: p.NEstimators = 100
    honest: Honest = True
    honest_fraction: p.OptionalHonestFraction = 0.5
    bootstrap: UsesBootstrap = False
    min_samples_split: p.MinSamplesSplit = None
    min_samples_leaf: p.MinSamplesLeaf = None
    min_weight_fraction_leaf: p.MinWeightFractionLeaf = 0.0
    criterion: p.Criterion = "gini"
    max_depth: p.MaxDepth = None
    max_bins: p.MaxBins = 255
    categorical_features: p.CategoricalFeatures = "from_dtype"
    voting: p.Voting = "hard"
    class_weight: p.ClassWeight = None
    warm_start: p.WarmStart = False
    n_jobs: p.NJobs = None
    random_state: p.RandomState = None
    verbose: p.Verbose = 0


@estimator
class RuleForestRegressor(RuleForest, BaseForestRegressor):
    """A forest for a number that grows by a split rule of your own.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {n_features_in_}
    {estimators_}
    {importances_}

    Examples
    --------
    >>> class Best:
    ...     def choose(self, node, candidates, rng):
    ...         return candidates.decrease.argmax()
    >>> from sklearn.datasets import load_diabetes
    >>> from mrforest.rules import RuleForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = RuleForestRegressor(Best(), n_estimators=5, random_state=0)
    >>> forest.fit(X, y).score(X, y) > 0.4
    True
    """

    rule: Rule
    _: KW_ONLY
    n_estimators: p.NEstimators = 100
    honest: Honest = True
    honest_fraction: p.OptionalHonestFraction = 0.5
    bootstrap: UsesBootstrap = False
    min_samples_split: p.MinSamplesSplit = None
    min_samples_leaf: p.ValueMinSamplesLeaf = None
    min_weight_fraction_leaf: p.MinWeightFractionLeaf = 0.0
    max_depth: p.MaxDepth = None
    max_bins: p.MaxBins = 255
    categorical_features: p.CategoricalFeatures = "from_dtype"
    warm_start: p.WarmStart = False
    n_jobs: p.NJobs = None
    random_state: p.RandomState = None
    verbose: p.Verbose = 0
