# SPDX-License-Identifier: BSD-3-Clause
"""Random streams, and what is drawn from them."""
