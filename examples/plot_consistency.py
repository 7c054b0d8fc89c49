# SPDX-License-Identifier: BSD-3-Clause
"""
Consistency: the error tends to the Bayes risk
==============================================

Theorem 1 of the paper says: as the table grows, the error of the multinomial forest
tends to the smallest possible one, if leaves hold at least k points and k grows, more
slowly than the table. Here the smallest possible error is known, and one can watch.
"""

# %%
# `~mrforest.experiments.distributions.DISTRIBUTIONS` has some with a known Bayes risk.
# The error of a fitted forest is computed from the true probabilities at fixed points,
# so there is no noise of labels in it.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier

from mrforest import MultinomialForestClassifier
from mrforest.experiments.distributions import DISTRIBUTIONS

wave = DISTRIBUTIONS["smooth wave"]
points = wave.points(20_000, np.random.default_rng(0))
posterior = wave.posterior(points)
bayes_risk = 1 - posterior.max(axis=1).mean()


def error(forest, n, seed):
    X, y = wave.sample(n, np.random.default_rng(seed))
    labels = forest.fit(X, y).predict(points)
    return 1 - posterior[np.arange(len(points)), labels].mean()


# %%
# The theorem covers the first forest: a ``min_samples_leaf`` that grows like the square
# root of n. It covers neither the second, with the default ``min_samples_split``, nor
# scikit-learn's forest, whose leaves hold a single row.


def forests(n):
    common = {"n_estimators": 41, "n_jobs": -1, "random_state": 0}
    return {
        "multinomial, k = √n / 2": MultinomialForestClassifier(
            min_samples_leaf=int(np.sqrt(n) / 2), **common
        ),
        "multinomial, k = 5": MultinomialForestClassifier(**common),
        "scikit-learn's defaults": RandomForestClassifier(**common),
    }


sizes = [100, 300, 1_000, 3_000, 10_000, 30_000]
errors = {
    (name, n): [error(forest, n, seed) for seed in range(2)]
    for n in sizes
    for name, forest in forests(n).items()
}

# %%
# Each point is the mean of two tables.

figure, axes = plt.subplots(figsize=(7, 4.4), layout="constrained")
for name in forests(100):
    means = [np.mean(errors[name, n]) for n in sizes]
    axes.plot(sizes, means, marker="o", label=name)
axes.axhline(bayes_risk, color="black", linestyle="--", label="Bayes risk")
axes.set(xscale="log", xlabel="rows", ylabel="error")
axes.legend()
plt.show()

# %%
# What a finite table shows is no proof, and no refutation either. The experiment goes
# on to a million rows in ``mrforest reproduce consistency``.
