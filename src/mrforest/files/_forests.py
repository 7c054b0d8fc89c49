# SPDX-License-Identifier: BSD-3-Clause
"""Estimators as a text and arrays, and back."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

import mrforest
from mrforest.data.table import Schema
from mrforest.files._check import OF_KIND, check_packed
from mrforest.files._container import Arrays, ForestFileError
from mrforest.files._values import Reader, Writer
from mrforest.forests.base import Batch
from mrforest.forests.sampling import (
    AllPoints,
    Bootstrap,
    HeldOutGroups,
    Partition,
)
from mrforest.forests.tuning import Trial
from mrforest.model.leaves import ClassForest
from mrforest.model.pivots import ByMatrix, ByMetric, ByVectors
from mrforest.privacy.grid import Numeric
from mrforest.privacy.ledger import Ledger
from mrforest.privacy.plan import Block, Plan
from mrforest.privacy.public import Columns
from mrforest.privacy.release import Item, Parallel, Sequential
from mrforest.privacy.subtree import Leaf, Split

# Classes whose fields a file may hold
RECORDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        *(Schema, Batch, Partition, Bootstrap, AllPoints, HeldOutGroups, Trial),
        *(ByVectors, ByMatrix, ByMetric),
        *(Columns, Numeric, Plan, Block, Ledger, Item, Sequential, Parallel),
        *(Leaf, Split),
    )
}
KINDS = {kind.__name__: kind for kind in OF_KIND}
# A rule in Python cannot be written.
FORESTS = [
    name for name in mrforest.__all__ if "Forest" in name and "RuleForest" not in name
]

# Attributes that are written in another way, that belong to where a forest was fitted,
# or that only a warm start uses
NOT_FITTED = {"_forest", "_held_out", "_skl_callbacks", "_sklearn_version"}


def is_of(*kinds: type[Any]) -> Callable[[Any], bool]:
    """Return whether a value is of some types, exactly."""
    return lambda value: type(value) in kinds


def is_array(kinds: str, n_dimensions: int = 1) -> Callable[[Any], bool]:
    """Return whether a value is an array whose dtype is of some kinds."""
    return lambda value: (
        isinstance(value, np.ndarray)
        and value.dtype.kind in kinds
        and value.ndim == n_dimensions
    )


def is_tuple_of(kind: type[Any]) -> Callable[[Any], bool]:
    """Return whether a value is a list or tuple of values of a type."""
    return lambda value: (
        type(value) in (tuple, list) and all(isinstance(item, kind) for item in value)
    )


# What is fitted, and what it must be
FITTED: dict[str, Callable[[Any], bool]] = {
    "n_features_in_": is_of(int),
    "feature_names_in_": is_array("O"),
    "classes_": is_array("biufUO"),
    "n_classes_": is_of(int),
    "n_rows_": is_of(int, type(None)),
    "epsilon_": is_of(float),
    "delta_": is_of(float),
    "ledger_": is_of(Ledger),
    "oob_score_": is_of(float),
    "oob_decision_function_": is_array("f", 2),
    "oob_prediction_": is_array("f"),
    "max_features_": is_of(int),
    "feature_budget_": is_of(float),
    "split_budget_": is_of(float),
    "equality_cuts_": is_of(bool),
    "criterion_": is_of(str),
    "min_samples_split_": is_of(int),
    "min_samples_leaf_": is_of(int),
    "power_": is_of(float),
    "tuning_": is_tuple_of(Trial),
    "_batches": is_tuple_of(Batch),
    "_cells": is_array("f"),
    "_columns": is_of(Columns),
    "_compared_by": is_of(dict),
    "_exponent": is_of(int),
    "_held_decrease": is_array("f"),
    "_uniform_share": is_of(float),
    "_plan": is_of(Plan),
    "_schema": is_of(Schema),
    "_seed": is_of(int),
    "_structure_decrease": is_array("f"),
    "_trees": is_tuple_of(tuple),
}


# ---- write ---------------------------------------------------------------------------


def describe(forest: Any) -> tuple[str, Arrays]:
    """Return a fitted forest as a text and arrays."""
    name = type(forest).__name__
    if name not in FORESTS or type(forest) is not getattr(mrforest, name):
        hint = (
            "; save what its to_local() returns" if hasattr(forest, "to_local") else ""
        )
        raise TypeError(f"{name} is no forest that can be saved{hint}")
    writer = Writer(RECORDS)
    state = forest.__getstate__()
    params = forest.get_params(deep=False)
    fitted = {
        key: value
        for key, value in state.items()
        if key in FITTED and key not in params
    }
    flat = forest._forest
    document = {
        "class": name,
        "params": {
            key: writer.json_of(param_to_keep(key, value), f"{name}, {key}={value!r},")
            for key, value in params.items()
        },
        "fitted": {key: writer.json_of(value, key) for key, value in fitted.items()},
        "kind": type(flat).__name__,
        "trees": {
            key: writer.json_of(value, key)
            for key, value in flat.__getstate__().items()
        },
    }
    if unknown := set(state) - set(params) - set(FITTED) - NOT_FITTED:
        raise TypeError(f"{name} has attributes that a file does not know: {unknown}")
    return json.dumps(document, separators=(",", ":")), writer.arrays


def param_to_keep(name: str, value: Any) -> Any:
    """Return a parameter, or None for what belongs to where a forest was fitted."""
    if name == "accountant" or isinstance(value, np.random.RandomState):
        return None
    return value


# ---- read ----------------------------------------------------------------------------


def rebuild(text: str, arrays: Arrays) -> Any:
    """Return the forest; an error if anything is wrong with it."""
    document = json.loads(text)
    if not isinstance(document, dict) or document.keys() != {
        "class",
        "params",
        "fitted",
        "kind",
        "trees",
    }:
        raise ForestFileError("it does not describe a forest")
    if document["class"] not in FORESTS or document["kind"] not in KINDS:
        raise ForestFileError(f"there is no forest {document['class']!r:.100}")
    reader = Reader(RECORDS, arrays)

    def values(part: str) -> dict[str, Any]:
        return {key: reader.value_of(value) for key, value in document[part].items()}

    forest = getattr(mrforest, document["class"])(**values("params"))
    forest._validate_params()
    fitted = values("fitted")
    check_fitted(forest, fitted)
    kind, packed = KINDS[document["kind"]], values("trees")
    if issubclass(kind, ClassForest) != hasattr(forest, "predict_proba"):
        raise ForestFileError(f"{document['class']} has no trees of a {kind.__name__}")
    check_packed(kind, packed, fitted["n_features_in_"], fitted.get("n_classes_", 0))
    flat = kind.__new__(kind)
    flat.__setstate__(packed)
    vars(forest).update(fitted, _forest=flat)
    return forest


def check_fitted(forest: Any, fitted: dict[str, Any]) -> None:
    """Raise an error unless attributes are those of a fitted forest."""
    for name, value in fitted.items():
        if name not in FITTED or not FITTED[name](value):
            raise ForestFileError(f"the attribute {name!r:.100} is not what it must be")
    needed = {"n_features_in_", "_schema"}
    if hasattr(forest, "predict_proba"):
        needed |= {"classes_", "n_classes_"}
    if missing := needed - fitted.keys():
        raise ForestFileError(f"attributes are missing: {sorted(missing)}")
    n_features, schema = fitted["n_features_in_"], fitted["_schema"]
    if not 1 <= n_features < 2**30:
        raise ForestFileError(f"n_features_in_ is {n_features}")
    check_schema(schema, n_features)
    names = fitted.get("feature_names_in_")
    if names is not None and tuple(names) != schema.names:
        raise ForestFileError("feature_names_in_ are not the names of the columns")
    if (
        "classes_" in fitted
        and not 1 <= len(fitted["classes_"]) == fitted["n_classes_"]
    ):
        raise ForestFileError("classes_ are not as many as n_classes_")


def check_schema(schema: Schema, n_features: int) -> None:
    """Raise an error unless what is known of columns is of so many."""
    categories, names = schema.categories, schema.names
    is_listed = type(categories) is tuple and len(categories) == n_features
    if not (is_listed and all(c is None or is_array("biufUO")(c) for c in categories)):
        raise ForestFileError("the categories are not those of the columns")
    is_named = names is None or (is_tuple_of(str)(names) and len(names) == n_features)
    if not is_named:
        raise ForestFileError("the names are not those of the columns")
