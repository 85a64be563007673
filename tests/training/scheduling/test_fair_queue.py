"""The fair queue alone: who is next, for whom one waits how long, and that nothing stays of who has gone."""

import math
from collections import Counter
from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.training.scheduling.fair_queue import FairQueue, Parties, weigh_once

Item = tuple[str, str, int]  # visitor, address, number


def queue_of(*items: Item, weight: Callable[[int], float] = math.sqrt) -> FairQueue[Item]:
    queue = FairQueue[Item](lambda item: Parties(*item[:2]), weight)
    queue.keep(items)
    return queue


def served(queue: FairQueue[Item], items: list[Item], turns: int) -> list[Item]:
    """Who has the next turns, one after another, if all wait again after each."""
    order = []
    for _ in range(turns):
        item = queue.find_first(items)
        assert item == queue.order(items)[0]
        queue.charge(item)
        order.append(item)
    return order


def alone(*names: str) -> list[Item]:
    """One item of each visitor, who is alone at an address."""
    return [(name, name, 0) for name in names]


def test_the_reported_order_is_the_order_of_the_turns():
    items = [("a", "x", 0), ("a", "x", 1), ("b", "x", 0), ("c", "y", 0), ("c", "y", 1)]
    queue = queue_of(*items)
    said = queue.order(items)
    assert said == [("a", "x", 0), ("c", "y", 0), ("b", "x", 0), ("c", "y", 1), ("a", "x", 1)]
    assert [queue.position_of(item, items) for item in said] == [1, 2, 3, 4, 5]
    had = []
    for _ in items:
        had.append(queue.find_first([item for item in items if item not in had]))
        queue.charge(had[-1])
    assert had == said
    assert queue.position_of(said[0], items) == queue.order(items).index(said[0]) + 1


@pytest.mark.parametrize(("weight", "turns"), [(math.sqrt, 3), (weigh_once, 1)], ids=["root", "one"])
def test_an_address_of_nine_visitors_gets_turns_by_its_weight(weight, turns):
    pupils = [(f"pupil {number}", "school", 0) for number in range(9)]
    items = [*pupils, *alone("home")]
    order = served(queue_of(*items, weight=weight), items, 18 * (turns + 1))
    counts = Counter(order)
    assert counts["home", "home", 0] == 18
    assert {counts[pupil] for pupil in pupils} == {2 * turns}


def test_a_visitor_with_many_items_gets_the_turns_of_one():
    items = [*[("many", "x", number) for number in range(8)], ("one", "x", 0)]
    counts = Counter(served(queue_of(*items), items, 32))
    assert counts.pop(("one", "x", 0)) == 16
    assert set(counts.values()) == {2}


def test_a_job_with_longer_turns_gets_fewer_of_them():
    long, short = items = alone("long", "short")
    queue, order = queue_of(*items), []
    for _ in range(12):
        order.append(queue.order(items)[0])
        queue.charge(order[-1], 5.0 if order[-1] == long else 1.0)
    assert (order.count(long), order.count(short)) == (2, 10)


def test_a_late_job_neither_loses_nor_saves_turns():
    first, late = alone("first", "late")
    queue = queue_of(first)
    served(queue, [first], 1000)
    queue.keep([first, late])
    assert Counter(served(queue, [first, late], 10)) == {first: 5, late: 5}


def test_an_idle_job_saves_no_turns():
    idle, busy = items = alone("idle", "busy")
    queue = queue_of(*items)
    served(queue, [busy], 1000)
    queue.catch_up(idle)
    assert Counter(served(queue, items, 100))[busy] == pytest.approx(50, abs=1)


def test_the_visitor_with_the_fewest_places_is_served_first():
    holder, other, waiting = ("a", "x", 0), ("a", "x", 1), ("b", "y", 0)
    queue = queue_of(holder, other, waiting)
    served(queue, [waiting], 9)
    assert queue.order([other, waiting]) == [other, waiting]
    assert queue.order([other, waiting], holders=[holder]) == [waiting, other]


def test_the_queue_keeps_nothing_of_removed_items():
    items = [("a", "x", 0), ("b", "x", 0), ("c", "y", 0)]
    queue = queue_of(*items)
    served(queue, items, 7)
    queue.keep(items[:1])
    assert (len(queue), len(queue._all.inside), len(queue._all.inside["x"].inside)) == (1, 1, 1)
    queue.keep([])
    queue.charge(items[0])
    queue.catch_up(items[0])
    assert (len(queue), queue._all.inside) == (0, {})


OTHERS = 5
COMERS = list(product(range(1, OTHERS + 1), range(3)))
COMING = st.integers(0, 2 ** len(COMERS) - 1)  # which of them come, a bit each: sets take ten times as long


def used_before(me: Item, turns: list[tuple[list[Item], float]]) -> list[float]:
    """The time that others use until each turn of one who always waits.

    Of each turn it is given who else is present, and what it takes.
    """
    queue, waits = queue_of(me), [0.0]
    for others, used in turns:
        queue.keep([me, *others])
        turn = queue.find_first([*others, me])  # of equals the other is first
        queue.charge(turn, used)
        if turn == me:
            waits.append(0.0)
        else:
            waits[-1] += used
    return waits


@pytest.mark.parametrize("place", ["one address", "an address each"])
@given(turns=st.lists(st.tuples(COMING, st.integers(1, 10)), min_size=60, max_size=60))
def test_a_waiting_visitor_never_starves(place, turns):
    """Others may come, go and come anew as they like: between two turns of one who waits they use little."""
    comers = [(f"v{name}", f"a{name}" if "each" in place else "a0", number) for name, number in COMERS]
    items = [
        ([comer for bit, comer in enumerate(comers) if coming >> bit & 1], tenths / 10)
        for coming, tenths in turns
    ]
    assert max(used_before(("v0", "a0", 0), items)) <= 2 * (1 + OTHERS)


def test_nobody_starves_because_another_visitor_rejoins_for_each_turn():
    """Though he starts at the clock's time again and again, and others beside him keep the clock slow."""
    rest = alone(*map(str, range(1, OTHERS)))
    turns = [([(f"new {number}", "new", number), *rest], 1.0) for number in range(500)]
    assert max(used_before(("me", "home", 0), turns)) <= 2 * (1 + OTHERS)
