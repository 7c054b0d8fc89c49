# SPDX-License-Identifier: BSD-3-Clause
"""Random forests that one can prove things about."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mrforest.files import load, save
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
    from mrforest.forests.forest import ForestClassifier, ForestRegressor
    from mrforest.forests.multinomial import (
        MultinomialForestClassifier,
        MultinomialForestRegressor,
    )
    from mrforest.forests.private import PrivateForestClassifier, PrivateForestRegressor
    from mrforest.forests.rule import RuleForestClassifier, RuleForestRegressor

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
    "ForestClassifier",
    "ForestRegressor",
    "MultinomialForestClassifier",
    "MultinomialForestRegressor",
    "PrivateForestClassifier",
    "PrivateForestRegressor",
    "PurelyRandomForestClassifier",
    "RuleForestClassifier",
    "RuleForestRegressor",
    "__version__",
    "load",
    "save",
]

__version__ = "0.1.0"

# Imported when they are asked for: who wants one forest need not wait for the others.
_HOMES = {
    "bernoulli": ("BernoulliForestClassifier", "BernoulliForestRegressor"),
    "breiman": ("BreimanForestClassifier", "BreimanForestRegressor"),
    "cells": ("CenteredForestClassifier", "PurelyRandomForestClassifier"),
    "comparison": ("ComparisonForestClassifier",),
    "completely_random": ("CompletelyRandomForestClassifier",),
    "data_driven": ("DataDrivenMultinomialForestClassifier",),
    "denil": ("DenilForestClassifier", "DenilForestRegressor"),
    "forest": ("ForestClassifier", "ForestRegressor"),
    "multinomial": ("MultinomialForestClassifier", "MultinomialForestRegressor"),
    "private": ("PrivateForestClassifier", "PrivateForestRegressor"),
    "rule": ("RuleForestClassifier", "RuleForestRegressor"),
}
_HOME_OF = {
    name: f"forests.{home}" for home, names in _HOMES.items() for name in names
} | {"load": "files", "save": "files"}
_PACKAGES = ("dask", "files", "forests", "inspection", "interop", "privacy", "rules")


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"mrforest.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'mrforest' has no attribute {name!r}")
    home = import_module(f"mrforest.{_HOME_OF[name]}")
    globals()[name] = getattr(home, name)
    return globals()[name]


def __dir__() -> list[str]:
    return [*__all__, *_PACKAGES]
