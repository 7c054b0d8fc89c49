# SPDX-License-Identifier: BSD-3-Clause
"""
Importances that do not favour noise
====================================

Impurity importances are usually measured on the rows that chose the splits, and so
favour features of many values, even if these say nothing. The multinomial forest
measures them on its estimation points, which chose no split: a feature that says
nothing has an importance of 0 on average.
"""

# %%
# One feature matters. The others are a coin, a die, and two columns of distinct
# numbers, none of which says anything of the class.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier

from mrforest import MultinomialForestClassifier

rng = np.random.default_rng(0)
n = 600
names = ["matters", "coin", "die", "normal", "uniform"]


def sample():
    X = np.column_stack(
        [
            rng.integers(0, 2, n),
            rng.integers(0, 2, n),
            rng.integers(1, 7, n),
            rng.normal(size=n),
            rng.random(n),
        ]
    )
    return X, (rng.random(n) < np.where(X[:, 0] == 1, 0.65, 0.35)).astype(int)


# %%
# Twelve tables, and three ways to measure on each.

measured = {
    "multinomial, estimation points": [],
    "multinomial, structure points": [],
    "scikit-learn": [],
}
for seed in range(12):
    X, y = sample()
    forest = MultinomialForestClassifier(n_jobs=-1, random_state=seed).fit(X, y)
    peer = RandomForestClassifier(n_jobs=-1, random_state=seed).fit(X, y)
    measured["multinomial, estimation points"].append(forest.feature_importances_)
    measured["multinomial, structure points"].append(forest.structure_importances_)
    measured["scikit-learn"].append(peer.feature_importances_)

figure, panels = plt.subplots(
    1, 3, figsize=(10, 3.8), sharey=True, layout="constrained"
)
for panel, (name, importances) in zip(panels, measured.items(), strict=True):
    panel.boxplot(np.array(importances)[:, ::-1], orientation="horizontal")
    panel.axvline(0, color="0.6", linewidth=0.8)
    panel.set_title(name, fontsize=11)
    panel.set_xlabel("importance")
panels[0].set_yticks(range(1, 6), names[::-1])
plt.show()

# %%
# All are shares of the whole decrease. Ours may be negative, which is how 0 on average
# looks.

means = np.mean(measured["multinomial, estimation points"], axis=0)
for name, mean in zip(names, means, strict=True):
    print(f"{name:8} {mean:+.4f}")
