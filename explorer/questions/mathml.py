"""Convert the LaTeX of printed formulas to MathML, which browsers typeset without additional fonts."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from explorer.formula.aliases import GREEK

Math = list[Any]  # the name of an element, its attributes if any, and its content

_TOKEN = re.compile(r"\\(?:text|mathrm|mathbf|operatorname)\{[^{}]*\}|\\[a-zA-Z]+|\\.|\d[\d.]*|\S")
_WORD = re.compile(r"\\(text|mathrm|mathbf|operatorname)\{([^{}]*)\}")
_GREEK = {f"\\{name}".replace("lambd", "lambda"): letter for letter, name in reversed(GREEK.items())}
_SIGNS = {
    r"\le": "≤", r"\ge": "≥", r"\ne": "≠", r"\land": "∧", r"\lor": "∨", r"\lnot": "¬", r"\cdot": "⋅",
    "-": "−",
}  # fmt: skip
_FENCES = {r"\lfloor": "⌊", r"\rfloor": "⌋", r"\lceil": "⌈", r"\rceil": "⌉"}
_FUNCTION = re.compile(r"\\(exp|ln|log|(arc)?(sin|cos|tan)h?|min|max)")
_SPACES = {r"\,": "0.17em", r"\quad": "1em"}
_NO_BREAK = "\N{NO-BREAK SPACE}"


def to_mathml(latex: str) -> Math:
    """Return the element ``math`` for a formula printed by ``explorer.formula.latex`` or the app.

    Raises ValueError for LaTeX that neither of them prints.
    """
    tokens = _Tokens(latex)
    parts = _parse_sequence(tokens, ())
    if tokens.next:
        raise ValueError(f"{tokens.next} closes nothing in {latex}")
    return ["math", {"display": "block"}, *parts]


class _Tokens:
    """A stream of LaTeX tokens. ``next`` is the next token, "" at the end."""

    def __init__(self, latex: str) -> None:
        self._rest: Iterator[str] = iter(_TOKEN.findall(latex))
        self.next = next(self._rest, "")

    def take(self, expected: str = "") -> str:
        """Consume the next token and return it. Raises ValueError if it is not the expected one."""
        token, self.next = self.next, next(self._rest, "")
        if expected and token != expected:
            raise ValueError(f"expected {expected}, found {token or 'the end'}")
        return token


def _parse_sequence(tokens: _Tokens, ends: Sequence[str]) -> list[Math]:
    """Parse all tokens up to one of ``ends``, which is not consumed."""
    parts: list[Math] = []
    while tokens.next and tokens.next not in ends:
        if tokens.next in ("_", "^"):
            parts.append(_parse_scripts(parts.pop(), tokens))
        else:
            parts.append(_parse_part(tokens))
    return parts


def _parse_scripts(base: Math, tokens: _Tokens) -> Math:
    scripts: dict[str, Math] = {}
    while tokens.next in ("_", "^"):
        sign = tokens.take()
        scripts[sign] = _parse_part(tokens)
    kind = {"_": "msub", "^": "msup"}[next(iter(scripts))] if len(scripts) == 1 else "msubsup"
    return [kind, base, *(scripts[sign] for sign in ("_", "^") if sign in scripts)]


def _parse_part(tokens: _Tokens) -> Math:
    token = tokens.take()
    if word := _WORD.fullmatch(token):
        return _make_word(word[1], word[2].replace(r"\_", "_"))
    match token:
        case "{":
            inside = _parse_sequence(tokens, ("}",))
            tokens.take("}")
            return inside[0] if len(inside) == 1 else ["mrow", *inside]
        case r"\frac":
            return ["mfrac", _parse_part(tokens), _parse_part(tokens)]
        case r"\sqrt":
            return ["msqrt", _parse_part(tokens)]
        case r"\left":
            return _parse_fenced(tokens)
        case r"\begin":
            return _parse_cases(tokens)
        case r"\sum":
            tokens.take(r"\nolimits")
            return ["mo", {"movablelimits": "false"}, "∑"]
    return _make_leaf(token)


def _make_word(kind: str, word: str) -> Math:
    if kind == "text":
        return ["mtext", word.replace(" ", _NO_BREAK)]
    if kind == "mathbf":
        return ["mn", {"class": "bold"}, word]
    return ["mi", {"mathvariant": "normal"}, word] if len(word) == 1 else ["mi", word]


def _make_leaf(token: str) -> Math:
    if token[0].isdigit():
        return ["mn", token]
    if token.isalpha():
        return ["mi", token]
    if token in _SPACES:
        return ["mspace", {"width": _SPACES[token]}]
    if token in _GREEK:
        return ["mi", _GREEK[token]]
    if _FUNCTION.fullmatch(token):
        return ["mi", token[1:]]
    if token in _SIGNS or token in tuple("=<>+,()[]|"):
        return ["mo", _SIGNS.get(token, token)]
    raise ValueError(f"{token} is not among the LaTeX commands that formulas use")


def _parse_fenced(tokens: _Tokens) -> Math:
    first = tokens.take()
    inside = _parse_sequence(tokens, (r"\right",))
    tokens.take(r"\right")
    fences = [_FENCES.get(token, token) for token in (first, tokens.take())]
    before, after = (
        ["mo", {"form": form, "stretchy": "true"}, fence]
        for form, fence in zip(("prefix", "postfix"), fences, strict=True)
    )
    return ["mrow", before, *inside, after]


def _parse_cases(tokens: _Tokens) -> Math:
    for expected in "{cases}":
        tokens.take(expected)
    rows: list[Math] = [["mtr"]]
    while tokens.next != r"\end":
        rows[-1].append(["mtd", *_parse_sequence(tokens, ("&", r"\\", r"\end"))])
        if tokens.next in ("&", r"\\") and tokens.take() == r"\\":
            rows.append(["mtr"])
    for expected in (r"\end", *"{cases}"):
        tokens.take(expected)
    brace = ["mo", {"form": "prefix", "stretchy": "true"}, "{"]
    return ["mrow", brace, ["mtable", {"columnalign": "left"}, *rows]]
