# SPDX-License-Identifier: BSD-3-Clause
"""
Missing values and categories of a data frame
=============================================

Columns of a categorical dtype are cut by equality, one category against the rest, and a
missing value is sent to the side where it helps. So a data frame goes in as it is,
without an encoder or an imputer. This example takes away more and more values.
"""

# %%
# Made people: income depends on age, job and town.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from mrforest import MultinomialForestClassifier

rng = np.random.default_rng(0)
n = 2_000
jobs = ["baker", "carpenter", "clerk", "driver", "nurse", "teacher"]
people = pd.DataFrame(
    {
        "age": rng.integers(18, 66, n).astype(float),
        "hours": rng.normal(36, 8, n).round(),
        "job": rng.choice(jobs, n),
        "town": rng.choice(["north", "south", "east", "west"], n),
    }
)
score = (
    0.08 * (people["age"] - 40)
    + 0.10 * (people["hours"] - 36)
    + people["job"].isin(["nurse", "teacher"]) * 1.5
    - (people["town"] == "north") * 1.5
)
high_income = score + rng.logistic(size=n) > 0
people = people.astype({"job": "category", "town": "category"})

# %%
# Older people leave out their job more often. So that it is missing says something.


def with_gaps(share):
    table = people.copy()
    for column in table:
        chance = share * np.where(column == "job", people["age"] > 40, 1)
        table.loc[rng.random(n) < chance, column] = None
    return table


print(with_gaps(0.3).head())

# %%
# The pipeline is what scikit-learn's forest needs for categories.

forest = MultinomialForestClassifier(50, n_jobs=-1, random_state=0)
pipeline = make_pipeline(
    make_column_transformer(
        (SimpleImputer(strategy="median"), make_column_selector(dtype_include=float)),
        (
            make_pipeline(
                SimpleImputer(strategy="most_frequent"),
                OneHotEncoder(handle_unknown="ignore"),
            ),
            make_column_selector(dtype_include="category"),
        ),
    ),
    RandomForestClassifier(50, min_samples_leaf=5, n_jobs=-1, random_state=0),
)

# %%
# Both learn from the same tables.

shares = [0.0, 0.1, 0.2, 0.4, 0.6]
figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
tables = [with_gaps(share) for share in shares]
for name, estimator in {
    "multinomial forest, the frame as it is": forest,
    "impute, encode, scikit-learn's forest": pipeline,
}.items():
    accuracy = [
        100 * cross_val_score(estimator, table, high_income, cv=5).mean()
        for table in tables
    ]
    axes.plot([100 * share for share in shares], accuracy, marker="o", label=name)
axes.set(xlabel="values taken away (%)", ylabel="accuracy (%)")
axes.legend()
plt.show()
