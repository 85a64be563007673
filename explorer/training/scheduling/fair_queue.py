"""A fair queue, in which addresses take turns, then the visitors of an address, then a visitor's items."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, NamedTuple, TypeVar

Item = TypeVar("Item", bound=Hashable)
_Path = tuple[Hashable, ...]  # path of a party: (address,), (address, visitor) or (address, visitor, item)
_DIGITS = 9  # decimals of virtual times, so that rounding errors break no ties


class Parties(NamedTuple):
    """The two parties that an item belongs to: a visitor, and the visitor's address."""

    visitor: Hashable
    address: Hashable


def weigh_once(_visitors: int) -> float:
    """Return 1, so that an address counts as one visitor however many visitors it has."""
    return 1.0


class _Party:
    """An address, a visitor or an item of a fair queue, or the root above all addresses.

    Attributes:
        key: the key of the party among its siblings.
        start: the virtual time at which the next turn starts, on the parent's clock.
        now: the virtual time of the children.
        inside: the children by key.
    """

    def __init__(self, key: Hashable = None, start: float = 0.0) -> None:
        self.key, self.start, self.now = key, start, 0.0
        self.inside: dict[Hashable, _Party] = {}


class FairQueue(Generic[Item]):
    """A weighted fair queue with two levels (Demers, Keshav, Shenker 1989).

    Each party has a virtual time at which its next turn starts; the earliest is next. A turn advances this
    time by the use over the party's weight, and the parent's clock by the use over the sum of all weights. A
    newcomer starts at the clock's time: leaving and returning gains nothing, and nobody starves. Parties that
    are no longer present are forgotten.

    Args:
        parties: a function that returns the visitor and the address of an item.
        weight: a function from the number of an address's visitors to the address's weight. The square root
            gives a class more turns than a single person elsewhere, and a hundred visitors the turns of ten.
    """

    def __init__(
        self, parties: Callable[[Item], Parties], weight: Callable[[int], float] = math.sqrt
    ) -> None:
        self._parties_of, self._weight_of = parties, weight
        self._all = _Party()
        self._present: dict[Item, tuple[_Party, ...]] = {}  # of each item: address, visitor, itself
        self._changes = 0
        self._positions: tuple[object, dict[Item, int]] = None, {}

    def __len__(self) -> int:
        return len(self._present)

    def keep(self, items: Iterable[Item]) -> None:
        """Set which items are in the queue. Newcomers start now, and all other items are removed."""
        present = dict.fromkeys(items)
        self._changes += present.keys() != self._present.keys()
        for item in [each for each in present if each not in self._present]:
            levels = [self._all]
            for key in self._path_of(item):
                levels.append(levels[-1].inside.setdefault(key, _Party(key, levels[-1].now)))
            self._present[item] = tuple(levels[1:])
        for item in [each for each in self._present if each not in present]:
            for around, party in reversed(self._levels_of(item)):
                if not party.inside:
                    del around.inside[party.key]
            del self._present[item]

    def charge(self, item: Item, used: float = 1.0) -> None:
        """Record how much of its turn an item has used, in turns or seconds, if it is in the queue."""
        self._changes += 1
        for around, party in self._levels_of(item):
            is_address = around is self._all
            inside = around.inside.values()
            total = (
                sum(self._compute_weight(party_inside, True) for party_inside in inside)
                if is_address
                else len(inside)
            )
            around.now = max(around.now, party.start) + used / total
            party.start = round(party.start + used / self._compute_weight(party, is_address), _DIGITS)

    def catch_up(self, item: Item) -> None:
        """Move an item's next turn to the present if it was due earlier. Unused turns are not saved."""
        self._changes += 1
        for around, party in self._levels_of(item):
            party.start = max(party.start, around.now)

    def find_first(self, items: Iterable[Item]) -> Item | None:
        """Return the item whose turn is next, or None if there are no items. All must be in the queue."""
        # Turns of the address come first, then those of the visitor, then those of the item itself.
        return min(items, key=lambda item: [party.start for party in self._present[item]], default=None)

    def order(self, items: Iterable[Item], holders: Iterable[Item] | None = None) -> list[Item]:
        """Return items in the order in which they get their turns, if each turn takes equally long.

        Ties keep the input order.

        Args:
            items: the items to sort.
            holders: the items that run now, or None. With them, the items are sorted for who may run next:
                the party with the fewest holders for its weight is first, whatever time it has used.
        """
        paths = {item: self._path_of(item) for item in items}
        held_places = Counter(self._path_of(each)[:depth] for each in holders or () for depth in (1, 2))
        order = list(paths)
        for depth in (3, 2, 1):
            times: dict[Item, float] = {}
            # Time of each party's next turn, and length of its turns.
            following: dict[_Path, tuple[float, float]] = {}
            for item in order:
                path = paths[item][:depth]
                if path not in following:
                    party = self._find(path)
                    turn = 1 / self._compute_weight(party, depth == 1)
                    following[path] = (
                        (party.start if holders is None else (held_places[path] + 1) * turn),
                        turn,
                    )
                time, turn = following[path]
                times[item], following[path] = round(time, _DIGITS), (time + turn, turn)
            order.sort(key=times.__getitem__)
        return order

    def position_of(self, item: Item, items: Iterable[Item]) -> int:
        """Return the position of an item among ``items`` in the order of turns, 1 for the next."""
        state = self._changes, tuple(items)
        if self._positions[0] != state:  # the order is cached, because many requests come between two turns
            self._positions = state, {each: at for at, each in enumerate(self.order(state[1]), 1)}
        return self._positions[1][item]

    def _path_of(self, item: Item) -> _Path:
        visitor, address = self._parties_of(item)
        return address, visitor, item

    def _find(self, path: _Path) -> _Party:
        party = self._all
        for key in path:
            party = party.inside.get(key) or _Party(key, party.now)
        return party

    def _levels_of(self, item: Item) -> list[tuple[_Party, _Party]]:
        """Return the entries of an item's address, visitor and item with their parents; [] if not queued."""
        parties = self._present.get(item, ())
        return list(zip((self._all, *parties), parties, strict=False))

    def _compute_weight(self, party: _Party, is_address: bool) -> float:
        return self._weight_of(max(1, len(party.inside))) if is_address else 1.0
