# SPDX-License-Identifier: BSD-3-Clause
"""Random forests that one can prove things about."""

from mrforest.forests.bernoulli import (
    BernoulliForestClassifier,
    BernoulliForestRegressor,
)
from mrforest.forests.breiman import BreimanForestClassifier, BreimanForestRegressor
from mrforest.forests.cells import (
    CenteredForestClassifier,
    PurelyRandomForestClassifier,
)
from mrforest.forests.comparison import ComparisonForestClassifier
from mrforest.forests.completely_random import CompletelyRandomForestClassifier
from mrforest.forests.data_driven import DataDrivenMultinomialForestClassifier
from mrforest.forests.denil import DenilForestClassifier, DenilForestRegressor
from mrforest.forests.multinomial import (
    MultinomialForestClassifier,
    MultinomialForestRegressor,
)
from mrforest.forests.private import PrivateForestClassifier, PrivateForestRegressor

__all__ = [
    "BernoulliForestClassifier",
    "BernoulliForestRegressor",
    "BreimanForestClassifier",
    "BreimanForestRegressor",
    "CenteredForestClassifier",
    "ComparisonForestClassifier",
    "CompletelyRandomForestClassifier",
    "DataDrivenMultinomialForestClassifier",
    "DenilForestClassifier",
    "DenilForestRegressor",
    "MultinomialForestClassifier",
    "MultinomialForestRegressor",
    "PrivateForestClassifier",
    "PrivateForestRegressor",
    "PurelyRandomForestClassifier",
    "__version__",
]

__version__ = "0.1.0"
