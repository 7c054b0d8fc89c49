# SPDX-License-Identifier: BSD-3-Clause
"""
Forests side by side
====================

All forests of the package grow on one engine and are used alike, so one can be put in
the place of another. Here six of them learn two half moons; the colour is the
probability of the second class.
"""

# %%

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay

from mrforest import (
    BreimanForestClassifier,
    ComparisonForestClassifier,
    CompletelyRandomForestClassifier,
    ForestClassifier,
    MultinomialForestClassifier,
    PurelyRandomForestClassifier,
)

X, y = make_moons(400, noise=0.3, random_state=0)
X_test, y_test = make_moons(10_000, noise=0.3, random_state=1)

forests = {
    "default": ForestClassifier(random_state=0),
    "Breiman": BreimanForestClassifier(random_state=0),
    "multinomial": MultinomialForestClassifier(voting="soft", random_state=0),
    "comparisons": ComparisonForestClassifier(voting="soft", random_state=0),
    "completely random": CompletelyRandomForestClassifier(random_state=0),
    "purely random": PurelyRandomForestClassifier(random_state=0),
}

# %%
# The default forest, `ForestClassifier`, chooses the size of its leaves by rows that it
# holds out. Honest forests (multinomial, comparisons, completely random) fill their
# leaves with rows that did not shape them. Breiman's uses the same rows for both, which
# shows in the islands around single rows. The purely random forest chooses its cells
# without any data and needs many more rows.

figure, panels = plt.subplots(
    2, 3, figsize=(10, 6.6), sharex=True, sharey=True, layout="constrained"
)
for panel, (name, forest) in zip(panels.flat, forests.items(), strict=True):
    accuracy = 100 * forest.fit(X, y).score(X_test, y_test)
    DecisionBoundaryDisplay.from_estimator(
        forest,
        X,
        response_method="predict_proba",
        plot_method="pcolormesh",
        grid_resolution=150,
        eps=0.3,
        cmap="RdBu",
        vmin=0,
        vmax=1,
        ax=panel,
    )
    panel.scatter(*X.T, c=y, cmap="RdBu", s=8, edgecolor="white", linewidth=0.4)
    panel.set_title(f"{name}: {accuracy:.1f} %")
    panel.set(xticks=[], yticks=[])
plt.show()

# %%
# The accuracies are measured on 10,000 other rows of the same moons.
# :doc:`Which forest should I take? </which-forest>` helps to choose one.
