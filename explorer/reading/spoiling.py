"""Mark values that an unsupported statement of pasted code may change as unknown."""

import ast
import inspect
from collections import ChainMap

from explorer.reading.errors import ReadingError
from explorer.reading.values import Library, PastedClass, Value
from explorer.reading.vocabulary import split_words

CHANGES = split_words("append extend insert update setdefault pop popitem remove sort reverse clear add")
Scope = ChainMap[str, Value]


def mark_unknown(statement: ast.stmt, error: ReadingError, scope: Scope) -> None:
    """Mark every name that an unsupported statement assigns or changes as unreadable, with an error.

    Raises the error itself if the statement registers a hook, which may change values without a name.
    """
    for node in ast.walk(statement):
        match node:
            case ast.FunctionDef(name) | ast.ClassDef(name):
                scope[name] = error
            case ast.Name(name, ast.Store()) if not isinstance(scope.get(name), Library):
                scope[name] = error
            case ast.Attribute(attr="__signature__", ctx=ast.Store()):
                pass  # the statement changes no tensor
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                _mark_value(node, error, scope)
            case ast.Call(ast.Attribute(ast.Name("self"), name)) if name.endswith("_hook"):
                raise error
            case ast.Call(ast.Attribute(owner, name), parts):
                fills = name.endswith("_") and not name.startswith("__")  # nn.init.constant_(self.a, 6)
                holder = _find_owner(owner, scope)
                method = None if holder is None else inspect.getattr_static(holder, name, None)
                may_change = isinstance(holder, PastedClass) or inspect.isroutine(method)
                for part in (owner, *parts) if fills else (owner,) if may_change or name in CHANGES else ():
                    _mark_value(part, error, scope)
            case ast.Call(ast.Name("setattr"), [owner, *_]):
                _mark_value(owner, error, scope)


def _list_path(node: ast.expr) -> list[str]:
    """Return the names of a dotted expression: ``self.a[0]`` gives ``self`` and ``a``.

    The first name is "" for the result of a call.
    """
    path: list[str] = []
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        path[:0] = [node.attr] if isinstance(node, ast.Attribute) else []
        node = node.value
    return [getattr(node, "id", ""), *path]


def _find_owner(node: ast.expr, scope: Scope) -> Value:
    first, *path = _list_path(node)
    owner = scope.get(first)
    for name in path:
        owner = vars(owner).get(name) if isinstance(owner, PastedClass | type) else None
    return owner if isinstance(owner, PastedClass | type) else None


def _mark_value(node: ast.expr, error: ReadingError, scope: Scope) -> None:
    first, *path = _list_path(node)
    holder = scope.get(first)
    if isinstance(holder, PastedClass | type):
        private = [name for name in path[:1] if name.startswith("__")]
        members = [name for name, value in vars(holder).items() if not (callable(value) or name[:2] == "__")]
        for name in members if private or not path else path[:1]:
            setattr(holder, name, error)
    elif first and not isinstance(holder, Library):
        scope[first] = error
