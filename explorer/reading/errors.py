"""The errors and notes of the reader."""

from typing import Self


class ReadingError(ValueError):
    """Source code that cannot be converted to formulas.

    Attributes:
        message: a plain sentence on the part that could not be read.
        line: its line in the original text, counted from 1.
        raises: whether torch or Python certainly raises an error there too.
    """

    raises = False

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message, self.line = message, line

    def __reduce__(self) -> tuple[type[Self], tuple[str, int]]:
        """Return the arguments for a new error; by default, pickle would pass the message alone."""
        return type(self), (self.message, self.line)


class DeadEndError(ReadingError):
    """The code itself raises an error on this path, so it returns no value."""

    raises = True


class UnreadableError(Exception):
    """An expression cannot be read; the message completes a sentence that begins with line and code."""


class RaisesError(UnreadableError):
    """An expression cannot be read, and torch or Python certainly raises an error there."""


class ConditionalGradientError(UnreadableError):
    """A gradient of a Function depends on whether another input needs one."""


class UndecidedError(Exception):
    """A branch depends on a parameter or a shape, passed with its line: both sides have to be read."""


class Note(str):
    """A difference between code and formulas, or a fault of the code that no curve shows, as a sentence.

    Attributes:
        kind: ``raises`` if torch surely raises an error, ``writes`` if g itself is changed, ``constant`` if
            a second derivative is lost, ``silent`` if an input gets no gradient, ``hangs`` if a gradient
            depends on another input's need, ``unread`` if a gradient was left out, "" otherwise.
        line: the line in the original text, 0 if the note concerns no single line.
    """

    kind: str
    line: int

    def __new__(cls, words: str, kind: str = "", line: int = 0) -> "Note":
        """Create the sentence with its kind and line."""
        note = super().__new__(cls, words)
        note.kind, note.line = kind, line
        return note


def require(condition: object, reason: str, error: type[UnreadableError] = UnreadableError) -> None:
    """Raise an error with this reason if a condition is false."""
    if not condition:
        raise error(reason)
