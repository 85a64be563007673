"""The few lines of code that a question is about, to be displayed next to it."""

import inspect
import io
import tokenize
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from textwrap import dedent
from types import MappingProxyType
from typing import Any

from explorer.lessons.highlighting import highlight


@dataclass(frozen=True)
class Excerpt:
    """The lines of a lesson's code that its question is about.

    Attributes:
        sources: the Functions, methods or functions, in the order of display. Docstrings, comments and empty
            lines are left out.
        key_line: the line that decides the question, without indentation. It is highlighted after an answer
            is picked.
        blanks: a dict from lines that would reveal the answer to their replacements.
    """

    sources: tuple[type | Callable[..., Any], ...]
    key_line: str
    blanks: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def lines(self) -> list[str]:
        """The lines of code of the excerpt.

        Raises ValueError if ``key_line`` or a line of ``blanks`` is not among them.
        """
        lines = [line for thing in self.sources for line in _strip_comments(dedent(inspect.getsource(thing)))]
        bare = [line.strip() for line in lines]
        for line in (self.key_line, *self.blanks):
            if line not in bare:
                raise ValueError(f"the excerpt does not contain the line {line!r}")
        new_lines = (self.blanks.get(text, text) for text in bare)
        indents = (line[: len(line) - len(line.lstrip())] for line in lines)
        return [indent + text for indent, text in zip(indents, new_lines, strict=True)]

    def data(self) -> dict[str, Any]:
        """Return the excerpt as plain data: coloured lines, and the index of the key line."""
        lines = self.lines
        decides = [line.strip() for line in lines].index(self.key_line)
        return {"lines": _split_lines(highlight("\n".join(lines) + "\n")), "decides": decides}


def _strip_comments(source: str) -> list[str]:
    skipped, is_line_start = set[int](), True  # whether a string here would be a docstring
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.STRING and is_line_start:
            skipped.update(range(token.start[0], token.end[0] + 1))
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            is_line_start = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    lines = enumerate(source.splitlines(), 1)
    code_lines = (line.split("  #")[0] for number, line in lines if number not in skipped)
    return [line for line in code_lines if line.strip()]


def _split_lines(parts: list[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    lines: list[list[tuple[str, str]]] = [[]]
    for kind, text in parts:
        first, *next_lines = text.split("\n")
        lines[-1].append((kind, first))
        lines += [[(kind, piece)] for piece in next_lines]
    return [[part for part in line if part[1]] for line in lines[:-1]]
