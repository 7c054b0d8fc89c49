# SPDX-License-Identifier: BSD-3-Clause
"""The training rows as the engine reads them."""
