# SPDX-License-Identifier: BSD-3-Clause
"""What the package promises as a whole."""

import importlib
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import mrforest
from docs.public_modules import MODULES
from tests.forests.every import EVERY

ROOT = Path(__file__).parent.parent


def test_public_names():
    assert mrforest.__all__ == [
        "BernoulliForestClassifier",
        "BernoulliForestRegressor",
        "BreimanForestClassifier",
        "BreimanForestRegressor",
        "CenteredForestClassifier",
        "ComparisonForestClassifier",
        "CompletelyRandomForestClassifier",
        "DataDrivenMultinomialForestClassifier",
        "DenilForestClassifier",
        "DenilForestRegressor",
        "ForestClassifier",
        "ForestRegressor",
        "MultinomialForestClassifier",
        "MultinomialForestRegressor",
        "PrivateForestClassifier",
        "PrivateForestRegressor",
        "PurelyRandomForestClassifier",
        "RuleForestClassifier",
        "RuleForestRegressor",
        "__version__",
        "load",
        "save",
    ]
    assert all(hasattr(mrforest, name) for name in mrforest.__all__)


def test_forests_are_imported_when_they_are_asked_for():
    told = """if True:
        import sys, mrforest
        assert not any(name.startswith("mrforest.") for name in sys.modules)
        mrforest.MultinomialForestClassifier
        assert "mrforest.forests.multinomial" in sys.modules
        assert not any(name.startswith("mrforest.privacy") for name in sys.modules)
        mrforest.privacy.Accountant(1.0)
        from mrforest import *
        assert PrivateForestClassifier is mrforest.PrivateForestClassifier
        assert set(mrforest.__all__) <= set(dir(mrforest))
    """
    subprocess.run([sys.executable, "-c", told], check=True)


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_has_an_example(module):
    """They are run with the doctests."""
    content = importlib.import_module(module)
    named = {name: getattr(content, name) for name in content.__all__}
    without = [
        name
        for name, thing in named.items()
        if callable(thing) and ">>>" not in (thing.__doc__ or "")
    ]
    assert without == []


def test_other_names_are_not_there():
    with pytest.raises(AttributeError, match="no attribute 'RandomForest'"):
        mrforest.RandomForest  # noqa: B018


def test_every_forest_is_tested():
    """Others have tests of their own: forests/test_private_*.py, test_rules.py."""
    tested = {cls.__name__ for cls, _ in EVERY.values()}
    tested |= {"PrivateForestClassifier", "PrivateForestRegressor"}
    tested |= {"RuleForestClassifier", "RuleForestRegressor"}
    assert tested == {name for name in mrforest.__all__ if "Forest" in name}


def test_one_version():
    assert mrforest.__version__ == version("mrforest")
    assert f"version: '{mrforest.__version__}'" in (ROOT / "meson.build").read_text()


def test_the_examples_of_the_page_about_audits_run(capsys):
    page = (ROOT / "docs" / "audits.md").read_text()
    exec("\n".join(re.findall(r"```python\n(.*?)```", page, re.S)), {})
    told = capsys.readouterr().out
    assert "its noise is no secret" in told
    assert "largest loss 0.99" in told


def test_the_examples_of_the_readme_run(capsys):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert len(blocks) == 2
    exec("\n".join(blocks), {})
    told = capsys.readouterr().out
    assert 0.94 < float(told.split()[0]) < 0.99
    assert "total: epsilon = " in told
