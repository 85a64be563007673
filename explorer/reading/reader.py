"""A reader that follows pasted code, line by line, on formula trees; nothing of it is ever executed.

The syntax tree is walked: a function of the text becomes a Python callable that walks its own body, a
class a Python class of such functions, and every other name means what ``calls`` finds in the tables of
``functions``.
"""

import ast
import builtins
import inspect
from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial, reduce
from inspect import Parameter, signature
from types import EllipsisType
from typing import Any, NamedTuple

from explorer.formula.operands import has_elements, replace_counts
from explorer.formula.tree import Name, Node, is_constant
from explorer.reading import building, drawing, functions, sums, tracking, values, vocabulary
from explorer.reading.arithmetic import SIGNS, compared, operation
from explorer.reading.calls import HELPERS, READABLE_ROOTS, called, of_name, sensible
from explorer.reading.errors import (
    DeadEndError,
    Note,
    RaisesError,
    ReadingError,
    UndecidedError,
    UnreadableError,
    require,
)
from explorer.reading.spoiling import Scope, spoil
from explorer.reading.values import SHAPE, Function, Library, Opaque, Pasted, Quantity, Tensor, Value
from explorer.reading.vocabulary import REASONS, UNKNOWN, words

MAX_STEPS = 15_000  # expressions looked at in all; a helper that calls helpers can double at each level
MAX_CALLS = 12  # helpers within helpers
CONTEXTS = words("autocast device record_function profile") | {*tracking.GRAD_MODES}
DECLARED = (
    ast.Assign, ast.AnnAssign, ast.AugAssign, ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom,
    ast.If,
)  # fmt: skip
UNARY = {ast.USub: "neg", ast.Invert: "invert", ast.UAdd: "positive"}
REFUSED: dict[type[ast.AST], str] = {
    ast.While: "is a loop: a formula has none, write out what it does",
    ast.Try: "waits for errors, which cannot be followed",
    ast.Global: "changes a name of the whole file, which cannot be followed",
    ast.Nonlocal: "changes a name of another function, which cannot be followed",
    ast.Match: "is a match, which cannot be read here: write if and elif instead",
    ast.MatMult: REASONS["matmul"],
}
OTHER = "is Python that cannot be read here"
SPECIAL = ("__init__", "__call__")  # of the methods that Python itself calls
NOT_DEFINED = "is not defined in this text"
YES_OR_NO = "asks one yes or no of a whole tensor: use torch.where, or & | ~ on masks"
PASSED_OVER = "may change what the curve depends on, and is not followed"


class Input(NamedTuple):
    """An input after x in a call of the Function: the parameter it is, and whether it is a tensor."""

    name: str
    tensor: bool = False


class _Body(ChainMap[str, Value]):
    """The names of a class body, which neither its methods nor the classes within it see."""


class _Returned(Exception):  # noqa: N818  # no error: the way out of nested statements
    """A function has come to its end with this value."""


