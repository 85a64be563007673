"""The errors of the reader."""

from typing import Self


class ReadingError(ValueError):
    """Source code that cannot be turned into formulas.

    ``message`` is a plain sentence that names the part that could not be read; ``line`` is its line
    in the original text, 1 for the first. ``raises`` says whether torch or Python surely raises there too.
    """

    raises = False

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message, self.line = message, line

    def __reduce__(self) -> tuple[type[Self], tuple[str, int]]:
        """Return how to build the error anew: pickle would call the class with the message alone."""
        return type(self), (self.message, self.line)


class DeadEndError(ReadingError):
    """The code itself raises an error on this path, so no value comes out of it."""

    raises = True


class UnreadableError(Exception):
    """An expression cannot be read; the message ends a sentence that begins with its line and its code."""


class RaisesError(UnreadableError):
    """Likewise, and torch or Python surely raises an error there."""


class HangsError(UnreadableError):
    """A gradient of a Function hangs on whether another input needs one."""


class UndecidedError(Exception):
    """A branch depends on a parameter or a shape, given with its line: both sides have to be read."""


class Note(str):
    """A difference between code and formulas, or a fault of the code that no curve shows, as a sentence.

    Attributes:
        kind: ``raises`` where torch surely raises an error, ``writes`` where g itself is changed,
            ``constant`` where a second derivative is lost, ``silent`` where an input gets no gradient,
            ``hangs`` where one hangs on whether another input needs it, ``unread`` where a gradient was left
            out, "" else.
        line: in the original text, 0 where it is of no single line.
    """

    kind: str
    line: int

    def __new__(cls, words: str, kind: str = "", line: int = 0) -> "Note":
        """The sentence with its kind and line."""
        note = super().__new__(cls, words)
        note.kind, note.line = kind, line
        return note


def require(condition: object, reason: str, error: type[UnreadableError] = UnreadableError) -> None:
    """Raise an error with this reason where a condition does not hold."""
    if not condition:
        raise error(reason)
