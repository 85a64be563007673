"""Questions and classes to try."""

from explorer.ui.server.admission.visitors import Visitor
from explorer.ui.server.classes.classes import Classes
from explorer.ui.server.classes.classroom import Classroom
from explorer.ui.server.classes.predictions import Prediction, Question, read_prediction


class Clock:
    """Stands still until it is moved."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


ROUND = Question("straight-through", answers=3, draws=True)
WORDS = Question("leaves", answers=4, draws=False)
TEACHER = Visitor("teacher", "10.0.0.1")


def drawing(level: float = 1.0, points: int = 300) -> Prediction:
    return read_prediction({"drawn": [level] * points}, ROUND)


def picked(index: int) -> Prediction:
    return read_prediction({"picked": index}, ROUND)


def joined(classes: Classes, room: Classroom, name: str, address: str = "10.0.0.2") -> str:
    return classes.join(Visitor(name, address), room.identity)
