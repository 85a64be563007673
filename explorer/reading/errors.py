"""The one error of the reader, and what it is made from."""


class ReadingError(ValueError):
    """Source code that cannot be turned into formulas.

    ``message`` is a plain sentence that names what could not be read; ``line`` is where it stands
    in the text as it was given, 1 for the first line.
    """

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message, self.line = message, line


class DeadEndError(ReadingError):
    """The code itself raises an error on this path, so no value comes out of it."""


class UnreadableError(Exception):
    """Why an expression cannot be read: the end of a sentence that begins with its line and its code."""


class UndecidedError(Exception):
    """A branch depends on a parameter or a shape, given with its line: both sides have to be read."""


def require(condition: object, reason: str) -> None:
    """UnreadableError with this reason where a condition does not hold."""
    if not condition:
        raise UnreadableError(reason)
