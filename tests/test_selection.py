"""Parts of sweeps, thorough tests and single entries are chosen as the options say."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from tests import selection


def test_seven_parts_hold_each_item_once(monkeypatch):
    sweep = [f"item {index}" for index in range(23)]
    taken = []
    for part in range(1, selection.PARTS + 1):
        monkeypatch.setenv("EXPLORER_TESTS_PART", str(part))
        taken += selection.take_part(sweep)
    assert sorted(taken) == sorted(sweep)
    monkeypatch.setenv("EXPLORER_TESTS_PART", "all")
    assert selection.take_part(sweep) == sweep


def test_seven_days_in_a_row_take_all_parts():
    noon = 1_795_000_000
    parts = [selection.find_part_of_day(noon + day * 86_400) for day in range(7)]
    assert sorted(parts) == list(range(1, 8))


@pytest.mark.parametrize(("entry", "taken"), [(None, ["relu", "sign"]), ("sign", ["sign"]), ("masked", [])])
def test_an_entry_restricts_loops_to_itself(monkeypatch, entry, taken):
    monkeypatch.delenv("EXPLORER_TESTS_ENTRY", raising=False)
    if entry:
        monkeypatch.setenv("EXPLORER_TESTS_ENTRY", entry)
    assert selection.take_entries({"relu": 1, "sign": 2}) == taken


def test_a_loop_runs_all_cases_and_names_those_that_fail(monkeypatch):
    monkeypatch.delenv("EXPLORER_TESTS_ENTRY", raising=False)
    failed = []

    class Subtests:
        @contextmanager
        def test(self, name):
            try:
                yield
            except AssertionError:
                failed.append(name)

    @selection.loop_over(("op", "number"), [("relu", 1), ("sign", 2), ("round", 3)])
    def check_the_number(op, number, limit):
        assert number == limit

    check_the_number(subtests=Subtests(), limit=2)
    assert failed == ["relu, 1", "round, 3"]
    monkeypatch.setenv("EXPLORER_TESTS_ENTRY", "round")
    check_the_number(subtests=Subtests(), limit=2)
    assert failed == ["relu, 1", "round, 3", "round, 3"]


@selection.loop_over("first", "ab")
@selection.loop_over("second", range(3))
@pytest.mark.parametrize("third", [0.5])
def test_loops_and_parameters_may_be_nested(first, second, third, tmp_path):
    path = tmp_path / f"{first}{second}"
    assert not path.exists()
    path.touch()
    assert len(list(tmp_path.iterdir())) == "ab".index(first) * 3 + second + 1


@pytest.mark.parametrize(("thorough", "count"), [("", 25), ("yes", 100)])
def test_a_default_run_tries_a_quarter_of_the_examples(monkeypatch, thorough, count):
    monkeypatch.setenv("EXPLORER_TESTS_THOROUGH", thorough)
    assert selection.count_examples(100) == count


@pytest.mark.thorough
def test_a_thorough_test_runs_if_asked_for(pytestconfig):
    assert pytestconfig.getoption("thorough")


@pytest.mark.parametrize(
    ("thorough", "part", "kept"),
    [(False, "3", ["third", "fast"]), (False, "4", ["fast"]), (True, "4", ["slow", "third", "fast"])],
)
def test_thorough_tests_are_left_out_unless_asked_for_or_of_the_part(monkeypatch, thorough, part, kept):
    class Item:
        def __init__(self, name, mark=None):
            self.name, self.get_closest_marker = name, {"thorough": mark}.get

    monkeypatch.setenv("EXPLORER_TESTS_PART", part)
    marks = {"slow": pytest.mark.thorough.mark, "third": pytest.mark.thorough(part=3).mark, "fast": None}
    items = [Item(name, mark) for name, mark in marks.items()]
    deselected = []
    hook = SimpleNamespace(pytest_deselected=lambda items: deselected.extend(items))
    selection.deselect_thorough(SimpleNamespace(getoption=lambda name: thorough, hook=hook), items)
    assert [item.name for item in items] == kept
    assert [item.name for item in deselected] == [name for name in marks if name not in kept]
