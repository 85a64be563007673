"""CONTRIBUTING is followed literally: its blocks of code and its commands, in a copy of the project.

To follow it is thorough. Faster: that each block has its place and can be read, and the tests of each folder.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PLACED = re.compile(
    r"(?:In|New file) `([^`]+)`(?:, (before the last line|at the end|after `[^`]+`))?:\n\n"
    r" +```(?:python|js|text)\n(.*?)\n +```",
    re.DOTALL,
)
COMMANDS = re.compile(r"^ *```sh\n(.*?)```", re.DOTALL | re.MULTILINE)
LIST_INDENT = "   "
LEFT_BEHIND = shutil.ignore_patterns(".*cache", ".git", ".venv*", ".hypothesis", "node_modules", "dist")


def section(title: str) -> str:
    """The text below a heading, up to the next one of its level."""
    return GUIDE.split(f"\n## {title}")[1].split("\n## ")[0]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT, tmp_path / "project", ignore=LEFT_BEHIND))


def _follow(project: Path, steps: str) -> str:
    """Put a section's code where it says, run its commands and give what they print."""
    for name, text in _placed(project, steps):
        (project / name).write_text(text, encoding="utf-8")
    commands = "".join(COMMANDS.findall(steps)).splitlines()
    return "".join(_run(project, command.strip()) for command in commands)


def _placed(project: Path, steps: str) -> Iterator[tuple[str, str]]:
    """Yield each file of a section with its text, a block of the section in its place."""
    for name, position, code in PLACED.findall(steps):
        lines = (project / name).read_text(encoding="utf-8").splitlines() if position else []
        at = _line(lines, position)
        lines[at:at] = [line.removeprefix(LIST_INDENT) for line in code.splitlines()]
        yield name, "\n".join(lines) + "\n"


def _line(lines: list[str], position: str) -> int:
    if position.startswith("after"):
        return lines.index(position.removeprefix("after ").strip("`")) + 1
    return len(lines) - (position == "before the last line")


def _run(project: Path, command: str) -> str:
    here = command.replace(".venv/bin/python", sys.executable)
    environment = os.environ | {"EXPLORER_ENGINE": "thread"}  # nobody trains: no process for it
    ended = subprocess.run(here, shell=True, cwd=project, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, f"{command}\n{ended.stdout}\n{ended.stderr}"
    return ended.stdout


PIECES = {"Add a rule": 2, "Add a word of a link": 2, "Add a lesson": 3}


@pytest.mark.parametrize(("title", "pieces"), PIECES.items())
def test_each_block_has_its_place_and_can_be_read(title: str, pieces: int):
    files = list(_placed(ROOT, section(title)))
    assert len(files) == pieces
    for name, text in files:
        assert not name.endswith(".py") or ast.parse(text).body


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("title", "least"), [("Add a rule", 15), ("Add a word of a link", 6), ("Add a lesson", 8)]
)
def test_the_guide_is_followed(project: Path, title: str, least: int):
    passed = re.search(r"(\d+) passed", _follow(project, section(title)))
    assert passed
    assert int(passed[1]) >= least, "the tests take up what is new"
    formatted = [sys.executable, "-m", "ruff", "check", "explorer", "tests"]
    assert subprocess.run(formatted, cwd=project, capture_output=True).returncode == 0
    if title == "Add a rule":
        assert "`halved_outside`" in (project / "docs" / "catalogue.md").read_text(encoding="utf-8")


def test_every_file_of_a_command_is_there():
    commands = "".join(COMMANDS.findall(GUIDE)).splitlines()
    for command in map(str.strip, commands):
        words = command.replace("-m explorer.catalogue.table", "explorer/catalogue/table.py").split()
        for name in (word for word in words if "/" in word and not word.startswith(".venv")):
            assert (ROOT / name).exists(), command
