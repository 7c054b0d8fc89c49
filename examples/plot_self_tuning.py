# SPDX-License-Identifier: BSD-3-Clause
"""
A forest that tunes itself
==========================

`ForestClassifier` chooses its own parameters while it is fitted. Some rows are held out
of each tree, and what the tree says about them tells how good a setting is. No search
around the forest is needed. Here it reads handwritten digits, beside scikit-learn's
forest; both have the defaults of their package.
"""

# %%
# Half of the digits are for training.

import matplotlib.pyplot as plt
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import train_test_split

from mrforest import ForestClassifier
from mrforest.inspection import plot_tuning

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, stratify=y, random_state=0
)
forest = ForestClassifier(n_jobs=2, random_state=0).fit(X_train, y_train)
other = RandomForestClassifier(n_jobs=2, random_state=0).fit(X_train, y_train)

# %%
# Each line is a setting that was tried. Circles mark the best leaf size of each. Then
# probabilities are sharpened, and the setting of the lowest diamond is chosen.

tuning = plot_tuning(forest)

# %%
# The average of many trees is drawn to the middle: it is seldom as sure as it could be.
# So the forest raises probabilities to a power, which the held-out rows tell, too.
# Without ``calibrate`` they are left as they are.

print(f"power {forest.power_:.1f}, out-of-bag accuracy {forest.oob_score_:.3f}")
plain = ForestClassifier(calibrate=False, n_jobs=2, random_state=0)
told = {
    "ForestClassifier": forest.predict_proba(X_test),
    "without sharpening": plain.fit(X_train, y_train).predict_proba(X_test),
    "RandomForestClassifier": other.predict_proba(X_test),
}
for name, shares in told.items():
    accuracy = accuracy_score(y_test, shares.argmax(axis=1))
    print(f"{name:23} accuracy {accuracy:.3f}, log loss {log_loss(y_test, shares):.3f}")

# %%
# Take all images and all ten digits together. Where a forest gives a digit some
# probability, how often is it this digit? On the dashed line probabilities mean what
# they say. Without sharpening, and in scikit-learn's forest, 60 % is nearly certain.

figure, axes = plt.subplots(figsize=(5.6, 4.6), layout="constrained")
axes.plot([0, 1], [0, 1], color="0.7", linestyle="--")
is_digit = y_test[:, None] == forest.classes_
for name, shares in told.items():
    share, mean = calibration_curve(is_digit.ravel(), shares.ravel(), n_bins=8)
    axes.plot(mean, share, marker="o", markersize=4, label=name)
axes.set(xlabel="probability that is told", ylabel="share of the digit")
axes.legend()
plt.show()

# %%
# The labels of the forests are about equally good; on one split of the rows a few
# tenths of a percent mean nothing. The difference is in the probabilities.
