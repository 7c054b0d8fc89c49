# SPDX-License-Identifier: BSD-3-Clause
"""What sections ask of a frame of results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

__all__ = ["amount", "of_one_form", "of_one_kind", "settings_of", "with_columns"]

# A list of more values than this is told by its ends.
MOST_VALUES = 12


def of_one_form(
    frame: pd.DataFrame, tasks: Callable[..., list[dict[str, Any]]]
) -> tuple[pd.DataFrame, str]:
    """Keep the results of one form of an experiment, because forms do not mix.

    Parameters
    ----------
    frame : DataFrame
        All results of the experiment.
    tasks : callable
        Settings of its full form, or of its quick one if called with quick=True.

    Returns
    -------
    frame : DataFrame
        Of the full form if it is complete, else of the quick one if that is; else of
        the one with more results. All that there is, if none of it is of either form.
    form : str
        Which form, and how much of it there is.
    """
    full, n_full = _chosen(frame, tasks(quick=False))
    quick, n_quick = _chosen(frame, tasks(quick=True))
    frame = with_columns(frame, full.columns)
    if full.empty and quick.empty:
        return frame, "neither the full form nor the quick one"
    if len(full) == n_full or (len(quick) < n_quick and len(full) >= len(quick)):
        return full, f"full, {len(full):,} of {n_full:,} results"
    return quick, f"quick, {len(quick):,} of {n_quick:,} results"


def _chosen(
    frame: pd.DataFrame, wanted: list[dict[str, Any]]
) -> tuple[pd.DataFrame, int]:
    """Results that are wanted, and how many are."""
    settings = pd.DataFrame(wanted)
    shared = [name for name in settings if name in frame]
    kept = frame.merge(settings[shared].drop_duplicates(), on=shared)
    return with_columns(kept, settings.columns), len(settings)


def with_columns(frame: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """Add columns that are missing because none of the results so far has them.

    Examples
    --------
    >>> list(with_columns(pd.DataFrame({"model": ["forest"]}), ["model", "epsilon"]))
    ['model', 'epsilon']
    """
    return frame.reindex(columns=list(dict.fromkeys([*frame.columns, *names])))


def of_one_kind(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Keep the results with the commonest combination of some settings.

    Parameters
    ----------
    frame : DataFrame
        Not empty.
    names : sequence of str
        Columns of the settings.

    Returns
    -------
    DataFrame

    Examples
    --------
    >>> of_one_kind(pd.DataFrame({"seed": [0, 1, 1], "fold": [3, 4, 5]}), ["seed"])
       seed  fold
    1     1     4
    2     1     5
    """
    commonest = frame.value_counts(list(names)).index[0]
    return frame[(frame[list(names)] == list(commonest)).all(axis=1)]


def amount(frame: pd.DataFrame, of_what: str) -> str:
    """Tell how many results there are.

    Examples
    --------
    >>> amount(pd.DataFrame({"accuracy": range(1200)}), "folds")
    '1,200 folds'
    """
    return f"{len(frame):,} {of_what}"


def settings_of(frame: pd.DataFrame, names: Mapping[str, str]) -> dict[str, str]:
    """Tell which values settings have.

    Parameters
    ----------
    frame : DataFrame
        Results.
    names : mapping of str to str
        What to call each column. Columns that are not there are left out.

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> settings_of(pd.DataFrame({"seed": [1, 0, 1]}), {"seed": "seed", "k": "leaves"})
    {'seed': '0, 1'}
    """
    return {
        title: _listed(frame[name].dropna().unique().tolist())
        for name, title in names.items()
        if name in frame
    }


def _listed(values: list[Any]) -> str:
    is_text = all(isinstance(value, str) for value in values)
    texts = [_text(value) for value in (values if is_text else sorted(values))]
    if len(texts) > MOST_VALUES and not is_text:
        return f"{texts[0]} to {texts[-1]}, {len(texts)} values"
    return ", ".join(texts)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
