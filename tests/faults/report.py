"""Results of planted faults: lines of a file, rows of a terminal, and a table in Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.faults.fault import Fault, read_parts
from tests.faults.running import Outcome


@dataclass(frozen=True)
class Result:
    """What the tests made of a fault.

    Attributes:
        name: the name of the fault.
        default: the outcome of the default run.
        thorough: the outcome with thorough tests; None if the fault was not tried with them.
    """

    name: str
    default: Outcome
    thorough: Outcome | None = None

    @property
    def is_caught(self) -> bool:
        """Whether the default run notices the fault."""
        return self.default.verdict == "caught"

    @property
    def is_caught_in_the_end(self) -> bool:
        """Whether the default run or the thorough one notices the fault."""
        return self.is_caught or (self.thorough is not None and self.thorough.verdict == "caught")

    @property
    def line(self) -> str:
        """The result as a line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)


def read_results(path: Path) -> dict[str, Result]:
    """Return the results in a file by the names of their faults; the last result of a fault counts."""
    results = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        fields = json.loads(line)
        thorough = fields["thorough"] and Outcome(**fields["thorough"])
        results[fields["name"]] = Result(fields["name"], Outcome(**fields["default"]), thorough)
    return results


def describe_row(fault: Fault, outcome: Outcome) -> str:
    """Return one row of a terminal: the fault, its part, the test that caught it, and seconds."""
    what = {"caught": f"caught by {outcome.test}", "missed": "MISSED"}.get(outcome.verdict, outcome.verdict)
    noticed = f"{what} {outcome.test}" if outcome.verdict == "error" else what
    return f"{outcome.seconds:6.1f} s  {fault.part}: {fault.name}: {noticed}"


def write_table(faults: Iterable[Fault], results: Mapping[str, Result]) -> str:
    """Return the counts by part as a table in Markdown, and the faults that were not caught below it."""
    known = [(fault, results[fault.name]) for fault in faults if fault.name in results]
    lines = ["| part | planted | default | thorough |", "|---|---:|---:|---:|"]
    for part in read_parts():
        own = [result for fault, result in known if fault.part == part]
        lines += [_row(f"`{part}`", own)] if own else []
    lines.append(_row("all", [result for _, result in known]))
    left = [(fault, result) for fault, result in known if not result.is_caught]
    lines += ["", "Not caught by the default run:", ""] if left else []
    return "\n".join([*lines, *(_missed(fault, result) for fault, result in left)])


def _row(title: str, results: list[Result]) -> str:
    caught, in_the_end = (
        sum(found)
        for found in zip(*((each.is_caught, each.is_caught_in_the_end) for each in results), strict=True)
    )
    return f"| {title} | {len(results)} | {caught} | {in_the_end} |"


def _missed(fault: Fault, result: Result) -> str:
    outcomes = {"default": result.default, "thorough": result.thorough}
    said = [f"{name}: {each.verdict} {each.test}".strip() for name, each in outcomes.items() if each]
    return f"- `{fault.file}`: {fault.name} ({', '.join(said)})"
