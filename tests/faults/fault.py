"""A planted fault, and the part of the architecture that it is in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FRONTEND = "explorer/frontend"  # has rooms in the architecture, and no row among its parts


@dataclass(frozen=True)
class Fault:
    """A change of a few characters that makes the explorer wrong.

    Attributes:
        name: the wrong behaviour in one sentence; no two faults have the same.
        file: the path of the file that is changed, from the top of the project.
        old: a text that occurs exactly once in the file.
        new: the text put in its place; the file still compiles.
        tests: the test files and folders that should notice, below `tests`, with spaces between them.
    """

    name: str
    file: str
    old: str
    new: str
    tests: str

    @property
    def part(self) -> str:
        """The part of the architecture: `explorer/formula`, `explorer/curves/sampled.py` or `app.py`."""
        return "/".join(self.file.split("/")[:2])

    @property
    def paths(self) -> list[str]:
        """The test files and folders, from the top of the project."""
        return [f"tests/{each}" for each in self.tests.split()]

    def plant(self, root: Path) -> None:
        """Change the file below `root`.

        Raises:
            ValueError: the old text does not occur exactly once.
        """
        path = root / self.file
        text = path.read_text(encoding="utf-8")
        if (count := text.count(self.old)) != 1:
            raise ValueError(f"the old text of this fault occurs {count} times in {self.file}: {self.name}")
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")


def read_parts() -> list[str]:
    """Return the parts in the order of the table in `docs/architecture.md`, the browser's half last."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = text.partition("\n## Parts\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.+?`) \| ", table, re.MULTILINE)
    return [*re.findall(r"`([^`]+)`", ", ".join(rows)), FRONTEND]
