# SPDX-License-Identifier: BSD-3-Clause
"""The forests, as scikit-learn estimators; one file each.

What they share:

- base, growing: fit, warm start; trees in threads
- mixins: classifiers, regressors, honest forests, forests of bootstrap samples
- self_tuning, held_out, tuning: forests that tune themselves
- private_base: private forests
- sampling, targets: points of a tree; targets and weights
- parameters, private_parameters, declaration: parameters, each declared once

A fitted forest is made of `mrforest.model`.
"""
