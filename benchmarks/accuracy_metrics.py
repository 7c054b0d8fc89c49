# SPDX-License-Identifier: BSD-3-Clause
"""How good predictions are; the same for all forests of accuracy.py."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score, root_mean_squared_error

from mrforest.experiments import protocol

N_BINS = 15
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


def log_loss(truth: Classes, probabilities: Floats, n_train: int) -> float:
    """Return the mean of -log(probability of the right class).

    Forests often give a class the probability 0, and one row of that class would make
    the mean infinite. So every probability is made 0.5 / n_train at least, which is
    half of a training row, and all are divided by their sum.

    Examples
    --------
    >>> never = log_loss(np.array([1]), np.array([[1.0, 0.0]]), n_train=100)
    >>> round(never, 3), round(float(np.log((1 + 0.005) / 0.005)), 3)
    (5.303, 5.303)
    """
    raised = np.maximum(probabilities, 0.5 / n_train)
    right = raised[np.arange(len(truth)), truth] / raised.sum(axis=1)
    return float(-np.log(right).mean())


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


def top_labels(truth: Classes, probabilities: Floats) -> tuple[Floats, NDArray[Any]]:
    """Return the largest probability of each row, and whether its class is right."""
    top = probabilities.argmax(axis=1)
    return probabilities[np.arange(len(top)), top], top == truth


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


def calibration_error(confidence: Floats, is_right: NDArray[np.bool_]) -> float:
    """Return the expected calibration error of the most probable classes.

    Rows are sorted by confidence and cut into 15 bins of the same number of rows. The
    error is the mean over rows of |confidence - accuracy| of their bin.

    Examples
    --------
    >>> calibration_error(np.full(100, 0.75), np.arange(100) < 50)
    0.25
    """
    # Equal confidences come in a random order, for that of the table may tell the
    # class.
    shuffled = np.random.default_rng(0).permutation(len(confidence))
    order = shuffled[np.argsort(confidence[shuffled], kind="stable")]
    gaps = confidence[order] - is_right[order]
    return float(
        sum(abs(part.sum()) for part in np.array_split(gaps, N_BINS)) / len(gaps)
    )
