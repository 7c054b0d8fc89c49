# SPDX-License-Identifier: BSD-3-Clause
"""The same forests on a Dask cluster: bit for bit, for any partitions and workers."""

from mrforest.dask.forest import (
    DaskBernoulliForestClassifier,
    DaskBreimanForestClassifier,
    DaskDenilForestClassifier,
    DaskForestClassifier,
    DaskMultinomialForestClassifier,
)
from mrforest.dask.private import DaskPrivateForestClassifier

__all__ = [
    "DaskBernoulliForestClassifier",
    "DaskBreimanForestClassifier",
    "DaskDenilForestClassifier",
    "DaskForestClassifier",
    "DaskMultinomialForestClassifier",
    "DaskPrivateForestClassifier",
]
