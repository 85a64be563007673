"""The table of what was tried: each row as soon as it is known, and all of them at the end."""

import time
import traceback
from collections.abc import Callable
from typing import NamedTuple

HOLDS, FAILS, MEASURED, SKIPPED = "holds", "FAILS", "measured", "skipped"
_VERDICTS = {True: HOLDS, False: FAILS, None: SKIPPED}
Seen = str | tuple[bool | None, str]
"""What was seen: words on a measurement, or whether something holds (None: was not tried), with words."""


class Row(NamedTuple):
    """One line: the part, what was tried, whether it holds, and what was seen."""

    part: str
    what: str
    verdict: str
    seen: str


class Table:
    """Rows by part; a part that takes longer than its time leaves the rest out and says so.

    Attributes:
        title: the device and the versions.
        rows: what was tried so far.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self.rows: list[Row] = []
        self._part, self._until = "", 0.0

    @property
    def failures(self) -> int:
        """The count of rows that fail."""
        return sum(row.verdict == FAILS for row in self.rows)

    @property
    def left_s(self) -> float:
        """The seconds left of the present part."""
        return self._until - time.monotonic()

    def add(self, what: str, verdict: str, seen: str = "") -> None:
        """Add a row, and print it."""
        row = Row(self._part, what, verdict, seen)
        self.rows.append(row)
        print(f"{row.part:10}{what:46}{verdict:10}{seen}", flush=True)

    def attempt(self, what: str, work: Callable[[], Seen]) -> None:
        """Add a row of what work returns: words alone are a measurement; a missing package skips it."""
        if self.left_s <= 0:
            return self.add(what, SKIPPED, "no time left")
        try:
            found = work()
        except ImportError as error:
            self.add(what, SKIPPED, str(error).partition("\n")[0])
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            reason = str(error).strip().partition("\n")[0][:160]
            self.add(what, FAILS, f"{type(error).__name__}: {reason} ({where.name}, line {where.lineno})")
        else:
            verdict, seen = (MEASURED, found) if isinstance(found, str) else (_VERDICTS[found[0]], found[1])
            self.add(what, verdict, seen)

    def run_part(self, name: str, limit_s: float, work: Callable[[], object]) -> None:
        """Do all of a part, whose rows have its name; it may take so long."""
        self._part, begun = name, time.monotonic()
        self._until = begun + limit_s
        try:
            work()
        except ImportError as error:
            self.add(f"all of {name}", SKIPPED, str(error).partition("\n")[0])
        print(f"{name:10}{time.monotonic() - begun:.0f} s", flush=True)

    def text(self, missing: list[str]) -> str:
        """Return the table as the documentation has it."""
        lines = [
            "", f"{self.title}, {time.strftime('%Y-%m-%d')}", "", "| part | what | | seen |",
            "|---|---|---|---|",
        ]  # fmt: skip
        lines += [f"| {row.part} | {row.what} | {row.verdict} | {row.seen} |" for row in self.rows]
        tried = sum(row.verdict != SKIPPED for row in self.rows)
        lines += ["", f"{tried} tried, {self.failures} failed, {len(self.rows) - tried} skipped"]
        return "\n".join(lines + ([f"missing here: {', '.join(missing)}"] if missing else []))
