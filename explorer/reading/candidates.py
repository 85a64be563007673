"""What in a pasted text could be an op with a rule: Functions first, modules and plain functions else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["function class", "module", "function"]
Definition = ast.ClassDef | ast.FunctionDef | ast.Assign


@dataclass(frozen=True)
class Candidate:
    """A definition to be read, with the functions it stands in, outermost first."""

    kind: Kind
    name: str
    line: int
    definition: Definition
    enclosing: tuple[ast.FunctionDef, ...] = ()


def candidates(module: ast.Module) -> list[Candidate]:
    """The definitions of a text that are worth reading, in their order.

    Where a text holds an ``autograd.Function``, modules and functions around it only serve it.
    """
    classes = [(node, around) for node, around in _within(module, ()) if isinstance(node, ast.ClassDef)]
    known: dict[str, set[str]] = {}
    for node, _ in classes:
        known[node.name] = _methods(node).union(*(known.get(_last(base), set()) for base in node.bases))
    functions = [
        Candidate("function class", node.name, node.lineno, node, around)
        for node, around in classes
        if "forward" in known[node.name] and ("backward" in known[node.name] or _is_function(node))
    ]
    return functions or _plain(module)


def _plain(module: ast.Module) -> list[Candidate]:
    found = [*_modules(module), *_functions(module)]
    used = {
        name.id
        for candidate in found
        for name in ast.walk(candidate.definition)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load)
    }
    leading = [candidate for candidate in found if candidate.name not in used]
    return sorted(leading or found, key=lambda candidate: candidate.line)


def _modules(module: ast.Module) -> Iterator[Candidate]:
    for node in module.body:
        if isinstance(node, ast.ClassDef) and "forward" in _methods(node):
            yield Candidate("module", node.name, node.lineno, node)


def _functions(module: ast.Module) -> Iterator[Candidate]:
    for node in module.body:
        match node:
            case ast.FunctionDef(name, arguments) if arguments.posonlyargs or arguments.args:
                yield Candidate("function", name, node.lineno, node)
            case ast.Assign([ast.Name(name)], ast.Lambda(arguments)) if arguments.args:
                yield Candidate("function", name, node.lineno, node)


def _within(
    node: ast.AST, around: tuple[ast.FunctionDef, ...]
) -> Iterator[tuple[ast.AST, tuple[ast.FunctionDef, ...]]]:
    for child in ast.iter_child_nodes(node):
        yield child, around
        yield from _within(child, (*around, child) if isinstance(child, ast.FunctionDef) else around)


def _methods(node: ast.ClassDef) -> set[str]:
    return {item.name for item in node.body if isinstance(item, ast.FunctionDef)}


def _is_function(node: ast.ClassDef) -> bool:
    return any(_last(base).endswith("Function") for base in node.bases)


def _last(node: ast.expr) -> str:
    match node:
        case ast.Attribute(_, name) | ast.Name(name):
            return name
        case _:
            return ""
