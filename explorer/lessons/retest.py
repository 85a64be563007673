"""Questions about the gradient of an op with a rule that retest a lesson, with computed answers."""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import torch

from explorer.catalogue import find_op, find_rule, resolve_values
from explorer.formula import number_text, with_minus
from explorer.formula.printing import TORCH, print_source
from explorer.formula.tree import Name as Parameter
from explorer.formula.tree import Node, make_number, substitute
from explorer.gradient import apply
from explorer.lessons.highlighting import highlight
from explorer.measures.nearest.neighbours import list_candidates

Row = tuple[float, ...]

UPSTREAM = (2.0, -1.0, 0.5, 3.0, -2.0)
ANSWERS = 4
DIGITS = 4  # the number of significant digits of a displayed value
MAX_LENGTH = 6  # the maximum length of a displayed value in characters
_DEFAULT_RULES = ("straight_through", "default", "zero")
_WITHOUT_G = "That leaves out g: the upstream gradient must be a factor."
_WRONG_SIGN = "That has the wrong sign."
_OUTPUT = "That is y; the question is how the loss changes with x."
_TORCH_RULE = "That is torch's own gradient of y."
_OTHER_RULE = "That is what another backward returns, `{}`."


@dataclass(frozen=True)
class Variant:
    """An op with a backward rule, and a few x at which the reader computes the gradient.

    Attributes:
        op, rule: keys or formulas.
        x: the x at which the question asks for the gradient.
        parameters: values by name; other parameters have their defaults.
        u: the random number at each x, for a stochastic op with a rule that does not depend on the loss.
    """

    op: str
    rule: str
    x: Row
    parameters: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    u: Row = ()

    @property
    def draw(self) -> torch.Tensor | None:
        """The random numbers u as a float64 tensor, or None for a deterministic op and rule."""
        return torch.tensor(self.u, dtype=torch.float64) if self.u else None


def make_variant(op: str, rule: str, *x: float, u: Row = (), **parameters: float) -> Variant:
    """Return a variant of a question that asks for the gradient at the given x."""
    numbers = {name: float(value) for name, value in parameters.items()}
    return Variant(op, rule, tuple(map(float, x)), numbers, u)


def make_question(variant: Variant, pictures: Sequence[str] = ()) -> dict[str, Any]:
    """Create a question about the gradient of a variant, with one right and several wrong answers.

    The choice of g and the order of the answers are pseudorandom: equal variants give the same question.

    Args:
        variant: the op, the rule and the x that the question is about.
        pictures: rules whose gradients are preferred as wrong answers.

    Raises:
        ValueError: if there are fewer than three distinct short wrong answers, or if a right value is too
            long.
    """
    seed = (variant.op, variant.rule, variant.x, sorted(variant.parameters.items()))
    rng = random.Random(repr((*seed, variant.u) if variant.u else seed))
    g = rng.choice(UPSTREAM)
    right = _compute_gradient(variant, variant.rule, g)
    wrong = dict[Row, str]()
    for row, reason in _iterate_wrong(variant, pictures, right, g):
        if row != right and all(len(_format_value(value)) <= MAX_LENGTH for value in row):
            wrong.setdefault(row, reason)
    if len(wrong) < ANSWERS - 1 or max(len(_format_value(value)) for value in right) > MAX_LENGTH:
        raise ValueError(
            f"{variant.op} with {variant.rule} has no {ANSWERS} different short answers at x = {variant.x}, "
            f"g = {g:g}: choose another x"
        )
    rows = [right, *list(wrong)[: ANSWERS - 1]]
    rng.shuffle(rows)
    x = ", ".join(number_text(value) for value in variant.x)
    explained = f"{_describe_backward(variant)}, and each g is {with_minus(number_text(g))}."
    return {
        "ask": f"What is `x.grad` at `x = [{x}]` after `y.backward(torch.full_like(y, {number_text(g)}))`?",
        "code": highlight(_make_code(variant)),
        "answers": [
            {"text": with_minus(", ".join(map(_format_value, row))), "why": wrong.get(row, explained)}
            for row in rows
        ],
        "right": rows.index(right),
    }


