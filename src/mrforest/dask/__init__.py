# SPDX-License-Identifier: BSD-3-Clause
"""The same forests on a Dask cluster: bit for bit, for any partitions and workers."""

from mrforest._optional import needed

for package in ("dask", "distributed"):
    needed(package, by="mrforest.dask")

from mrforest.dask.forest import (  # noqa: E402
    DaskBernoulliForestClassifier,
    DaskBreimanForestClassifier,
    DaskDenilForestClassifier,
    DaskForestClassifier,
    DaskMultinomialForestClassifier,
)
from mrforest.dask.private import DaskPrivateForestClassifier  # noqa: E402

__all__ = [
    "DaskBernoulliForestClassifier",
    "DaskBreimanForestClassifier",
    "DaskDenilForestClassifier",
    "DaskForestClassifier",
    "DaskMultinomialForestClassifier",
    "DaskPrivateForestClassifier",
]
