# SPDX-License-Identifier: BSD-3-Clause
"""Random forests that one can prove things about."""

from mrforest.forests.multinomial import MultinomialForestClassifier

__all__ = ["MultinomialForestClassifier", "__version__"]

__version__ = "0.1.0"
