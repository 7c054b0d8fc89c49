# SPDX-License-Identifier: BSD-3-Clause
"""The forests of accuracy.py, with their default settings and 100 trees."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import peers_forests

WORKER = Path(__file__).with_name("accuracy_worker.py")
ENVIRONMENT = "forests"  # that of peers.py: all are in one process
N_TREES = 100
OURS, BASE = "forest", "random-forest"

# As tables and figures show them, here and in peers.py
FORESTS = {
    name: peers_forests.FORESTS[name]
    for name in (OURS, "breiman", "mrf", BASE, "extra-trees", "intelex", "fastforest")
}


@dataclass(frozen=True)
class Estimator:
    """How a worker makes a forest.

    Attributes
    ----------
    package : str
        Whose version counts.
    classifier, regressor : str
        Module and class; empty: there is none.
    trees, seed, threads : str
        Names of parameters; empty: there is none.
    for_probabilities : dict
        Parameters to set before probabilities are asked for.
    """

    package: str
    classifier: str = ""
    regressor: str = ""
    trees: str = "n_estimators"
    seed: str = "random_state"
    threads: str = "n_jobs"
    for_probabilities: dict[str, Any] = field(default_factory=dict)

    def task(self, is_regression: bool, seed: int, n_jobs: int) -> dict[str, Any]:
        """Return what a worker has to know."""
        options = {self.trees: N_TREES, self.seed: seed, self.threads: n_jobs}
        options.pop("", None)
        return {
            "package": self.package,
            "estimator": self.regressor if is_regression else self.classifier,
            "options": options,
            "for_probabilities": None if is_regression else self.for_probabilities,
        }


ESTIMATORS = {
    OURS: Estimator(
        "mrforest", "mrforest:ForestClassifier", "mrforest:ForestRegressor"
    ),
    "breiman": Estimator(
        "mrforest",
        "mrforest:BreimanForestClassifier",
        "mrforest:BreimanForestRegressor",
    ),
    # By default its trees vote, as in the paper, and shares of votes are no estimates
    # of probabilities. So it is asked for labels as it is, and for probabilities with
    # the class shares of its leaves. Its trees do not depend on that.
    "mrf": Estimator(
        "mrforest",
        "mrforest:MultinomialForestClassifier",
        for_probabilities={"voting": "soft"},
    ),
    BASE: Estimator(
        "scikit-learn",
        "sklearn.ensemble:RandomForestClassifier",
        "sklearn.ensemble:RandomForestRegressor",
    ),
    "extra-trees": Estimator(
        "scikit-learn",
        "sklearn.ensemble:ExtraTreesClassifier",
        "sklearn.ensemble:ExtraTreesRegressor",
    ),
    "intelex": Estimator(
        "scikit-learn-intelex", "sklearnex.ensemble:RandomForestClassifier"
    ),
    "fastforest": Estimator(
        "fastforest",
        "fastforest:FastForestClassifier",
        "fastforest:FastForest",
        trees="n_trees",
        seed="seed",
        threads="",
    ),
}
