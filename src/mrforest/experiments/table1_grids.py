# SPDX-License-Identifier: BSD-3-Clause
"""Table 1 to read: our numbers beside the printed ones, and the paper's own."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from mrforest.experiments import protocol, stats, table1
from mrforest.experiments.tables import BULLET, DAGGER, Cell, Grid

__all__ = ["grid", "printed_grid"]

NOTE = "In brackets: ours less the printed number; of ranks, the printed one."
CAPTION = (
    "Bold: the best of the four consistent "
    f"forests. {DAGGER} MRF is significantly better than Breiman's forest, {BULLET} "
    "Breiman's than MRF (Wilcoxon's signed ranks of the folds, 0.05)."
)


def grid(frame: pd.DataFrame, leaf_rule: str) -> Grid:
    """Lay out the table as in the paper, with differences from the printed numbers.

    Parameters
    ----------
    frame : DataFrame
        Results of the experiment.
    leaf_rule : {"stop", "floor"}
        Of the paper's forests.

    Returns
    -------
    Grid

    Examples
    --------
    >>> import pandas as pd
    >>> from mrforest.experiments import table1, table1_grids
    >>> wanted = table1.tasks(
    ...     names=["wdbc"], forests=["MRF", "BRF", "Breiman"], repeats=1, n_estimators=5
    ... )
    >>> frame = pd.DataFrame({**w.settings, **w.measure(w.settings)} for w in wanted)
    >>> grid = table1_grids.grid(frame, "stop")
    >>> grid.title
    'Accuracy (%), leaf rule "stop", 10 folds'
    >>> grid.heading
    ['dataset', 'BRF', 'MRF', 'Breiman']
    """
    table, theirs = table1.accuracies(frame, leaf_rule), table1.printed()
    gaps = (table - theirs).reindex_like(table)
    winners = table1.compared(frame, leaf_rule)["winner"]
    n_folds = frame.groupby(["dataset", "forest", "leaf_rule"]).size().max()
    ranked = table1.complete(table)
    summary = [
        ["mean difference", *(_signed(gaps[name].mean()) for name in table)],
        [
            "mean |difference|",
            *(_plain(gaps[name].abs().mean()) for name in table),
        ],
    ]
    return Grid(
        title=f'Accuracy (%), leaf rule "{leaf_rule}", {n_folds} folds',
        heading=["dataset", *table],
        rows=_rows(table, gaps, winners),
        summary=[
            [Cell("average rank"), *_ranks(ranked, list(table))],
            *([Cell(text) for text in row] for row in summary),
        ],
        caption=CAPTION
        + f" Ranks are among the paper's forests, on {len(ranked)} datasets.",
        note=NOTE,
    )


def printed_grid() -> Grid:
    """Lay out the paper's own numbers.

    Examples
    --------
    >>> from mrforest.experiments import table1_grids
    >>> grid = table1_grids.printed_grid()
    >>> [cell.text for cell in grid.rows[0]][:3]
    ['zoo', '80.00', '85.00']
    """
    table = table1.printed()
    winners = pd.Series(table1.PRINTED_WINNERS)
    ranks = [f"{rank:.1f}" for rank in table1.PRINTED_RANKS]
    return Grid(
        title="Accuracy (%) as printed in the paper",
        heading=["dataset", *table],
        rows=_rows(table, None, winners),
        summary=[[Cell(text) for text in ("average rank", *ranks)]],
    )


def _rows(
    table: pd.DataFrame, gaps: pd.DataFrame | None, winners: pd.Series
) -> list[list[Cell]]:
    consistent = [name for name in table if name in protocol.CONSISTENT]
    best = table[consistent].round(2).max(axis=1)
    marked = {("MRF", 1): DAGGER, ("Breiman", -1): BULLET}
    return [
        [
            Cell(name),
            *(
                Cell(
                    _plain(table.loc[name, forest]),
                    is_bold=forest in consistent
                    and round(table.loc[name, forest], 2) == best[name],
                    mark=marked.get((forest, winners.get(name)), ""),
                    note="" if gaps is None else _bracketed(gaps.loc[name, forest]),
                )
                for forest in table
            ),
        ]
        for name in table.index
    ]


def _ranks(ranked: pd.DataFrame, forests: Sequence[str]) -> list[Cell]:
    theirs = dict(zip(protocol.PAPER, table1.PRINTED_RANKS, strict=True))
    ours = stats.average_ranks(ranked) if len(ranked) else pd.Series(dtype=float)
    return [
        Cell(f"{ours[name]:.2f}", note=f"({theirs[name]:.1f})")
        if name in ours
        else Cell("")
        for name in forests
    ]


def _plain(number: float) -> str:
    return "" if pd.isna(number) else f"{number:.2f}"


def _signed(number: float) -> str:
    return "" if pd.isna(number) else f"{number:+.2f}".replace("-", "\N{MINUS SIGN}")


def _bracketed(number: float) -> str:
    return f"({_signed(number)})" if _signed(number) else ""