@dataclass
class Reader:
    """A reader of one definition, used once.

    ``decisions`` holds the outcomes of tests that depend on a parameter or a shape; ``steps`` counts the
    expressions of a text.
    """

    lines: list[str]
    decisions: Mapping[object, bool]
    steps: Iterator[int]
    depth: int = 0
    parameters: dict[str, str] = field(default_factory=dict)
    notes: dict[Node, str] = field(default_factory=dict)
    warnings: dict[tuple[int, str], Note] = field(default_factory=dict)
    groups: dict[ast.ClassDef, type[Pasted]] = field(default_factory=dict)
    constants: Sequence[str] = ()  # on the context: what forward has computed, where torch follows backward
    taken: Collection[str] = ()  # names that no parameter may have
    inputs: Sequence[Input] | None = None  # what follows x in the call; None where no call is known

    def __post_init__(self) -> None:
        modules = {name: Library(path) for name, path in vocabulary.MODULES.items()}
        own = {name: Library(f"builtins.{name}") for name in functions.BUILTINS}
        self.scope: Scope = ChainMap({}, {**own, **modules, "getattr": self.attribute})

    def parameter(self, name: str) -> Quantity:
        """The parameter of the formula for an input of this name."""
        if name not in self.parameters:
            self.parameters[name] = building.sound_name(name, {*self.parameters.values(), *self.taken})
        return Quantity(Name(self.parameters[name]))

    def given(self, names: Sequence[str]) -> list[Quantity]:
        """The values of the call for inputs of these names after x: parameters under the call's own names."""
        inputs = self.inputs or ()
        self.parameters |= {name: each.name for name, each in zip(names, inputs, strict=False)}
        return [Quantity(Name(each.name), number=not each.tensor) for each in inputs]

    def error(self, node: ast.expr | ast.stmt, reason: Exception) -> ReadingError:
        """An error that names a piece of the code, with its line."""
        if isinstance(reason, ReadingError):
            return reason
        more = node.end_lineno != node.lineno
        line = self.lines[node.lineno - 1].encode()  # the tree counts bytes
        code = line[node.col_offset : None if more else node.end_col_offset].decode(errors="replace")
        quoted = f"{code[:57]}…" if more or len(code) > 60 else code
        error = ReadingError(f"line {node.lineno}: {quoted} {reason}", node.lineno)
        error.raises = isinstance(reason, RaisesError)
        return error

    def value(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression; ReadingError with line and code for one that cannot be read."""
        value = self.lenient(node, scope)
        if isinstance(value, ReadingError):
            raise value
        return value

    def lenient(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression, or its error, in case the value is never used.

        Where the call is known the text is all there is: what surely raises an error then does.
        """
        if next(self.steps) > MAX_STEPS:
            return ReadingError(f"line {node.lineno}: the code takes too many steps to follow", node.lineno)
        try:
            return self._value(node, scope)
        except (UnreadableError, ReadingError) as reason:
            error = self.error(node, reason)
            if error.raises and self.inputs is not None:
                raise error from None
            return error

    def _value(self, node: ast.expr, scope: Scope) -> Value:
        match node:
            case ast.Constant(str() | int() | float() | None | EllipsisType() as value):
                return value
            case ast.Name(name):
                known = name in dir(builtins) or "*" in scope  # what is imported so is not known
                require(name in scope, NOT_DEFINED, UnreadableError if known else RaisesError)
                return scope[name]
            case ast.Attribute(owner, name):
                return self.attribute(self.value(owner, scope), name)
            case ast.Call(ast.Name(name)) if name not in scope:
                raise UnreadableError(f"{UNKNOWN}: paste the definition of {name} too")
            case ast.Call():
                return self._call(node, scope)
            case ast.BinOp(left, sign, right):
                require(type(sign) in SIGNS, REFUSED.get(type(sign), OTHER))
                return operation(SIGNS[type(sign)], self.value(left, scope), self.value(right, scope))
            case ast.UnaryOp(ast.Not(), operand):
                return not self.truth(operand, scope)
            case ast.UnaryOp(sign, operand):
                return of_name(UNARY[type(sign)])(self.value(operand, scope))
            case ast.Compare():
                return self._comparison(node, scope)
            case ast.BoolOp(sign, [*parts, last]):
                settled = (part for part in parts if self.truth(part, scope) == isinstance(sign, ast.Or))
                return self.value(next(settled, last), scope)
            case ast.IfExp(test, then, otherwise):
                return self.value(then if self.truth(test, scope) else otherwise, scope)
            case ast.Subscript(owner, key):
                return drawing.element(self.value(owner, scope), self.value(key, scope))
            case ast.Slice(lower, upper, None):
                return slice(*(self.value(end, scope) if end else None for end in (lower, upper)))
            case ast.List(parts):
                return values.List(self._tuple(parts, scope))
            case ast.Tuple(parts) | ast.Set(parts):
                return self._tuple(parts, scope)
            case ast.ListComp(part, loops) | ast.GeneratorExp(part, loops):
                items = values.several(tuple(self._looped(part, loops, ChainMap({}, *scope.maps))))
                return values.List(items) if isinstance(node, ast.ListComp) else items
            case ast.NamedExpr(target, value):
                self._assign(target, self.value(value, scope), scope)
                return scope[target.id]
            case ast.Dict(keys, parts) if all(isinstance(key, ast.Constant) for key in keys):
                pairs = zip(keys, self._tuple(parts, scope), strict=True)
                return {self.value(key, scope): part for key, part in pairs if key}
            case ast.Lambda():
                return self.function(node, scope)
            case ast.JoinedStr():
                return Opaque("text")
            case _:
                raise UnreadableError(OTHER)

    def _call(self, node: ast.Call, scope: Scope) -> Value:
        """The result of a call, of which remarks are noted."""
        named: dict[str, Value] = {}
        for word in node.keywords:
            value = self.lenient(word.value, scope)
            require(word.arg or isinstance(value, dict), "passes ** on, which cannot be followed")
            named |= {word.arg: value} if word.arg else value
        result = called(self.value(node.func, scope), self._tuple(node.args, scope), named)
        remarks = sums.REMARKS.get()
        self.notes |= {part: str(self.error(node, UnreadableError(words))) for part, words in remarks}
        remarks.clear()
        return result

    def _comparison(self, node: ast.Compare, scope: Scope) -> Value:
        """All links of a comparison; Python asks each but the last for one yes or no."""
        sides = [self.value(part, scope) for part in (node.left, *node.comparators)]
        links = [compared(*link) for link in zip(node.ops, sides, sides[1:], strict=False)]
        chained = any(isinstance(link, Tensor) and has_elements(link.node) for link in links[:-1])
        require(not chained, YES_OR_NO, RaisesError)
        return reduce(partial(operation, "&"), links)

    def truth(self, node: ast.expr, scope: Scope) -> bool:
        """Whether a test holds; raises UndecidedError where a parameter or a shape decides."""
        value: Value = self.value(node, scope)
        test: object = value, node.lineno
        if isinstance(value, Quantity):
            require(not has_elements(value.node) or values.sum_of(value), YES_OR_NO, RaisesError)
            require(is_constant(replace_counts(value.node)) and not values.sum_of(value), YES_OR_NO)
            test = building.mask(value.node)
            known = building.known(test)
            value = SHAPE if known is None else known
        if not isinstance(value, Opaque):
            return bool(value)
        if test not in self.decisions:
            raise UndecidedError(test, node.lineno)
        return self.decisions[test]

    def attribute(self, owner: Value, name: Value) -> Value:
        """``owner.name``; of Python's own objects nothing can be reached."""
        from_base = isinstance(owner, super) and name in SPECIAL
        require(isinstance(name, str) and (from_base or not name.startswith("__")), UNKNOWN)
        match owner:
            case super():
                require(hasattr(owner, name), "is never given a value in this text")
                return getattr(owner, name)
            case Library(path):
                known = name in functions.CONSTANTS and path.split(".")[0] in READABLE_ROOTS
                return functions.CONSTANTS[name] if known else Library(f"{path}.{name}")
            case Opaque():
                return owner
            case dict() if name == "get":
                return lambda key, default=None: owner[key] if key in list(owner) else default
            case (Opaque() as size,) if name == "numel":
                return partial(functions.counted, size)
            case tuple() if name == "values" and len(owner) == 2:  # of torch.max along a dimension
                return owner[0]
            case str() if name in ("lower", "upper"):
                return getattr(owner, name)
            case Quantity() | int() | float() if name in functions.PROPERTIES:
                return functions.PROPERTIES[name](owner)
            case Quantity(Name(held)) if type(owner) is Quantity and name.rstrip("_") not in functions.TABLE:
                return self.parameter(f"{held}.{name}")  # of an object as input
            case Quantity() | int() | float():
                return partial(functions.METHODS.get(name) or of_name(name), owner)
            case type() if name == "apply":
                return partial(self.applied, owner)
            case _:
                return values.member(owner, name)

    def _tuple(self, parts: Iterable[ast.expr], scope: Scope) -> tuple[Value, ...]:
        items: list[Value] = []
        for part in parts:
            if isinstance(part, ast.Starred):
                items += values.several(self.value(part.value, scope))
            else:
                items.append(self.lenient(part, scope))
        return values.several(tuple(items))

    def _looped(self, part: ast.expr, loops: list[ast.comprehension], scope: Scope) -> Iterator[Value]:
        """The values of a comprehension."""
        outer, *inner = loops
        for value in values.several(self.value(outer.iter, scope)):
            self._assign(outer.target, value, scope)
            if all(self.truth(test, scope) for test in outer.ifs):
                yield from self._looped(part, inner, scope) if inner else [self.lenient(part, scope)]

    def function(self, definition: ast.FunctionDef | ast.Lambda, scope: Scope) -> Value:
        """A function of the text: its defaults are read now, its body when it is called."""
        body, signature = definition.body, self._signature(definition.args, scope)
        statements = body if isinstance(body, list) else [ast.copy_location(ast.Return(body), body)]
        decorators: list[ast.expr] = getattr(definition, "decorator_list", [])
        marks = set(map(last_name, decorators))
        starts, around = getattr(definition, "name", "") == "__init__", _outside(scope)

        def function(*positional: Value, **keywords: Value) -> Value:
            require(self.depth < MAX_CALLS, "calls too deeply, or itself")
            with sensible("has arguments that cannot be read"):
                bound = signature.bind(*positional, **keywords)
            bound.apply_defaults()
            own: dict[str, Value] = dict(bound.arguments)
            group = around.get("__class__")
            if positional and isinstance(group, type) and isinstance(positional[0], group):
                own["super"] = lambda *_: super(group, positional[0])
            self.depth += 1
            try:
                with tracking.autograd(marks):
                    self._run(statements, around.new_child(own), lenient=starts)
            except _Returned as end:
                return None if starts else end.args[0]
            finally:
                self.depth -= 1
            return None

        kinds = [kind for kind in (staticmethod, classmethod, property) if kind.__name__ in marks]
        function.__signature__ = signature  # type: ignore[attr-defined]  # what inspect.signature looks for
        wrapped = reduce(partial(self._wrapped, scope), reversed(decorators), function)
        return kinds[0](wrapped) if kinds else wrapped

    def _wrapped(self, scope: Scope, function: Value, mark: ast.expr) -> Value:
        """A function as a decorator of the text makes it; others are taken to leave values as they are."""
        name = last_name(mark)
        require(name not in REASONS, REASONS.get(name, ""))
        known = isinstance(mark, ast.Name | ast.Call) and inspect.isfunction(scope.get(name))
        return called(self.value(mark, scope), (function,), {}) if known else function

    def _signature(self, takes: ast.arguments, scope: Scope) -> inspect.Signature:
        names = [*takes.posonlyargs, *takes.args]
        optional = [*names[len(names) - len(takes.defaults) :], *takes.kwonlyargs]
        defaults = dict(zip(optional, [*takes.defaults, *takes.kw_defaults], strict=True))
        kinds: dict[Any, list[Any]] = {
            Parameter.POSITIONAL_OR_KEYWORD: names, Parameter.VAR_POSITIONAL: [takes.vararg],
            Parameter.KEYWORD_ONLY: takes.kwonlyargs, Parameter.VAR_KEYWORD: [takes.kwarg],
        }  # fmt: skip
        parameters = [
            Parameter(name.arg, kind, default=self.lenient(value, scope) if value else Parameter.empty)
            for kind, group in kinds.items()
            for name in filter(None, group)
            for value in [defaults.get(name)]
        ]
        with sensible("is no function"):
            return inspect.Signature(parameters)

    def arguments(self, function: Function, *first: Value) -> inspect.BoundArguments:
        """The arguments of a call; one without value and default becomes a parameter."""
        with sensible("takes other inputs than it is given"):
            signature = inspect.signature(function)
            bound = signature.bind_partial(*first)
        bound.apply_defaults()
        missing = [name for name in signature.parameters if name not in bound.arguments]
        bound.arguments |= {name: self.parameter(name) for name in missing}
        return bound

    def invoked(self, function: Function, *first: Value) -> Value:
        """The result of a function with these arguments; see ``arguments``."""
        bound = self.arguments(function, *first)
        return function(*bound.args, **bound.kwargs)

    def forwarded(
        self, group: type[Pasted], *inputs: Value, needs: Sequence[bool] = ()
    ) -> tuple[Pasted, Value]:
        """The context and output of a Function's forward, in any of the styles torch has had.

        ``needs`` says which inputs need a gradient; all by default.
        """
        context, forward = self.invoked(group), method(group, "forward")
        apart = hasattr(group, "setup_context")
        bound = self.arguments(forward if apart else partial(forward, context), *inputs)
        takes = signature(forward).parameters.values()
        endless = Parameter.VAR_POSITIONAL in {parameter.kind for parameter in takes}
        number = None if endless else len(takes) - (not apart)
        context.needs_input_grad = (tuple(needs) or context.needs_input_grad)[:number]
        output = forward(*(() if apart else (context,)), *bound.args, **bound.kwargs)
        if apart:
            method(group, "setup_context")(context, bound.args, output)
        return context, output

    def applied(self, group: type[Pasted], *inputs: Value) -> Value:
        """The result of ``Function.apply``."""
        own_rule = "applies a Function whose rule stands there: paste that one by itself"
        require(not tracking.AUTOGRAD.get(), own_rule)
        return self.forwarded(group, *inputs)[1]

    def group(self, definition: ast.ClassDef, scope: Scope) -> type[Pasted]:
        """A class with its constants and methods."""
        bases = [self.lenient(base, scope) for base in definition.bases]
        cell: dict[str, Value] = {}  # what the methods know of their class
        inner: Scope = _Body({}, cell, *_outside(scope).maps)
        for item in definition.body:
            if isinstance(item, ast.FunctionDef):
                inner[item.name] = self.function(item, inner)
            else:
                self.declare([item], inner)
        members = {k: v for k, v in inner.maps[0].items() if not k.startswith("__") or k in SPECIAL}
        ours = [base for base in bases if isinstance(base, type)] or [Pasted]
        with sensible("is no class"):
            self.groups[definition] = cell["__class__"] = type(definition.name, tuple(ours), members)
        return self.groups[definition]

    def declare(self, statements: Iterable[ast.stmt], scope: Scope) -> None:
        """Assign the names of a module, class or function; other statements are passed over."""
        for item in statements:
            if isinstance(item, DECLARED):
                with suppress(DeadEndError, _Returned):  # a definition stands for itself
                    self._run([item], scope, lenient=True)
            else:
                spoil(item, self.error(item, UnreadableError(PASSED_OVER)), scope)

    def _run(self, statements: Iterable[ast.stmt], scope: Scope, lenient: bool = False) -> None:
        for statement in statements:
            try:
                self._execute(statement, scope)
            except (UnreadableError, ReadingError) as reason:
                error = self.error(statement, reason)
                if not lenient or isinstance(error, DeadEndError):
                    raise error from None
                spoil(statement, error, scope)
            finally:
                self.warn(statement)

    def warn(self, statement: ast.stmt) -> None:
        """Note what is to be said of a statement, once for its line."""
        said = tracking.SAID.get({})
        for kind, what in said.items():
            sentence = str(self.error(statement, UnreadableError(what)))
            self.warnings.setdefault((statement.lineno, kind), Note(sentence, kind, statement.lineno))
        said.clear()

    def _execute(self, statement: ast.stmt, scope: Scope) -> None:
        match statement:
            case ast.Return(value):
                raise _Returned(self._fresh(value, scope) if value else None)
            case ast.Assign(targets, value):
                value = self._fresh(value, scope)
                for target in targets:
                    self._assign(target, value, scope)
            case ast.AnnAssign(target, _, ast.expr() as value):
                self._assign(target, self._fresh(value, scope), scope)
            case ast.AugAssign(target):
                self._assign(target, self._changed(statement, scope), scope)
            case ast.If(test, then, otherwise):
                self._run(then if self.truth(test, scope) else otherwise, scope)
            case ast.For(target, items, body, otherwise):
                for value in values.several(self.value(items, scope)):
                    self._assign(target, value, scope)
                    self._run(body, scope)
                self._run(otherwise, scope)
            case ast.With(items, body):
                names = {last_name(item.context_expr) for item in items}
                require(names <= CONTEXTS, "opens a context that cannot be followed")
                with tracking.autograd(names):
                    self._run(body, scope)
            case ast.Expr(ast.Call() as call):
                if last_name(call) not in vocabulary.SILENT:
                    self.value(call, scope)
            case ast.Raise(lineno=line):
                raise DeadEndError(f"line {line}: the code raises an error here instead of a value", line)
            case ast.FunctionDef(name):
                exported = HELPERS.get(ast.unparse(statement))
                scope[name] = exported or self.function(statement, scope)
            case ast.ClassDef(name):
                scope[name] = self.group(statement, scope)
            case ast.Import(names) | ast.ImportFrom(names=names):
                inside = f"{statement.module or 'here'}." if isinstance(statement, ast.ImportFrom) else ""
                for alias in names:
                    name = alias.name if alias.asname or inside else alias.name.split(".")[0]
                    scope[alias.asname or name] = self._imported(inside + name)
            case ast.Pass() | ast.Assert() | ast.Delete() | ast.Expr() | ast.AnnAssign():
                pass
            case _:
                raise UnreadableError(REFUSED.get(type(statement), OTHER))

    def _changed(self, statement: ast.AugAssign, scope: Scope) -> Value:
        """The value after ``a += b``: a tensor and a list change in place, a number is a new one.

        Within a Function an unreadable change marks the tensor.
        """
        result = ast.copy_location(ast.BinOp(statement.target, statement.op, statement.value), statement)
        held, value = self.lenient(statement.target, scope), self._fresh(result, scope)
        if isinstance(held, values.List):
            held[:] = values.several(value)
            return held
        if not isinstance(held, Tensor):
            return value
        try:
            return tracking.assigned(held, value)
        except (UnreadableError, ReadingError) as reason:
            if held.frozen or tracking.AUTOGRAD.get():
                raise
            held.spoiled = self.error(statement, reason)
            return held

    def _imported(self, path: str) -> Value:
        """A module under its usual name, whatever the import calls it; pi and e are values."""
        root, *rest = path.split(".")
        return reduce(self.attribute, rest, Library(vocabulary.MODULES.get(root, root)))

    def _fresh(self, node: ast.expr, scope: Scope) -> Value:
        """The value to be assigned; under ``no_grad`` a newly computed tensor has no history."""
        value = self.lenient(node, scope)
        computed = isinstance(value, Tensor) and not isinstance(node, ast.Name)
        return tracking.detached(value) if computed and tracking.AUTOGRAD.get() == "stopped" else value

    def _assign(self, target: ast.expr, value: Value, scope: Scope) -> None:
        match target:
            case ast.Name(name):
                scope[name] = value
            case ast.Tuple(parts) | ast.List(parts):
                for part, single in values.apart(value, parts):
                    self._assign(part, single, scope)
            case ast.Starred(part):
                self._assign(part, value, scope)
            case ast.Subscript(owner, key):
                tracking.written(self.value(owner, scope), self.value(key, scope), value)
            case ast.Attribute(owner, name):
                holder = self.value(owner, scope)
                if isinstance(holder, Pasted | type) and not name.startswith("__"):
                    setattr(holder, name, value)
                elif name == "data":
                    tracking.assigned(tracking.detached(holder), value)
                else:
                    require(name == "requires_grad", "assigns to an attribute that cannot be followed")


def _outside(scope: Scope) -> Scope:
    """The scope of a function or class defined here: of a class body only the scope around it."""
    return ChainMap(*scope.maps[1:]) if isinstance(scope, _Body) else scope


def method(group: type[Pasted], name: str) -> Function:
    """A method of a class as torch calls it, static or not: the context comes first."""
    member: Value = getattr(group, name, None)
    require(inspect.isroutine(member), f"has no {name} that is a plain method, so there is no rule to show")
    return member  # type: ignore[no-any-return]  # a routine


def last_name(node: ast.expr) -> str:
    """The last name of an expression: ``no_grad`` for ``torch.no_grad()``."""
    named = node.func if isinstance(node, ast.Call) else node
    return str(getattr(named, "attr", getattr(named, "id", "")))
