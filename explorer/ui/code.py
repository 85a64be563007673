"""What the section Code offers: the languages, and which parameters are tensors in a rule's code."""

from explorer.catalogue import Op, Rule, learnable

LANGUAGES = ("PyTorch", "Detach trick", "JAX", "Notebook")
NOTEBOOK = LANGUAGES[-1]
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
