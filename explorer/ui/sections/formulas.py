"""The section Formula of an op and a rule: LaTeX, and words beside it."""

from collections.abc import Iterator, Mapping, Sequence

from explorer.catalogue import AT_BOUND, ORIGINS, Op, Rule, beside, contribution, gradient_beside
from explorer.formula import name_latex, number_latex

FORWARD = "y = "
GRADIENT = r"\text{gradient} = "
LEAD = "What torch computes for the op itself, beside the rules: at even steps and around each kink."


def forward_latex(op: Op) -> str:
    """The op's formula."""
    return FORWARD + op.parsed.latex


def gradient_latex(op: Op, rule: Rule, learns: str = "") -> str:
    """The rule's formula; torch's own derivative of the op as far as it can be written out.

    ``learns`` is a parameter that is a tensor then.
    """
    return GRADIENT + (rule.parsed.latex if rule.parsed else _torchs_own(op, learns))


def _torchs_own(op: Op, learns: str) -> str:
    """The chain rule, and its result for the op if that can be written out."""
    tensors = (learns,) if gradient_beside(op, learns) else ()
    gradient = op.parsed.gradient_with(tensors, finite=True)
    return r"g\,\frac{\mathrm{d}y}{\mathrm{d}x}" + (f" = {gradient.latex}" if gradient else "")


def learned(op: Op, rule: Rule, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Gradients for parameters by a rule, as LaTeX and words: sums over the N elements that share a value."""
    own = beside(op, rule).learned
    notes = {learned.name: [AT_BOUND.get(learned.at_bound, ""), learned.note] for learned in own}
    for name in names:
        part = contribution(op, rule, name, tuple(names))
        scale = rf"{part.scale.latex}\," if part.scale else ""
        left, summand = rf"\text{{gradient of }}{name_latex(name)}", part.readable.latex
        words = notes.get(name, [f"{name}: {ORIGINS[part.origin]}."])
        yield rf"{left} = {scale}\sum\nolimits_N \left({summand}\right)", "\n".join(filter(None, words))


def values_latex(parameters: Mapping[str, float]) -> str:
    """Parameters with their values; "" for none."""
    pairs = (f"{name_latex(name)} = {number_latex(value)}" for name, value in parameters.items())
    return r",\quad ".join(pairs)


def about(entry: Op | Rule) -> str:
    """Purpose, note and source of an op or a rule, in lines."""
    source = f"Source: {entry.source}." if entry.source else ""
    return "\n".join(filter(None, [entry.purpose, entry.note, source]))
