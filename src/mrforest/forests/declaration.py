# SPDX-License-Identifier: BSD-3-Clause
"""Parameters of estimators, declared once, in the body of a class.

Each is a name with a type and a default, as in a data class. The type is annotated with
the values that are allowed, as scikit-learn writes constraints, and a description:

    MaxDepth = Annotated[
        "int | None",
        Interval(Integral, 1, None, closed="left"),
        None,
        Doc('''int
            Depth at which every node is a leaf. None: no limit.'''),
    ]

    @estimator
    class Forest(BaseForestClassifier):
        n_estimators: NEstimators = 100
        _: KW_ONLY
        max_depth: MaxDepth = None

`estimator` makes the constructor and `_parameter_constraints` of it, and fills
``{parameters}`` and names of shared `ATTRIBUTES` in braces into the docstring. For type
checkers the class is a data class.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from inspect import Parameter
from itertools import groupby
from typing import (
    Any,
    ForwardRef,
    NamedTuple,
    TypeVar,
    dataclass_transform,
    get_args,
)

Class = TypeVar("Class", bound=type[Any])

POSITIONAL_OR_KEYWORD, KEYWORD_ONLY = (
    Parameter.POSITIONAL_OR_KEYWORD,
    Parameter.KEYWORD_ONLY,
)

# Fitted attributes that several forests have
ATTRIBUTES = {
    "classes_": """
classes_ : ndarray of shape (n_classes,)
    Class labels.
n_classes_ : int
    Number of classes.""",
    "n_features_in_": """
n_features_in_ : int
    Number of features.
feature_names_in_ : ndarray of shape (`n_features_in_`,)
    Names of features, if the table has them.""",
    "estimators_": """
estimators_ : list of Tree
    Views of the single trees.
n_leaves_, depths_ : ndarray of shape (n_estimators,)
    Leaves and depth of each tree.""",
    "importances_": """
feature_importances_ : ndarray of shape (`n_features_in_`,)
    Impurity decrease on the estimation points; without weights 0 on average for a
    feature that says nothing.
structure_importances_ : ndarray of shape (`n_features_in_`,)
    Impurity decrease on the structure points.""",
    "bag_importances_": """
feature_importances_, structure_importances_ : ndarray of shape (`n_features_in_`,)
    Impurity decrease on the points of the bags. The first estimates impurities without
    the bias of small nodes; as the same points choose the splits, both favour features
    of many values.""",
    "oob_classifier_": """
oob_score_ : float
    Out-of-bag accuracy, if asked for.
oob_decision_function_ : ndarray of shape (n_samples, n_classes)
    Out-of-bag probabilities, NaN for a row that is in every bag.""",
    "oob_regressor_": """
oob_score_ : float
    Out-of-bag R², if asked for.
oob_prediction_ : ndarray of shape (n_samples,)
    Out-of-bag predictions, NaN for a row that is in every bag.""",
    "tuned_": """
max_features_ : int
    Features that a node looks at, as it was chosen.
feature_budget_, split_budget_ : float
    The budgets that were chosen.
equality_cuts_ : bool
    Whether equality is offered, as it was chosen.
criterion_ : str
    The criterion that was chosen; "variance" in regression.
min_samples_split_, min_samples_leaf_ : int
    The leaf size that was chosen.
tuning_ : list of `mrforest.inspection.Trial`
    The settings that were tried, with the estimated loss of each leaf size; empty if
    all parameters were given. `mrforest.inspection.plot_tuning` draws it.""",
    "ledger_": """
ledger_ : Ledger
    All that the fit reveals about the rows, and what each part cost.""",
    "epsilon_": """
epsilon_ : float
    What the fit cost, at most `epsilon`; but for a probability of `delta_`. inf if it
    is not private.
delta_ : float
    The parameter.""",
    "n_rows_": """
