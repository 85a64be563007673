"""What every kind of code is written from: an op, a rule, and names and values for both."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from explorer.catalogue import Op, Parameter, Rule, find_op, find_rule, values
from explorer.formula.tree import VARIABLES, Call, Name, Node, children
from explorer.snippets.layout import literal


@dataclass(frozen=True)
class Pair:
    """An op and a rule with the parameters of both, in the order of the signature."""

    op: Op
    rule: Rule
    parameters: Mapping[str, float]

    @property
    def name(self) -> str:
        """Name of the function: ``round_straight_through``; an own formula is called "own"."""
        return "_".join(key if key.isidentifier() else "own" for key in (self.op.key, self.rule.key))

    @property
    def layer(self) -> str:
        """Name of the module: ``RoundStraightThrough``."""
        return "".join(word.capitalize() for word in self.name.split("_"))

    @property
    def keywords(self) -> list[str]:
        """The parameters with their values, ``lo=0.0``, for a signature."""
        return [f"{name}={literal(value)}" for name, value in self.parameters.items()]

    @property
    def title(self) -> str:
        """Op and rule by their labels."""
        return f"{_title(self.op)}, backward rule {_title(self.rule)}"

    @property
    def formulas(self) -> tuple[str, str]:
        """What stands for y and, where the rule has a formula, for the gradient."""
        gradient = self.rule.parsed.text if self.rule.parsed else "the library's own derivative of y"
        return self.op.parsed.text, gradient

    def described(self, array: str, *remarks: str) -> list[str]:
        """Paragraphs of the function's docstring; ``array`` is what this library calls x."""
        y, gradient = self.formulas
        # The default rule's words are about torch; in other libraries they would not hold.
        entries: list[Op | Rule] = [self.op, self.rule] if self.rule.parsed else [self.op]
        sources = [f"Source: {entry.source}" for entry in entries if entry.source]
        return [
            f"{self.title}.",
            f"    y = {y}\n    gradient = {gradient}",
            "\n".join(entry.purpose for entry in entries),
            *remarks,
            "\n".join(["Args:", f"    x: floating {array} of any shape.", *self._meanings()]),
            *(["\n".join(sources)] if sources else []),
        ]

    def _meanings(self) -> list[str]:
        known: dict[str, Parameter] = {}
        for parameter in self.op.parameters + self.rule.parameters:
            known.setdefault(parameter.name, parameter)
        return [f"    {name}: {known[name].meaning}." for name in self.parameters]


def pair(op: str | Op, rule: str | Rule, settings: Mapping[str, float]) -> Pair:
    """An op and a rule at their values.

    ``settings`` as for ``catalogue.values``. Raises ValueError for an unknown key or a value that is
    not a finite number, FormulaError for an own formula that cannot be read.
    """
    op, rule = find_op(op), find_rule(rule)
    parameters = {name: float(value) for name, value in values(op, rule, settings).items()}
    for name, value in parameters.items():
        if not math.isfinite(value):
            raise ValueError(f"parameter {name} must be a finite number, not {value}")
    return Pair(op, rule, parameters)


def has_elements(node: Node) -> bool:
    """Whether the value has one number per element; a mean, or a constant, is one for all."""
    match node:
        case Name(name):
            return name in VARIABLES
        case Call("mean"):
            return False
        case _:
            return any(has_elements(child) for child in children(node))


def _title(entry: Op | Rule) -> str:
    return entry.label if entry.key.isidentifier() else "Own formula"
