"""The exception for formulas that cannot be parsed."""

from typing import Self

from explorer.formula.quoting import cut_window


class FormulaError(ValueError):
    """Raised if a formula cannot be parsed.

    ``message`` describes the error and how to correct it. ``column`` is the 1-based position of the error. If
    the ``text`` of the formula is given, the error prints it too, with a caret under the column; a long text
    is truncated around the column.
    """

    def __init__(self, message: str, column: int, text: str = "") -> None:
        self.message, self.column, self.text = message, column, text
        super().__init__(f"{message}\n{self.mark_column(text)}" if text else message)

    def __reduce__(self) -> tuple[type[Self], tuple[str, int, str]]:
        """Return all constructor arguments for pickle, which would otherwise pass only the message."""
        return type(self), (self.message, self.column, self.text)

    def mark_column(self, text: str) -> str:
        """Return ``text`` with a caret on the next line, under the column of the error."""
        part, column = cut_window(text, self.column)
        flat = "".join(character if character.isprintable() else " " for character in part)
        return f"{flat}\n{' ' * (column - 1)}^"


def make_error(column: int, subject: str, ending: str) -> FormulaError:
    """Return the error "<subject> at column <column><ending>"; ``ending`` begins with a space or colon."""
    return FormulaError(f"{subject} at column {column}{ending}", column)
