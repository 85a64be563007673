"""The table of what was tried: each row as soon as it is known, and all of them at the end."""

import time
import traceback
from collections.abc import Callable

HOLDS, FAILS, MEASURED, SKIPPED = "holds", "FAILS", "measured", "skipped"
_VERDICTS = {True: HOLDS, False: FAILS, None: SKIPPED}
Seen = str | tuple[bool | None, str]
"""What was seen: words on a measurement, or whether something holds (None: was not tried), with words."""


class Table:
    """Rows of part, what was tried, verdict, what was seen; ``title``: the device and the versions.

    A part that takes longer than its time leaves the rest out and says so.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self._rows: list[tuple[str, str, str, str]] = []
        self._part, self._until = "", 0.0

    def count(self, verdict: str) -> int:
        return [row[2] for row in self._rows].count(verdict)

    @property
    def left_s(self) -> float:
        return self._until - time.monotonic()

    def add(self, what: str, verdict: str, seen: str = "") -> None:
        self._rows.append((self._part, what, verdict, seen))
        print(f"{self._part:10}{what:46}{verdict:10}{seen}", flush=True)

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
        lines = [
            "", f"{self.title}, {time.strftime('%Y-%m-%d')}", "", "| part | what | | seen |",
            "|---|---|---|---|",
        ]  # fmt: skip
        lines += [f"| {' | '.join(row)} |" for row in self._rows]
        skipped = self.count(SKIPPED)
        lines += ["", f"{len(self._rows) - skipped} tried, {self.count(FAILS)} failed, {skipped} skipped"]
        return "\n".join(lines + ([f"missing here: {', '.join(missing)}"] if missing else []))
