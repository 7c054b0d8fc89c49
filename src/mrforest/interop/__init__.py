# SPDX-License-Identifier: BSD-3-Clause
"""Move a fitted forest out: to scikit-learn, ONNX, SHAP."""

from mrforest.interop._onnx import to_onnx
from mrforest.interop._shap import shap_values
from mrforest.interop._sklearn import to_sklearn

__all__ = ["shap_values", "to_onnx", "to_sklearn"]
