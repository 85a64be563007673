"""Code that comes along: printed once by ``explorer.snippets``, with places for the numbers chosen."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from explorer.catalogue import OPS, RULES, Op, Rule, learnable
from explorer.sampled import POINTS
from explorer.snippets.layout import WIDTH
from explorer.snippets.notebooks import book, drawing_cells, introduction
from explorer.snippets.pair import paired
from explorer.ui.sections.code import NOTEBOOK, WRITERS, learned_with, refusal

Json = dict[str, Any]

_WIDE = "z" * 88  # an argument of this width stands in a line of its own, whatever is beside it
_PLACE = re.compile(r"zq_(\w+?)_qz(?:z{88})?")
_SIGNATURE = re.compile(r"^( *)(def [^\n(]+\()\n((?: .*\n)*?)\1(\).*:)$", re.MULTILINE)
_MARK = "\x1f"  # stands for a signature until lines are told apart
NEEDS_PYTHON = "The notebook of what draws needs the app."  # its loss is any formula
_FUNCTION, _LAYER = "«function»", "«layer»"  # for the names of both


class _Place(float):
    """A number whose text is a name, which the browser replaces by the number that is chosen."""

    text: str

    def __new__(cls, name: str, width: str = "", value: float = 0.0) -> "_Place":
        """Return `value`, the usual one of the parameter `name`, whose text is a place for the chosen one."""
        place = super().__new__(cls, value)
        place.text = f"{_place(name)}{width}"
        return place

    def __repr__(self) -> str:
        return self.text


def _place(name: str) -> str:
    return f"zq_{name}_qz"


def codes(op: str, rules: Iterable[str] = tuple(RULES)) -> Json:
    """The code of an op with rules: by rule, then by what learns beyond the rule's own, then by language.

    A text is a list of numbers of ``lines``. A line is text, in which ``«c»`` stands for the chosen c, or the
    signature of a function, which the browser lays out as black does once the numbers stand in it.
    """
    lines = _Lines()
    by_rule = {key: dict(_variants(OPS[op], RULES[key], lines)) for key in rules}
    return {"width": WIDTH, "lines": lines.data, "rules": by_rule}


def notebooks(ops: Iterable[str] = tuple(OPS)) -> Json:
    """The cells below the function's, by what learns, and a notebook with a cell of each id, all empty.

    A ``sample`` is without the import of torch, which the browser puts before it where it is missing.
    """
    tuples = {
        tuple(learned_with(op, rule, name))
        for op in map(OPS.__getitem__, ops)
        for rule in RULES.values()
        for name in ("", *learnable(op, rule))
    }
    ids = ("introduction", "function", "sample", "curve", "numbers")
    empty = json.loads(book(dict.fromkeys(ids, "")))
    lines = _Lines()
    cells = {" ".join(learns): _cells(learns, lines) for learns in sorted(tuples)}
    return {"width": WIDTH, "book": empty, "lines": lines.data, "cells": cells}


def _cells(learns: Sequence[str], lines: "_Lines") -> dict[str, list[int]]:
    settings = {name: _place(name) for name in ("start", "stop", "g", "kinks")} | {"points": str(POINTS)}
    learned = {name: _Place(name) for name in learns}
    cells = drawing_cells(_place("function"), learned, settings, imports=False)
    return {name: lines.numbers(text) for name, text in cells.items()}


class _Lines:
    """Lines of code, each once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.data: list[str | Json] = []

    def numbers(self, text: str) -> list[int]:
        """The numbers of the lines of a text."""
        chosen = [match.groups() for match in _SIGNATURE.finditer(text) if _PLACE.search(match[3])]
        whole = _SIGNATURE.sub(lambda match: _MARK if _PLACE.search(match[3]) else match[0], text)
        signatures = map(_signature, chosen)
        return [
            self._number(next(signatures) if line == _MARK else _PLACE.sub(r"«\1»", line))
            for line in whole.split("\n")
        ]

    def _number(self, line: str | Json) -> int:
        number = self._numbers.setdefault(json.dumps(line), len(self.data))
        if number == len(self.data):
            self.data.append(line)
        return number


def _signature(groups: Sequence[str]) -> Json:
    indent, head, items, tail = groups
    arguments = [_PLACE.sub(r"«\1»", item.strip().removesuffix(",")) for item in items.splitlines()]
    return {"indent": len(indent), "head": head, "arguments": arguments, "tail": tail}


def _variants(op: Op, rule: Rule, lines: _Lines) -> Iterator[tuple[str, Json]]:
    """The code where no more learns than by the rule's own word, "", and where another parameter does too."""
    own = learned_with(op, rule, "")
    for name in ("", *(name for name in learnable(op, rule) if name not in own)):
        yield name, _texts(op, rule, learned_with(op, rule, name), lines)


def _texts(op: Op, rule: Rule, learns: Sequence[str], lines: _Lines) -> Json:
    """The texts of all languages, and the names in them; of a notebook its first cell."""
    plain = paired(op, rule, {}, learns)
    pair = replace(
        plain, parameters={name: _Place(name, _WIDE, value) for name, value in plain.parameters.items()}
    )

    def numbered(text: str) -> list[int]:
        return lines.numbers(text.replace(pair.name, _FUNCTION).replace(pair.layer, _LAYER))

    texts = {language: write(pair) for language, write in WRITERS.items()}
    return {
        "function": pair.name,
        "layer": pair.layer,
        "learns": learns,
        **{name: numbered(text) if text else refusal(name, op, rule) for name, text in texts.items()},
        NOTEBOOK: NEEDS_PYTHON if pair.drawn else numbered(introduction(pair)),
    }
