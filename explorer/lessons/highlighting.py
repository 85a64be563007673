"""Syntax highlighting of displayed code."""

import io
import keyword
import tokenize
from itertools import accumulate

_STRINGS = ("STRING", "FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END")  # since 3.12, f-strings have parts
_KINDS = dict.fromkeys(_STRINGS, "string") | {"NUMBER": "number", "COMMENT": "comment"}


def highlight(source: str) -> list[tuple[str, str]]:
    """Return Python source code split into parts (kind, text), for syntax highlighting.

    The kinds are "keyword", "name" (the name after ``def`` or ``class``), "string", "number", "comment" and
    "", which covers everything else.
    """
    starts = list(accumulate(map(len, io.StringIO(source)), initial=0))
    pairs, position, previous = [], 0, ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind = _classify(token, previous)
        if kind:
            begin, end = (starts[row - 1] + column for row, column in (token.start, token.end))
            pairs += [("", source[position:begin]), (kind, source[begin:end])]
            position = end
        previous = token.string
    return [span for span in [*pairs, ("", source[position:])] if span[1]]


def _classify(token: tokenize.TokenInfo, previous: str) -> str:
    if keyword.iskeyword(token.string):
        return "keyword"
    if previous in ("def", "class"):
        return "name"
    return _KINDS.get(tokenize.tok_name[token.type], "")
