"""Pasted source code to op and rule formulas, read and never executed.

A ``torch.autograd.Function`` in any of the styles people publish (static methods, ``setup_context``,
the old instance style), a small ``nn.Module``, or a plain function that stops gradients with
``detach``. What cannot be read is named, with its line.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from explorer.formula.tree import Node
from explorer.reading.building import where
from explorer.reading.candidates import Candidate, candidates
from explorer.reading.errors import DeadEndError, ReadingError, UndecidedError, UnreadableError
from explorer.reading.expressions import Effort
from explorer.reading.finishing import DEFAULT, op_key, rule_key
from explorer.reading.functions import Trees, read
from explorer.reading.statements import Reader
from explorer.reading.text import MAX_CHARACTERS, syntax_tree

__all__ = ["MAX_CHARACTERS", "Reading", "ReadingError", "read_source", "read_sources"]

_Attempt = Callable[[Mapping[Node, bool]], Trees]
MAX_DEFINITIONS = 30
MAX_BRANCHES = 4  # tests of a parameter that one path may meet


@dataclass(frozen=True)
class Reading:
    """One Function, module or plain function found in a text.

    Attributes:
        name: its name in the text.
        line: where it begins, 1 for the first line.
        op: a key for ``apply`` and ``sample``; empty if it could not be read.
        rule: likewise; ``default`` where the code leaves the gradient to torch.
        problem: what could not be read and where, None if all is well.
    """

    name: str
    line: int
    op: str = ""
    rule: str = ""
    problem: ReadingError | None = None


def read_source(text: str) -> tuple[str, str]:
    """The op and rule of pasted source code: ``("formula: round(x)", "formula: g")``.

    Args:
        text: at most 20,000 characters of Python that define a Function, a module or a function.
            Notebook prompts, fences, missing imports and prose around the code do no harm.

    Returns:
        Two keys for ``explorer.apply`` and ``explorer.sample``, of the first definition in the text
        that can be read. The first input becomes x, the saved output y, the upstream gradient g. A
        further input keeps the value the signature gives it; one without a value becomes a
        parameter of the formula, 1 unless given.

    Raises:
        ReadingError: what could not be read, in a sentence, and its line. Nothing else.
    """
    readings = read_sources(text)
    for reading in readings:
        if reading.problem is None:
            return reading.op, reading.rule
    raise readings[0].problem or ReadingError("there is nothing to read", 1)


def read_sources(text: str) -> list[Reading]:
    """All Functions of a text in their order, each with its keys or what stood in the way.

    Where there is no Function, the modules and plain functions that no other one calls.

    Raises:
        ReadingError: the text as a whole is no Python, or nothing in it could be drawn.
    """
    module, lines = syntax_tree(text)
    found = candidates(module)
    if not found:
        raise ReadingError(
            "there is no Function here: paste a class with forward and backward, or a function of x", 1
        )
    if len(found) > MAX_DEFINITIONS:
        raise ReadingError(
            f"there are {len(found)} definitions here: {MAX_DEFINITIONS} at once are the most", found[-1].line
        )
    effort = Effort()
    return [_reading(candidate, module, lines, effort) for candidate in found]


def _reading(candidate: Candidate, module: ast.Module, lines: list[str], effort: Effort) -> Reading:
    name, line = candidate.name, candidate.line
    tracked = candidate.kind != "function class"

    def attempt(decisions: Mapping[Node, bool]) -> Trees:
        return read(candidate, module, Reader(lines, decisions, effort, tracked))

    try:
        trees = _both_ways(attempt, {})
        rule = DEFAULT if trees.rule is None else rule_key(trees.rule)
        return Reading(name, line, op_key(trees.op), rule)
    except UnreadableError as reason:
        return Reading(name, line, problem=ReadingError(f"line {line}: {name} {reason}", line))
    except ReadingError as error:
        return Reading(name, line, problem=error)
    except RecursionError:
        deep = f"line {line}: {name} is nested too deeply to be read"
        return Reading(name, line, problem=ReadingError(deep, line))


def _both_ways(attempt: _Attempt, decisions: dict[Node, bool]) -> Trees:
    """Read a definition; where a parameter decides a branch, read both sides and join them."""
    try:
        return attempt(decisions)
    except UndecidedError as undecided:
        test, line = undecided.test, undecided.line
    if len(decisions) == MAX_BRANCHES:
        raise ReadingError(f"line {line}: the code branches on parameters too often to be drawn", line)
    sides = []
    for answer in (True, False):
        try:
            sides.append(_both_ways(attempt, {**decisions, test: answer}))
        except DeadEndError as error:
            dead = error
    if not sides:
        raise dead
    return sides[0] if len(sides) == 1 else _joined(test, *sides)


def _joined(test: Node, then: Trees, otherwise: Trees) -> Trees:
    if (then.rule is None) != (otherwise.rule is None):
        raise UnreadableError("stops gradients on one branch only")
    rule = None
    if then.rule is not None and otherwise.rule is not None:
        rule = where(test, then.rule, otherwise.rule)
    return Trees(where(test, then.op, otherwise.op), rule)
