"""Layout of generated Python: black breaks lines; docstrings and imports are laid out here."""

import ast
import textwrap
from collections.abc import Mapping, Sequence
from functools import lru_cache

WIDTH = 88


@lru_cache(maxsize=256)  # cached, because a notebook repeats code and notebooks have common cells
def format_code(code: str) -> str:
    """Return code formatted as by black and ruff, in lines of at most 88 characters.

    Black formats code again after changing it, so code with the right layout takes half the time.
    """
    # Imported here because black loads slowly and only exported code needs it.
    import black
    from black.mode import Mode, TargetVersion

    return black.format_str(code, mode=Mode({TargetVersion.PY311}, line_length=WIDTH))


def format_module(code: str, *groups: Mapping[str, str]) -> str:
    """Return a formatted module, with only those imports that its code uses."""
    used = find_names(code)
    imports = [[line for name, line in group.items() if name in used] for group in groups]
    head = "\n\n".join("\n".join(lines) for lines in imports if lines)
    return format_code(f"{head}\n{code}".lstrip())


def find_names(code: str) -> set[str]:
    """Return all names that code reads or assigns, including modules such as ``torch``."""
    return {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}


def join_names(names: Sequence[str]) -> str:
    """Return names as code for a tuple, with parentheses only around a single name."""
    return f"({names[0]},)" if len(names) == 1 else ", ".join(names)


def join_lines(*lines: str) -> str:
    """Return the lines of a method's body as one text, indented for a template of a class."""
    return "\n        ".join(lines)


def make_docstring(paragraphs: Sequence[str]) -> str:
    """Return paragraphs as a function's docstring.

    Lines are kept; an indented line wraps with a hanging indent.
    """
    lines = [part for text in paragraphs for line in ("", *text.split("\n")) for part in _wrap_line(line)][1:]
    text = '"""' + "\n".join(lines) + ('"""' if len(lines) == 1 else '\n"""')
    return textwrap.indent(text, "    ").lstrip()


def _wrap_line(line: str) -> list[str]:
    """Return a line wrapped, without characters that could end a docstring or start an escape."""
    printable = "".join(character if character.isprintable() else " " for character in line)
    plain = printable.replace("\\", "/").replace('"', "'").replace("\N{MINUS SIGN}", "-")
    hanging = 2 * " " * (len(plain) - len(plain.lstrip()))
    # Leave room for the indent and the quotes.
    return textwrap.wrap(plain, WIDTH - 10, subsequent_indent=hanging, break_on_hyphens=False) or [""]
