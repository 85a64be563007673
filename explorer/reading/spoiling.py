"""Values that are no longer known, because a statement may change them that the reader does not follow."""

import ast
import inspect
from collections import ChainMap

from explorer.reading.errors import ReadingError
from explorer.reading.values import Library, Pasted, Value
from explorer.reading.vocabulary import words

CHANGES = words("append extend insert update setdefault pop popitem remove sort reverse clear add")
Scope = ChainMap[str, Value]


def spoil(statement: ast.stmt, error: ReadingError, scope: Scope) -> None:
    """Mark all names that a statement assigns or changes as unreadable, since it was not followed.

    Raises the error itself for a hook, which may change values without a name.
    """
    for node in ast.walk(statement):
        match node:
            case ast.FunctionDef(name) | ast.ClassDef(name):
                scope[name] = error
            case ast.Name(name, ast.Store()) if not isinstance(scope.get(name), Library):
                scope[name] = error
            case ast.Attribute(attr="__signature__", ctx=ast.Store()):
                pass  # no value changes
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                _spoil_held(node, error, scope)
            case ast.Call(ast.Attribute(ast.Name("self"), name)) if name.endswith("_hook"):
                raise error
            case ast.Call(ast.Attribute(owner, name), parts):
                fills = name.endswith("_") and not name.startswith("__")  # nn.init.constant_(self.a, 6)
                own = isinstance(_held(owner, scope), Pasted) or _is_method(_held(owner, scope), name)
                for part in (owner, *parts) if fills else (owner,) if own or name in CHANGES else ():
                    _spoil_held(part, error, scope)
            case ast.Call(ast.Name("setattr"), [owner, *_]):
                _spoil_held(owner, error, scope)


def _path(node: ast.expr) -> list[str]:
    """The names on the path to a value: ``self``, ``a`` for ``self.a[0]``; none for a call's result."""
    path: list[str] = []
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        path[:0] = [node.attr] if isinstance(node, ast.Attribute) else []
        node = node.value
    return [getattr(node, "id", ""), *path]


def _held(node: ast.expr, scope: Scope) -> Value:
    """The object or class of the text that an expression names, if it is one."""
    first, *path = _path(node)
    held = scope.get(first)
    for name in path:
        held = vars(held).get(name) if isinstance(held, Pasted | type) else None
    return held if isinstance(held, Pasted | type) else None


def _is_method(owner: Value, name: str) -> bool:
    return owner is not None and inspect.isroutine(inspect.getattr_static(owner, name, None))


def _spoil_held(node: ast.expr, error: ReadingError, scope: Scope) -> None:
    """Replace the value of an expression by an error; of an object or class, all its members."""
    first, *path = _path(node)
    holder = scope.get(first)
    if isinstance(holder, Pasted | type):
        private = [name for name in path[:1] if name.startswith("__")]
        whole = [name for name, value in vars(holder).items() if not (callable(value) or name[:2] == "__")]
        for name in whole if private or not path else path[:1]:
            setattr(holder, name, error)
    elif first and not isinstance(holder, Library):
        scope[first] = error
