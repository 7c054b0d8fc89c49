# SPDX-License-Identifier: BSD-3-Clause
"""Tables of accuracy.py, from its file of results."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from accuracy_forests import BASE, FORESTS, OURS
from accuracy_metrics import unpack
from accuracy_parts import MEASURES, PARTS, Measure
from peers_report import number, spread

from mrforest.experiments import stats
from mrforest.experiments.probability_scores import calibration_error
from mrforest.experiments.tables import Cell, Grid

TABLE = ["part", "dataset"]
SIZE = ["n_rows", "n_features", "n_classes"]
TOOK = ["fit_seconds", "predict_seconds"]
MEASURED = [name for name in MEASURES if name != "ece"]  # of a fold by itself
COLUMNS = [
    *TABLE,
    *("forest", *SIZE, "fits"),
    *(*MEASURES, "deviation"),  # over folds, of the first measure
    *(*TOOK, "version", "error"),
]
SHORT = "RandomForest"  # scikit-learn's, which all are compared with
PEERS = [name for name, forest in FORESTS.items() if not forest.is_ours]


# ---- from folds to tables ------------------------------------------------------------


def values_of(lines: pd.DataFrame) -> pd.DataFrame:
    """Return means over folds, a line for each table and forest.

    Parameters
    ----------
    lines : DataFrame
        Lines of accuracy.py. Of each table only those folds count that all of its
        forests have, but for forests that failed.
    """
    records = []
    for (part, dataset), of_table in lines.groupby(TABLE):
        failed = of_table[of_table["error"].notna()]
        whole = of_table[~of_table["forest"].isin(failed["forest"])]
        folds = whole.groupby(["repetition", "fold"])["forest"]
        shared = whole[folds.transform("nunique") == whole["forest"].nunique()]
        for forest, of_forest in shared.groupby("forest"):
            records.append(
                {
                    "part": part,
                    "dataset": dataset,
                    "forest": forest,
                    **of_forest[SIZE].iloc[0],
                    "fits": len(of_forest),
                    **of_forest[[*MEASURED, *TOOK]].mean(),
                    "deviation": of_forest[PARTS[part].measures[0]].std(),
                    "ece": mean_calibration_error(of_forest, part, dataset),
                    "version": of_forest["version"].iloc[-1],
                }
            )
        records += failed[[*TABLE, "forest", *SIZE, "error"]].to_dict("records")
    return in_order(pd.DataFrame(records, columns=COLUMNS))


def mean_calibration_error(lines: pd.DataFrame, part: str, dataset: str) -> float:
    """Return the mean over shuffles; all folds of a shuffle are put together."""
    n_folds = PARTS[part].problems[dataset].n_folds
    errors = []
    for _, of_shuffle in lines.dropna(subset="confidences").groupby("repetition"):
        if len(of_shuffle) == n_folds:
            pairs = [unpack(text) for text in of_shuffle["confidences"]]
            confidence, is_right = map(np.concatenate, zip(*pairs, strict=True))
            errors.append(calibration_error(confidence, is_right))
    return float(np.mean(errors)) if errors else np.nan


def in_order(values: pd.DataFrame) -> pd.DataFrame:
    """Sort as parts, their tables and the forests are."""
    order = [
        (name, table, forest)
        for name, part in PARTS.items()
        for table, forest in product(part.problems, FORESTS)
    ]
    places = {key: i for i, key in enumerate(order)}
    keys = zip(*(values[name] for name in [*TABLE, "forest"]), strict=True)
    return values.iloc[np.argsort([places[key] for key in keys])]


def wide(values: pd.DataFrame, part: str, measure: str) -> pd.DataFrame:
    """Return a measure of a part as it is shown: tables x forests."""
    of_part = values[(values["part"] == part) & values["fits"].notna()]
    table = of_part.pivot(index="dataset", columns="forest", values=measure)
    table = table.reindex(
        index=of_part["dataset"].unique(),
        columns=[name for name in PARTS[part].forests if name in table],
    )
    return table.dropna(how="all") * MEASURES[measure].factor


def against(table: pd.DataFrame, other: pd.Series, measure: Measure) -> pd.DataFrame:
    """Return ratios to what another forest has, or differences from it.

    Examples
    --------
    >>> table = pd.DataFrame({"A": [0.5, 2.0], "B": [1.0, 1.0]}, index=["zoo", "car"])
    >>> against(table, table["B"], Measure("RMSE", 4, is_ratio=True))["A"].tolist()
    [0.5, 2.0]
    >>> against(table, table["B"], Measure("R²", 4))["A"].tolist()
    [-0.5, 1.0]
    """
    how = table.div if measure.is_ratio else table.sub
    return how(other, axis=0)


def best_peer(table: pd.DataFrame, measure: Measure) -> pd.Series:
    """Return the best number that others have on each table."""
    theirs = table[[name for name in table if name in PEERS]]
    return theirs.min(axis=1) if measure.is_error else theirs.max(axis=1)


def has_rivals(table: pd.DataFrame) -> bool:
    """Whether there are our forest and others."""
    return OURS in table and any(name in PEERS for name in table)


def label(part: str, dataset: str) -> str:
    """Return the name of a table."""
    return PARTS[part].problems[dataset].label or dataset


# ---- a grid for each measure ---------------------------------------------------------


def grid(values: pd.DataFrame, part: str, name: str) -> Grid:
    """Lay out a measure: a row for each table, the best forest of each is marked."""
    measure, table = MEASURES[name], wide(values, part, name)
    ours = pd.Series(np.nan, index=table.index)
    if has_rivals(table):
        ours = against(table[[OURS]], best_peer(table, measure), measure)[OURS]
    sizes = values[values["part"] == part].groupby("dataset")["n_rows"].first()
    rows = [
        [
            Cell(label(part, dataset)),
            Cell(f"{sizes[dataset]:,.0f}"),
            *marked([show(value, measure) for value in row], row, measure),
            Cell(show(ours[dataset], measure, is_compared=True)),
        ]
        for dataset, row in zip(table.index, table.to_numpy(), strict=True)
    ]
    beside = "ours / best peer" if measure.is_ratio else "ours - best peer"
    labels = [FORESTS[forest].label for forest in table]
    return Grid(
        measure.title,
        ["table", "rows", *labels, beside],
        rows,
        [
            [Cell(what), Cell(""), *map(Cell, cells), Cell("")]
            for what, cells in summed_up(table, part, measure).items()
        ],
    )


def show(value: float, measure: Measure, *, is_compared: bool = False) -> str:
    """Write a number, or a comparison of two."""
    if np.isnan(value):
        return ""
    if measure.digits is None and not is_compared:
        return number(value, 4)
    if measure.is_ratio and is_compared:
        return f"{value:.3f}"
    return f"{value:{'+' if is_compared else ''}.{measure.digits}f}"


def marked(texts: Sequence[str], row: Any, measure: Measure) -> list[Cell]:
    """Make the best bold, and all that look the same."""
    best = texts[int(np.nanargmin(row) if measure.is_error else np.nanargmax(row))]
    return [Cell(text, is_bold=text == best) for text in texts]


def summed_up(table: pd.DataFrame, part: str, measure: Measure) -> dict[str, list[str]]:
    """Sum up tables that all forests have: names of rows, a cell for each forest."""
    table = table.dropna()
    if table.empty:
        return {}
    ranks = stats.average_ranks(-table if measure.is_error else table)
    rows = {"mean rank": [f"{rank:.2f}" for rank in ranks]}
    if not measure.is_ratio:
        means = [show(value, measure) for value in table.mean()]
        rows = {f"mean of {len(table)}": means, **rows}
    if BASE not in table:
        return rows
    compared = against(table, table[BASE], measure).round(stats.PRECISION)
    if measure.is_ratio:
        ratios = np.exp(np.log(compared).mean())
        means = [show(ratio, measure, is_compared=True) for ratio in ratios]
        rows = {f"ratio to {SHORT} (geometric mean)": means, **rows}
    others = compared.drop(columns=BASE)
    level = 1 if measure.is_ratio else 0
    is_better = others.lt(level) if measure.is_error else others.gt(level)
    worst = others.idxmax() if measure.is_error else others.idxmin()
    better = {name: f"{n} of {len(table)}" for name, n in is_better.sum().items()}
    worst_of = {
        name: f"{show(others.loc[place, name], measure, is_compared=True)} "
        f"({label(part, place)})"
        for name, place in worst.items()
    }
    rows[f"better than {SHORT}"] = [better.get(name, "") for name in table]
    rows[f"worst against {SHORT}"] = [worst_of.get(name, "") for name in table]
    return rows


# ---- pages ---------------------------------------------------------------------------


def page(values: pd.DataFrame, figure: str) -> str:
    """Return all tables, and the figure of that name."""
    texts = [about(values), f"![Every forest beside {SHORT}, table by table]({figure})"]
    for part in values["part"].unique():
        texts += [f"## {PARTS[part].title}"]
        texts += [summary_grid(values, part, "Summary").to_markdown()]
        texts += [
            grid(values, part, measure).to_markdown()
            for measure in PARTS[part].measures
            if not wide(values, part, measure).empty
        ]
        texts += [failures(values, part)]
    return "\n\n".join(text.strip() for text in texts if text)


def summary(values: pd.DataFrame) -> str:
    """Return what all tables come to."""
    grids = [
        summary_grid(values, part, PARTS[part].title)
        for part in values["part"].unique()
    ]
    return "\n\n".join([about(values), *(g.to_markdown().strip() for g in grids)])


def about(values: pd.DataFrame) -> str:
    """Say what was measured."""
    return f"{', '.join(sorted(values['version'].dropna().unique()))}; 100 trees."


def summary_grid(values: pd.DataFrame, part: str, title: str) -> Grid:
    """Lay out a row for each forest: what its tables come to."""
    first = PARTS[part].measures[0]
    forests = list(wide(values, part, first))
    columns: dict[str, list[str]] = {}
    for name in PARTS[part].measures:
        measure = MEASURES[name]
        rows = summed_up(wide(values, part, name), part, measure)
        for what, cells in rows.items():
            is_head = what == next(iter(rows))
            if is_head:
                what = f"{measure.title}, {what}"
            if is_head or name == first:  # of the others only what comes first
                columns[what] = cells
    return Grid(
        title,
        ["forest", *columns],
        [
            [Cell(FORESTS[forest].label), *map(Cell, cells)]
            for forest, *cells in zip(forests, *columns.values(), strict=True)
        ],
        caption=f"{fits(values, part)} {lead(values, part)}".strip(),
    )


def fits(values: pd.DataFrame, part: str) -> str:
    """Say how many tables there are, and how often forests were fitted to them."""
    whole = wide(values, part, PARTS[part].measures[0]).dropna()
    is_meant = (values["part"] == part) & values["dataset"].isin(whole.index)
    if not is_meant.any():
        return "There is no table that all forests have."
    sizes, n_fits = values.loc[is_meant, "n_rows"], values.loc[is_meant, "fits"]
    return (
        f"Tables that all forests have: {len(whole)}, of {spread(sizes, ',.0f')} rows; "
        f"fits of a forest to a table: {spread(n_fits.dropna())}."
    )


def lead(values: pd.DataFrame, part: str) -> str:
    """Say how far our forest is ahead of the best peer of each table."""
    name = PARTS[part].measures[0]
    measure, table = MEASURES[name], wide(values, part, name).dropna()
    if table.empty or not has_rivals(table):
        return ""
    gaps = against(table[[OURS]], best_peer(table, measure), measure)[OURS]
    ends = [
        f"{show(gaps[place], measure, is_compared=True)} ({label(part, place)})"
        for place in (gaps.idxmin(), gaps.idxmax())
    ]
    return (
        f"{FORESTS[OURS].label} less the best peer of each table: "
        f"{show(gaps.mean(), measure, is_compared=True)} on average, from {ends[0]} to "
        f"{ends[1]}; above all peers on {(gaps > 0).sum()} of {len(gaps)} tables."
    )


def failures(values: pd.DataFrame, part: str) -> str:
    """Say which forests failed, and why."""
    failed = values[(values["part"] == part) & values["error"].notna()]
    messages = (
        f"{FORESTS[line.forest].label} on {label(part, line.dataset)}: {line.error}"
        for line in failed.itertuples()
    )
    return "\n\n".join(f"Failed: {text}" for text in messages)
