# SPDX-License-Identifier: BSD-3-Clause
"""Tables and figure of privacy.py, from its file of results."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from privacy_peers import OURS, PUBLIC_TOOLS, TOOLS
from record import layout

AUC_SETS = ["adult", "magic", "bank-marketing"]  # shown in the figure
# Methods of a file of earlier figures that are no private tools
NO_TOOLS = ["rf", "majority"]
COLOURS = {
    "mrforest": "#1f5fa8",
    "mrforest-counts": "#6fb1e8",
    "diffprivlib": "#e07b00",
    "dp-ebm": "#5b9a68",
    "random-forest": "#555555",
    "majority": "#a0a0a0",
}
RUN = ["dataset", "shuffle", "fold", "epsilon", "tool"]
KEYS = ["dataset", "tool", "epsilon"]


def markdown(results: pd.DataFrame, earlier: pd.DataFrame | None = None) -> str:
    """Return all tables.

    Parameters
    ----------
    results : DataFrame
        Lines of privacy.py.
    earlier : DataFrame, default=None
        Accuracies of other runs: dataset, method, epsilon, acc_mean.
    """
    # A run that was done again, to take turns with other tools, counts for times only.
    everything, results = results, results.drop_duplicates(RUN)
    two_class = results[results["n_classes"] == 2]
    n_sets, n_two = results["dataset"].nunique(), two_class["dataset"].nunique()
    parts = [
        f"{', '.join(sorted(results['version'].unique()))}; {shuffles(results)}. "
        f"{noise(results)}",
        f"**Mean accuracy over {n_sets} sets**",
        by_epsilon(results, "accuracy"),
        f"**Mean accuracy over the {n_two} sets of two classes**",
        by_epsilon(two_class, "accuracy"),
        f"**Mean AUC over the {n_two} sets of two classes**",
        by_epsilon(two_class, "auc"),
    ]
    if shown := [e for e in (1.0, *epsilons_of(results)) if e in set(results.epsilon)]:
        alone = results[results["epsilon"].isin([shown[0], math.inf])]
        parts += [f"**Accuracy of each set at ε = {shown[0]:g}**"]
        parts += [by_set(alone, "accuracy")]
        alone = alone[alone["n_classes"] == 2]
        parts += [f"**AUC of each set at ε = {shown[0]:g}**", by_set(alone, "auc")]
    if ours_are_in(results):
        parts += ["**Where mrforest is ahead**", ahead(results, earlier)]
        parts += ["**Time of fit, mrforest's divided by theirs**"]
        parts += [times(everything)]
    return "\n\n".join(part for part in parts if part)


def shuffles(results: pd.DataFrame) -> str:
    """Say how often the rows were shuffled; not all tools had the same patience."""
    counts = results.groupby("tool")["shuffle"].nunique()
    if counts.nunique() == 1:
        n = int(counts.iloc[0])
        return f"five folds, {n} shuffle{'s' * (n > 1)}"
    each = (f"{TOOLS[tool].label}: {n}" for tool, n in counts.items())
    return f"five folds; shuffles at most, {'; '.join(each)}"


def noise(results: pd.DataFrame) -> str:
    """Say how far a mean over the folds of one set may be off."""
    errors = results.groupby(KEYS)["accuracy"].sem()
    return (
        f"Standard error of the accuracy on one set: median {errors.median():.3f}, "
        f"largest {errors.max():.3f}."
    )


def ours_are_in(results: pd.DataFrame) -> bool:
    """Whether our forest was run."""
    return bool(results["tool"].isin(OURS).any())


def epsilons_of(results: pd.DataFrame) -> list[float]:
    """Epsilons, ascending."""
    return sorted(e for e in results["epsilon"].unique() if e < math.inf)


def tools_of(results: pd.DataFrame) -> list[str]:
    """Tools, in the usual order."""
    return [tool for tool in TOOLS if tool in set(results["tool"])]


def means_of(results: pd.DataFrame, measure: str) -> pd.Series:
    """Means over folds and shuffles; what is not private is the same at any epsilon."""
    means = results.groupby(KEYS)[measure].mean()
    always = means[means.index.get_level_values("epsilon") == math.inf]
    at_each = [
        always.rename(index={math.inf: epsilon}, level="epsilon")
        for epsilon in epsilons_of(results)
    ]
    private = means[means.index.get_level_values("epsilon") < math.inf]
    return pd.concat([private, *at_each])


def curves(results: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Mean over sets for each tool and epsilon; only where a tool has all sets."""
    table = means_of(results, measure).unstack("dataset")
    table = table.reindex(columns=results["dataset"].unique())
    curve = table.mean(axis=1, skipna=False).unstack("epsilon")
    return curve.reindex([tool for tool in tools_of(results) if tool in curve.index])


def by_epsilon(results: pd.DataFrame, measure: str) -> str:
    """Lay out a line for each tool, a column for each epsilon."""
    curve = curves(results, measure).dropna(how="all")
    head = ["tool", *(f"ε = {epsilon:g}" for epsilon in curve.columns)]
    lines = [[TOOLS[tool].label, *map(number, row)] for tool, row in curve.iterrows()]
    return layout(head, lines)


def by_set(results: pd.DataFrame, measure: str) -> str:
    """Lay out a line for each dataset, a column for each tool."""
    means = results.groupby(["dataset", "tool"])[measure].mean().unstack("tool")
    sizes = results.groupby("dataset")[["n_rows", "n_classes"]].first()
    tools = tools_of(results)
    head = ["dataset", "rows", "classes", *(TOOLS[tool].label for tool in tools)]
    lines = [
        [
            name,
            f"{sizes.n_rows[name]:,}",
            str(sizes.n_classes[name]),
            *map(number, means.loc[name, tools]),
        ]
        for name in results["dataset"].unique()
    ]
    return layout(head, lines)


