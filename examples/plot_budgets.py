# SPDX-License-Identifier: BSD-3-Clause
"""
Budgets: from random to greedy
==============================

At every node the multinomial forest *draws* a feature and then a cut. Two budgets say
how much the draws care about quality: with 0 all candidates are equally likely, with
``inf`` the best one is taken. This example cross-validates a grid of both.
"""

# %%
# Rows with four features that say something of the class, and sixteen that do not.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import cross_val_score

from mrforest import MultinomialForestClassifier

X, y = make_classification(
    n_samples=1_000,
    n_features=20,
    n_informative=4,
    n_redundant=0,
    flip_y=0.1,
    random_state=0,
)

# %%
# ``feature_budget`` is B1 of the paper, ``split_budget`` is B2.

budgets = [0, 2, 5, 10, 20, np.inf]
accuracy = np.empty((len(budgets), len(budgets)))
for i, feature_budget in enumerate(budgets):
    for j, split_budget in enumerate(budgets):
        forest = MultinomialForestClassifier(
            n_estimators=50,
            feature_budget=feature_budget,
            split_budget=split_budget,
            n_jobs=-1,
            random_state=0,
        )
        accuracy[i, j] = 100 * cross_val_score(forest, X, y, cv=5).mean()

# %%
# A feature that says nothing costs a level of the tree, whatever its cut. So it is B1
# that matters here, and from 10 on, the default, little is left to gain.

figure, axes = plt.subplots(figsize=(6, 4.6), layout="constrained")
image = axes.imshow(accuracy, origin="lower", cmap="viridis")
middle = (accuracy.min() + accuracy.max()) / 2
for (i, j), value in np.ndenumerate(accuracy):
    colour = "white" if value < middle else "black"
    axes.text(j, i, f"{value:.1f}", ha="center", va="center", color=colour)
names = [f"{budget:g}" for budget in budgets]
axes.set_xticks(range(len(budgets)), names)
axes.set_yticks(range(len(budgets)), names)
axes.set(xlabel="split_budget (B2)", ylabel="feature_budget (B1)")
axes.set_title("accuracy (%) by five-fold cross-validation")
figure.colorbar(image, shrink=0.9)
plt.show()
