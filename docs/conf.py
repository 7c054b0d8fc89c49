# SPDX-License-Identifier: BSD-3-Clause
"""The documentation: ``python -m sphinx -W --keep-going -b html docs build/docs``.

Pages are Markdown that reads well on its own, so they hold plain links and no
directives. What a site needs beyond that is done here: files outside this folder become
pages, names become links to their reference.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # for our own modules
# Workers that an example or an import starts must not open a window either.
os.environ["MPLBACKEND"] = "Agg"

from docutils import nodes
from public_modules import MODULES
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

import mrforest

ROOT = Path(__file__).resolve().parent.parent

project = "mrforest"
author = "The mrforest developers"
project_copyright = author
version = release = mrforest.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["gallery/*.ipynb", "gallery/*.py", "gallery/*.zip"]
templates_path = ["_templates"]
# A name in single backticks is a link if it is a name of ours, else it is just code.
default_role = "py:obj"
nitpicky = False

# ---- Markdown ------------------------------------------------------------------------

# So that links to headings work here as they do where the files are browsed
myst_heading_anchors = 4

# ---- reference -----------------------------------------------------------------------

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections have them in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the template lists them
python_maximum_signature_line_length = 80
toc_object_entries_show_parents = "hide"

# ---- gallery -------------------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/(plot_|segment_)",
    "within_subsection_order": "gallery_order.default_forest_first",
    "backreferences_dir": "api/backreferences",
    "doc_module": ("mrforest",),
    # The first must see pyplot's figures, which the second closes.
    "image_scrapers": ("free_figures.scrape", "matplotlib"),
    "reference_url": {"mrforest": None},
    "image_srcset": ["2x"],
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 0,
    "write_computation_times": False,
}

# ---- HTML ----------------------------------------------------------------------------

# Tables that `mrforest reproduce` writes have no title of their own.
TITLES = {
    "results/consistency": "Consistency: all numbers",
    "results/hyperparameters": "Budgets: all numbers",
    "results/privacy-table": "Privacy: all numbers",
    "results/segmentation": "Segmentation: all numbers",
    "results/single-trees": "Single trees: all numbers",
    "results/split-probabilities": "Split probabilities: all numbers",
    "results/table1": "Table 1: all numbers",
}

html_theme = "pydata_sphinx_theme"
html_title = f"mrforest {release}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "mrforest"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "navigation_depth": 3,
    "show_prev_next": True,
    "show_toc_level": 2,
    # Pages of one wide table have the whole width for it.
    "secondary_sidebar_items": {
        "**": ["page-toc"],
        "forests": [],
        "genindex": [],
        "search": [],
        "results/accuracy": [],
        **{page: [] for page in TITLES},
    },
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "quickstart": []}

# ---- files that are no pages as they are ---------------------------------------------

# Page: the file whose text it is.
ELSEWHERE = {
    "benchmarks": ROOT / "benchmarks" / "README.md",
    "changelog": ROOT / "CHANGELOG.md",
    "contributing": ROOT / "CONTRIBUTING.md",
    "security": ROOT / "SECURITY.md",
}
LINK = re.compile(r"(\]\()([^)#\s]+)")


def read_source(app: Sphinx, docname: str, source: list[str]) -> None:
    """Take text from elsewhere, give tables a title, and turn links to pages."""
    home = ROOT / "docs" / docname
    if docname in ELSEWHERE:
        home = ELSEWHERE[docname]
        source[0] = home.read_text(encoding="utf-8")
        app.env.note_dependency(str(home))
    elif docname in TITLES:
        source[0] = f"# {TITLES[docname]}\n\n{source[0]}"
    if docname in ELSEWHERE or app.env.doc2path(docname).suffix == ".md":
        here = (ROOT / "docs" / docname).parent
        source[0] = LINK.sub(
            lambda m: m[1] + target(m[2], home.parent, here), source[0]
        )


def target(link: str, home: Path, here: Path) -> str:
    """Return where a link of a file in the folder `home` leads, seen from `here`."""
    if "://" in link:
        return link
    path = Path(os.path.normpath(home / link))
    for page, file in ELSEWHERE.items():
        if path == file:
            path = ROOT / "docs" / f"{page}.md"
    if path == ROOT / "examples":
        path = ROOT / "docs" / "gallery" / "index.rst"
    elif path.parent == ROOT / "examples":
        path = ROOT / "docs" / "gallery" / f"{path.stem}.rst"
    return os.path.relpath(path, here)


# ---- names as links ------------------------------------------------------------------


def homes() -> dict[str, str]:
    """Return where the classes and functions are that pages name without a module.

    A name that two modules have for different things is left out, and so are words such
    as "exact", which mean other things in a text.
    """
    found: dict[str, list[str]] = {}
    for module in MODULES:
        for name in import_module(module).__all__:
            found.setdefault(name, []).append(module)
    return {
        # The page of a name that a package repeats is that of the module it is from.
        name: f"{modules[-1]}.{name}"
        for name, modules in found.items()
        if len({id(getattr(import_module(m), name)) for m in modules}) == 1
        and (name[0].isupper() and name != name.upper())
    }


def link_names(app: Sphinx, doctree: nodes.document) -> None:
    """Make links of names in code of Markdown pages, where that is all of the code."""
    if not str(app.env.doc2path(app.env.docname)).endswith(".md"):
        return
    known = homes()
    for literal in list(doctree.findall(nodes.literal)):
        text = literal.astext()
        name = known.get(text, text if text.startswith("mrforest.") else None)
        if name is None or isinstance(literal.parent, nodes.reference | pending_xref):
            continue
        literal.replace_self(
            pending_xref(
                "",
                literal.deepcopy(),
                refdomain="py",
                reftype="obj",
                reftarget=name,
                refdoc=app.env.docname,
                refexplicit=True,
                refwarn=False,
            )
        )


# ---- what the reference shows --------------------------------------------------------


def skip_member(
    app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any
) -> bool | None:
    """Show methods and properties of ours; values are in the docstring of a class."""
    if what != "class":
        return None
    code = obj.fget if isinstance(obj, property) else obj
    if not (inspect.isroutine(code) or isinstance(obj, classmethod | staticmethod)):
        return True
    module = getattr(code, "__module__", None) or ""
    return skip or not module.startswith("mrforest")


def check_reference(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of a public name that the reference does not have."""
    documented = env.domains.python_domain.objects
    modules = {module: import_module(module) for module in MODULES}
    for module, content in modules.items():
        for name in content.__all__:
            # Some names are public in two modules, and one place is enough.
            same = (
                other
                for other in modules
                if getattr(modules[other], name, None) is getattr(content, name)
            )
            if not any(f"{other}.{name}" in documented for other in same):
                logging.getLogger(__name__).warning(
                    "%s.%s is public, and the reference does not have it", module, name
                )


def setup(app: Sphinx) -> None:
    """Connect all of this."""
    app.connect("source-read", read_source)
    app.connect("doctree-read", link_names)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("env-check-consistency", check_reference)
