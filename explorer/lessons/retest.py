"""Fresh questions on what a lesson has taught: another op, other bounds, another g; every answer computed."""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import torch

from explorer.catalogue import find_op, find_rule, values
from explorer.formula import number_text, with_minus
from explorer.formula.printing import TORCH, source
from explorer.formula.tree import Name as Parameter
from explorer.formula.tree import Node, Number, Unary, substituted
from explorer.gradient import apply
from explorer.lessons.highlighting import spans
from explorer.measures.nearest.neighbours import suiting

Row = tuple[float, ...]

UPSTREAM = (2.0, -1.0, 0.5, 3.0, -2.0)
ANSWERS = 4
DIGITS = 4  # significant digits of a value; longer ones make no question that is read at a glance
LONGEST = 6  # characters
_USUAL = ("straight_through", "default", "zero")
_LEFT_OUT = "That leaves g out: the upstream gradient is a factor of what is returned."
_SIGN = "That has the wrong sign."
_OUTPUT = "That is y; the question is how the loss changes with x."
_OTHER = "That is what the rule {} returns."
_OWN = "That is what another backward returns, `{}`."


@dataclass(frozen=True)
class Variant:
    """An op with a rule, each by its key or as a formula, with parameters, at a few x.

    Attributes:
        op, rule: keys or formulas.
        x: where the gradient is asked for.
        parameters: by name; others have their defaults.
        u: what was drawn at each x, for a pair that draws; its rule names no loss.
    """

    op: str
    rule: str
    x: Row
    parameters: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    u: Row = ()

    @property
    def draw(self) -> torch.Tensor | None:
        """What was drawn, as a tensor; None where nothing is."""
        return torch.tensor(self.u, dtype=torch.float64) if self.u else None


def fresh(op: str, rule: str, *x: float, u: Row = (), **parameters: float) -> Variant:
    """A variant at these x."""
    numbers = {name: float(value) for name, value in parameters.items()}
    return Variant(op, rule, tuple(map(float, x)), numbers, u)


def question(variant: Variant, pictures: Sequence[str] = ()) -> dict[str, Any]:
    """The question on a variant as plain data: ``ask``, ``code``, ``answers``, and ``right``, its index.

    Args:
        variant: what is asked about.
        pictures: rules whose gradients are preferred among the wrong answers.

    Raises:
        ValueError: fewer than three rules say something else, or a value is too long to be read.
    """
    told = (variant.op, variant.rule, variant.x, sorted(variant.parameters.items()))
    chance = random.Random(repr((*told, variant.u) if variant.u else told))
    g = chance.choice(UPSTREAM)
    right = _gradient(variant, variant.rule, g)
    wrong = dict[Row, str]()
    for row, why in _others(variant, pictures, right, g):
        if row != right and all(len(_text(value)) <= LONGEST for value in row):
            wrong.setdefault(row, why)
    if len(wrong) < ANSWERS - 1 or max(len(_text(value)) for value in right) > LONGEST:
        raise ValueError(f"{variant.op} with {variant.rule} makes no question at {variant.x} for g = {g:g}")
    rows = [right, *list(wrong)[: ANSWERS - 1]]
    chance.shuffle(rows)
    x = ", ".join(number_text(value) for value in variant.x)
    return {
        "ask": f"What is `x.grad` at `x = [{x}]` after `y.backward(torch.full_like(y, {number_text(g)}))`?",
        "code": spans(_code(variant)),
        "answers": [_answer(row, wrong.get(row, "")) for row in rows],
        "right": rows.index(right),
    }


def _answer(row: Row, why: str) -> dict[str, str]:
    return {"text": with_minus(", ".join(map(_text, row))), "why": why}


def _others(variant: Variant, pictures: Sequence[str], right: Row, g: float) -> Iterator[tuple[Row, str]]:
    """Rows that are not right, each with its reason: slips first, then what other rules return."""
    yield _gradient(variant, variant.rule, 1.0), _LEFT_OUT
    yield tuple(0.0 - value for value in right), _SIGN
    for rule in (*pictures, *_USUAL, *(each.key for each in suiting(find_op(variant.op)))):
        record = find_rule(rule)
        why = _OWN.format(record.formula) if rule.startswith("formula") else _OTHER.format(record.label)
        with suppress(ValueError):  # a parameter of its own, of the op's name, cannot be as the op's is
            yield _gradient(variant, rule, g), why
    x = torch.tensor(variant.x, dtype=torch.float64)
    yield _rounded(apply(variant.op, "zero", x, draw=variant.draw, **_values(variant, "zero"))), _OUTPUT


def _values(variant: Variant, rule: str) -> dict[str, float]:
    return values(find_op(variant.op), find_rule(rule), variant.parameters)


def _gradient(variant: Variant, rule: str, g: float) -> Row:
    """What a rule returns at each x."""
    x = torch.tensor(variant.x, dtype=torch.float64, requires_grad=True)
    parameters: dict[str, Any] = {**_values(variant, rule)}
    y = apply(variant.op, rule, x, draw=variant.draw, **parameters)
    return _rounded(torch.autograd.grad(y, x, torch.full_like(y, g))[0])


def _rounded(tensor: torch.Tensor) -> Row:
    return tuple(float(f"{value:.{DIGITS}g}") + 0.0 for value in tensor.tolist())  # no −0


def _text(value: float) -> str:
    return f"{value:.{DIGITS}g}"


def _code(variant: Variant) -> str:
    """The pair as a Function, its numbers written out; an op that is left to torch is one line.

    What was drawn stands above it.
    """
    drawn = f"u = torch.tensor([{', '.join(map(number_text, variant.u))}])\n" if variant.u else ""
    op, rule = find_op(variant.op), find_rule(variant.rule)
    numbers = _values(variant, variant.rule)
    forward = _printed(op.parsed.tree, numbers)
    if rule.parsed is None:
        return f"{drawn}y = {forward}\n"
    backward = _printed(rule.parsed.tree, numbers)
    saved = [name for name in rule.parsed.variables if name != "g"]
    kept = f"ctx.save_for_backward({', '.join(saved)})"
    computed = [f"y = {forward}", kept, "return y"]
    first = computed if "y" in saved else [*[kept] * bool(saved), f"return {forward}"]
    taken = f"{', '.join(saved)}{',' * (len(saved) == 1)} = ctx.saved_tensors"
    lines = [
        "class F(Function):",
        *_method("forward(ctx, x)", first),
        *_method("backward(ctx, g)", [taken] * bool(saved) + [f"return {backward}"]),
        "",
        "y = F.apply(x)",
    ]
    return drawn + "\n" * bool(drawn) + "\n".join(lines) + "\n"


def _method(head: str, body: list[str]) -> list[str]:
    return ["    @staticmethod", f"    def {head}:", *(f"        {line}" for line in body)]


def _printed(node: Node, numbers: Mapping[str, float]) -> str:
    named: dict[Node, Node] = {Parameter(name): _number(value) for name, value in numbers.items()}
    return source(substituted(node, named), TORCH)


def _number(value: float) -> Node:
    return Number(value) if value >= 0 else Unary("-", Number(-value))
