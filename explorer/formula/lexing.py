"""Split the text of a formula into tokens, and replace alternative spellings."""

import re
from dataclasses import dataclass

from explorer.formula.aliases import SPELLINGS, SUPERSCRIPTS, normalize_name
from explorer.formula.errors import make_error

_WORD = re.compile(
    r"(?P<space>[ \t\r\n]+)"
    r"|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+−-]?[0-9]+)?)"
    r"|(?P<sigmoid>σ(?=\())"  # σ before anything but a parenthesis is a name
    r"|(?P<name>(?:(?:torch|nn|functional|F|np|numpy|jax|jnp|lax|math)\.)*[A-Za-z_][A-Za-z0-9_]*|[α-ωϵϕµ][0-9]*)"
    r"|(?P<power>⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)"
    r"|(?P<mark>\*\*|//|<=|>=|==|!=|:=|&&|\|\||[-+*/()<>,&|~=%^!\[\].'\"#−×·⋅∗÷≤≥≠])"
)
# Letters that belong to the number before them: an incomplete exponent, or a suffix as in other languages.
_SUFFIXES = frozenset("eEjJfFlL")


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a formula, with the column of its first character, counted from 1."""

    kind: str  # "number", "name", "mark" or "end"
    text: str
    column: int


def tokenize(text: str) -> list[Token]:
    """Split the text of a formula into tokens, followed by an end token.

    Products such as ``2x``, ``2(x + 1)`` and ``2πx`` get the missing *. Raises FormulaError for a character
    that no token begins with, and for an ambiguous product.
    """
    result: list[Token] = []
    position = product_position = 0
    while match := _WORD.match(text, position):
        token = Token(str(match.lastgroup), match.group(), position + 1)
        if position == product_position and result and _is_factor(result[-1], token):
            require_unambiguous(result, token)
            result.append(Token("mark", "*", token.column))
        result += _normalize(token)
        position = match.end()
        product_position = position if token.kind in ("number", "power") or token.text == "π" else -1
    if position < len(text):
        character = text[position]
        quoted = f'"{character}"' if character.isprintable() else f"character U+{ord(character):04X}"
        raise make_error(position + 1, quoted, " is not allowed in a formula")
    return [*result, Token("end", "", len(text) + 1)]


def _normalize(token: Token) -> list[Token]:
    """Return the tokens that replace a token in the standard spelling: none for a space, three for ``⁻²``."""
    match token.kind:
        case "space":
            return []
        case "name":
            return [Token("name", normalize_name(token.text), token.column)]
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


def _is_factor(number: Token, token: Token) -> bool:
    """Return whether a token directly after a number, such as x in ``2x``, is multiplied with it."""
    if token.kind in ("name", "sigmoid"):
        return number.text != "0" and token.text not in _SUFFIXES and token.text[0] != "_"
    return token.text == "("


def require_unambiguous(before: list[Token], token: Token) -> None:
    """Raise FormulaError for a product without * that could be read in two ways, such as ``1/2x``."""
    operators = [word.text for word in before[:-1] if word.text not in ("+", "-")]
    if operators and operators[-1] in ("/", "**"):
        quoted = f'"{before[-1].text}{token.text}"'
        raise make_error(token.column, quoted, " can be read in two ways: write * and parentheses")
