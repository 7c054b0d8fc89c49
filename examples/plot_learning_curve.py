# SPDX-License-Identifier: BSD-3-Clause
"""
What halving the rows costs
===========================

An honest tree is shaped by one half of the rows and filled by the other. That is paid
for in accuracy while rows are few, and less as there are more. Forests are ordinary
scikit-learn estimators, so its ``LearningCurveDisplay`` shows it.
"""

# %%

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import LearningCurveDisplay, ShuffleSplit

from mrforest import MultinomialForestClassifier

X, y = load_digits(return_X_y=True)
forests = {
    "multinomial, honest": MultinomialForestClassifier(n_jobs=-1, random_state=0),
    "scikit-learn's forest": RandomForestClassifier(random_state=0),
}

figure, axes = plt.subplots(figsize=(7, 4.6), layout="constrained")
for name, forest in forests.items():
    display = LearningCurveDisplay.from_estimator(
        forest,
        X,
        y,
        train_sizes=[0.05, 0.1, 0.2, 0.5, 1.0],
        cv=ShuffleSplit(4, test_size=0.25, random_state=0),
        score_type="test",
        score_name="accuracy on held-out rows",
        line_kw={"marker": "o"},
        ax=axes,
    )
    display.lines_[0].set_label(name)
axes.set_xlabel("rows")
axes.legend(loc="lower right")
plt.show()
