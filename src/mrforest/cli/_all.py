# SPDX-License-Identifier: BSD-3-Clause
"""All experiments on the command line, one after the other, and their page."""

from __future__ import annotations

from mrforest.cli._figures import (
    reproduce_consistency,
    reproduce_hyperparameters,
    reproduce_privacy,
    reproduce_split_probabilities,
    reproduce_trees,
)
from mrforest.cli._report import reproduce_report, require_packages
from mrforest.cli._reproduce import (
    OUTPUT,
    RESULTS,
    Data,
    Jobs,
    Output,
    Quick,
    Results,
    reproduce,
    require,
)
from mrforest.cli._segmentation import reproduce_segmentation
from mrforest.cli._table1 import reproduce_table1

__all__ = ["app"]

app = reproduce


@reproduce.command("all")
def reproduce_all(
    quick: Quick = False,
    data: Data = None,
    results: Results = RESULTS,
    output: Output = OUTPUT,
    n_jobs: Jobs = -1,
) -> None:
    """Run every experiment, the shortest first, and write the page of all results."""
    for package in ("scikit_posthocs", "skimage"):
        require(package)
    require_packages()
    reproduce_split_probabilities(quick, data, results, output, n_jobs)
    reproduce_privacy(quick, data, results, output, n_jobs)
    reproduce_trees(quick, data, results, output, n_jobs)
    reproduce_hyperparameters(quick, None, data, results, output, n_jobs)
    reproduce_consistency(quick, results, output, n_jobs)
    reproduce_segmentation(quick, None, data, results, output, n_jobs)
    reproduce_table1(quick, data=data, results=results, output=output, n_jobs=n_jobs)
    reproduce_report(results, output)
