"""Errors and notes for pasted code that cannot be converted exactly to formulas."""

from typing import Self


class ReadingError(ValueError):
    """Raised for source code that cannot be converted to formulas.

    Attributes:
        message: a sentence about the part that could not be read.
        line: the line in the original text, counted from 1.
        raises: whether torch or Python is certain to raise an error there too.
    """

    raises = False

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message, self.line = message, line

    def __reduce__(self) -> tuple[type[Self], tuple[str, int]]:
        """Support pickling, which by default would pass only the message to the constructor."""
        return type(self), (self.message, self.line)


class DeadEndError(ReadingError):
    """Raised if the pasted code itself raises an error at this point, and so returns no value."""

    raises = True


class UnreadableError(Exception):
    """Raised for an expression that cannot be converted to a formula.

    The message completes a sentence that begins with line and code.
    """

    raises = False  # whether torch or Python is certain to raise an error there too


class RaisesError(UnreadableError):
    """Raised for an expression that cannot be converted because torch or Python would reject it."""

    raises = True


class ConditionalGradientError(UnreadableError):
    """Raised if an input's gradient in a Function depends on whether another input needs a gradient."""


class UndecidedError(Exception):
    """Raised at an ``if`` whose outcome depends on a parameter or a shape; both branches are then read.

    Its arguments are the test and its line.
    """


class Note(str):
    """A sentence on a difference between code and formulas, or on a fault that no curve shows.

    Attributes:
        kind: ``raises`` if torch is certain to raise an error, ``writes`` if g or x is changed,
            ``constant`` if a second derivative is lost, ``silent`` if an input gets no gradient, ``hangs`` if
            a gradient depends on whether another input needs one, ``unread`` if a gradient was left out, ""
            otherwise.
        line: the line in the original text, or 0 if the note is not about a single line.
    """

    kind: str
    line: int

    def __new__(cls, words: str, kind: str = "", line: int = 0) -> "Note":
        """Create a note from its sentence, its kind and its line number."""
        note = super().__new__(cls, words)
        note.kind, note.line = kind, line
        return note


def require(condition: object, reason: str, error: type[UnreadableError] = UnreadableError) -> None:
    """Raise an error with the given reason unless a condition is true."""
    if not condition:
        raise error(reason)
