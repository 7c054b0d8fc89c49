# SPDX-License-Identifier: BSD-3-Clause
"""The forests, as scikit-learn estimators; one file each."""
