"""A fair queue: addresses take turns, at each address its visitors, and of each visitor the items."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, NamedTuple, TypeVar

Item = TypeVar("Item", bound=Hashable)
_Path = tuple[Hashable, ...]  # (address,), (address, visitor) or (address, visitor, item)
_DIGITS = 9  # of a virtual time: two that are equal but for rounding are equal


class Parties(NamedTuple):
    """The two that an item takes its turn for: a visitor, and the address that the visitor is at."""

    visitor: Hashable
    address: Hashable


def one(_visitors: int) -> float:
    """The weight of an address that counts as one visitor, however many it has."""
    return 1.0


class _Party:
    """An address, a visitor or an item; or all.

    Attributes:
        key: its name among those around it.
        start: the virtual time at which its next turn starts, on the clock of the party around it.
        now: the clock of those inside.
        inside: those that take turns in it.
    """

    def __init__(self, key: Hashable = None, start: float = 0.0) -> None:
        self.key, self.start, self.now = key, start, 0.0
        self.inside: dict[Hashable, _Party] = {}


class FairQueue(Generic[Item]):
    """Weighted fair queueing on two levels (Demers, Keshav, Shenker 1989).

    Each party has a virtual time at which its next turn starts, and the earliest is next. A turn moves it on
    by what was used over the weight of the party, and the clock of those around by what was used over all
    weights. A newcomer starts at the clock's time: coming anew gains nothing, and nobody is overtaken for
    ever. Nothing is known of parties that are no longer present.

    Args:
        parties: the visitor and the address of an item.
        weight: of an address with so many visitors. The square root gives a class more turns than one person
            elsewhere, and a hundred names those of ten.
    """

    def __init__(
        self, parties: Callable[[Item], Parties], weight: Callable[[int], float] = math.sqrt
    ) -> None:
        self._parties_of, self._weight_of = parties, weight
        self._all = _Party()
        self._present: dict[Item, tuple[_Party, ...]] = {}  # its address, its visitor, and itself
        self._changes = 0
        self._positions: tuple[object, dict[Item, int]] = None, {}

    def __len__(self) -> int:
        return len(self._present)

    def keep(self, items: Iterable[Item]) -> None:
        """Make ``items`` those that are present: newcomers start now, the others are forgotten."""
        present = dict.fromkeys(items)
        self._changes += present.keys() != self._present.keys()
        for item in [each for each in present if each not in self._present]:
            levels = [self._all]
            for key in self._path(item):
                levels.append(levels[-1].inside.setdefault(key, _Party(key, levels[-1].now)))
            self._present[item] = tuple(levels[1:])
        for item in [each for each in self._present if each not in present]:
            for around, party in reversed(self._levels(item)):
                if not party.inside:
                    del around.inside[party.key]
            del self._present[item]

    def charge(self, item: Item, used: float = 1.0) -> None:
        """Note how much of its turn an item has used, in turns or in seconds, unless it has gone."""
        self._changes += 1
        for around, party in self._levels(item):
            is_address = around is self._all
            inside = around.inside.values()
            total = sum(self._weight(each, True) for each in inside) if is_address else len(inside)
            around.now = max(around.now, party.start) + used / total
            party.start = round(party.start + used / self._weight(party, is_address), _DIGITS)

    def catch_up(self, item: Item) -> None:
        """Start the next turn of an item now, if it was earlier: nobody saves up turns without waiting."""
        self._changes += 1
        for around, party in self._levels(item):
            party.start = max(party.start, around.now)

    def first(self, items: Iterable[Item]) -> Item | None:
        """The one of the items that is next, the first of ``order``; None where there is none."""
        return min(items, key=self._starts, default=None)

    def order(self, items: Iterable[Item], holders: Iterable[Item] | None = None) -> list[Item]:
        """The order in which items have their turns, if each uses 1; of equals the first given is first.

        ``holders``: the items that hold a place. Where they are given, it is the order for places: the party
        with the fewest for its weight is first, whatever it has used.
        """
        paths = {item: self._path(item) for item in items}
        held = Counter(self._path(each)[:depth] for each in holders or () for depth in (1, 2))
        order = list(paths)
        for depth in (3, 2, 1):
            times: dict[Item, float] = {}
            following: dict[_Path, tuple[float, float]] = {}  # by party, its next turn and what a turn adds
            for item in order:
                path = paths[item][:depth]
                if path not in following:
                    party = self._find(path)
                    turn = 1 / self._weight(party, depth == 1)
                    following[path] = (party.start if holders is None else (held[path] + 1) * turn), turn
                time, turn = following[path]
                times[item], following[path] = round(time, _DIGITS), (time + turn, turn)
            order.sort(key=times.__getitem__)
        return order

    def position(self, item: Item, items: Iterable[Item]) -> int:
        """The position of an item in the order of items, from 1 on."""
        known = self._changes, tuple(items)
        if self._positions[0] != known:  # many ask between two turns
            self._positions = known, {each: at for at, each in enumerate(self.order(known[1]), 1)}
        return self._positions[1][item]

    def _path(self, item: Item) -> _Path:
        visitor, address = self._parties_of(item)
        return address, visitor, item

    def _find(self, path: _Path) -> _Party:
        """The party at a path; one that starts now where it is not present."""
        party = self._all
        for key in path:
            party = party.inside.get(key) or _Party(key, party.now)
        return party

    def _levels(self, item: Item) -> list[tuple[_Party, _Party]]:
        """The address, the visitor and the item, each after the party around it; none where it has gone."""
        parties = self._present.get(item, ())
        return list(zip((self._all, *parties), parties, strict=False))

    def _starts(self, item: Item) -> tuple[float, ...]:
        """When the next turns start of the address, of the visitor there, and of the item."""
        return tuple([party.start for party in self._present[item]])

    def _weight(self, party: _Party, is_address: bool) -> float:
        return self._weight_of(max(1, len(party.inside))) if is_address else 1.0
