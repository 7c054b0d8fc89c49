# SPDX-License-Identifier: BSD-3-Clause
"""Results of all experiments, made up: of the right form, and of a plausible look."""

from itertools import product

import numpy as np
import pandas as pd

from mrforest.experiments import (
    consistency,
    hyperparameters,
    privacy_table,
    protocol,
    single_trees,
    split_probabilities,
    table1,
)
from mrforest.experiments.segmentation import experiment as segmentation

ADDED = pd.Timestamp("2024-05-17T12:00:00+00:00")


def frame_of(rows):
    """Lay out results as the store does."""
    return pd.DataFrame(rows).assign(version="0.1.0", added=ADDED)


def table1_frame(n_repetitions=1, datasets=table1.DATASETS):
    rng = np.random.default_rng(1)
    rows = []
    for name, forest in product(datasets, table1.FORESTS):
        printed = dict(zip(protocol.PAPER, table1.PRINTED[name], strict=True))
        level = printed.get(forest, printed["Breiman"]) / 100
        for rule in protocol.leaf_rules(forest):
            shift = rng.normal(-0.01 * (rule == "floor"), 0.01)
            for repetition, fold in product(range(n_repetitions), range(10)):
                accuracy = np.clip(level + shift + rng.normal(0, 0.02), 0, 1)
                rows.append(
                    {
                        "dataset": name,
                        "forest": forest,
                        "leaf_rule": rule,
                        "n_estimators": 100,
                        "min_samples_leaf": 5,
                        "stratified": False,
                        "seed": 0,
                        "repetition": repetition,
                        "fold": fold,
                        "accuracy": accuracy,
                        "log_loss": 1.3 - accuracy,
                        "brier": 1.1 - accuracy,
                        "fit_seconds": rng.gamma(2, 0.1),
                        "predict_seconds": rng.gamma(2, 0.01),
                        "leaves": rng.uniform(10, 90),
                        "depth": rng.uniform(4, 12),
                    }
                )
    return frame_of(rows)


def hyperparameters_frame(**options):
    rng = np.random.default_rng(2)
    rows = []
    for settings in hyperparameters.tasks(**options):
        b1, b2 = settings["feature_budget"], settings["split_budget"]
        level = 90 - 6 * np.exp(-b1 / 5) - 20 * np.exp(-b2 / 4)
        folds = level + rng.normal(0, 1, settings["n_folds"])
        measures = {"accuracy": folds.mean(), "fold_accuracies": folds.tolist()}
        rows.append({**settings, **measures})
    return frame_of(rows)


def single_trees_frame(**options):
    rng = np.random.default_rng(3)
    rows = []
    for settings in single_trees.tasks(**options):
        level = 88 if settings["forest"] == "MRF" else 90
        right = rng.binomial(57, level / 100, settings["n_trees"])
        measures = {
            "tree_accuracies": (100 * right / 57).round(4).tolist(),
            "forest_accuracy": level + 6 + rng.normal(),
            "n_test": 57,
        }
        rows.append({**settings, **measures})
    return frame_of(rows)


def privacy_frame(**options):
    rng = np.random.default_rng(4)
    rows = []
    for settings in privacy_table.tasks(**options):
        level = {
            privacy_table.PRIVATE: 94 - 25 / (1 + settings.get("epsilon", 0)),
            privacy_table.FOREST: 95.8,
            privacy_table.COMMONEST: 62.7,
        }.get(settings["model"], 94)
        measures = {"accuracy": level + rng.normal()}
        if "n_trees" in settings:
            measures |= {"tree_accuracy": 60.0 + rng.normal(), "depth": 9}
        rows.append({**settings, **measures})
    return frame_of(rows)


def split_probabilities_frame(**options):
    rng = np.random.default_rng(5)
    n_features, n_cuts = 30, 120
    feature = np.repeat(np.arange(n_features), n_cuts)
    threshold = np.tile(np.linspace(0, 1, n_cuts), n_features)
    height = rng.uniform(0.05, 0.35, n_features)[feature]
    decrease = height * np.exp(-(((threshold - 0.4) / 0.25) ** 2))
    rows = []
    for settings in split_probabilities.tasks(**options):
        probability = decrease ** rng.uniform(0, 5)
        measures = {
            "feature_names": [f"feature {i}" for i in range(n_features)],
            "feature": feature.tolist(),
            "threshold": threshold.tolist(),
            "decrease": decrease.tolist(),
            "probability": (probability / probability.sum()).tolist(),
        }
        rows.append({**settings, **measures})
    return frame_of(rows)


def consistency_frame(**options):
    rng = np.random.default_rng(6)
    rows = []
    for settings in consistency.tasks(**options):
        power = 0.1 if settings["forest"].endswith("k = 5") else 0.5
        excess = 0.8 * settings["n"] ** -power * rng.lognormal(0, 0.05)
        measures = {"excess": excess, "risk": 0.2 + excess, "bayes_risk": 0.2}
        rows.append({**settings, **measures})
    return frame_of(rows)


def segmentation_frame(**options):
    rng = np.random.default_rng(7)
    rows = []
    for settings in segmentation.tasks(**options):
        # A map as small as a map can be, in place of one that the image has.
        heat = segmentation._as_png(rng.random((4, 6)))
        measures = {
            "pixel_accuracy": rng.normal(80, 2),
            "iou": rng.normal(60, 3),
            "fit_seconds": rng.gamma(2, 0.1),
            "predict_seconds": rng.gamma(2, 0.5),
            "heat": heat if settings["draw"] == 0 else None,
        }
        rows.append(settings | measures)
    return frame_of(rows)


def all_frames(*, quick=True):
    """Results of all experiments: few, or as many as the full forms have."""
    return {
        table1.EXPERIMENT: table1_frame(1 if quick else 10),
        hyperparameters.EXPERIMENT: hyperparameters_frame(quick=quick),
        single_trees.EXPERIMENT: single_trees_frame(quick=quick),
        privacy_table.EXPERIMENT: privacy_frame(quick=quick),
        split_probabilities.EXPERIMENT: split_probabilities_frame(quick=quick),
        consistency.EXPERIMENT: consistency_frame(quick=quick),
        segmentation.EXPERIMENT: segmentation_frame(quick=quick),
    }
