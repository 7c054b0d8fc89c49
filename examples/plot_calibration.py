# SPDX-License-Identifier: BSD-3-Clause
"""
Probabilities of honest leaves
==============================

A leaf of an honest tree tells the class shares of rows that had no say in its shape, so
it is not optimistic. With ``voting="soft"`` a forest averages these shares. The classes
below are simulated, so the true probability of each row is known and the estimates can
be held against it.
"""

# %%
# Two features, and a probability that changes smoothly with both.

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit
from sklearn.calibration import calibration_curve
from sklearn.ensemble import RandomForestClassifier

from mrforest import MultinomialForestClassifier

rng = np.random.default_rng(0)


def true_probability(X):
    return expit(3 * np.sin(2 * np.pi * X[:, 0]) + 6 * X[:, 1] - 3)


def sample(n):
    X = rng.random((n, 2))
    return X, (rng.random(n) < true_probability(X)).astype(int)


X_train, y_train = sample(3_000)
X_test, y_test = sample(20_000)

# %%
# Both forests have the defaults of their package, but for the vote.

forests = {
    "multinomial, soft vote": MultinomialForestClassifier(
        voting="soft", n_jobs=-1, random_state=0
    ),
    "multinomial, hard vote": MultinomialForestClassifier(n_jobs=-1, random_state=0),
    "scikit-learn's forest": RandomForestClassifier(n_jobs=-1, random_state=0),
}
truth = true_probability(X_test)
told = {}
for name, forest in forests.items():
    told[name] = forest.fit(X_train, y_train).predict_proba(X_test)[:, 1]
    error = np.sqrt(np.mean((told[name] - truth) ** 2))
    print(f"{name:24} root mean squared error of a probability {error:.3f}")

# %%
# Left: of the rows that are told a probability, what share is of the class? Right: how
# far are estimates from the truth? Hard votes are shares of trees, not of rows: they
# are good for labels and too sure as probabilities.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
left.plot([0, 1], [0, 1], color="0.7", linestyle="--")
for name, probabilities in told.items():
    share, mean = calibration_curve(
        y_test, probabilities, n_bins=12, strategy="quantile"
    )
    left.plot(mean, share, marker="o", markersize=4, label=name)
    right.hist(
        probabilities - truth, bins=80, range=(-0.6, 0.6), histtype="step", label=name
    )
left.set(xlabel="probability that is told", ylabel="share of the class")
left.legend()
right.set(xlabel="told less true probability", ylabel="rows", yticks=[])
plt.show()

# %%
# This is one distribution, with a good deal of noise. Honest leaves do not make an
# average over trees calibrated: it is drawn to the middle, a little here, more where
# labels are nearly certain. Where probabilities matter, put scikit-learn's
# ``CalibratedClassifierCV`` around a forest.
