"""Pasted text to a syntax tree: prompts, fences and odd indentation are cleared away, lines stay counted."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterator

from explorer.reading.errors import ReadingError

MAX_CHARACTERS = 20_000  # a long notebook page; published Functions have 300 to 3,000
MAX_NESTING = 100  # the reader descends into each level
MAX_STATEMENT = 40  # lines of one assignment among prose

_INVISIBLE = dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u2060"), None) | {0xA0: " ", 0x0C: " "}
_FENCE = re.compile(r"^\s*(```|~~~)")
_PROMPT = re.compile(r"^\s*(In \[[\d ]*\]:|\.{3}:) ?")
_RESULT = re.compile(r"^\s*Out\[[\d ]*\]:")
_DOCTEST = re.compile(r"^\s*(>>>|\.\.\.)( |$)")
_SHELL = re.compile(r"^[%!]")
_DEFINITION = re.compile(r"(async\s+def|def|class)\b|@")
_STATEMENT = re.compile(r"(from|import)\b|[A-Za-z_][\w., ]*(:[^=]+)?=[^=]")


def syntax_tree(text: str) -> tuple[ast.Module, list[str]]:
    """The syntax tree of pasted source code, and the lines it was read from.

    Nothing is executed. Line numbers count in the text as given. Where the whole is not Python, as
    when prose or printed output was pasted along, the definitions in it are read by themselves.

    Raises:
        ReadingError: no text, too long, or not Python.
    """
    if not isinstance(text, str) or not text.strip():
        raise ReadingError("there is nothing to read: paste the source code of a Function", 1)
    if len(text) > MAX_CHARACTERS:
        raise ReadingError(
            f"the text has {len(text):,} characters: {MAX_CHARACTERS:,} are the most, "
            "paste only the Function itself",
            1,
        )
    lines = _cleaned(text)
    failures = []
    for attempt in _attempts(lines):
        try:
            return _parsed(attempt), attempt
        except ReadingError as error:
            failures.append(error)
    blocks = _definitions(lines)
    if blocks is None:
        raise failures[0]
    return _parsed(blocks), blocks


def _cleaned(text: str) -> list[str]:
    """The lines without what notebooks, web pages and shells put around code; a dropped line stays empty."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_INVISIBLE)
    lines = _inside_fences(text.split("\n"))
    if any(line.lstrip().startswith(">>>") for line in lines):
        lines = [_DOCTEST.sub("", line) if _DOCTEST.match(line) else "" for line in lines]
    return ["" if _RESULT.match(line) or _SHELL.match(line) else _PROMPT.sub("", line) for line in lines]


def _inside_fences(lines: list[str]) -> list[str]:
    if not any(_FENCE.match(line) for line in lines):
        return lines
    inside, kept = False, []
    for line in lines:
        fence = bool(_FENCE.match(line))
        inside ^= fence
        kept.append(line if inside and not fence else "")
    return kept


def _attempts(lines: list[str]) -> Iterator[list[str]]:
    yield lines
    for size in (4, 8):
        yield textwrap.dedent("\n".join(lines).expandtabs(size)).split("\n")


def _parsed(lines: list[str]) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd backslash in a docstring is no concern of ours
            tree = ast.parse("\n".join(lines))
    except SyntaxError as error:
        line = min(max(error.lineno or 1, 1), len(lines))
        raise ReadingError(f"line {line}: this is not Python as it stands ({error.msg})", line) from None
    except (RecursionError, MemoryError):
        raise ReadingError("the code is nested too deeply to be read", 1) from None
    except ValueError:
        raise ReadingError("the text holds characters that no source code has", 1) from None
    _require_shallow(tree)
    return tree


def _require_shallow(tree: ast.Module) -> None:
    level: list[ast.AST] = [tree]
    for _ in range(MAX_NESTING):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    line = next((node.lineno for node in level if isinstance(node, ast.expr | ast.stmt)), 1)
    if level:
        raise ReadingError(f"line {line}: the code is nested too deeply to be read", line)


def _definitions(lines: list[str]) -> list[str] | None:
    """The text with everything blank but its functions, classes, imports and assignments.

    None where there is no definition to be found.
    """
    lines = "\n".join(lines).expandtabs(4).split("\n")
    kept = [""] * len(lines)
    found = False
    for start, end in _blocks(lines):
        block = textwrap.dedent("\n".join(lines[start:end])).split("\n")
        definition = bool(_DEFINITION.match(block[0]))
        if definition or _is_python(block):
            kept[start:end] = block
            found |= definition
    return kept if found else None


def _is_python(lines: list[str]) -> bool:
    try:
        _parsed(lines)
    except ReadingError:
        return False
    return True


def _blocks(lines: list[str]) -> Iterator[tuple[int, int]]:
    """First line of each definition or simple statement, and the line after its last."""
    start = 0
    while start < len(lines):
        head = lines[start].lstrip()
        end = start + 1
        if _DEFINITION.match(head):
            end = _definition_end(lines, start)
            yield start, end
        elif _STATEMENT.match(head):
            end = _statement_end(lines, start)
            yield start, end
        start = end


def _statement_end(lines: list[str], start: int) -> int:
    """The line after the one that closes the last bracket; the next one where none does soon."""
    opened = 0
    for end in range(start, min(start + MAX_STATEMENT, len(lines))):
        opened += sum((mark in "([{") - (mark in ")]}") for mark in lines[end])
        if opened <= 0:
            return end + 1
    return start + 1


def _definition_end(lines: list[str], start: int) -> int:
    indent = _indent(lines[start])
    end, decorated = start + 1, lines[start].lstrip().startswith("@")
    while end < len(lines):
        line = lines[end]
        deeper = not line.strip() or _indent(line) > indent or line.strip()[0] in ")]}#"
        if not deeper and not (decorated and _DEFINITION.match(line.lstrip())):
            break
        decorated = decorated and (deeper or line.lstrip().startswith("@"))
        end += 1
    return end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