def ahead(results: pd.DataFrame, earlier: pd.DataFrame | None) -> str:
    """Count the sets on which our forest is above every private tool."""
    epsilons = epsilons_of(results)
    lines = []
    for ours, measure in zip(OURS, ("accuracy", "auc"), strict=True):
        means = means_of(results, measure)
        if ours not in means.index.get_level_values("tool"):
            continue
        mine = means.xs(ours, level="tool").dropna()
        here = means[means.index.get_level_values("tool").isin(PUBLIC_TOOLS)]
        rivals = {"tools of this run": here.groupby(["dataset", "epsilon"]).max()}
        if earlier is not None and measure == "accuracy":
            tools = earlier[~earlier["method"].isin(NO_TOOLS)]
            best = tools.groupby(["dataset", "epsilon"])["acc_mean"].max()
            rivals["earlier figures"] = best
            both = pd.concat(list(rivals.values()))
            rivals["both"] = both.groupby(["dataset", "epsilon"]).max()
        for name, theirs in rivals.items():
            lead = (mine - theirs).dropna()
            if len(lead):
                label = f"{measure}, {TOOLS[ours].label}: above {name}"
                lines.append([label, *wins(lead, epsilons), lowest(lead)])
    head = ["", *(f"ε = {epsilon:g}" for epsilon in epsilons), "all", "smallest lead"]
    return layout(head, lines)


def wins(lead: pd.Series, epsilons: Iterable[float]) -> list[str]:
    """Write for each epsilon, and for all, on how many sets of how many."""
    level = lead.index.get_level_values("epsilon")
    parts = [lead[level == epsilon] for epsilon in epsilons]
    return [f"{(part > 0).sum()} of {len(part)}" for part in [*parts, lead]]


def lowest(lead: pd.Series) -> str:
    """Write where the lead is smallest, or the gap largest."""
    dataset, epsilon = lead.idxmin()
    return f"{lead.min():+.3f} ({dataset}, ε = {epsilon:g})"


def times(results: pd.DataFrame) -> str:
    """Ratios of times of fits that took turns, on the same folds in the same call."""
    turn = ["dataset", "epsilon", "shuffle", "fold", "started"]
    seconds = results.set_index([*turn, "tool"])["fit_seconds"].unstack("tool")
    lines = []
    for ours in OURS:
        for theirs in PUBLIC_TOOLS:
            if not {ours, theirs} <= set(seconds.columns):
                continue
            pairs = seconds[[ours, theirs]].dropna().groupby("dataset").sum()
            ratios = pairs[ours] / pairs[theirs]
            if len(ratios):
                lines.append(
                    [
                        f"{TOOLS[ours].label} / {TOOLS[theirs].label}",
                        str(len(ratios)),
                        f"{np.exp(np.log(ratios).mean()):.2g}",
                        f"{ratios.min():.2g} ({ratios.idxmin()})",
                        f"{ratios.max():.2g} ({ratios.idxmax()})",
                    ]
                )
    head = ["", "sets", "geometric mean", "smallest", "largest"]
    return layout(head, lines) if lines else "No two tools were run in turns."


def number(value: float) -> str:
    """Three digits, or nothing."""
    return "" if np.isnan(value) else f"{value:.3f}"


# ---- figure --------------------------------------------------------------------------


def draw(results: pd.DataFrame) -> Figure:
    """Accuracy of all sets and of those of two classes, and AUC of three of them."""
    results = results.drop_duplicates(RUN)
    two_class = results[results["n_classes"] == 2]
    figure = Figure(figsize=(12, 8.4), layout="constrained", dpi=130)
    panels = figure.subplot_mosaic("AAABBB;CCDDEE")
    draw_panel(panels["A"], results, "accuracy", "Mean accuracy, {} sets")
    draw_panel(panels["B"], two_class, "accuracy", "Mean accuracy, {} two-class sets")
    for place, name in zip("CDE", AUC_SETS, strict=True):
        of_set = results[results["dataset"] == name]
        draw_panel(panels[place], of_set, "auc", f"AUC, {name}")
    handles: dict[str, object] = {}
    for axes in panels.values():
        found, labels = axes.get_legend_handles_labels()
        handles |= dict(zip(labels, found, strict=True))
    ordered = [tool.label for tool in TOOLS.values() if tool.label in handles]
    figure.legend(
        [handles[label] for label in ordered],
        ordered,
        loc="outside lower center",
        ncols=3,
        frameon=False,
    )
    return figure


def draw_panel(axes: Axes, results: pd.DataFrame, measure: str, title: str) -> None:
    """One line for each tool; those without privacy are level."""
    epsilons = epsilons_of(results)
    if not epsilons:  # nothing was run
        axes.axis("off")
        return
    axes.set_title(title.format(results["dataset"].nunique()))
    axes.spines[["top", "right"]].set_visible(False)
    axes.set(xscale="log", xlabel="ε")
    axes.grid(color="#e4e4e4")
    axes.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    axes.set_xticks([], minor=True)
    for tool, curve in curves(results, measure).dropna(how="all").iterrows():
        if TOOLS[tool].is_private:
            style = {"marker": "o"}
        else:
            style = {"linestyle": "--" if tool == "majority" else ":"}
        axes.plot(
            epsilons,
            curve[epsilons],
            color=COLOURS[tool],
            label=TOOLS[tool].label,
            **style,
        )
