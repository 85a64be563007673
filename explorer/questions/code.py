"""The question "code": an op with a rule in one of several languages."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from explorer.catalogue import SQUARE, Op, Rule, beside, find_op, find_rule, learnable
from explorer.questions import Answer
from explorer.snippets import notebook
from explorer.snippets.custom_op import custom_op_code
from explorer.snippets.drawn_cells import NO_MEANS, has_mean
from explorer.snippets.jax_code import jax_code
from explorer.snippets.pair import Pair, clash, paired
from explorer.snippets.torch_code import torch_code

NOTEBOOK = "Notebook"
# None is what a language cannot express; a sentence for it is below.
WRITERS: Mapping[str, Callable[[Pair], str | None]] = {
    "PyTorch": torch_code,
    "Custom op": custom_op_code,
    "JAX": jax_code,
}
LANGUAGES = (*WRITERS, NOTEBOOK)
# By language, and by whether the rule is torch's own.
_REFUSALS: Mapping[str, Mapping[bool, str]] = {
    "Custom op": {
        True: "torch's own derivative of this op is too long to be written out: take PyTorch.",
        False: "An operator takes tensors and numbers, and this rule a function, the loss f: take PyTorch.",
    },
}


def refusal(language: str, op: Op, rule: Rule) -> str:
    """Return the sentence shown in place of code that a language cannot express."""
    if words := clash(op, rule):
        return words
    return NO_MEANS if language == NOTEBOOK else _REFUSALS[language][rule.formula is None]


def learned_with(op: Op, rule: Rule, chosen: str) -> list[str]:
    """Return the parameters that are tensors in a rule's code: those it learns, and the `chosen` one."""
    own = [learned.name for learned in beside(op, rule).learned]
    return [*own, *(name for name in learnable(op, rule) if name == chosen and name not in own)]


def write_code(
    language: str,
    op: str,
    rule: str,
    parameters: dict[str, float],
    learns: str,
    start: float = -3.0,
    stop: float = 3.0,
    g: float = 1.0,
    f: str = SQUARE,
    kinks: list[float] = [],  # noqa: B006
) -> Answer:
    """Return {"text", "note"}: the code of an op with a rule; `text` is "" if the language cannot express it.

    A notebook also draws the curve: over a range, around its `kinks`; `f` is the loss of a pair that draws.
    """
    if language not in LANGUAGES:
        raise ValueError(f"code is written as {', '.join(LANGUAGES)}")
    drawing = {"start": start, "stop": stop, "g": g, "kinks": sorted({*kinks}), "f": f}
    entry, other = find_op(op), find_rule(rule)
    text = _write(language, entry, other, parameters, learned_with(entry, other, learns), drawing)
    cannot = learns and learns not in learnable(entry, other)
    note = f"{learns} cannot learn by this rule: in its code it is a number." if cannot else ""
    return {"text": text or "", "note": note if text else refusal(language, entry, other)}


def _write(
    language: str,
    op: Op,
    rule: Rule,
    parameters: Mapping[str, float],
    learns: Sequence[str],
    drawing: Mapping[str, Any],
) -> str | None:
    if clash(op, rule):
        return None
    if language == NOTEBOOK:
        if (op.draws or rule.draws) and has_mean(op):
            return None
        return notebook(op, rule, parameters, learns, **drawing)
    return WRITERS[language](paired(op, rule, parameters, learns))
