# SPDX-License-Identifier: BSD-3-Clause
"""The figure of the audits: what was claimed, and what was found."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mrforest.experiments.audit import Attack, Audits, Check
from mrforest.privacy.audit import membership_bound

__all__ = ["draw"]

BLUE, ORANGE, RED, GREY = "#1f5fa8", "#e07b00", "#c0272d", "#8a8a8a"
MARKERS = {True: ["o", "s", "^", "D"], False: ["X", "P"]}


def draw(audits: Audits) -> Figure:
    """Draw losses of mechanisms, bounds of forests, attacks, and losses of rows.

    Parameters
    ----------
    audits : Audits
        What `mrforest.experiments.audit.run` returned.

    Returns
    -------
    matplotlib.figure.Figure
        Not shown and not saved.

    Examples
    --------
    >>> from mrforest.experiments import audit, audit_figure
    >>> figure = audit_figure.draw(audit.run(runs=100, attacks=4, n_jobs=1))
    >>> figure.axes[0].get_title()
    'Every small dataset, neighbour and output'
    """
    figure = Figure(figsize=(12, 8.6), layout="constrained", dpi=150)
    panels = figure.subplots(2, 2).ravel()
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_axisbelow(True)
    by_audit = {
        kind: [check for check in audits.checks if check.audit == kind]
        for kind in ("exhaustive", "empirical")
    }
    _draw_mechanisms(panels[0], by_audit["exhaustive"])
    _draw_forests(panels[1], by_audit["empirical"])
    _draw_attacks(panels[2], audits.attacks)
    _draw_losses(panels[3], audits)
    return figure


def _draw_mechanisms(axes: Axes, checks: list[Check]) -> None:
    """Largest losses, as shares of the claim; infinite ones are at the top."""
    shares = [check.found / check.claimed for check in checks]
    top = 1.25 * max(1.0, *(share for share in shares if share < math.inf))
    markers = {is_sound: iter(names) for is_sound, names in MARKERS.items()}
    for what in dict.fromkeys(check.what for check in checks):
        own = [check for check in checks if check.what == what]
        found = np.array([check.found / check.claimed for check in own])
        is_infinite = bool(np.isinf(found).all())
        is_sound = own[0].is_sound
        axes.plot(
            [check.claimed for check in own],
            np.minimum(found, top),
            marker=next(markers[is_sound]),
            markersize=8,
            linestyle="none" if is_infinite else "-",
            linewidth=1,
            color=BLUE if is_sound else RED,
            markerfacecolor="white" if is_sound else RED,
            clip_on=False,
            label=what + (" (infinite)" if is_infinite else ""),
        )
    axes.axhline(1, color=GREY, linestyle="--", linewidth=1)
    _log_axis(axes, sorted({check.claimed for check in checks}))
    axes.set(
        ylim=(0, top),
        xlabel="declared epsilon",
        ylabel="largest loss / declared epsilon",
        title="Every small dataset, neighbour and output",
    )
    axes.legend(frameon=False, fontsize="small", loc="lower right")


def _log_axis(axes: Axes, ticks: list[float]) -> None:
    axes.set_xscale("log")
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


def _draw_forests(axes: Axes, checks: list[Check]) -> None:
    """Lower bounds on epsilon, beside the claim that they all make."""
    claimed = checks[0].claimed
    bars = axes.barh(
        [check.what for check in checks],
        [check.found for check in checks],
        color=[BLUE if check.holds else RED for check in checks],
        height=0.4,
    )
    axes.set_ylim(-0.7, len(checks) - 0.3)
    axes.axvline(claimed, color=GREY, linestyle="--", linewidth=1)
    over_line = {"boxstyle": "square,pad=0.1", "color": "white"}
    axes.bar_label(bars, fmt="%.2f", padding=4, bbox=over_line)
    axes.annotate(
        f" claimed: {claimed:g}", (claimed, 1), xycoords=("data", "axes fraction"),
        color=GREY, va="top",
    )  # fmt: skip
    axes.invert_yaxis()
    axes.set_xlim(0, 1.15 * max(claimed, *(check.found for check in checks)))
    axes.tick_params(axis="y", length=0)
    axes.set(
        xlabel="epsilon is at least (confidence 0.95)",
        title="Many fits of two neighbouring tables",
    )


def _draw_attacks(axes: Axes, attacks: list[Attack]) -> None:
    """Advantages of attackers under what epsilon allows."""
    private = [attack for attack in attacks if attack.epsilon is not None]
    epsilons = np.array([attack.result.epsilon for attack in private])
    line = np.geomspace(epsilons.min() / 1.5, epsilons.max() * 1.5, 100)
    bound = [membership_bound(float(epsilon)) for epsilon in line]
    axes.plot(line, bound, color=GREY, linestyle="--", linewidth=1)
    axes.fill_between(line, bound, 1, color=GREY, alpha=0.12, linewidth=0)
    axes.text(line[5], 0.93, "more than epsilon allows", color=GREY)
    results = [attack.result for attack in private]
    advantage = np.array([result.advantage for result in results])
    axes.errorbar(
        epsilons,
        advantage,
        [
            advantage - [result.low for result in results],
            [result.high for result in results] - advantage,
        ],
        color=BLUE, marker="o", capsize=3, linestyle="none", label=private[0].what,
    )  # fmt: skip
    for attack in attacks:
        if attack.epsilon is None:
            result = attack.result
            axes.axhspan(result.low, result.high, color=ORANGE, alpha=0.15, linewidth=0)
            axes.axhline(
                result.advantage, color=ORANGE, label=f"{attack.what}, not private"
            )
    _log_axis(axes, epsilons.tolist())
    axes.set(
        xlim=(line[0], line[-1]),
        ylim=(min(-0.2, advantage.min() - 0.1), 1),
        xlabel="declared epsilon",
        ylabel="advantage (95 % interval)",
        title="Was this row in the table? Diabetes data",
    )
    axes.legend(frameon=False, fontsize="small", loc=(0.68, 0.72))


def _draw_losses(axes: Axes, audits: Audits) -> None:
    """Histogram of the losses of single rows."""
    losses, claimed = audits.losses.losses, audits.losses.epsilon
    axes.hist(losses, bins=30, color=BLUE, alpha=0.85)
    for side in (-claimed, claimed):
        axes.axvline(side, color=GREY, linestyle="--", linewidth=1)
    axes.annotate(
        f"claimed: {claimed:g} ", (claimed, 1), xycoords=("data", "axes fraction"),
        color=GREY, va="top", ha="right",
    )  # fmt: skip
    axes.set(
        xlabel="log P(forest | table) - log P(forest | table without the row)",
        ylabel="rows",
        title=f"Breast-cancer data, largest loss {audits.losses.largest:.3f}",
    )
