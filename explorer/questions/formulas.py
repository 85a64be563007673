"""The question "formulas": an op or a rule in MathML, with its values and a description."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from explorer import catalogue
from explorer.formula import name_latex, number_latex
from explorer.questions import Answer
from explorer.questions.code import list_learned
from explorer.questions.mathml import to_mathml

Json = dict[str, Any]

FORWARD = "y = "
GRADIENT = r"\text{gradient} = "


def write_formulas(op: str, rule: str, parameters: dict[str, float], learns: str) -> Answer:
    """Return the lines that show a rule for an op, or the op if `rule` is "".

    The result is a dict with a `title` and `lines`. A line is plain text, or ``{"math": …}`` with a formula
    in MathML.
    """
    the_op = catalogue.find_op(op)
    if not rule:
        visible = catalogue.resolve_values(the_op, None, parameters)
        lines = [_make_line(format_forward(the_op)), *_format_values(visible), describe_entry(the_op)]
        return {"title": f"Forward: {the_op.label}", "lines": lines}
    the_rule = catalogue.find_rule(rule)
    numbers = catalogue.resolve_values(the_op, the_rule, parameters)
    visible = {p.display_name: numbers[p.name] for p in catalogue.adapt_rule(the_op, the_rule).parameters}
    lines = [_make_line(format_gradient(the_op, the_rule, learns))]
    for latex, words in format_learned(the_op, the_rule, list_learned(the_op, the_rule, learns)):
        lines += [_make_line(latex), words]
    return {"title": the_rule.label, "lines": [*lines, *_format_values(visible), describe_entry(the_rule)]}


def _make_line(latex: str) -> Json:
    return {"math": to_mathml(latex)}


def _format_values(parameters: Mapping[str, float]) -> list[Any]:
    pairs = (f"{name_latex(name)} = {number_latex(value)}" for name, value in parameters.items())
    return [_make_line(r",\quad ".join(pairs))] if parameters else []


def format_forward(op: catalogue.Op) -> str:
    """Return the op's formula as LaTeX."""
    return FORWARD + op.parsed.latex


def format_gradient(op: catalogue.Op, rule: catalogue.Rule, learns: str = "") -> str:
    """Return the rule's formula as LaTeX, or a short derivative of the op for autograd's own gradient.

    ``learns`` is a parameter that is a tensor, or "".
    """
    return GRADIENT + (rule.parsed.latex if rule.parsed else _format_autograd(op, learns))


def _format_autograd(op: catalogue.Op, learns: str) -> str:
    tensors = (learns,) if catalogue.find_tensor_gradient(op, learns) else ()
    gradient = op.parsed.derive_gradient(tensors, finite=True)
    return r"g\,\frac{\mathrm{d}y}{\mathrm{d}x}" + (f" = {gradient.latex}" if gradient else "")


def format_learned(op: catalogue.Op, rule: catalogue.Rule, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the gradient of each parameter in `names`, as a LaTeX sum over N elements, and remarks on it."""
    entries = catalogue.adapt_rule(op, rule).learned
    notes = {
        learned.name: [catalogue.AT_BOUND.get(learned.at_bound, ""), learned.note] for learned in entries
    }
    for name in names:
        part = catalogue.find_contribution(op, rule, name, tuple(names))
        scale = rf"{part.scale.latex}\," if part.scale else ""
        left, summand = rf"\text{{gradient of }}{name_latex(name)}", part.readable.latex
        words = notes.get(name, [f"{name}: {catalogue.ORIGINS[part.origin]}."])
        yield rf"{left} = {scale}\sum\nolimits_N \left({summand}\right)", "\n".join(filter(None, words))


def describe_entry(entry: catalogue.Op | catalogue.Rule) -> str:
    """Return the purpose, note and source of an op or a rule as text, each on its own line."""
    source = f"Source: {entry.source}." if entry.source else ""
    return "\n".join(filter(None, [entry.purpose, entry.note, source]))
