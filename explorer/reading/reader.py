"""Follow pasted code line by line, without executing it, with formula trees as the values of names.

The reader walks the syntax tree. A function in the text becomes a Python callable that walks its own body,
and a class becomes a Python class of such callables. For every other name, ``calls`` looks in the tables of
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
from explorer.reading import building, errors, functions, randomness, sums, tracking, values, vocabulary
from explorer.reading.arithmetic import NOT_TAKEN_APART, SIGNS, apply_binary, compare
from explorer.reading.calls import HELPERS, READABLE_ROOTS, call_function, convert_errors, find_row
from explorer.reading.errors import DeadEndError, RaisesError, ReadingError, UnreadableError, require
from explorer.reading.spoiling import Scope, mark_unknown
from explorer.reading.values import SHAPE, Function, Library, Opaque, PastedClass, Quantity, Tensor, Value
from explorer.reading.vocabulary import REASONS, UNKNOWN, split_words

MAX_STEPS = 15_000  # the maximum number of expressions to read; nested helpers can double it at each level
MAX_CALLS = 12  # the maximum depth of nested calls
CONTEXTS = split_words("autocast device record_function profile") | {*tracking.GRAD_MODES}
DECLARATIONS = (
    ast.Assign, ast.AnnAssign, ast.AugAssign, ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom,
    ast.If,
)  # fmt: skip
UNARY = {ast.USub: "neg", ast.Invert: "invert", ast.UAdd: "positive"}
UNSUPPORTED: dict[type[ast.AST], str] = {
    ast.While: "is a loop, which a formula cannot express: write out what it does",
    ast.Try: "waits for errors, which cannot be followed",
    ast.Global: "changes a name of the whole file, which cannot be followed",
    ast.Nonlocal: "changes a name of another function, which cannot be followed",
    ast.Match: "is a match, which cannot be read here: write if and elif instead",
    ast.MatMult: REASONS["matmul"],
}
OTHER_PYTHON = "is Python that cannot be read here"
SPECIAL = ("__init__", "__call__")  # the only special methods that are read
NOT_DEFINED = "is not defined in this text"
YES_OR_NO = "asks one yes or no of a whole tensor: use torch.where, or & | ~ on masks"
NOT_FOLLOWED = "may change values that the curve depends on, and is not followed"


class Input(NamedTuple):
    """An input after x in a call of a Function: its parameter's name, and whether it is a tensor."""

    name: str
    tensor: bool = False


class _ClassBody(ChainMap[str, Value]):
    """The names defined in a class body, which methods and nested classes do not see."""


class _ReturnSignal(Exception):  # noqa: N818  # not an error: leaves nested statements
    """Raised with a return value to leave the nested statements of a function in pasted code."""


