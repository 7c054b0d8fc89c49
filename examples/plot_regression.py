# SPDX-License-Identifier: BSD-3-Clause
"""
Regression, and what a leaf size does
=====================================

Four forests have a regressor. In the honest ones a leaf tells the mean of points that
did not shape it. Small leaves follow the rows and their noise, large ones smooth.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np

from mrforest import MultinomialForestRegressor

rng = np.random.default_rng(0)


def curve(x):
    return np.sin(2 * np.pi * x) + 0.5 * (x > 0.6)


x = rng.random(600)
y = curve(x) + rng.normal(scale=0.3, size=600)
grid = np.linspace(0, 1, 500)

# %%
# No leaf has fewer than ``min_samples_leaf`` estimation points. The error is the root
# of the mean squared distance from the true curve.

figure, panels = plt.subplots(
    1, 3, figsize=(10, 3.6), sharey=True, layout="constrained"
)
for panel, size in zip(panels, [1, 10, 60], strict=True):
    forest = MultinomialForestRegressor(
        min_samples_leaf=size, n_jobs=-1, random_state=0
    )
    told = forest.fit(x[:, None], y).predict(grid[:, None])
    error = np.sqrt(np.mean((told - curve(grid)) ** 2))
    panel.plot(x, y, ".", color="0.8", markersize=3)
    panel.plot(grid, curve(grid), color="black", linewidth=1, label="true curve")
    panel.plot(grid, told, color="C0", label="forest")
    panel.set_title(f"min_samples_leaf={size}: error {error:.2f}", fontsize=11)
    panel.set_xlabel("x")
panels[0].set_ylabel("y")
panels[0].legend(loc="lower left")
plt.show()
