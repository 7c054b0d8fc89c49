# SPDX-License-Identifier: BSD-3-Clause
"""
A split rule of your own
========================

Any object with a method ``choose(node, candidates, rng)`` is a split rule, and
`~mrforest.rules.RuleForestClassifier` grows a forest by it. Here features have a price,
as medical tests have: the rule takes the cut that is worth most after its price is
paid.
"""

# %%
# ``candidates`` holds every cut of the node. The answer is the number of one of them,
# or None to leave the node a leaf.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_validate

from mrforest.rules import RuleForestClassifier


class Thrifty:
    """The best cut after its price, among three features drawn at random."""

    def __init__(self, prices, weight):
        self.prices = prices
        self.weight = weight

    def choose(self, node, candidates, rng):
        offered = rng.permutation(np.unique(candidates.feature))[:3]
        value = candidates.decrease - self.weight * self.prices[candidates.feature]
        value[~np.isin(candidates.feature, offered)] = -np.inf
        return value.argmax()


# %%
# Made prices: means are cheap, standard errors and worst values need a second look.

X, y = load_breast_cancer(return_X_y=True)
prices = np.repeat([1.0, 5.0, 10.0], 10)
weights = [0, 0.003, 0.01, 0.1]
accuracy, paid = [], []
for weight in weights:
    forest = RuleForestClassifier(
        Thrifty(prices, weight), n_estimators=50, random_state=0
    )
    folds = cross_validate(forest, X, y, cv=5, return_estimator=True)
    accuracy.append(100 * folds["test_score"].mean())
    trees = [tree for fitted in folds["estimator"] for tree in fitted.estimators_]
    features = np.concatenate([tree.feature for tree in trees])
    paid.append(prices[features[features >= 0]].mean())  # a leaf has no feature

# %%
# The more a price weighs, the cheaper are the features that trees ask for.

figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
axes.plot(paid, accuracy, marker="o")
for x, height, weight in zip(paid, accuracy, weights, strict=True):
    axes.annotate(f"weight {weight:g}", (x, height), (5, 5), textcoords="offset points")
axes.set(xlabel="mean price of a split", ylabel="accuracy (%)")
axes.margins(x=0.15, y=0.15)
plt.show()

# %%
# The engine still counts, scores, stops and fills the leaves; the rule costs one call
# of Python a node. A rule that has proved itself :doc:`can be compiled </rules>`.
