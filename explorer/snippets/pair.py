"""The data class for an op and a rule with names and parameter values, as all code generators need them."""

import builtins
import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from explorer import catalogue
from explorer.formula import Formula
from explorer.formula.parsing import CODE_WORDS
from explorer.formula.tree import Name, substitute

Values = Mapping[str, float] | None

# Names that exported functions, layers and notebook cells use.
_RESERVED = CODE_WORDS.union((
    "custom", "tensor", "x", "y", "g", "start", "stop", "points", "even", "kinks", "left", "right", "range",
    "u", "ya", "f", "key",
))  # fmt: skip


# Names in the code of stochastic pairs, with their meanings; no parameter may share one.
_MEANINGS = {"u": "the draw", "f": "the loss", "ya": "the output of the twin"}
_NAMES_BY_DRAW = {
    "u()": ("u",),
    "normal()": ("u",),
    "f()": ("u", "f"),
    "ya()": ("u", "ya"),
    "fa()": ("u", "ya", "f"),
}
_LEARNING_NOTE = (
    "Learned parameters are tensors of one value, or of any shape that broadcasts to that of x: one value "
    "per channel. The sum runs over the N elements that share a value."
)


@dataclass(frozen=True)
class Pair:
    """An op and a backward rule with the parameters of both, in the order of the exported signature.

    ``learns`` maps each learned parameter, a tensor, to one element's contribution to its gradient.
    """

    op: catalogue.Op
    rule: catalogue.Rule
    parameters: Mapping[str, float]
    learns: Mapping[str, catalogue.Contribution] = field(default_factory=dict)

    @property
    def numbers(self) -> dict[str, float]:
        """The parameters that are plain numbers, with their values."""
        return {name: value for name, value in self.parameters.items() if name not in self.learns}

    @property
    def random_names(self) -> tuple[str, ...]:
        """The names of random quantities in the code: u, f (the loss), ya (the output for 1 − u)."""
        return tuple(_find_random_names(self.op, self.rule))

    @property
    def extras(self) -> tuple[str, ...]:
        """The extra arguments of the function: u if it is random, and f if a formula uses the loss."""
        return tuple(name for name in self.random_names if name != "ya")

    @property
    def arguments(self) -> tuple[str, ...]:
        """All arguments after x: learned parameters, extra arguments, numbers."""
        return (*self.learns, *self.extras, *self.numbers)

    @property
    def twin(self) -> Formula:
        """The op's formula for the antithetic sample: with 1 − u instead of u."""
        return catalogue.make_antithetic(self.forward)

    @property
    def forward(self) -> Formula:
        """The op's formula, with learned parameters as tensors."""
        return self.op.parsed.with_tensors(self.learns)

    @property
    def backward(self) -> Formula | None:
        """The rule's formula with learned parameters as tensors, or None for torch's derivative of y."""
        formula = self.rule.parsed
        if formula is None and any(contributed.origin != "torch" for contributed in self.learns.values()):
            formula = self.op.parsed.derive_gradient(self.learns)
        return formula and formula.with_tensors(self.learns)

    def contribution_of(self, name: str) -> Formula:
        """Return the formula of one element's contribution to the gradient of a parameter."""
        return self.learns[name].formula.with_tensors(self.learns)

    def scale_of(self, name: str, count: str) -> Formula | None:
        """Return the factor on the sum of contributions to a parameter's gradient, or None if there is none.

        ``count`` is code for the number of elements.
        """
        scale = self.learns[name].scale
        return scale and Formula(
            substitute(scale.with_tensors(self.learns).tree, {Name(catalogue.COUNT): Name(count)})
        )

    @property
    def name(self) -> str:
        """The function's name, as in ``round_straight_through``, where "custom" replaces a missing label.

        A rule read from a class gives its own name alone. A reserved name becomes "custom_activation".
        """
        words = [_choose_word(self.op), _choose_word(self.rule)]
        if self._own_class:
            return words[1]
        name = words[0] if _is_custom(self.op) and words[0] == words[1] else "_".join(words)
        is_reserved = name in _RESERVED or keyword.iskeyword(name) or keyword.iskeyword(name.capitalize())
        return "custom_activation" if is_reserved else name

    @property
    def _own_class(self) -> str:
        """The name of the user's class that is the rule, or "" without a class or if its name is not free."""
        label, taken = self.rule.label, {*_RESERVED, *dir(builtins), *self.arguments, "callable"}
        is_class = _is_custom(self.rule) and not self.rule.is_drawn and label[0].isupper() and label.isascii()
        word = _choose_word(self.rule)
        is_free = not taken & {label, word} and not keyword.iskeyword(word)
        return label if is_class and label.isidentifier() and is_free else ""

    @property
    def layer(self) -> str:
        """The name of the layer's class, as in ``RoundStraightThrough``, or that of the pasted class."""
        return self._own_class or "".join(word.capitalize() for word in self.name.split("_"))

    @property
    def title(self) -> str:
        """The labels of op and rule as one text, such as "Round, backward rule Straight-through"."""
        op = self.op.label if _is_named(self.op) else "Custom op"
        rule = f"backward rule {self.rule.label}" if _is_named(self.rule) else "custom backward rule"
        return f"{op}, {rule}"

    @property
    def formulas(self) -> tuple[str, str]:
        """The formulas of y and of the gradient as text.

        For a rule without a formula, the second text is "the library's own derivative of y".
        """
        gradient = self.rule.parsed.text if self.rule.parsed else "the library's own derivative of y"
        return self.op.parsed.text, gradient

    def describe(self, array: str, *remarks: str, extras: Sequence[str] = ()) -> list[str]:
        """Return the paragraphs of the exported function's docstring.

        ``array`` is the library's word for x, such as "tensor". ``extras`` are lines about the arguments
        between x and the parameters.
        """
        y, gradient = self.formulas
        # The default rule's purpose describes torch and would be wrong for other libraries.
        entries: list[catalogue.Op | catalogue.Rule] = [self.op, self.rule] if self.rule.parsed else [self.op]
        purposes = [entry.purpose for entry in entries if not _is_custom(entry)]
        sources = [f"Source: {entry.source}" for entry in entries if entry.source]
        equations = [f"y = {y}", f"gradient = {gradient}", *map(self.describe_gradient, self.learns)]
        meanings = {p.name: p.meaning for p in (*self.rule.parameters, *self.op.parameters)}
        parameters = [f"    {name}: {meanings[name]}." for name in self.parameters]
        return [
            f"{self.title}.",
            "\n".join(f"    {equation}" for equation in equations),
            *([_LEARNING_NOTE] if self.learns else []),
            *(["\n".join(purposes)] if purposes else []),
            *remarks,
            "\n".join(["Args:", f"    x: floating {array} of any shape.", *extras, *parameters]),
            *(["\n".join(dict.fromkeys(sources))] if sources else []),
        ]

    def describe_gradient(self, name: str) -> str:
        """Return the equation of a learned parameter's gradient, such as ``gradient of s = sum(g * x)``."""
        contributed = self.learns[name]
        scale = f"({contributed.scale.text}) * " if contributed.scale else ""
        return f"gradient of {name} = {scale}sum({contributed.readable.text})"


