"""The section Code: languages, their texts, and the parameters that are tensors in a rule's code."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from explorer.catalogue import Op, Rule, beside, learnable
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
    """The sentence in place of code that a language has not."""
    if words := clash(op, rule):
        return words
    return NO_MEANS if language == NOTEBOOK else _REFUSALS[language][rule.formula is None]


def learned_with(op: Op, rule: Rule, chosen: str) -> list[str]:
    """The parameters that are tensors in a rule's code: those it says how to learn, and a chosen one."""
    own = [learned.name for learned in beside(op, rule).learned]
    return [*own, *(name for name in learnable(op, rule) if name == chosen and name not in own)]


def written(
    language: str,
    op: Op,
    rule: Rule,
    parameters: Mapping[str, float],
    learns: Sequence[str],
    drawing: Callable[[], Mapping[str, Any]],
) -> str | None:
    """The code of an op with a rule; None where the language cannot express them, see ``refusal``.

    ``drawing`` gives ``start``, ``stop``, ``g``, ``kinks`` and ``f`` of ``snippets.notebook``.
    """
    if clash(op, rule):
        return None
    if language == NOTEBOOK:
        if (op.draws or rule.draws) and has_mean(op):
            return None
        return notebook(op, rule, parameters, learns, **drawing())
    return WRITERS[language](paired(op, rule, parameters, learns))