@dataclass
class Reader:
    """An interpreter of one definition in pasted code, whose values are formula trees. Each is used once.

    Attributes:
        lines: the lines of the text.
        decisions: the assumed outcomes of tests that depend on a parameter or a shape.
        steps: a counter of the expressions read so far.
        depth: the depth of nested calls.
        parameters: the parameters' names in formulas, by their names in the code.
        notes: remarks about parts of the trees.
        warnings: notes by line and kind.
        classes: the classes of the text.
        constants: if autograd follows backward, the names of values on the context that forward computed.
        taken: names that no parameter may have.
        inputs: the inputs after x in a call, or None if no call is known.
    """

    lines: list[str]
    decisions: Mapping[object, bool]
    steps: Iterator[int]
    depth: int = 0
    parameters: dict[str, str] = field(default_factory=dict)
    notes: dict[Node, str] = field(default_factory=dict)
    warnings: dict[tuple[int, str], errors.Note] = field(default_factory=dict)
    classes: dict[ast.ClassDef, type[PastedClass]] = field(default_factory=dict)
    constants: Sequence[str] = ()
    taken: Collection[str] = ()
    inputs: Sequence[Input] | None = None

    def __post_init__(self) -> None:
        modules = {name: Library(path) for name, path in vocabulary.MODULES.items()}
        known_builtins = {name: Library(f"builtins.{name}") for name in functions.BUILTINS}
        self.scope: Scope = ChainMap({}, {**known_builtins, **modules, "getattr": self.get_attribute})

    def make_parameter(self, name: str) -> Quantity:
        """Return the formula's parameter for an input of the given name."""
        if name not in self.parameters:
            self.parameters[name] = building.choose_name(name, {*self.parameters.values(), *self.taken})
        return Quantity(Name(self.parameters[name]))

    def bind_inputs(self, names: Sequence[str]) -> list[Quantity]:
        """Return the values of all inputs after x, which are parameters with the names in the call."""
        inputs = self.inputs or ()
        self.parameters |= {name: each.name for name, each in zip(names, inputs, strict=False)}
        return [Quantity(Name(each.name), number=not each.tensor) for each in inputs]

    def make_error(self, node: ast.expr | ast.stmt, reason: Exception) -> ReadingError:
        """Return a ReadingError that quotes a piece of the code and gives its line."""
        if isinstance(reason, ReadingError):
            return reason
        is_multiline = node.end_lineno != node.lineno
        line = self.lines[node.lineno - 1].encode()  # as bytes, in which the syntax tree counts columns
        code = line[node.col_offset : None if is_multiline else node.end_col_offset].decode(errors="replace")
        quoted = f"{code[:57]}…" if is_multiline or len(code) > 60 else code
        error = ReadingError(f"line {node.lineno}: {quoted} {reason}", node.lineno)
        error.raises = isinstance(reason, RaisesError)
        return error

    def evaluate(self, node: ast.expr, scope: Scope) -> Value:
        """Return the value, a formula tree or a Python object, of an expression in the pasted code.

        Raises ReadingError with line and code if the expression is not supported.
        """
        value = self.evaluate_or_error(node, scope)
        if isinstance(value, ReadingError):
            raise value
        return value

    def evaluate_or_error(self, node: ast.expr, scope: Scope) -> Value:
        """Return the value of an expression, or a ReadingError as the value if it is not supported.

        The error is kept as a value, because the value may never be used. If the call is known, so that the
        text is complete, an expression that torch or Python is certain to reject raises the error
        immediately.
        """
        if next(self.steps) > MAX_STEPS:
            return ReadingError(f"line {node.lineno}: the code takes too many steps to follow", node.lineno)
        try:
            return self._evaluate(node, scope)
        except (UnreadableError, ReadingError) as reason:
            error = self.make_error(node, reason)
            if error.raises and self.inputs is not None:
                raise error from None
            return error

    def _evaluate(self, node: ast.expr, scope: Scope) -> Value:
        match node:
            case ast.Constant(str() | int() | float() | None | EllipsisType() as value):
                return value
            case ast.Name(name):
                may_exist = name in dir(builtins) or "*" in scope  # a star import may define any name
                require(name in scope, NOT_DEFINED, UnreadableError if may_exist else RaisesError)
                return scope[name]
            case ast.Attribute(owner, name):
                return self.get_attribute(self.evaluate(owner, scope), name)
            case ast.Call(ast.Name(name)) if name not in scope:
                raise UnreadableError(f"{UNKNOWN}: paste the definition of {name} too")
            case ast.Call():
                return self._call(node, scope)
            case ast.BinOp(left, sign, right):
                require(type(sign) in SIGNS, UNSUPPORTED.get(type(sign), OTHER_PYTHON))
                return apply_binary(
                    SIGNS[type(sign)], self.evaluate(left, scope), self.evaluate(right, scope)
                )
            case ast.UnaryOp(ast.Not(), operand):
                return not self.decide(operand, scope)
            case ast.UnaryOp(sign, operand):
                return find_row(UNARY[type(sign)])(self.evaluate(operand, scope))
            case ast.Compare():
                return self._compare(node, scope)
            case ast.BoolOp(sign, [*parts, last]):
                settled = (part for part in parts if self.decide(part, scope) == isinstance(sign, ast.Or))
                return self.evaluate(next(settled, last), scope)
            case ast.IfExp(test, then, otherwise):
                return self.evaluate(then if self.decide(test, scope) else otherwise, scope)
            case ast.Subscript(owner, key):
                return randomness.select_item(self.evaluate(owner, scope), self.evaluate(key, scope))
            case ast.Slice(lower, upper, None):
                return slice(*(self.evaluate(end, scope) if end else None for end in (lower, upper)))
            case ast.List(parts):
                return values.List(self._evaluate_all(parts, scope))
            case ast.Tuple(parts) | ast.Set(parts):
                return self._evaluate_all(parts, scope)
            case ast.ListComp(part, loops) | ast.GeneratorExp(part, loops):
                items = values.unpack(tuple(self._iterate(part, loops, ChainMap({}, *scope.maps))))
                return values.List(items) if isinstance(node, ast.ListComp) else items
            case ast.NamedExpr(target, value):
                self._assign(target, self.evaluate(value, scope), scope)
                return scope[target.id]
            case ast.Dict(keys, parts) if all(isinstance(key, ast.Constant) for key in keys):
                pairs = zip(keys, self._evaluate_all(parts, scope), strict=True)
                return {self.evaluate(key, scope): part for key, part in pairs if key}
            case ast.Lambda():
                return self.make_function(node, scope)
            case ast.JoinedStr():
                return Opaque("text")
            case _:
                raise UnreadableError(OTHER_PYTHON)

    def _call(self, node: ast.Call, scope: Scope) -> Value:
        named: dict[str, Value] = {}
        for word in node.keywords:
            value = self.evaluate_or_error(word.value, scope)
            require(word.arg or isinstance(value, dict), "passes ** on, which cannot be followed")
            named |= {word.arg: value} if word.arg else value
        result = call_function(self.evaluate(node.func, scope), self._evaluate_all(node.args, scope), named)
        remarks = sums.REMARKS.get()
        self.notes |= {part: str(self.make_error(node, UnreadableError(words))) for part, words in remarks}
        remarks.clear()
        return result

    def _compare(self, node: ast.Compare, scope: Scope) -> Value:
        """Return the value of a comparison with one or more links, such as ``a < b < c``.

        Python needs a truth value for each link but the last.
        """
        sides = [self.evaluate(part, scope) for part in (node.left, *node.comparators)]
        links = [compare(*link) for link in zip(node.ops, sides, sides[1:], strict=False)]
        chained = any(isinstance(link, Tensor) and has_elements(link.node) for link in links[:-1])
        require(not chained, YES_OR_NO, RaisesError)
        return reduce(partial(apply_binary, "&"), links)

    def decide(self, node: ast.expr, scope: Scope) -> bool:
        """Return the truth of a test in the pasted code.

        Raises UndecidedError if the outcome depends on a parameter or a shape.
        """
        value: Value = self.evaluate(node, scope)
        test: object = value, node.lineno
        if isinstance(value, Quantity):
            require(not has_elements(value.node) or values.get_sum(value), YES_OR_NO, RaisesError)
            require(is_constant(replace_counts(value.node)) and not values.get_sum(value), YES_OR_NO)
            test = building.to_mask(value.node)
            constant = building.evaluate_constant(test)
            value = SHAPE if constant is None else constant
        if not isinstance(value, Opaque):
            return bool(value)
        if test not in self.decisions:
            raise errors.UndecidedError(test, node.lineno)
        return self.decisions[test]

    def get_attribute(self, owner: Value, name: Value) -> Value:
        """Return the value of ``owner.name`` in pasted code.

        The attributes of Python's own objects are not accessible.
        """
        from_base = isinstance(owner, super) and name in SPECIAL
        require(isinstance(name, str) and (from_base or not name.startswith("__")), UNKNOWN)
        match owner:
            case super():
                require(hasattr(owner, name), "is never given a value in this text")
                return getattr(owner, name)
            case Library(path):
                has_value = name in functions.CONSTANTS and path.split(".")[0] in READABLE_ROOTS
                return functions.CONSTANTS[name] if has_value else Library(f"{path}.{name}")
            case Opaque():
                return owner
            case dict() if name == "get":
                return lambda key, default=None: owner[key] if key in list(owner) else default
            case (Opaque() as size,) if name == "numel":
                return partial(functions.count_elements, size)
            case tuple() if name == "values" and len(owner) == 2:  # ``.values`` of torch.max with a dimension
                return owner[0]
            case tuple() if name in functions.METHODS or name in functions.TABLE:
                raise RaisesError(NOT_TAKEN_APART)
            case str() if name in ("lower", "upper"):
                return getattr(owner, name)
            case Quantity() | int() | float() if name in functions.PROPERTIES:
                return functions.PROPERTIES[name](owner)
            case Quantity(Name(held)) if type(owner) is Quantity and name.rstrip("_") not in functions.TABLE:
                return self.make_parameter(f"{held}.{name}")  # an attribute of an input that is an object
            case Quantity() | int() | float():
                return partial(functions.METHODS.get(name) or find_row(name), owner)
            case type() if name == "apply":
                return partial(self.run_apply, owner)
            case _:
                return values.get_member(owner, name)

    def _evaluate_all(self, parts: Iterable[ast.expr], scope: Scope) -> tuple[Value, ...]:
        items: list[Value] = []
        for part in parts:
            if isinstance(part, ast.Starred):
                items += values.unpack(self.evaluate(part.value, scope))
            else:
                items.append(self.evaluate_or_error(part, scope))
        return values.unpack(tuple(items))

    def _iterate(self, part: ast.expr, loops: list[ast.comprehension], scope: Scope) -> Iterator[Value]:
        outer, *inner = loops
        for value in values.unpack(self.evaluate(outer.iter, scope)):
            self._assign(outer.target, value, scope)
            if all(self.decide(test, scope) for test in outer.ifs):
                yield from (
                    self._iterate(part, inner, scope) if inner else [self.evaluate_or_error(part, scope)]
                )

    def make_function(self, definition: ast.FunctionDef | ast.Lambda, scope: Scope) -> Value:
        """Return a Python callable for a function in the pasted code, which runs its body on traced values.

        The defaults of the arguments are evaluated immediately, the body at each call.
        """
        body, signature = definition.body, self._make_signature(definition.args, scope)
        statements = body if isinstance(body, list) else [ast.copy_location(ast.Return(body), body)]
        decorators: list[ast.expr] = getattr(definition, "decorator_list", [])
        marks = set(map(take_last_name, decorators))
        starts, around = getattr(definition, "name", "") == "__init__", _skip_class_body(scope)

        def function(*positional: Value, **keywords: Value) -> Value:
            require(self.depth < MAX_CALLS, "calls too deeply, or itself")
            with convert_errors("has arguments that cannot be read"):
                bound = signature.bind(*positional, **keywords)
            bound.apply_defaults()
            local_names: dict[str, Value] = dict(bound.arguments)
            cls = around.get("__class__")
            if positional and isinstance(cls, type) and isinstance(positional[0], cls):
                local_names["super"] = lambda *_: super(cls, positional[0])
            self.depth += 1
            try:
                with tracking.set_autograd(marks):
                    self._run(statements, around.new_child(local_names), lenient=starts)
            except _ReturnSignal as end:
                return None if starts else end.args[0]
            finally:
                self.depth -= 1
            return None

        kinds = [kind for kind in (staticmethod, classmethod, property) if kind.__name__ in marks]
        function.__signature__ = signature  # type: ignore[attr-defined]  # read by inspect.signature
        wrapped: Value = function
        for mark in reversed(decorators):
            name = take_last_name(mark)
            require(name not in REASONS, REASONS.get(name, ""))
            # decorators that the pasted code does not define are assumed not to change values
            if isinstance(mark, ast.Name | ast.Call) and inspect.isfunction(scope.get(name)):
                wrapped = call_function(self.evaluate(mark, scope), (wrapped,), {})
        return kinds[0](wrapped) if kinds else wrapped

    def _make_signature(self, takes: ast.arguments, scope: Scope) -> inspect.Signature:
        names = [*takes.posonlyargs, *takes.args]
        optional = [*names[len(names) - len(takes.defaults) :], *takes.kwonlyargs]
        defaults = dict(zip(optional, [*takes.defaults, *takes.kw_defaults], strict=True))
        kinds: dict[Any, list[Any]] = {
            Parameter.POSITIONAL_OR_KEYWORD: names, Parameter.VAR_POSITIONAL: [takes.vararg],
            Parameter.KEYWORD_ONLY: takes.kwonlyargs, Parameter.VAR_KEYWORD: [takes.kwarg],
        }  # fmt: skip
        parameters = [
            Parameter(
                name.arg, kind, default=self.evaluate_or_error(value, scope) if value else Parameter.empty
            )
            for kind, group in kinds.items()
            for name in filter(None, group)
            for value in [defaults.get(name)]
        ]
        with convert_errors("is not a function"):
            return inspect.Signature(parameters)

    def bind_arguments(self, function: Function, *first: Value) -> inspect.BoundArguments:
        """Return the arguments of a call, bound to names; those without a value become formula parameters."""
        with convert_errors("takes other inputs than it is given"):
            signature = inspect.signature(function)
            bound = signature.bind_partial(*first)
        bound.apply_defaults()
        missing = [name for name in signature.parameters if name not in bound.arguments]
        bound.arguments |= {name: self.make_parameter(name) for name in missing}
        return bound

    def invoke(self, function: Function, *first: Value) -> Value:
        """Return the result of calling a function of the pasted code. Missing arguments become parameters."""
        bound = self.bind_arguments(function, *first)
        return function(*bound.args, **bound.kwargs)

    def run_forward(
        self, cls: type[PastedClass], *inputs: Value, needs: Sequence[bool] = ()
    ) -> tuple[PastedClass, Value]:
        """Call a Function's forward on traced values, and return its context and its output.

        Every style that torch has ever supported is accepted. ``needs`` has a flag for each input that needs
        a gradient; by default all do.
        """
        context, forward = self.invoke(cls), find_method(cls, "forward")
        has_setup = hasattr(cls, "setup_context")
        bound = self.bind_arguments(forward if has_setup else partial(forward, context), *inputs)
        takes = signature(forward).parameters.values()
        endless = Parameter.VAR_POSITIONAL in {parameter.kind for parameter in takes}
        number = None if endless else len(takes) - (not has_setup)
        context.needs_input_grad = (tuple(needs) or context.needs_input_grad)[:number]
        output = forward(*(() if has_setup else (context,)), *bound.args, **bound.kwargs)
        if has_setup:
            find_method(cls, "setup_context")(context, bound.args, output)
        return context, output

    def run_apply(self, cls: type[PastedClass], *inputs: Value) -> Value:
        """Return the output of ``Function.apply``. Raises UnreadableError if autograd follows the code."""
        own_rule = "applies another Function, which holds the rule: paste that Function alone"
        require(not tracking.AUTOGRAD.get(), own_rule)
        return self.run_forward(cls, *inputs)[1]

    def make_class(self, definition: ast.ClassDef, scope: Scope) -> type[PastedClass]:
        """Return a Python class for a class in the pasted code, with its constants and methods."""
        bases = [self.evaluate_or_error(base, scope) for base in definition.bases]
        cell: dict[str, Value] = {}  # the class itself, as its methods see it
        inner: Scope = _ClassBody({}, cell, *_skip_class_body(scope).maps)
        for item in definition.body:
            if isinstance(item, ast.FunctionDef):
                inner[item.name] = self.make_function(item, inner)
            else:
                self.declare([item], inner)
        members = {k: v for k, v in inner.maps[0].items() if not k.startswith("__") or k in SPECIAL}
        own_bases = [base for base in bases if isinstance(base, type)] or [PastedClass]
        with convert_errors("is not a class"):
            self.classes[definition] = cell["__class__"] = type(definition.name, tuple(own_bases), members)
        return self.classes[definition]

    def declare(self, statements: Iterable[ast.stmt], scope: Scope) -> None:
        """Assign the names that the statements of a module, class or function define.

        Names that unsupported statements may change are marked as unknown.
        """
        for item in statements:
            if isinstance(item, DECLARATIONS):
                with suppress(DeadEndError, _ReturnSignal):  # an error must not hide other definitions
                    self._run([item], scope, lenient=True)
            else:
                mark_unknown(item, self.make_error(item, UnreadableError(NOT_FOLLOWED)), scope)

    def _run(self, statements: Iterable[ast.stmt], scope: Scope, lenient: bool = False) -> None:
        for statement in statements:
            try:
                self._execute(statement, scope)
            except (UnreadableError, ReadingError) as reason:
                error = self.make_error(statement, reason)
                if not lenient or isinstance(error, DeadEndError):
                    raise error from None
                mark_unknown(statement, error, scope)
            finally:
                self.warn(statement)

    def warn(self, statement: ast.stmt) -> None:
        """Store the pending notes as notes on a statement, once per line and kind."""
        pending = tracking.PENDING_NOTES.get({})
        for kind, text in pending.items():
            sentence = str(self.make_error(statement, UnreadableError(text)))
            self.warnings.setdefault((statement.lineno, kind), errors.Note(sentence, kind, statement.lineno))
        pending.clear()

    def _execute(self, statement: ast.stmt, scope: Scope) -> None:
        match statement:
            case ast.Return(value):
                raise _ReturnSignal(self._evaluate_assigned(value, scope) if value else None)
            case ast.Assign(targets, value):
                value = self._evaluate_assigned(value, scope)
                for target in targets:
                    self._assign(target, value, scope)
            case ast.AnnAssign(target, _, ast.expr() as value):
                self._assign(target, self._evaluate_assigned(value, scope), scope)
            case ast.AugAssign(target):
                self._assign(target, self._change_in_place(statement, scope), scope)
            case ast.If(test, then, otherwise):
                self._run(then if self.decide(test, scope) else otherwise, scope)
            case ast.For(target, items, body, otherwise):
                for value in values.unpack(self.evaluate(items, scope)):
                    self._assign(target, value, scope)
                    self._run(body, scope)
                self._run(otherwise, scope)
            case ast.With(items, body):
                names = {take_last_name(item.context_expr) for item in items}
                require(names <= CONTEXTS, "opens a context that cannot be followed")
                with tracking.set_autograd(names):
                    self._run(body, scope)
            case ast.Expr(ast.Call() as call):
                if take_last_name(call) not in vocabulary.SILENT:
                    self.evaluate(call, scope)
            case ast.Raise(lineno=line):
                raise DeadEndError(f"line {line}: the code raises an error here instead of a value", line)
            case ast.FunctionDef(name):
                exported = HELPERS.get(ast.unparse(statement))
                scope[name] = exported or self.make_function(statement, scope)
            case ast.ClassDef(name):
                scope[name] = self.make_class(statement, scope)
            case ast.Import(names) | ast.ImportFrom(names=names):
                inside = f"{statement.module or 'here'}." if isinstance(statement, ast.ImportFrom) else ""
                for alias in names:
                    name = alias.name if alias.asname or inside else alias.name.split(".")[0]
                    root, *members = (inside + name).split(".")
                    library = Library(vocabulary.MODULES.get(root, root))
                    scope[alias.asname or name] = reduce(self.get_attribute, members, library)
            case ast.Pass() | ast.Assert() | ast.Delete() | ast.Expr() | ast.AnnAssign():
                pass
            case _:
                raise UnreadableError(UNSUPPORTED.get(type(statement), OTHER_PYTHON))

    def _change_in_place(self, statement: ast.AugAssign, scope: Scope) -> Value:
        """Evaluate a statement such as ``a += b``, which may change a tensor or a list in place.

        Returns the new value of ``a``. In a Function, an unsupported in-place change marks the tensor as
        spoiled.
        """
        result = ast.copy_location(ast.BinOp(statement.target, statement.op, statement.value), statement)
        target = self.evaluate_or_error(statement.target, scope)
        value = self._evaluate_assigned(result, scope)
        if isinstance(target, values.List):
            target[:] = values.unpack(value)
            return target
        if not isinstance(target, Tensor):
            return value
        try:
            return tracking.assign(target, value)
        except (UnreadableError, ReadingError) as reason:
            if target.frozen or tracking.AUTOGRAD.get():
                raise
            target.spoiled = self.make_error(statement, reason)
            return target

    def _evaluate_assigned(self, node: ast.expr, scope: Scope) -> Value:
        value = self.evaluate_or_error(node, scope)
        computed = isinstance(value, Tensor) and not isinstance(node, ast.Name)
        return tracking.detach_tensor(value) if computed and tracking.AUTOGRAD.get() == "stopped" else value

    def _assign(self, target: ast.expr, value: Value, scope: Scope) -> None:
        match target:
            case ast.Name(name):
                scope[name] = value
            case ast.Tuple(parts) | ast.List(parts):
                for part, single in values.pair_targets(value, parts):
                    self._assign(part, single, scope)
            case ast.Starred(part):
                self._assign(part, value, scope)
            case ast.Subscript(owner, key):
                tracking.write_item(self.evaluate(owner, scope), self.evaluate(key, scope), value)
            case ast.Attribute(owner, name):
                holder = self.evaluate(owner, scope)
                if isinstance(holder, PastedClass | type) and not name.startswith("__"):
                    setattr(holder, name, value)
                elif name == "data":
                    tracking.assign(tracking.detach_tensor(holder), value)
                else:
                    require(name == "requires_grad", "assigns to an attribute that cannot be followed")


def _skip_class_body(scope: Scope) -> Scope:
    """Return the names visible to a function or class that is defined in a scope.

    The names of an enclosing class body are not visible.
    """
    return ChainMap(*scope.maps[1:]) if isinstance(scope, _ClassBody) else scope


def find_method(cls: type[PastedClass], name: str) -> Function:
    """Return a method of a class as torch calls it. Raises UnreadableError if the class has none."""
    member: Value = getattr(cls, name, None)
    require(inspect.isroutine(member), f"has no {name} that is a plain method, so there is no rule to show")
    return member  # type: ignore[no-any-return]  # a routine


def take_last_name(node: ast.expr) -> str:
    """Return the last name in a dotted expression: ``no_grad`` for ``torch.no_grad()``."""
    named = node.func if isinstance(node, ast.Call) else node
    return str(getattr(named, "attr", getattr(named, "id", "")))
