# SPDX-License-Identifier: BSD-3-Clause
"""What fitted trees say of rows."""
