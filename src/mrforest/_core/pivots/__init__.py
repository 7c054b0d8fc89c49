# SPDX-License-Identifier: BSD-3-Clause
"""Trees whose splits compare a row with two others."""
