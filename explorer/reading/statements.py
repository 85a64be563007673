"""Statements of the pasted code: a function's body is followed line by line, on formula trees."""

from __future__ import annotations

import ast
from collections import ChainMap
from collections.abc import Iterable
from dataclasses import dataclass

from explorer.formula.tree import Node, is_constant
from explorer.reading import building, calls
from explorer.reading.errors import DeadEndError, ReadingError, UnreadableError
from explorer.reading.expressions import Expressions
from explorer.reading.values import (
    Broken,
    Cell,
    Context,
    Group,
    Library,
    Opaque,
    Routine,
    Scope,
    Value,
    tree,
)
from explorer.reading.vocabulary import SILENT

MAX_CALLS = 12  # helpers within helpers
GRADIENT_FREE = frozenset(("no_grad", "inference_mode"))
WITHOUT_EFFECT = GRADIENT_FREE | {"enable_grad", "autocast", "device", "record_function", "profile"}

_REFUSED: dict[type[ast.stmt], str] = {
    ast.For: "is a loop: a formula has none, write out what it does",
    ast.While: "is a loop: a formula has none, write out what it does",
    ast.Try: "waits for errors, which cannot be followed",
    ast.Match: "matches patterns, which cannot be followed",
    ast.Global: "changes a global name, which cannot be followed",
    ast.Nonlocal: "changes a name outside, which cannot be followed",
}


@dataclass(frozen=True)
class Returned:
    """A function has come to its end with this value."""

    value: Value


