"""A class: its question, students, predictions and subscribers. It knows no page and no network."""

import hashlib
import hmac
import secrets
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from explorer.ui.server.classes.predictions import DrawnCurve, Prediction, Question

MAX_STUDENT_STREAMS = 4  # tabs of one student, including connections not yet known to be broken
MAX_TEACHER_STREAMS = 8  # number of tabs in which the teacher may have the class open
SPREAD_MS = (
    500  # pages delay their answers by a random time up to this, so that they do not all arrive at once
)

Wake = Callable[[], None]
View = dict[str, Any]


class TooManyStreamsError(Exception):
    """The teacher, or a student, has too many streams of a class open."""


@dataclass
class Guest:
    """A student who has joined a class.

    Attributes:
        groups: the groups whose quotas the seat counts towards.
        prediction: the latest prediction for the current question.
        watchers: one callback per open stream, called on changes.
    """

    groups: Sequence[Hashable]
    prediction: Prediction | None = None
    watchers: list[Wake] = field(default_factory=list)


@dataclass(frozen=True)
class Link:
    """A page of the explorer that a teacher leads the class to. ``number`` counts these links from 1."""

    number: int
    path: str
    query: str


class Classroom:
    """An open class: what students and the teacher can do, and the state that each of them sees.

    Args:
        identity: the class's id, given by its code.
        question: the first question.
        opened_s: the time at which it was opened, in seconds of a monotonic clock.
        groups: the groups whose quotas the class counts towards.
    """

    def __init__(
        self, identity: str, question: Question, opened_s: float, groups: Sequence[Hashable]
    ) -> None:
        self.identity, self.opened_s, self.groups = identity, opened_s, groups
        self.secret = secrets.token_urlsafe(24)
        self.guests: dict[str, Guest] = {}
        self.has_ended = False
        self.question, self.round, self.is_revealed = question, 1, False
        self._link: Link | None = None
        self._link_number = 0
        self._teachers: list[Wake] = []

    @property
    def watch_key(self) -> str:
        """The key for watching the teacher's view: it may appear in an address, and permits no command."""
        return hashlib.sha256(f"watch {self.secret}".encode()).hexdigest()

    def is_led_by(self, secret: str) -> bool:
        """Return whether a secret is that of the class."""
        return _is_equal(secret, self.secret)

    def may_watch(self, key: str) -> bool:
        """Return whether a key permits watching the teacher's view."""
        return _is_equal(key, self.watch_key)

    def add_guest(self, token: str, groups: Sequence[Hashable]) -> None:
        """Add a student to the class."""
        self.guests[token] = Guest(groups)

    def answer(self, token: str, number: object, prediction: Prediction) -> bool:
        """Store a student's prediction for the question of this round; return False if it comes too late."""
        if self.has_ended or self.is_revealed or number != self.round:
            return False
        self.guests[token].prediction = prediction
        self._notify_teachers()
        return True

    def reveal(self) -> None:
        """Reveal all predictions; no further prediction is accepted."""
        self.is_revealed = True
        self._notify_all()

    def ask(self, question: Question) -> None:
        """Ask a question, new or repeated, and delete all predictions."""
        self.question, self.round, self.is_revealed = question, self.round + 1, False
        self._link = None
        for guest in self.guests.values():
            guest.prediction = None
        self._notify_all()

    def lead_to(self, path: str, query: str) -> int:
        """Lead the students' pages to a link, once; return the number of connected students."""
        self._link_number += 1
        self._link = Link(self._link_number, path, query)
        self._notify_all()
        return self._count_connected()

    def end(self) -> None:
        """End the class: notify all subscribers and remove the students."""
        self.has_ended, self._link = True, None
        self._notify_all()
        self.guests = {}

    def get_teacher_view(self) -> View:
        """Return the state of the class for its teacher, without predictions until they are revealed."""
        predictions = self._list_predictions()
        return self._get_view() | {
            "here": self._count_connected(),
            "answered": len(predictions),
            "counts": self._count_answers(predictions) if self.is_revealed else None,
            "drawn": sum(prediction.drawn is not None for prediction in predictions)
            if self.is_revealed
            else None,
        }

    def get_student_view(self, token: str) -> View:
        """Return the state of the class for a student, without other students' data."""
        guest = self.guests.get(token)
        link = asdict(self._link) if self._link else None
        own_state = {"answered": bool(guest and guest.prediction), "link": link, "spread_ms": SPREAD_MS}
        return self._get_view() | own_state

    def list_drawings(self) -> list[DrawnCurve]:
        """Return all drawn curves once they are revealed, in an order that does not identify students."""
        if not self.is_revealed:
            return []
        curves = [prediction.drawn for prediction in self._list_predictions() if prediction.drawn is not None]
        return sorted(curves, key=lambda curve: hashlib.sha256(curve.tobytes()).digest())

    @contextmanager
    def subscribe(self, token: str | None, wake: Wake) -> Iterator[None]:
        """Call ``wake`` at each change that the student sees, or the teacher if ``token`` is None.

        Raises TooManyStreamsError if too many streams are open already.
        """
        watchers = self._teachers if token is None else self.guests[token].watchers
        if len(watchers) >= (MAX_TEACHER_STREAMS if token is None else MAX_STUDENT_STREAMS):
            raise TooManyStreamsError
        watchers.append(wake)
        self._notify_teachers()
        try:
            yield
        finally:
            watchers.remove(wake)
            self._notify_teachers()

    def _get_view(self) -> View:
        """Return the part of the state that teacher and students see."""
        state = "ended" if self.has_ended else "open"
        asked_question = {"lesson": self.question.lesson, "round": self.round, "revealed": self.is_revealed}
        return {"state": state, **asked_question, "links": self._link_number}

    def _list_predictions(self) -> list[Prediction]:
        return [guest.prediction for guest in self.guests.values() if guest.prediction]

    def _count_answers(self, predictions: Sequence[Prediction]) -> list[int]:
        """Return how often each answer was picked, by its index."""
        counts = Counter(prediction.picked for prediction in predictions)
        return [counts[index] for index in range(self.question.answers)]

    def _count_connected(self) -> int:
        """Return the number of students with an open stream."""
        return sum(bool(guest.watchers) for guest in self.guests.values())

    def _notify_teachers(self) -> None:
        for wake in self._teachers:
            wake()

    def _notify_all(self) -> None:
        self._notify_teachers()
        for guest in self.guests.values():
            for wake in guest.watchers:
                wake()


def _is_equal(text: str, secret: str) -> bool:
    """Return whether a text equals a secret, in constant time."""
    return hmac.compare_digest(text.encode(errors="replace"), secret.encode())
