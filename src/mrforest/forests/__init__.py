# SPDX-License-Identifier: BSD-3-Clause
"""The forests, as scikit-learn estimators; one file each.

What they share is in base (fit), growing (trees), mixins (kinds of forests),
private_base (private fits), self_tuning (forests that tune themselves, with held_out
and tuning), sampling (points of a tree) and targets. A fitted forest is a
`mrforest.model`.
"""
