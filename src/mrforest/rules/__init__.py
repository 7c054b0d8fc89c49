# SPDX-License-Identifier: BSD-3-Clause
"""Split rules of your own, written in Python.

A forest of this package differs from another by its *split rule*: what a node does with
the cuts it could make. Any object with a method ``choose(node, candidates, rng)`` is a
split rule; `RuleForestClassifier` and `RuleForestRegressor` grow a forest by it. The
engine still does the counting, scoring, partitioning and stopping, so a rule is a few
lines. It costs a call of Python at every node; ``docs/rules.md`` shows how a rule
becomes one compiled file.

>>> import numpy as np
>>> class TopThree:
...     '''The best cut of one of the three best features.'''
...
...     def choose(self, node, candidates, rng):
...         features = np.unique(candidates.feature)
...         best = [candidates.best_of(feature) for feature in features]
...         order = np.argsort(-candidates.decrease[best], kind="stable")[:3]
...         return best[order[int(rng.random() * len(order))]]
>>> from sklearn.datasets import load_iris
>>> from mrforest.rules import RuleForestClassifier
>>> X, y = load_iris(return_X_y=True)
>>> forest = RuleForestClassifier(TopThree(), n_estimators=10, random_state=0)
>>> forest.fit(X, y).score(X, y) > 0.9
True
"""

from mrforest.forests.rule import (
    Candidates,
    Node,
    PythonSplitRule,
    RuleForestClassifier,
    RuleForestRegressor,
)

__all__ = [
    "Candidates",
    "Node",
    "PythonSplitRule",
    "RuleForestClassifier",
    "RuleForestRegressor",
]
