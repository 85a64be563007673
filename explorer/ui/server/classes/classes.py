"""The open classes of a server, and the limits on opening and joining them."""

import secrets
import time
from collections.abc import Callable, Hashable

from explorer.training.scheduling import read_replica
from explorer.ui.server.admission import limits, monitoring
from explorer.ui.server.admission.admission import RateLimiter, RefusedError, VisitorRateLimiters
from explorer.ui.server.admission.visitors import GroupCounter, Visitor, VisitorQuota, sign
from explorer.ui.server.classes.classroom import Classroom, Student
from explorer.ui.server.classes.codes import make_code
from explorer.ui.server.classes.predictions import Question

MAX_AGE_S = 3 * 3600.0  # age at which a class ends if its teacher has not ended it

_SERVER_FULL_MESSAGE = "{count} classes are open on this server already: try again later."
_TOO_MANY_MESSAGE = "Your network already has {count} classes open: end one of them."
_NO_SEAT_MESSAGE = "The classes of this server have {count} seats, and all are taken: try again later."
_NETWORK_FULL_MESSAGE = "Your network has already taken {count} seats: try again later."
_RATE_MESSAGE = "Too many wrong class codes: wait a moment, and try again."
UNKNOWN_CODE_MESSAGE = "No class has this code: it may have ended, or the code has a typo."


class Classes:
    """The collection of all classes that are open on this server.

    Each attempt with an unknown code takes a token from the rate limiters. Without a token, no code is looked
    up, whether right or wrong. The limiter for all visitors bounds the number of guesses per hour.

    Args:
        clock: a monotonic clock in seconds.
        max_classes: the maximum number of open classes.
        max_seats: the maximum number of students in all open classes together.
        quota, seats_quota: the maximum numbers of classes and students per visitor and IP address.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        max_classes: int = limits.MAX_CLASSES,
        max_seats: int = limits.MAX_CLASS_SEATS,
        quota: VisitorQuota = limits.CLASSES_QUOTA,
        seats_quota: VisitorQuota = limits.CLASS_SEATS_QUOTA,
    ) -> None:
        self._clock, self._max_classes, self._max_seats = clock, max_classes, max_seats
        self._quota, self._seats_quota = quota, seats_quota
        self._rooms: dict[str, Classroom] = {}
        self._seat_counts = GroupCounter()  # the number of seats taken by each quota group
        self._miss_limiters = VisitorRateLimiters(
            limits.CODE_MISSES_PER_S, limits.ADDRESS_CODE_MISSES_PER_S, clock
        )
        self._total_miss_limiter = RateLimiter(limits.TOTAL_CODE_MISSES_PER_S, clock)

    def __len__(self) -> int:
        return len(self._rooms)

    def open(self, visitor: Visitor, question: Question) -> Classroom:
        """Open a new class and return it. Raises RefusedError if too many classes are open."""
        self.end_expired()
        group_limits = self._quota.get_limits(visitor)
        counts = GroupCounter(share for room in self._rooms.values() for share in room.groups)
        if len(self._rooms) >= self._max_classes:
            raise RefusedError(503, _SERVER_FULL_MESSAGE.format(count=self._max_classes))
        if message := counts.explain_full(group_limits, _TOO_MANY_MESSAGE):
            raise RefusedError(503, message)
        server, code = read_replica(), make_code()
        room = Classroom(f"{server}~{code}" if server else code, question, self._clock(), list(group_limits))
        self._rooms[room.identity] = room
        monitoring.event_log.record("class opened", lesson=question.lesson)
        return room

    def find(self, identity: str) -> Classroom | None:
        """Return the open class with this id, or None.

        Only for requests that carry a secret: attempts to guess an id are not counted here.
        """
        self.end_expired()
        return self._rooms.get(identity)

    def find_by_code(self, visitor: Visitor, identity: str) -> Classroom:
        """Return the open class with a code that a visitor typed.

        Raises RefusedError if there is no such class, or after too many wrong codes.
        """
        limiters = [*self._miss_limiters.get_limiters(visitor), self._total_miss_limiter]
        if any(pace.get_delay() for pace in limiters):
            raise RefusedError(429, _RATE_MESSAGE)
        if room := self.find(identity):
            return room
        for limiter in limiters:
            limiter.acquire()
        raise RefusedError(404, UNKNOWN_CODE_MESSAGE)

    def join(self, visitor: Visitor, identity: str, token: str = "") -> str:
        """Add a visitor to a class and return a token that identifies the student.

        A student who has joined before gets the same token, and so do all tabs of a visitor with a name.
        Raises RefusedError if there is no such class or no free seat, or after too many wrong codes.
        """
        room = self.find_by_code(visitor, identity)
        if token in room.students:
            return token
        token = _token_of(visitor, room)
        if token not in room.students:
            room.students[token] = Student(self._reserve_seat(visitor))
        return token

    def _reserve_seat(self, visitor: Visitor) -> list[Hashable]:
        """Reserve a student's seat and return the quota groups that it counts towards.

        Raises RefusedError if no seat is free.
        """
        total: dict[Hashable, int] = {"all": self._max_seats}
        shares = self._seats_quota.get_limits(visitor)
        message = self._seat_counts.explain_full(total, _NO_SEAT_MESSAGE)
        if message := message or self._seat_counts.explain_full(shares, _NETWORK_FULL_MESSAGE):
            monitoring.event_log.record("seat of a class refused", seats=self._seat_counts["all"])
            raise RefusedError(503, message)
        self._seat_counts.update(groups := [*total, *shares])
        return groups

    def end(self, room: Classroom) -> None:
        """End a class, free its students' seats and delete its data."""
        if self._rooms.pop(room.identity, None) is None:
            return
        for student in room.students.values():
            self._seat_counts.release(student.groups)
        room.end()

    def end_expired(self) -> None:
        """End all classes that have been open for longer than three hours."""
        latest_s = self._clock() - MAX_AGE_S
        for room in [room for room in self._rooms.values() if room.opened_s <= latest_s]:
            self.end(room)


def _token_of(visitor: Visitor, room: Classroom) -> str:
    """Return a visitor's token for a class: the same each time for a visitor with a name, else random."""
    if not visitor.name:
        return secrets.token_urlsafe(18)
    return sign("seat", f"{room.identity} {room.secret} {visitor.name}")
