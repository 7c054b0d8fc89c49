# SPDX-License-Identifier: BSD-3-Clause
"""Tables of peers.py, from its file of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from peers_forests import FORESTS, RIVALS
from peers_tables import LARGE, SMALL, TABLES
from record import layout

BASE = "random-forest"  # scikit-learn's
# What the default forest is compared by with the forests that people use in its place:
# name of a line, column of the results
DEFAULT_FOREST = {
    "fit": "fit",
    "predict": "predict",
    "first predict after a fit": "first",
    "first predict after a load": "loaded",
    "memory": "memory",
    "model": "size",
}
# Columns of a table: heading, column of the results, unit, whether with a ratio
COLUMNS = (
    ("fit s", "fit", 1.0, True),
    ("predict µs/row", "predict", 1e-6, True),
    ("first, after fit", "first", 1e-6, True),
    ("first, after load", "loaded", 1e-6, True),
    ("one row ms, 1 thread", "one_row", 1e-3, False),
    ("one row ms, {} threads", "one_row_threads", 1e-3, False),
    ("memory MB", "memory", 1e6, False),
    ("model MB", "size", 1e6, False),
)


def markdown(lines: pd.DataFrame, n_jobs: int) -> str:
    """Return all tables.

    Parameters
    ----------
    lines : DataFrame
        Lines of peers.py.
    n_jobs : int
        Threads of the forests that are compared.
    """
    best = best_of(lines[lines["n_jobs"] == n_jobs])
    parts = [about(lines, n_jobs), *summary(lines, best, n_jobs)]
    for name in tables_of(best):
        parts += [title(lines, name), table(lines, best.loc[name], name, n_jobs)]
    return "\n\n".join(part for part in parts if part)


def best_of(lines: pd.DataFrame) -> pd.DataFrame:
    """Return the best of all turns for each table and forest that did not fail."""
    whole = lines[lines["error"].isna()]
    groups = whole[whole["dataset"].isin(list(TABLES))].groupby(["dataset", "forest"])
    best = groups[[column for _, column, _, _ in COLUMNS]].min()
    return best.join(groups[["accuracy", "n_rows"]].mean())


def tables_of(best: pd.DataFrame) -> list[str]:
    """Tables, in the usual order."""
    return [name for name in TABLES if name in best.index.get_level_values("dataset")]


def about(lines: pd.DataFrame, n_jobs: int) -> str:
    """Say where and how it was measured."""
    times = lines[(lines["what"] == "time") & lines["error"].isna()]
    n_fits = times.groupby(["dataset", "forest", "n_jobs"])["fit"].count()
    engines = "; ".join(
        f"{FORESTS[forest].label} computed by {' and '.join(sorted(told.unique()))}"
        for forest, told in times.dropna(subset="engine").groupby("forest")["engine"]
    )
    calls = times.groupby("dataset")["started"].nunique()
    in_parts = [TABLES[name].label for name in calls.index[calls > 1]]
    parts = [
        f"{' / '.join(lines['machine'].unique())}; "
        f"{', '.join(sorted(lines['version'].dropna().unique()))}.",
        f"{n_jobs} threads, 100 trees, best of {spread(n_fits)} fits; load average "
        f"before a call {spread(lines['load'])}.",
        f"{engines}." if engines else "",
        f"Measured in more than one call: {', '.join(in_parts)}." if in_parts else "",
    ]
    return " ".join(part for part in parts if part)


def spread(values: pd.Series, form: str = "g") -> str:
    """Write the smallest and the largest."""
    low, high = format(values.min(), form), format(values.max(), form)
    return low if low == high else f"{low} to {high}"


def number(value: float, digits: int) -> str:
    """So many digits count; never with an exponent."""
    if pd.isna(value):
        return ""
    return np.format_float_positional(value, digits, fractional=False, trim="-")


# ---- a table for each dataset --------------------------------------------------------


def title(lines: pd.DataFrame, name: str) -> str:
    """Write its name and its size."""
    size = lines[lines["dataset"] == name].iloc[0]
    return (
        f"**{TABLES[name].label}**: {size.n_rows:,.0f} rows, {size.n_features:,.0f} "
        f"features, {size.n_classes:.0f} classes"
    )


def table(lines: pd.DataFrame, best: pd.DataFrame, name: str, n_jobs: int) -> str:
    """Lay out a line for each forest; below, why those that failed did."""
    failed = lines[(lines["dataset"] == name) & lines["error"].notna()]
    reasons = dict(zip(failed["forest"], failed["error"], strict=True))
    rows = []
    for forest in FORESTS:
        if forest in best.index:
            rows.append([FORESTS[forest].label, *cells_of(best, forest)])
        elif forest in reasons:
            rows.append([FORESTS[forest].label, "failed", *[""] * len(COLUMNS)])
    headings = [heading.format(n_jobs) for heading, _, _, _ in COLUMNS]
    notes = [f"{FORESTS[name].label} failed: {why}" for name, why in reasons.items()]
    return "\n\n".join([layout(["forest", *headings, "accuracy %"], rows), *notes])


def cells_of(best: pd.DataFrame, forest: str) -> list[str]:
    """Write the numbers of one forest, with ratios to the best peer in brackets."""
    cells = []
    for _, column, unit, has_ratio in COLUMNS:
        value = best.loc[forest, column]
        cells.append(number(value / unit, 3))
        least = best.reindex(RIVALS)[column].min()
        if has_ratio and not pd.isna(value / least):
            cells[-1] += f" ({number(value / least, 2)})"
    accuracy = best.loc[forest, "accuracy"]
    return [*cells, "" if pd.isna(accuracy) else f"{100 * accuracy:.2f}"]


# ---- summary -------------------------------------------------------------------------


def summary(lines: pd.DataFrame, best: pd.DataFrame, n_jobs: int) -> list[str]:
    """Sum up all tables but the one that only shows what a row costs."""
    wide = {
        column: best.drop(SMALL, level="dataset", errors="ignore")[column]
        .unstack("forest")
        .reindex(columns=list(FORESTS))
        for column in best
    }
    one_row = {"one_row": 1, "one_row_threads": n_jobs}
    fit = wide["fit"]
    rows = [
        ratio_row(
            f"{what}, {{}} / {FORESTS[peer].label}", "forest", wide[column], [peer]
        )
        for what, column in DEFAULT_FOREST.items()
        for peer in (BASE, "intelex")
    ]
    rows += [
        ratio_row("fit, {} / fastest peer", "mrf", fit, RIVALS),
        ratio_row("fit, {} / scikit-learn-intelex", "breiman", fit, ["intelex"]),
    ]
    for forest in ("mrf", "breiman"):
        rows += [
            ratio_row("predict, {} / fastest peer", forest, wide["predict"], RIVALS),
            *(
                ratio_row(
                    f"one row, {threads} thread{'s' * (threads > 1)}, {{}} / "
                    "scikit-learn RandomForest",
                    forest,
                    wide[column],
                    [BASE],
                )
                for column, threads in one_row.items()
            ),
            ratio_row("memory, {} / smallest peer", forest, wide["memory"], RIVALS),
            ratio_row(
                "model, {} / scikit-learn RandomForest", forest, wide["size"], [BASE]
            ),
        ]
    rows += [threads_row(forest, lines, n_jobs) for forest in ("forest", "mrf")]
    head = ["ratio", "tables", "≤ 0.5", "≤ 1", "geometric mean", "smallest", "largest"]
    facts = [accuracies(wide["accuracy"]), scaling(best), imports(lines)]
    return [
        layout(head, [row for row in rows if row]),
        "\n".join(f"- {fact}" for fact in facts if fact),
    ]


def ratio_row(
    what: str, ours: str, values: pd.DataFrame, theirs: Sequence[str]
) -> list[str]:
    """Write what our forest has as a share of the least that the others have."""
    rivals = values[list(theirs)].dropna(how="all")
    ratios = (values[ours] / rivals.min(axis=1)).dropna()
    least = {}
    if len(theirs) > 1:
        least = rivals.idxmin(axis=1).map(lambda name: FORESTS[name].label).to_dict()
    return ratios_row(what.format(FORESTS[ours].label), ratios, least)


def ratios_row(what: str, ratios: pd.Series, notes: Mapping[str, str]) -> list[str]:
    """Count ratios, and write the smallest and the largest with their tables."""
    if ratios.empty:
        return []
    low, high = ratios.idxmin(), ratios.idxmax()
    place = ", ".join(filter(None, [TABLES[high].label, notes.get(high)]))
    ends = [
        f"{number(ratios[low], 2)} ({TABLES[low].label})",
        f"{number(ratios[high], 2)} ({place})",
    ]
    counts = [f"{(ratios <= limit).sum()} of {len(ratios)}" for limit in (0.5, 1.0)]
    mean = number(np.exp(np.log(ratios).mean()), 2)
    return [what, str(len(ratios)), *counts, mean, *ends]


def threads_row(forest: str, lines: pd.DataFrame, n_jobs: int) -> list[str]:
    """Write what more threads make of the time of our fit."""
    times = lines[(lines["forest"] == forest) & (lines["what"] == "time")]
    best = times.groupby(["dataset", "n_jobs"])["fit"].min().unstack("n_jobs")
    if n_jobs == 1 or not {1, n_jobs} <= set(best.columns):
        return []
    ratios = (best[n_jobs] / best[1]).dropna()
    label = FORESTS[forest].label
    return ratios_row(f"fit, {label}, {n_jobs} threads / 1 thread", ratios, {})


def accuracies(accuracy: pd.DataFrame) -> str:
    """Say how far Breiman's forest is from the same one by others."""
    told = []
    for theirs in ("intelex", BASE):
        gap = 100 * (accuracy["breiman"] - accuracy[theirs]).dropna()
        if len(gap):
            told.append(
                f"less {FORESTS[theirs].label}'s: {gap.mean():+.2f} points on average, "
                f"{gap.min():+.2f} ({TABLES[gap.idxmin()].label}) to "
                f"{gap.max():+.2f} ({TABLES[gap.idxmax()].label})"
            )
    return f"Accuracy of Breiman {'; '.join(told)}." if told else ""


def scaling(best: pd.DataFrame) -> str:
    """Say what a row of a large table costs as a share of one of a small table."""
    if not {SMALL, LARGE} <= set(tables_of(best)):
        return ""
    cost = (best["fit"] / best["n_rows"]).unstack("dataset")
    ratios = (cost[LARGE] / cost[SMALL]).dropna()
    told = (
        f"{number(ratios[forest], 2)} ({FORESTS[forest].label})"
        for forest in FORESTS
        if forest in ratios
    )
    return (
        "Time of fit a row at 1,000,000 rows / at 10,000 rows, 20 features: "
        f"{', '.join(told)}."
    )


def imports(lines: pd.DataFrame) -> str:
    """Say what the import of our package adds to that of scikit-learn's forests."""
    times = lines[lines["what"] == "import"]
    median = times.groupby("forest")["import_seconds"].median()
    if not {"mrf", BASE} <= set(median.index):
        return ""
    ours, theirs = median["mrf"], median[BASE]
    return (
        f"Import of mrforest after `import sklearn.ensemble`: {1000 * ours:.0f} ms, "
        f"{number(ours / theirs, 2)} of that import itself."
    )