def _iterate_wrong(
    variant: Variant, pictures: Sequence[str], right: Row, g: float
) -> Iterator[tuple[Row, str]]:
    """Yield plausible wrong answers, each with its reason. One of them may happen to equal ``right``."""
    yield _compute_gradient(variant, variant.rule, 1.0), _WITHOUT_G
    yield tuple(0.0 - value for value in right), _WRONG_SIGN
    for rule in (*pictures, *_DEFAULT_RULES, *(entry.key for entry in list_candidates(find_op(variant.op)))):
        record = find_rule(rule)
        reason = _OTHER_RULE.format(record.formula) if record.formula else _TORCH_RULE
        # raised if the op's parameter value is invalid for the rule's parameter of that name
        with suppress(ValueError):
            yield _compute_gradient(variant, rule, g), reason
    x = torch.tensor(variant.x, dtype=torch.float64)
    y = apply(variant.op, "zero", x, draw=variant.draw, **_get_values(variant, "zero"))
    yield _round_values(y), _OUTPUT


def _get_values(variant: Variant, rule: str) -> dict[str, float]:
    return resolve_values(find_op(variant.op), find_rule(rule), variant.parameters)


def _compute_gradient(variant: Variant, rule: str, g: float) -> Row:
    x = torch.tensor(variant.x, dtype=torch.float64, requires_grad=True)
    parameters: dict[str, Any] = {**_get_values(variant, rule)}
    y = apply(variant.op, rule, x, draw=variant.draw, **parameters)
    return _round_values(torch.autograd.grad(y, x, torch.full_like(y, g))[0])


def _round_values(tensor: torch.Tensor) -> Row:
    return tuple(float(f"{value:.{DIGITS}g}") + 0.0 for value in tensor.tolist())  # + 0.0 turns −0 into 0


def _format_value(value: float) -> str:
    return f"{value:.{DIGITS}g}"


def _make_code(variant: Variant) -> str:
    """Return the code of a variant's op and rule, with numbers in place of parameters.

    The random numbers u, if any, are assigned above it.
    """
    draws = f"u = torch.tensor([{', '.join(map(number_text, variant.u))}])\n" if variant.u else ""
    op, rule = find_op(variant.op), find_rule(variant.rule)
    numbers = _get_values(variant, variant.rule)
    forward = _print_formula(op.parsed.tree, numbers)
    if rule.parsed is None:
        return f"{draws}y = {forward}\n"
    backward = _print_formula(rule.parsed.tree, numbers)
    saved = [name for name in rule.parsed.variables if name != "g"]
    save = f"ctx.save_for_backward({', '.join(saved)})"
    computed = [f"y = {forward}", save, "return y"]
    first = computed if "y" in saved else [*[save] * bool(saved), f"return {forward}"]
    unpack = f"{', '.join(saved)}{',' * (len(saved) == 1)} = ctx.saved_tensors"
    lines = [
        "class F(Function):",
        *_make_method("forward(ctx, x)", first),
        *_make_method("backward(ctx, g)", [unpack] * bool(saved) + [f"return {backward}"]),
        "",
        "y = F.apply(x)",
    ]
    return draws + "\n" * bool(draws) + "\n".join(lines) + "\n"


def _describe_backward(variant: Variant) -> str:
    rule = find_rule(variant.rule)
    if rule.parsed is None:
        return "The gradient is g times the slope of y"
    return f"`backward` returns `{_print_formula(rule.parsed.tree, _get_values(variant, variant.rule))}`"


def _make_method(head: str, body: list[str]) -> list[str]:
    return ["    @staticmethod", f"    def {head}:", *(f"        {line}" for line in body)]


def _print_formula(node: Node, numbers: Mapping[str, float]) -> str:
    named: dict[Node, Node] = {Parameter(name): make_number(value) for name, value in numbers.items()}
    return print_source(substitute(node, named), TORCH)
