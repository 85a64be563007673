"""A study as a script that repeats it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from explorer.study.plan import Plan

_TABLE = "table.csv"  # which lies beside the script


def script(plan: Plan) -> str:
    """Python that runs the study anew and prints what it says.

    Raises ValueError where the op or a rule is a record made in Python, which is no text.
    """
    if not all(isinstance(entry, str) for entry in (plan.op, *plan.rules)):
        raise ValueError("an op or rule that is a record of its own cannot be written: give it as a formula")
    first = plan.task, plan.op, [rule for rule in plan.rules if rule not in plan.controls]
    named = [f"{name}={text}" for name, text in _named(plan).items()]
    arguments = "".join(f"    {text},\n" for text in (*map(_text, first), *named))
    beside = "from pathlib import Path\n\n" if plan.table else ""
    return f"{beside}import explorer\n\nresult = explorer.study(\n{arguments})\nprint(result.describe())\n"


def _named(plan: Plan) -> dict[str, str]:
    """What follows the rules, as Python writes it."""
    others = {name: value for name, value in plan.others if (name, value) != ("device", "cpu")}
    written = {
        "lrs": _text(list(plan.lrs)),
        "seeds": _seeds(plan.seeds),
        "steps": repr(plan.steps),
        **({"parameters": _text(dict(plan.parameters))} if plan.parameters else {}),
        "controls": repr(bool(plan.controls)),
        "equal": repr(plan.equal),
    }
    table: dict[str, Any] = {"table": f'Path("{_TABLE}").read_text(encoding="utf-8")'} if plan.table else {}
    return written | {name: _text(value) for name, value in others.items()} | table


def _text(value: Any) -> str:
    """A value as Python writes it, texts in double quotes."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | list | dict) else repr(value)


def _seeds(seeds: Sequence[int]) -> str:
    run = range(seeds[0], seeds[-1] + 1)
    return repr(run if tuple(run) == tuple(seeds) else list(seeds))
