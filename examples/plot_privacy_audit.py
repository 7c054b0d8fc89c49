# SPDX-License-Identifier: BSD-3-Clause
"""
An audit of privacy
===================

Can an attacker tell who was in the training table?
`~mrforest.privacy.audit.membership` fits an estimator many times, each time on a random
half of some rows, and guesses from every fit which rows were in it. An attack can
refute a promise of privacy; it cannot prove one.
"""

# %%
# Three labels in ten are drawn at random: whoever knows one has seen it. scikit-learn's
# forest and the multinomial forest promise nothing; they are held against an ε of 0.5
# all the same. The private forests promise an ε, and with it an upper bound on what any
# attack can reach.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from mrforest import MultinomialForestClassifier, PrivateForestClassifier
from mrforest.privacy import audit

X, y = make_classification(
    n_samples=300,
    n_features=6,
    n_informative=3,
    n_redundant=0,
    flip_y=0.3,
    random_state=0,
)
X = np.clip(X, -4, 4)
public = {"bounds": (-4.0, 4.0), "classes": [0, 1]}
attacked = {
    "scikit-learn": (RandomForestClassifier(10), 0.5),
    "multinomial": (MultinomialForestClassifier(10), 0.5),
} | {
    f"private, ε = {epsilon:g}": (PrivateForestClassifier(epsilon, **public), epsilon)
    for epsilon in (0.5, 1.0, 2.0)
}
found = {
    name: audit.membership(estimator, X, y, epsilon=epsilon, runs=100)
    for name, (estimator, epsilon) in attacked.items()
}
print(found["scikit-learn"])
print(found["private, ε = 1"])

# %%
# The *advantage* is the share of members that are called members, less the share of
# others that are: 0 is guessing, 1 is knowing. Bars have their 95 % intervals.

figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
for place, (name, result) in enumerate(found.items()):
    errors = [
        [max(result.advantage - result.low, 0)],
        [max(result.high - result.advantage, 0)],
    ]
    axes.bar(place, result.advantage, yerr=errors, capsize=4, color="C0", width=0.6)
    if name.startswith("private"):
        axes.hlines(result.bound, place - 0.4, place + 0.4, color="C3", linewidth=2)
axes.hlines([], 0, 0, color="C3", linewidth=2, label="the most that ε allows")
axes.set_xticks(range(len(found)), found, rotation=15)
axes.axhline(0, color="black", linewidth=0.8)
axes.set(ylabel="advantage of the attacker", ylim=(-0.1, 1.05))
axes.legend()
plt.show()

# %%
# For a private forest there is more: the *exact* loss of each row, the logarithm of how
# much likelier this very forest is with the row than without it. None may exceed ε.

forest = PrivateForestClassifier(epsilon=1.0, **public).fit(X, y)
print(audit.exact(forest, X, y, rows=range(50)))
