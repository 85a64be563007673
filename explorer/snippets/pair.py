"""The source of every kind of code: an op, a rule, and names and values for both."""

import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from explorer.catalogue import (
    COUNT,
    Contribution,
    Op,
    Parameter,
    Rule,
    adapt_rule,
    antithetic_of,
    find_contribution,
    find_op,
    find_rule,
    require_in_domain,
    resolve_values,
    to_finite,
)
from explorer.formula import Formula
from explorer.formula.parsing import CODE_WORDS
from explorer.formula.tree import Name, substituted

Values = Mapping[str, float] | None

# Names that functions, their layers and the cells of a notebook use themselves.
_TAKEN = CODE_WORDS.union((
    "custom", "tensor", "x", "y", "g", "start", "stop", "points", "even", "kinks", "left", "right", "range",
    "u", "ya", "f", "key",
))  # fmt: skip


# What code of a pair that draws calls by these names; a parameter there is called otherwise.
_WORDS = {"u": "the draw", "f": "the loss", "ya": "the output of the twin"}
_DRAWN = {"u()": ("u",), "normal()": ("u",), "f()": ("u", "f"), "ya()": ("u", "ya"), "fa()": ("u", "ya", "f")}
_LEARNS = (
    "What learns is a tensor of one value, or of any shape that broadcasts to that of x: one value for each "
    "channel. The sum is over all elements that share a value, N of them."
)


@dataclass(frozen=True)
class Pair:
    """An op and a rule with the parameters of both, in the order of the signature.

    ``learns`` holds the contribution of an element by parameter, for those that are tensors and learn.
    """

    op: Op
    rule: Rule
    parameters: Mapping[str, float]
    learns: Mapping[str, Contribution] = field(default_factory=dict)

    @property
    def numbers(self) -> dict[str, float]:
        """The parameters that are numbers, with their values."""
        return {name: value for name, value in self.parameters.items() if name not in self.learns}

    @property
    def drawn(self) -> tuple[str, ...]:
        """The names in code for what the pair draws: u, f for the loss, ya for the twin's output."""
        return tuple(_drawn(self.op, self.rule))

    @property
    def given(self) -> tuple[str, ...]:
        """The further arguments of a pair that draws: u, and f where a formula names the loss."""
        return tuple(name for name in self.drawn if name != "ya")

    @property
    def arguments(self) -> tuple[str, ...]:
        """All arguments behind x: what learns, what is drawn, the numbers."""
        return (*self.learns, *self.given, *self.numbers)

    @property
    def twin(self) -> Formula:
        """The op's formula as it is drawn with 1 − u."""
        return antithetic_of(self.forward)

    @property
    def forward(self) -> Formula:
        """The op's formula, with learned parameters as tensors."""
        return self.op.parsed.varying(self.learns)

    @property
    def backward(self) -> Formula | None:
        """The rule's formula in the same way; None where torch's own derivative of y is wanted and exists."""
        own = self.rule.parsed
        if own is None and any(each.origin != "torch" for each in self.learns.values()):
            own = self.op.parsed.gradient_with(self.learns)
        return own and own.varying(self.learns)

    def part(self, name: str) -> Formula:
        """The contribution of one element to the gradient of a parameter."""
        return self.learns[name].formula.varying(self.learns)

    def scale(self, name: str, count: str) -> Formula | None:
        """The factor on the sum, with an expression for the number of elements."""
        scale = self.learns[name].scale
        return scale and Formula(substituted(scale.varying(self.learns).tree, {Name(COUNT): Name(count)}))

    @property
    def name(self) -> str:
        """Name of the function: ``round_straight_through``; own formulas by their label or "custom"."""
        words = [_word(self.op), _word(self.rule)]
        name = words[0] if _is_own(self.op) and words[0] == words[1] else "_".join(words)
        taken = name in _TAKEN or keyword.iskeyword(name) or keyword.iskeyword(name.capitalize())
        return "custom_activation" if taken else name

    @property
    def layer(self) -> str:
        """Name of the module: ``RoundStraightThrough``."""
        return "".join(word.capitalize() for word in self.name.split("_"))

    @property
    def title(self) -> str:
        """Op and rule by their labels."""
        op = self.op.label if _is_named(self.op) else "Custom op"
        return f"{op}, " + (
            f"backward rule {self.rule.label}" if _is_named(self.rule) else "custom backward rule"
        )

    @property
    def formulas(self) -> tuple[str, str]:
        """The formula of y and, where the rule has one, that of the gradient."""
        gradient = self.rule.parsed.text if self.rule.parsed else "the library's own derivative of y"
        return self.op.parsed.text, gradient

    def described(self, array: str, *remarks: str, given: Sequence[str] = ()) -> list[str]:
        """Paragraphs of the function's docstring; ``array`` is what this library calls x.

        ``given``: lines on arguments between x and the parameters.
        """
        y, gradient = self.formulas
        # The default rule's words are about torch; in other libraries they would not hold.
        entries: list[Op | Rule] = [self.op, self.rule] if self.rule.parsed else [self.op]
        purposes = [entry.purpose for entry in entries if not _is_own(entry)]
        sources = [f"Source: {entry.source}" for entry in entries if entry.source]
        return [
            f"{self.title}.",
            "\n".join(
                [
                    f"    y = {y}",
                    f"    gradient = {gradient}",
                    *(f"    {self.learning(name)}" for name in self.learns),
                ]
            ),
            *([_LEARNS] if self.learns else []),
            *(["\n".join(purposes)] if purposes else []),
            *remarks,
            "\n".join(["Args:", f"    x: floating {array} of any shape.", *given, *self._meanings()]),
            *(["\n".join(dict.fromkeys(sources))] if sources else []),
        ]

    def learning(self, name: str) -> str:
        """The gradient of a learned parameter, as a formula in words."""
        contributed = self.learns[name]
        scale = f"({contributed.scale.text}) * " if contributed.scale else ""
        return f"gradient of {name} = {scale}sum({contributed.readable.text})"

    def _meanings(self) -> list[str]:
        known: dict[str, Parameter] = {}
        for parameter in self.op.parameters + self.rule.parameters:
            known.setdefault(parameter.name, parameter)
        return [f"    {name}: {known[name].meaning}." for name in self.parameters]


