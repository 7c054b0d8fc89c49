# SPDX-License-Identifier: BSD-3-Clause
"""
A private forest, and what it costs
===================================

`~mrforest.PrivateForestClassifier` promises that with any one row more or less, no
outcome of a fit is more than exp(ε) times likelier. A small ε is a strong promise and
costs accuracy. The ledger lists what was told of the rows, and what each part cost.
"""

# %%
# What is public must be said beforehand: the smallest and largest value of each column,
# and the classes. Nothing is read from the rows that is not paid for.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from mrforest import MultinomialForestClassifier, PrivateForestClassifier

X, y = make_classification(
    n_samples=8_000, n_features=8, n_informative=4, flip_y=0.05, random_state=0
)
X = np.clip(X, -4, 4)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
public = {"bounds": (-4.0, 4.0), "classes": [0, 1]}

# %%
# The first two blocks hold splits; the last one draws splits and labels together.

forest = PrivateForestClassifier(epsilon=1.0, **public).fit(X_train, y_train)
print(forest.ledger_)

# %%
# The noise comes from the operating system and differs from fit to fit. A
# ``random_state`` would make it known, and the forest would say that it is not private
# any more. So there are ten fits for each ε, and figures of this page vary a little.

epsilons = [0.03, 0.1, 0.3, 1, 3, 10]
accuracy = np.array(
    [
        [
            PrivateForestClassifier(epsilon, **public)
            .fit(X_train, y_train)
            .score(X_test, y_test)
            for _ in range(10)
        ]
        for epsilon in epsilons
    ]
)
open_forest = MultinomialForestClassifier(n_jobs=-1, random_state=0)
not_private = open_forest.fit(X_train, y_train).score(X_test, y_test)
commonest = max(np.mean(y_test), 1 - np.mean(y_test))

# %%
# One private tree does not reach a forest of a hundred that may look at everything.

figure, axes = plt.subplots(figsize=(7, 4.4), layout="constrained")
axes.plot(epsilons, 100 * accuracy, color="C0", marker=".", linestyle="", alpha=0.5)
axes.plot(epsilons, 100 * accuracy.mean(axis=1), color="C0", label="private forest")
axes.axhline(100 * not_private, color="C1", label="multinomial forest, not private")
axes.axhline(100 * commonest, color="0.5", linestyle="--", label="most frequent class")
axes.set(xscale="log", xlabel="ε of the fit", ylabel="accuracy (%)")
axes.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
axes.minorticks_off()
axes.legend()
plt.show()
