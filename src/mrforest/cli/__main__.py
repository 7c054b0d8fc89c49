# SPDX-License-Identifier: BSD-3-Clause
"""``python -m mrforest.cli``."""

from mrforest.cli import app

app()
