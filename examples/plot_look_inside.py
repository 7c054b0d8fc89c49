# SPDX-License-Identifier: BSD-3-Clause
"""
A look inside
=============

`mrforest.inspection` shows what a forest has learned: trees in words and pictures, how
many points leaves hold, which features matter, how good single trees are. Its functions
return a figure that can be saved or changed.
"""

# %%
# A multinomial forest of the breast-cancer data.

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from mrforest import MultinomialForestClassifier
from mrforest.inspection import (
    export_text,
    plot_importances,
    plot_leaves,
    plot_tree,
    plot_tree_scores,
)

X, y = load_breast_cancer(as_frame=True, return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
forest = MultinomialForestClassifier(n_jobs=-1, random_state=0).fit(X_train, y_train)

# %%
# The first tree in words. A leaf tells its class, and the share that the class has of
# its estimation points.

print(export_text(forest, tree=0, max_depth=2))

# %%
# The same as a picture. Frames of nodes that are split further down are dashed.

figure = plot_tree(forest, tree=0)

# %%
# By default nodes of fewer than 6 estimation points are not split. Smaller leaves are
# normal.

leaves = plot_leaves(forest)

# %%
# What the score loses if one column of the test rows is shuffled.

importances = plot_importances(forest, X_test, y_test)

# %%
# Trees by themselves, beside the forest.

scores = plot_tree_scores(forest, X_test, y_test)
