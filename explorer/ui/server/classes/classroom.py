"""The state of a class, independent of HTTP: its question, students, predictions and subscribers."""

import hashlib
import hmac
import secrets
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from explorer.ui.server.classes.predictions import DrawnCurve, Prediction, Question

MAX_STUDENT_STREAMS = 4  # open tabs of one student, including broken connections not yet detected
MAX_TEACHER_STREAMS = 8  # number of tabs in which the teacher may have the class open
# Pages delay their answers by a random time up to this limit, so that the answers arrive spread out.
SPREAD_MS = 500

Wake = Callable[[], None]
View = dict[str, Any]


class TooManyStreamsError(Exception):
    """Raised if a teacher or a student has a class open in too many tabs."""


@dataclass
class Student:
    """A student in a class.

    Attributes:
        groups: the quota groups that the student counts towards.
        watchers: one callback per open event stream, called on changes.
    """

    groups: Sequence[Hashable]
    watchers: list[Wake] = field(default_factory=list)


@dataclass
class Round:
    """A question that the class is or was asked, with the latest prediction of each student.

    ``number`` counts the questions asked, from 1. ``predictions`` is a dict from the students' tokens.
    """

    question: Question
    number: int
    is_revealed: bool = False
    predictions: dict[str, Prediction] = field(default_factory=dict)


@dataclass(frozen=True)
class Link:
    """A link to a page of the explorer to which a teacher leads the students.

    ``number`` counts the links of a class, from 1.
    """

    number: int
    path: str
    query: str


class Classroom:
    """An open class with its students, the current question and everyone's predictions.

    Args:
        identity: the class's id, derived from its code.
        question: the first question.
        opened_s: the time at which it was opened, in seconds of a monotonic clock.
        groups: the quota groups that the class counts towards.
    """

    def __init__(
        self, identity: str, question: Question, opened_s: float, groups: Sequence[Hashable]
    ) -> None:
        self.identity, self.opened_s, self.groups = identity, opened_s, groups
        self.secret = secrets.token_urlsafe(24)
        self.students: dict[str, Student] = {}
        self.has_ended = False
        self.round = Round(question, 1)
        self._rounds = {question.lesson: self.round}
        self._round_count = 1
        self._link: Link | None = None
        self._link_number = 0
        self._teachers: list[Wake] = []

    @property
    def watch_key(self) -> str:
        """The key that permits watching the teacher's view.

        The key permits no commands, so it may appear in an address.
        """
        return hashlib.sha256(f"watch {self.secret}".encode()).hexdigest()

    def is_led_by(self, secret: str) -> bool:
        """Return whether a secret is that of the class's teacher."""
        return _is_equal(secret, self.secret)

    def may_watch(self, key: str) -> bool:
        """Return whether a key permits watching the teacher's view of this class."""
        return _is_equal(key, self.watch_key)

    def answer(self, token: str, number: object, prediction: Prediction) -> bool:
        """Store a student's prediction for the question of the class with this ``number``.

        Returns False if it comes too late: the answers are shown, another question is asked, or the class has
        ended.
        """
        if self.has_ended or self.round.is_revealed or number != self.round.number:
            return False
        self.round.predictions[token] = prediction
        self._notify_teachers()
        return True

    def reveal(self) -> None:
        """Show all predictions to the class. Later predictions are not accepted."""
        self.round.is_revealed = True
        self._notify_all()

    def ask(self, question: Question, again: bool = False) -> None:
        """Ask the class a question, and return to its predictions if it was asked before.

        ``again`` deletes them and asks the question anew.
        """
        if again or question.lesson not in self._rounds:
            self._round_count += 1
            self._rounds[question.lesson] = Round(question, self._round_count)
        self.round, self._link = self._rounds[question.lesson], None
        self._notify_all()

    def lead_to(self, path: str, query: str) -> int:
        """Send all students' browsers to a page, and return the number of connected students."""
        self._link_number += 1
        self._link = Link(self._link_number, path, query)
        self._notify_all()
        return self._count_connected()

    def end(self) -> None:
        """End the class, notify all subscribers and remove the students with their predictions."""
        self.has_ended, self._link = True, None
        self._notify_all()
        self.students = {}
        for each in self._rounds.values():
            each.predictions.clear()

    def get_teacher_view(self) -> View:
        """Return the state of the class that its teacher sees, as JSON data.

        ``here`` students are connected, and ``answered`` have answered. ``counts``, the number of students by
        answer, and ``drawn``, the number of drawn curves, are None until the predictions are revealed.
        """
        predictions = self.round.predictions.values()
        picks = Counter(prediction.picked for prediction in predictions)
        is_revealed = self.round.is_revealed
        return self._get_view() | {
            "here": self._count_connected(),
            "answered": len(predictions),
            "counts": [picks[index] for index in range(self.round.question.answers)] if is_revealed else None,
            "drawn": picks[None] if is_revealed else None,
        }

    def get_student_view(self, token: str) -> View:
        """Return the state of the class that one student sees, without other students' data.

        ``answered`` is whether the student has answered, ``link`` the page to go to or None, and
        ``spread_ms`` the longest time by which a page delays its answer.
        """
        link = asdict(self._link) if self._link else None
        own_state = {"answered": token in self.round.predictions, "link": link, "spread_ms": SPREAD_MS}
        return self._get_view() | own_state

    def list_drawings(self) -> list[DrawnCurve]:
        """Return all curves that students have drawn. Returns [] before they are revealed.

        The order does not identify students.
        """
        if not self.round.is_revealed:
            return []
        curves = [each.drawn for each in self.round.predictions.values() if each.drawn is not None]
        return sorted(curves, key=lambda curve: hashlib.sha256(curve.tobytes()).digest())

    @contextmanager
    def subscribe(self, token: str | None, wake: Wake) -> Iterator[None]:
        """Call ``wake`` at each change of the class while the context is open.

        The subscriber is the student with this token, or the teacher if ``token`` is None. Raises
        TooManyStreamsError if too many streams are open already.
        """
        watchers = self._teachers if token is None else self.students[token].watchers
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
        state = "ended" if self.has_ended else "open"
        current = self.round
        asked_question = {
            "lesson": current.question.lesson,
            "round": current.number,
            "revealed": current.is_revealed,
        }
        return {"state": state, **asked_question, "links": self._link_number}

    def _count_connected(self) -> int:
        return sum(bool(student.watchers) for student in self.students.values())

    def _notify_teachers(self) -> None:
        for wake in self._teachers:
            wake()

    def _notify_all(self) -> None:
        self._notify_teachers()
        for student in self.students.values():
            for wake in student.watchers:
                wake()


def _is_equal(text: str, secret: str) -> bool:
    """Return whether text equals a secret; the time taken does not depend on the secret."""
    return hmac.compare_digest(text.encode(errors="replace"), secret.encode())
