"""The catalogue as Markdown tables in the README: ``python -m explorer.catalogue.table README.md``."""

import sys
from collections.abc import Sequence
from pathlib import Path

from explorer.catalogue import FAMILIES, GROUPS, OPS, RULES
from explorer.catalogue.display import TORCH_OWN

BEGIN, END = "<!-- catalogue -->", "<!-- end of catalogue -->"


def tables() -> str:
    """All ops and all rules in their order, each with its formula and what it is for."""
    ops = [(op.key, op.formula, FAMILIES[op.family], op.purpose) for op in OPS.values()]
    rules = [
        (rule.key, rule.formula or TORCH_OWN, GROUPS[rule.group], rule.purpose) for rule in RULES.values()
    ]
    ops_table = _table(("op", "y =", "family", "what it is for"), ops)
    rules_table = _table(("rule", "gradient =", "made for", "what it is for"), rules)
    return f"**{len(ops)} ops**\n\n{ops_table}\n\n**{len(rules)} backward rules**\n\n{rules_table}"


def updated(text: str) -> str:
    """A README with the tables between its two marks brought up to date. ValueError without marks."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the text needs the marks {BEGIN} and {END}")
    return f"{before}{begin}\n\n{tables()}\n\n{end}{after}"


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines: list[tuple[str, ...]] = [head, ("---",) * len(head)]
    lines += [(f"`{key}`", f"`{formula}`".replace("|", "\\|"), *rest) for key, formula, *rest in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(updated(file.read_text(encoding="utf-8")), encoding="utf-8")
