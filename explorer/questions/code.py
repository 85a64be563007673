"""The question "code": an op with a rule in one of several languages."""

from collections.abc import Callable, Mapping

from explorer.catalogue import SQUARE, Op, Rule, adapt_rule, find_op, find_rule, list_learnable
from explorer.questions import Answer
from explorer.snippets import notebook
from explorer.snippets.custom_op import make_custom_op_code
from explorer.snippets.jax_code import make_jax_code
from explorer.snippets.pair import Pair, describe_clash, make_pair
from explorer.snippets.random_cells import NO_MEANS, has_mean
from explorer.snippets.short_code import make_short_code
from explorer.snippets.torch_code import make_torch_code

PYTORCH, NOTEBOOK = "PyTorch", "Notebook"
# A writer returns None for a pair that its language cannot express; explain_refusal says why.
WRITERS: Mapping[str, Callable[[Pair], str | None]] = {
    PYTORCH: make_torch_code,
    "Custom op": make_custom_op_code,
    "JAX": make_jax_code,
}
LANGUAGES = (*WRITERS, NOTEBOOK)
# Why there is no code, by language and whether the rule is autograd's own gradient.
_REFUSALS: Mapping[str, Mapping[bool, str]] = {
    "Custom op": {
        True: "torch's own derivative of this op is too long to write out: choose PyTorch.",
        False: (
            "A custom op takes only tensors and numbers, but this rule takes a function, the loss f: "
            "choose PyTorch."
        ),
    }
}


def explain_refusal(language: str, op: Op, rule: Rule) -> str:
    """Return a sentence that explains why one of ``LANGUAGES`` cannot express an op with a rule."""
    if words := describe_clash(op, rule):
        return words
    return NO_MEANS if language == NOTEBOOK else _REFUSALS[language][rule.formula is None]


def list_learned(op: Op, rule: Rule, learns: str) -> list[str]:
    """Return the names of the parameters that are tensors in exported code.

    These are the parameters that the rule learns, and ``learns`` if it can learn.
    """
    names = [learned.name for learned in adapt_rule(op, rule).learned]
    return [*names, *(name for name in list_learnable(op, rule) if name == learns and name not in names)]


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
    """Return the code of an op with a rule in one of ``LANGUAGES``.

    A notebook also plots the curve over a range, with its `kinks` sampled exactly. `f` is the loss of a
    stochastic op or rule.

    Returns:
        A dict with these keys.

        - "text": the code with all features, or "" if the language cannot express op and rule.
        - "short": the form that a person would write, in PyTorch only, otherwise "".
        - "note": why there is no code, or that ``learns`` cannot learn by the rule, or "".
    """
    if language not in LANGUAGES:
        raise ValueError(f"unknown language {language!r}: choose one of {', '.join(LANGUAGES)}")
    entries = find_op(op), find_rule(rule)
    learned, text = list_learned(*entries, learns), None
    if describe_clash(*entries):
        pass
    elif language != NOTEBOOK:
        text = WRITERS[language](make_pair(*entries, parameters, learned))
    elif not (has_mean(entries[0]) and any(entry.is_random for entry in entries)):
        points = sorted({*kinks})
        text = notebook(*entries, parameters, learned, start=start, stop=stop, g=g, kinks=points, f=f)
    short = make_short_code(make_pair(*entries, parameters, learned)) if text and language == PYTORCH else ""
    cannot = learns and learns not in list_learnable(*entries)
    note = f"{learns} cannot learn by this rule: in its code it is a number." if cannot else ""
    return {"text": text or "", "short": short, "note": note if text else explain_refusal(language, *entries)}