def make_pair(
    op: str | catalogue.Op, rule: str | catalogue.Rule, settings: Values = None, learns: Sequence[str] = ()
) -> Pair:
    """Combine an op and a backward rule with their parameter values, for code generation.

    ``settings`` is a dict of values as for ``catalogue.resolve_values``; ``learns`` names those that learn.

    Raises:
        ValueError: for an unknown key, a value that is not finite or outside the domain of its entry, a name
            that the code reserves, or a parameter that cannot learn. The subclass FormulaError for a custom
            formula that cannot be parsed.
    """
    op = catalogue.find_op(op)
    rule = catalogue.adapt_rule(op, catalogue.find_rule(rule))
    if words := describe_clash(op, rule):
        raise ValueError(words)
    resolved = catalogue.resolve_values(op, rule, settings or {})
    contributions = {name: catalogue.find_contribution(op, rule, name, tuple(learns)) for name in learns}
    numbers = {name: catalogue.to_finite(f"parameter {name}", value) for name, value in resolved.items()}
    catalogue.require_in_domain(op, rule, settings or {})
    learned_first = dict(sorted(numbers.items(), key=lambda item: item[0] not in contributions))
    return Pair(op, rule, learned_first, contributions)


def describe_clash(op: catalogue.Op, rule: catalogue.Rule) -> str:
    """Return a sentence on a parameter whose name exported code reserves, or "" if there is none."""
    names = _find_random_names(op, rule)
    name = next((p.name for p in (*op.parameters, *rule.parameters) if p.name in names), "")
    return name and f"A parameter is called {name}, as {names[name]} is in code: give it another name."


def _find_random_names(op: catalogue.Op, rule: catalogue.Rule) -> dict[str, str]:
    formulas = [op.parsed, *(learned.parsed for learned in rule.learned)]
    formulas += [rule.parsed] if rule.parsed else []
    names = {name for formula in formulas for draw in formula.random_names for name in _NAMES_BY_DRAW[draw]}
    return {name: words for name, words in _MEANINGS.items() if name in names}


def _is_custom(entry: catalogue.Op | catalogue.Rule) -> bool:
    return not entry.key.isidentifier()


def _is_named(entry: catalogue.Op | catalogue.Rule) -> bool:
    return not _is_custom(entry) or entry.label != entry.formula


def _choose_word(entry: catalogue.Op | catalogue.Rule) -> str:
    if not _is_custom(entry):
        return entry.key
    label = entry.label if _is_named(entry) and entry.label.isascii() else ""
    word = re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", label).strip("_").lower()
    return word if word.isidentifier() else "custom"
