"""A study as a script: run on its own it makes the same study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import explorer
from explorer.study import Plan, write_script

SMALL: dict[str, Any] = {"steps": 4, "lrs": [0.01, 0.1], "seeds": 2, "hidden": 4}
STUDIES: dict[str, dict[str, Any]] = {
    "equal footing": {"optimiser": "momentum", "equal": True},
    "given": {"parameters": {"c": 0.5}, "controls": False, "seeds": [3, 7]},
    "own formula": {"rules": ["formula: g * (abs(x) <= 1)"], "hidden": (4, 3), "bias": False},
}


@pytest.mark.parametrize("more", STUDIES.values(), ids=list(STUDIES))
def test_a_script_repeats_its_study(more: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    given = {"rules": ["clipped", "approx_sign"]} | SMALL | more
    first = explorer.study("moons", "sign", progress=False, **given)
    space: dict[str, Any] = {}
    exec(write_script(first.plan), space)
    assert space["result"].plan == first.plan
    pd.testing.assert_frame_equal(space["result"].frame, first.frame)
    assert capsys.readouterr().out == f"{first.describe()}\n"


def test_a_table_is_read_from_the_scripts_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = "a,b,kind\n" + "".join(f"{i},{i % 7},{'up' if i % 2 else 'down'}\n" for i in range(120))
    plan = Plan.create(op="sign", rules=["clipped"], table=table, **SMALL)
    (tmp_path / "table.csv").write_text(table, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {}
    exec(write_script(plan), space)
    assert space["result"].plan == plan


def test_a_record_of_ones_own_is_refused_in_words() -> None:
    rule = explorer.Rule(key="mine", label="Mine", formula="g", purpose="mine")
    with pytest.raises(ValueError, match="give it as a formula"):
        write_script(Plan.create("moons", "sign", [rule], **SMALL))
