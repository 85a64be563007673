"""Faults of a backward that no curve shows, such as a sum that is computed although it is not needed."""

import ast
from collections.abc import Iterator

_CUTS = frozenset(["detach", "data", "item", "tolist", "numpy"])


def find_cut(text: str) -> int:
    """Return the number of the line at which a backward detaches g, or 0 if it does not."""
    for backward in _find_backwards(text):
        g = backward.args.args[1].arg if len(backward.args.args) > 1 else ""
        for node in ast.walk(backward):
            if isinstance(node, ast.Attribute) and node.attr in _CUTS and g in _collect_names(node.value):
                return node.lineno
    return 0


def find_unconditional_sum(text: str) -> int:
    """Return the number of the line at which backward always computes a sum, needed or not; else 0."""
    for backward in _find_backwards(text):
        for node in _walk_unconditional(backward.body):
            if isinstance(node, ast.Attribute) and node.attr == "sum":
                return node.lineno
    return 0


def _find_backwards(text: str) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name == "backward":
            yield node


def _collect_names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _walk_unconditional(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield the syntax nodes in a function's body that always run, up to an ``if`` that may return."""
    for statement in body:
        if isinstance(statement, ast.If):
            yield from _walk_certain(statement.test)
            if any(isinstance(node, ast.Return) for node in ast.walk(statement)):
                return
        else:
            yield from _walk_certain(statement)


def _walk_certain(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a syntax node and those inside it that are evaluated whenever the node itself is."""
    match node:
        case ast.If() | ast.IfExp() | ast.BoolOp() | ast.Lambda() | ast.FunctionDef() | ast.While():
            return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _walk_certain(child)
