# SPDX-License-Identifier: BSD-3-Clause
"""
Which cut does a node take?
===========================

A forest is a rule for what a node does with the cuts that it could make. Here three
forests split the same node many times: all rows of the breast-cancer data, three of its
features. Breiman's forest insists on the best cut of the feature it looks at; the
multinomial forest prefers good cuts; the completely random one does not look.
"""

# %%
# `~mrforest.inspection.split_probabilities` lets the forest's own rule split the node,
# again and again.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from mrforest import (
    BreimanForestClassifier,
    CompletelyRandomForestClassifier,
    MultinomialForestClassifier,
)
from mrforest.inspection import split_probabilities

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X[["mean radius", "mean texture", "mean smoothness"]]

forests = {
    "Breiman": BreimanForestClassifier(),
    "multinomial, B1 = B2 = 10": MultinomialForestClassifier(),
    "completely random": CompletelyRandomForestClassifier(),
}
splits = {
    name: split_probabilities(forest, X, y, n_draws=10_000)
    for name, forest in forests.items()
}

# %%
# Along the axis stand all cuts, feature by feature, values ascending. The grey area is
# by how much a cut decreases the impurity; it is the same in all panels.

figure, panels = plt.subplots(3, 1, figsize=(8, 6), sharex=True, layout="constrained")
for panel, (name, found) in zip(panels, splits.items(), strict=True):
    place = np.arange(len(found.feature))
    top = 1.15 * found.probability.max()
    area = found.decrease / found.decrease.max() * top
    panel.fill_between(place, area, color="0.87", step="mid")
    panel.vlines(place, 0, found.probability, color="C0", linewidth=1)
    panel.set(ylim=(0, top), ylabel="probability")
    panel.set_title(name, loc="left")
middles = [np.flatnonzero(found.feature == i).mean() for i in range(3)]
panels[-1].set_xticks(middles, X.columns)
plt.show()

# %%
# The same in numbers: how probable the best cut of all is, and how good a drawn cut is
# on average, as a share of the best.

for name, found in splits.items():
    best = found.decrease.argmax()
    mean = found.probability @ found.decrease / found.decrease[best]
    print(f"{name:26} best cut {found.probability[best]:.3f}, mean {mean:.2f}")

# %%
# `mrforest.inspection.plot_split_probabilities` draws such a figure in one call.
