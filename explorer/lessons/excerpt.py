"""The few lines of code that a question is about, as they stand beside it."""

import inspect
import io
import tokenize
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from textwrap import dedent
from types import MappingProxyType
from typing import Any

from explorer.lessons.highlighting import spans


@dataclass(frozen=True)
class Excerpt:
    """The lines of a lesson's own code that its question is about.

    Attributes:
        of: the Functions, methods or functions, in their order; docstrings, comments and empty lines are
            left out.
        decides: the line that decides the question, without its indentation; it is lit once an answer is
            picked.
        left_open: lines that would give the answer away, each with the line that stands in its place.
    """

    of: tuple[type | Callable[..., Any], ...]
    decides: str
    left_open: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def lines(self) -> list[str]:
        """The lines of code. Raises ValueError where a line that is named is not among them."""
        lines = [line for thing in self.of for line in _bare(dedent(inspect.getsource(thing)))]
        bare = [line.strip() for line in lines]
        for line in (self.decides, *self.left_open):
            if line not in bare:
                raise ValueError(f"{line!r} is no line of this excerpt")
        return [
            _indent(line) + self.left_open.get(text, text) for line, text in zip(lines, bare, strict=True)
        ]

    def data(self) -> dict[str, Any]:
        """Plain data: coloured lines, as ``spans`` gives them, and the index of the one that decides."""
        lines = self.lines
        decides = [line.strip() for line in lines].index(self.decides)
        return {"lines": _by_line(spans("\n".join(lines) + "\n")), "decides": decides}


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _bare(source: str) -> list[str]:
    """The lines of source code without docstrings, comments and empty lines."""
    left_out, fresh = set[int](), True  # a string that begins a line is a docstring
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.STRING and fresh:
            left_out.update(range(token.start[0], token.end[0] + 1))
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            fresh = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    lines = enumerate(source.splitlines(), 1)
    lines_left = (line.split("  #")[0] for number, line in lines if number not in left_out)
    return [line for line in lines_left if line.strip()]


def _by_line(parts: list[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """Coloured parts, one list for each line, without the ends of lines."""
    lines: list[list[tuple[str, str]]] = [[]]
    for kind, text in parts:
        first, *more = text.split("\n")
        lines[-1].append((kind, first))
        lines += [[(kind, piece)] for piece in more]
    return [[part for part in line if part[1]] for line in lines[:-1]]
