"""CONTRIBUTING is followed literally: its blocks of code and its commands, in a copy of the project."""

import os
import re
import shutil
import subprocess
import sys
from itertools import cycle, islice
from pathlib import Path

import pytest

from tests.selection import PARTS, take_part

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PLACED = re.compile(
    r"(?:In|New file) `([^`]+)`(?:, (before the last line|at the end|after `[^`]+`))?:\n\n"
    r" +```(?:python|js)\n(.*?)\n +```",
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
    for name, position, code in PLACED.findall(steps):
        file = project / name
        lines = file.read_text(encoding="utf-8").splitlines() if position else []
        at = _line(lines, position)
        lines[at:at] = [line.removeprefix(LIST_INDENT) for line in code.splitlines()]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    commands = "".join(COMMANDS.findall(steps)).splitlines()
    return "".join(_run(project, command.strip()) for command in commands)


def _line(lines: list[str], position: str) -> int:
    """The index at which code is put in."""
    if position.startswith("after"):
        return lines.index(position.removeprefix("after ").strip("`")) + 1
    return len(lines) - (position == "before the last line")


def _run(project: Path, command: str) -> str:
    here = command.replace(".venv/bin/python", sys.executable)
    environment = os.environ | {"EXPLORER_ENGINE": "thread"}  # nobody trains: no process for it
    ended = subprocess.run(here, shell=True, cwd=project, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, f"{command}\n{ended.stdout}\n{ended.stderr}"
    return ended.stdout


SECTIONS = [("Add a rule", 2, 15), ("Add a word of a link", 2, 6), ("Add a lesson", 3, 8)]
TODAY = take_part(islice(cycle(SECTIONS), PARTS))  # one section a day; the others are thorough


@pytest.mark.parametrize(
    ("title", "pieces", "least"),
    [
        pytest.param(*each, id=each[0], marks=[] if each in TODAY else pytest.mark.thorough)
        for each in SECTIONS
    ],
)
def test_the_guide_is_followed(project: Path, title: str, pieces: int, least: int):
    assert len(PLACED.findall(section(title))) == pieces
    passed = re.search(r"(\d+) passed", _follow(project, section(title)))
    assert passed
    assert int(passed[1]) >= least, "the tests take up what is new"
    formatted = [sys.executable, "-m", "ruff", "check", "explorer", "tests"]
    assert subprocess.run(formatted, cwd=project, capture_output=True).returncode == 0
    if title == "Add a rule":
        assert "`halved_outside`" in (project / "docs" / "catalogue.md").read_text(encoding="utf-8")


def test_every_command_and_file_is_there():
    commands = "".join(COMMANDS.findall(GUIDE)).splitlines()
    for command in map(str.strip, commands):
        words = command.replace("-m explorer.catalogue.table", "explorer/catalogue/table.py").split()
        for name in (word for word in words if "/" in word and not word.startswith(".venv")):
            assert (ROOT / name).exists(), command
    for name in re.findall(r"(?<!New file )`((?:explorer|tests)/[\w./]+)`", GUIDE):
        assert (ROOT / name).exists(), name