class Reader(Expressions):
    """Follows a function's statements; see ``Expressions`` for what it is made with."""

    depth = 0
    gradient_free = False

    def invoke(self, routine: Routine, positional: tuple[Value, ...], keywords: dict[str, Value]) -> Value:
        """The value a function of the text returns; None where it returns nothing."""
        if self.depth >= MAX_CALLS:
            raise UnreadableError("calls too deeply, or itself")
        scope = self._entered(routine, positional, keywords)
        before = self.depth, self.gradient_free
        self.depth += 1
        self.gradient_free |= _is_gradient_free(routine.definition)
        try:
            return self._result(routine.definition, scope)
        finally:
            self.depth, self.gradient_free = before

    def _result(self, definition: ast.FunctionDef | ast.Lambda, scope: Scope) -> Value:
        if isinstance(definition, ast.Lambda):
            return self.value(definition.body, scope)
        end = self._run(definition.body, scope)
        if end and isinstance(end.value, Broken):
            raise end.value.error
        return end.value if end else None

    def _entered(self, routine: Routine, positional: tuple[Value, ...], keywords: dict[str, Value]) -> Scope:
        """A scope in which the parameters have the values of a call."""
        takes = routine.definition.args
        names = [parameter.arg for parameter in (*takes.posonlyargs, *takes.args)]
        given = dict(zip(names, positional, strict=False))
        if takes.vararg:
            given[takes.vararg.arg] = positional[len(names) :]
        elif len(positional) > len(names):
            raise UnreadableError("passes more arguments than the function takes")
        values = {**self.defaults(routine), **given, **keywords}
        missing = [name for name in names if name not in values]
        known = {*given, *names, *(parameter.arg for parameter in takes.kwonlyargs)}
        if takes.kwarg:
            values[takes.kwarg.arg] = Opaque("further arguments")
        elif missing or not values.keys() <= known:
            raise UnreadableError("passes other arguments than the function takes")
        return Scope(routine.scope, values)

    def defaults(self, routine: Routine) -> dict[str, Value]:
        """The values of the parameters that have one in the signature."""
        takes = routine.definition.args
        names = [parameter.arg for parameter in (*takes.posonlyargs, *takes.args)]
        pairs = [*zip(reversed(names), reversed(takes.defaults), strict=False)]
        pairs += [
            (parameter.arg, default)
            for parameter, default in zip(takes.kwonlyargs, takes.kw_defaults, strict=True)
            if default is not None
        ]
        return {name: self.lenient(default, routine.scope) for name, default in pairs}

    def declare(self, statements: Iterable[ast.stmt], scope: Scope) -> None:
        """Give the names of a module, class or enclosing function their values.

        What cannot be read, and what is neither a definition nor an assignment, is passed over: a
        script around a Function does not matter to it.
        """
        for statement in statements:
            if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
                self._assigned_leniently(statement, scope)
            elif isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
                self._run([statement], scope)

    def construct(self, routine: Routine, positional: tuple[Value, ...]) -> None:
        """Follow ``__init__`` for what it stores; what cannot be read in it is passed over."""
        scope = self._entered(routine, positional, {})
        if isinstance(routine.definition, ast.FunctionDef):
            self.declare(routine.definition.body, scope)

    def _assigned_leniently(self, statement: ast.stmt, scope: Scope) -> None:
        try:
            self._run([statement], scope)
        except ReadingError as error:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    scope.names[node.id] = Broken(error)

    def _run(self, statements: Iterable[ast.stmt], scope: Scope) -> Returned | None:
        for statement in statements:
            try:
                end = self._execute(statement, scope)
            except UnreadableError as reason:
                raise self.error(statement, str(reason)) from None
            if end:
                return end
        return None

    def _execute(self, statement: ast.stmt, scope: Scope) -> Returned | None:
        match statement:
            case ast.Return(value):
                return Returned(None if value is None else self._fresh(value, scope))
            case ast.Assign(targets, value):
                self._assign(targets, self._fresh(value, scope), scope)
            case ast.AnnAssign(target, _, value):
                if value is not None:
                    self._assign([target], self._fresh(value, scope), scope)
            case ast.AugAssign():
                self._augment_leniently(statement, scope)
            case ast.If(test, then, otherwise):
                return self._run(then if self.truth(test, scope) else otherwise, scope)
            case ast.With(items, body):
                return self._within(items, body, scope)
            case ast.Expr(value):
                self._effect(value, scope)
            case ast.Raise():
                raise DeadEndError(
                    f"line {statement.lineno}: the code raises an error here instead of a value",
                    statement.lineno,
                )
            case _:
                self._define(statement, scope)
        return None

    def _define(self, statement: ast.stmt, scope: Scope) -> None:
        match statement:
            case ast.FunctionDef(name):
                scope.names[name] = Routine(statement, scope)
            case ast.ClassDef(name):
                scope.names[name] = self.group(statement, scope)
            case ast.Import(names):
                for alias in names:
                    path = alias.name if alias.asname else alias.name.split(".")[0]
                    scope.names[alias.asname or path] = _library(path)
            case ast.ImportFrom(module, names):
                for alias in names:
                    scope.names[alias.asname or alias.name] = _library(f"{module or 'here'}.{alias.name}")
            case ast.Pass() | ast.Assert() | ast.Delete():
                pass
            case _:
                raise UnreadableError(_REFUSED.get(type(statement), "is Python that cannot be read here"))

    def group(self, definition: ast.ClassDef, scope: Scope) -> Group:
        """A class with its constants and methods."""
        bases = [self.lenient(base, scope) for base in definition.bases]
        inner = Scope(scope)
        self.declare(definition.body, inner)
        for name, value in inner.names.items():
            if isinstance(value, Routine):  # a method does not see the names of its class
                inner.names[name] = Routine(value.definition, scope)
        inherited = (base.members for base in bases if isinstance(base, Group))
        return Group(dict(ChainMap(inner.names, *inherited)))

    def _fresh(self, node: ast.expr, scope: Scope) -> Value:
        """The value to be assigned; under ``no_grad`` a newly computed tensor has no history."""
        value = self.lenient(node, scope)
        computed = isinstance(value, Cell) and not isinstance(node, ast.Name)
        return self._detached(value) if self.gradient_free and computed else value

    def _assign(self, targets: Iterable[ast.expr], value: Value, scope: Scope) -> None:
        for target in targets:
            match target:
                case ast.Name(name):
                    scope.names[name] = value
                case ast.Attribute(owner, name):
                    self._store(owner, name, value, scope)
                case ast.Tuple(parts) | ast.List(parts):
                    self._unpack(parts, value, scope)
                case ast.Subscript(owner, key):
                    self._write(owner, key, value, scope)
                case _:
                    raise UnreadableError("assigns to something that cannot be followed")

    def _store(self, owner: ast.expr, name: str, value: Value, scope: Scope) -> None:
        """``ctx.name = value``; ``tensor.data = value`` writes into the tensor."""
        holder = self.value(owner, scope)
        if isinstance(holder, Context):
            holder.attributes[name] = value
        elif isinstance(holder, Cell) and name == "data" and not self.tracked:
            calls.assign(holder, value)
        else:
            raise UnreadableError("assigns to an attribute that cannot be followed")

    def _unpack(self, parts: list[ast.expr], value: Value, scope: Scope) -> None:
        values = (value,) * len(parts) if isinstance(value, Broken) else value
        if not isinstance(values, tuple) or any(isinstance(part, ast.Starred) for part in parts):
            raise UnreadableError("takes apart something that is not several values")
        if len(values) != len(parts):
            raise UnreadableError(f"takes {len(values)} values apart into {len(parts)} names")
        for part, single in zip(parts, values, strict=True):
            self._assign([part], single, scope)

    def _write(self, owner: ast.expr, key: ast.expr, value: Value, scope: Scope) -> None:
        """``tensor[mask] = value``."""
        cell, place = self._place(owner, key, scope)
        self._require_followed()
        if place is None:
            calls.assign(cell, value)
            return
        if isinstance(value, Cell) and value.within != place and not is_constant(value.node):
            raise UnreadableError("assigns elements that were picked out by another mask")
        cell.node = building.where(place, tree(value), cell.node)

    def _place(self, owner: ast.expr, key: ast.expr, scope: Scope) -> tuple[Cell, Node | None]:
        cell, inside = self.value(owner, scope), self._key(key, scope)
        if not isinstance(cell, Cell):
            raise UnreadableError("writes into something that is no tensor")
        calls.require_own(cell)
        return cell, None if inside is None else calls.mask_of(cell, inside)

    def _augment_leniently(self, statement: ast.AugAssign, scope: Scope) -> None:
        """As ``_augment``; a name that holds no tensor may become unreadable, in case nobody needs it."""
        try:
            self._augment(statement, scope)
        except ReadingError as error:
            target = statement.target
            if not isinstance(target, ast.Name) or isinstance(scope.names.get(target.id), Cell):
                raise
            scope.names[target.id] = Broken(error)

    def _augment(self, statement: ast.AugAssign, scope: Scope) -> None:
        """``target += value``: a tensor is changed in place, a number gets a new value."""
        target = statement.target
        reading = self.value(target, scope)
        result = self._binary(type(statement.op), reading, self.value(statement.value, scope))
        if isinstance(target, ast.Subscript):
            self._write(target.value, target.slice, result, scope)
        elif isinstance(reading, Cell):
            self._require_followed()
            calls.assign(reading, result)
        else:
            self._assign([target], result, scope)

    def _within(self, items: list[ast.withitem], body: list[ast.stmt], scope: Scope) -> Returned | None:
        names = {_called_name(item.context_expr) for item in items}
        if not names <= WITHOUT_EFFECT:
            raise UnreadableError("opens a context that cannot be followed")
        before = self.gradient_free
        self.gradient_free = (before or bool(names & GRADIENT_FREE)) and "enable_grad" not in names
        try:
            return self._run(body, scope)
        finally:
            self.gradient_free = before

    def _effect(self, node: ast.expr, scope: Scope) -> None:
        """A statement that is an expression: it matters when it changes a tensor or the context."""
        if not isinstance(node, ast.Call) or _called_name(node) in SILENT:
            return
        self._require_followed()
        self.value(node, scope)

    def _require_followed(self) -> None:
        """Under ``no_grad`` a change in place leaves the gradient as it was before the change."""
        if self.tracked and self.gradient_free:
            raise UnreadableError("changes a tensor under no_grad, which a formula cannot tell")


def _called_name(node: ast.expr) -> str:
    """The last name of what is called: ``no_grad`` for ``torch.no_grad()``."""
    function = node.func if isinstance(node, ast.Call) else node
    match function:
        case ast.Attribute(_, name) | ast.Name(name):
            return name
        case _:
            return ""


def _is_gradient_free(definition: ast.FunctionDef | ast.Lambda) -> bool:
    decorators = definition.decorator_list if isinstance(definition, ast.FunctionDef) else []
    return any(_called_name(decorator) in GRADIENT_FREE for decorator in decorators)


def _library(path: str) -> Library:
    """A module under its usual name, whatever the import calls it."""
    root, dot, rest = path.partition(".")
    return Library({"pytorch": "torch", "cmath": "math"}.get(root, root) + dot + rest)
