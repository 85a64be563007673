"""Write the catalogue as a page of documentation: ``python -m explorer.catalogue.table PATH``."""

import sys
from collections.abc import Sequence
from pathlib import Path

from explorer.catalogue import FAMILIES, GROUPS, OPS, RULES
from explorer.catalogue.display import TORCH_OWN

_HEAD = """# Ops and rules

Every op and every backward rule of the catalogue. Use a key to name an op or a rule in Python, in
a link or in a study. The formulas are in [the formula language](language.md).
[A comparison](peers.md) covers functions of torchao, snnTorch, SpikingJelly, norse and Brevitas.

`python -m explorer.catalogue.table docs/catalogue.md` writes this page; a new op or rule is
[one entry](../CONTRIBUTING.md#add-a-rule-in-one-minute).
"""


def make_page() -> str:
    """Return the catalogue's page of documentation as Markdown: a table of all ops, and one of all rules."""
    ops = [(op.key, op.formula, FAMILIES[op.family], op.purpose) for op in OPS.values()]
    rules = [
        (rule.key, rule.formula or TORCH_OWN, GROUPS[rule.group], rule.purpose) for rule in RULES.values()
    ]
    ops_table = _make_table(("op", "y =", "family", "purpose"), ops)
    rules_table = _make_table(("rule", "gradient =", "made for", "purpose"), rules)
    tables = f"**{len(ops)} ops**\n\n{ops_table}\n\n**{len(rules)} backward rules**\n\n{rules_table}"
    return f"{_HEAD}\n{tables}\n"


def _make_table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines: list[tuple[str, ...]] = [head, ("---",) * len(head)]
    lines += [(f"`{key}`", f"`{formula}`".replace("|", "\\|"), *rest) for key, formula, *rest in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(make_page(), encoding="utf-8")
