"""Text to words, by one regular expression."""

from __future__ import annotations

import re
from dataclasses import dataclass

from explorer.formula.errors import FormulaError

_WORD = re.compile(
    r"(?P<space>[ \t\r\n]+)"
    r"|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<mark>\*\*|//|<=|>=|==|!=|:=|&&|\|\||[-+*/()<>,&|~=%^!\[\].'\"#])"
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word and the column where it begins, 1 for the first character."""

    kind: str  # number, name, mark or end
    text: str
    column: int


def tokens(text: str) -> list[Token]:
    """The words of a text, the end last. Raises FormulaError at a character that begins none."""
    found, position = [], 0
    while position < len(text):
        match = _WORD.match(text, position)
        if match is None:
            code = ord(text[position])
            shown = f'"{text[position]}"' if text[position].isprintable() else f"character U+{code:04X}"
            raise FormulaError(f"{shown} at column {position + 1} has no place in a formula", position + 1)
        if match.lastgroup != "space":
            found.append(Token(str(match.lastgroup), match.group(), position + 1))
        position = match.end()
    return [*found, Token("end", "", len(text) + 1)]
