"""Which tests a run takes: the thorough ones, one part of each sweep, one entry of the catalogue."""

import functools
import inspect
import os
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest

PARTS = 7
# Environment variables, since workers and modules that are imported read them too.
_PART = "EXPLORER_TESTS_PART"
_ENTRY = "EXPLORER_TESTS_ENTRY"
_THOROUGH = "EXPLORER_TESTS_THOROUGH"
Item = TypeVar("Item")
Decorator = Callable[[Callable[..., None]], Callable[..., None]]


def add_options(parser: pytest.Parser) -> None:
    """Add the options --thorough, --part and --entry to pytest's."""
    group = parser.getgroup("explorer")
    group.addoption("--thorough", action="store_true", help="run the tests marked thorough too")
    group.addoption("--part", choices=[*map(str, range(1, PARTS + 1)), "all"],
                    help="the part of each sweep to run; without it, the part of today (UTC)")  # fmt: skip
    group.addoption("--entry", metavar="KEY", help="run loops over the catalogue for this op or rule alone")


def read_options(config: pytest.Config) -> None:
    """Keep the chosen part, entry and thoroughness for this process and for its workers."""
    os.environ[_THOROUGH] = "yes" if config.getoption("thorough") else ""
    if part := config.getoption("part"):
        os.environ[_PART] = part
    os.environ.setdefault(_PART, str(find_part_of_day(time.time_ns() // 10**9)))
    if entry := config.getoption("entry"):
        from explorer.catalogue import OPS, RULES

        if entry not in OPS and entry not in RULES:
            raise pytest.UsageError(f"--entry {entry}: no op or rule has this key")
        os.environ[_ENTRY] = entry


def find_part_of_day(seconds: int) -> int:
    """Return the part, 1 to 7, of the day (UTC) that is `seconds` after 1970 began."""
    return seconds // 86_400 % PARTS + 1


def describe_part() -> str:
    """Return the line that tells which part of the sweeps this run takes."""
    part = os.environ[_PART]
    taken = "every part" if part == "all" else f"part {part} of {PARTS} (repeat it with --part {part})"
    return f"Sweeps: {taken}"


def deselect_thorough(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take thorough tests out of `items`, but for those of the part that is run; keep all with --thorough."""
    if config.getoption("thorough"):
        return
    taken = take_part(range(1, PARTS + 1))
    marks = {item: mark for item in items if (mark := item.get_closest_marker("thorough"))}
    if left_out := [item for item, mark in marks.items() if mark.kwargs.get("part") not in taken]:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


def take_part(sweep: Iterable[Item]) -> list[Item]:
    """Return the items of a sweep that this run takes: every seventh, or all of them with ``--part all``."""
    items, part = list(sweep), os.environ[_PART]
    return items if part == "all" else items[int(part) - 1 :: PARTS]


def count_examples(every: int) -> int:
    """Return how many random examples of a property this run tries: a quarter, or all with ``--thorough``."""
    return every if os.environ.get(_THOROUGH) else every // 4


def take_entries(keys: Iterable[str]) -> list[str]:
    """Return the keys of a loop over the catalogue that this run takes: all, or the one of ``--entry``."""
    entry = os.environ.get(_ENTRY)
    return [key for key in keys if entry in (None, key)]


def loop_over(names: str | tuple[str, ...], values: Iterable[Any]) -> Decorator:
    """Return a decorator like ``pytest.mark.parametrize`` whose test runs its cases in one loop.

    Each case is a subtest: all cases run, and each failure names its case. A loop is faster than
    as many tests. With ``--entry KEY`` it runs the cases of that op or rule alone. The cases share the test's
    fixtures, so a test that changes a fixture (``monkeypatch``, ``tmp_path``) is parametrised instead.
    """
    cases = list(values)
    arguments = (names,) if isinstance(names, str) else names

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        wanted = [name for name in inspect.signature(test).parameters if name not in arguments]

        def run_cases(**fixtures: Any) -> None:
            for case in cases:
                given = (case,) if isinstance(names, str) else case
                labels = [ascii(getattr(value, "key", value)).strip("'") for value in given]
                if take_entries(labels):
                    with fixtures["subtests"].test(", ".join(label[:60] for label in labels)):
                        own = dict(zip(arguments, given, strict=True))
                        test(**own, **{name: fixtures[name] for name in wanted})

        functools.update_wrapper(run_cases, test)
        kind = inspect.Parameter.KEYWORD_ONLY
        run_cases.__signature__ = inspect.Signature(  # the fixtures that pytest is to give
            [inspect.Parameter(name, kind) for name in dict.fromkeys(["subtests", *wanted])]
        )
        return run_cases

    return decorate
