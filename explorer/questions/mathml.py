"""LaTeX, as far as formulas are printed in it, to MathML, which browsers set without anybody's fonts."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from explorer.formula.aliases import GREEK

Math = list[Any]  # the name of an element, attributes where it has some, and what is in it

_TOKEN = re.compile(r"\\(?:text|mathrm|mathbf|operatorname)\{[^{}]*\}|\\[a-zA-Z]+|\\.|\d[\d.]*|\S")
_WORD = re.compile(r"\\(text|mathrm|mathbf|operatorname)\{([^{}]*)\}")
_GREEK = {f"\\{name}".replace("lambd", "lambda"): letter for letter, name in reversed(GREEK.items())}
_SIGNS = {
    r"\le": "≤", r"\ge": "≥", r"\ne": "≠", r"\land": "∧", r"\lor": "∨", r"\lnot": "¬", r"\cdot": "⋅",
    "-": "−",
}  # fmt: skip
_FENCES = {r"\lfloor": "⌊", r"\rfloor": "⌋", r"\lceil": "⌈", r"\rceil": "⌉"}
_NAMED = re.compile(r"\\(exp|ln|log|(arc)?(sin|cos|tan)h?|min|max)")
_SPACES = {r"\,": "0.17em", r"\quad": "1em"}
_NO_BREAK = "\N{NO-BREAK SPACE}"


def mathml(latex: str) -> Math:
    """The element ``math`` of a formula that ``explorer.formula.latex`` or the app has printed.

    Raises ValueError for LaTeX that is used nowhere yet.
    """
    tokens = _Tokens(latex)
    parts = _sequence(tokens, ())
    if tokens.next:
        raise ValueError(f"{tokens.next} without its beginning in {latex}")
    return ["math", {"display": "block"}, *parts]


class _Tokens:
    """Tokens one after the other; ``next`` is the one that has not been taken, "" at the end."""

    def __init__(self, latex: str) -> None:
        self._rest: Iterator[str] = iter(_TOKEN.findall(latex))
        self.next = next(self._rest, "")

    def take(self, expected: str = "") -> str:
        """The next token; ValueError where another is expected."""
        token, self.next = self.next, next(self._rest, "")
        if expected and token != expected:
            raise ValueError(f"{token or 'the end'} in the place of {expected}")
        return token


def _sequence(tokens: _Tokens, ends: Sequence[str]) -> list[Math]:
    """All up to one of some tokens, which stays."""
    parts: list[Math] = []
    while tokens.next and tokens.next not in ends:
        if tokens.next in ("_", "^"):
            parts.append(_scripted(parts.pop(), tokens))
        else:
            parts.append(_part(tokens))
    return parts


def _scripted(base: Math, tokens: _Tokens) -> Math:
    scripts: dict[str, Math] = {}
    while tokens.next in ("_", "^"):
        sign = tokens.take()
        scripts[sign] = _part(tokens)
    kind = {"_": "msub", "^": "msup"}[next(iter(scripts))] if len(scripts) == 1 else "msubsup"
    return [kind, base, *(scripts[sign] for sign in ("_", "^") if sign in scripts)]


def _part(tokens: _Tokens) -> Math:
    token = tokens.take()
    if word := _WORD.fullmatch(token):
        return _named(word[1], word[2].replace(r"\_", "_"))
    match token:
        case "{":
            inside = _sequence(tokens, ("}",))
            tokens.take("}")
            return inside[0] if len(inside) == 1 else ["mrow", *inside]
        case r"\frac":
            return ["mfrac", _part(tokens), _part(tokens)]
        case r"\sqrt":
            return ["msqrt", _part(tokens)]
        case r"\left":
            return _fenced(tokens)
        case r"\begin":
            return _cases(tokens)
        case r"\sum":
            tokens.take(r"\nolimits")
            return ["mo", {"movablelimits": "false"}, "∑"]
    return _leaf(token)


def _named(kind: str, word: str) -> Math:
    if kind == "text":
        return ["mtext", word.replace(" ", _NO_BREAK)]
    if kind == "mathbf":
        return ["mn", {"class": "bold"}, word]
    return ["mi", {"mathvariant": "normal"}, word] if len(word) == 1 else ["mi", word]


def _leaf(token: str) -> Math:
    if token[0].isdigit():
        return ["mn", token]
    if token.isalpha():
        return ["mi", token]
    if token in _SPACES:
        return ["mspace", {"width": _SPACES[token]}]
    if token in _GREEK:
        return ["mi", _GREEK[token]]
    if _NAMED.fullmatch(token):
        return ["mi", token[1:]]
    if token in _SIGNS or token in tuple("=<>+,()[]|"):
        return ["mo", _SIGNS.get(token, token)]
    raise ValueError(f"{token} is no LaTeX that formulas are printed in")


def _fenced(tokens: _Tokens) -> Math:
    opened = tokens.take()
    inside = _sequence(tokens, (r"\right",))
    tokens.take(r"\right")
    fences = [_FENCES.get(token, token) for token in (opened, tokens.take())]
    before, after = (
        ["mo", {"form": form, "stretchy": "true"}, fence]
        for form, fence in zip(("prefix", "postfix"), fences, strict=True)
    )
    return ["mrow", before, *inside, after]


def _cases(tokens: _Tokens) -> Math:
    for expected in "{cases}":
        tokens.take(expected)
    rows: list[Math] = [["mtr"]]
    while tokens.next != r"\end":
        rows[-1].append(["mtd", *_sequence(tokens, ("&", r"\\", r"\end"))])
        if tokens.next in ("&", r"\\") and tokens.take() == r"\\":
            rows.append(["mtr"])
    for expected in (r"\end", *"{cases}"):
        tokens.take(expected)
    brace = ["mo", {"form": "prefix", "stretchy": "true"}, "{"]
    return ["mrow", brace, ["mtable", {"columnalign": "left"}, *rows]]
