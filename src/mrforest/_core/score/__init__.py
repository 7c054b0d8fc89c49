# SPDX-License-Identifier: BSD-3-Clause
"""Candidates of a node and their scores."""
