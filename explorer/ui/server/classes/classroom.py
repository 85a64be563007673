"""A class: its question, its students, their predictions, and who watches. It knows no page or network."""

import hashlib
import hmac
import secrets
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from explorer.ui.server.classes.predictions import Drawn, Prediction, Question

STREAMS = 4  # of one student: tabs, and connections that broke off unnoticed
TEACHERS = 8  # tabs of who leads a class
SPREAD_MS = (
    500  # in which a class that answers at one moment sends its answers, each page at a time of its own
)

Wake = Callable[[], None]
View = dict[str, Any]


class Crowded(Exception):  # noqa: N818  # a state of affairs, not a mistake
    """A student or teacher who watches in more places than may be."""


@dataclass
class Guest:
    """A student's seat.

    Attributes:
        shares: the groups that it counts in.
        prediction: the last one, of the present question.
        watchers: one for each connection that is told of changes.
    """

    shares: Sequence[Hashable]
    prediction: Prediction | None = None
    watchers: list[Wake] = field(default_factory=list)


@dataclass(frozen=True)
class Link:
    """A page of the explorer in one state; ``number`` counts those of a class."""

    number: int
    path: str
    query: str


class Classroom:
    """A class that is open: what students and teacher do, and what each is shown.

    Args:
        identity: what its code means.
        question: the first one.
        opened_s: when it was opened.
        shares: the groups that it counts in.
    """

    def __init__(
        self, identity: str, question: Question, opened_s: float, shares: Sequence[Hashable]
    ) -> None:
        self.identity, self.opened_s, self.shares = identity, opened_s, shares
        self.secret = secrets.token_urlsafe(24)
        self.guests: dict[str, Guest] = {}
        self.has_ended = False
        self.question, self.round, self.is_revealed = question, 1, False
        self._link: Link | None = None
        self._links = 0
        self._teachers: list[Wake] = []

    @property
    def watch_key(self) -> str:
        """The right to see what the teacher sees: it may stand in an address, and commands nothing."""
        return hashlib.sha256(f"watch {self.secret}".encode()).hexdigest()

    def is_led_by(self, secret: str) -> bool:
        """Whether somebody has the secret of the class."""
        return _same(secret, self.secret)

    def may_watch(self, key: str) -> bool:
        """Whether somebody has the key to what the teacher sees."""
        return _same(key, self.watch_key)

    def seat(self, token: str, shares: Sequence[Hashable]) -> None:
        """Seat a student who has none yet."""
        self.guests[token] = Guest(shares)

    def answer(self, token: str, number: object, prediction: Prediction) -> bool:
        """Take the prediction of a student for the question of this round; False where it comes too late."""
        if self.has_ended or self.is_revealed or number != self.round:
            return False
        self.guests[token].prediction = prediction
        self._tell_teachers()
        return True

    def reveal(self) -> None:
        """Show all predictions; none is taken any more."""
        self.is_revealed = True
        self._tell_all()

    def ask(self, question: Question) -> None:
        """Go on to a question, or ask the present one anew: the predictions before are gone."""
        self.question, self.round, self.is_revealed = question, self.round + 1, False
        self._link = None
        for guest in self.guests.values():
            guest.prediction = None
        self._tell_all()

    def follow(self, path: str, query: str) -> int:
        """Put the students' pages to a link, once; how many are there."""
        self._links += 1
        self._link = Link(self._links, path, query)
        self._tell_all()
        return self._here()

    def end(self) -> None:
        """Let everybody go; nothing is left."""
        self.has_ended, self._link = True, None
        self._tell_all()
        self.guests = {}

    def teachers_view(self) -> View:
        """The state of the class as its teacher sees it: before the answers are revealed, none of them."""
        predictions = self._predictions()
        return self._view() | {
            "here": self._here(),
            "answered": len(predictions),
            "counts": self._counts(predictions) if self.is_revealed else None,
            "drawn": sum(each.drawn is not None for each in predictions) if self.is_revealed else None,
        }

    def students_view(self, token: str) -> View:
        """The state of the class as a student sees it: nothing of the others."""
        guest = self.guests.get(token)
        link = asdict(self._link) if self._link else None
        mine = {"answered": bool(guest and guest.prediction), "link": link, "spread_ms": SPREAD_MS}
        return self._view() | mine

    def drawings(self) -> list[Drawn]:
        """All curves that were drawn, once they are revealed, in no order that tells who drew which."""
        if not self.is_revealed:
            return []
        drawn = [each.drawn for each in self._predictions() if each.drawn is not None]
        return sorted(drawn, key=lambda curve: hashlib.sha256(curve.tobytes()).digest())

    @contextmanager
    def watched(self, token: str | None, wake: Wake) -> Iterator[None]:
        """Have ``wake`` called at each change that a student sees, or the teacher where the token is None.

        Raises Crowded where too many watch already.
        """
        watchers = self._teachers if token is None else self.guests[token].watchers
        if len(watchers) >= (TEACHERS if token is None else STREAMS):
            raise Crowded
        watchers.append(wake)
        self._tell_teachers()
        try:
            yield
        finally:
            watchers.remove(wake)
            self._tell_teachers()

    def _view(self) -> View:
        state = "ended" if self.has_ended else "open"
        asked = {"lesson": self.question.lesson, "round": self.round, "revealed": self.is_revealed}
        return {"state": state, **asked, "links": self._links}

    def _predictions(self) -> list[Prediction]:
        return [guest.prediction for guest in self.guests.values() if guest.prediction]

    def _counts(self, predictions: Sequence[Prediction]) -> list[int]:
        picked = Counter(each.picked for each in predictions)
        return [picked[index] for index in range(self.question.answers)]

    def _here(self) -> int:
        return sum(bool(guest.watchers) for guest in self.guests.values())

    def _tell_teachers(self) -> None:
        for wake in self._teachers:
            wake()

    def _tell_all(self) -> None:
        self._tell_teachers()
        for guest in self.guests.values():
            for wake in guest.watchers:
                wake()


def _same(shown: str, own: str) -> bool:
    return hmac.compare_digest(shown.encode(errors="replace"), own.encode())
