# SPDX-License-Identifier: BSD-3-Clause
"""Modules whose names are public: the reference has them all, each with an example."""

from pkgutil import iter_modules

from mrforest import experiments

MODULES = [
    "mrforest",
    "mrforest.dask",
    "mrforest.files",
    "mrforest.inspection",
    "mrforest.interop",
    "mrforest.privacy",
    "mrforest.privacy.audit",
    "mrforest.privacy.mechanisms",
    "mrforest.rules",
    "mrforest.experiments",
    *(
        f"mrforest.experiments.{module.name}"
        for module in iter_modules(experiments.__path__)
        if not module.name.startswith("_")
    ),
]
