# SPDX-License-Identifier: BSD-3-Clause
"""The plan: each way is documented, and changes no forest."""

import re
from pathlib import Path

import pytest

from mrforest._core import plan
from tests.characterisation.cases import cases
from tests.characterisation.digests import difference, digests_of, stored

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/architecture.md"
# Between them they have what each way asks for
TABLES = ("3 classes", "3 codes", "40 codes", "2 codes", "512 rows")


@pytest.fixture(autouse=True)
def _all_ways_again():
    yield
    plan.switch_off()


def differences(options: str) -> list[str]:
    """What is not as stored, of the cases with these options."""
    found = [
        difference(case, digests_of(case), stored()[case])
        for case in cases()
        if case.table in TABLES and case.options == options
    ]
    return [line for line in found if line]


def test_without_any_way():
    """The general ways alone grow the same forests, which predict the same."""
    plan.switch_off(*plan.NAMES)
    assert not differences("as it is")


@pytest.mark.long
@pytest.mark.parametrize("way", plan.NAMES)
def test_without_one_way(way):
    plan.switch_off(way)
    assert not differences("as it is")


def test_switches():
    assert all(plan.is_taken(name) for name in plan.NAMES)
    plan.switch_off("blocks", "bit_votes")
    off = [name for name in plan.NAMES if not plan.is_taken(name)]
    assert off == ["blocks", "bit_votes"]
    with pytest.raises(ValueError, match="unknown ways: masks; known are cut_bits, "):
        plan.switch_off("masks")


@pytest.mark.skipif(not PAGE.exists(), reason="the pages are not here")
def test_each_way_is_documented():
    text = re.sub(r"\s+", " ", PAGE.read_text())
    assert re.findall(r"- \*\*(\w+)\*\* \(", text) == list(plan.NAMES)
    for way in plan.WAYS:
        when = f"- **{way.name}** ({way.stage}). When: {way.taken}. Otherwise: "
        assert when + way.instead in text


@pytest.mark.parametrize("way", plan.WAYS, ids=plan.NAMES)
def test_code_of_a_way_exists(way):
    core = ROOT / "src/mrforest/_core"
    if not core.exists():
        pytest.skip("the sources are not here")
    for name in way.code.split(", "):
        assert any((core / f"{name}{end}").exists() for end in ("", ".pyx"))
