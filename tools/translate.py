# SPDX-License-Identifier: BSD-3-Clause
"""Translate Cython sources to C, all of them in one process.

Importing Cython takes longer than translating most modules. A C file that stays the
same is not touched, so it is not compiled again.

Usage: translate.py folder cython argument ... source ...
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory


def main(folder: str, *command: str) -> None:
    """Run Cython, and keep what it writes in the folder."""
    with TemporaryDirectory() as written:
        subprocess.run([*command, "-o", written], check=True)
        for path in Path(written).iterdir():
            kept = Path(folder, path.name)
            if not kept.exists() or kept.read_bytes() != path.read_bytes():
                kept.write_bytes(path.read_bytes())


if __name__ == "__main__":
    main(*sys.argv[1:])
