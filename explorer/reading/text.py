"""Parse pasted text as Python without prompts, fences, prose and odd indentation; keep line numbers."""

import ast
import re
import warnings
from collections.abc import Iterator

from explorer.reading.errors import ReadingError

MAX_CHARACTERS = 20_000  # enough for a long notebook page; published Functions have 300 to 3,000
MAX_REPAIRS = 150  # the maximum number of removed lines of prose around the code

_INVISIBLE = dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u2060"), None) | {0xA0: " ", 0x0C: " "}
_PROMPT = re.compile(r"^\s*(In \[[\d ]*\]:|\.{3}:|>>>|\.\.\.)( |$)")
_DIGITS = re.compile(r"limit \((\d+) digits\) for integer string conversion: value has (\d+) digits")
_DEFINITION = re.compile(r"(async\s+def|def|class)\b|@")


def parse_source(text: str) -> Iterator[tuple[ast.Module, list[str]]]:
    """Yield possible syntax trees of pasted text, the likeliest first, each with its lines.

    Nothing is executed. Line numbers are those of the original text. The first candidate is the complete
    text, the second the text without prompts, and the last the text without prose, fences and printed output.

    Raises:
        ReadingError: if the text is empty, too long, or not Python.
    """
    if not isinstance(text, str) or not text.strip():
        raise ReadingError("the text is empty: paste the source code of a Function", 1)
    if len(text) > MAX_CHARACTERS:
        message = f"the text has {len(text):,} characters, but at most {MAX_CHARACTERS:,} are allowed"
        raise ReadingError(f"{message}: paste only the Function itself", 1)
    raw = text.replace("\r\n", "\n").replace("\r", "\n").translate(_INVISIBLE).split("\n")
    clean = [_PROMPT.sub("", line) for line in raw]
    spaced = [[line.expandtabs(tab) for line in lines] for tab in (4, 8) for lines in (clean, raw)]
    attempts = [(raw, 0), *((lines, MAX_REPAIRS) for lines in spaced)]
    failures = []
    for lines, repairs in attempts:
        try:
            yield _parse_repaired(lines, repairs)
        except ReadingError as error:
            failures.append(error)
    if len(failures) == len(attempts):
        raise max(failures, key=lambda error: error.line)


def require_python(text: str) -> None:
    """Raise ReadingError if a text, unchanged, is not valid Python."""
    _parse_module(text.split("\n"))


def _parse_repaired(lines: list[str], repairs: int) -> tuple[ast.Module, list[str]]:
    """Return the syntax tree of Python text, and its lines without those that are not Python.

    Up to ``repairs`` lines are removed, or unindented. Raises ReadingError if that is not enough, or if the
    repaired text has no class or function.
    """
    failures = []
    for _ in range(repairs + 1):
        try:
            module = _parse_module(lines)
        except ReadingError as error:
            failures.append(error)
            lines = _remove_line(lines, error)
        else:
            if not failures or any(isinstance(node, ast.ClassDef | ast.FunctionDef) for node in module.body):
                return module, lines
            break
    raise failures[0]


def _parse_module(lines: list[str]) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the docstrings of pasted code may contain invalid escapes
            return ast.parse("\n".join(lines))
    except SyntaxError as error:
        line = min(max(error.lineno or 1, 1), len(lines))
        if too_many := _DIGITS.search(error.msg):
            limit, count = map(int, too_many.groups())
            raise ReadingError(
                f"line {line}: a number has {count:,} digits, but at most {limit:,} are allowed", line
            ) from None
        raise ReadingError(f"line {line}: this is not valid Python ({error.msg})", line) from None
    except (RecursionError, MemoryError, ValueError):
        message = "the code is nested too deeply to be read, or holds characters that no source code has"
        raise ReadingError(message, 1) from None


def _remove_line(lines: list[str], error: ReadingError) -> list[str]:
    """Return lines without the faulty one, or with its block unindented, or else raise the error."""
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
