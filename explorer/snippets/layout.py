"""Layout of generated Python: a formatter breaks lines; docstrings and imports are laid out here."""

import ast
import textwrap
from collections.abc import Mapping, Sequence
from functools import lru_cache

WIDTH = 88


@lru_cache(maxsize=256)  # a notebook holds the code that stands beside it, and the same cells as others
def formatted(code: str) -> str:
    """Code as black and ruff lay it out, in lines of at most 88 characters.

    Black looks again at what it has changed: code that stands as it should takes half the time.
    """
    # Loaded here: who asks for no code need not wait for it.
    import black
    from black.mode import Mode, TargetVersion

    return black.format_str(code, mode=Mode({TargetVersion.PY311}, line_length=WIDTH))


def module(code: str, *groups: Mapping[str, str]) -> str:
    """The formatted text of a module: of each group the imports whose names the code reads, then the code."""
    used = names_in(code)
    imports = [[line for name, line in group.items() if name in used] for group in groups]
    head = "\n\n".join("\n".join(lines) for lines in imports if lines)
    return formatted(f"{head}\n{code}".lstrip())


def names_in(code: str) -> set[str]:
    """The names that code reads or sets, ``torch`` and the like among them."""
    return {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}


def several(names: Sequence[str]) -> str:
    """Names as a tuple to unpack or to keep; without parentheses unless it is of one."""
    return f"({names[0]},)" if len(names) == 1 else ", ".join(names)


def block(*lines: str) -> str:
    """Lines of the body of a method in a template, which is indented twice."""
    return "\n        ".join(lines)


def docstring(paragraphs: Sequence[str]) -> str:
    """A function's docstring. The lines of a paragraph stay apart; a wrapped one that is indented hangs."""
    lines = [part for text in paragraphs for line in ("", *text.split("\n")) for part in _wrapped(line)][1:]
    text = '"""' + "\n".join(lines) + ('"""' if len(lines) == 1 else '\n"""')
    return textwrap.indent(text, "    ").lstrip()


def _wrapped(line: str) -> list[str]:
    """The line in pieces, without what could end a docstring or escape in one."""
    printable = "".join(character if character.isprintable() else " " for character in line)
    plain = printable.replace("\\", "/").replace('"', "'").replace("\N{MINUS SIGN}", "-")
    hanging = 2 * " " * (len(plain) - len(plain.lstrip()))
    # Room is left for the indent and for quotes.
    return textwrap.wrap(plain, WIDTH - 10, subsequent_indent=hanging, break_on_hyphens=False) or [""]
