"""Parts of sweeps, thorough tests and single entries are chosen as the options say."""

from unittest.mock import MagicMock, Mock

import pytest

from tests import selection


def test_seven_days_in_a_row_take_each_item_once(monkeypatch):
    sweep, taken = list(range(23)), []
    for day in range(7):
        part = selection.find_part_of_day(1_795_000_000 + day * 86_400)
        monkeypatch.setenv("EXPLORER_TESTS_PART", str(part))
        taken += selection.take_part(sweep)
    assert sorted(taken) == sweep
    monkeypatch.setenv("EXPLORER_TESTS_PART", "all")
    assert selection.take_part(sweep) == sweep


@pytest.mark.parametrize(("entry", "taken"), [(None, ["relu", "sign"]), ("sign", ["sign"]), ("masked", [])])
def test_an_entry_restricts_loops_to_itself(monkeypatch, entry, taken):
    monkeypatch.delenv("EXPLORER_TESTS_ENTRY", raising=False)
    if entry:
        monkeypatch.setenv("EXPLORER_TESTS_ENTRY", entry)
    assert selection.take_entries({"relu": 1, "sign": 2}) == taken


def test_a_loop_runs_all_cases_and_names_those_that_fail(monkeypatch):
    monkeypatch.delenv("EXPLORER_TESTS_ENTRY", raising=False)
    subtests = MagicMock()
    subtests.test.return_value.__exit__.side_effect = lambda kind, *_: failed.append(kind) or True

    @selection.loop_over(("op", "number"), [("relu", 1), ("sign", 2), ("round", 3)])
    def check_the_number(op, number, limit):
        assert number == limit

    for entry, names, kinds in (
        ("", ["relu, 1", "sign, 2", "round, 3"], [AssertionError, None, AssertionError]),
        ("round", ["round, 3"], [AssertionError]),
    ):
        if entry:
            monkeypatch.setenv("EXPLORER_TESTS_ENTRY", entry)
        failed = []
        subtests.test.reset_mock()
        check_the_number(subtests=subtests, limit=2)
        assert (failed, [call.args[0] for call in subtests.test.call_args_list]) == (kinds, names)


@selection.loop_over("first", "ab")
@selection.loop_over("second", range(3))
@pytest.mark.parametrize("third", [0.5])
def test_loops_and_parameters_may_be_nested(first, second, third, tmp_path):
    path = tmp_path / f"{first}{second}"
    assert not path.exists()
    path.touch()
    assert len(list(tmp_path.iterdir())) == "ab".index(first) * 3 + second + 1


@pytest.mark.parametrize(
    ("thorough", "part", "kept"),
    [(False, "3", ["third", "fast"]), (False, "4", ["fast"]), (True, "4", ["slow", "third", "fast"])],
)
def test_thorough_tests_are_left_out_unless_asked_for_or_of_the_part(monkeypatch, thorough, part, kept):
    monkeypatch.setenv("EXPLORER_TESTS_PART", part)
    marks = {"slow": pytest.mark.thorough.mark, "third": pytest.mark.thorough(part=3).mark, "fast": None}
    every = [Mock(id=name, get_closest_marker={"thorough": mark}.get) for name, mark in marks.items()]
    items, config = [*every], Mock(**{"getoption.return_value": thorough})
    selection.deselect_thorough(config, items)
    assert [item.id for item in items] == kept
    left_out = [item for item in every if item.id not in kept]
    assert [call.kwargs["items"] for call in config.hook.pytest_deselected.mock_calls] == [left_out] * bool(
        left_out
    )
