"""The Python script that repeats a study."""

from __future__ import annotations

import json
from typing import Any

from explorer.study.plan import Plan

_TABLE = "table.csv"  # in the script's folder


def write_script(plan: Plan) -> str:
    """Return the source of a Python script that repeats a study and prints its result.

    Raises ValueError if the op or a rule is a Python object, which has no source.
    """
    if not all(isinstance(entry, str) for entry in (plan.op, *plan.rules)):
        raise ValueError(
            "an op or rule given as a Python object cannot be written to a script: give it as a formula"
        )
    first = plan.task, plan.op, [rule for rule in plan.rules if rule not in plan.controls]
    named = [f"{name}={text}" for name, text in _list_keywords(plan).items()]
    arguments = "".join(f"    {text},\n" for text in (*map(_to_source, first), *named))
    imports = "from pathlib import Path\n\n" if plan.table else ""
    return f"{imports}import explorer\n\nresult = explorer.study(\n{arguments})\nprint(result.describe())\n"


def _list_keywords(plan: Plan) -> dict[str, str]:
    seeds = range(plan.seeds[0], plan.seeds[-1] + 1)
    settings = {name: value for name, value in plan.others if (name, value) != ("device", "cpu")}
    keywords = {
        "lrs": _to_source(list(plan.lrs)),
        "seeds": repr(seeds if tuple(seeds) == tuple(plan.seeds) else list(plan.seeds)),
        "steps": repr(plan.steps),
        **({"parameters": _to_source(dict(plan.parameters))} if plan.parameters else {}),
        "controls": repr(bool(plan.controls)),
        "equal": repr(plan.equal),
    }
    table: dict[str, Any] = {"table": f'Path("{_TABLE}").read_text(encoding="utf-8")'} if plan.table else {}
    return keywords | {name: _to_source(value) for name, value in settings.items()} | table


def _to_source(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | list | dict) else repr(value)
