# SPDX-License-Identifier: BSD-3-Clause
"""
Trees of a forest, one by one
=============================

``estimators_`` holds views of the single trees, which predict by themselves, and
`~mrforest.inspection.tree_scores` scores them one by one. A tree is far less accurate
than the forest it is in. Trees of the multinomial forest are shaped by half of the rows
and have about half the leaves of Breiman's.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from mrforest import BreimanForestClassifier, MultinomialForestClassifier
from mrforest.inspection import tree_scores

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.4, random_state=0, stratify=y
)
forests = {
    "multinomial": MultinomialForestClassifier(300, n_jobs=-1, random_state=0),
    "Breiman": BreimanForestClassifier(300, n_jobs=-1, random_state=0),
}

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for colour, (name, forest) in zip(["C0", "C1"], forests.items(), strict=True):
    forest.fit(X_train, y_train)
    alone = 100 * tree_scores(forest, X_test, y_test)
    together = 100 * forest.score(X_test, y_test)
    left.hist(alone, bins=50, range=(50, 100), color=colour, alpha=0.6, label=name)
    left.axvline(together, color=colour, linestyle="--", label=f"{name}, all together")
    right.scatter(forest.depths_, forest.n_leaves_, s=10, color=colour, label=name)
    print(f"{name:12} mean tree {np.mean(alone):.1f} %, forest {together:.1f} %")
left.set(xlabel="accuracy (%)", ylabel="trees")
left.set_xlim(50, 100)
left.legend(loc="upper left")
right.set(xlabel="depth", ylabel="leaves")
right.legend()
plt.show()

# %%
# Now and then a tree is a single leaf, at depth 0. The cut that its root drew had no
# estimation point on one side, and such a split is refused.

single = np.sum(forests["multinomial"].n_leaves_ == 1)
print(f"single leaves: {single} of 300 trees")
