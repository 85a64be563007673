"""Suspicious names and sentences in Python and JavaScript: ``python -m tests.english PATH…`` lists them.

The kinds of findings:
    odd       a function or class named by a bare participle, preposition or pronoun (``drawn``, ``of``)
    verbless  another function that is not named by a verb phrase, ``is_x``, ``to_x``, ``x_of``, ``x_from_y``
    variable  a variable or parameter named by a pronoun, participle or adverb (``known``, ``most``)
    mood      a docstring or JSDoc of a function that does not begin with an imperative verb
    phrase    a phrase that no native speaker writes, in a docstring, JSDoc or comment
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.english_words import IRREGULAR, NOT_PARTICIPLES, PHRASES, PREFIXES, VARIABLES, VERBS, WORDS

_JS_FUNCTION = re.compile(
    r"""\s*(?:export[ ])?(?:default[ ])?(?:async[ ])?function\*?[ ](\w+)
    |\s*(?:export[ ])?const[ ](\w+)[ ]=[ ](?:async[ ])?(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\w+)[ ]=>
    |\s+(?:async[ ]|static[ ])?(\w+)\([^()]*\)[ ]\{$""",
    re.VERBOSE,
)
_JS_KEYWORDS = frozenset(
    ["if", "for", "while", "switch", "catch", "constructor", "return", "with", "function"]
)
_JS_DOC = re.compile(r"/\*\*(.*?)\*/", re.DOTALL)


class Finding(NamedTuple):
    """A suspicious name or sentence."""

    line: int
    kind: str
    text: str


def find_suspects(path: Path) -> Iterator[Finding]:
    """Yield the findings in a Python or JavaScript file."""
    check = _check_python if path.suffix == ".py" else _check_javascript
    return check(path.read_text(encoding="utf-8"))


def classify_function(name: str) -> str:
    """Return "odd", "verbless" or "" for the name of a function; ``latex_of`` and the like are fine."""
    words = _split_words(name)
    if not words or name.startswith(("test_", "__")):
        return ""
    first, last = words[0], words[-1]
    if first in VERBS or (first in PREFIXES and len(words) > 1) or "from" in words[1:]:
        return ""
    if _is_participle(first) or first in WORDS:
        return "odd"
    if len(words) > 1 and last in ("in", "at", "by", "with", "for"):
        return "odd"
    return "" if len(words) > 1 and last == "of" else "verbless"


def is_imperative(text: str) -> bool:
    first = re.match(r"\W*([A-Za-z-]+)", text)
    return first is not None and first[1].lower() in VERBS


def _split_words(name: str) -> list[str]:
    """Split a snake-case or camel-case name into lower-case words."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]


def _is_participle(word: str) -> bool:
    """Return whether a word looks like a past or present participle."""
    if word in IRREGULAR:
        return True
    ends = len(word) > 4 and word.endswith(("ed", "ing"))
    return ends and word not in NOT_PARTICIPLES and word not in VERBS


def _is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
    return any("property" in text or ".setter" in text for text in decorators)


def _check_prose(line: int, text: str) -> Iterator[Finding]:
    plain = " ".join(re.sub(r"``.*?``", "x", text, flags=re.DOTALL).split())
    for phrase in PHRASES:
        for match in phrase.finditer(plain):
            yield Finding(line, "phrase", plain[max(0, match.start() - 40) : match.end() + 40])


def _check_function(line: int, name: str, doc: str) -> Iterator[Finding]:
    if kind := classify_function(name):
        yield Finding(line, kind, name)
    if doc and not is_imperative(doc) and not name.startswith("test_"):
        yield Finding(line, "mood", f"{name}: {doc.split('. ')[0][:100]}")


def _check_variable(line: int, name: str) -> Iterator[Finding]:
    words = _split_words(name)
    if len(words) == 1 and words[0] in VARIABLES:
        yield Finding(line, "variable", name)


def _check_python(text: str) -> Iterator[Finding]:
    tree = ast.parse(text)
    yield from _check_prose(1, ast.get_docstring(tree) or "")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            doc = ast.get_docstring(node) or ""
            yield from _check_prose(node.lineno, doc)
            if isinstance(node, ast.ClassDef):
                words = _split_words(node.name)
                if len(words) == 1 and (_is_participle(words[0]) or words[0] in WORDS):
                    yield Finding(node.lineno, "odd", node.name)
            elif not node.name.startswith("__") and not _is_property(node):
                yield from _check_function(node.lineno, node.name, doc)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield from _check_variable(node.lineno, node.id)
        elif isinstance(node, ast.arg):
            yield from _check_variable(node.lineno, node.arg)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not re.match(r"#\s*(?:noqa|type:|fmt:)", token.string):
            yield from _check_prose(token.start[0], token.string.lstrip("# "))


def _check_javascript(text: str) -> Iterator[Finding]:
    for match in re.finditer(r"/\*.*?\*/|(?<![:\"'`\\])//[^\n]*", text, re.DOTALL):
        plain = re.sub(r"@\w+|\{[^{}]*(?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}[^{}]*)*\}", " ", match[0])
        line = text.count("\n", 0, match.start()) + 1
        yield from _check_prose(line, re.sub(r"^[\s/*]+|[\s/*]+$|\n\s*\*", " ", plain))
    docs = {text.count("\n", 0, doc.end()): doc[1] for doc in _JS_DOC.finditer(text)}
    for index, line in enumerate(text.splitlines()):
        found = _JS_FUNCTION.match(line)
        name = found and next(filter(None, found.groups()), None)
        if name and name not in _JS_KEYWORDS:
            doc = re.sub(r"^[\s*]+", "", re.sub(r"\n\s*\* ?", " ", docs.get(index - 1, "")))
            yield from _check_function(index + 1, name, doc.split("@")[0].strip())
            continue
        for declaration in re.findall(r"\b(?:const|let) (?:\{[^}]*\}|\[[^\]]*\]|\w+)", line):
            for variable in re.findall(r"\w+", declaration)[1:]:
                yield from _check_variable(index + 1, variable)


def iterate_sources(root: Path) -> Iterator[Path]:
    """Yield the Python and JavaScript files below a folder, or the file itself."""
    files = sorted(root.rglob("*")) if root.is_dir() else [root]
    return (path for path in files if path.suffix in (".py", ".js", ".mjs"))


def main(arguments: list[str]) -> None:
    """Print the findings in files and folders."""
    for path in (path for each in arguments for path in iterate_sources(Path(each))):
        for finding in sorted(find_suspects(path)):
            print(f"{path}:{finding.line}: {finding.kind}: {finding.text}")


if __name__ == "__main__":
    main(sys.argv[1:])
