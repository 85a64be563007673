"""Text to words, by one regular expression; what people write otherwise becomes the language's own."""

import re
from dataclasses import dataclass

from explorer.formula.aliases import SPELLINGS, SUPERSCRIPTS, own_name
from explorer.formula.errors import error_at

_WORD = re.compile(
    r"(?P<space>[ \t\r\n]+)"
    r"|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+−-]?[0-9]+)?)"
    r"|(?P<sigmoid>σ(?=\())"  # alone it is the letter
    r"|(?P<name>(?:(?:torch|nn|functional|F|np|numpy|jax|jnp|lax|math)\.)*[A-Za-z_][A-Za-z0-9_]*|[α-ωϵϕµ][0-9]*)"
    r"|(?P<power>⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)"
    r"|(?P<mark>\*\*|//|<=|>=|==|!=|:=|&&|\|\||[-+*/()<>,&|~=%^!\[\].'\"#−×·⋅∗÷≤≥≠])"
)
# Behind a number these would be part of it: an exponent that is cut off, or another language's literal.
_SUFFIXES = frozenset("eEjJfFlL")


@dataclass(frozen=True, slots=True)
class Token:
    """A word and the column where it begins, 1 for the first character."""

    kind: str  # number, name, mark or end
    text: str
    column: int


def tokens(text: str) -> list[Token]:
    """The words of a text, the end last.

    ``2x``, ``2(x + 1)`` and ``2πx`` hold a product. Raises FormulaError at a character that begins no word
    and at a product that can be read in two ways.
    """
    read: list[Token] = []
    position = joined = 0
    while match := _WORD.match(text, position):
        token = Token(str(match.lastgroup), match.group(), position + 1)
        if position == joined and read and _multiplies(read[-1], token):
            require_one_reading(read, token)
            read.append(Token("mark", "*", token.column))
        read += _own(token)
        position = match.end()
        joined = position if token.kind in ("number", "power") or token.text == "π" else -1
    if position < len(text):
        character = text[position]
        quoted = f'"{character}"' if character.isprintable() else f"character U+{ord(character):04X}"
        raise error_at(position + 1, quoted, " has no place in a formula")
    return [*read, Token("end", "", len(text) + 1)]


def _own(token: Token) -> list[Token]:
    """The word as the language spells it; spaces are none."""
    match token.kind:
        case "space":
            return []
        case "name":
            return [Token("name", own_name(token.text), token.column)]
        case "sigmoid":
            return [Token("name", "sigmoid", token.column)]
        case "number":
            return [Token("number", token.text.replace("−", "-"), token.column)]
        case "power":
            exponent = token.text.translate(SUPERSCRIPTS)
            sign = [Token("mark", "-", token.column)] if exponent[0] == "-" else []
            number = Token("number", exponent.lstrip("-"), token.column)
            return [Token("mark", "**", token.column), *sign, number]
        case _:
            return [Token(token.kind, SPELLINGS.get(token.text, token.text), token.column)]


def _multiplies(number: Token, token: Token) -> bool:
    if token.kind in ("name", "sigmoid"):
        return number.text != "0" and token.text not in _SUFFIXES and token.text[0] != "_"
    return token.text == "("


def require_one_reading(before: list[Token], token: Token) -> None:
    """FormulaError at a product without its sign: ``1/2x`` is (1/2)x to some and 1/(2x) to others."""
    operators = [word.text for word in before[:-1] if word.text not in ("+", "-")]
    if operators and operators[-1] in ("/", "**"):
        quoted = f'"{before[-1].text}{token.text}"'
        raise error_at(token.column, quoted, " can be read in two ways: write * and parentheses")
