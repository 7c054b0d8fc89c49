# SPDX-License-Identifier: BSD-3-Clause
"""Kernels in C, and the choice of those for this machine."""
