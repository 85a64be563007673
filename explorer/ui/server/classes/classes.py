"""The open classes of a server: who may open one, who finds one by its code, and when each ends."""

import secrets
import time
from collections import Counter
from collections.abc import Callable, Hashable

from explorer.training.scheduling import replica
from explorer.ui.server.admission import limits, monitoring
from explorer.ui.server.admission.admission import RateLimiter, RefusedError, VisitorRateLimiters
from explorer.ui.server.admission.visitors import Visitor, VisitorQuota, adapt_advice, sign
from explorer.ui.server.classes.classroom import Classroom
from explorer.ui.server.classes.codes import new_code
from explorer.ui.server.classes.predictions import Question

LONGEST_S = 3 * 3600.0  # a class that nobody has ended ends then

_FULL = "{count} classes are open on this server already: try again later."
_MANY = "{count} classes are already open from your network: end one of them."
_NO_SEAT = "The classes of this server have {count} seats, and all are taken: try again later."
_CROWD = "{count} seats are already taken from your network: try again later."
_HURRIED = "Too many codes that no class has came just now: wait a moment, and try again."
UNKNOWN = "No class has this code: it may have ended, or a letter of it is wrong."


class Classes:
    """The open classes of one server.

    Whoever looks for a class by a code that none has loses a turn; without one left nobody is told whether a
    code is right. The turns of all together bound what can be guessed in an hour.

    Args:
        clock: seconds, monotonic.
        most: classes at the same time.
        seats: students at the same time, in all classes together.
        share, seats_share: the same of one visitor and at one address.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        most: int = limits.MAX_CLASSES,
        seats: int = limits.MAX_CLASS_SEATS,
        share: VisitorQuota = limits.CLASSES_QUOTA,
        seats_share: VisitorQuota = limits.CLASS_SEATS_QUOTA,
    ) -> None:
        self._clock, self._most, self._seats, self._share, self._seats_share = (
            clock,
            most,
            seats,
            share,
            seats_share,
        )
        self._open: dict[str, Classroom] = {}
        self._taken: Counter[Hashable] = Counter()  # seats
        self._misses = VisitorRateLimiters(limits.CODE_MISSES_PER_S, limits.ADDRESS_CODE_MISSES_PER_S, clock)
        self._all_misses = RateLimiter(limits.TOTAL_CODE_MISSES_PER_S, clock)

    def __len__(self) -> int:
        return len(self._open)

    def open(self, visitor: Visitor, question: Question) -> Classroom:
        """A new class. Raises Refused where there are as many as may be."""
        self.end_old()
        shares = self._share.get_limits(visitor)
        held = Counter(share for room in self._open.values() for share in room.shares)
        if len(self._open) >= self._most:
            raise RefusedError(503, _FULL.format(count=self._most))
        if full := next((share for share, most in shares.items() if held[share] >= most), None):
            raise RefusedError(503, adapt_advice(_MANY.format(count=shares[full]), full))
        word, code = replica(), new_code()
        room = Classroom(f"{word}~{code}" if word else code, question, self._clock(), list(shares))
        self._open[room.identity] = room
        monitoring.event_log.record("class opened", lesson=question.lesson)
        return room

    def find(self, identity: str) -> Classroom | None:
        """An open class, for who shows a secret or a seat of it as well."""
        self.end_old()
        return self._open.get(identity)

    def find_by_code(self, visitor: Visitor, identity: str) -> Classroom:
        """The class of a code. Raises Refused where there is none, or where too many codes were wrong."""
        paces = [*self._misses.get_limiters(visitor), self._all_misses]
        if any(pace.get_delay() for pace in paces):
            raise RefusedError(429, _HURRIED)
        if room := self.find(identity):
            return room
        for pace in paces:
            pace.acquire()
        raise RefusedError(404, UNKNOWN)

    def join(self, visitor: Visitor, identity: str, token: str = "") -> str:
        """The token of a visitor's seat in a class, the one of before where there is one.

        A visitor with a name has one seat, in however many tabs. Raises Refused where there is no class, or
        no seat for one more.
        """
        room = self.find_by_code(visitor, identity)
        if token in room.guests:
            return token
        token = _token_of(visitor, room)
        if token not in room.guests:
            room.seat(token, self._seat(visitor))
        return token

    def _seat(self, visitor: Visitor) -> list[Hashable]:
        """The shares of one more seat."""
        shares = {"all": self._seats, **self._seats_share.get_limits(visitor)}
        for share, most in shares.items():
            if self._taken[share] >= most:
                monitoring.event_log.record("seat of a class refused", share=most)
                words = _NO_SEAT if share == "all" else _CROWD
                raise RefusedError(503, adapt_advice(words.format(count=most), share))
        self._taken.update(shares.keys())
        return list(shares)

    def end(self, room: Classroom) -> None:
        """End a class: its seats are free, and nothing of it is left."""
        if self._open.pop(room.identity, None) is None:
            return
        for guest in room.guests.values():
            self._taken.subtract(guest.shares)
        self._taken += Counter()  # forgets whoever is at 0
        room.end()

    def end_old(self) -> None:
        """End the classes that nobody has ended for too long."""
        before = self._clock() - LONGEST_S
        for room in [room for room in self._open.values() if room.opened_s <= before]:
            self.end(room)


def _token_of(visitor: Visitor, room: Classroom) -> str:
    """The token of a new seat: who has a name finds the same one again."""
    if not visitor.name:
        return secrets.token_urlsafe(18)
    return sign("seat", f"{room.identity} {room.secret} {visitor.name}")
