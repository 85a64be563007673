"""What the README says is true: its table, its list of functions, its code, its pictures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

import explorer
from explorer.catalogue.table import updated
from explorer.formula import FUNCTIONS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PASTED = """
class RoundGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g
"""


def test_the_table_of_ops_and_rules_is_up_to_date() -> None:
    assert updated(README) == README, "run: python -m explorer.catalogue.table README.md"


def test_every_function_of_the_language_is_listed() -> None:
    language = README.split("## The formula language")[1].split("## Ops and rules")[0]
    listed = language.split("these functions:")[1].split(".\n")[0]
    assert re.findall(r"`(\w+)`", listed) == list(FUNCTIONS)


def test_the_code_runs_and_gives_what_it_says() -> None:
    names: dict[str, object] = {"torch": torch, "text": PASTED}
    for block in re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL):
        exec(compile(block, "README.md", "exec"), names)  # our own text
    frame, x, run = names["frame"], names["x"], names["run"]
    assert list(frame.columns) == ["rule", "x", "y", "gradient"]
    assert x.grad.tolist() == [1.0, 1.0, 1.0]
    assert run.snapshot().loss["default"] < 1e-4
    accuracy = names["race"].snapshot().accuracy["straight_through"]
    assert accuracy.shape == (5,)
    assert accuracy.mean() == pytest.approx(0.96, abs=0.01)
    assert names["own"].settings.task == "data"


def test_every_linked_file_is_there() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).is_file(), target


def test_the_table_of_folders_names_what_is_there() -> None:
    for path in re.findall(r"`((?:explorer/|app\.py)[\w./]*)`", README):
        assert (ROOT / path).exists(), path


def test_the_public_names_are_shown() -> None:
    for name in explorer.__all__:
        if name not in {"Formula", "FormulaError", "ReadingError"}:
            assert f"explorer.{name}" in README, name


def test_the_two_commands_are_the_ones_that_are_checked() -> None:
    """One sets up and opens the app, the other sets up and runs the tests, and the checks begin with it."""
    first, second = re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL)[:2]
    assert "pip install -r requirements.txt" in first
    assert "streamlit run app.py" in first
    assert second.strip() == "sh tests/run"
    checks = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert any(line.split(" ||")[0] == second.strip() for line in checks)
    for name in ("requirements.txt", "app.py", "tests/run"):
        assert (ROOT / name).is_file()


def test_the_settings_are_those_that_the_code_reads() -> None:
    code = [ROOT / "app.py", *(ROOT / "explorer").rglob("*.py")]
    read = {name for file in code for name in re.findall(r'"(EXPLORER_\w+)"', file.read_text("utf-8"))}
    listed = re.findall(r"^\| `(EXPLORER_\w+)` \|", README, flags=re.MULTILINE)
    assert sorted(listed) == sorted(read)
    files = ("Dockerfile", "compose.yaml", "deploy/explorer@.service", "docs/deploy.md")
    used = {name for each in files for name in re.findall(r"EXPLORER_\w+", (ROOT / each).read_text("utf-8"))}
    assert used <= read
