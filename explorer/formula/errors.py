"""The one error of the formula language."""

from typing import Self

from explorer.formula.quoting import window


class FormulaError(ValueError):
    """A formula that cannot be read.

    ``message`` is a plain sentence that says what was wrong and what to write instead;
    ``column`` is the position it points at, 1 for the first character. Where the ``text`` that was to be
    read is given, it is printed as well, around the column if it is long, with a caret under the column.
    """

    def __init__(self, message: str, column: int, text: str = "") -> None:
        self.message, self.column, self.text = message, column, text
        super().__init__(f"{message}\n{self.pointer(text)}" if text else message)

    def __reduce__(self) -> tuple[type[Self], tuple[str, int, str]]:
        """Return how to build the error anew: pickle would call the class with the message alone."""
        return type(self), (self.message, self.column, self.text)

    def pointer(self, text: str) -> str:
        """The text with a caret on the line below, under the column of the error."""
        part, column = window(text, self.column)
        flat = "".join(character if character.isprintable() else " " for character in part)
        return f"{flat}\n{' ' * (column - 1)}^"


def error_at(column: int, subject: str, rest: str) -> FormulaError:
    """The error about a subject at a column; ``rest`` of the sentence begins with its space or colon."""
    return FormulaError(f"{subject} at column {column}{rest}", column)
