# SPDX-License-Identifier: BSD-3-Clause
"""Trees that grow."""
