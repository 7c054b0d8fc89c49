# SPDX-License-Identifier: BSD-3-Clause
"""The fitted model: trees in arrays, and rows that go through them.

- nodes: what a node holds
- codec: the arrays in less memory, for forests at rest and in files
- engines: which way rows go through trees, and the nodes laid out for it
- arrays: all trees of a forest; leaves, pivots: the same with what leaves hold
- tree: a view of one tree
- fitted: what a fitted estimator can do
"""
