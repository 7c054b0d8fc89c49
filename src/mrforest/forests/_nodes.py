# SPDX-License-Identifier: BSD-3-Clause
"""What the field ``feature`` of a node holds: its feature, and two flags (walk.h)."""

import numpy as np

FEATURE_MASK = np.uint32(0x3FFFFFFF)
MISSING_LEFT = np.uint32(0x40000000)
EQUALITY = np.uint32(0x80000000)
