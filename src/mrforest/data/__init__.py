# SPDX-License-Identifier: BSD-3-Clause
"""From the user's table to the numbers and codes that the compiled core reads."""
