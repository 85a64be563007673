"""Studies of several visitors and addresses: whose turn it is, and who makes way. They only count here."""

import math
from dataclasses import dataclass

import pytest

from tests.training.scheduling.test_study_queue import Counting, counting, studies_of


@dataclass
class Chunk(Counting):
    """One whose rows come all at the end."""

    begun: int = 0

    @property
    def done(self) -> float:
        return self.begun

    def advance(self, seconds: float) -> tuple[int, ...]:
        self.clock.now += self.cost_s
        self.begun += 1
        return tuple(range(int(self.total))) if self.begun == self.total else ()


def test_a_visitor_who_holds_all_places_makes_way_for_another(clock):
    studies = studies_of(clock, studying=2)
    mine = [studies.start(counting(clock), "plan", each, {"me": 4}) for each in ("a", "b", "c")]
    yours = studies.start(counting(clock), "plan", "d", {"you": 4})
    assert studies.snapshot(yours).sentence == "Waiting for a free place: number 1 in the queue."
    studies.turn(busy=False)
    assert studies.snapshot(yours).state == "running"
    assert [each.state for each in studies.snapshots(mine)] == ["waiting", "running", "waiting"]
    while studies.turn(busy=False):
        pass
    assert {(each.state, len(each.rows)) for each in studies.snapshots([*mine, yours])} == {("finished", 12)}


@pytest.mark.parametrize("kind", [Counting, Chunk])
def test_places_are_held_for_a_turn_and_nothing_that_was_begun_is_lost(clock, kind):
    studies = studies_of(clock, studying=2, study_turn_s=0.1, pause_after_s=math.inf)
    advanced = 0

    def make(_plan, rows):
        nonlocal advanced
        advanced += not rows
        return kind(tuple(rows), clock, total=30)

    started = [studies.start(make, "plan", each, {each: 2}) for each in ("me", "you", "they")]
    for _ in range(40):
        studies.turn(busy=False)
    assert {each.done > 0 for each in studies.snapshots(started)} == {True}
    turns = 0
    while studies.turn(busy=False):
        turns += 1
    assert {each.state for each in studies.snapshots(started)} == {"finished"}
    assert (advanced, turns) == (3, 3 * 30 - 40)


def of(visitor: str, address: str) -> dict[str, int]:
    """The shares of a visitor at an address."""
    return {visitor: 4, address: 99}


def test_who_has_taken_all_places_under_many_names_makes_way_for_another_address(clock):
    studies = studies_of(clock, studying=2)
    for name in range(6):
        studies.start(counting(clock), "plan", f"owner {name}", of(f"name {name}", "there"))
    one = studies.start(counting(clock), "plan", "me", of("me", "here"))
    assert studies.snapshot(one).sentence == "Waiting for a free place: number 1 in the queue."
    studies.turn(busy=False)
    assert studies.snapshot(one).state == "running"
    while studies.turn(busy=False):
        if studies.snapshot(one).state != "finished":
            places = [study.parties[-1] for study in studies._studies.values() if study.state == "running"]
            assert sorted(places) == ["here", "there"]
    studies.clear()
    assert not len(studies._queue)


def test_another_address_gets_a_place_at_once_however_much_is_begun_and_nothing_is_lost(clock):
    """Begun studies that wait stay bounded as well, though one newcomer after another leaves again."""
    studies = studies_of(clock, studying=2, study_turn_s=0.1, pause_after_s=math.inf)
    made = []

    def make(plan, rows):
        made.append(plan)
        return Chunk(tuple(rows), clock, total=500)

    names = [studies.start(make, each, f"owner {each}", of(f"name {each}", "there")) for each in range(8)]
    for _ in range(100):
        studies.turn(busy=False)
    assert studies._kept == 2
    most = 0
    for number in range(20):
        one = studies.start(make, "mine", "me", of("me", f"address {number}"))
        for _ in range(4):
            studies.turn(busy=False)
        assert studies.snapshot(one).done > 0
        most = max(most, studies._kept)
        studies.command(one, "drop")
    assert most == 3
    while studies.turn(busy=False):
        pass
    assert {each.state for each in studies.snapshots(names)} == {"finished"}
    assert (made.count("mine"), len(made)) == (20, 28)


def test_one_a_visitor_and_those_of_others_take_turns(clock):
    studies = studies_of(clock)
    first, other, second = [studies.start(counting(clock), "plan", owner) for owner in ("me", "you", "me")]
    assert studies.snapshot(first).state == "gone"
    for _ in range(6):
        studies.turn(busy=False)
    assert [len(studies.snapshot(each).rows) for each in (other, second)] == [3, 3]
