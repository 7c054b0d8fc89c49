# SPDX-License-Identifier: BSD-3-Clause
"""Examples run as they are, without a download, and draw what they promise."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("skimage")
pytest.importorskip("matplotlib")

EXAMPLES = Path(__file__).parent.parent / "examples"


def output_of(example, tmp_path):
    """Run an example; return what it prints, if it draws a figure."""
    figure = tmp_path / "figure.png"
    result = subprocess.run(
        [sys.executable, EXAMPLES / example, figure],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert figure.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    return result.stdout


def test_segment_an_image(tmp_path):
    """Glands are about six tenths of the image, and little of it is empty."""
    lines = output_of("segment_an_image.py", tmp_path).splitlines()
    shares = [float(line.split(":")[1].split("%")[0]) for line in lines]
    assert sum(shares) == pytest.approx(100, abs=0.2)
    assert 45 < shares[0] < 70
    assert shares[2] < 12


GALLERY = sorted(path.name for path in EXAMPLES.glob("plot_*.py"))


@pytest.mark.long
@pytest.mark.parametrize("example", GALLERY)
def test_gallery(example, tmp_path):
    """As `make docs` runs them, too, and then looks for their figures."""
    ran = subprocess.run(
        [sys.executable, EXAMPLES / example],
        env={**os.environ, "MPLBACKEND": "Agg"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


def test_all_examples_are_tested():
    tested = {"segment_an_image.py", *GALLERY}
    assert {path.name for path in EXAMPLES.glob("*.py")} == tested
    assert len(GALLERY) >= 8
