"""The question "formulas": an op or a rule in MathML, with its values and a description."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from explorer.catalogue import (
    AT_BOUND,
    ORIGINS,
    Op,
    Rule,
    beside,
    contribution,
    find_op,
    find_rule,
    gradient_beside,
    values,
)
from explorer.formula import name_latex, number_latex
from explorer.questions import Answer
from explorer.questions.code import learned_with
from explorer.questions.mathml import mathml

Json = dict[str, Any]

FORWARD = "y = "
GRADIENT = r"\text{gradient} = "


def write_formulas(op: str, rule: str, parameters: dict[str, float], learns: str) -> Answer:
    """Return `title` and `lines` of a rule for an op, or of the op if `rule` is "".

    A line is plain text, or MathML as data.
    """
    entry = find_op(op)
    if not rule:
        shown = values(entry, None, parameters)
        lines = [_math(forward_latex(entry)), *_values(shown), about(entry)]
        return {"title": f"Forward: {entry.label}", "lines": lines}
    other = find_rule(rule)
    own = values(entry, other, parameters)
    shown = {p.shown: own[p.name] for p in beside(entry, other).parameters}
    lines = [_math(gradient_latex(entry, other, learns))]
    for latex, words in learned(entry, other, learned_with(entry, other, learns)):
        lines += [_math(latex), words]
    return {"title": other.label, "lines": [*lines, *_values(shown), about(other)]}


def _math(latex: str) -> list[Any]:
    return mathml(latex)


def _values(parameters: Mapping[str, float]) -> list[Any]:
    pairs = (f"{name_latex(name)} = {number_latex(value)}" for name, value in parameters.items())
    return [_math(r",\quad ".join(pairs))] if parameters else []


def forward_latex(op: Op) -> str:
    """Return the op's formula as LaTeX."""
    return FORWARD + op.parsed.latex


def gradient_latex(op: Op, rule: Rule, learns: str = "") -> str:
    """Return the rule's formula as LaTeX; for torch's own rule the derivative, if it can be written out.

    ``learns`` is a parameter that is a tensor, or "".
    """
    return GRADIENT + (rule.parsed.latex if rule.parsed else _torchs_own(op, learns))


def _torchs_own(op: Op, learns: str) -> str:
    """Return the chain rule, and its result for the op if that can be written out."""
    tensors = (learns,) if gradient_beside(op, learns) else ()
    gradient = op.parsed.gradient_with(tensors, finite=True)
    return r"g\,\frac{\mathrm{d}y}{\mathrm{d}x}" + (f" = {gradient.latex}" if gradient else "")


def learned(op: Op, rule: Rule, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the gradient of each parameter in `names` as LaTeX, a sum over N elements, with words on it."""
    own = beside(op, rule).learned
    notes = {learned.name: [AT_BOUND.get(learned.at_bound, ""), learned.note] for learned in own}
    for name in names:
        part = contribution(op, rule, name, tuple(names))
        scale = rf"{part.scale.latex}\," if part.scale else ""
        left, summand = rf"\text{{gradient of }}{name_latex(name)}", part.readable.latex
        words = notes.get(name, [f"{name}: {ORIGINS[part.origin]}."])
        yield rf"{left} = {scale}\sum\nolimits_N \left({summand}\right)", "\n".join(filter(None, words))


def about(entry: Op | Rule) -> str:
    """Return purpose, note and source of an op or a rule, one a line."""
    source = f"Source: {entry.source}." if entry.source else ""
    return "\n".join(filter(None, [entry.purpose, entry.note, source]))
