# SPDX-License-Identifier: BSD-3-Clause
"""All that this package takes from scikit-learn's private modules, and types.

scikit-learn has no types. What derives from its classes could be called in any way, for
all that a type checker knows; so it sees those of this file in their place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from sklearn.base import _fit_context
from sklearn.utils import _safe_indexing as take_rows
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    RealNotInt,
    StrOptions,
)
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

if TYPE_CHECKING:

    class BaseEstimator:
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def __getstate__(self) -> dict[str, Any]: ...
        def __sklearn_tags__(self) -> Any: ...
        def __getattr__(self, name: str) -> Any: ...

    class ClassifierMixin:
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

    class RegressorMixin:
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

    class CallbackSupportMixin: ...

else:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

    try:  # scikit-learn 1.9 and later
        from sklearn.callback import CallbackSupportMixin
    except ImportError:  # pragma: no cover

        class CallbackSupportMixin:
            """Stands in for the callbacks that older versions do not have."""

            _skl_callbacks: ClassVar[list[Any]] = []


__all__ = [
    "BaseEstimator",
    "CallbackSupportMixin",
    "ClassifierMixin",
    "HasMethods",
    "Interval",
    "RealNotInt",
    "RegressorMixin",
    "StrOptions",
    "check_sample_weight",
    "fit_context",
    "take_rows",
    "tree_arrays",
]

Method = TypeVar("Method", bound=Callable[..., Any])


def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[Method], Method]:
    """Return scikit-learn's decorator of `fit`, which checks parameters; with types."""
    decorator: Callable[[Method], Method] = _fit_context(
        prefer_skip_nested_validation=prefer_skip_nested_validation
    )
    return decorator


def tree_arrays() -> type[Any]:
    """Return the class that has the arrays of one of scikit-learn's trees."""
    # Not many who grow a forest need it.
    from sklearn.tree._tree import Tree

    tree: type[Any] = Tree
    return tree
