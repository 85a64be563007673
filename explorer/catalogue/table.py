"""The catalogue as Markdown tables, for the README: ``python -m explorer.catalogue.table``."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.catalogue import FAMILIES, GROUPS, OPS, RULES


def tables() -> str:
    """All ops and all rules in the picker's order, each with its formula and what it is for."""
    ops = [(op.key, op.formula, FAMILIES[op.family], op.purpose) for op in OPS.values()]
    rules = [
        (rule.key, rule.formula or "torch's own", GROUPS[rule.group], rule.purpose) for rule in RULES.values()
    ]
    return "\n\n".join(
        [
            f"**{len(ops)} ops**\n\n{_table(('op', 'y =', 'family', 'what it is for'), ops)}",
            f"**{len(rules)} backward rules**\n\n{_table(('rule', 'gradient =', 'made', 'what it is for'), rules)}",
        ]
    )


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines: list[tuple[str, ...]] = [head, ("---",) * len(head)]
    lines += [(f"`{key}`", f"`{formula}`".replace("|", "\\|"), *rest) for key, formula, *rest in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    print(tables())