def paired(op: str | Op, rule: str | Rule, settings: Values = None, learns: Sequence[str] = ()) -> Pair:
    """An op and a rule at their values.

    ``settings`` as for ``catalogue.values``; ``learns`` names the parameters that learn. Raises ValueError
    for an unknown key, a value that is not a finite number or outside the domain of its entry, or a name that
    cannot learn, FormulaError for an own formula that cannot be read.
    """
    op = find_op(op)
    rule = adapt_rule(op, find_rule(rule))
    if words := clash(op, rule):
        raise ValueError(words)
    chosen = resolve_values(op, rule, settings or {})
    contributions = {name: find_contribution(op, rule, name, tuple(learns)) for name in learns}
    numbers = {name: to_finite(f"parameter {name}", value) for name, value in chosen.items()}
    require_in_domain(op, rule, settings or {})
    return Pair(
        op, rule, dict(sorted(numbers.items(), key=lambda item: item[0] not in contributions)), contributions
    )


def clash(op: Op, rule: Rule) -> str:
    """A sentence on a parameter whose name code needs for what is drawn; "" where there is none."""
    drawn = _drawn(op, rule)
    taken = next((p.name for p in (*op.parameters, *rule.parameters) if p.name in drawn), "")
    return taken and f"A parameter is called {taken}, as {drawn[taken]} is in code: give it another name."


def _drawn(op: Op, rule: Rule) -> dict[str, str]:
    """The names in code that stand for what a pair draws, each with words on it."""
    formulas = [op.parsed, *([rule.parsed] if rule.parsed else []), *(each.parsed for each in rule.learned)]
    names = {name for formula in formulas for draw in formula.draws for name in _DRAWN[draw]}
    return {name: words for name, words in _WORDS.items() if name in names}


def _is_own(entry: Op | Rule) -> bool:
    return not entry.key.isidentifier()


def _is_named(entry: Op | Rule) -> bool:
    """Whether the label is a name rather than the formula itself."""
    return not _is_own(entry) or entry.label != entry.formula


def _word(entry: Op | Rule) -> str:
    if not _is_own(entry):
        return entry.key
    label = entry.label if _is_named(entry) and entry.label.isascii() else ""
    word = re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", label).strip("_").lower()
    return word if word.isidentifier() else "custom"
