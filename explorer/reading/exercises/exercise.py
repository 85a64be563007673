"""The records of an exercise: a Function that fails, and what it should return."""

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from explorer.formula import Formula, differentiate, parse
from explorer.formula.tree import Name, Number, substitute


@dataclass(frozen=True)
class Argument:
    """An input after x, as the Function is called.

    Attributes:
        name: its name in the formulas; who writes the Function may give it another.
        value: what it is called with; short in binary, so that kinks lie on points that are compared.
        gradient: the contribution of one element to its gradient, in x, y, g and names of arguments; "" for a
            number, which gets None.
        scale: a factor on the sum, in names of arguments and N, the number of elements; "" for 1.
    """

    name: str
    value: float
    gradient: str = ""
    scale: str = ""


@dataclass(frozen=True)
class Exercise:
    """A Function that fails, to be repaired.

    Attributes:
        key: permanent name.
        task: what is wrong with it, or what is to be done; two sentences at most.
        code: the Function that fails, in ten lines or so.
        op, gradient: formulas of what it should compute and return, in x, g and names of arguments.
        arguments: the inputs after x.
        guarded: whether the gradients of arguments may be computed only where they are needed.
        twice: whether a second derivative goes through it.
    """

    key: str
    task: str
    code: str
    op: str
    gradient: str
    arguments: tuple[Argument, ...] = ()
    guarded: bool = False
    twice: bool = False

    @property
    def name(self) -> str:
        """The name of the Function."""
        return self.code.split("(")[0].removeprefix("class ")

    @property
    def values(self) -> dict[str, float]:
        """The values of the arguments by name."""
        return {argument.name: argument.value for argument in self.arguments}

    @cached_property
    def elsewhere(self) -> "Exercise":
        """The same exercise with arguments half as large, where numbers that are written out fail."""
        halved = (replace(argument, value=argument.value / 2) for argument in self.arguments)
        return replace(self, arguments=tuple(halved))

    def formula(self, text: str) -> Formula:
        """A formula in x, y, g and names of arguments."""
        return parse(text, parameters=[*self.values, "N"])

    @cached_property
    def second(self) -> Formula:
        """How the gradient changes with x, for g = 1."""
        tree = differentiate(
            substitute(self.formula(self.gradient).tree, {Name("g"): Number(1.0)}), upstream=Number(1.0)
        )
        assert tree is not None, "the gradient of an exercise is short"
        return Formula(tree)

    def data(self) -> dict[str, Any]:
        """Plain data, from which ``of_data`` makes the same record."""
        return asdict(self)


def of_data(data: dict[str, Any]) -> Exercise:
    """The exercise that ``data`` was made from."""
    arguments = tuple(Argument(**argument) for argument in data["arguments"])
    return Exercise(**{**data, "arguments": arguments})
