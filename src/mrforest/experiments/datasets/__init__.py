# SPDX-License-Identifier: BSD-3-Clause
"""The paper's datasets, and larger ones."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["Dataset", "load"]


@dataclass(frozen=True)
class Dataset:
    """A table that was checked.

    Attributes
    ----------
    name : str
    X : DataFrame
        Numbers as float64, categories as pandas' categories; missing values as NaN.
    y : ndarray of str
    """

    name: str
    X: pd.DataFrame
    y: NDArray[np.str_]


def load(name: str, *, folder: Path | str | None = None) -> Dataset:
    """Load a dataset."""
    folder = Path(folder or os.environ["MRFOREST_DATA"])
    manifest = json.loads((folder / "manifest.json").read_text())
    entry = next(e for e in manifest["datasets"] if e["name"] == name)
    frame = pd.read_csv(folder / entry["file"])
    frame = frame[frame["target"].notna()].drop(columns=entry["suggested_drop"])
    categorical = {c for c, kind in entry["kinds"].items() if kind == "categorical"}
    for column in categorical & set(frame.columns):
        frame[column] = frame[column].astype("category")
    y = frame.pop("target").astype(str).to_numpy(dtype=str)
    return Dataset(name, frame, y)