n_rows_ : int or None
    The number of rows as the fit knows it: public, noisy (it may be far off, and
    negative, if epsilon is small), or None if it was not needed.""",
}


@dataclass(frozen=True)
class Doc:
    """What a docstring says of a parameter: its type in a line, and a description."""

    text: str


class Declared(NamedTuple):
    """A parameter.

    Attributes
    ----------
    parameter : inspect.Parameter
        As it stands in the signature.
    constraints : list
        As scikit-learn has them; any value is allowed if there is none.
    doc : Doc
    """

    parameter: Parameter
    constraints: list[Any]
    doc: Doc

    def named(self, names: str) -> str:
        """Return the lines of a docstring on parameters of these names."""
        kind, _, text = self.doc.text.partition("\n")
        text = inspect.cleandoc(text).replace("\n", "\n    ")
        return f"{names} : {kind}{self.default_in_words()}\n    {text}"

    def default_in_words(self) -> str:
        """Return the default as a docstring shows it behind the type."""
        default = self.parameter.default
        if default is Parameter.empty:
            return ""
        shown = f'"{default}"' if isinstance(default, str) else repr(default)
        if isinstance(default, float) and len(shown) > 9:  # 1/3, for example
            shown = str(Fraction(default).limit_denominator(9))
        return f", default={shown}"


@dataclass_transform()
def estimator(cls: Class) -> Class:
    """Make an estimator of a class that declares parameters."""
    declared = declared_in(cls)
    for name in declared.keys() & vars(cls).keys():
        delattr(cls, name)  # the default is that of the constructor
    set_parameters(cls, declared)
    if cls.__doc__:  # python -OO has none
        parts = {"parameters": described(declared), **ATTRIBUTES}
        cls.__doc__ = re.sub(
            r"(?m)^( *)\{(\w+)\}$",
            lambda match: indented(parts[match[2]], match[1]),
            cls.__doc__,
        )
    return cls


def declared_in(cls: type[Any]) -> dict[str, Declared]:
    """Read the parameters in the body of a class."""
    found: dict[str, Declared] = {}
    is_keyword = False
    for name, hint in inspect.get_annotations(cls, eval_str=True).items():
        if hint is KW_ONLY:
            is_keyword = True
            continue
        written, *metadata = get_args(hint) or (None,)
        if not isinstance(written, ForwardRef):
            raise TypeError(f"{cls.__name__}.{name} has a type, and is no parameter")
        parameter = Parameter(
            name,
            KEYWORD_ONLY if is_keyword else POSITIONAL_OR_KEYWORD,
            default=vars(cls).get(name, Parameter.empty),
            annotation=written.__forward_arg__,  # as it is written
        )
        docs = [item for item in metadata if isinstance(item, Doc)]
        constraints = [item for item in metadata if not isinstance(item, Doc)]
        found[name] = Declared(parameter, constraints, docs[-1])
    return found


def set_parameters(cls: type[Any], declared: Mapping[str, Declared]) -> None:
    """Give a class a constructor with these parameters, and their constraints."""
    parameters = [one.parameter for one in declared.values()]
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    by_place = [p.name for p in parameters if p.kind is not KEYWORD_ONLY]
    by_name = [p.name for p in parameters if p.kind is KEYWORD_ONLY]
    # An ordinary function, as if it were written out: it says in errors what is wrong.
    head = ", ".join(["self", *by_place, *(["*"] if by_name else []), *by_name])
    body = "; ".join(f"self.{name} = {name}" for name in declared)
    namespace: dict[str, Any] = {}
    exec(f"def __init__({head}): {body}", namespace)
    init = namespace["__init__"]
    init.__defaults__ = tuple(defaults[name] for name in by_place if name in defaults)
    init.__kwdefaults__ = {name: defaults[name] for name in by_name if name in defaults}
    init.__annotations__ = {p.name: p.annotation for p in parameters}
    init.__annotations__["return"] = "None"
    init.__module__, init.__qualname__ = cls.__module__, f"{cls.__qualname__}.__init__"
    cls.__init__ = init
    cls._parameters = dict(declared)
    cls._parameter_constraints = {
        name: one.constraints for name, one in declared.items() if one.constraints
    }


def described(declared: Mapping[str, Declared]) -> str:
    """Return the parameters as a section of a docstring has them.

    Neighbours of one description and one default are listed together.
    """
    groups = groupby(
        declared.items(), key=lambda item: (item[1].doc, item[1].parameter.default)
    )
    entries = []
    for _, group in groups:
        items = list(group)
        names = ", ".join(name for name, _ in items)
        entries.append(items[0][1].named(names))
    return "\n".join(entries)


def indented(text: str, indent: str) -> str:
    """Put spaces before the lines of a text."""
    lines = text.strip("\n").splitlines()
    return "\n".join(indent + line if line else line for line in lines)
