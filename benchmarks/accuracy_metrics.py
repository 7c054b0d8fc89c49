# SPDX-License-Identifier: BSD-3-Clause
"""How good predictions are; the same for all forests of accuracy.py."""

from __future__ import annotations

import base64
import zlib

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score, root_mean_squared_error

from mrforest.experiments import protocol
from mrforest.experiments.probability_scores import log_loss

STEPS = 2**15 - 1  # a confidence and a bit fit into two bytes

Floats = NDArray[np.float64]
Classes = NDArray[np.int64]


def class_scores(
    truth: Classes, predicted: Classes, probabilities: Floats, n_train: int
) -> dict[str, float]:
    """Return accuracy, log loss and Brier score.

    Parameters
    ----------
    truth, predicted : ndarray of shape (n_rows,)
        Codes of classes: the right ones, and what the forest predicts.
    probabilities : ndarray of shape (n_rows, n_classes)
        For all classes of the table; 0 for one that is not in the training rows.
    n_train : int
        Number of training rows.

    Examples
    --------
    >>> truth, predicted = np.array([0, 1]), np.array([0, 0])
    >>> probabilities = np.array([[0.75, 0.25], [0.75, 0.25]])
    >>> class_scores(truth, predicted, probabilities, 100)["brier"]
    0.625
    """
    return {
        "accuracy": float(np.mean(predicted == truth)),
        "log_loss": log_loss(truth, probabilities, n_train),
        "brier": protocol.brier(probabilities, truth),
    }


def value_scores(truth: Floats, predicted: Floats) -> dict[str, float]:
    """Return R² and the root of the mean squared error.

    Examples
    --------
    >>> scores = value_scores(np.array([1.0, 3.0]), np.array([1.0, 2.0]))
    >>> scores["r2"], round(scores["rmse"], 3)
    (0.5, 0.707)
    """
    return {
        "r2": float(r2_score(truth, predicted)),
        "rmse": float(root_mean_squared_error(truth, predicted)),
    }


# ---- calibration ---------------------------------------------------------------------


def pack(confidence: Floats, is_right: NDArray[np.bool_]) -> str:
    """Write both as a short text: a fold is a line of a file.

    Examples
    --------
    >>> text = pack(np.array([0.25, 1.0]), np.array([True, False]))
    >>> confidence, is_right = unpack(text)
    >>> confidence.round(4), is_right
    (array([0.25, 1.  ]), array([ True, False]))
    """
    codes = np.rint(confidence * STEPS).astype("<u2") * 2 + is_right
    packed = zlib.compress(codes.astype("<u2").tobytes(), 9)
    return base64.b64encode(packed).decode("ascii")


def unpack(text: str) -> tuple[Floats, NDArray[np.bool_]]:
    """Read what `pack` wrote."""
    codes = np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype="<u2")
    return (codes // 2) / STEPS, codes % 2 == 1
