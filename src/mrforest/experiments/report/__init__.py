# SPDX-License-Identifier: BSD-3-Clause
"""One HTML page of all results: tables that sort, plots that answer, how to rerun.

A section is a function of a frame of results, `section(frame) -> Section`; a newcomer
adds one by writing such a function and by naming it in `SECTIONS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from mrforest.experiments import consistency as _consistency
from mrforest.experiments import hyperparameters as _hyperparameters
from mrforest.experiments import privacy_table as _privacy_table
from mrforest.experiments import single_trees as _single_trees
from mrforest.experiments import split_probabilities as _split_probabilities
from mrforest.experiments import table1 as _table1
from mrforest.experiments import whole_file
from mrforest.experiments.report import (
    consistency,
    hyperparameters,
    privacy,
    segmentation,
    single_trees,
    split_probabilities,
    table1,
)
from mrforest.experiments.report.contents import Section
from mrforest.experiments.report.environment import environment, provenance
from mrforest.experiments.report.page import render
from mrforest.experiments.store import Store

__all__ = ["SECTIONS", "page_of", "write"]

TITLE = "The multinomial random forest: results"
LEAD = (
    "What the paper “Multinomial random forest” printed, computed anew with mrforest: "
    "every forest on the same engine, the same folds and the same rule for leaves.",
)

# Experiment: what shows its results.
SECTIONS: dict[str, Callable[[pd.DataFrame], Section]] = {
    _table1.EXPERIMENT: table1.section,
    _hyperparameters.EXPERIMENT: hyperparameters.section,
    _single_trees.EXPERIMENT: single_trees.section,
    _privacy_table.EXPERIMENT: privacy.section,
    _split_probabilities.EXPERIMENT: split_probabilities.section,
    _consistency.EXPERIMENT: consistency.section,
    segmentation.EXPERIMENT: segmentation.section,
}


def page_of(frames: Mapping[str, pd.DataFrame], *, name: str) -> str:
    """Lay out results as a page.

    Parameters
    ----------
    frames : mapping of str to DataFrame
        Results by experiment, as `Store.frame` returns them. One that is missing or
        empty has a section all the same, which says what computes it.
    name : str
        Of the file of results.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    Of no results at all; the page says how to get them:

    >>> from mrforest.experiments import report
    >>> page = report.page_of({}, name="results.sqlite")
    >>> "mrforest reproduce table1" in page
    True
    """
    sections = {
        experiment.replace("_", "-"): section(frames.get(experiment, pd.DataFrame()))
        for experiment, section in SECTIONS.items()
    }
    return render(
        sections,
        title=TITLE,
        lead=LEAD,
        provenance=provenance(name, frames),
        environment=environment(),
    )


def write(results: Path, output: Path) -> list[Section]:
    """Write the page of a file of results.

    Parameters
    ----------
    results : Path
        The file of results. It is not changed.
    output : Path
        The page.

    Returns
    -------
    list of Section
        Those of which there are no results.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from mrforest.experiments import report, single_trees
    >>> from mrforest.experiments.store import Store
    >>> with TemporaryDirectory() as folder:
    ...     results, page = Path(folder, "results.sqlite"), Path(folder, "report.html")
    ...     with Store(results) as store:
    ...         for task in single_trees.tasks(quick=True, datasets=["wdbc"]):
    ...             store.add("single_trees", task, single_trees.measure(task))
    ...     missing = report.write(results, page)
    ...     len(missing), "WDBC" in page.read_text(encoding="utf-8")
    (6, True)
    """
    with Store(results) as store:
        frames = {experiment: store.frame(experiment) for experiment in SECTIONS}
    page = page_of(frames, name=results.name)
    empty = [name for name, frame in frames.items() if frame.empty]
    with whole_file(output) as unfinished:
        unfinished.write_text(page, encoding="utf-8")
    return [SECTIONS[name](frames[name]) for name in empty]
