"""Every planted fault can be planted, and every part of the architecture has some."""

from __future__ import annotations

from collections import Counter

from tests.faults.entries import FAULTS
from tests.faults.fault import FRONTEND, ROOT, Fault, read_parts

LEAST = {"explorer/training": 14, "explorer/ui": 14, FRONTEND: 30}  # of parts with rooms


def is_browser_test(path: str) -> bool:
    return path.startswith("tests/browser")


def describe_problem(fault: Fault) -> str:
    """Return why a fault cannot be planted and measured, or an empty text."""
    if (count := (ROOT / fault.file).read_text(encoding="utf-8").count(fault.old)) != 1:
        return f"its old text occurs {count} times in {fault.file}"
    if fault.old == fault.new:
        return "it changes nothing"
    if missing := [path for path in fault.paths if not (ROOT / path).exists()]:
        return f"there is no {', '.join(missing)}"
    browser = [path for path in fault.paths if is_browser_test(path)]
    if len(browser) > 1 or any(not path.endswith(".py") for path in browser):
        return "it takes more than one browser file"
    return "" if fault.paths else "it names no tests"


def test_every_fault_can_be_planted_once_and_names_tests_that_exist() -> None:
    problems = {fault.name: problem for fault in FAULTS if (problem := describe_problem(fault))}
    assert not problems


def test_no_two_faults_have_one_name() -> None:
    assert [name for name, count in Counter(fault.name for fault in FAULTS).items() if count > 1] == []


def test_every_part_of_the_architecture_has_at_least_two_faults() -> None:
    planted, parts = Counter(fault.part for fault in FAULTS), read_parts()
    assert len(parts) > 20
    assert {part: planted[part] for part in parts if planted[part] < LEAST.get(part, 2)} == {}
    assert planted.keys() == set(parts)


def test_planting_changes_the_old_text_alone(tmp_path) -> None:
    (tmp_path / "some.py").write_text("one = 1\ntwo = 2\n")
    Fault("Two is three", "some.py", "two = 2", "two = 3", "").plant(tmp_path)
    assert (tmp_path / "some.py").read_text() == "one = 1\ntwo = 3\n"
