# SPDX-License-Identifier: BSD-3-Clause
"""How good the probabilities of a classifier are; the same for all forests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["calibration_error", "log_loss", "top_labels"]

N_BINS = 15

Floats = NDArray[np.float64]
Classes = NDArray[np.int64]


def log_loss(truth: Classes, probabilities: Floats, n_train: int) -> float:
    """Return the mean of -log(probability of the right class).

    Forests often give a class the probability 0, and one row of that class would make
    the mean infinite. So every probability is made 0.5 / n_train at least, which is
    half of a training row, and all are divided by their sum.

    Parameters
    ----------
    truth : ndarray of shape (n_rows,)
        Codes of the right classes.
    probabilities : ndarray of shape (n_rows, n_classes)
        What the classifier predicts.
    n_train : int
        Number of training rows.

    Returns
    -------
    float

    Examples
    --------
    >>> never = log_loss(np.array([1]), np.array([[1.0, 0.0]]), n_train=100)
    >>> round(never, 3), round(float(np.log((1 + 0.005) / 0.005)), 3)
    (5.303, 5.303)
    """
    raised = np.maximum(probabilities, 0.5 / n_train)
    right = raised[np.arange(len(truth)), truth] / raised.sum(axis=1)
    return float(-np.log(right).mean())


def top_labels(
    truth: Classes, probabilities: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the largest probability of each row, and whether its class is right.

    Parameters
    ----------
    truth : ndarray of shape (n_rows,)
        Codes of the right classes.
    probabilities : ndarray of shape (n_rows, n_classes)
        What the classifier predicts.

    Returns
    -------
    confidence : ndarray of shape (n_rows,)
        Largest probability of each row.
    is_right : ndarray of shape (n_rows,)
        Whether its class is the right one.

    Examples
    --------
    >>> top_labels(np.array([0, 0]), np.array([[0.75, 0.25], [0.25, 0.75]]))
    (array([0.75, 0.75]), array([ True, False]))
    """
    top = probabilities.argmax(axis=1)
    return probabilities[np.arange(len(top)), top], top == truth


def calibration_error(confidence: Floats, is_right: NDArray[np.bool_]) -> float:
    """Return the expected calibration error of the most probable classes.

    Rows are sorted by confidence and cut into 15 bins of the same number of rows. The
    error is the mean over rows of the distance between the confidence and the accuracy
    of their bin.

    Parameters
    ----------
    confidence, is_right : ndarray of shape (n_rows,)
        What `top_labels` returns.

    Returns
    -------
    float

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
