"""The one error of the reader, and the half-sentence it is made from."""

from __future__ import annotations

from explorer.formula import Node


class ReadingError(ValueError):
    """Source code that cannot be turned into formulas.

    ``message`` is a plain sentence that names what could not be read; ``line`` is where it stands
    in the text as it was given, 1 for the first line.
    """

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


class DeadEndError(ReadingError):
    """The code itself raises an error on this path, so no value comes out of it."""


class UnreadableError(Exception):
    """Why an expression cannot be read: the end of a sentence that begins with its line and its code."""


class UndecidedError(Exception):
    """A branch depends on a parameter: both sides have to be read."""

    def __init__(self, test: Node, line: int) -> None:
        super().__init__(str(line))
        self.test = test
        self.line = line
