# SPDX-License-Identifier: BSD-3-Clause
"""Figures of examples that pyplot does not know of, for the gallery."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.pyplot import figure, get_fignums
from sphinx_gallery.scrapers import figure_rst


def scrape(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save figures that a block has given a name to and that are not pyplot's.

    The functions of `mrforest.inspection` return such figures: they leave the state of
    pyplot alone.

    Parameters
    ----------
    block : tuple
        Kind, text and first line of the block.
    block_vars : dict
        Where to save a figure, and the variables of the example.
    gallery_conf : dict
        Of sphinx-gallery.

    Returns
    -------
    str
        reStructuredText that shows them.
    """
    pyplots = [figure(number) for number in get_fignums()]
    sizes: list[dict[float, str]] = []
    for value in block_vars["example_globals"].values():
        if not isinstance(value, Figure) or getattr(value, "was_seen", False):
            continue
        value.was_seen = True  # variables stay, so later blocks meet it again
        if value not in pyplots:
            path = Path(next(block_vars["image_path_iterator"]))
            fine = path.with_stem(f"{path.stem}_2_00x")  # for screens of fine pixels
            value.savefig(path, dpi=100)
            value.savefig(fine, dpi=200)
            sizes.append({0: str(path), 2.0: str(fine)})
    paths = [size[0] for size in sizes]
    return figure_rst(paths, gallery_conf["src_dir"], srcsetpaths=sizes)
