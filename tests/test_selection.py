"""Parts of sweeps, thorough tests and single entries are chosen as the options say."""

from __future__ import annotations

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


@pytest.mark.thorough
def test_a_thorough_test_runs_if_asked_for(pytestconfig):
    assert pytestconfig.getoption("thorough")


@pytest.mark.parametrize(("thorough", "kept"), [(False, ["fast"]), (True, ["slow", "fast"])])
def test_thorough_tests_are_left_out_unless_asked_for(thorough, kept):
    deselected = []
    slow = SimpleNamespace(name="slow", get_closest_marker=lambda name: name == "thorough")
    fast = SimpleNamespace(name="fast", get_closest_marker=lambda name: None)
    config = SimpleNamespace(
        getoption=lambda name: thorough,
        hook=SimpleNamespace(pytest_deselected=lambda items: deselected.extend(items)),
    )
    items = [slow, fast]
    selection.deselect_thorough(config, items)
    assert [item.name for item in items] == kept
    assert deselected == ([] if thorough else [slow])
