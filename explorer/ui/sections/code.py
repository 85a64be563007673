"""The section Code: languages, their texts, and the parameters that are tensors in a rule's code."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from explorer.catalogue import Op, Rule, learnable
from explorer.snippets import detach_snippet, jax_snippet, notebook, snippet

NOTEBOOK = "Notebook"
_TEXTS: Mapping[str, Callable[..., str | None]] = {
    "PyTorch": snippet,
    "Detach trick": detach_snippet,
    "JAX": jax_snippet,
}
LANGUAGES = (*_TEXTS, NOTEBOOK)
# By whether the rule is torch's own.
WITHOUT_TRICK = {
    True: "torch's own gradient needs no trick: call the op.",
    False: "The detach trick multiplies g by a factor that does not depend on g: it cannot express this "
    "rule. Take the Function instead.",
}


def learned_with(op: Op, rule: Rule, chosen: str) -> list[str]:
    """The parameters that are tensors in a rule's code: those it says how to learn, and a chosen one."""
    own = [learned.name for learned in rule.learned]
    return [*own, *(name for name in learnable(op, rule) if name == chosen and name not in own)]


def written(
    language: str,
    op: Op,
    rule: Rule,
    parameters: Mapping[str, float],
    learns: Sequence[str],
    drawing: Callable[[], Mapping[str, Any]],
) -> str | None:
    """The code of an op with a rule; None where the language cannot express the rule.

    ``drawing`` gives ``start``, ``stop``, ``g`` and ``kinks`` of ``snippets.notebook``.
    """
    if language == NOTEBOOK:
        return notebook(op, rule, parameters, learns, **drawing())
    return _TEXTS[language](op, rule, parameters, learns)
