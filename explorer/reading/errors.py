"""The errors of the reader."""


class ReadingError(ValueError):
    """Source code that cannot be turned into formulas.

    ``message`` is a plain sentence that names the part that could not be read; ``line`` is its line
    in the original text, 1 for the first.
    """

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message, self.line = message, line


class DeadEndError(ReadingError):
    """The code itself raises an error on this path, so no value comes out of it."""


class UnreadableError(Exception):
    """An expression cannot be read; the message ends a sentence that begins with its line and its code."""


class UndecidedError(Exception):
    """A branch depends on a parameter or a shape, given with its line: both sides have to be read."""


def require(condition: object, reason: str) -> None:
    """Raise UnreadableError with this reason where a condition does not hold."""
    if not condition:
        raise UnreadableError(reason)
