# SPDX-License-Identifier: BSD-3-Clause
"""The slow, plain twin of the forest engine, written from docs/algorithm.md."""
