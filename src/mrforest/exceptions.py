# SPDX-License-Identifier: BSD-3-Clause
"""Errors and warnings of the package."""
