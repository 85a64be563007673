"""What a backward does that no curve shows: a g that is cut off, and sums that are computed unasked."""

import ast
from collections.abc import Iterator

_CUTS = frozenset(["detach", "data", "item", "tolist", "numpy"])


def cuts_gradient(text: str) -> int:
    """Return the line on which a backward takes g out of autograd's graph, or 0."""
    for backward in _backwards(text):
        g = backward.args.args[1].arg if len(backward.args.args) > 1 else ""
        for node in ast.walk(backward):
            if isinstance(node, ast.Attribute) and node.attr in _CUTS and g in _names(node.value):
                return node.lineno
    return 0


def sums_unasked(text: str) -> int:
    """Return the line on which a backward computes a sum whether or not somebody needs it, or 0."""
    for backward in _backwards(text):
        for node in _unconditional(backward.body):
            if isinstance(node, ast.Attribute) and node.attr == "sum":
                return node.lineno
    return 0


def _backwards(text: str) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name == "backward":
            yield node


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _unconditional(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield the nodes of statements that no condition guards: before an ``if`` that may return."""
    for statement in body:
        if isinstance(statement, ast.If):
            yield from _certain(statement.test)
            if any(isinstance(node, ast.Return) for node in ast.walk(statement)):
                return
        else:
            yield from _certain(statement)


def _certain(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and the nodes in it that are evaluated with it."""
    match node:
        case ast.If() | ast.IfExp() | ast.BoolOp() | ast.Lambda() | ast.FunctionDef() | ast.While():
            return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _certain(child)
