# SPDX-License-Identifier: BSD-3-Clause
"""Experiments with the forests."""

from mrforest._files import whole_file

__all__ = ["whole_file"]
