"""Pasted text to syntax trees: prompts, fences, prose and odd indentation are cleared away, lines counted."""

import ast
import re
import warnings
from collections.abc import Iterator

from explorer.reading.errors import ReadingError

MAX_CHARACTERS = 20_000  # a long notebook page; published Functions have 300 to 3,000
MAX_REPAIRS = 150  # lines of prose around the code

_INVISIBLE = dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u2060"), None) | {0xA0: " ", 0x0C: " "}
_PROMPT = re.compile(r"^\s*(In \[[\d ]*\]:|\.{3}:|>>>|\.\.\.)( |$)")
_DIGITS = re.compile(r"limit \((\d+) digits\) for integer string conversion: value has (\d+) digits")
_DEFINITION = re.compile(r"(async\s+def|def|class)\b|@")


def syntax_trees(text: str) -> Iterator[tuple[ast.Module, list[str]]]:
    """Pasted text read as Python, the likeliest way first, each with the lines it was read from.

    Nothing is executed. Line numbers are those of the original text. First comes the whole text, then
    the text without prompts, at last that without prose, fences and printed output.

    Raises:
        ReadingError: no text, too long, or not Python.
    """
    if not isinstance(text, str) or not text.strip():
        raise ReadingError("the text is empty: paste the source code of a Function", 1)
    if len(text) > MAX_CHARACTERS:
        much = f"the text has {len(text):,} characters: {MAX_CHARACTERS:,} are the most"
        raise ReadingError(f"{much}, paste only the Function itself", 1)
    raw = text.replace("\r\n", "\n").replace("\r", "\n").translate(_INVISIBLE).split("\n")
    clean = [_PROMPT.sub("", line) for line in raw]
    spaced = [[line.expandtabs(tab) for line in lines] for tab in (4, 8) for lines in (clean, raw)]
    ways = [(raw, 0), *((lines, MAX_REPAIRS) for lines in spaced)]
    failures = []
    for lines, repairs in ways:
        try:
            yield _parsed(lines, repairs)
        except ReadingError as error:
            failures.append(error)
    if len(failures) == len(ways):
        raise max(failures, key=lambda error: error.line)


def require_python(text: str) -> None:
    """Raise ReadingError for a text that is not Python as it stands."""
    _module(text.split("\n"))


def _parsed(lines: list[str], repairs: int) -> tuple[ast.Module, list[str]]:
    """The text, if need be without the lines at its margin that are no Python and if definitions are left."""
    failures = []
    for _ in range(repairs + 1):
        try:
            module = _module(lines)
        except ReadingError as error:
            failures.append(error)
            lines = _repaired(lines, error)
        else:
            if not failures or any(isinstance(node, ast.ClassDef | ast.FunctionDef) for node in module.body):
                return module, lines
            break
    raise failures[0]


def _module(lines: list[str]) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd backslash in a docstring is no concern of ours
            return ast.parse("\n".join(lines))
    except SyntaxError as error:
        line = min(max(error.lineno or 1, 1), len(lines))
        if too_many := _DIGITS.search(error.msg):
            most, count = map(int, too_many.groups())
            raise ReadingError(
                f"line {line}: a number has {count:,} digits: {most:,} are the most", line
            ) from None
        raise ReadingError(f"line {line}: this is not Python as it stands ({error.msg})", line) from None
    except (RecursionError, MemoryError, ValueError):
        what = "the code is nested too deeply to be read, or holds characters that no source code has"
        raise ReadingError(what, 1) from None


def _repaired(lines: list[str], error: ReadingError) -> list[str]:
    """The lines without the one an error names, or with it and what follows it at the margin."""
    start = error.line - 1
    line = lines[start]
    indent = len(line) - len(line.lstrip())
    if not indent and not _DEFINITION.match(line):
        return [*lines[:start], "", *lines[start + 1 :]]
    if "unexpected indent" not in error.message:
        raise error
    outside = (n for n in range(start, len(lines)) if lines[n].strip() and lines[n][:indent].strip())
    end = next(outside, len(lines))
    return [*lines[:start], *(line[indent:] for line in lines[start:end]), *lines[end:]]
