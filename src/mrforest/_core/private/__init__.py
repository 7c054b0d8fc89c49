# SPDX-License-Identifier: BSD-3-Clause
"""Private trees: sums over all subtrees, and draws from them."""
