"""Shown code in parts that can be coloured."""

import io
import keyword
import tokenize
from itertools import accumulate

_STRINGS = ("STRING", "FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END")  # of f-strings from Python 3.12 on
_KINDS = dict.fromkeys(_STRINGS, "string") | {"NUMBER": "number", "COMMENT": "comment"}


def spans(source: str) -> list[tuple[str, str]]:
    """Kind and text of each part of Python source; the texts in their order are the source.

    Kinds are keyword, name (what ``def`` or ``class`` defines), string, number and comment; the empty one
    is for all else.
    """
    starts = list(accumulate(map(len, io.StringIO(source)), initial=0))
    pairs, done, before = [], 0, ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind = _kind(token, before)
        if kind:
            begin, end = (starts[row - 1] + column for row, column in (token.start, token.end))
            pairs += [("", source[done:begin]), (kind, source[begin:end])]
            done = end
        before = token.string
    return [span for span in [*pairs, ("", source[done:])] if span[1]]


def _kind(token: tokenize.TokenInfo, before: str) -> str:
    if keyword.iskeyword(token.string):
        return "keyword"
    if before in ("def", "class"):
        return "name"
    return _KINDS.get(tokenize.tok_name[token.type], "")
