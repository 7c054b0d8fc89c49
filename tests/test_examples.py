# SPDX-License-Identifier: BSD-3-Clause
"""Examples run as they are, without a download, and draw what they promise."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("skimage")
pytest.importorskip("matplotlib")

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(example, tmp_path):
    figure = tmp_path / "figure.png"
    result = subprocess.run(
        [sys.executable, example, figure], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout
    assert figure.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_the_segmentation_finds_the_glands(tmp_path):
    """Glands are about six tenths of the image, and little of it is empty."""
    example = next(path for path in EXAMPLES if path.stem == "segment_an_image")
    output = subprocess.run(
        [sys.executable, example, tmp_path / "figure.png"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    shares = [float(line.split(":")[1].split("%")[0]) for line in output.splitlines()]
    assert sum(shares) == pytest.approx(100, abs=0.2)
    assert 45 < shares[0] < 70
    assert shares[2] < 12
