# SPDX-License-Identifier: BSD-3-Clause
"""Constructor, constraints and docstring of an estimator say what its body declares."""

import inspect
import pickle
from dataclasses import KW_ONLY
from typing import Annotated, Literal

import pytest
from sklearn.base import clone

import mrforest
from mrforest._sklearn import StrOptions
from mrforest.forests.declaration import Doc, estimator
from mrforest.forests.parameters import AT_LEAST_ONE, MaxDepth

Size = Annotated[
    "int",
    AT_LEAST_ONE,
    Doc("""int
        How large it is.
        Not small."""),
]
Colour = Annotated[
    "Literal['red', 'blue']",
    StrOptions({"red", "blue"}),
    Doc("""{"red", "blue"}
        What it looks like."""),
]
Shade = Annotated[
    Colour,
    Doc("""{"red", "blue"}
        Another description of the same values."""),
]


@estimator
class Ball:
    """A ball.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {classes_}
    """

    size: Size
    weight: MaxDepth = None
    _: KW_ONLY
    colour: Colour = "red"
    inside: Colour = "red"
    shade: Shade = "blue"
    share: Size = 1 / 3


def test_signature():
    assert str(inspect.signature(Ball)) == (
        "(size: 'int', weight: 'int | None' = None, *, "
        "colour: \"Literal['red', 'blue']\" = 'red', "
        "inside: \"Literal['red', 'blue']\" = 'red', "
        "shade: \"Literal['red', 'blue']\" = 'blue', "
        f"share: 'int' = {1 / 3}) -> 'None'"
    )
    assert inspect.signature(Ball.__init__).parameters["size"].annotation == "int"


def test_constructor():
    ball = Ball(3, colour="blue")
    assert vars(ball) == {
        "size": 3,
        "weight": None,
        "colour": "blue",
        "inside": "red",
        "shade": "blue",
        "share": 1 / 3,
    }
    assert not hasattr(Ball, "colour")  # a default is that of the constructor
    with pytest.raises(TypeError, match=r"Ball.__init__\(\) .* unexpected .*'hue'"):
        Ball(3, hue="red")
    with pytest.raises(TypeError, match="positional"):
        Ball(3, None, "red")
    with pytest.raises(TypeError, match=r"missing 1 required .*'size'"):
        Ball()


def test_docstring():
    assert inspect.getdoc(Ball) == inspect.cleandoc(
        """A ball.

        Parameters
        ----------
        size : int
            How large it is.
            Not small.
        weight : int, default=None
            Depth at which every node is a leaf. None: no limit.
        colour, inside : {"red", "blue"}, default="red"
            What it looks like.
        shade : {"red", "blue"}, default="blue"
            Another description of the same values.
        share : int, default=1/3
            How large it is.
            Not small.

        Attributes
        ----------
        classes_ : ndarray of shape (n_classes,)
            Class labels.
        n_classes_ : int
            Number of classes."""
    )


def test_constraints():
    assert Ball._parameter_constraints["weight"] == [AT_LEAST_ONE, None]
    [options] = Ball._parameter_constraints["shade"]
    assert options.options == {"red", "blue"}


def test_a_type_that_is_no_parameter():
    with pytest.raises(TypeError, match=r"Wrong\.size_ has a type, and is no param"):

        @estimator
        class Wrong:
            size_: int


def test_subclasses_inherit_the_constructor():
    class Red(Ball):
        """A red one."""

    assert Red(2, inside="blue").inside == "blue"
    assert inspect.signature(Red) == inspect.signature(Ball)


FORESTS = [getattr(mrforest, name) for name in mrforest.__all__ if "Forest" in name]


@pytest.mark.parametrize("cls", FORESTS)
def test_every_forest(cls):
    parameters = inspect.signature(cls).parameters
    assert parameters.keys() == cls._parameter_constraints.keys()
    first, *others = parameters.values()
    assert first.kind is first.POSITIONAL_OR_KEYWORD
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in others)
    assert "{" not in cls.__doc__.replace('{"', "").split("Examples")[0]
    own = {} if first.default is not first.empty else {first.name: 0}
    forest = cls(**own)
    assert forest.get_params().keys() == parameters.keys()
    for copy in (clone(forest), pickle.loads(pickle.dumps(forest))):
        assert vars(copy) == vars(forest)
    section = cls.__doc__.split("Parameters\n    ----------\n")[1].split("\n\n")[0]
    described = [
        name
        for line in section.splitlines()
        if not line.startswith("     ")
        for name in line.split(" : ")[0].strip().split(", ")
    ]
    assert described == list(parameters)
